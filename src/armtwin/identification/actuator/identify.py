"""An actuator from logs of its test set-up: oil, valve and delay from noise, flow from ramps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.overrides import with_values
from armtwin.files.reading import checked_format
from armtwin.files.writing import to_tables
from armtwin.identification.actuator.flow import FlowEstimate, no_load_flow
from armtwin.identification.actuator.records import ActuatorBench, actuator_bench
from armtwin.identification.actuator.response_fit import (
    ActuatorFit,
    Band,
    fit_actuator,
    oil_response,
)
from armtwin.identification.actuator.valve import ValveFit, fit_valve
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.maths.frequency_response import FrequencyResponse
from armtwin.notebook import cards
from armtwin.report.figures import Panel, draw_panels
from armtwin.robot.description import FORMAT, Description
from armtwin.robot.reading import describe
from armtwin.robot.robot import Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNITS = {
    "compliance": "m/N",
    "leakage": "m/(N s)",
    "viscous": "N s/m",
    "valve_frequency": "rad/s",
    "valve_damping": "1",
    "delay": "s",
}


@dataclass(frozen=True)
class FoundNumber:
    """A number of the robot file that was found.

    Attributes:
        name: Its name.
        unit: Its unit.
        prior: What the robot file had.
        value: What was found.
        std: Its standard deviation.
    """

    name: str
    unit: str
    prior: float
    value: float
    std: float


@dataclass(frozen=True, eq=False)
class ActuatorIdentification:
    """An actuator from logs of noise with several weights.

    Attributes:
        prior: The robot as it was.
        robot: The robot with what was found.
        fit: The fit.
        weights: The weights [kg].
        logs: Where the logs came from.
        table: Found numbers.
    """

    prior: Robot
    robot: Robot
    fit: ActuatorFit
    weights: tuple[float, ...]
    logs: tuple[str, ...]
    table: tuple[FoundNumber, ...]

    def __repr__(self) -> str:
        tests = cards.counted(len(self.logs), "log")
        return cards.line("ActuatorIdentification", repr(self.prior.name), tests)

    def _repr_html_(self) -> str:
        return _numbers_card(repr(self), self.table)

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw the measured responses.

        Args:
            axes: Two: magnitude and phase; new ones where none are given.
        """
        return _drawn(self.fit.responses, [f"{mass:g} kg" for mass in self.weights], axes)


@dataclass(frozen=True, eq=False)
class ValveIdentification:
    """A valve from a log of noise on a piston whose load and oil are known, or next to nothing.

    Attributes:
        prior: The robot as it was.
        robot: The robot with what was found.
        fit: The fit.
        response: The measured response of the valve's flow to the controller's current.
        log: Where the log came from.
        table: Found numbers.
    """

    prior: Robot
    robot: Robot
    fit: ValveFit
    response: FrequencyResponse
    log: str
    table: tuple[FoundNumber, ...]

    def __repr__(self) -> str:
        natural, damping, _ = self.fit.values
        words = f"{natural:.4g} Hz", f"damping {damping:.3g}"
        return cards.line("ValveIdentification", repr(self.prior.name), *words)

    def _repr_html_(self) -> str:
        return _numbers_card(repr(self), self.table)

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw the measured response.

        Args:
            axes: Two: magnitude and phase; new ones where none are given.
        """
        return _drawn([self.response], ["measured"], axes)


@dataclass(frozen=True, eq=False)
class FlowIdentification:
    """The no-load flow of a valve from a log of triangular set-points.

    Attributes:
        prior: The robot as it was.
        robot: The robot with the flow that was found.
        flow: Points of the flow.
        log: Where the log came from.
    """

    prior: Robot
    robot: Robot
    flow: FlowEstimate
    log: str

    @property
    def table(self) -> list[dict[str, float]]:
        """A record for each point: current, speed of the unloaded piston, that of the file."""
        currents, speeds = np.array(actuator_bench(self.prior).cylinder.circuit.oil.flow).T
        prior = np.interp(self.flow.current, currents, speeds)
        rows = zip(self.flow.current, self.flow.speed, self.flow.std, prior, strict=True)
        records = []
        for current, speed, std, before in rows:
            record = {"current": float(current), "speed": float(speed), "std": float(std)}
            records.append({**record, "prior": float(before)})
        return records

    def __repr__(self) -> str:
        points = cards.counted(len(self.flow.speed), "point")
        return cards.line("FlowIdentification", repr(self.prior.name), points)

    def _repr_html_(self) -> str:
        rows = []
        for record in self.table:
            rows.append(tuple(f"{value:.4g}" for value in record.values()))
        heads = ("current [A]", "speed [m/s]", "std", "file")
        return cards.table(repr(self), rows, heads)

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw the speed of the unloaded piston over the current.

        Args:
            axes: One; a new one where none is given.
        """
        prior = np.array([record["prior"] for record in self.table])
        lines = {"found": self.flow.speed, "file": prior}
        return draw_panels(self.flow.current, "current [A]", [Panel("speed [m/s]", lines)], axes)


