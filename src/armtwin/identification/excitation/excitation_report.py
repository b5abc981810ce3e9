"""The report of an excitation: what it will tell, what of the limits it uses, how it moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from armtwin.identification.excitation.bounds import KINDS
from armtwin.identification.excitation.excitation import Excitation
from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve, Rule
from armtwin.notebook.numbers import Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import (
    Block,
    Column,
    Data,
    Facts,
    Report,
    Section,
    Table,
    Text,
)
from armtwin.robot.robot import Robot

TRAJECTORY = "trajectory.csv"
PERCENT = Number(100, "%", places=0)
DRAWN = 1000  # samples of a curve
CRITERIA = {
    "log_det": "the determinant",
    "sigma_min": "the smallest singular value",
    "condition": "the condition number",
    "weighted": "the weighted sum of condition number and 1 / smallest singular value",
}


@dataclass(frozen=True)
class Twin:
    """Whether the robot's own simulated loop runs an excitation to its end, and a sentence."""

    runs: bool
    sentence: str


def excitation_report(result: Excitation, twin: Twin | None = None) -> Report:
    """The report of an excitation, with what its simulated loop makes of it."""
    plan, robot = result.plan, result.robot
    length = f"{result.trajectory.duration:.4g} s at {result.rate:g} Hz"
    return Report(
        title=f"Excitation of {robot.name}",
        subtitle=f"{length}, {plan.harmonics} harmonics of {plan.period:g} s",
        sections=(
            Section("", (*_told(result), Data("twin", None if twin is None else vars(twin)))),
            Section("Limits used", tuple(_limits(result))),
            Section("Predicted standard deviations", tuple(_deviations(result))),
            Section("Singular values", (_singular(result),), page_only=True),
            Section("Motion", (_motion(result),), page_only=True),
        ),
        verdict=tuple(_verdicts(result, twin)),
    )


def _verdicts(result: Excitation, twin: Twin | None) -> Iterator[Text]:
    yield Text(_verdict(result))
    if twin is not None:
        yield Text(twin.sentence, "" if twin.runs else "bad")


def _verdict(result: Excitation) -> str:
    count = len(result.table)
    how = "searched by gradient for" if result.plan.search == "optimised" else "the best random of"
    return (
        f"Tells {result.told} of {count} independent directions to 10 %, the noise of the torque "
        f"being {100 * result.plan.noise:g} % of each joint's largest; {how} "
        f"{CRITERIA[result.plan.criterion]}."
    )


def _told(result: Excitation) -> Iterator[Block]:
    records = []
    for name, of_start in (("this excitation", False), ("best random start", True)):
        records.append(_row(result, name, of_start))
    columns = (
        Column("name", "motion"),
        Column("sigma_min", "σ min", Number(digits=3)),
        Column("condition", "condition", Number(digits=4)),
        Column("condition_columns", "by columns", Number(digits=3)),
        Column("log_det", "log det", Number(digits=4)),
        Column("told", "told to 10 %", Number(places=0)),
    )
    yield Table(columns, records)
    yield Text(
        "Columns scaled by the parameters' prior values, rows by the largest torques; beside it "
        "the condition number of columns scaled by their own norms, which no longer shows how much "
        "each parameter is excited.",
        "soft",
    )
    yield Data("rows", {key: value for key, value in records[0].items() if key != "name"})
    yield Data("start", {key: value for key, value in records[1].items() if key != "name"})
    yield Data("robot", result.robot.name)
    yield Data("criterion", result.plan.criterion)
    yield Data("scaling", result.plan.scaling)
    yield Data("rate_hz", result.rate)
    yield Data("period_s", result.plan.period)
    yield Data("trajectory", TRAJECTORY)


def _row(result: Excitation, name: str, of_start: bool) -> dict[str, Any]:
    sigma = result.singular_values("parameters", of_start=of_start)
    by_columns = result.singular_values("columns", of_start=of_start)
    return {
        "name": name,
        "sigma_min": float(sigma[-1]),
        "log_det": float(np.log(sigma).sum()),
        "condition": float(sigma[0] / sigma[-1]),
        "condition_columns": float(by_columns[0] / by_columns[-1]),
        "told": int((sigma > result.line).sum()),
    }


def _limits(result: Excitation) -> Iterator[Block]:
    shares = result.use.shares
    records = []
    for j, name in enumerate(result.robot.joint_names):
        record: dict[str, Any] = {"name": name}
        for kind in KINDS[:4]:
            record[kind] = _share(result.robot, kind, shares[kind], j)
        records.append(record)
    columns = [Column("name", "joint")]
    columns += [Column(kind, kind, PERCENT) for kind in KINDS[:4]]
    yield Table(tuple(columns), records)
    yield Facts(tuple(_near(result)))
    used: dict[str, Any] = {kind: share.tolist() for kind, share in shares.items()}
    yield Data("limits_used", {**used, "distance_m": result.use.distance})


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
        kept = f"(at least {1e3 * result.clearance:.0f} mm were to be kept)"
        yield name, f"{1e3 * distance:.0f} mm away {kept}"


def _deviations(result: Excitation) -> Iterator[Block]:
    records = []
    for row in sorted(result.table, key=lambda row: row.relative):
        records.append(vars(row))
    columns = (
        Column("name", "combination"),
        Column("value", "prior", Number(digits=4)),
        Column("std", "deviation", Number(digits=2)),
        Column("relative", "of size", Number(100, "%", digits=2)),
    )
    yield Text(
        f"Mean over all combinations: {100 * result.deviation:.3g} % of their sizes, for "
        f"{result.rows} samples whose torques err independently."
    )
    yield Table(columns, records, most=12)
    yield Data("std", {row.name: row.std for row in result.table})


def _singular(result: Excitation) -> Chart:
    number = np.arange(1, len(result.table) + 1).astype(np.float64)
    layers = (
        Curve("this excitation", number, result.singular_values("parameters")),
        Curve("best random start", number, result.singular_values("parameters", of_start=True)),
        Rule(result.line, "told to 10 %"),
    )
    return Chart(
        "Singular values of the columns scaled by the parameters",
        Axis("number"),
        Axis("σ", logarithmic=True),
        layers,
    )


def _motion(result: Excitation) -> Multiples:
    motion = result.trajectory
    step = max(1, len(motion.q) // DRAWN)
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
    return Multiples(tuple(charts), columns=1, shared="x")
