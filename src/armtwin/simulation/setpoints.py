"""Set-points of drives as joint motions: in volts, in strokes or in wrist coordinates.

volts    u = sensor_gain (x - sensor_zero)      of a servo of kind "proportional"
strokes  lengths of cylinders, angles of motors
wrist    r, z, φ, γ, ψ
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Names, check_array
from armtwin.maths.interpolation import interpolate_columns
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.kinematics import strokes
from armtwin.robot.kinematics.strokes import drive_names, drives_slide, joint_positions
from armtwin.robot.kinematics.wrist import ANGLES, COORDINATES, from_wrist, wrist_coordinates
from armtwin.robot.robot import Robot
from armtwin.robot.schema.servo import Proportional
from armtwin.simulation.closed_loop import setpoint_rate
from armtwin.simulation.model import Model
from armtwin.simulation.prepared import servo_of

Unit = Literal["volts", "strokes", "wrist"]
UNITS = ("volts", "strokes", "wrist")


def hydraulic_model(robot: Robot, valves: Literal["spool", "delay"] = "spool") -> Model:
    """The model under which a robot with proportional control in volts runs."""
    for name, servo in robot.description.servo.items():
        if isinstance(servo, Proportional):
            return Model("arctan", name, quantise=False, valves=valves)
    raise ArmtwinError(f"robot '{robot.name}' has no servo of kind 'proportional'")


def home_of(robot: Robot) -> Floats:
    """Joint positions at which a robot's sensors read zero, else its home, else 0, (n,)."""
    wrist = robot.description.wrist
    home = np.zeros(robot.n) if wrist is None else np.array(wrist.home)
    for servo in robot.description.servo.values():
        if isinstance(servo, Proportional) and servo.sensor_zero is not None:
            return joint_positions(robot, np.array(servo.sensor_zero), home)
    return home


def coordinate_names(robot: Robot, unit: Unit) -> Names:
    """Names of the coordinates in which set-points are given."""
    if unit not in UNITS:
        raise ArmtwinError(f"set-points must be in one of {', '.join(UNITS)}, got '{unit}'")
    return COORDINATES if unit == "wrist" else drive_names(robot)


def list_units(robot: Robot, unit: Unit) -> list[str]:
    """Unit of each coordinate in which set-points are given."""
    if unit == "volts":
        return ["V"] * len(drive_names(robot))
    if unit == "wrist":
        return ["rad" if name in ANGLES else "m" for name in COORDINATES]
    return ["m" if slides else "rad" for slides in drives_slide(robot)]


def coordinates_of(robot: Robot, model: Model, unit: Unit, q: Floats) -> Floats:
    """Joint positions (m, n) in the coordinates of set-points, (m, k)."""
    if unit == "wrist":
        return wrist_coordinates(robot, q)
    x = strokes.levers(robot, q).position
    return x if unit == "strokes" else _volts(robot, model, x)


def _sensor(robot: Robot, model: Model) -> Proportional:
    servo = servo_of(robot, model)
    if not isinstance(servo, Proportional):
        raise ArmtwinError(
            f"set-points in volts need a servo of kind 'proportional', got '{servo.kind}'"
        )
    return servo


def _zero(servo: Proportional, count: int) -> Floats:
    return np.zeros(count) if servo.sensor_zero is None else np.array(servo.sensor_zero)


def _volts(robot: Robot, model: Model, x: Floats) -> Floats:
    servo = _sensor(robot, model)
    return np.array(servo.sensor_gain) * (x - _zero(servo, x.shape[-1]))


def joints_of(robot: Robot, model: Model, unit: Unit, values: ArrayLike, near: Floats) -> Floats:
    """Joint positions (m, n) of set-points (m, k); what cannot be reached is refused."""
    names = coordinate_names(robot, unit)
    given = check_array("set-points", values, (len(names),), f"{unit} of {', '.join(names)}")
    if unit == "wrist":
        return from_wrist(robot, given)
    if unit == "volts":
        servo = _sensor(robot, model)
        _check_volts(robot, servo, names, given)
        given = given / np.array(servo.sensor_gain) + _zero(servo, len(names))
    q = joint_positions(robot, given, near)
    strokes.check_levers(robot, q)
    return q


