"""A designed excitation: its motion, predicted deviations, and use of the limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from armtwin.identification.excitation.bounds import KINDS, ExcitationPlan, Scaling, Use
from armtwin.identification.excitation.information import Scales, deviations, singular_values
from armtwin.identification.fitting.decomposition import RELATIVE_ERROR
from armtwin.identification.rigid_body.fit.free_parameters import analyse_identifiability
from armtwin.maths.batch import Floats, NamedNumbers
from armtwin.motion.fourier import FourierSeries
from armtwin.motion.trajectory import Trajectory
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import DEVIATION, PERCENT, PLAIN, Number
from armtwin.report.result import Result
from armtwin.robot.robot import Robot

TRAJECTORY = "trajectory.csv"
CRITERIA = {
    "log_det": "the determinant",
    "sigma_min": "the smallest singular value",
    "condition": "the condition number",
    "weighted": "the weighted sum of condition number and 1 / smallest singular value (rows over "
    "largest torques, parameters over prior values: another unit is another weight)",
}


class MotionCriteria(NamedTuple):
    """Criteria of a motion, for one sample of it.

    Attributes:
        deviation: Mean of the deviations of the independent combinations over their sizes.
        singular: Singular values of the columns scaled by the parameters, falling, (r,).
    """

    deviation: float
    singular: Floats

    def told(self, beside: Excitation) -> int:
        """Combinations identified to within 10 % with the samples of another excitation."""
        return int((self.singular * np.sqrt(beside.rows) > beside.line).sum())

    @staticmethod
    def of(N: Floats, scales: Scales) -> MotionCriteria:
        """The criteria of a motion with N."""
        sigma = singular_values(N, scales, "parameters")
        return MotionCriteria(float(deviations(N, scales).mean()), sigma)


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
    """Whether the robot's own simulated loop runs an excitation to its end, and a sentence.

    Attributes:
        runs: Whether it does.
        sentence: That, or where and why it stops.
        stopped_by: The drive that stops it; "" where none is to blame or it runs.
    """

    runs: bool
    sentence: str
    stopped_by: str = ""


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
        amplitudes: Share of each joint's amplitude that its servo follows, (n,).
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
    amplitudes: Floats
    twin: Twin | None = None

    @cached_property
    def trajectory(self) -> Trajectory:
        """The motion at the set-point rate, from rest to rest."""
        return self.series.trajectory(self.rate, self.plan.periods)

    @property
    def rows(self) -> int:
        """Samples of the trajectory that are rows of the regression."""
        return len(self.trajectory.q) - 1

    @property
    def best_start(self) -> Excitation:
        """The same with N of the random motion that the search started from."""
        return replace(self, normal=self.start)

    def singular_values(self, scaling: Scaling) -> Floats:
        """Singular values of the scaled columns over all samples, falling, (r,)."""
        return singular_values(self.normal, self.scales, scaling) * np.sqrt(self.rows)

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
        names = analyse_identifiability(self.robot).base
        numbers = np.array([self.scales.base, relative * self.scales.sizes, relative]).T.tolist()
        rows = zip(names, numbers, strict=True)
        return tuple(PredictedDeviation(name, *three) for name, three in rows)

    @property
    def deviation(self) -> float:
        """Mean predicted deviation of the combinations over their sizes."""
        return float(np.mean([row.relative for row in self.table]))

    def sections(self) -> show.Report:
        """Identifiable combinations, use of the limits, motion."""
        plan = self.plan
        length = f"{self.trajectory.duration:.4g} s at {self.rate:g} Hz"
        return show.Report(
            title=f"Excitation of {self.robot.name}",
            subtitle=f"{length}, {plan.harmonics} harmonics of {plan.period:g} s",
            sections=(
                show.Section("", _criteria(self)),
                show.Section("Limits used", _limits(self)),
                show.Section("Predicted standard deviations", _deviations(self)),
                show.Section("Singular values", _singular(self), page_only=True),
                show.Section("Motion", _motion(self), page_only=True),
            ),
            verdict=tuple(_verdicts(self)),
        )


def _verdicts(result: Excitation) -> Iterator[show.Text]:
    count = len(result.scales.sizes)
    how = "optimised for" if result.plan.search == "optimised" else "best random motion by"
    yield show.Text(
        f"Identifies {result.told} of {count} independent parameter combinations to within 10 % "
        f"({100 * result.plan.noise:g} % torque noise); {how} {CRITERIA[result.plan.criterion]}."
    )
    if result.twin is not None:
        yield show.Text(result.twin.sentence)
    else:
        yield show.Text(
            "It was not simulated in closed loop: whether the servo follows is not known."
        )


def _criteria(result: Excitation) -> show.Blocks:
    own, start = _list_criteria(result), _list_criteria(result.best_start)
    columns = show.list_columns(
        name="motion",
        sigma_min=("σ min", Number()),
        condition=("condition", PLAIN),
        condition_columns=("by columns", Number()),
        log_det=("log det", PLAIN),
        told=("within 10 %", Number(places=0)),
    )
    records = ({"name": "this excitation", **own}, {"name": "best random start", **start})
    yield show.Table(columns, records)
    yield show.Text(
        "Columns scaled by the parameters' prior values, rows by the largest torques. By columns: "
        "scaled by their own norms, which no longer shows how much each parameter is excited. "
        "Within 10 %: number of combinations identified to within 10 %.",
        "soft",
    )
    yield show.Data.of(
        rows=own,
        start=start,
        robot=result.robot.name,
        criterion=result.plan.criterion,
        scaling=result.plan.scaling,
        rate_hz=result.rate,
        period_s=result.plan.period,
        trajectory=TRAJECTORY,
        twin=None if result.twin is None else vars(result.twin),
        amplitudes=result.amplitudes,
    )


def _list_criteria(result: Excitation) -> NamedNumbers:
    """Criteria of the rows of a motion."""
    return {
        "sigma_min": result.sigma_min,
        "log_det": result.log_det,
        "condition": result.condition("parameters"),
        "condition_columns": result.condition("columns"),
        "told": result.told,
    }


def _limits(result: Excitation) -> show.Blocks:
    shares, limits = result.use.shares, result.robot.limits
    shown = {kind: shares[kind] for kind in KINDS[:4]}
    for kind, limit in (("acceleration", limits.acceleration), ("torque", limits.torque)):
        shown[kind] = np.where(np.isfinite(limit), shown[kind], np.nan)
    columns = show.list_columns(name="joint") + show.Column.alike(PERCENT, *shown)
    yield show.Table(columns, show.tabulate(name=result.robot.joint_names, **shown))
    yield show.Facts(tuple(_near(result)))
    yield show.Data({"limits_used": {**shares, "distance_m": result.use.distance}})


def _near(result: Excitation) -> Iterator[tuple[str, str]]:
    if "drive" in result.use.shares:
        share = 100 * result.use.shares["drive"].max()
        yield "motors", f"at most {share:.0f} % of the torque at their current limit"
    for name, distance in result.use.distance.items():
        required = f"(at least {1e3 * result.clearance:.0f} mm required)"
        yield name, f"{1e3 * distance:.0f} mm away {required}"


def _deviations(result: Excitation) -> show.Blocks:
    rows = sorted(result.table, key=lambda row: row.relative)
    columns = show.list_columns(
        name="combination",
        value=("prior", PLAIN),
        std=("deviation", DEVIATION),
        relative=("of size", Number(100, "%", digits=2)),
    )
    yield show.Text(
        f"Mean over all combinations: {100 * result.deviation:.3g} % of their sizes, for "
        f"{result.rows} samples with independent torque errors."
    )
    yield show.Table(columns, [vars(row) for row in rows], most=12)
    yield show.Data({"std": {row.name: row.std for row in result.table}})


def _singular(result: Excitation) -> Iterator[show.Chart]:
    number = np.arange(1, len(result.table) + 1).astype(np.float64)
    layers = (
        show.Curve("this excitation", number, result.singular_values("parameters")),
        show.Curve("best random start", number, result.best_start.singular_values("parameters")),
        show.Rule(result.line, "identified to within 10 %"),
    )
    yield show.Chart(
        "Singular values of the columns scaled by the parameters",
        show.Axis("number"),
        show.Axis("σ", logarithmic=True),
        layers,
    )


def _motion(result: Excitation) -> Iterator[show.Multiples]:
    motion, charts = result.trajectory, []
    for label, unit, values in (
        ("position", "rad", motion.q),
        ("speed", "rad/s", motion.v),
        ("acceleration", "rad/s²", motion.a),
    ):
        named = zip(result.robot.joint_names, values.T, strict=True)
        layers = [show.Curve(name, motion.time, column) for name, column in named]
        charts.append(
            show.Chart(label, show.Axis("time", "s"), show.Axis(label, unit), tuple(layers))
        )
    yield show.Multiples(tuple(charts), columns=1)
