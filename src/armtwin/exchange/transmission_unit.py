"""The unit of one transmission on a bench."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from armtwin.drives.rows import Springs, along
from armtwin.errors import ArmtwinError
from armtwin.exchange.instant import (
    Slopes,
    UnitFields,
    differentiate,
    find_flanks,
    has_equations,
    make_slopes,
    state_variables,
    trace_unit,
)
from armtwin.exchange.unit import ExchangeUnit, Variable
from armtwin.maths.batch import Floats, Sentences
from armtwin.maths.traced_fields import Aside, Known
from armtwin.robot.robot import Robot
from armtwin.simulation.bench import (
    MOTOR,
    Bench,
    bench_of,
    check_bench,
    longest_step,
    mass_of,
    plant_of,
    rows_of,
    springs_of,
)
from armtwin.simulation.bench_loop import bench_loop, bench_stages, drive_motor
from armtwin.simulation.loop import ClosedLoop
from armtwin.simulation.model import FrictionModel
from armtwin.simulation.plant import BRISTLES, C0, C1, OFFSET
from armtwin.simulation.step import begin_step, press_springs
from armtwin.simulation.tick import step as step_kernel

Driven = Literal["torque", "angle"]
WORDS = {
    "rotor_inertia": ("kg m^2", "Inertia of the motor", 0.0),
    "gear_ratio": ("1", "Motor angle per joint angle", -np.inf),
    "stiffness": ("N m/rad", "Torsion stiffness of the gear", 0.0),
    "damping": ("N m s/rad", "Damping in series with the gap", 0.0),
    "backlash": ("rad", "Backlash from one flank to the other, joint side", 0.0),
    "ground_damping": ("N m s/rad", "Damping of the motor side against the ground", 0.0),
    "low_stiffness": ("N m/rad", "Stiffness at low torque", 0.0),
    "low_torque": ("N m", "Torque up to which the low stiffness holds", 0.0),
    "inertia": ("kg m^2", "Inertia behind the joint", 0.0),
    "clamp_stiffness": ("N m/rad", "Stiffness of the clamp of the joint", 0.0),
    "clamp_damping": ("N m s/rad", "Damping of the clamp of the joint", 0.0),
}
OUTPUTS = {
    "motor_angle": ("rad", "Angle of the motor"),
    "motor_speed": ("rad/s", "Speed of the motor"),
    "drive_angle": ("rad", "Angle of the motor over the gear ratio"),
    "joint_angle": ("rad", "Angle of the joint"),
    "joint_speed": ("rad/s", "Speed of the joint"),
    "twist": ("rad", "Twist of the gear, motor side less joint side"),
    "spring_torque": ("N m", "Torque of the gear's spring and damper on the joint"),
    "motor_torque": ("N m", "Torque of the motor"),
}
GEAR = 0  # number of the gear's spring
DRIVE, DRIVE_RATE, LOAD, LOAD_RATE = range(4)
DRIVEN = {
    "torque": ("torque", "N m", "Torque of the motor"),
    "angle": ("angle", "rad", "Angle on which a stiff servo holds the motor"),
}


def joint_bench(
    robot: Robot, joint: str, friction: FrictionModel | None = None, inertia: float | None = None
) -> Bench:
    """The transmission of a joint, ready for exchange.

    Args:
        robot: The robot.
        joint: Name of the joint; its gear must have a stiffness.
        friction: Friction model; by default "lugre" where the robot file gives the pre-sliding
            stiffness of all elements, else "switching".
        inertia: Inertia behind the joint, which then moves under a load [kg m²]; by default the
            joint is clamped.
    """
    elastic = [t.joint for t in robot.description.transmission if t.stiffness is not None]
    if joint not in elastic:
        have = ", ".join(name for name in elastic if name) or "none"
        raise ArmtwinError(
            f"robot '{robot.name}': {joint} has no elastic transmission to export; its file must "
            f"give [[transmission]] with a stiffness for it. Joints that have one: {have}"
        )
    bench = bench_of(robot, joint)
    if friction is None:
        bends = all(element.presliding is not None for element in bench.friction)
        friction = "lugre" if bends else "switching"
    bench = replace(bench, friction_model=friction)
    if inertia is not None:
        bench = replace(bench, joint="loaded", inertia=inertia)
    return check_bench(bench)


def transmission_unit(
    bench: Bench,
    name: str,
    *,
    driven: Driven = "torque",
    step: float | None = None,
    of: str = "a bench",
) -> ExchangeUnit:
    """The unit of a transmission on a bench.

    Args:
        bench: The bench; its gear must be elastic.
        name: Name of the unit.
        driven: What its motor is driven by.
        step: Longest step of the integration [s]; by default a share of the fastest
            vibration's period.
        of: What its numbers are of, in words.
    """
    check_bench(bench)
    if bench.stiffness is None:
        raise ArmtwinError("bench: a unit for exchange needs an elastic gear: give its stiffness")
    loop = _unit_loop(bench, driven, step)
    fields = UnitFields.of(loop)
    # a ratio of one is a number as any other, and so are inertias
    ratio = np.zeros(loop.work.rows.shape, dtype=bool)
    ratio[MOTOR] = loop.work.rows[MOTOR] != 0
    fields.constant = {**fields.constant, "work.rows": ~ratio, "work.M": loop.work.M == 0}
    apart = [parametrise, write_outputs]
    if has_equations(loop):
        apart.append(compute_slopes)
    stages, memory = trace_unit(fields, {}, bench_stages(loop), apart)
    return ExchangeUnit(
        name=name,
        title=f"Transmission {name}: motor, gear with backlash, dampers and friction.",
        loop="transmission",
        variables=[*_variables(loop)],
        fields=fields,
        stages=stages,
        memory=memory,
        orders=[(step_kernel, stages, "step")],
        indicators=len(loop.inputs.indicators) if has_equations(loop) else 0,
        remarks=[f"Its numbers are those of {of}.", *_remarks(loop)],
    )


class Parameters(NamedTuple):
    """Numbers of a bench that a host may set; None where the bench has no such part."""

    rotor_inertia: float
    gear_ratio: float
    stiffness: float
    damping: float
    backlash: float
    ground_damping: float
    low_stiffness: float | None
    low_torque: float | None
    inertia: float | None
    clamp_stiffness: float | None
    clamp_damping: float | None


class TransmissionInputs(NamedTuple):
    """What drives a transmission in another tool, and what is read of it.

    Attributes:
        drive: Torque of the motor, or the angle on which a servo holds it, (1,).
        load: Torques from outside on the coordinates, (N,).
        motor: Row of the motor.
        bench: The bench.
        acting: Which of its friction elements act.
        parameters: Its numbers.
        level: Level of each friction element, (e,).
        given: Drive and load as they are given, each with its rate, (4,).
        step: Longest step of the integration, (1,) [s].
        outputs: What is read, in the order of OUTPUTS, (8,).
        slopes: Derivatives of the states.
        indicators: What changes its sign where the equations change, (2 + e,).
    """

    drive: Floats
    load: Floats
    motor: Known
    bench: Aside
    acting: Aside
    parameters: Parameters
    level: Floats
    given: Floats
    step: Floats
    outputs: Floats
    slopes: Slopes
    indicators: Floats


def _unit_loop(bench: Bench, driven: Driven, step: float | None) -> ClosedLoop:
    """The loop of a bench with the inputs of a unit; friction on rows that stand is left out."""
    rows = rows_of(bench)
    M = mass_of(bench, len(rows["drive"]))
    plant = plant_of(bench, grounded=True, held=driven == "angle")
    longest = longest_step(bench, M, plant) if step is None else step
    given = plant.friction
    acts = np.flatnonzero(plant.rows.used[given.row])
    friction = given._replace(
        row=given.row[acts], curves=given.curves[acts], numbers=given.numbers[acts]
    )
    loop = bench_loop(plant._replace(friction=friction), M, np.zeros(len(M)), MOTOR, 0)
    e = len(acts)
    inputs = TransmissionInputs(
        drive=loop.inputs.drive,
        load=loop.inputs.load,
        motor=MOTOR,
        bench=bench,
        acting=acts,
        parameters=_parameters(bench),
        level=np.ones(e),
        given=np.zeros(4),
        step=np.array([longest]),
        outputs=np.zeros(len(OUTPUTS)),
        slopes=make_slopes(loop.state),
        indicators=np.zeros(2 + e),
    )
    return loop._replace(inputs=inputs, record=None)


def _parameters(bench: Bench) -> Parameters:
    """The numbers of the parts that a bench has."""
    without: set[str] = set()
    if bench.low_stiffness is None:
        without |= {"low_stiffness", "low_torque"}
    if not bench.has_joint:
        without.add("inertia")
    if bench.clamp_stiffness is None:
        without |= {"clamp_stiffness", "clamp_damping"}
    found = []
    for name in Parameters._fields:
        found.append(None if name in without else float(getattr(bench, name)))
    return Parameters(*found)  # type: ignore[arg-type]


# stages


def parametrise(x: ClosedLoop) -> None:
    """What follows from the parameters: the motor's row, inertias, springs."""
    numbers = {}
    for name, value in x.inputs.parameters._asdict().items():
        if value is not None:
            numbers[name] = value
    bench = replace(x.inputs.bench, **numbers)
    rows = rows_of(bench)
    x.work.rows[MOTOR] = rows["motor"]
    x.work.M[:] = mass_of(bench, len(x.work.M))
    springs = springs_of(bench, list(rows), grounded=True)
    for name in Springs._fields[1:]:
        getattr(x.plant.springs, name)[:] = getattr(springs, name)
    x.plant.holds.soft[:] = x.plant.holds.stiffness


