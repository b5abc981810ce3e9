"""The unit of a whole robot in closed loop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from armtwin.control.controller import (
    BY_ACCELERATION,
    BY_SIGN,
    BY_SPEED,
    BY_TORQUE,
    REFERENCES,
    uses_torque,
)
from armtwin.errors import ArmtwinError
from armtwin.exchange.unit import ExchangeUnit, Variable
from armtwin.maths.batch import Floats, NamedArrays, Sentences, check_array
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.dynamics.sag import SETTLING, STILL
from armtwin.robot.robot import Robot
from armtwin.simulation.lanes import numbers_of
from armtwin.simulation.model import Model
from armtwin.simulation.prepared import PreparedRun, controller_of, prepare
from armtwin.simulation.traced import BALANCER_TABLE, CURVES
from armtwin.simulation.traced_robot import TracedRobot

SIX = ("xx", "yy", "zz", "xy", "xz", "yz")


def robot_unit(
    robot: Robot, name: str, model: Model | None = None, *, posture: ArrayLike | None = None
) -> ExchangeUnit:
    """The unit of a robot under its servo.

    Args:
        robot: The robot, tool mounted.
        name: Name of the unit.
        model: Friction model, servo, joints, quantisation; by default the full model with rigid
            joints.
        posture: Joint positions of the first set-point unless the host gives another,
            (n,) [rad]; by default the middle of the joints' ranges.
    """
    model = Model() if model is None else model
    _check_robot(robot, model)
    q = middle(robot) if posture is None else check_array("posture", posture, (robot.n,), "joints")
    run = _prepare_hold(robot, model, q)
    _check_servo(robot, run)
    traced = TracedRobot(run)
    stages, memory = traced.traced()
    numbers = _numbers(traced)
    c = run.controller
    constants: dict[str, float | int] = {
        "WINDOW": traced.window,
        "REFERENCES": REFERENCES,
        "N_DRIVES": traced.m,
        "N_COORDINATES": traced.N,
        "POSITION_TICKS": int(c.position_ticks),
        "SETPOINT_TICKS": int(c.setpoint_ticks),
        "TICK": float(c.tick),
        "READINGS": traced.readings,
        "COMMANDS": traced.commands,
    }
    if run.coordinates.elastic:
        constants |= {"ELASTIC": 1, "SETTLING": SETTLING, "STILL": STILL}
    return ExchangeUnit(
        name=name,
        title=f"Robot {name} under its servo: set-points in, tool pose, joints and torques out.",
        loop="robot",
        variables=[*_variables(traced, q)],
        stages=stages,
        memory=memory,
        numbers=numbers,
        tables={CURVES: run.plant.friction.curves, BALANCER_TABLE: run.plant.balancers.table},
        constants=constants,
        step=float(c.tick * c.setpoint_ticks),
        remarks=[f"Its numbers are those of robot {robot.name}.", *_remarks(run, model)],
    )


def middle(robot: Robot) -> Floats:
    """The middle of the joints' ranges, zero where a joint has none."""
    low, high = robot.position_limits
    bounded = np.isfinite(low) & np.isfinite(high)
    found = np.zeros(robot.n)
    found[bounded] = 0.5 * (low[bounded] + high[bounded])
    return found


def _prepare_hold(robot: Robot, model: Model, q: Floats) -> PreparedRun:
    """A run prepared to hold a posture."""
    c = controller_of(robot, model)
    still = np.zeros((2, robot.n))
    motion = Trajectory.sampled(1 / (c.tick * c.setpoint_ticks), q + still, still, still)
    return prepare(robot, motion, model)


def _check_robot(robot: Robot, model: Model) -> None:
    """Refuse what a unit has no parts for."""
    what = ""
    if robot.description.hydraulic:
        what = "hydraulic drives"
    elif robot.assembly.coupling is not None:
        what = "joints that follow others"
    elif model.friction == "switching":
        what = "switching friction of a whole robot"
    elif model.ripple:
        what = "ripple of gears"
    if what:
        raise _make_refusal(robot, what)


def _check_servo(robot: Robot, run: PreparedRun) -> None:
    """Refuse a servo that looks ahead of its set-points, and parts that are on no tape."""
    c = run.controller
    what = ""
    if len(run.plant.loads.element):
        what = "friction that follows its load"
    elif not run.structure.can_be_traced:
        what = "gyroscopic rotors"
    elif np.any(c.setpoint_delay > 0):
        what = "a servo that gets its set-points late (give them to the unit late instead)"
    elif np.any(c.shaping[:, [BY_SPEED, BY_ACCELERATION, BY_SIGN, BY_TORQUE]]):
        what = "a servo that shapes its reference by what comes after it"
    if what:
        raise _make_refusal(robot, what)


def _make_refusal(robot: Robot, what: str) -> ArmtwinError:
    return ArmtwinError(
        f"robot '{robot.name}': cannot be exported in closed loop; a unit does not have {what}"
    )


