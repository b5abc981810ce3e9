"""A designed excitation: its motion, predicted deviations, and use of the limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from armtwin.identification.excitation.bounds import KINDS, Use
from armtwin.identification.excitation.information import (
    Scales,
    deviations,
    log_det_of,
    singular_values,
)
from armtwin.identification.excitation.plan import ExcitationPlan, Scaling
from armtwin.identification.fitting.decomposition import RELATIVE_ERROR
from armtwin.identification.rigid_body.fit.identifiability import analyse_identifiability
from armtwin.maths.batch import Floats, NamedNumbers, Record
from armtwin.motion.fourier import FourierSeries
from armtwin.motion.trajectory import Trajectory
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve, Rule
from armtwin.notebook.numbers import DEVIATION, PERCENT, PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Blocks, Column, Data, Facts, Report, Section, Table, Text
from armtwin.report.result import Result
from armtwin.robot.robot import Robot

TRAJECTORY = "trajectory.csv"
CHART_SAMPLES = 1000  # samples of a curve in a chart
CRITERIA = {
    "log_det": "the determinant",
    "sigma_min": "the smallest singular value",
    "condition": "the condition number",
    "weighted": "the weighted sum of condition number and 1 / smallest singular value",
}


class MotionCriteria(NamedTuple):
    """Criteria of a motion, for one sample of it.

    Attributes:
        log_det: Mean of the logarithms of the singular values of the bare columns.
        deviation: Mean of the deviations of the independent combinations over their sizes.
        singular: Singular values of the columns scaled by the parameters, falling, (r,).
    """

    log_det: float
    deviation: float
    singular: Floats

    @property
    def sigma_min(self) -> float:
        """Smallest of the singular values."""
        return float(self.singular[-1])

    def told(self, beside: Excitation) -> int:
        """Combinations identified to within 10 % with the samples of another excitation."""
        return int((self.singular * np.sqrt(beside.rows) > beside.line).sum())

    @staticmethod
    def of(N: Floats, scales: Scales) -> MotionCriteria:
        """The criteria of a motion with N."""
        sigma = singular_values(N, scales, "parameters")
        return MotionCriteria(-log_det_of(N).value, float(deviations(N, scales).mean()), sigma)


@dataclass(frozen=True)
class PredictedDeviation:
    """An independent parameter combination and its predicted deviation.

    Attributes:
        name: The combination.
        value: Its prior value.
        std: Its predicted standard deviation.
        relative: The deviation over the size of what it combines.
    """

    name: str
    value: float
    std: float
    relative: float


@dataclass(frozen=True)
class Twin:
    """Whether the robot's own simulated loop runs an excitation to its end, and a sentence."""

    runs: bool
    sentence: str