def write_outputs(x: ClosedLoop) -> None:
    """Angles, speeds and torques of motor, gear and joint."""
    names, u, v = list(rows_of(x.inputs.bench)), x.state.u, x.state.v
    still = begin_step(x.work.M, x.work.force, 0.0)
    torques, _ = press_springs(x.plant.springs, x.plant.springs.rest, x.rows, u, v, still)
    drive = x.inputs.drive[0]
    held, _ = press_springs(x.plant.holds, x.inputs.drive, x.rows, u, v, still)
    motor, side, joint, twist = (names.index(name) for name in ("motor", "drive", "joint", "twist"))
    x.inputs.outputs[:] = [
        along(x.rows, motor, u),
        along(x.rows, motor, v),
        along(x.rows, side, u),
        along(x.rows, joint, u),
        along(x.rows, joint, v),
        along(x.rows, twist, u),
        torques[GEAR],
        -held[0] if held else drive,
    ]


def compute_slopes(x: ClosedLoop) -> None:
    """Derivatives of all states, and what changes its sign: flanks, speeds of friction."""
    drive_motor(x)
    differentiate(x)
    speeds = [along(x.rows, r, x.state.v) for r in x.plant.friction.row]
    x.inputs.indicators[:] = [*find_flanks(x, [GEAR]), *speeds]


