"""Transmissions identified from two encoders, and their report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.files.digests import file_name
from armtwin.identification.transmission.twist_fit import TwistFit
from armtwin.identification.transmission.twist_rows import TwistRows
from armtwin.maths.batch import Names, Pair, Record
from armtwin.notebook import sections as show
from armtwin.notebook.charts import chart_channels
from armtwin.notebook.numbers import Number
from armtwin.notebook.scales import Axis
from armtwin.report.result import Result
from armtwin.robot.robot import Robot

STIFFNESS = Number(1e-6, "MN m/rad", digits=3)
MICRORADIANS = Number(1e6, "µrad", places=0)
SHARE_OF_95 = 0.8393  # a normal 90 % interval over its 95 % interval
POOR = 0.5  # width from which on a stiffness is known no better than an assumed one


@dataclass(frozen=True)
class JointTransmission:
    """One joint's transmission identified from two encoders, on the joint side.

    Attributes:
        name: The joint.
        prior: Stiffness of the robot file [N m/rad]; None where it has none.
        sentence: What is and what is not identifiable.
        stiffness: Stiffness [N m/rad]; None where it is not identifiable.
        interval: Lower and upper end of its 95 % interval [N m/rad], by noise and by what torques
            leave open of rotors and friction; None likewise.
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

    @property
    def width(self) -> float | None:
        """Half width of its 90 % interval as a share of it."""
        if self.interval is None:
            return None
        low, high = self.interval
        return float((high / low) ** (0.5 * SHARE_OF_95) - 1)

    @property
    def is_poor(self) -> bool:
        """Whether its stiffness is known no better than an assumed one: no file takes it."""
        return self.width is None or self.width > POOR


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

    def sections(self) -> show.Report:
        """Results of the joints, and their twist."""
        logs = ", ".join(file_name(name, "a log") for name in self.logs)
        return show.Report(
            title=f"Transmissions of {self.prior.name} from two encoders",
            subtitle=f"{logs}; {len(self.table)} joints with a link encoder",
            sections=(
                show.Section("", _numbers(self)),
                show.Section("Twist, measured and explained", _charts(self), page_only=True),
            ),
            verdict=(_verdict(self),),
        )


def _verdict(result: TransmissionIdentification) -> show.Text:
    parts = []
    for row in result.table:
        if row.stiffness is not None:
            parts.append(f"{row.name} {STIFFNESS.text(row.stiffness)}")
    found = "No stiffness is identifiable from these logs."
    if parts:
        found = f"Stiffness in MN m/rad: {', '.join(parts)}."
    late = f"{1e3 * result.offset:.2f} ± {1e3 * result.fit.offset_half:.2f} ms late"
    return show.Text(f"{found} The link encoders are {late}.")


def _numbers(result: TransmissionIdentification) -> show.Blocks:
    columns = show.list_columns(
        name="joint",
        stiffness_nm_rad=("stiffness", STIFFNESS),
        interval_nm_rad=("95 %", lambda record: STIFFNESS.between(record["interval_nm_rad"])),
        prior_nm_rad=("file", STIFFNESS),
        rms_rad=("residual rms", MICRORADIANS),
        rms_offset_only_rad=("offset only", MICRORADIANS),
        rms_unseen_rad=("unseen", MICRORADIANS),
        motor_share=("friction at motor", Number(places=2), show.PAGE_ONLY),
        lost_motion_rad=("lost motion", MICRORADIANS, show.PAGE_ONLY),
    )
    records = [_record(row) for row in result.table]
    yield show.Table(show.keep_filled(columns, records), records, "joints")
    yield show.Text(
        "Residual rms of q - q_link, each log's constant removed; offset only: with the encoders' "
        "time offset alone."
    )
    for row in result.table:
        yield show.Text(f"{row.name}: {row.sentence}.")
    yield show.Data(
        {
            "encoder_offset_s": result.offset,
            "std": {"encoder_offset_s": result.offset_std},
            "robot": result.prior.name,
            "logs": result.logs,
            "validation": result.unseen or None,
        }
    )


def _record(row: JointTransmission) -> Record:
    record = show.rename(
        vars(row),
        stiffness="stiffness_nm_rad",
        interval="interval_nm_rad",
        prior="prior_nm_rad",
        lost_motion="lost_motion_rad",
        lost_motion_std="lost_motion_std_rad",
        rms="rms_rad",
        rms_offset_only="rms_offset_only_rad",
        rms_unseen="rms_unseen_rad",
    )
    return {**record, "told": row.stiffness is not None}


def _charts(result: TransmissionIdentification) -> show.Blocks:
    rows, fit = result.rows, result.fit
    twist = rows.twist - fit.offset * rows.late
    explained = fit.compliance.value * rows.load + fit.gap.value * rows.side
    curves = {"twist without the offset": twist, "explained by the load": explained}
    centred = {name: 1e6 * (x - x.mean(axis=0)) for name, x in curves.items()}
    names = [row.name for row in result.table]
    axes = Axis("sample"), Axis("twist", "µrad")
    yield chart_channels(names, axes, np.arange(len(twist), dtype=float), centred)