def _numbers(traced: TracedRobot) -> NamedArrays:
    """Values at the start of all arrays in the memory of numbers."""
    run = traced.run
    memory = traced.structure.memory()
    flat = numbers_of(memory, run)
    found = {}
    for name, (which, first, shape) in memory.arrays.items():
        if which == 0:
            found[name] = flat[first : first + int(np.prod(shape))]
    body, _ = traced.assembly.frame("flange")
    found["bare"] = traced.assembly.arm.inertia[body]
    found["level"] = np.ones(traced.structure.elements)
    return found


def _variables(traced: TracedRobot, q: Floats) -> Iterator[Variable]:
    yield Variable("time", "independent", None, "s", "Time")
    yield from _inputs(traced, q)
    yield from _parameters(traced)
    yield from _outputs(traced)


def _inputs(traced: TracedRobot, q: Floats) -> Iterator[Variable]:
    for j, name in enumerate(traced.robot.joint_names):
        unit = _unit(traced.robot, j)
        for array, per, what, start in (
            ("q_ref", "", "Position", q[j]),
            ("v_ref", "/s", "Speed", 0.0),
            ("a_ref", "/s^2", "Acceleration", 0.0),
        ):
            words = f"{what} of the set-point of {name} at the end of the controller cycle"
            place = (array, (j,))
            yield Variable(f"{array}{j + 1}", "input", place, unit + per, words, float(start))
        words = f"Torque on {name} from outside"
        force = "N m" if unit == "rad" else "N"
        yield Variable(f"load{j + 1}", "input", ("load", (j,)), force, words, 0.0)
    if uses_torque(traced.c):
        for k in range(traced.m):
            words = f"Torque that motor {k + 1} is fed forward, motor side"
            yield Variable(f"tau_ff{k + 1}", "input", ("tau_ff", (k,)), "N m", words, 0.0)


def _unit(robot: Robot, joint: int) -> str:
    return "rad" if robot.assembly.tree.joints[joint].type == "revolute" else "m"


def _parameters(traced: TracedRobot) -> Iterator[Variable]:
    words = "Mass on the flange beyond what is mounted"
    yield Variable("payload_mass", "parameter", ("payload", (0,)), "kg", words, 0.0, 0.0)
    for k, axis in enumerate("xyz", 1):
        words = f"Centre of mass of the payload in the flange's frame, {axis}"
        yield Variable(f"payload_{axis}", "parameter", ("payload", (k,)), "m", words, 0.0)
    for k, name in enumerate(SIX, 4):
        words = f"Inertia of the payload about its centre of mass, {name}"
        yield Variable(f"payload_{name}", "parameter", ("payload", (k,)), "kg m^2", words, 0.0)
    for e, (element, _) in enumerate(traced.assembly.friction[: traced.structure.elements], 1):
        words = f"Level of friction '{element.name}': factor of its torques"
        place = ("level", (e - 1,))
        yield Variable(f"friction_level{e}", "parameter", place, "1", words, 1.0, 0.0)


def _outputs(traced: TracedRobot) -> Iterator[Variable]:
    for row, axis in enumerate("xyz"):
        words = f"Tool point in the base frame, {axis}"
        yield Variable(f"tool_{axis}", "output", ("pose", (row, 3)), "m", words)
    for row in range(3):
        for column, axis in enumerate("xyz"):
            words = f"Rotation of the tool, row {row + 1} of its {axis} axis in the base frame"
            place = ("pose", (row, column))
            yield Variable(f"tool_R{row + 1}{column + 1}", "output", place, "1", words)
    for j, name in enumerate(traced.robot.joint_names):
        unit = _unit(traced.robot, j)
        force = "N m" if unit == "rad" else "N"
        for word, array, of, what in (
            ("q", "q", unit, f"Position of {name} as its motor has it"),
            ("q_link", "q_link", unit, f"Position of {name}, link side"),
            ("v", "speeds", f"{unit}/s", f"Speed of {name} as its motor has it"),
            ("tau", "joint_torque", force, f"Torque of the motors on {name}"),
        ):
            yield Variable(f"{word}{j + 1}", "output", (array, (j,)), of, what)
    for k in range(traced.m):
        words = f"Torque of motor {k + 1}"
        yield Variable(f"tau_m{k + 1}", "output", ("motor_torque", (k,)), "N m", words)


def _remarks(run: PreparedRun, model: Model) -> Sentences:
    c = run.controller
    period = c.tick * c.setpoint_ticks
    yield (
        "At initialisation the robot is at rest at the set-point given: weight, springs and servo "
        "are in equilibrium. Inputs set before a step are the set-point one controller cycle "
        f"ahead: the servo reads them every {1e3 * period:g} ms and moves on a cubic to them."
    )
    yield (
        f"The unit takes whole ticks of its velocity loop, {1e6 * c.tick:g} us each; steps of "
        "communication may be uneven; one controller cycle each is recommended."
    )
    yield (
        f"Simulated are {model.words}, {model.friction} friction, servo '{model.servo}', currents "
        f"and encoders {'in steps' if model.quantise else 'without steps'}. How many steps a tick "
        "takes was chosen for the posture and load of the export."
    )
