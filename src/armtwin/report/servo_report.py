"""The report of a servo fitted to logs: what it is worth, its numbers, errors over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from armtwin.identification.servo.identify_servo import NAME, ServoIdentification, ServoRow
from armtwin.identification.servo.judgement import LEFT_OUT, Judgement
from armtwin.maths.batch import Floats
from armtwin.report.numbers import FINE_PERCENT, Number
from armtwin.report.sampling import at_times, extremes
from armtwin.report.sections import (
    Block,
    Column,
    Data,
    Line,
    Plot,
    Record,
    Report,
    Section,
    Table,
    Text,
)
from armtwin.report.verdicts import servo_verdict

GRID, BUCKETS = 1000, 150
MILLIRADIANS = Number(1e3, "mrad")
MILLISECONDS = Number(1e3, "ms")
FINE_MILLIMETRES = Number(1e3, "mm", places=2)
SHARE = Number(places=3)


def servo_report(found: ServoIdentification) -> Report:
    """The report of a fitted servo."""
    times = _times(found.judgement)
    sections = (
        Section("", tuple(_worth(found))),
        Section("The servo", tuple(_servo(found))),
        Section("What the logs do not tell", tuple(_wary(found))),
        Section("Errors, measured and predicted", tuple(_errors(found, times)), page_only=True),
    )
    return Report(
        title=f"Servo of {found.robot.name}",
        subtitle=_subtitle(found),
        sections=sections,
        verdict=(servo_verdict(found),),
        series=_series(found.judgement, times),
    )


def _subtitle(found: ServoIdentification) -> str:
    robot = found.robot.description.title or found.robot.name
    return f"{robot}: fitted to {', '.join(found.logs)}, judged on {_where(found.judgement)}"


def _where(judgement: Judgement) -> str:
    names = [name if name == LEFT_OUT else Path(name).name for name in judgement.judged_on]
    return ", ".join(names)


def _worth(found: ServoIdentification) -> Iterator[Block]:
    """Shares of variance, joint by joint, with the trivial rivals beside."""
    judgement, twin = found.judgement, found.twin
    columns = [Column("name", "joint"), Column("error_rad", "error rms", MILLIRADIANS)]
    if found.feedforward == "logged":
        columns.append(Column("share", "logged torque", SHARE))
    columns += [
        Column("share_twin", "model's torque", SHARE),
        Column("left_rad", "left", MILLIRADIANS),
        Column("delay_only", "delay only", SHARE),
        Column("lag_only", "lag only", SHARE),
    ]
    records = []
    for j, name in enumerate(found.robot.joint_names):
        records.append(
            {
                "name": name,
                "error_rad": float(judgement.error[j]),
                "share": float(judgement.share[j]),
                "share_twin": float(twin.share[j]),
                "left_rad": float(judgement.left[j]),
                "delay_only": float(judgement.delay_only[j]),
                "lag_only": float(judgement.lag_only[j]),
            }
        )
    yield Table(tuple(columns), records)
    yield Text(
        "Share of the variance of q_ref - q that is explained, a constant removed: by the fitted "
        "law, by the best pure delay, by the best lag behind the speed."
    )
    yield from _path(found)
    yield Data("fit", {"logs": list(found.logs), "feedforward": found.feedforward})
    yield Data("validation", _validation(judgement))
    yield Data("validation_model", _validation(twin))


def _validation(judgement: Judgement) -> Record:
    return {
        "log": list(judgement.judged_on),
        "share_explained": judgement.share.tolist(),
        "correlation": judgement.correlation.tolist(),
        "left_rad": judgement.left.tolist(),
        "delay_only": judgement.delay_only.tolist(),
        "lag_only": judgement.lag_only.tolist(),
    }


def _path(found: ServoIdentification) -> Iterator[Block]:
    records = []
    path = found.judgement.path
    for name in ("lateral", "vertical"):
        records.append(
            {
                "direction": name,
                "error_m": getattr(path, name),
                "left_m": getattr(path, f"{name}_left"),
                "left_twin_m": getattr(found.twin.path, f"{name}_left"),
            }
        )
    columns = (
        Column("direction", "at the flange"),
        Column("error_m", "error rms", FINE_MILLIMETRES),
        Column("left_m", "left", FINE_MILLIMETRES),
        Column("left_twin_m", "left, model's torque", FINE_MILLIMETRES),
    )
    yield Table(columns, records)
    left = {"lateral_left_m": path.lateral_left, "vertical_left_m": path.vertical_left}
    yield Data("path", left)


def _servo(found: ServoIdentification) -> Iterator[Block]:
    """Numbers of each drive with their intervals."""
    yield Text(f"Written as servo '{NAME}' of the robot file, for the model's torque.")
    yield Table(_columns(found), [_record(row) for row in found.table])
    yield Text(
        "With half widths of 90 %. kp and ki are over the velocity gain; the torque gain is speed "
        "per motor torque, negative where load lets the drive lag.",
        "soft",
    )
    yield Data("joints", [_json(row) for row in found.table])


def _columns(found: ServoIdentification) -> tuple[Column, ...]:
    """Numbers that the laws have; those of a page are more."""
    columns = [
        Column("name", "drive"),
        Column("structure", "law"),
        Column("feedback", "encoder"),
        Column("delay", "delay ms", words=_with_interval("delay", 1e3)),
        Column("kp", "kp 1/s", words=_with_interval("kp")),
    ]
    if any(row.ki > 0 for row in found.table):
        columns.append(Column("ki", "ki 1/s²", words=_with_interval("ki"), page_only=True))
    if all(row.kv is not None for row in found.table):
        columns.append(Column("kv", "kv N m s/rad", words=_with_interval("kv"), page_only=True))
    columns.append(
        Column("ff_gain", "torque gain", words=_with_interval("ff_gain"), page_only=True)
    )
    if any(row.encoder_offset is not None for row in found.table):
        columns.append(Column("encoder_offset", "link late", MILLISECONDS, page_only=True))
    return tuple(columns)


def _record(row: ServoRow) -> Record:
    return {
        "name": row.name,
        "structure": row.structure,
        "feedback": row.feedback,
        "delay": row.delay,
        "kp": row.kp,
        "ki": row.ki,
        "ff_gain": row.ff_gain,
        "encoder_offset": row.encoder_offset,
        "kv": row.kv,
        "interval": row.interval,
    }


def _json(row: ServoRow) -> Record:
    return {
        "name": row.name,
        "structure": row.structure,
        "feedback": row.feedback,
        "delay_s": row.delay,
        "kp_1_s": row.kp,
        "ki_1_s2": row.ki,
        "ff_gain": row.ff_gain,
        "kv_n_m_s_rad": row.kv,
        "encoder_offset_s": row.encoder_offset,
        "interval_90": row.interval,
    }


def _with_interval(key: str, scale: float = 1.0) -> Callable[[Record], str]:
    """Words of a number with its half width."""

    def words(record: Record) -> str:
        value = Number(scale, digits=3).text(record[key])
        return f"{value} ± {Number(scale, digits=2).text(record['interval'][key])}"

    return words


def _wary(found: ServoIdentification) -> Iterator[Block]:
    for sentence in found.findings:
        yield Text(sentence)
    if not found.findings:
        yield Text("Nothing stands out.")
    yield Data("findings", list(found.findings))


def _times(judgement: Judgement) -> Floats:
    """Times that are shown: an even grid and the extremes of each error."""
    time = judgement.time
    times = [np.linspace(time[0], time[-1], min(GRID, len(time)))]
    for j in range(judgement.measured.shape[1]):
        times.append(extremes(time, judgement.measured[:, j], BUCKETS))
    return np.unique(np.concatenate(times))


def _series(judgement: Judgement, times: Floats) -> dict[str, Floats]:
    series = {"time": times}
    kinds = {
        "measured": judgement.measured,
        "predicted": judgement.predicted,
        "residual": judgement.measured - judgement.predicted,
    }
    for j in range(judgement.measured.shape[1]):
        for name, values in kinds.items():
            series[f"{name}{j + 1}"] = 1e3 * at_times(times, judgement.time, values[:, j])
    return series


def _errors(found: ServoIdentification, times: Floats) -> Iterator[Block]:
    for j, name in enumerate(found.robot.joint_names):
        lines = (
            Line("measured", f"measured{j + 1}", 6),
            Line("predicted", f"predicted{j + 1}", 0),
            Line("residual", f"residual{j + 1}", 1),
        )
        share = FINE_PERCENT.with_unit(float(found.share[j]))
        caption = f"{name}: {share} of the variance of q_ref - q explained, a constant removed."
        yield Plot("time", "time [s]", "error", "mrad", lines, 0, len(times), caption=caption)
