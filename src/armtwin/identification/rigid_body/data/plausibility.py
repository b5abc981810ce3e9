"""Logs that cannot be of this robot, by their torque: what is wrong, and the likely cause.

Each joint's torque is explained by the prior's rigid torque and dissipative friction, scales free
but never negative. Where it is explained much better with a sign turned or two joints exchanged,
the log is refused with that cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.separable import solve
from armtwin.identification.rigid_body.data.clean_log import CleanLog, Motion
from armtwin.identification.rigid_body.data.log_checks import names_of_joints, slides
from armtwin.logs.plausibility import describe_time_factor
from armtwin.maths.batch import Floats
from armtwin.maths.narrow import ranges
from armtwin.robot.robot import Robot

SAMPLES = 600  # of all logs
MOVES = 1e-3  # range from which on a joint must show a torque [rad]
VIOLENT = 3.0  # times a limit of acceleration or torque beyond which time is compressed
OFTEN = 0.98  # share of the samples below what is compared with it; noise is in the rest
# times the residual power that must remain without a joint's weight, or inertia, to show it
SHOWN = 1.5
AGREE = 2.0  # factor within which joints agree on one stretch of time
STRETCHED = 2.5  # inertia over weight that is no longer a mistake of the robot file
ASSUMED = 4.0  # this ratio where rotor inertias are assumed
ALONE = 30.0  # this ratio where one joint alone shows it, as with a payload missing in the file
BETTER = 0.25  # share of the torque's power that another reading must explain more
GOOD = 0.5  # share that it must explain at least


class Logged(NamedTuple):
    """Samples of all logs: motion, its rigid torque and the logged one, (m, n)."""

    motion: Motion
    rigid: Floats
    tau: Floats


class Reading(NamedTuple):
    """Another reading of the columns.

    Attributes:
        joints: How many joints it concerns.
        gain: Share of their torques' power that it explains more, in sum.
        sentence: The message to the user.
    """

    joints: int
    gain: float
    sentence: str


def check_plausibility(robot: Robot, logs: Sequence[CleanLog]) -> None:
    """Refuse logs whose torque another reading of the columns explains much better."""
    logged = _samples(robot, logs)
    motion, rigid, tau = logged
    _refuse_stretched(robot, logged)
    here = _explain_joints(tau, rigid, motion.v)
    best = Reading(0, 0.0, "")
    for reading in (*_read_reversed(robot, logged, here), *_read_swapped(robot, logged, here)):
        if reading.gain > max(best.gain, BETTER * reading.joints):
            best = reading
    if best.sentence:
        raise ArmtwinError(best.sentence)


def refuse_impossible(robot: Robot, logs: Sequence[CleanLog]) -> None:
    """Refuse logs that are implausible for any reading of the columns and any mounting."""
    _refuse_flat(robot, logs)
    motion, rigid, _ = _samples(robot, logs)
    _refuse_violent(robot, motion.a, rigid)


def _refuse_flat(robot: Robot, logs: Sequence[CleanLog]) -> None:
    """Refuse a torque that never changes while its joint moves."""
    flat = np.zeros(robot.n, dtype=bool)
    for log in logs:
        constant = ranges(log.raw.tau) == 0
        flat |= constant & (ranges(log.clean.q) > MOVES)
    if flat.any():
        which = names_of_joints(robot, flat)
        raise ArmtwinError(
            f"the torque of {which} never changes while the joint moves; was it logged at all?"
        )


def _samples(robot: Robot, logs: Sequence[CleanLog]) -> Logged:
    """Samples of all logs, not too many."""
    motions, torques = [], []
    for log in logs:
        step = max(1, len(log.clean.time) * len(logs) // SAMPLES)
        some = slice(None, None, step)
        motions.append(log.motion.at(some))
        torques.append(log.clean.tau[some])
    motion = Motion.join(motions)
    return Logged(motion, robot.inverse_dynamics(*motion), np.concatenate(torques))


def _refuse_violent(robot: Robot, a: Floats, rigid: Floats) -> None:
    """Refuse accelerations far beyond the limits, or that take torques far beyond them."""
    sliding, limits = slides(robot), robot.limits
    by_acceleration = np.where(sliding, "m/s²", "rad/s²")
    by_torque = np.where(sliding, "N", "N m")
    for values, limit, words, units in (
        (a, limits.acceleration, "accelerate by", by_acceleration),
        (rigid, limits.torque, "need", by_torque),
    ):
        usual = np.quantile(np.abs(values), OFTEN, axis=0)
        beyond = usual > VIOLENT * limit
        if not beyond.any():
            continue
        j = beyond.argmax()
        unit = units[j]
        raise ArmtwinError(
            f"time looks compressed: {robot.joint_names[j]} would {words} {usual[j]:.4g} {unit} "
            f"where its limit is {limit[j]:.4g} {unit}; check the unit of time in the columns "
            "file, and the robot file"
        )


def _refuse_stretched(robot: Robot, logged: Logged) -> None:
    """Refuse times in which the arm's inertia does not fit its weight.

        torque = α weight + β inertia + friction        β / α = f²

    Time stretched by f divides accelerations by f², but no weight, whatever the scale of masses or
    of a current. All joints that show both must agree on one factor; one joint alone must
    show a larger one.
    """
    (q, v, _), rigid, tau = logged
    weight = robot.gravity(q)
    inertia = rigid - weight
    found = {}
    for j, name in enumerate(robot.joint_names):
        shown = _inertia_over_weight(tau[:, j], weight[:, j], inertia[:, j], v[:, j])
        if shown is not None:
            found[name] = shown
    ratios = np.array(list(found.values()))
    if not found or ratios.max() > AGREE * ratios.min():
        return
    ratio = float(np.exp(np.mean(np.log(ratios))))
    least = _least_stretch(robot, len(found))
    if 1 / least < ratio < least:
        return
    raise ArmtwinError(
        f"time looks {describe_time_factor(np.sqrt(ratio))}: "
        f"beside their weight {' and '.join(found)} show "
        f"{ratio:.3g} times the inertia that the robot file gives them; check the unit of time in "
        "the columns file and the rate of the log, or the inertias of the robot file"
    )


def _least_stretch(robot: Robot, joints: int) -> float:
    """Inertia over weight from which on joints that agree show a stretched time."""
    if joints == 1:
        return ALONE
    return ASSUMED if _rotors_assumed(robot) else STRETCHED


def _rotors_assumed(robot: Robot) -> bool:
    """Whether a rotor inertia of the file is an assumption."""
    for origin in robot.provenance.of_kind("assumed"):
        group, *place = origin.path.split(".")
        if group == "motor" and place[1:] in ([], ["rotor_inertia"]):
            return True
    return False


def _inertia_over_weight(tau: Floats, weight: Floats, inertia: Floats, v: Floats) -> float | None:
    """Factor of a joint's inertia over that of its weight; None where a log does not show both."""
    rubbing = _friction_columns(v)
    factors, residual = _nonnegative(np.column_stack([weight, inertia, rubbing]), tau)
    _, without_weight = _nonnegative(np.column_stack([inertia, rubbing]), tau)
    _, without_inertia = _nonnegative(np.column_stack([weight, rubbing]), tau)
    shown = min(without_weight, without_inertia) > SHOWN * residual
    if not shown or not (factors[:2] > 0).all():
        return None
    return float(factors[1] / factors[0])


