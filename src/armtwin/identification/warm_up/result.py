"""Warm-up of the joints of a log, and its report."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from armtwin.files.digests import file_name
from armtwin.logs.warm_up import WarmUpState
from armtwin.maths.batch import Floats, Record
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve, Layer, Points
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Blocks, Data, Report, Section, Table, Text, list_columns
from armtwin.report.result import Result

SECONDS = Number(1.0, "s", digits=4)
CHART_CYCLES = 60  # cycles in a chart


@dataclass(frozen=True)
class JointWarmUp:
    """How a joint warms.

    Attributes:
        joint: Its number, from 1.
        first: Friction of the first cycle.
        last: Friction of the last cycle.
        final: Friction at the end of the warm-up; nan where it is not identifiable.
        decay: Relative decay from the first to the final friction, else to the last.
        time_constant: Of the end of the decay, when the friction is near its final one [s]; nan
            where it is not identifiable.
        time_constant_std: Its standard deviation [s].
        time_constant_low: Lower end of its 95 % interval [s].
        time_constant_high: Upper end [s].
        warm_at: Time from which on the joint is warm [s]; nan where it never is.
        by: What the friction is, "work" or "mean torque".
        refused: Why there is no time constant, "" where there is one.
    """

    joint: int
    first: float
    last: float
    final: float
    decay: float
    time_constant: float
    time_constant_std: float
    time_constant_low: float
    time_constant_high: float
    warm_at: float
    by: str
    refused: str = ""

    @property
    def warm(self) -> bool:
        """Whether it is warm at the end of the log."""
        return bool(np.isfinite(self.warm_at))


@dataclass(frozen=True, eq=False, repr=False)
class WarmUpIdentification(Result):
    """Warm-up of the joints of a log.

    Attributes:
        table: The joints that move.
        state: Mean absolute torques of the cycles, and when they settled.
        friction: Friction of each cycle and joint of the table, (cycles, joints).
        fitted: The fitted decay; nan where it is not identifiable, (cycles, joints).
        period: Duration of a cycle [s].
        limit: Relative change of the mean torque from cycle to cycle of a joint that is warm.
        unit: Unit of the torques.
        origin: The log.
    """

    table: tuple[JointWarmUp, ...]
    state: WarmUpState
    friction: Floats
    fitted: Floats
    period: float
    limit: float
    unit: str
    origin: str

    @property
    def warm(self) -> bool:
        """Whether all joints that move are warm at the end."""
        return all(joint.warm for joint in self.table)

    def sections(self) -> Report:
        """Whether the robot is warm, and the decay of its friction."""
        return Report(
            title=f"{file_name(self.origin, 'log')}: warm-up",
            subtitle=f"{len(self.friction)} cycles of {self.period:.4g} s",
            sections=(
                Section("", _joints(self)),
                Section("Friction of the cycles", _charts(self), page_only=True),
            ),
            verdict=(_verdict(self),),
        )


def _verdict(result: WarmUpIdentification) -> Text:
    cold = [str(row.joint) for row in result.table if not row.warm]
    if not cold:
        last = max(row.warm_at for row in result.table)
        return Text(f"The robot is warm from {last:.4g} s on.", "good")
    changing = f"joint {cold[0]} still changes"
    if len(cold) > 1:
        changing = f"joints {', '.join(cold)} still change"
    return Text(f"The robot is not warm: {changing}.", "bad")


def _joints(result: WarmUpIdentification) -> Blocks:
    columns = list_columns(
        joint=("joint", Number()),
        first=(f"first {result.unit}", PLAIN),
        last=(f"last {result.unit}", PLAIN),
        decay=("decay", Number(100.0, "%")),
        time_constant=("time constant", SECONDS),
        time_constant_low=("95 % from", SECONDS),
        time_constant_high=("to", SECONDS),
        warm_at=("warm at", SECONDS),
    )
    records: list[Record] = [{**asdict(row), "warm": row.warm} for row in result.table]
    yield Table(columns, records, "joints")
    for row in result.table:
        if row.refused:
            yield Text(f"joint {row.joint}: no time constant, as {row.refused}.")
    yield Text(
        f"Warm: friction changes by less than {100 * result.limit:g} % from cycle to cycle, "
        "by the fitted decay, or by the mean absolute torque where there is none. Friction is the "
        "work of a cycle over its travel, where the cycle closes. The time constant is that of the "
        "end; with cold oil friction decays faster at first.",
        "soft",
    )
    numbers = {"period_s": result.period, "limit": result.limit}
    yield Data({**numbers, "warm": result.warm, "unit": result.unit})


def _charts(result: WarmUpIdentification) -> Blocks:
    step = max(1, len(result.state.time) // CHART_CYCLES)
    time = result.state.time[::step]
    axes, charts = (Axis("time", "s"), Axis("friction", result.unit)), []
    for k, row in enumerate(result.table):
        layers: list[Layer] = [Points("cycle", time, result.friction[::step, k])]
        if np.isfinite(row.time_constant):
            layers.append(Curve("fitted decay", time, result.fitted[::step, k]))
        charts.append(Chart(f"joint {row.joint}", *axes, tuple(layers)))
    yield Multiples(tuple(charts))
