"""Logs that cannot be of this robot: what is wrong with them, and what is likely the cause.

Each joint's torque is explained by the prior's rigid torque and dissipative friction, scales free but never negative.
Where it is explained much better with a sign turned or two joints exchanged, that is said in place of a fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.regression import Block
from armtwin.logs.log import Log
from armtwin.logs.plausibility import Pace, check_motion, stretched
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot

SAMPLES = 600  # of all logs
MOVES = 1e-3  # range from which on a joint must show a torque [rad]
STILL = 1e-6  # range of a joint that does not move [rad]
FAR = 1.5  # times its limit beyond which a position is not believed
TURNS = 8 * np.pi  # beyond which the position of a joint without limits is not believed [rad]
VIOLENT = 3.0  # times a limit of acceleration or torque beyond which time is compressed
OFTEN = 0.98  # share of the samples below what is compared with it; noise is in the rest
# times the unexplained power that must be left without a joint's weight, or inertia, to tell it
TOLD = 1.5
AGREE = 2.0  # factor within which joints tell one stretch of time
STRETCHED = 2.5  # inertia over weight that is no longer a mistake of the robot file
ASSUMED = 4.0  # the same where rotor inertias are assumed
ALONE = 30.0  # the same where one joint alone shows it, as with a payload that is not in the file
BETTER, GOOD = (
    0.25,
    0.5,
)  # share of the torque's power that another reading must explain more, and at least


def check_logs(robot: Robot, logs: Sequence[Log], motion: str) -> None:
    """Refuse logs that do not fit the robot, with the log and the suspected cause."""
    for k, log in enumerate(logs, 1):
        check_positions(robot, log, motion, log.origin or f"log {k}")
    for k, log in enumerate(logs):
        twin = next((i for i in range(k) if same_log(logs[i], log)), None)
        if twin is not None:
            names = [logs[i].origin or f"log {i + 1}" for i in (twin, k)]
            raise ArmtwinError(f"{names[1]} is the same log as {names[0]}; give each once")
    moved = np.max([np.ptp(getattr(log, motion), axis=0) for log in logs], axis=0)
    if (moved < STILL).any():
        which = ", ".join(np.array(robot.joint_names)[moved < STILL])
        where = (logs[0].origin or "the log") if len(logs) == 1 else "any of the logs"
        raise ArmtwinError(
            f"{which} does not move in {where}, so nothing can be learned about it; log a motion of it"
        )
    rows = robot.n * sum(len(log.time) for log in logs)
    if rows < len(robot.parameters):
        raise ArmtwinError(
            f"the logs have {rows} torques for {len(robot.parameters)} parameters of '{robot.name}'; log longer"
        )


def check_positions(robot: Robot, log: Log, motion: str, name: str) -> None:
    """Refuse a log whose positions are not those of the robot."""
    got = getattr(log, motion).shape[1] if motion in log else 0
    if got != robot.n:
        raise ArmtwinError(
            f"{name}: must have {robot.n} columns of {motion} for robot '{robot.name}', got {got}"
        )
    _in_reach(robot, getattr(log, motion), name)
    try:
        check_motion(log, motion, Pace.of_robot(robot))
    except ArmtwinError as error:
        raise ArmtwinError(f"{name}: {error}") from None


def same_log(a: Log, b: Log) -> bool:
    """Whether two logs hold the same numbers at the same times."""
    if len(a.time) != len(b.time) or not np.array_equal(a.time, b.time):
        return False
    return all(np.array_equal(x, b.channels[name]) for name, x in a.channels.items() if name in b)


def _in_reach(robot: Robot, q: Floats, name: str) -> None:
    """Refuse positions far beyond the joint limits."""
    low, high = robot.position_limits
    reach = np.where(
        np.isfinite(high - low),
        FAR * np.maximum(np.abs(low), np.abs(high)),
        np.where(_slides(robot), np.inf, TURNS),
    )
    beyond = np.abs(q).max(axis=0) > reach
    if not beyond.any():
        return
    j = int(beyond.argmax())
    most = float(np.abs(q[:, j]).max())
    cause = ""
    if (np.radians(np.abs(q).max(axis=0)) <= reach).all():
        cause = '. Is it in degrees? Say unit.q = "deg" in a columns file'
    unit = "m" if _slides(robot)[j] else "rad"
    limit = (
        f"{max(abs(low[j]), abs(high[j])):.4g} {unit}" if np.isfinite(high[j]) else "a few turns"
    )
    raise ArmtwinError(
        f"{name}: {robot.joint_names[j]} reaches {most:.4g} {unit} where its limit is {limit}{cause}"
    )


def _slides(robot: Robot) -> list[bool]:
    """Which coordinates are those of sliding joints."""
    return [robot.assembly.tree.joints[k].type == "prismatic" for k in robot.assembly.free]


def suspect(robot: Robot, blocks: Sequence[Block]) -> None:
    """Refuse logs whose torque another reading of the columns explains much better."""
    flat = np.any(
        [(np.ptp(b.raw, axis=0) == 0) & (np.ptp(b.q, axis=0) > MOVES) for b in blocks], axis=0
    )
    if flat.any():
        which = ", ".join(np.array(robot.joint_names)[flat])
        raise ArmtwinError(
            f"the torque of {which} never changes while the joint moves; was it logged at all?"
        )
    some = [(b, _some(b, len(blocks))) for b in blocks]
    q, v, a, tau = (
        np.concatenate([getattr(b, name)[k] for b, k in some]) for name in ("q", "v", "a", "tau")
    )
    told = robot.inverse_dynamics(q, v, a)
    _refuse_violent(robot, a, told)
    _refuse_stretched(robot, v, told, robot.gravity(q), tau)
    here = np.array([_explained(tau[:, j], told[:, j], v[:, j]) for j in range(robot.n)])
    best, sentence = 0.0, ""
    for joints, gain, words in _readings(robot, (q, v, a, tau), told, here):
        if gain > max(best, BETTER * len(joints)):
            best, sentence = gain, words
    if sentence:
        raise ArmtwinError(sentence)


def _refuse_violent(robot: Robot, a: Floats, told: Floats) -> None:
    """Refuse accelerations far beyond the limits, or that take torques far beyond them."""
    slides, limits = np.array(_slides(robot)), robot.limits
    for values, limit, words, units in (
        (a, limits.acceleration, "accelerate by", np.where(slides, "m/s²", "rad/s²")),
        (told, limits.torque, "need", np.where(slides, "N", "N m")),
    ):
        usual = np.quantile(np.abs(values), OFTEN, axis=0)
        beyond = usual > VIOLENT * limit
        if not beyond.any():
            continue
        j = int(beyond.argmax())
        unit = units[j]
        raise ArmtwinError(
            f"time looks compressed: {robot.joint_names[j]} would {words} {usual[j]:.4g} {unit} "
            f"where its limit is {limit[j]:.4g} {unit}; check the unit of time in the columns "
            "file, and the robot file"
        )


def _refuse_stretched(robot: Robot, v: Floats, told: Floats, weight: Floats, tau: Floats) -> None:
    """Refuse times in which the arm's inertia does not fit its weight.

        torque = α weight + β inertia + friction        β / α = f²

    Time stretched by f divides accelerations by f², but no weight, whatever the scale of masses or
    of a current. All joints that show both must tell one factor; one joint alone must tell more.
    """
    found = {}
    for j, name in enumerate(robot.joint_names):
        ratio = _inertia_over_weight(tau[:, j], weight[:, j], told[:, j] - weight[:, j], v[:, j])
        if ratio is not None:
            found[name] = ratio
    if not found or max(found.values()) > AGREE * min(found.values()):
        return
    ratio = float(np.exp(np.mean(np.log(list(found.values())))))
    least = ASSUMED if _rotors_assumed(robot) else STRETCHED
    least = ALONE if len(found) == 1 else least
    if 1 / least < ratio < least:
        return
    raise ArmtwinError(
        f"time looks {stretched(np.sqrt(ratio))}: beside their weight {' and '.join(found)} show "
        f"{ratio:.3g} times the inertia that the robot file gives them; check the unit of time in "
        "the columns file and the rate of the log, or the inertias of the robot file"
    )


def _rotors_assumed(robot: Robot) -> bool:
    """Whether a rotor inertia of the file is an assumption."""
    places = [origin.path.split(".") for origin in robot.provenance.of_kind("assumed")]
    return any(x[0] == "motor" and x[2:] in ([], ["rotor_inertia"]) for x in places)


def _inertia_over_weight(tau: Floats, weight: Floats, inertia: Floats, v: Floats) -> float | None:
    """Factor of a joint's inertia over that of its weight; None where a log does not show both."""
    rubbing = _friction_columns(v)
    factors, left = _nonnegative(np.column_stack([weight, inertia, rubbing]), tau)
    _, without_weight = _nonnegative(np.column_stack([inertia, rubbing]), tau)
    _, without_inertia = _nonnegative(np.column_stack([weight, rubbing]), tau)
    if min(without_weight, without_inertia) <= TOLD * left or not (factors[:2] > 0).all():
        return None
    return float(factors[1] / factors[0])