def _check_volts(robot: Robot, servo: Proportional, names: Names, volts: Floats) -> None:
    if servo.voltage_limit is None:
        return
    out = np.abs(volts) > servo.voltage_limit
    if out.any():
        name = names[int(np.argwhere(out)[0][-1])]
        raise ArmtwinError(
            f"robot '{robot.name}': set-points of {name} must be within "
            f"±{servo.voltage_limit:g} V, got {volts[out][0]:g} V"
        )


def build_step_motion(
    robot: Robot, model: Model, times: ArrayLike, setpoints: Floats, seconds: float
) -> Trajectory:
    """A motion of the joints that jumps to set-points at times and holds them.

    Args:
        robot: The robot.
        model: Its servo gives the rate.
        times: Time of each set-point, rising from 0, (k,) [s].
        setpoints: Joint positions, (k, n).
        seconds: Length of the run [s].
    """
    starts = np.asarray(times, dtype=np.float64)
    if starts[0] != 0 or np.any(np.diff(starts) <= 0):
        raise ArmtwinError(f"times of set-points must rise from 0 s, got {starts.tolist()}")
    if not np.isfinite(seconds) or seconds <= starts[-1]:
        raise ArmtwinError(
            f"a run must last longer than its last set-point at {starts[-1]:g} s, got {seconds} s"
        )
    rate = setpoint_rate(robot, model)
    _check_delays(robot, model, seconds)
    count = round(seconds * rate) + 1
    held = np.searchsorted(starts, np.arange(count) / rate, side="right") - 1
    q = setpoints[held]
    still = np.zeros_like(q)
    return Trajectory.sampled(rate, q, still, still)


def interpolate_motion(
    robot: Robot, model: Model, unit: Unit, time: ArrayLike, setpoints: ArrayLike
) -> Trajectory:
    """A motion of the joints through set-points, linear between their times.

    Args:
        robot: The robot.
        model: Its servo gives the rate.
        unit: "volts", "strokes" or "wrist".
        time: Times of the set-points, rising from 0, (m,) [s].
        setpoints: The set-points, (m, k).
    """
    stamps = np.asarray(time, dtype=np.float64)
    given = np.asarray(setpoints, dtype=np.float64)
    if stamps.ndim != 1 or len(stamps) < 2 or stamps[0] != 0 or np.any(np.diff(stamps) <= 0):
        raise ArmtwinError("times of set-points must rise from 0 s, at least two of them")
    if given.ndim != 2 or len(given) != len(stamps):
        raise ArmtwinError(f"set-points must have {len(stamps)} rows, got shape {given.shape}")
    rate = setpoint_rate(robot, model)
    times = np.arange(round(stamps[-1] * rate) + 1) / rate
    return hold_motion(robot, model, unit, interpolate_columns(times, stamps, given))


def hold_motion(robot: Robot, model: Model, unit: Unit, setpoints: Floats) -> Trajectory:
    """A motion of the joints through set-points at the servo's rate, each held until the next.

    Args:
        robot: The robot.
        model: Its servo gives the rate.
        unit: "volts", "strokes" or "wrist".
        setpoints: The set-points, (m, k).
    """
    rate = setpoint_rate(robot, model)
    _check_delays(robot, model, (len(setpoints) - 1) / rate)
    q = joints_of(robot, model, unit, setpoints, home_of(robot))
    still = np.zeros_like(q)
    return Trajectory.sampled(rate, q, still, still)


def _check_delays(robot: Robot, model: Model, seconds: float) -> None:
    """Refuse a run in which a drive would not even begin to answer."""
    delays = {}
    servo = servo_of(robot, model)
    for hydraulic in robot.description.hydraulic:
        delays[f"valve of {hydraulic.name}"] = hydraulic.circuit.valve.delay
    for name, values in (("sensors", servo.delay.sensor), ("outputs", servo.delay.output)):
        delays[name] = max(values)
    for what, delay in delays.items():
        if delay >= seconds:
            raise ArmtwinError(
                f"robot '{robot.name}': the delay of its {what}, {delay:g} s, must be shorter than "
                f"the run, got {seconds:g} s"
            )