def identify_actuator(
    robot: Robot, logs: Sequence[Log], weights: Sequence[float], *, band: Band | None = None
) -> ActuatorIdentification:
    """Oil, valve and delay of an actuator from logs of noise with several weights.

    Args:
        robot: The test set-up: one cylinder under a proportional servo.
        logs: A log for each weight, with q_ref and q, and v where it is measured.
        weights: The weights, all that the piston moves [kg].
        band: Frequencies that are fitted, and the length of a window.
    """
    if len(logs) != len(weights):
        raise ArmtwinError(f"each log needs its weight, got {len(logs)} and {len(weights)}")
    bench = actuator_bench(robot)
    tests = []
    for log, mass in zip(logs, weights, strict=True):
        tests.append(bench.noise_test(log, float(mass)))
    fit = fit_actuator(tests, band)
    origins = tuple(log.origin for log in logs)
    values = dict(zip(UNITS, fit.values.tolist(), strict=True))
    found = _found(bench, values, dict(zip(UNITS, fit.std.tolist(), strict=True)))
    changed = _with_numbers(bench, values, f"identified: noise with {len(logs)} weights")
    return ActuatorIdentification(
        robot, changed, fit, tuple(float(mass) for mass in weights), origins, found
    )


def identify_valve(robot: Robot, log: Log, *, band: Band | None = None) -> ValveIdentification:
    """Natural frequency, damping and delay of a valve from a log of noise.

    What oil and load do to the speed of the piston is taken out by the robot's numbers; of a bare
    piston that is next to nothing.

    Args:
        robot: The test set-up as it ran: one cylinder under a proportional servo, and what it
            moved.
        log: Its log, with q_ref and q, and v where it is measured.
        band: Frequencies that are fitted, and the length of a window.
    """
    bench = actuator_bench(robot)
    test = bench.noise_test(log, bench.mass)
    band = Band() if band is None else band
    seen = band.response(test, test.speed)
    oil = bench.cylinder.circuit.oil
    numbers = np.array([oil.compliance, oil.leakage, bench.viscous])
    response = seen.without(oil_response(numbers, bench.mass, seen.frequency))
    fit = fit_valve(response)
    natural, damping, delay = fit.values.tolist()
    wide, loose, unsure = fit.std.tolist()
    values = {"valve_frequency": 2 * np.pi * natural, "valve_damping": damping, "delay": delay}
    std = {"valve_frequency": 2 * np.pi * wide, "valve_damping": loose, "delay": unsure}
    changed = _with_numbers(bench, values, "identified: noise, oil and load as known")
    return ValveIdentification(
        robot, changed, fit, response, log.origin, _found(bench, values, std)
    )


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
    return FlowIdentification(robot, _replaced(robot, {key: points}, source), flow, log.origin)


def _found(
    bench: ActuatorBench, values: Mapping[str, float], std: Mapping[str, float]
) -> tuple[FoundNumber, ...]:
    oil, valve = bench.cylinder.circuit.oil, bench.cylinder.circuit.valve
    had = {
        "compliance": oil.compliance,
        "leakage": oil.leakage,
        "viscous": bench.viscous,
        "valve_frequency": valve.frequency,
        "valve_damping": valve.damping,
        "delay": valve.delay,
    }
    rows = []
    for name, value in values.items():
        rows.append(FoundNumber(name, UNITS[name], float(had[name]), value, std[name]))
    return tuple(rows)


def _with_numbers(bench: ActuatorBench, values: Mapping[str, float], source: str) -> Robot:
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
    return _replaced(bench.robot, {keys[name]: value for name, value in values.items()}, source)


def _replaced(robot: Robot, values: Mapping[str, Any], source: str) -> Robot:
    origin = f"robot '{robot.name}'"
    tables = checked_format(to_tables(robot.description), origin, FORMAT)
    changed = with_values(tables, values, Description, source, origin)
    return robot.with_description(describe(changed, origin))


def _numbers_card(title: str, table: Sequence[FoundNumber]) -> str:
    rows = []
    for row in table:
        cells = (f"{row.prior:.4g}", f"{row.value:.4g}", f"{row.std:.2g}")
        rows.append((row.name, row.unit, *cells))
    return cards.table(title, rows, ("number", "unit", "file", "found", "std"))


def _drawn(
    responses: Sequence[FrequencyResponse],
    names: Sequence[str],
    axes: Axes | Sequence[Axes] | None,
) -> list[Axes]:
    sizes: dict[str, Floats] = {}
    phases: dict[str, Floats] = {}
    for name, response in zip(names, responses, strict=True):
        sizes[name], phases[name] = response.magnitude, response.phase
    panels = [Panel("|H| [m/(A s)]", sizes), Panel("phase [rad]", phases)]
    return draw_panels(responses[0].frequency, "frequency [Hz]", panels, axes)
