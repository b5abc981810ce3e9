"""An actuator from logs of its test set-up: oil, valve and delay from noise, flow from ramps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.overrides import with_values
from armtwin.files.reading import check_format
from armtwin.files.writing import to_tables
from armtwin.identification.actuator.flow import no_load_flow
from armtwin.identification.actuator.records import ActuatorBench, actuator_bench
from armtwin.identification.actuator.response_fit import FrequencyBand, fit_actuator, oil_response
from armtwin.identification.actuator.result import (
    ActuatorIdentification,
    ActuatorParameter,
    FlowIdentification,
    ValveIdentification,
)
from armtwin.identification.actuator.valve import fit_valve
from armtwin.identification.fitting.estimate import ParameterEstimate
from armtwin.logs.log import Log, as_logs
from armtwin.maths.batch import Names
from armtwin.robot.formats.reading import describe
from armtwin.robot.robot import Robot
from armtwin.robot.schema.description import FORMAT, Description

UNITS = {
    "compliance": "m/N",
    "leakage": "m/(N s)",
    "viscous": "N s/m",
    "valve_frequency": "rad/s",
    "valve_damping": "1",
    "delay": "s",
}
IN_RADIANS = np.array([2 * np.pi, 1.0, 1.0])  # of frequency [Hz], damping and delay of a valve


def identify_actuator(
    robot: Robot,
    logs: Log | Sequence[Log],
    weights: Sequence[float],
    *,
    band: FrequencyBand | None = None,
) -> ActuatorIdentification:
    """Oil, valve and delay of an actuator from logs of noise with several weights.

    Args:
        robot: The test set-up: one cylinder under a proportional servo.
        logs: A log for each weight, with q_ref and q, and v where it is measured.
        weights: The weights, all that the piston moves [kg].
        band: Frequencies that are fitted, and the length of a window.
    """
    logs = as_logs(logs, "identify_actuator")
    if len(logs) != len(weights):
        raise ArmtwinError(f"each log needs its weight, got {len(logs)} and {len(weights)}")
    bench = actuator_bench(robot)
    tests = []
    for log, mass in zip(logs, weights, strict=True):
        tests.append(bench.noise_test(log, float(mass)))
    fit = fit_actuator(tests, band)
    origins = tuple(log.origin for log in logs)
    found = _tabulate_parameters(bench, tuple(UNITS), fit.estimate)
    changed = _with_numbers(bench, found, f"identified: noise with {len(logs)} weights")
    return ActuatorIdentification(
        robot, changed, fit, tuple(float(mass) for mass in weights), origins, found
    )


def identify_valve(
    robot: Robot, log: Log, *, band: FrequencyBand | None = None
) -> ValveIdentification:
    """Natural frequency, damping and delay of a valve from a log of noise.

    The effect of oil and load on the piston's speed is removed by the robot's parameters; for a
    bare piston it is negligible.

    Args:
        robot: The test set-up as it ran: one cylinder under a proportional servo, and what it
            moved.
        log: Its log, with q_ref and q, and v where it is measured.
        band: Frequencies that are fitted, and the length of a window.
    """
    bench = actuator_bench(robot)
    test = bench.noise_test(log, bench.mass)
    band = FrequencyBand() if band is None else band
    seen = band.response(test, test.speed)
    oil = bench.cylinder.circuit.oil
    numbers = np.array([oil.compliance, oil.leakage, bench.viscous])
    response = seen.without(oil_response(numbers, bench.mass, seen.frequency))
    fit = fit_valve(response)
    in_radians = fit.estimate.transform(lambda values: values * IN_RADIANS)
    found = _tabulate_parameters(bench, ("valve_frequency", "valve_damping", "delay"), in_radians)
    changed = _with_numbers(bench, found, "identified: noise, oil and load as known")
    return ValveIdentification(robot, changed, fit, response, log.origin, found)


def identify_flow(robot: Robot, log: Log, *, settling: float = 0.1) -> FlowIdentification:
    """The no-load flow of a valve from a log of triangular set-points.

    Args:
        robot: The test set-up with its weight; its leakage and viscous friction are taken as known.
        log: Its log, with q_ref, q, and current and v where they are measured.
        settling: Time after which a ramp is steady [s].
    """
    bench = actuator_bench(robot)
    flow = no_load_flow(bench.ramp_test(log), bench.cylinder.circuit.oil.leakage, settling)
    key = f"hydraulic.{bench.cylinder.name}.valve.flow"
    points = [list(point) for point in flow.points]
    source = f"identified: {len(points)} ramps"
    return FlowIdentification(robot, _set_values(robot, {key: points}, source), flow, log.origin)


def _tabulate_parameters(
    bench: ActuatorBench, names: Names, found: ParameterEstimate
) -> tuple[ActuatorParameter, ...]:
    oil, valve = bench.cylinder.circuit.oil, bench.cylinder.circuit.valve
    had = {
        "compliance": oil.compliance,
        "leakage": oil.leakage,
        "viscous": bench.viscous,
        "valve_frequency": valve.frequency,
        "valve_damping": valve.damping,
        "delay": valve.delay,
    }
    numbers = np.array([found.values, found.std, found.half_width]).T.tolist()
    rows = []
    for name, three in zip(names, numbers, strict=True):
        rows.append(ActuatorParameter(name, UNITS[name], float(had[name]), *three))
    return tuple(rows)


def _with_numbers(bench: ActuatorBench, found: Sequence[ActuatorParameter], source: str) -> Robot:
    """The robot with numbers of its actuator replaced."""
    circuit = f"hydraulic.{bench.cylinder.name}"
    keys = {
        "compliance": f"{circuit}.compliance",
        "leakage": f"{circuit}.leakage",
        "viscous": f"friction.{bench.friction}.viscous",
        "valve_frequency": f"{circuit}.valve.frequency",
        "valve_damping": f"{circuit}.valve.damping",
        "delay": f"{circuit}.valve.delay",
    }
    return _set_values(bench.robot, {keys[row.name]: row.value for row in found}, source)


def _set_values(robot: Robot, values: Mapping[str, Any], source: str) -> Robot:
    origin = f"robot '{robot.name}'"
    tables = check_format(to_tables(robot.description), origin, FORMAT)
    changed = with_values(tables, values, Description, source, origin)
    return robot.with_description(describe(changed, origin))
