"""Transmissions identified from two encoders, and their report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.files.digests import file_name
from armtwin.identification.transmission.twist_fit import TwistFit
from armtwin.identification.transmission.twist_rows import TwistRows
from armtwin.maths.batch import Names, Pair, Record
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Blocks, Column, Data, Report, Section, Table, Text
from armtwin.report.result import Result
from armtwin.robot.robot import Robot

CHART_SAMPLES = 2500
STIFFNESS = Number(1e-6, "MN m/rad", digits=3)
MICRORADIANS = Number(1e6, "µrad", places=0)


@dataclass(frozen=True)
class JointTransmission:
    """One joint's transmission identified from two encoders, on the joint side.

    Attributes:
        name: The joint.
        prior: Stiffness of the robot file [N m/rad]; None where it has none.
        sentence: What is and what is not identifiable.
        stiffness: Stiffness [N m/rad]; None where it is not identifiable.
        interval: Lower and upper end of its 95 % interval [N m/rad]; None likewise.
        motor_share: Share of the friction on the motor's side of the spring; None where not
            identifiable.
        motor_share_std: Its standard deviation.
        lost_motion: Lost motion [rad]; None where not identifiable.
        lost_motion_std: Its standard deviation [rad].
        rms: Residual of q - q_link in the logs of the fit, rms [rad].
        rms_offset_only: Residual of the time offset alone [rad].
        rms_unseen: Residual in the unseen log [rad]; None without one.
    """

    name: str
    prior: float | None
    sentence: str
    stiffness: float | None = None
    interval: Pair | None = None
    motor_share: float | None = None
    motor_share_std: float | None = None
    lost_motion: float | None = None
    lost_motion_std: float | None = None
    rms: float = 0.0
    rms_offset_only: float = 0.0
    rms_unseen: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class TransmissionIdentification(Result):
    """Transmissions identified from two encoders.

    Attributes:
        robot: The robot with the identified stiffnesses and the time offset.
        prior: The robot before.
        offset: Time by which the link encoders are late [s].
        offset_std: Its standard deviation [s].
        table: One row for each joint with two encoders.
        logs: Names of the logs.
        unseen: Name of the unseen log, or "".
        rows: Samples of the fit.
        fit: Offset and compliances.
    """

    robot: Robot
    prior: Robot
    offset: float
    offset_std: float
    table: tuple[JointTransmission, ...]
    logs: Names
    unseen: str
    rows: TwistRows
    fit: TwistFit

    @property
    def told(self) -> bool:
        """Whether a stiffness is identifiable."""
        return any(row.stiffness is not None for row in self.table)

    def sections(self) -> Report:
        """Results of the joints, and their twist."""
        logs = ", ".join(file_name(name, "a log") for name in self.logs)
        return Report(
            title=f"Transmissions of {self.prior.name} from two encoders",
            subtitle=f"{logs}; {len(self.table)} joints with a link encoder",
            sections=(
                Section("", _numbers(self)),
                Section("Twist, measured and explained", _charts(self), page_only=True),
            ),
            verdict=(_verdict(self),),
        )


def _verdict(result: TransmissionIdentification) -> Text:
    parts = []
    for row in result.table:
        if row.stiffness is not None:
            parts.append(f"{row.name} {STIFFNESS.text(row.stiffness)}")
    found = "No stiffness is identifiable from these logs."
    if parts:
        found = f"Stiffness in MN m/rad: {', '.join(parts)}."
    late = f"{1e3 * result.offset:.2f} ± {1e3 * result.fit.offset_half:.2f} ms late"
    return Text(f"{found} The link encoders are {late}.")


def _numbers(result: TransmissionIdentification) -> Blocks:
    columns = [
        Column("name", "joint"),
        Column("stiffness_nm_rad", "stiffness", STIFFNESS),
        Column("interval_nm_rad", "95 %", words=_interval),
        Column("prior_nm_rad", "file", Number(1e-6, digits=3)),
        Column("rms_rad", "residual rms", MICRORADIANS),
        Column("rms_offset_only_rad", "offset only", MICRORADIANS),
    ]
    if result.unseen:
        columns.append(Column("rms_unseen_rad", "unseen", MICRORADIANS))
    columns += [
        Column("motor_share", "friction at motor", Number(places=2), page_only=True),
        Column("lost_motion_rad", "lost motion", MICRORADIANS, page_only=True),
    ]
    yield Table(tuple(columns), [_record(row) for row in result.table], "joints")
    yield Text(
        "Residual rms of q - q_link, each log's constant removed; offset only: with the encoders' "
        "time offset alone."
    )
    for row in result.table:
        yield Text(f"{row.name}: {row.sentence}.")
    yield Data(
        {
            "encoder_offset_s": result.offset,
            "std": {"encoder_offset_s": result.offset_std},
            "robot": result.prior.name,
            "logs": result.logs,
            "validation": result.unseen or None,
        }
    )


def _interval(record: Record) -> str:
    interval = record["interval_nm_rad"]
    if interval is None:
        return "-"
    return f"{1e-6 * interval[0]:.3g} to {1e-6 * interval[1]:.3g}"


def _record(row: JointTransmission) -> Record:
    return {
        "name": row.name,
        "stiffness_nm_rad": row.stiffness,
        "interval_nm_rad": row.interval,
        "prior_nm_rad": row.prior,
        "motor_share": row.motor_share,
        "motor_share_std": row.motor_share_std,
        "lost_motion_rad": row.lost_motion,
        "lost_motion_std_rad": row.lost_motion_std,
        "rms_rad": row.rms,
        "rms_offset_only_rad": row.rms_offset_only,
        "rms_unseen_rad": row.rms_unseen,
        "told": row.stiffness is not None,
        "sentence": row.sentence,
    }


def _charts(result: TransmissionIdentification) -> Blocks:
    rows, fit = result.rows, result.fit
    step = max(1, len(rows.twist) // CHART_SAMPLES)
    sample = np.arange(0, len(rows.twist), step).astype(np.float64)
    without_offset = rows.twist - fit.offset * rows.late
    without_offset -= without_offset.mean(axis=0)
    explained = fit.compliance.value * rows.load + fit.gap.value * rows.side
    explained -= explained.mean(axis=0)
    charts = []
    for j, row in enumerate(result.table):
        layers = (
            Curve("twist without the offset", sample, 1e6 * without_offset[::step, j]),
            Curve("explained by the load", sample, 1e6 * explained[::step, j]),
        )
        charts.append(Chart(row.name, Axis("sample"), Axis("twist", "µrad"), layers))
    yield Multiples(tuple(charts), columns=1, shared="x")