# variables


def _variables(loop: ClosedLoop) -> Iterator[Variable]:
    yield Variable("time", "independent", None, "s", "Time")
    yield from _inputs(loop)
    for name, value in loop.inputs.parameters._asdict().items():
        if value is not None:
            unit, words, least = WORDS[name]
            at = f"inputs.parameters.{name}"
            yield Variable(name, "parameter", (at, ()), unit, words, value, least)
    yield from _friction(loop)
    for gain, field, unit, what in (
        ("servo_kp", "stiffness", "N m/rad", "angle"),
        ("servo_kd", "damping", "N m s/rad", "speed"),
    ):
        words = f"Torque of the servo per {what} of the motor"
        for value in getattr(loop.plant.holds, field):  # none where a torque drives it
            place = (f"plant.holds.{field}", (0,))
            yield Variable(gain, "parameter", place, unit, words, float(value), 0.0)
    words = "Longest step of the integration in co-simulation"
    longest = float(loop.inputs.step[0])
    yield Variable("step", "parameter", ("inputs.step", (0,)), "s", words, longest, 0.0)
    for k, (name, (unit, words)) in enumerate(OUTPUTS.items()):
        yield Variable(name, "output", ("inputs.outputs", (k,)), unit, words)
    if has_equations(loop):
        yield from _states(loop)


