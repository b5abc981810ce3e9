"""`fit_friction`: friction laws of a robot's joints from torques at constant speeds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from armtwin.drives.friction.laws import Law
from armtwin.drives.friction.lubricated import GearedJoint
from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.files.hypothesis import Hypothesis, refuse_by
from armtwin.identification.friction_curves import result as results
from armtwin.identification.friction_curves.curves import FrictionCurves, Gravity, without_gravity
from armtwin.identification.friction_curves.document_steps import lubricated_steps, means_of_series
from armtwin.identification.friction_curves.law_fit import LawFit, fit_laws
from armtwin.identification.friction_curves.temperature import fit_temperature, reference_rows
from armtwin.identification.friction_curves.torque_rows import LAWS, shape_names
from armtwin.identification.rigid_body.friction.terms import without_terms
from armtwin.logs.plausibility import FAST
from armtwin.maths.batch import Floats
from armtwin.robot.defaults.assumed_drives import lacks_drives, with_assumed_drives
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import FrictionElement

LEAST_TORQUE = 1e-6  # below which a torque counts as no friction [N m or A]
GEARED = 10.0  # gear ratio from which on friction of the motor is not that of the joint
ALIKE = 2.0  # factor within which a robot file gives friction
WORTH = 2.0  # of Akaike's criterion that a law with more parameters must gain


def fit_friction(
    robot: Robot, curves: FrictionCurves, *, gravity: Gravity = "directions", law: str | None = None
) -> results.FrictionFit:
    """Friction laws of the joints that curves are of.

    Laws are compared by their residual and their number of parameters; elements that share joints,
    as those of a coupled wrist, are fitted together. Elements that an identification has added to
    others are dropped: the fitted laws hold all of a joint's friction.

    Args:
        robot: The robot; one without friction gets an element for each joint.
        curves: Mean torques at constant speeds.
        gravity: How gravity is removed: by both "directions", by the robot's "file", or by the
            "pose" in which the axis was parallel to gravity.
        law: The law to take, or "file" for those of the robot file; by default the one with the
            lowest Akaike criterion.
    """
    if law is not None and law not in (*LAWS, results.FILE):
        raise ArmtwinError(f"law '{law}' is not known. {did_you_mean(law, [*LAWS, results.FILE])}")
    if curves.joint_names != robot.joint_names:
        raise ArmtwinError("curves and robot must have the same joints")
    prior = without_terms(with_assumed_drives(robot) if lacks_drives(robot) else robot)
    friction = without_gravity(curves, gravity)
    _refuse_driving_friction(friction)
    _refuse_none(friction)
    refuse_by(_suspect_units(robot, friction))
    groups = []
    for numbers in _groups(prior):
        rows = np.array([prior.assembly.friction[e][1].weights for e in numbers])
        used = np.isin(friction.joint, np.flatnonzero(rows.any(axis=0)))
        if used.any():
            elements = tuple(prior.assembly.friction[e][0] for e in numbers)
            groups.append(_fit_group(elements, rows, friction.rows(used), law))
    if not groups:
        raise ArmtwinError(f"robot '{robot.name}': the curves are of joints without friction")
    return results.FrictionFit(prior, curves, gravity, tuple(groups))


def _suspect_units(robot: Robot, friction: FrictionCurves) -> Iterator[Hypothesis]:
    """Speeds and torques that only another unit, or the motor's side, takes within limits."""
    own = robot.friction_torque(friction.speeds)
    gear = np.abs(robot.assembly.motor_rows).max(axis=0, initial=1.0)
    for j in np.unique(friction.joint):
        rows, name = friction.joint == j, friction.joint_names[j]
        speed, torque = (np.abs(x[rows]) for x in (friction.speed, friction.torque))
        fast, strong = FAST * robot.limits.velocity[j], robot.limits.torque[j]
        ratio = gear[j] * np.median(torque) / max(np.median(np.abs(own[rows, j])), LEAST_TORQUE)
        if speed.max() > fast:
            limit = f"{fast / FAST:.3g} rad/s is the limit"
            fact = f"{name}: its speeds reach {speed.max():.3g} where {limit}"
            mistake = "Are they in rpm or deg/s, or those of the motor"
            yield Hypothesis(fact, mistake, "give v at the joint, in rad/s")
        if friction.unit == "A":
            continue
        if torque.max() > strong:
            fact = f"{name}: its friction is {torque.max():.4g} where {strong:.4g} is the limit"
            yield Hypothesis(fact, "Is it in N cm or N mm", "give tau at the joint, in N m")
        elif gear[j] > GEARED and 1 / ALIKE < ratio < ALIKE:
            fact = f"{name}: its friction is {ratio / gear[j]:.2g} times that of the robot file"
            yield Hypothesis(fact, "Is it that of the motor", "multiply it by the gear ratio")


