"""What an experiment gave: a log, responses, features read off them, and what is shown of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.digests import digest_of
from armtwin.jobs.experiment import Experiment
from armtwin.jobs.experiment_description import BenchSetup, RobotSetup
from armtwin.jobs.features import OF_RESPONSES, Feature, SetpointResponse
from armtwin.logs.log import Log
from armtwin.logs.recording import find_stop
from armtwin.maths.batch import Floats, NamedArrays
from armtwin.notebook import cards, sections as show
from armtwin.notebook.charts import Chart
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import PLAIN
from armtwin.notebook.sampling import at_times, extremes
from armtwin.notebook.scales import Axis
from armtwin.report.result import Result
from armtwin.simulation.energy import Energy
from armtwin.simulation.response import Response as Answer, valve_words, what_sensors_show
from armtwin.simulation.temperature import describe_unheated_joints

if TYPE_CHECKING:
    from armtwin.identification.clamping.result import Clamping

GRID, BUCKETS = 1500, 200


@dataclass(frozen=True, eq=False, repr=False)
class ExperimentRun(Result):
    """What an experiment gave.

    Attributes:
        experiment: The experiment.
        log: What a machine would have logged.
        responses: Set-points and what came of them.
        energy: Where the energy went.
        clamped: Whether the joint, or the tool, was clamped.
        gear_ratio: Gear ratio of the bench; None for a robot.
        answer: What all sensors of a hydraulic robot show; None for others.
    """

    experiment: Experiment
    log: Log
    responses: tuple[SetpointResponse, ...]
    energy: Energy
    clamped: bool
    gear_ratio: float | None = None
    answer: Answer | None = None

    def __repr__(self) -> str:
        samples = cards.format_count(len(self.log.time), "sample")
        return cards.line("ExperimentRun", repr(self.experiment.description.name), samples)

    @property
    def ended_early(self) -> bool:
        """Whether something stopped it."""
        return find_stop(self.log.events) is not None

    @cached_property
    def table(self) -> tuple[Feature, ...]:
        """Features that the experiment asks for."""
        found: list[Feature] = []
        for name in self.experiment.description.features:
            if name == "clamping":
                continue
            for response in self.responses:
                found += OF_RESPONSES[name](response)
        return tuple(found)

    def measured(self) -> dict[str, float | None]:
        """Features by name, of a run that nothing stopped."""
        stop = find_stop(self.log.events)
        if stop is not None:
            raise ArmtwinError(stop.text)
        found: dict[str, float | None] = {}
        several = len(self.responses) > 1
        for feature in self.table:
            words = feature.name.replace("_", " ")
            found[f"{feature.of} {words}" if several else words] = feature.value
        if self.clamping is not None:
            best = self.clamping.best
            found |= {"stiffness": best.stiffness, "backlash": best.backlash}
            found["friction"] = best.friction
        return found

    @cached_property
    def clamping(self) -> Clamping | None:
        """The transmission identified from its clamping curve, where that is asked for."""
        if "clamping" not in self.experiment.description.features:
            return None
        joint = None if self.gear_ratio is not None else self._driven_joint
        ratio = self.gear_ratio
        if ratio is None and joint is not None:
            robot = self.experiment.robot()
            assert robot is not None
            ratio = float(robot.assembly.gear[joint - 1, joint - 1])
        from armtwin.identification.clamping.result import clamp

        return clamp(self.log, gear_ratio=ratio, joint=joint)

    @property
    def _driven_joint(self) -> int:
        """Number from 1 of the joint that the first set-point drives."""
        robot = self.experiment.robot()
        assert robot is not None
        return list(robot.joint_names).index(self.experiment.description.setpoint[0].on) + 1

    def sections(self) -> show.Report:
        """What was driven, what came, what was read off it."""
        d = self.experiment.description
        shown, series = _show_responses(self)
        sections = [show.Section("", _head(self)), *shown]
        verdict = list(_verdict(self))
        if self.clamping is not None:
            from armtwin.jobs.recreation import recreate

            report = recreate(self.clamping).sections()
            verdict += report.verdict
            sections += report.sections
        sections.append(show.Section("Energy", self.energy.blocks()))
        return show.Report(
            title=d.title or d.name,
            subtitle=_subtitle(self),
            sections=tuple(sections),
            verdict=tuple(verdict),
            series=series,
        )


def _show_responses(run: ExperimentRun) -> tuple[list[show.Section], NamedArrays]:
    """Sections on the responses, and the series that they draw."""
    if run.answer is not None:
        return what_sensors_show(run.answer)
    times = _times(run)
    responses = show.Section("Responses", _responses(run, times), page_only=True)
    return [responses], _series(run, times)


def _subtitle(run: ExperimentRun) -> str:
    d = run.experiment.description
    setup = d.setup
    what = "a bench" if isinstance(setup, BenchSetup) else f"robot {setup.robot}"
    if isinstance(setup, BenchSetup) and setup.robot:
        what = f"{setup.axis} of {setup.robot} on a bench"
    if run.answer is not None:
        what = f"{what} from equilibrium, {valve_words(run.answer)}"
    held = ", clamped" if run.clamped else ""
    points = ", ".join(f"{point.kind} on {point.on}" for point in d.setpoint)
    return f"{what}{held}: {points}, {np.ptp(run.log.time):.4g} s"


def _verdict(run: ExperimentRun) -> Iterator[show.Text]:
    for event in run.log.events:
        yield show.Text(event.text, "bad")
    if run.log.events:
        return
    yield show.Text(f"The experiment ran to its end: {len(run.log.time)} samples are logged.")
    setup, robot = run.experiment.description.setup, run.experiment.robot()
    if isinstance(setup, RobotSetup) and robot is not None:
        unheated = describe_unheated_joints(robot, setup.model)
        if unheated:
            yield show.Text(unheated, "bad")
    for response in run.responses:
        sentence = _step_words(run, response.of)
        if sentence:
            yield show.Text(sentence)


def _step_words(run: ExperimentRun, of: str) -> str:
    """How a response answers a step, in a sentence; "" where that is not asked or not seen."""
    values = {}
    for feature in run.table:
        if feature.of == of:
            values[feature.name] = feature.value
    when, over = values.get("first_peak_time"), values.get("overshoot")
    if when is None or "overshoot" not in values:
        return ""
    if over is None:
        return f"{of} peaks {1e3 * when:.4g} ms after the step and does not settle."
    side = "beyond" if over >= 0 else "short of"
    share = f"{abs(100 * over):.1f} % {side} its final value"
    sentence = f"{of} peaks {1e3 * when:.4g} ms after the step, {share}"
    period = values.get("period")
    if period is None:
        return f"{sentence}."
    return f"{sentence}, and oscillates with a period of {1e3 * period:.4g} ms."


def _head(run: ExperimentRun) -> show.Blocks:
    columns = show.list_columns(
        of="response of", name="feature", value=("value", PLAIN), unit="unit"
    )
    records = [asdict(feature) for feature in run.table]
    if records:
        yield show.Table(columns, records, "features")
    else:
        yield show.Data({"features": []})
    yield show.Data(
        {
            "experiment": run.experiment.description.name,
            "events": [event.to_list() for event in run.log.events],
        }
    )
    origin = run.experiment.origin
    yield show.Data({"provenance.inputs_sha256": {"experiment file": digest_of(origin)}})


def _times(run: ExperimentRun) -> Floats:
    """Times that are shown: an even grid and the extremes of each response."""
    time = run.log.time
    times = [np.linspace(time[0], time[-1], min(GRID, len(time)))]
    for response in run.responses:
        times.append(extremes(time, response.got, BUCKETS))
        times.append(extremes(time, response.wanted, BUCKETS))
    return np.unique(np.concatenate(times))


def _series(run: ExperimentRun, times: Floats) -> NamedArrays:
    series = {"time": times}
    for k, response in enumerate(run.responses):
        series[f"wanted{k}"] = at_times(times, response.time, response.wanted)
        series[f"got{k}"] = at_times(times, response.time, response.got)
    return series


def _responses(run: ExperimentRun, times: Floats) -> show.Blocks:
    for k, response in enumerate(run.responses):
        yield _response_plot(k, response, times)
    if "q_m" in run.log and "tau_m" in run.log and run.gear_ratio is not None:
        step = max(1, len(run.log.time) // 4000)
        q, tau = run.log.q_m[::step, 0], run.log.tau_m[::step, 0]
        layers = (Curve("simulated", q, tau, dash="solid"),)
        yield Chart(
            "Torque over angle", Axis("motor angle", "rad"), Axis("motor torque", "N m"), layers
        )


def _response_plot(k: int, response: SetpointResponse, times: Floats) -> show.Plot:
    lines = [show.Line("response", f"got{k}", 0)]
    if response.distance is not None:
        lines.append(show.Line("set-point", f"wanted{k}", 6, dashed=True))
    label, unit = response.of, response.unit
    return show.Plot("time", "time [s]", label, unit, tuple(lines), 0, len(times), caption=label)
