"""`fit_transmissions`: stiffness, lost motion and side of friction from two encoders.

The residual of a twist besides offset and load is not noise: a link encoder whose disc is off its
axis errs by a cos q + b sin q, and may have a delay of its own. Where an axis carries no weight its
load is proportional to its acceleration, so in a vibration to its angle: run-out looks like a
spring. A stiffness is identified where its compliance is positive with 95 % confidence, on the
whole and, with both effects admitted, on either half of the logs, and predicts the half it was not
fitted to better than none does. Its interval covers both fits. Everything else is reported as not
identifiable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from armtwin.identification.fitting.estimate import CONFIDENCE, student
from armtwin.identification.plausibility.suspect import refuse_torque_mistakes
from armtwin.identification.transmission.load import BLOCKS, correct_drives
from armtwin.identification.transmission.result import JointTransmission, TransmissionIdentification
from armtwin.identification.transmission.twist_fit import TwistFit, fit_twist
from armtwin.identification.transmission.twist_rows import (
    TwistRows,
    joints_with_two_encoders,
    twist_rows,
)
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, Names, Pair
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import FrictionElement, Transmission

OFFSET_ROUNDS = 3  # in which the time offset of the encoders settles
HALF = 0.5  # of the friction: with a wider interval the side is not identifiable
SIDES_SEEN = 0.1  # spread of the load's sign from which both flanks were loaded
FRICTION_SEEN = 0.02  # of the load: below it the side of friction is not identifiable


def fit_transmissions(
    robot: Robot, logs: Sequence[Log], spread: Floats, *, validate: Log | None = None
) -> TransmissionIdentification:
    """Stiffness, lost motion and side of friction of transmissions from two encoders.

    Args:
        robot: The robot, with what was mounted.
        logs: Logs with q (motor encoders), q_link (link encoders) and a torque.
        spread: Directions in which its parameters may be off by one standard deviation, (p, k).
        validate: An unseen log.
    """
    every = [*logs, *([] if validate is None else [validate])]
    joints = joints_with_two_encoders(robot, every)
    refuse_torque_mistakes(robot, every)
    drives = correct_drives(robot, logs, spread)
    rows = twist_rows(robot, drives, logs, joints)
    for _ in range(OFFSET_ROUNDS):
        offset = fit_twist(rows, range(joints)).offset
        rows = twist_rows(robot, drives, logs, joints, offset)
    elastic = _identifiable_joints(rows)
    loose = _loose(rows, elastic)
    fit = fit_twist(rows, elastic, loose)
    alone = fit_twist(rows, ())
    offset_only, residual = _rms(alone.left(rows)), _rms(fit.left(rows))
    table = []
    for j in range(joints):
        row = _row(robot, rows, fit, j, elastic, loose)
        table.append(replace(row, rms=float(residual[j]), rms_offset_only=float(offset_only[j])))
    if validate is not None:
        other = twist_rows(robot, drives, [validate], joints, offset)
        unseen = _rms(fit.left(other)).tolist(), _rms(alone.left(other)).tolist()
        table = list(map(_validate, table, *unseen))
    names = tuple(log.origin or "a log" for log in logs)
    return TransmissionIdentification(
        robot=_with_transmissions(robot, table, fit.offset, names),
        prior=robot,
        offset=fit.offset,
        offset_std=fit.offset_std,
        table=tuple(table),
        logs=names,
        unseen="" if validate is None else validate.origin or "a log",
        rows=rows,
        fit=fit,
    )


def _validate(row: JointTransmission, rms: float, without: float) -> JointTransmission:
    """A row of the table with the residual on an unseen log [rad], and of the time offset alone."""
    sentence = row.sentence
    if row.stiffness is not None and rms > without:
        sentence += (
            f"; not validated: residual {1e6 * rms:.0f} µrad on the unseen log, "
            f"{1e6 * without:.0f} with the time offset alone"
        )
    return replace(row, rms_unseen=rms, sentence=sentence)


def _rms(residual: Floats) -> Floats:
    return np.sqrt(np.mean(residual**2, axis=0))


def _identifiable_joints(rows: TwistRows) -> list[int]:
    """Joints whose compliance is identifiable."""
    every = list(range(rows.joints))
    whole = fit_twist(rows, every)
    first = rows.block % BLOCKS < BLOCKS // 2
    halves = (rows.only(first), rows.only(~first))
    cautious = [_cautious(half) for half in halves]
    identified = []
    for j in every:
        holds = all(_exceeds_on_half(fit, j) for fit in cautious)
        if _exceeds(whole, j) and holds and _predicts(j, every, halves):
            identified.append(j)
    return identified


def _cautious(rows: TwistRows) -> TwistFit:
    """All joints elastic, each link encoder with run-out and a delay d_j of its own.

    twist = d_j v + T / K + a cos q + b sin q
    """
    extra = []
    for j in range(rows.joints):
        angle = rows.angle[:, j]
        extra += [(j, np.cos(angle)), (j, np.sin(angle))]
        if j > 0:  # the common offset is that of the first
            extra.append((j, rows.late[:, j]))
    return fit_twist(rows, range(rows.joints), (), extra)


def _exceeds(fit: TwistFit, j: int) -> bool:
    """Whether a compliance is positive with 95 % confidence."""
    return bool(fit.compliance.least[j] > 0)


def _exceeds_on_half(fit: TwistFit, j: int) -> bool:
    """As above on half of the logs, by all of its blocks: few of them alone hold a motion."""
    deviations = student(BLOCKS // 2 - 1, 2 * CONFIDENCE - 1)
    return bool(fit.compliance.value[j] > deviations * fit.compliance.std[j])


def _predicts(j: int, every: list[int], halves: tuple[TwistRows, TwistRows]) -> bool:
    """Whether a compliance of a joint predicts the half it was not fitted to better than none."""
    with_it, without = 0.0, 0.0
    others = [k for k in every if k != j]
    for fitted, unseen in (halves, halves[::-1]):
        moving = unseen.moving[:, j]
        with_it += float(np.mean(fit_twist(fitted, every).left(unseen)[moving, j] ** 2))
        without += float(np.mean(fit_twist(fitted, others).left(unseen)[moving, j] ** 2))
    return with_it < without


def _loose(rows: TwistRows, elastic: list[int]) -> list[int]:
    """Elastic joints with lost motion: both flanks loaded, positive with 95 % confidence."""
    loose = []
    for j in elastic:
        if rows.side[:, j].std() <= SIDES_SEEN:
            continue
        fit = fit_twist(rows, elastic, [j])
        if fit.gap.least[j] > 0 and fit.compliance.value[j] > 0:
            loose.append(j)
    return loose


def _row(
    robot: Robot, rows: TwistRows, fit: TwistFit, j: int, elastic: list[int], loose: list[int]
) -> JointTransmission:
    """Result of a joint, without its residual."""
    name = robot.joint_names[j]
    known = {one.joint: one.stiffness for one in robot.description.transmission}
    prior = known.get(name)
    if j not in elastic:
        return JointTransmission(name, prior, _explain_unidentifiable(rows, j))
    share, share_std, share_half = _motor_share(rows, j, elastic, loose) or (None, None, np.inf)
    lost, lost_std, lost_half = None, None, np.inf
    if rows.side[:, j].std() > SIDES_SEEN:
        with_gap = fit if j in loose else fit_twist(rows, elastic, [*loose, j])
        lost, lost_std, lost_half = (2 * float(values[j]) for values in with_gap.gap[:3])
        lost = max(lost, 0.0)
    fits = fit, _cautious(rows), _with_own_friction(rows, j, elastic, loose)
    found = JointTransmission(
        name=name,
        prior=prior,
        sentence=f"{_lost_motion(lost, lost_half)}; {_side(share, share_half)}",
        stiffness=1 / float(fit.compliance.value[j]),
        interval=_interval(j, _load_width(rows, j), fits),
        motor_share=share,
        motor_share_std=share_std,
        lost_motion=lost,
        lost_motion_std=lost_std,
    )
    if not found.is_poor:
        return found
    poor = "stiffness poorly identified, the robot file keeps its own"
    return replace(found, sentence=f"{poor}; {found.sentence}")


def _with_own_friction(rows: TwistRows, j: int, elastic: list[int], loose: list[int]) -> TwistFit:
    """A joint's friction, which the load is less by, of any size: the file's may be off."""
    return fit_twist(rows, elastic, loose, [(j, rows.friction[:, j])])


def _interval(j: int, load_width: float, fits: Sequence[TwistFit]) -> Pair:
    """Lower and upper end of a stiffness that covers the interval of each fit [N m/rad].

    Args:
        j: The joint.
        load_width: Half width of the interval of its load, as a share of it.
        fits: The fits.
    """
    ends = []
    for fit in fits:
        c = float(fit.compliance.value[j])
        s = float(np.hypot(fit.compliance.half[j], load_width * c))
        ends += [1 / (c + s), 1 / max(c - s, 1e-300)]
    return min(ends), max(ends)


def _load_width(rows: TwistRows, j: int) -> float:
    """Half width of the 95 % interval of a load, as a share of it.

    w² = Σ_k (Σ ΔT_k T / Σ T²)²        what the half widths ΔT_k of the load T make of its scale
    """
    moving = rows.moving[:, j]
    load, error = rows.load[moving, j], rows.load_error[moving, j]
    load = load - load.mean()
    shares = load @ (error - error.mean(axis=0)) / (load @ load)
    return float(np.linalg.norm(shares))


def _motor_share(
    rows: TwistRows, j: int, elastic: list[int], loose: list[int]
) -> Iterator[float] | None:
    """Share of the friction on the motor's side: 1 - K times the coefficient of the friction.

    With its deviation and the half width of its interval; None where it is not identifiable.
    """
    load, friction = rows.load[:, j].std(), rows.friction[:, j].std()
    if friction < FRICTION_SEEN * load:
        return None
    fit = _with_own_friction(rows, j, elastic, loose)
    c = float(fit.compliance.value[j])
    if c <= 0:
        return None
    beyond, std, half = (float(values[0]) / c for values in fit.extra[:3])
    return iter((1 - beyond, std, half))


def _explain_unidentifiable(rows: TwistRows, j: int) -> str:
    """Why a stiffness is not identifiable."""
    whole = fit_twist(rows, range(rows.joints))
    c, s = whole.compliance.value[j], whole.compliance.half[j]
    why = "not even its sign is determined"
    if c < -s:
        why = (
            "negative, unlike any spring: its twist has another cause, not even its sign is "
            "determined"
        )
    if _exceeds(whole, j):
        why = (
            "but not even its sign is determined on both halves of the logs once run-out and a "
            "delay of the link encoder are admitted"
        )
    return (
        f"stiffness not identifiable: its compliance is {1e9 * c:.1f} ± {1e9 * s:.1f} "
        f"µrad/(kN m), {why}"
    )


def _lost_motion(lost: float | None, half: float) -> str:
    if lost is None:
        return "lost motion not identifiable, its load acts on one flank throughout"
    if lost > half:
        return f"lost motion {1e6 * lost:.0f} ± {1e6 * half:.0f} µrad"
    return f"no lost motion detected, below {1e6 * (lost + half):.0f} µrad"


def _side(share: float | None, half: float) -> str:
    if share is None:
        return "side of friction not identifiable"
    share_text = f"{share:.2f} ± {half:.2f} of the friction on the motor's side"
    if half > HALF:
        return f"side of friction not identifiable ({share_text})"
    return share_text


def _with_transmissions(
    robot: Robot, table: Sequence[JointTransmission], offset: float, logs: Names
) -> Robot:
    """The robot with the identified stiffnesses and the time offset of the encoders."""
    d = robot.description
    source = f"identified: two encoders, {', '.join(logs)}"
    found = {row.name: row for row in table}
    late = max(offset, 0.0)
    kept = []
    for transmission in d.transmission:
        row = found.pop(transmission.joint, None)
        if row is None:
            kept.append(transmission)
            continue
        changed = replace(transmission, delay=late, source=_source(transmission, source, row))
        if not row.is_poor:
            changed = replace(changed, stiffness=row.stiffness, uncertainty=row.width)
        kept.append(changed)
    new = [row for row in found.values() if not row.is_poor]
    for row in new:
        spring = Transmission(source, row.name, stiffness=row.stiffness, delay=late)
        kept.append(replace(spring, uncertainty=row.width))
    friction = tuple(_set_side(element, {row.name for row in new}) for element in d.friction)
    return robot.with_description(replace(d, transmission=tuple(kept), friction=friction))


def _source(
    transmission: Transmission, source: str, row: JointTransmission
) -> str | dict[str, str]:
    """Sources of a transmission of which some numbers are new."""
    keys = ["delay"] if row.is_poor else ["delay", "stiffness"]
    old = transmission.source
    if isinstance(old, str):
        given = ("stiffness", "damping", "backlash")
        old = {key: old for key in given if getattr(transmission, key) is not None}
    return {**old, **dict.fromkeys(keys, source)}


def _set_side(element: FrictionElement, joints: set[str]) -> FrictionElement:
    """State the side of friction across a new transmission."""
    if element.side is None and isinstance(element.on, str) and element.on in joints:
        return replace(element, side="motor")
    return element