def _inputs(loop: ClosedLoop) -> Iterator[Variable]:
    held = len(loop.plant.holds.row) > 0
    name, unit, words = DRIVEN["angle" if held else "torque"]
    rate = f"{name}_rate"
    yield Variable(name, "input", ("inputs.given", (DRIVE,)), unit, words, 0.0, rate=rate)
    words = f"Rate at which {name} changes within a step of co-simulation"
    yield Variable(rate, "input", ("inputs.given", (DRIVE_RATE,)), f"{unit}/s", words, 0.0)
    bench = loop.inputs.bench
    if bench.has_joint:
        words, rate = "Torque on the joint from outside", "load_rate"
        place = ("inputs.given", (LOAD,))
        yield Variable("load", "input", place, "N m", words, bench.load, rate=rate)
        words = "Rate at which load changes within a step of co-simulation"
        yield Variable(rate, "input", ("inputs.given", (LOAD_RATE,)), "N m/s", words, 0.0)


def _friction(loop: ClosedLoop) -> Iterator[Variable]:
    numbers, array = loop.plant.friction.numbers, "plant.friction.numbers"
    for e, k in enumerate(loop.inputs.acting):
        name = f"friction_{k + 1}"
        what = f"friction {k + 1}, on the {loop.inputs.bench.friction[k].on}"
        words = f"Level of {what}: factor of its torques"
        yield Variable(f"{name}_level", "parameter", ("inputs.level", (e,)), "1", words, 1.0, 0.0)
        columns = [("offset", "Constant torque", OFFSET, "N m", -np.inf)]
        if loop.plant.friction.kind == BRISTLES:
            columns += [
                ("stiffness", "Pre-sliding stiffness", C0, "N m/rad", 1e-12),
                ("damping", "Pre-sliding damping", C1, "N m s/rad", 0.0),
            ]
        for word, quantity, column, unit, least in columns:
            words, value = f"{quantity} of {what}", float(numbers[e, column])
            place = (array, (e, column))
            yield Variable(f"{name}_{word}", "parameter", place, unit, words, value, least)


def _states(loop: ClosedLoop) -> Iterator[Variable]:
    """Coordinates, speeds and pre-sliding deflections, each with its derivative."""
    sides = ["joint", "drive"] if len(loop.state.u) == 2 else ["drive"]
    for j, side in enumerate(sides):
        for field, what, unit, size in (
            ("u", "angle", "rad", 1e-3),
            ("v", "speed", "rad/s", 1e-2),
        ):
            words = f"{what} of the {side} side, in angles of the joint"
            name = f"state.{side}_{what}"
            yield from state_variables(name, (field, (j,)), unit, words, size, 0.0)
    if loop.plant.friction.kind == BRISTLES:
        for e, k in enumerate(loop.inputs.acting):
            words = f"pre-sliding deflection of friction {k + 1}"
            name = f"state.bristle_{k + 1}"
            yield from state_variables(name, ("z", (e,)), "rad", words, 1e-5, 0.0)


def _remarks(loop: ClosedLoop) -> Sentences:
    if loop.inputs.bench.has_joint:
        yield "The joint moves: load is the torque on it, joint_angle its angle."
    else:
        yield "The joint is clamped rigidly: joint_angle stays 0."
    yield (
        "In co-simulation an input is the value at the start of a step; it changes by its rate "
        "(an input of its own, and in FMI 2.0 the input derivative of order 1). Steps may be "
        "uneven. The unit takes steps of its own, none longer than the parameter step."
    )
    if not has_equations(loop):
        yield (
            "Its friction switches between sticking and sliding, which no ordinary "
            "differential equation describes: the unit is for co-simulation only."
        )
    else:
        yield (
            "In model exchange the host integrates; rates of inputs are not used. Event "
            "indicators are the flanks of the gap and the speeds of the friction elements."
        )