@dataclass(frozen=True, eq=False, repr=False)
class Excitation(Result):
    """An excitation of a robot.

    Attributes:
        robot: The robot.
        plan: The options.
        rate: Set-points in a second [Hz].
        series: The motion of a period.
        scales: Scales of rows and columns.
        normal: N of the motion, (r, r).
        start: N of the random motion that the search started from, (r, r).
        use: How much of each limit is used, checked densely.
        clearance: Distance that was to be kept from the cell [m].
        tried: The random motions that were tried.
        twin: Result of the robot's simulated loop, None where it was not simulated.
    """

    robot: Robot
    plan: ExcitationPlan
    rate: float
    series: FourierSeries
    scales: Scales
    normal: Floats
    start: Floats
    use: Use
    clearance: float
    tried: tuple[MotionCriteria, ...]
    twin: Twin | None = None

    @cached_property
    def trajectory(self) -> Trajectory:
        """The motion at the set-point rate, from rest to rest."""
        return self.series.trajectory(self.rate, self.plan.periods)

    @property
    def rows(self) -> int:
        """Samples of the trajectory that are rows of the regression."""
        return len(self.trajectory.q) - 1

    def singular_values(self, scaling: Scaling, *, of_start: bool = False) -> Floats:
        """Singular values of the scaled columns over all samples, falling, (r,)."""
        N = self.start if of_start else self.normal
        return singular_values(N, self.scales, scaling) * np.sqrt(self.rows)

    @property
    def sigma_min(self) -> float:
        """Smallest singular value of the columns scaled by the parameters."""
        return float(self.singular_values("parameters")[-1])

    def condition(self, scaling: Scaling) -> float:
        """Condition number of the scaled columns."""
        sigma = self.singular_values(scaling)
        return float(sigma[0] / sigma[-1])

    @property
    def log_det(self) -> float:
        """Sum of the logarithms of the singular values of the columns scaled by the parameters."""
        return float(np.log(self.singular_values("parameters")).sum())

    @property
    def line(self) -> float:
        """Singular value above which a combination is identified to within 10 %."""
        return self.plan.noise / RELATIVE_ERROR

    @property
    def told(self) -> int:
        """Number of combinations identified to within 10 %."""
        return int((self.singular_values("parameters") > self.line).sum())

    @cached_property
    def table(self) -> tuple[PredictedDeviation, ...]:
        """The independent combinations of parameters with their predicted deviations."""
        share = self.plan.noise / np.sqrt(self.rows)
        relative = share * deviations(self.normal, self.scales)
        std = relative * self.scales.sizes
        found = []
        names = analyse_identifiability(self.robot).base
        for k, name in enumerate(names):
            value = float(self.scales.base[k])
            found.append(PredictedDeviation(name, value, float(std[k]), float(relative[k])))
        return tuple(found)

    @property
    def deviation(self) -> float:
        """Mean predicted deviation of the combinations over their sizes."""
        return float(np.mean([row.relative for row in self.table]))

    def sections(self) -> Report:
        """Identifiable combinations, use of the limits, motion."""
        plan = self.plan
        length = f"{self.trajectory.duration:.4g} s at {self.rate:g} Hz"
        return Report(
            title=f"Excitation of {self.robot.name}",
            subtitle=f"{length}, {plan.harmonics} harmonics of {plan.period:g} s",
            sections=(
                Section("", _criteria(self)),
                Section("Limits used", _limits(self)),
                Section("Predicted standard deviations", _deviations(self)),
                Section("Singular values", _singular(self), page_only=True),
                Section("Motion", _motion(self), page_only=True),
            ),
            verdict=tuple(_verdicts(self)),
        )


def _verdicts(result: Excitation) -> Iterator[Text]:
    count = len(result.scales.sizes)
    how = "optimised for" if result.plan.search == "optimised" else "best random motion by"
    yield Text(
        f"Identifies {result.told} of {count} independent parameter combinations to within 10 % "
        f"({100 * result.plan.noise:g} % torque noise); {how} {CRITERIA[result.plan.criterion]}."
    )
    if result.twin is not None:
        yield Text(result.twin.sentence, "" if result.twin.runs else "bad")


def _criteria(result: Excitation) -> Blocks:
    own, start = _rows(result), _rows(result, of_start=True)
    columns = (
        Column("name", "motion"),
        Column("sigma_min", "σ min", Number()),
        Column("condition", "condition", PLAIN),
        Column("condition_columns", "by columns", Number()),
        Column("log_det", "log det", PLAIN),
        Column("told", "within 10 %", Number(places=0)),
    )
    records = ({"name": "this excitation", **own}, {"name": "best random start", **start})
    yield Table(columns, records)
    yield Text(
        "Columns scaled by the parameters' prior values, rows by the largest torques. By columns: "
        "scaled by their own norms, which no longer shows how much each parameter is excited. "
        "Within 10 %: number of combinations identified to within 10 %.",
        "soft",
    )
    yield Data(
        {
            "rows": own,
            "start": start,
            "robot": result.robot.name,
            "criterion": result.plan.criterion,
            "scaling": result.plan.scaling,
            "rate_hz": result.rate,
            "period_s": result.plan.period,
            "trajectory": TRAJECTORY,
            "twin": None if result.twin is None else vars(result.twin),
        }
    )


