"""The unit of a whole robot in closed loop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from armtwin.control.controller import uses_torque
from armtwin.exchange import robot_stages
from armtwin.exchange.instant import UnitFields, has_equations, state_variables, trace_unit
from armtwin.exchange.unit import ExchangeUnit, Order, Variable
from armtwin.maths.batch import Floats, Sentences, check_array
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.dynamics.sag import SETTLING, STILL
from armtwin.robot.kinematics.strokes import drives_slide
from armtwin.robot.robot import Robot
from armtwin.simulation.kernels import stages_of_step
from armtwin.simulation.loop import ClosedLoop
from armtwin.simulation.model import Model
from armtwin.simulation.plant import BRISTLES
from armtwin.simulation.prepared import PreparedRun, controller_of, prepare
from armtwin.simulation.tick import OF_TICK, step, tick

SIX = ("xx", "yy", "zz", "xy", "xz", "yz")
OF_LOG = {"log_state", "log_means", "watch_limits"}  # stages for which a unit has no use
OF_CONTROLLER = {"read_sensors", "run_position_loops", "run_velocity_loops", "carry"}
READ = ("work.current", "work.level", "work.loads")  # what the other stages read of a tick


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
    q = middle(robot) if posture is None else check_array("posture", posture, (robot.n,), "joints")
    run = prepare_hold(robot, model, q)
    loop = robot_stages.robot_loop(run)
    fields = UnitFields.of(loop)
    of_tick = {name: stage for name, stage in OF_TICK.items() if name not in OF_LOG}
    apart = [
        robot_stages.settle_bodies,
        robot_stages.settle,
        robot_stages.take,
        robot_stages.write_outputs,
    ]
    if run.coordinates.elastic:
        apart.append(robot_stages.sag)
    if has_equations(loop):
        apart.append(robot_stages.compute_slopes)
    of_step = stages_of_step(loop)
    stages, memory = trace_unit(fields, of_tick | {"push": robot_stages.push}, of_step, apart, READ)
    orders: list[Order] = [(step, stages, "step"), (tick, stages, "tick")]
    if has_equations(loop):
        orders.append((tick, stages.keys() & OF_CONTROLLER, "control"))
    return ExchangeUnit(
        name=name,
        title=f"Robot {name} under its servo: set-points in, tool pose, joints and torques out.",
        loop="robot",
        variables=[*_variables(loop, q)],
        fields=fields,
        stages=stages,
        memory=memory,
        orders=orders,
        constants=_constants(loop),
        indicators=len(loop.inputs.indicators) if has_equations(loop) else 0,
        step=robot_stages.setpoint_period(run.controller),
        remarks=[f"Its numbers are those of robot {robot.name}.", *_remarks(loop, model)],
    )


def _constants(loop: ClosedLoop) -> dict[str, float | int]:
    """Numbers that the ticks are counted with."""
    c = loop.inputs.run.controller
    found: dict[str, float | int] = {
        "SETPOINTS": robot_stages.window_of(c) + len(loop.inputs.past),
        "POSITION_TICKS": int(c.position_ticks),
        "SETPOINT_TICKS": int(c.setpoint_ticks),
        "TICK": float(c.tick),
    }
    if loop.inputs.run.coordinates.elastic:
        found |= {"SETTLING": SETTLING, "STILL": STILL}
    return found


def middle(robot: Robot) -> Floats:
    """The middle of the joints' ranges, zero where a joint has none."""
    low, high = robot.position_limits
    bounded = np.isfinite(low) & np.isfinite(high)
    found = np.zeros(robot.n)
    found[bounded] = 0.5 * (low[bounded] + high[bounded])
    return found


def prepare_hold(robot: Robot, model: Model, q: Floats) -> PreparedRun:
    """A run prepared to hold a posture."""
    c = controller_of(robot, model)
    still = np.zeros((2, robot.n))
    motion = Trajectory.sampled(1 / (c.tick * c.setpoint_ticks), q + still, still, still)
    return prepare(robot, motion, model)


def _variables(loop: ClosedLoop, q: Floats) -> Iterator[Variable]:
    yield Variable("time", "independent", None, "s", "Time")
    yield from _inputs(loop.inputs.run, q)
    yield from _parameters(loop)
    yield from _outputs(loop.inputs.run)
    if has_equations(loop):
        yield from _states(loop)


def _inputs(run: PreparedRun, q: Floats) -> Iterator[Variable]:
    for j, name in enumerate(run.robot.joint_names):
        unit = _unit(run.robot, j)
        for array, per, what, start in (
            ("q_ref", "", "Position", q[j]),
            ("v_ref", "/s", "Speed", 0.0),
            ("a_ref", "/s^2", "Acceleration", 0.0),
        ):
            words = f"{what} of the set-point of {name} that is ahead"
            place = (f"inputs.{array}", (j,))
            yield Variable(f"{array}{j + 1}", "input", place, unit + per, words, float(start))
        words = f"Torque on {name} from outside"
        place = ("inputs.load", (j,))
        yield Variable(f"load{j + 1}", "input", place, _force(unit), words, 0.0)
    if uses_torque(run.controller):
        for k in range(len(run.plant.outputs.row)):
            words = f"Torque that motor {k + 1} is fed forward, motor side"
            yield Variable(f"tau_ff{k + 1}", "input", ("inputs.tau_ff", (k,)), "N m", words, 0.0)


def _force(unit: str) -> str:
    """Unit of what moves a joint or a drive."""
    return "N m" if unit == "rad" else "N"


def _unit(robot: Robot, joint: int) -> str:
    return "rad" if robot.assembly.tree.joints[joint].type == "revolute" else "m"