def _nonnegative(columns: Floats, tau: Floats) -> tuple[Floats, float]:
    """Factors of columns, none negative, that explain a torque best, and the power they leave."""
    from scipy.optimize import nnls

    size = np.linalg.norm(columns, axis=0)
    size = np.where(size > 0, size, 1.0)
    R = np.asarray(np.linalg.qr(np.column_stack([columns / size, tau]), mode="r"))
    factors, left = nnls(R[:, :-1], R[:, -1])
    return factors / size, float(left**2)


def _friction_columns(v: Floats) -> Floats:
    """Dry friction, viscous friction and an offset of either sign."""
    one = np.ones(len(v))
    return np.column_stack([np.sign(v), v, one, -one])


def _some(b: Block, logs: int) -> slice:
    return slice(None, None, max(1, len(b.time) * logs // SAMPLES))


def _explained(tau: Floats, rigid: Floats, v: Floats) -> float:
    """Share of a torque's power that rigid torque and friction explain, none of them with a negative factor."""
    power = float(((tau - tau.mean()) ** 2).sum())
    if not power > 0:
        return 1.0
    _, left = _nonnegative(np.column_stack([rigid, _friction_columns(v)]), tau)
    return 1 - left / power


def _readings(
    robot: Robot, logged: tuple[Floats, ...], told: Floats, here: Floats
) -> Iterator[tuple[tuple[int, ...], float, str]]:
    """Other readings of the columns: the joints they concern, how much more they explain in sum, and the sentence."""
    q, v, a, tau = logged
    names = robot.joint_names
    turned = np.array([_explained(-tau[:, j], told[:, j], v[:, j]) for j in range(robot.n)])
    wrong = np.flatnonzero((turned > GOOD) & (turned - here > BETTER))
    if len(wrong):
        yield (
            tuple(wrong),
            float((turned - here)[wrong].sum()),
            f"the torque of {', '.join(names[j] for j in wrong)} falls where the robot's rises: with the sign turned "
            f"the model explains {100 * turned[wrong].mean():.0f} % of it, as it is "
            f"{100 * here[wrong].clip(0).mean():.0f} %; is the sign reversed? Say torque_sign in a columns file",
        )
    for i, k in combinations(range(robot.n), 2):
        both, order = (i, k), np.arange(robot.n)
        order[[i, k]] = k, i
        # columns of torque alone, of positions alone, of both exchanged
        turned = robot.inverse_dynamics(q[:, order], v[:, order], a[:, order])
        for what, torque, rigid, speed in (
            ("torque", tau[:, order], told, v),
            ("position", tau, turned, v[:, order]),
            ("position and torque", tau[:, order], turned, v[:, order]),
        ):
            if all(
                _explained(torque[:, j], rigid[:, j], speed[:, j]) > max(GOOD, here[j])
                for j in both
            ):
                share = np.array(
                    [_explained(torque[:, j], rigid[:, j], speed[:, j]) for j in range(robot.n)]
                )
                gain = float((share - here).sum())
                yield (
                    both,
                    gain,
                    f"{names[i]} and {names[k]} seem to be swapped: with their columns of {what} exchanged the model "
                    f"explains {100 * share.mean():.0f} % of all torque, as they are "
                    f"{100 * here.clip(0).mean():.0f} %. "
                    "Name the columns in a columns file",
                )