def _refuse_none(friction: FrictionCurves) -> None:
    """Refuse joints whose torques are no friction at all."""
    for j in np.unique(friction.joint):
        torque = friction.torque[friction.joint == j]
        if np.abs(torque).max() < LEAST_TORQUE:
            raise ArmtwinError(
                f"{friction.joint_names[j]}: its friction must be above {LEAST_TORQUE:g} "
                f"{friction.unit} at one speed at least, got {np.abs(torque).max():.3g} at most; "
                "check its column and its unit"
            )


def _refuse_driving_friction(friction: FrictionCurves) -> None:
    """Refuse torques that drive a joint in its direction of motion."""
    alone = (friction.speeds != 0).sum(axis=1) == 1
    for j in np.unique(friction.joint[alone]):
        rows = alone & (friction.joint == j)
        if np.median(friction.torque[rows] * np.sign(friction.speed[rows])) < 0:
            raise ArmtwinError(
                f"{friction.joint_names[j]}: its torques oppose its speed, so friction would drive "
                "it; check the sign of the torques, or remove gravity from them"
            )


def _groups(robot: Robot) -> list[list[int]]:
    """Numbers of friction elements that share joints, element by element."""
    found: dict[int, list[int]] = {}
    placed = robot.assembly.friction
    numbers = [e for e, (_, row) in enumerate(placed) if row.linkage is None]
    for e, group in zip(numbers, results.group_rows([placed[e][1] for e in numbers]), strict=True):
        found.setdefault(group, []).append(e)
    return list(found.values())


def _fit_group(
    elements: tuple[FrictionElement, ...], rows: Floats, curves: FrictionCurves, law: str | None
) -> results.FrictionGroup:
    at_reference, reference = reference_rows(curves)
    single = len(elements) == 1
    steps = _steps(at_reference) if single else None
    candidates = {}
    known = all(element.law.law in LAWS for element in elements)
    if known and not single:
        candidates[results.FILE] = _of_file(elements, rows, at_reference)
    for name, kind in LAWS.items():
        first = [_shape(element.law, kind) for element in elements]
        if steps is not None and kind is GearedJoint:
            first = [_shape(steps, kind)]
        if law in (None, name) or (law == results.FILE and single and elements[0].law.law == name):
            candidates[name] = fit_laws(at_reference, rows, [kind] * len(elements), first)
    if not candidates:
        raise ArmtwinError(
            f"friction of {elements[0].name}: the file's law '{elements[0].law.law}' has no curve "
            f"to fit; choose one of {', '.join(LAWS)}"
        )
    chosen = _select_law(candidates)
    warm = None
    if single and reference is not None:
        warm = fit_temperature(curves, rows[0], candidates[chosen].laws[0], reference)
    return results.FrictionGroup(elements, rows, at_reference, candidates, chosen, steps, warm)


def _of_file(elements: tuple[FrictionElement, ...], rows: Floats, curves: FrictionCurves) -> LawFit:
    """The laws that the robot file has."""
    kinds = [LAWS[element.law.law] for element in elements]
    first = [_shape(element.law, kind) for element, kind in zip(elements, kinds, strict=True)]
    return fit_laws(curves, rows, kinds, first)


def _steps(curves: FrictionCurves) -> GearedJoint | None:
    """The document's linear steps, where the points allow them."""
    try:
        means = means_of_series(curves.speed, curves.torque)
        return lubricated_steps(means.speed, means.torque)
    except ArmtwinError:
        return None


def _shape(law: Law, kind: type[Law]) -> Floats | None:
    """Shape numbers of a law, if it is of a kind."""
    if not isinstance(law, kind):
        return None
    return np.array([float(getattr(law, name)) for name in shape_names(kind)])


def _select_law(candidates: dict[str, LawFit]) -> str:
    """Name of the fit with the lowest criterion; more parameters must gain more than WORTH."""
    if results.FILE in candidates:
        return results.FILE
    order = sorted(candidates, key=lambda name: candidates[name].count)
    best = order[0]
    for name in order[1:]:
        if candidates[name].criterion < candidates[best].criterion - WORTH:
            best = name
    return best