def _parameters(loop: ClosedLoop) -> Iterator[Variable]:
    payload = "inputs.payload"
    words = "Mass on the flange beyond what is mounted"
    yield Variable("payload_mass", "parameter", (payload, (0,)), "kg", words, 0.0, 0.0)
    for k, axis in enumerate("xyz", 1):
        words = f"Centre of mass of the payload in the flange's frame, {axis}"
        yield Variable(f"payload_{axis}", "parameter", (payload, (k,)), "m", words, 0.0)
    for k, name in enumerate(SIX, 4):
        words = f"Inertia of the payload about its centre of mass, {name}"
        yield Variable(f"payload_{name}", "parameter", (payload, (k,)), "kg m^2", words, 0.0)
    for e, name in enumerate(_friction_names(loop), 1):
        words = f"Level of friction '{name}': factor of its torques"
        place = ("inputs.level", (e - 1,))
        yield Variable(f"friction_level{e}", "parameter", place, "1", words, 1.0, 0.0)


def _friction_names(loop: ClosedLoop) -> list[str]:
    elements = loop.inputs.run.coordinates.built.assembly.friction
    return [element.name for element, _ in elements[: len(loop.plant.friction.row)]]


def _outputs(run: PreparedRun) -> Iterator[Variable]:
    for row, axis in enumerate("xyz"):
        words = f"Tool point in the base frame, {axis}"
        yield Variable(f"tool_{axis}", "output", ("inputs.pose", (row, 3)), "m", words)
    for row in range(3):
        for column, axis in enumerate("xyz"):
            words = f"Rotation of the tool, row {row + 1} of its {axis} axis in the base frame"
            place = ("inputs.pose", (row, column))
            yield Variable(f"tool_R{row + 1}{column + 1}", "output", place, "1", words)
    for j, name in enumerate(run.robot.joint_names):
        unit = _unit(run.robot, j)
        for word, array, of, what in (
            ("q", "q", unit, f"Position of {name} as its motor has it"),
            ("q_link", "q_link", unit, f"Position of {name}, link side"),
            ("v", "speed", f"{unit}/s", f"Speed of {name} as its motor has it"),
            ("tau", "tau", _force(unit), f"Torque of the drives on {name}"),
        ):
            yield Variable(f"{word}{j + 1}", "output", (f"inputs.{array}", (j,)), of, what)
    for k, (slides, (drive, _)) in enumerate(
        zip(drives_slide(run.robot), run.robot.assembly.drives, strict=True)
    ):
        unit, what = ("N", "Force") if slides else ("N m", "Torque")
        words = f"{what} of {drive.name}"
        yield Variable(f"tau_m{k + 1}", "output", ("inputs.tau_m", (k,)), unit, words)


def _states(loop: ClosedLoop) -> Iterator[Variable]:
    """Coordinates, speeds, bristles, forces of cylinders and spools, with their derivatives."""
    run = loop.inputs.run
    tree, drives = run.coordinates.built.assembly.tree, run.robot.assembly.drives
    for j in range(len(loop.state.u)):
        joint = tree.joints[j] if j < len(loop.size) else None
        unit = "m" if joint is not None and joint.type == "prismatic" else "rad"
        of = f"joint {joint.name}" if joint is not None else f"drive side {j - len(loop.size) + 1}"
        yield from state_variables(f"state.q{j + 1}", ("u", (j,)), unit, f"place of {of}", 1e-3)
        yield from state_variables(
            f"state.v{j + 1}", ("v", (j,)), f"{unit}/s", f"speed of {of}", 1e-2
        )
    if loop.plant.friction.kind == BRISTLES:
        for e, name in enumerate(_friction_names(loop)):
            words = f"pre-sliding deflection of friction '{name}'"
            yield from state_variables(f"state.bristle_{e + 1}", ("z", (e,)), "rad", words, 1e-5)
    for c, k in enumerate(loop.plant.cylinders.drive):
        drive, _ = drives[k]
        unit = "N" if drives_slide(run.robot)[k] else "N m"
        words = f"force of {drive.name}"
        yield from state_variables(f"state.force_{c + 1}", ("oil", (c,)), unit, words, 100.0)
        if robot_stages.has_spools(run):
            for i, (what, of) in enumerate((("spool", "A"), ("spool_speed", "A/s"))):
                name, words = f"state.{what}_{c + 1}", f"{what.replace('_', ' ')} of {drive.name}"
                yield from state_variables(name, ("valves", (c, i)), of, words, 1e-3)


def _remarks(loop: ClosedLoop, model: Model) -> Sentences:
    c = loop.inputs.run.controller
    ahead = "two controller cycles" if robot_stages.looks_ahead(c) else "one controller cycle"
    yield (
        "At initialisation the robot is at rest at the set-point given: weight, springs and servo "
        f"are in equilibrium. Inputs set before a step are the set-point {ahead} ahead: the servo "
        f"reads them every {1e3 * robot_stages.setpoint_period(c):g} ms and moves on a cubic to "
        "them."
    )
    if robot_stages.looks_ahead(c):
        yield "Its servo shapes the reference by the set-point after the one it moves to."
    yield (
        f"The unit takes whole ticks of its velocity loop, {1e6 * c.tick:g} us each; steps of "
        "communication may be uneven; one controller cycle each is recommended."
    )
    yield (
        f"Simulated are {model.words}, {model.friction} friction, servo '{model.servo}', currents "
        f"and encoders {'in steps' if model.quantise else 'without steps'}. How many steps a tick "
        "takes was chosen for the posture and load of the export."
    )
    if has_equations(loop):
        yield (
            "In model exchange the host integrates between the ticks, which are time events; at "
            "each the controller reads its sensors and sets its currents."
        )
    else:
        yield (
            "Its friction switches between sticking and sliding, which no ordinary differential "
            "equation describes: the unit is for co-simulation only."
        )
