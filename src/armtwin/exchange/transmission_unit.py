"""The unit of one transmission on a bench."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.exchange.unit import ExchangeUnit, Variable
from armtwin.maths.batch import Floats, Sentences
from armtwin.robot.robot import Robot
from armtwin.simulation.bench import (
    Bench,
    bench_of,
    check_bench,
    friction_of,
    longest_step,
    mass_of,
    servo_of,
    springs_of,
)
from armtwin.simulation.model import FrictionModel
from armtwin.simulation.plant import C0, C1, OFFSET
from armtwin.simulation.step import SWEEPS, SWEPT
from armtwin.simulation.traced_bench import CURVES, Driven, TracedBench

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
    traced = TracedBench(bench, driven)
    stages, memory = traced.traced()
    memory.add("step", (), 0)
    for extra in ("given", "given_rate", "given_load", "given_load_rate"):
        memory.add(extra, (), 0)
    servo = servo_of(bench) if driven == "angle" else np.zeros(2)
    longest = _longest(traced, servo[0]) if step is None else step
    constants: dict[str, float | int] = {}
    if traced.switches:
        constants = {"SWITCHING": 1, "SWEEPS": SWEEPS, "SWEPT": SWEPT}
    return ExchangeUnit(
        name=name,
        title=f"Transmission {name}: motor, gear with backlash, dampers and friction.",
        loop="transmission",
        variables=[*_variables(traced, servo, longest)],
        stages=stages,
        memory=memory,
        numbers={"numbers": traced.friction.numbers, "level": np.ones(len(traced.acting))},
        tables={CURVES: traced.friction.curves},
        constants=constants,
        indicators=0 if traced.switches else 2 + len(traced.acting),
        remarks=[f"Its numbers are those of {of}.", *_remarks(traced)],
    )


def _longest(traced: TracedBench, kp: float) -> float:
    bench = traced.bench
    springs = springs_of(bench, traced.names, grounded=True)
    friction = friction_of(bench, traced.names)
    M = mass_of(bench, traced.count)
    return longest_step(bench, M, traced.rows.weights, springs, friction, kp)


def _variables(traced: TracedBench, servo: Floats, step: float) -> Iterator[Variable]:
    yield Variable("time", "independent", None, "s", "Time")
    yield from _inputs(traced)
    for name, value in traced.parameters.items():
        unit, words, least = WORDS[name]
        yield Variable(name, "parameter", (name, ()), unit, words, value, least)
    yield from _friction(traced)
    if traced.driven == "angle":
        words = "Torque of the servo per angle of the motor"
        yield Variable("servo_kp", "parameter", ("servo", (0,)), "N m/rad", words, servo[0], 0.0)
        words = "Torque of the servo per speed of the motor"
        yield Variable("servo_kd", "parameter", ("servo", (1,)), "N m s/rad", words, servo[1], 0.0)
    words = "Longest step of the integration in co-simulation"
    yield Variable("step", "parameter", ("step", ()), "s", words, step, 0.0)
    for name, (unit, words) in OUTPUTS.items():
        yield Variable(name, "output", (name, ()), unit, words)
    if not traced.switches:
        yield from _states(traced)


def _inputs(traced: TracedBench) -> Iterator[Variable]:
    name, unit, words = DRIVEN[traced.driven]
    per_second = "N m/s" if traced.driven == "torque" else "rad/s"
    rate = f"{name}_rate"
    yield Variable(name, "input", ("given", ()), unit, words, 0.0, rate=rate)
    words = f"Rate at which {name} changes within a step of co-simulation"
    yield Variable(rate, "input", ("given_rate", ()), per_second, words, 0.0)
    if traced.bench.has_joint:
        words = "Torque on the joint from outside"
        load = traced.bench.load
        yield Variable("load", "input", ("given_load", ()), "N m", words, load, rate="load_rate")
        words = "Rate at which load changes within a step of co-simulation"
        yield Variable("load_rate", "input", ("given_load_rate", ()), "N m/s", words, 0.0)


def _friction(traced: TracedBench) -> Iterator[Variable]:
    numbers = traced.friction.numbers
    for e, k in enumerate(traced.acting):
        on = traced.bench.friction[k].on
        name = f"friction_{k + 1}"
        what = f"friction {k + 1}, on the {on}"
        words = f"Level of {what}: factor of its torques"
        yield Variable(f"{name}_level", "parameter", ("level", (e,)), "1", words, 1.0, 0.0)
        words = f"Constant torque of {what}"
        offset = float(numbers[e, OFFSET])
        yield Variable(
            f"{name}_offset", "parameter", ("numbers", (e, OFFSET)), "N m", words, offset
        )
        if traced.has_bristles:
            words = f"Pre-sliding stiffness of {what}"
            stiff = float(numbers[e, C0])
            place = ("numbers", (e, C0))
            yield Variable(f"{name}_stiffness", "parameter", place, "N m/rad", words, stiff, 1e-12)
            words = f"Pre-sliding damping of {what}"
            damping, place = float(numbers[e, C1]), ("numbers", (e, C1))
            yield Variable(f"{name}_damping", "parameter", place, "N m s/rad", words, damping, 0.0)


def _states(traced: TracedBench) -> Iterator[Variable]:
    """Coordinates, speeds and pre-sliding deflections, each with its derivative."""
    sides = ["joint", "drive"] if traced.count == 2 else ["drive"]
    for j, side in enumerate(sides):
        for array, what, unit, per_second, size in (
            ("u", "angle", "rad", "rad/s", 1e-3),
            ("v", "speed", "rad/s", "rad/s^2", 1e-2),
        ):
            words = f"State: {what} of the {side} side, in angles of the joint"
            name = f"state.{side}_{what}"
            yield from _state(name, array, j, (unit, per_second), words, size)
    if traced.has_bristles:
        for e, k in enumerate(traced.acting):
            words = f"State: pre-sliding deflection of friction {k + 1}"
            yield from _state(f"state.bristle_{k + 1}", "z", e, ("rad", "rad/s"), words, 1e-5)


def _state(
    name: str, array: str, j: int, units: tuple[str, str], words: str, size: float
) -> Iterator[Variable]:
    slope = f"der({name})"
    yield Variable(name, "local", (array, (j,)), units[0], words, 0.0, slope=slope, nominal=size)
    yield Variable(slope, "local", (f"slope_{array}", (j,)), units[1], f"Derivative of {name}")


def _remarks(traced: TracedBench) -> Sentences:
    if traced.bench.has_joint:
        yield "The joint moves: load is the torque on it, joint_angle its angle."
    else:
        yield "The joint is clamped rigidly: joint_angle stays 0."
    yield (
        "In co-simulation an input is the value at the start of a step; it changes by its rate "
        "(an input of its own, and in FMI 2.0 the input derivative of order 1). Steps may be "
        "uneven. The unit takes steps of its own, none longer than the parameter step."
    )
    if traced.switches:
        yield (
            "Its friction switches between sticking and sliding, which no ordinary "
            "differential equation describes: the unit is for co-simulation only."
        )
    else:
        yield (
            "In model exchange the host integrates; rates of inputs are not used. Event "
            "indicators are the flanks of the gap and the speeds of the friction elements."
        )
