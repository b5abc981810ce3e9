"""An actuator, its valve or its flow from logs, and their reports.

An actuator from logs of its test set-up: oil, valve and delay from noise, flow from ramps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.digests import file_name
from armtwin.files.overrides import with_values
from armtwin.files.reading import check_format
from armtwin.files.writing import to_tables
from armtwin.identification.actuator import response_fit as response_fits, valve as valves
from armtwin.identification.actuator.records import ActuatorBench, actuator_bench
from armtwin.identification.fitting.estimate import ParameterEstimate
from armtwin.logs.log import Log, as_logs
from armtwin.maths.batch import Names, Record, Values
from armtwin.maths.frequency_response import FrequencyResponse
from armtwin.notebook import sections as show
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve, Points
from armtwin.notebook.numbers import FINE_PERCENT, HERTZ, PLAIN, Number, list_estimates
from armtwin.notebook.scales import Axis
from armtwin.report.result import Result
from armtwin.robot.formats.reading import describe
from armtwin.robot.robot import Robot
from armtwin.robot.schema.description import FORMAT, Description

TURN = 180 / np.pi
DOUBTFUL = 3.0  # residuals over those expected from the coherence, from which a fit is doubtful
SPEED = Number(1e3, "mm/s", digits=4)
CURRENT = Number(1e3, "mA", digits=4)


@dataclass(frozen=True)
class ActuatorParameter:
    """An identified parameter of the robot file.

    Attributes:
        name: Its name.
        unit: Its unit.
        prior: Value in the robot file.
        value: Identified value.
        std: Its standard deviation.
        half_width: Half width of its 95 % interval.
    """

    name: str
    unit: str
    prior: float
    value: float
    std: float
    half_width: float


@dataclass(frozen=True, eq=False, repr=False)
class ActuatorIdentification(Result):
    """An actuator from logs of noise with several weights.

    Attributes:
        prior: The robot as it was.
        robot: The robot with the identified parameters.
        fit: The fit.
        weights: The weights [kg].
        logs: Where the logs came from.
        table: Identified parameters.
    """

    prior: Robot
    robot: Robot
    fit: response_fits.ActuatorFit
    weights: Values
    logs: Names
    table: tuple[ActuatorParameter, ...]

    def sections(self) -> show.Report:
        """Parameters of oil and valve, and the response with each weight."""
        fit = self.fit
        sections = [show.Section("", _numbers(self.table, fit.misfit))]
        for k, mass in enumerate(self.weights):
            title = f"Current to speed with {mass:g} kg"
            sections.append(show.Section(title, _response_with(self, k), page_only=True))
        sections.append(show.Section("", (show.Data({"weights_kg": list(self.weights)}),)))
        worst = max(self.table, key=lambda row: row.half_width / abs(row.value))
        width = FINE_PERCENT.with_unit(worst.half_width / abs(worst.value))
        found = (
            f"{len(self.table)} parameters of oil and valve identified from {len(self.logs)} logs; "
            f"the widest interval is that of {worst.name}, ± {width} (95 %)."
        )
        return show.Report(
            title=f"{self.prior.name}: actuator from noise",
            subtitle=", ".join(_log_names(self.logs)),
            sections=tuple(sections),
            verdict=(_verdict(found, fit.misfit),),
        )


@dataclass(frozen=True, eq=False, repr=False)
class ValveIdentification(Result):
    """A valve from a log of noise on a piston of known or negligible load and oil.

    Attributes:
        prior: The robot as it was.
        robot: The robot with the identified parameters.
        fit: The fit.
        response: The measured response of the valve's flow to the controller's current.
        log: Where the log came from.
        table: Identified parameters.
    """

    prior: Robot
    robot: Robot
    fit: valves.ValveFit
    response: FrequencyResponse
    log: str
    table: tuple[ActuatorParameter, ...]

    def sections(self) -> show.Report:
        """Parameters of the valve, those of its peak alone, and the response."""
        found = self.fit.estimate
        numbers = {"natural frequency": HERTZ, "damping": Number(), "delay": Number(1e3, "ms")}
        verdict = f"Valve: {list_estimates(numbers, found.values, found.half_width)} (95 %)."
        return show.Report(
            title=f"{self.prior.name}: servovalve",
            subtitle=file_name(self.log, "log"),
            sections=(
                show.Section("", _valve_numbers(self)),
                show.Section(
                    "Current to flow: oil and load of the file removed from the speed",
                    _valve_response(self),
                    page_only=True,
                ),
            ),
            verdict=(_verdict(verdict, self.fit.misfit),),
        )


@dataclass(frozen=True, eq=False, repr=False)
class FlowIdentification(Result):
    """The no-load flow of a valve from a log of triangular set-points.

    Attributes:
        prior: The robot as it was.
        robot: The robot with the identified flow.
        flow: Points of the flow.
        log: Where the log came from.
    """

    prior: Robot
    robot: Robot
    flow: valves.FlowEstimate
    log: str

    @property
    def table(self) -> list[Record]:
        """A record for each point: current, speed of the unloaded piston, that of the file."""
        currents, speeds = np.array(actuator_bench(self.prior).cylinder.circuit.oil.flow).T
        prior = np.interp(self.flow.current, currents, speeds)
        flow = self.flow
        return show.tabulate(current=flow.current, speed=flow.speed, std=flow.std, prior=prior)

    def sections(self) -> show.Report:
        """Points of the flow, in a table and over the current."""
        flow = self.flow
        slow, fast = SPEED.text(flow.speed.min()), SPEED.with_unit(flow.speed.max())
        low, high = CURRENT.text(flow.current[0]), CURRENT.with_unit(flow.current[-1])
        sentence = f"{len(flow.speed)} points of the flow: {slow} to {fast} from {low} to {high}."
        return show.Report(
            title=f"{self.prior.name}: no-load flow of its valve",
            subtitle=file_name(self.log, "log"),
            sections=(
                show.Section("", _points(self)),
                show.Section("The flow", _flow_chart(self), page_only=True),
            ),
            verdict=(show.Text(sentence),),
        )


def _verdict(found: str, misfit: float) -> show.Text:
    """The result, or a warning where a log does not match the model of its set-up."""
    if misfit <= DOUBTFUL:
        return show.Text(found)
    return show.Text(
        f"The log does not match this set-up: residuals are {misfit:.0f} times those expected from "
        "its noise. Check weight, friction and gains of the test.",
        "bad",
    )


def _log_names(logs: Sequence[str]) -> list[str]:
    """Names of logs; with their folders where results of several runs are called alike."""
    names = [file_name(log, "log") for log in logs]
    if len(set(names)) == len(names):
        return names
    return [f"{Path(log).parent.name}/{name}" for log, name in zip(logs, names, strict=True)]


def _numbers(table: Sequence[ActuatorParameter], misfit: float) -> show.Blocks:
    columns = show.list_columns(
        name="parameter",
        unit="unit",
        prior=("file", PLAIN),
        value=("identified", PLAIN),
        half_width=("± 95 %", PLAIN),
    )
    yield show.Table(columns, [asdict(row) for row in table], "numbers")
    yield show.Text(
        f"Residuals are {misfit:.2f} times those expected from the coherence; intervals are "
        "widened by that factor where it is above 1.",
        "soft",
    )
    yield show.Data({"misfit": misfit})


def _response_with(result: ActuatorIdentification, k: int) -> show.Blocks:
    fit, response = result.fit, result.fit.responses[k]
    fitted = response_fits.small_signal(fit.values, result.weights[k], response.frequency)
    yield _bode(response, fit.gains[k] * fitted)


def _valve_numbers(result: ValveIdentification) -> show.Blocks:
    fit = result.fit
    yield from _numbers(result.table, fit.misfit)
    natural, damping, delay = fit.by_peak.tolist()
    yield show.Text(
        f"By the peak alone, {fit.peak_db:.2f} dB at {fit.peak_hz:.4g} Hz: damping {damping:.3f}, "
        f"{natural:.4g} Hz, and by the phase there a delay of {1e3 * delay:.3f} ms. Without the "
        f"square root of 1 - 2 β² it would be {fit.without_root:.4g} Hz, the slip by which "
        "document 003 has 240 Hz for 201."
    )
    peak = {"frequency_hz": fit.peak_hz, "height_db": fit.peak_db, "natural_hz": natural}
    peak |= {"damping": damping, "delay_s": delay, "without_square_root_hz": fit.without_root}
    yield show.Data({"peak": peak})


def _valve_response(result: ValveIdentification) -> show.Blocks:
    fit, response = result.fit, result.response
    yield _bode(response, fit.gain * valves.spool_gain(fit.values, response.frequency))


def _bode(response: FrequencyResponse, fitted: np.ndarray) -> Multiples:
    hertz, f = Axis("frequency", "Hz", logarithmic=True), response.frequency
    size, turn = Axis("|H|", "m/(A s)", logarithmic=True), Axis("phase", "°")
    charts = []
    for title, axis, measured, model in (
        ("Magnitude", size, response.magnitude, np.abs(fitted)),
        ("Phase", turn, TURN * response.phase, TURN * np.unwrap(np.angle(fitted))),
    ):
        layers = (Curve("measured", f, measured, colour=0), Curve("fit", f, model, colour=1))
        charts.append(Chart(title, hertz, axis, layers))
    return Multiples(tuple(charts), columns=1)


def _points(result: FlowIdentification) -> show.Blocks:
    columns = show.list_columns(
        current=("current", CURRENT),
        speed=("speed", SPEED),
        std=("std", Number(1e3, "mm/s", digits=2)),
        prior=("file", SPEED),
    )
    yield show.Table(columns, result.table, "flow")
    yield show.Text(
        "Each ramp is one point: speed + leakage x force at its mean current. Between points the "
        "flow is taken as straight, beyond them as held: laps and limits need ramps of their own.",
        "soft",
    )


def _flow_chart(result: FlowIdentification) -> show.Blocks:
    """The identified flow over that of the file, which is shown with its own corners."""
    flow = result.flow
    currents, speeds = result.prior.description.hydraulic[0].circuit.oil.flow.T
    inside = currents[(currents > flow.current.min()) & (currents < flow.current.max())]
    shown = np.unique(np.concatenate([inside, flow.current]))
    layers = (
        Curve("file", 1e3 * shown, 1e3 * np.interp(shown, currents, speeds), colour=3),
        Points("identified", 1e3 * flow.current, 1e3 * flow.speed, y_error=1e3 * flow.half_width),
    )
    yield Chart("No-load flow", Axis("current", "mA"), Axis("speed", "mm/s"), layers)


IN_RADIANS = np.array([2 * np.pi, 1.0, 1.0])  # of frequency [Hz], damping and delay of a valve


def identify_actuator(
    robot: Robot,
    logs: Log | Sequence[Log],
    weights: Sequence[float],
    *,
    band: response_fits.FrequencyBand | None = None,
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
    fit = response_fits.fit_actuator(tests, band)
    origins = tuple(log.origin for log in logs)
    found = _tabulate_parameters(bench, response_fits.NAMES, fit.estimate)
    changed = _with_numbers(bench, found, f"identified: noise with {len(logs)} weights")
    return ActuatorIdentification(
        robot, changed, fit, tuple(float(mass) for mass in weights), origins, found
    )


def identify_valve(
    robot: Robot, log: Log, *, band: response_fits.FrequencyBand | None = None
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
    band = response_fits.FrequencyBand() if band is None else band
    seen = band.response(test, test.speed)
    oil = bench.cylinder.circuit.oil
    numbers = np.array([oil.compliance, oil.leakage, bench.viscous])
    response = seen.without(response_fits.oil_response(numbers, bench.mass, seen.frequency))
    fit = valves.fit_valve(response)
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
    flow = valves.no_load_flow(bench.ramp_test(log), bench.cylinder.circuit.oil.leakage, settling)
    key = f"hydraulic.{bench.cylinder.name}.valve.flow"
    points = [list(point) for point in flow.points]
    source = f"identified: {len(points)} ramps"
    return FlowIdentification(robot, _set_values(robot, {key: points}, source), flow, log.origin)


def _tabulate_parameters(
    bench: ActuatorBench, names: Names, found: ParameterEstimate
) -> tuple[ActuatorParameter, ...]:
    numbers = np.array([found.values, found.std, found.half_width]).T.tolist()
    rows = []
    for name, three in zip(names, numbers, strict=True):
        _, unit, had = bench.parameters[name]
        rows.append(ActuatorParameter(name, unit, had, *three))
    return tuple(rows)


def _with_numbers(bench: ActuatorBench, found: Sequence[ActuatorParameter], source: str) -> Robot:
    """The robot with numbers of its actuator replaced."""
    values = {bench.parameters[row.name][0]: row.value for row in found}
    return _set_values(bench.robot, values, source)


def _set_values(robot: Robot, values: Mapping[str, Any], source: str) -> Robot:
    origin = f"robot '{robot.name}'"
    tables = check_format(to_tables(robot.description), origin, FORMAT)
    changed = with_values(tables, values, Description, source, origin)
    return robot.with_description(describe(changed, origin))