def _rows(result: Excitation, *, of_start: bool = False) -> NamedNumbers:
    """Criteria of the rows of a motion."""
    sigma = result.singular_values("parameters", of_start=of_start)
    by_columns = result.singular_values("columns", of_start=of_start)
    return {
        "sigma_min": float(sigma[-1]),
        "log_det": float(np.log(sigma).sum()),
        "condition": float(sigma[0] / sigma[-1]),
        "condition_columns": float(by_columns[0] / by_columns[-1]),
        "told": int((sigma > result.line).sum()),
    }


def _limits(result: Excitation) -> Blocks:
    shares = result.use.shares
    records = []
    for j, name in enumerate(result.robot.joint_names):
        record: Record = {"name": name}
        for kind in KINDS[:4]:
            record[kind] = _share(result.robot, kind, shares[kind], j)
        records.append(record)
    columns = [Column("name", "joint")]
    columns += [Column(kind, kind, PERCENT) for kind in KINDS[:4]]
    yield Table(tuple(columns), records)
    yield Facts(tuple(_near(result)))
    used: Record = {kind: share.tolist() for kind, share in shares.items()}
    yield Data({"limits_used": {**used, "distance_m": result.use.distance}})


def _share(robot: Robot, kind: str, shares: Floats, j: int) -> float | None:
    """A share, None where the robot has no such limit."""
    unlimited = {"acceleration": robot.limits.acceleration, "torque": robot.limits.torque}
    if kind in unlimited and not np.isfinite(unlimited[kind][j]):
        return None
    return float(shares[j])


def _near(result: Excitation) -> Iterator[tuple[str, str]]:
    if "drive" in result.use.shares:
        share = 100 * result.use.shares["drive"].max()
        yield "motors", f"at most {share:.0f} % of the torque at their current limit"
    for name, distance in result.use.distance.items():
        required = f"(at least {1e3 * result.clearance:.0f} mm required)"
        yield name, f"{1e3 * distance:.0f} mm away {required}"


def _deviations(result: Excitation) -> Blocks:
    records = [vars(row) for row in result.table]
    records.sort(key=lambda record: record["relative"])
    columns = (
        Column("name", "combination"),
        Column("value", "prior", PLAIN),
        Column("std", "deviation", DEVIATION),
        Column("relative", "of size", Number(100, "%", digits=2)),
    )
    yield Text(
        f"Mean over all combinations: {100 * result.deviation:.3g} % of their sizes, for "
        f"{result.rows} samples with independent torque errors."
    )
    yield Table(columns, records, most=12)
    yield Data({"std": {row.name: row.std for row in result.table}})


def _singular(result: Excitation) -> Iterator[Chart]:
    number = np.arange(1, len(result.table) + 1).astype(np.float64)
    layers = (
        Curve("this excitation", number, result.singular_values("parameters")),
        Curve("best random start", number, result.singular_values("parameters", of_start=True)),
        Rule(result.line, "identified to within 10 %"),
    )
    yield Chart(
        "Singular values of the columns scaled by the parameters",
        Axis("number"),
        Axis("σ", logarithmic=True),
        layers,
    )


def _motion(result: Excitation) -> Iterator[Multiples]:
    motion = result.trajectory
    step = max(1, len(motion.q) // CHART_SAMPLES)
    time = motion.time[::step]
    charts = []
    for label, unit, values in (
        ("position", "rad", motion.q),
        ("speed", "rad/s", motion.v),
        ("acceleration", "rad/s²", motion.a),
    ):
        layers = []
        for j, name in enumerate(result.robot.joint_names):
            layers.append(Curve(name, time, values[::step, j]))
        charts.append(Chart(label, Axis("time", "s"), Axis(label, unit), tuple(layers)))
    yield Multiples(tuple(charts), columns=1, shared="x")