def _nonnegative(columns: Floats, tau: Floats) -> tuple[Floats, float]:
    """Factors of columns, none negative, that explain a torque best, and the residual power."""
    found = solve(columns, tau, positive=True)
    return found.values, float(found.residual @ found.residual)


def _friction_columns(v: Floats) -> Floats:
    """Dry friction, viscous friction and an offset of either sign."""
    one = np.ones(len(v))
    return np.column_stack([np.sign(v), v, one, -one])


def _explain_torque(tau: Floats, rigid: Floats, v: Floats) -> float:
    """Share of a torque's power that rigid torque and friction explain, no factor negative."""
    power = float(((tau - tau.mean()) ** 2).sum())
    if not power > 0:
        return 1.0
    _, residual = _nonnegative(np.column_stack([rigid, _friction_columns(v)]), tau)
    return 1 - residual / power


def _explain_joints(tau: Floats, rigid: Floats, v: Floats) -> Floats:
    """The explained share of each joint's torque, (n,)."""
    shares = []
    for of_joint in zip(tau.T, rigid.T, v.T, strict=True):
        shares.append(_explain_torque(*of_joint))
    return np.array(shares)


def _read_reversed(robot: Robot, logged: Logged, here: Floats) -> Iterator[Reading]:
    """Torques read with the other sign, where that explains more than as they are, (n,)."""
    motion, rigid, tau = logged
    turned = _explain_joints(-tau, rigid, motion.v)
    wrong = (turned > GOOD) & (turned - here > BETTER)
    if not wrong.any():
        return
    which = names_of_joints(robot, wrong)
    after = 100 * turned[wrong].mean()
    before = 100 * here[wrong].clip(0).mean()
    sentence = (
        f"the torque of {which} falls where the robot's rises: with the sign turned the model "
        f"explains {after:.0f} % of it, as it is {before:.0f} %; is the sign reversed? "
        "Say torque_sign in a columns file"
    )
    gain = float((turned - here)[wrong].sum())
    yield Reading(int(wrong.sum()), gain, sentence)


def _read_swapped(robot: Robot, logged: Logged, here: Floats) -> Iterator[Reading]:
    """Columns of two joints read as exchanged, where that explains both better, (n,)."""
    motion, rigid, tau = logged
    before = 100 * here.clip(0).mean()
    for i, k in combinations(range(robot.n), 2):
        order = np.arange(robot.n)
        order[[i, k]] = k, i
        q, v, a = (x[:, order] for x in motion)
        moved = robot.inverse_dynamics(q, v, a)
        for what, torque, model, speed in (
            ("torque", tau[:, order], rigid, motion.v),
            ("position", tau, moved, v),
            ("position and torque", tau[:, order], moved, v),
        ):
            if not _explain_both((i, k), (torque, model, speed), here):
                continue
            share = _explain_joints(torque, model, speed)
            after = 100 * share.mean()
            pair = f"{robot.joint_names[i]} and {robot.joint_names[k]}"
            sentence = (
                f"{pair} seem to be swapped: with their columns of {what} exchanged the model "
                f"explains {after:.0f} % of all torque, as they are {before:.0f} %. "
                "Name the columns in a columns file"
            )
            yield Reading(2, float((share - here).sum()), sentence)


def _explain_both(
    pair: tuple[int, int], reading: tuple[Floats, Floats, Floats], here: Floats
) -> bool:
    """Whether torque, rigid torque and speed as read explain both joints well, and better."""
    torque, rigid, v = reading
    return all(
        _explain_torque(torque[:, j], rigid[:, j], v[:, j]) > max(GOOD, here[j]) for j in pair
    )
