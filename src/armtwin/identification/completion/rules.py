"""The rules: each fills one kind of number that a robot file lacks, and says so in its source.

Numbers that rules gave to a robot file, each with its rule in the source of its group.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

from armtwin.drives.friction.curves import breakaway, split
from armtwin.errors import ArmtwinError
from armtwin.identification.completion import sizes
from armtwin.maths.batch import Floats, Sentences
from armtwin.robot.defaults import assumed_drives
from armtwin.robot.defaults.joint_sizes import RISE
from armtwin.robot.dynamics.assembly import Row
from armtwin.robot.robot import Robot
from armtwin.robot.schema import drive_groups as groups
from armtwin.robot.schema.provenance import DEFAULT_SERVO
from armtwin.robot.schema.servo import Cascade, Filter, ServoRule

G = TypeVar("G", bound=Any)
DIGITS = 6  # of a number that a rule gives


@dataclass(frozen=True)
class AssumedNumber:
    """A number that a rule gave.

    Attributes:
        key: Key path in the robot file, by name.
        value: The number, SI.
        unit: Its unit.
        rule: The rule in words.
        instead: What would replace it by a measured number.
    """

    key: str
    value: float
    unit: str
    rule: str
    instead: str

    @property
    def kind(self) -> str:
        """Key path without the name of the motor, friction element or servo."""
        group, _, rest = self.key.partition(".")
        return f"{group}.{rest.partition('.')[2]}"


def round_for_file(value: float) -> float:
    """A number as files give it."""
    return float(f"{value:.{DIGITS}g}")


def with_assumed(group: G, rule: str, **changes: Any) -> G:
    """The group with numbers that a rule gave; its other numbers keep where they came from."""
    source = group.source
    if isinstance(source, str):
        source = dict.fromkeys(_keys_with_source(group), source)
    assumed = dict.fromkeys(changes, f"assumed: {rule}")
    return replace(group, source={**source, **assumed}, **changes)


def _keys_with_source(group: Any) -> Sentences:
    """Keys of a group that hold numbers."""
    for f in fields(group):
        value = getattr(group, f.name)
        if f.metadata.get("flat"):
            yield from _keys_with_source(value)
        elif isinstance(value, float | int | tuple) or (is_dataclass(value) and f.name != "source"):
            yield f.name


TURN, SLIDE = 1e-4, 1e-5  # pre-sliding travel up to break-away [rad, m]
LEAST_DRY = 1e-3  # of the largest torque: least dry friction that sets a stiffness
RELATIVE_DAMPING = 0.1  # of the pre-sliding spring
SPEEDS = np.geomspace(1e-4, 1.0, 60)  # shares of the highest speed at which friction is sampled
RATES = (250.0, 2000.0, 4000.0)  # of set-points, position loop and velocity loop [Hz]
DAMPING, INTEGRATOR, ADVANCE = 0.8, 0.1, 0.9
METRE_BANDWIDTH = 14.0  # of the position loop of an arm that reaches 1 m [Hz]
SLOW = 0.5  # speed of joints at which the servo knows their viscous friction [rad/s]
FEEDBACK_CORNER, OUTPUT_CORNER, FORWARD_CORNER = 400.0, 300.0, 100.0  # [Hz]

BY_SPEED = f"twice what a tenth of the arm's mass and full speed in {RISE:g} s need"
UNITS = {"bandwidth": "Hz", "inertia": "kg m²", "friction_feedforward": "N m s/rad"}

BY_IDENTIFYING = "armtwin identify with logs of torque"
BY_DATA_SHEET = "the motor's data sheet, or armtwin identify with logged currents"
BY_DRIVE = "the drive's settings, or a log that reaches the limit"
BY_REVERSALS = "slow reversals, logged finer than the turn"
BY_SERVO = "armtwin servo with a log of q_ref and q"

Step = tuple[Robot, list[AssumedNumber]]
Assumed = tuple[float, str]  # a number, and the rule that gave it
MotorRule = Callable[[groups.Motor, float, str], Assumed | None]


def source_of_rule(rule: str) -> str:
    """The source of a number that a rule gave."""
    return f"assumed: {rule}"


def in_words(source: str) -> str:
    """The rule of a source."""
    return source.partition(": ")[2]


def with_motors(robot: Robot) -> Step:
    """Motors on joints without one; rotor inertias where no motor has one."""
    if robot.description.hydraulic or not (
        assumed_drives.lacks_drives(robot) or assumed_drives.idle_joints(robot)
    ):
        return robot, []
    known = {motor.name: motor.rotor_inertia for motor in robot.description.motor}
    driven = assumed_drives.with_assumed_drives(robot).description
    filled = []
    for motor in driven.motor:
        if known.get(motor.name) != motor.rotor_inertia:
            key = f"motor.{motor.name}.rotor_inertia"
            rule = in_words(assumed_drives.ROTOR_SOURCE)
            filled.append(AssumedNumber(key, motor.rotor_inertia, "kg m²", rule, BY_IDENTIFYING))
    description = replace(driven, friction=robot.description.friction)
    return robot.with_description(description), filled


def with_friction(robot: Robot) -> Step:
    """Friction on each joint, where the file has none at all."""
    if robot.description.active_friction():
        return robot, []
    drives = robot.description
    rubbing = assumed_drives.with_assumed_drives(robot).description.friction
    filled = []
    for element in rubbing[len(drives.friction) :]:
        for key, unit in element.law.coefficients:
            path = f"friction.{element.name}.{key}"
            value = float(getattr(element.law, key))
            rule = in_words(assumed_drives.FRICTION_SOURCE)
            filled.append(AssumedNumber(path, value, unit, rule, BY_IDENTIFYING))
    return robot.with_description(replace(drives, friction=rubbing)), filled


def with_torque_constants(robot: Robot, found: sizes.Sizes) -> Step:
    """Torque constants: largest torque over the current limit, else 1 N m/A."""

    def constant(motor: groups.Motor, largest: float, _: str) -> Assumed | None:
        if motor.torque_constant is not None:
            return None
        if motor.current_limit:
            return largest / motor.current_limit, "its largest torque over its current limit"
        return 1.0, in_words(groups.CURRENTS_ARE_TORQUES)

    return _fill_motors(robot, found, constant, "torque_constant", "N m/A", BY_DATA_SHEET)


def with_current_limits(robot: Robot, found: sizes.Sizes) -> Step:
    """Current limits: the largest torque over the torque constant, no less than logs show."""

    def limit(motor: groups.Motor, largest: float, rule: str) -> Assumed | None:
        if motor.current_limit is not None or motor.torque_constant is None:
            return None
        return largest / motor.torque_constant, rule

    return _fill_motors(robot, found, limit, "current_limit", "A", BY_DRIVE)


def _fill_motors(
    robot: Robot, found: sizes.Sizes, rule_of: MotorRule, key: str, unit: str, instead: str
) -> Step:
    """The robot with one number of its motors by a rule, where it gives one."""
    motors, filled = [], []
    for motor, *largest in zip(robot.description.motor, *_motor_torques(robot, found), strict=True):
        assumed = rule_of(motor, *largest)
        if assumed is not None:
            value, rule = round_for_file(assumed[0]), assumed[1]
            motor = with_assumed(motor, rule, **{key: value})
            path = f"motor.{motor.name}.{key}"
            filled.append(AssumedNumber(path, value, unit, rule, instead))
        motors.append(motor)
    return robot.with_description(replace(robot.description, motor=tuple(motors))), filled


def _motor_torques(robot: Robot, found: sizes.Sizes) -> tuple[Floats, list[str]]:
    """Largest torque of each motor, (motors,) [N m], and the rule: by its joint, or by the logs."""
    torque, rules = [], []
    for row, logged in zip(robot.assembly.motor_rows, found.logged, strict=True):
        own = np.abs(row).argmax()
        by_joint = found.joints.torque[own] / abs(row[own])
        by_logs = sizes.MARGIN * logged
        torque.append(max(by_joint, by_logs))
        if by_logs > by_joint:
            rules.append(f"{sizes.MARGIN:g} times the largest logged torque")
        elif found.joints.limited[own]:
            rules.append("the torque limit of its joint")
        else:
            rules.append(BY_SPEED)
    return np.array(torque), rules


def with_presliding(robot: Robot, found: sizes.Sizes) -> Step:
    """Pre-sliding stiffness by break-away at 1e-4 rad, damping a tenth of critical."""
    rows = {element.name: row for element, row in robot.assembly.friction}
    active = robot.description.active_friction()
    elements = []
    filled = []
    for element in robot.description.friction:
        if element in active and element.presliding is None:
            row = rows[element.name]
            stiffness, rule = _presliding_stiffness(robot, found, element, row)
            presliding = groups.Presliding(
                stiffness=stiffness,
                relative_damping=RELATIVE_DAMPING,
                inertia=round_for_file(_row_inertia(robot, found.postures, row)),
            )
            element = with_assumed(element, rule, presliding=presliding)
            key = f"friction.{element.name}.presliding.stiffness"
            filled.append(AssumedNumber(key, stiffness, "N m/rad", rule, BY_REVERSALS))
        elements.append(element)
    return robot.with_description(replace(robot.description, friction=tuple(elements))), filled


def _presliding_stiffness(
    robot: Robot, found: sizes.Sizes, element: groups.FrictionElement, row: Row
) -> tuple[float, str]:
    """Pre-sliding stiffness of one element [N m/rad], and the rule of all of them in words.

    The travel of a row that turns faster than its joint, as a motor's, is scaled by the ratio.
    """
    own = np.abs(row.weights).argmax()
    ratio = abs(row.weights[own])
    slides = robot.assembly.tree.joints[own].type == "prismatic" or row.linkage is not None
    turn = ratio * (SLIDE if slides else TURN)
    held = _largest_dry(element, ratio * found.joints.speed[own])
    rule = f"break-away at a turn of {TURN:g} rad"
    if slides:
        rule = f"break-away at a travel of {SLIDE:g} m"
    least = LEAST_DRY * found.joints.torque[own] / ratio
    if held < least:
        held = least
        rule = f"{LEAST_DRY:g} of the largest torque, {rule.partition(' ')[2]}"
    return round_for_file(held / turn), f"{rule}, {RELATIVE_DAMPING:g} of critical damping"


def _largest_dry(element: groups.FrictionElement, fastest: float) -> float:
    """Largest dry friction, at rest or sliding, in both directions [N m]."""
    largest = 0.0
    for law in (element.law, element.negative or element.law):
        sliding, _ = split(law, SPEEDS * fastest)
        largest = max(largest, breakaway(law), float(sliding.max()))
    return largest


def _row_inertia(robot: Robot, postures: Floats, row: Row) -> float:
    """Inertia that a row feels while all joints are free, 1 / (s M⁻¹ sᵀ), mean of postures."""
    levers = np.broadcast_to(row.lever(postures), len(postures))
    acting = row.weights * levers[:, None]
    moved = np.linalg.solve(robot.mass_matrix(postures), acting[..., None])[..., 0]
    mobility = (acting * moved).sum(axis=1)
    return float((1 / mobility).mean())


def with_servo(robot: Robot, found: sizes.Sizes, bandwidth: float | None) -> Step:
    """A cascade by a bandwidth and the inertia that motors feel, where the file has no servo.

    Large arms vibrate at lower frequencies, and their loops must be slower:
    f = 14 Hz (reach / 1 m)^-1/2.
    """
    if robot.description.servo:
        return robot, []
    if robot.description.hydraulic:
        raise ArmtwinError(
            f"robot '{robot.name}': there is no rule for the servo of hydraulic drives; "
            "give a [servo.NAME] of kind proportional"
        )
    words = _rule_in_words(found.where)
    if bandwidth is None:
        bandwidth = float(f"{METRE_BANDWIDTH / np.sqrt(sizes.reach(robot)):.2g}")
    else:
        words["bandwidth"] = "as asked for"
    rule = ServoRule(
        bandwidth=(bandwidth,),
        inertia=tuple(map(round_for_file, sizes.felt_inertias(robot, found.postures))),
        friction_feedforward=tuple(map(round_for_file, sizes.viscous_at_motors(robot, SLOW))),
        source={key: source_of_rule(text) for key, text in words.items()},
        damping=(DAMPING,),
        integrator=(INTEGRATOR,),
        acceleration_feedforward=(ADVANCE,),
    )
    description = replace(robot.description, servo={DEFAULT_SERVO: _cascade(rule)})
    return robot.with_description(description), list(_rule_numbers(rule, words))


def _rule_in_words(where: str) -> dict[str, str]:
    """Where each number of the rule of a servo comes from."""
    return {
        "bandwidth": f"{METRE_BANDWIDTH:g} Hz at 1 m of reach, falling with its root",
        "inertia": f"what each motor feels, {where}",
        "damping": "as usual for a position loop",
        "integrator": "corner at a tenth of the bandwidth",
        "acceleration_feedforward": "somewhat less than the whole inertia",
        "friction_feedforward": f"viscous friction's secant at {SLOW:g} rad/s",
    }


def _cascade(rule: ServoRule) -> Cascade:
    return Cascade(
        *RATES,
        source=source_of_rule("a cascade like that of other robots; the control law is not known"),
        rule=rule,
        feedback_filter=Filter("low_pass", (FEEDBACK_CORNER,)),
        output_filter=Filter("low_pass", (OUTPUT_CORNER,)),
        feedforward_filter=Filter("low_pass", (FORWARD_CORNER,)),
        structure="not known",
    )


def _rule_numbers(rule: ServoRule, words: dict[str, str]) -> Iterator[AssumedNumber]:
    """The numbers from which the gains of a servo follow."""
    for key, text in words.items():
        unit = UNITS.get(key, "1")
        instead = BY_IDENTIFYING if key == "inertia" else BY_SERVO
        for value in getattr(rule, key):
            yield AssumedNumber(f"servo.{DEFAULT_SERVO}.rule.{key}", value, unit, text, instead)
