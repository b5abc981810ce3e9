"""Which one mistake would make the joints and drives of a robot file make sense.

The speed of a hand, the torque that holds an arm, the time in which a motor brings up its own rotor
and the twist of a gear are of one size for small and large robots.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from armtwin.drives.friction.curves import split
from armtwin.files.hypothesis import Hypothesis
from armtwin.maths.batch import Floats, NamedTexts
from armtwin.robot import ranges
from armtwin.robot.dynamics.assembly import order_gear_matrix, row
from armtwin.robot.proportions import Proportions, UnitScale
from armtwin.robot.ranges import Mistake, Range
from armtwin.robot.schema.description import Description, Tree, build_tree
from armtwin.robot.schema.groups import Joint

TIP_SPEED = Range(0.0, 20.0, 1.5, 0.5)  # median of speed limit times reach, 0.09 to 13 [m/s]
JOINT_SPEED = Range(0.0, 60.0, 3.0, 0.4)  # median of speed limits, 0.7 to 37 [rad/s]
SLIDE_SPEED = Range(0.0, 20.0, 0.5, 0.6)  # of a prismatic joint [m/s]
LONGEST_SLIDE = 30.0  # travel of a prismatic joint [m]
LEAST_TURN = 0.15  # median travel of revolute joints [rad]
HOLDING = Range(0.05, 1500.0, 5.0, 0.7)  # torque limit over the weight carried, 1.2 to 373
SPEED_UNITS = {"deg/s": np.pi / 180, "rpm": 2 * np.pi / 60}
GRAVITY = Range(1.0, 12.0, 9.81, 0.05)  # from the moon's on [m/s²]


def joint_hypotheses(
    description: Description, own: Proportions, invented: bool
) -> Iterator[Hypothesis]:
    """Mistakes in gravity, limits and drives.

    Args:
        description: The robot.
        own: Its proportions.
        invented: Whether its masses are no evidence.
    """
    tree = build_tree(description)
    weight, reach = own.carried()
    yield from _gravity_hypotheses(description)
    yield from _speed_hypotheses(tree, reach)
    yield from _travel_hypotheses(tree)
    drives = _drives(description, tree, weight)
    if not invented:
        yield from _torque_hypotheses(tree, weight, drives)
    yield from _drive_hypotheses(drives)


def _limits(tree: Tree, key: str, kind: str) -> Floats:
    """A limit of the joints of one type, (n,); NaN for others and where there is none."""
    found = []
    for joint in tree.joints:
        value = getattr(joint.limits, key, None) if joint.type == kind else None
        found.append(np.nan if value is None else value)
    return np.array(found)


def _is_placeholder(values: Floats) -> bool:
    """Whether all numbers are one power of ten or twice or five times one: nobody measured it."""
    known = values[np.isfinite(values)]
    if not len(known) or np.ptp(known) > 0:
        return False
    mantissa = known[0] / 10.0 ** np.floor(np.log10(known[0]))
    return bool(np.isclose(mantissa, (1.0, 2.0, 5.0, 9.99, 9.999)).any())


def _gravity_hypotheses(description: Description) -> Iterator[Hypothesis]:
    """Gravity of no planet."""
    size = float(np.linalg.norm(description.gravity))
    if GRAVITY.excess(size):
        fact = f"gravity is {size:.4g} m/s²"
        question = "Is it in mm/s^2" if size > GRAVITY.high else "Is it in g"
        yield Hypothesis(fact, question, "write it in m/s^2, as 9.81", ranges.REFUSED + size)


def _speed_hypotheses(tree: Tree, reach: Floats) -> Iterator[Hypothesis]:
    """Speed limits that would throw the hand, or that no joint has."""
    speed = _limits(tree, "velocity", "revolute")
    if not _is_placeholder(speed):

        def features(mistake: Mistake) -> ranges.Features:
            f = mistake.scale.length
            return [
                (TIP_SPEED, ranges.median_of(f * speed * reach)),
                (JOINT_SPEED, ranges.median_of(f * speed)),
            ]

        now = features(Mistake("", "", "", UnitScale()))
        units = [
            Mistake("Are the speed limits in", unit, "rad/s", UnitScale(length=f))
            for unit, f in SPEED_UNITS.items()
        ]
        found = ranges.explain(units, features, ranges.excess_of(now), np.inf)
        if found is not None:
            fastest = int(np.nanargmax(speed * np.where(reach > 0, reach, 1e-3)))
            at = f"{speed[fastest]:.4g} rad/s at {tree.joints[fastest].name}"
            evidence = (
                f"speed limits of {at} move the hand at {speed[fastest] * reach[fastest]:.3g} m/s"
            )
            yield ranges.name_unit(evidence, found, ranges.REFUSED + ranges.excess_of(now))
    for joint, v in zip(tree.joints, _limits(tree, "velocity", "prismatic"), strict=True):
        if SLIDE_SPEED.excess(v):
            fact = f"joint '{joint.name}' slides at up to {v:.4g} m/s"
            yield Hypothesis(fact, "Is its speed limit in mm/s", "write it in m/s", ranges.REFUSED)


def _travel_hypotheses(tree: Tree) -> Iterator[Hypothesis]:
    """Position limits of slides in mm, and angles that were turned into radians twice."""
    for joint in tree.joints:
        travel = _travel(joint)
        if joint.type == "prismatic" and travel > LONGEST_SLIDE:
            fact = f"joint '{joint.name}' slides by {travel:.4g} m"
            yield Hypothesis(fact, "Are its limits in mm", "write them in m", ranges.REFUSED)
    turns = np.array([_travel(joint) for joint in tree.joints if joint.type == "revolute"])
    if np.count_nonzero(turns) > 2 and 0 < ranges.median_of(turns) < LEAST_TURN:
        fact = f"half of the joints turn by less than {np.degrees(ranges.median_of(turns)):.2g}°"
        question = "Were their limits turned into radians twice"
        yield Hypothesis(fact, question, "write them in rad, once", ranges.ODD)


def _travel(joint: Joint) -> float:
    """From the lower to the upper limit, 0 where one is not given [rad or m]."""
    lower, upper = getattr(joint.limits, "lower", None), getattr(joint.limits, "upper", None)
    return 0.0 if lower is None or upper is None else upper - lower


def _torque_hypotheses(
    tree: Tree, weight: Floats, drives: Sequence[DriveNumbers]
) -> Iterator[Hypothesis]:
    """Torque limits that do not carry the arm, or could carry a thousand of it."""
    torque = _limits(tree, "torque", "revolute")
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(weight > 0, torque / weight, np.nan)
    now = ranges.median_of(share)
    if not HOLDING.excess(now) or _is_placeholder(torque):
        return
    j = int(np.nanargmin(np.abs(np.log(share / now))))
    at = f"the torque limit of {tree.joints[j].name} is {torque[j]:.4g} N m"
    evidence = f"{at}, what it carries weighs up to {weight[j]:.4g} N m"
    remedy = "write the joints' in N m"
    if now > HOLDING.high:
        yield Hypothesis(evidence, "Are the torque limits in N mm", remedy, ranges.ODD)
        return
    ratio = ranges.median_of(np.array([drive.ratio for drive in drives]))
    on_motors = ratio > 1 and not HOLDING.excess(now * ratio)
    question = "Are the torque limits those of the motors" if on_motors else "Are they in kN m"
    yield Hypothesis(evidence, question, remedy, ranges.ODD)


class DriveNumbers(NamedTuple):
    """A motor with the joint that it turns most; NaN for what the file does not give.

    Attributes:
        motor: Name of the motor.
        joint: Name of the joint.
        ratio: Turns of the motor for one of the joint.
        rotor: Inertia of the rotor [kg m²].
        current_torque: Torque of the motor at its current limit [N m].
        speed: Speed limit of the joint [rad/s].
        torque: Torque limit of the joint, else what it must give to carry the arm [N m].
        dry: Dry friction at half the speed limit, on the joint [N m].
        viscous: Viscous friction there [N m].
        stiffness: Stiffness of the gear, on the joint [N m/rad].
        friction_on_motor: Whether the friction is given on the motor.
    """

    motor: str
    joint: str
    ratio: float
    rotor: float
    current_torque: float
    speed: float
    torque: float
    dry: float
    viscous: float
    stiffness: float
    friction_on_motor: bool

    @property
    def friction(self) -> float:
        """Friction at half the speed limit, on the joint [N m]."""
        return self.dry + self.viscous

    def with_friction(self, dry: float, viscous: float) -> DriveNumbers:
        """The drive with factors on its friction."""
        return self._replace(dry=dry * self.dry, viscous=viscous * self.viscous)

    def across_gear(self) -> DriveNumbers:
        """The drive with its friction taken for that on the other side of the gear."""
        f = 1.0 / self.ratio if self.friction_on_motor else self.ratio
        return self.with_friction(f, f * f)

    def features(self) -> ranges.Features:
        """What must be in range."""
        own = self.ratio * self.ratio * self.rotor
        return [
            (MOTOR_SPEED, self.ratio * self.speed if self.rotor > 0 and self.ratio != 1 else 0.0),
            (RUN_UP, own * self.speed / self.torque),
            (CURRENT_TORQUE, self.ratio * self.current_torque / self.torque),
            (FRICTION, self.friction / self.torque),
            (TWIST, self.torque / self.stiffness),
        ]


MOTOR_SPEED = Range(10.0, 4000.0, 300.0, 0.35)  # of a motor at the joint's limit [rad/s]
RUN_UP = Range(3e-4, 3.0, 0.03, 0.5)  # time in which the torque limit brings up the rotor [s]
CURRENT_TORQUE = Range(0.05, 20.0, 1.0, 0.3)  # torque at the current limit over the torque limit
FRICTION = Range(0.0, 3.0, 0.05, 0.5)  # over the torque limit, to 1.5
TWIST = Range(1e-7, 0.3, 3e-3, 0.5)  # of the gear under the torque limit [rad]
FAR_BEYOND = 1.0  # decades beyond its range, from which on a number of a drive is refused
HOLDS = 3.0  # torque limit of a joint over what it carries, where the file gives none


def _drives(description: Description, tree: Tree, weight: Floats) -> list[DriveNumbers]:
    """The motors of a robot that turn revolute joints."""
    found = []
    for motor, ratios in zip(description.motor, order_gear_matrix(description, tree), strict=True):
        j = len(ratios) - 1 - int(np.abs(ratios[::-1]).argmax())  # the last of equal ones
        joint = tree.joints[j]
        if joint.type != "revolute":
            continue
        speed = getattr(joint.limits, "velocity", None) or np.nan
        dry, viscous, on_motor = _friction_on(description, tree, j, speed)
        constant, current = motor.known_constant or np.nan, motor.current_limit or np.nan
        found.append(
            DriveNumbers(
                motor=motor.name,
                joint=joint.name,
                ratio=float(abs(ratios[j])),
                rotor=0.0 if is_identified(motor.source) else motor.rotor_inertia,
                current_torque=constant * current,
                speed=speed,
                torque=getattr(joint.limits, "torque", None) or HOLDS * weight[j] or np.nan,
                dry=dry,
                viscous=viscous,
                stiffness=_stiffness_at(description, motor.name, joint.name, ratios[j]),
                friction_on_motor=on_motor,
            )
        )
    return found


def _friction_on(
    description: Description, tree: Tree, j: int, speed: float
) -> tuple[float, float, bool]:
    """Dry and viscous friction on one joint at half its speed limit, and whether on its motor."""
    total, on_motor = np.zeros(2), False
    for element in description.active_friction():
        on_cylinder = any(element.on == drive.name for drive in description.hydraulic)
        if on_cylinder or is_identified(element.source):
            continue
        acting = row(description, tree, element.on, element.side)
        weights = np.abs(acting.weights)
        if weights.argmax() != j:
            continue
        w = np.array([max(speed / 2 * weights[j], 1e-3) if speed > 0 else 1e-3])
        dry, viscous = split(element.law, w)
        total += weights[j] * np.array([dry[0], viscous[0]])
        on_motor = on_motor or acting.motor is not None
    return float(total[0]), float(total[1]), on_motor


def is_identified(source: str | NamedTexts) -> bool:
    """Whether numbers are fitted to logs, which only determine sums of some of them."""
    texts = [source] if isinstance(source, str) else source.values()
    return any(text.startswith("identified:") for text in texts)


def _stiffness_at(description: Description, motor: str, joint: str, ratio: float) -> float:
    """Stiffness of the gear of a joint, on the joint; NaN where it has none [N m/rad]."""
    for gear in description.transmission:
        if gear.stiffness is not None and gear.joint == joint:
            return gear.stiffness
        if gear.stiffness is not None and gear.motor == motor:
            return gear.stiffness * ratio * ratio
    return np.nan


class DriveMistake(NamedTuple):
    """A mistake in a number of a drive: what it must be multiplied by.

    Attributes:
        question: The mistake, {of} for whose number it is.
        remedy: What to do.
        key: The number; ratio and friction have rules of their own.
        factor: On the number.
        power: Of the gear ratio, on the number as well.
        rarity: How much rarer it is than others.
    """

    question: str
    remedy: str
    key: str
    factor: float = 1.0
    power: int = 0
    rarity: float = 0.0

    def undo(self, drive: DriveNumbers) -> DriveNumbers:
        """The drive without it."""
        if self.key == "ratio":
            return _with_ratio(drive, 1.0 / drive.ratio)
        if self.key == "side":
            return drive.across_gear()
        if self.key == "friction":
            return drive.with_friction(self.factor, self.factor)
        value = self.factor * drive.ratio**self.power * getattr(drive, self.key)
        return drive._replace(**{self.key: value})


ROTORS = {"kg cm^2": 1e-4, "g cm^2": 1e-7, "kg mm^2": 1e-6, "g mm^2": 1e-9}
STIFFNESSES = {"N m/arcmin": 10800 / np.pi, "N m/deg": 180 / np.pi, "kN m/rad": 1e3}
TORQUES = {"N mm": 1e-3, "N cm": 1e-2}
# numbers by a name, its key, the unit to write, units that they may be in, how rare that is
UNIT_MISTAKES = (
    ("rotor inertia {of}", "rotor", "kg m^2", ROTORS, 0.0),
    ("torque constant {of}", "current_torque", "N m/A", {"N cm/A": 1e-2}, 1.0),
    ("friction {of}", "friction", "N m", TORQUES, 1.0),
    ("dry friction {of}", "dry", "N m", {"N mm": 1e-3}, 1.0),
    ("stiffness {of}", "stiffness", "N m/rad", STIFFNESSES, 0.0),
    ("torque limit {of}", "torque", "N m", TORQUES, 1.0),
    ("speed limit {of}", "speed", "rad/s", SPEED_UNITS, 0.0),
)
DRIVE_MISTAKES = (
    DriveMistake(
        "Is the rotor inertia {of} that on the joint's side of the gear",
        "divide it by the gear ratio squared",
        *("rotor", 1.0, -2, 1.0),
    ),
    DriveMistake(
        "Is the rotor inertia {of} divided by the gear ratio squared already",
        "write that of the rotor itself",
        *("rotor", 1.0, 2, 1.0),
    ),
    DriveMistake(
        "Is the gear ratio {of} inverted",
        "write the turns of the motor for one of the joint",
        "ratio",
    ),
    DriveMistake(
        "Is the torque constant {of} in mN m/A, or its current limit in mA",
        "write them in N m/A and A",
        *("current_torque", 1e-3),
    ),
    DriveMistake(
        "Is the friction {of} that on the other side of the gear",
        "write it for the row that its key `on` names, a joint or a motor",
        "side",
    ),
    DriveMistake(
        "Is the stiffness {of} that on the motor's side of the gear",
        "multiply it by the gear ratio squared",
        *("stiffness", 1.0, 2, 1.0),
    ),
    DriveMistake(
        "Is the torque limit {of} that of the motor",
        "multiply it by the gear ratio",
        *("torque", 1.0, 1),
    ),
)


def _drive_mistakes() -> Iterator[DriveMistake]:
    """Mistakes in the numbers of drives: units, sides of the gear, ratios upside down."""
    for name, key, right, units, rarity in UNIT_MISTAKES:
        for unit, factor in units.items():
            question = f"Is the {name} in {unit}"
            yield DriveMistake(question, f"write it in {right}", key, factor, rarity=rarity)
    yield from DRIVE_MISTAKES


def _with_ratio(drive: DriveNumbers, ratio: float) -> DriveNumbers:
    """The drive with another gear ratio; friction of the motor acts on the joint by it."""
    f = ratio / drive.ratio if drive.friction_on_motor else 1.0
    return drive.with_friction(f, f * f)._replace(ratio=ratio)


def _drive_hypotheses(drives: Sequence[DriveNumbers]) -> Iterator[Hypothesis]:
    """One mistake in a number of all motors, or of one."""
    beyond = [drive for drive in drives if ranges.excess_of(drive.features()) > 0]
    if 2 * len(beyond) > len(drives):
        found = _explain_drives(drives, "of the motors")
    elif beyond:
        worst = max(beyond, key=lambda drive: ranges.excess_of(drive.features()))
        found = _explain_drives([worst], f"of {worst.motor}")
    else:
        found = None
    if found is not None:
        yield found
        return
    yield from _foreign_ratios(drives)
    yield from _low_friction(drives)
    low = [drive for drive in drives if drive.ratio < LEAST_RATIO]
    usual = ranges.median_of(np.array([drive.ratio for drive in drives]))
    if low and (len(low) == len(drives) or usual > GEARED):
        fact = f"{low[0].motor} turns {low[0].ratio:.3g} times for one turn of {low[0].joint}"
        remedy = "write the turns of the motor for one of the joint"
        yield Hypothesis(fact, "Is its gear ratio inverted", remedy, ranges.ODD)


LEAST_RATIO = 0.5  # that a robot has gears for
GEARED = 20.0  # ratio from which on a gear has friction
GEAR_FRICTION = Range(0.008, 3.0, 0.1, 0.4)  # over the torque limit, of geared joints 0.03 to 0.3


def _low_friction(drives: Sequence[DriveNumbers]) -> Iterator[Hypothesis]:
    """Friction of gears so low that it may be that of the motors."""
    geared = [drive for drive in drives if drive.ratio > GEARED and not drive.friction_on_motor]
    share = ranges.median_of(np.array([drive.friction / drive.torque for drive in geared]))
    on_joints = ranges.median_of(np.array([x.across_gear().friction / x.torque for x in geared]))
    if 0 < share < GEAR_FRICTION.low and not GEAR_FRICTION.excess(on_joints):
        fact = f"friction of geared joints is {100 * share:.2g} % of their torque limits"
        remedy = "multiply it by the gear ratio, or name the motor in `on`"
        yield Hypothesis(fact, "Is it that on the motor's side of the gear", remedy, ranges.ODD)


def _explain_drives(drives: Sequence[DriveNumbers], of: str) -> Hypothesis | None:
    """The mistake that brings all numbers of drives into range."""
    beyond = [ranges.excess_of(drive.features()) > 0 for drive in drives]
    ranked = []
    for mistake in _drive_mistakes():
        for undone, rarity in (([True] * len(drives), 0.0), (beyond, 1.0)):
            then = []
            for drive, is_wrong in zip(drives, undone, strict=True):
                then += (mistake.undo(drive) if is_wrong else drive).features()
            if ranges.excess_of(then) == 0:
                surprise = ranges.surprise_of(then) / len(drives) + mistake.rarity + rarity
                ranked.append((surprise, mistake))
    if not ranked:
        return None
    ranked.sort(key=lambda pair: pair[0])
    question, remedy = ranked[0][1].question.format(of=of), ranked[0][1].remedy
    worst = max(drives, key=lambda drive: ranges.excess_of(drive.features()))
    excess = ranges.excess_of(worst.features())
    strength = ranges.REFUSED + excess if excess >= FAR_BEYOND else ranges.ODD
    return Hypothesis(_drive_evidence(worst), question, remedy, strength)


def _drive_evidence(drive: DriveNumbers) -> str:
    """The number of a drive that is furthest out of range."""
    range_, value = max(drive.features(), key=lambda feature: feature[0].excess(feature[1]))
    of, limit = f"motor '{drive.motor}'", f"torque limit of {drive.joint}"
    words = {
        MOTOR_SPEED: f"{of} turns at {value:.3g} rad/s at the speed limit of {drive.joint}",
        RUN_UP: f"the {limit} brings the rotor of {of} alone to full speed in {value:.3g} s",
        CURRENT_TORQUE: f"{of} gives {value:.3g} times the {limit} at its current limit",
        FRICTION: f"friction is {100 * value:.3g} % of the {limit}",
        TWIST: f"the {limit} twists its gear by {np.degrees(value):.3g}°",
    }
    return words[range_]


SAME_RATIO, OTHER_RATIO = 0.02, 0.05  # relative: torques that agree, and that do not


def _foreign_ratios(drives: Sequence[DriveNumbers]) -> Iterator[Hypothesis]:
    """A gear ratio of another joint: torques at the current limits agree but for it."""
    share = np.array([drive.ratio * drive.current_torque / drive.torque for drive in drives])
    if len(share) < 4 or not np.isfinite(share).all():
        return
    usual = float(np.median(share))
    off = np.flatnonzero(np.abs(share / usual - 1) > OTHER_RATIO)
    agree = np.count_nonzero(np.abs(share / usual - 1) < SAME_RATIO)
    if not 1 <= len(off) <= 2 or agree < len(share) - len(off):
        return
    for i in off.tolist():
        right = drives[i].ratio * usual / share[i]
        for k, other in enumerate(drives):
            copied = k != i and np.isclose(other.ratio, drives[i].ratio, rtol=1e-3)
            exchanged = k in off and k != i and np.isclose(other.ratio, right, rtol=SAME_RATIO)
            if copied or exchanged:
                own = drives[i]
                fact = (
                    f"{own.motor} gives {100 * share[i] / usual:.3g} % of its torque limit at its "
                    f"current limit, the others all of it"
                )
                question = f"Is its gear ratio, {own.ratio:.4g}, that of {other.motor}"
                yield Hypothesis(fact, question, f"write its own, about {right:.4g}", ranges.ODD)
                return
