"""A servo identified from logs, and its report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from armtwin.files.digests import file_name
from armtwin.identification.servo.estimator import is_torque_loop, no_position_feedback
from armtwin.identification.servo.evaluation import LEFT_OUT, ServoEvaluation
from armtwin.identification.servo.gains import reference_delay
from armtwin.identification.servo.servo_fit import ServoFit
from armtwin.identification.servo.signals import extract_signals
from armtwin.identification.servo.structure import SPEED
from armtwin.logs.joint_order import in_order_of
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, NamedArrays, NamedNumbers, Names, Record, Sentences
from armtwin.notebook.numbers import FINE_PERCENT, Number
from armtwin.notebook.sampling import at_times, extremes
from armtwin.notebook.sections import Blocks, Column, Data, Line, Plot, Report, Section, Table, Text
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.robot.schema.servo import Servo

NAME = "fitted"
VALIDATED = 0.8  # share of variance below which a servo is not validated
NO_FEEDBACK = "no position feedback seen, offsets drift"
GRID, BUCKETS = 1000, 150
MILLIRADIANS = Number(1e3, "mrad")
MILLISECONDS = Number(1e3, "ms")
FINE_MILLIMETRES = Number(1e3, "mm", places=2)
SHARE = Number(places=3)

Feedforward = Literal["logged", "model"]


@dataclass(frozen=True)
class ServoRow:
    """The servo of one drive.

    Attributes:
        name: Name of the drive.
        structure: "torque loop" or "velocity law", with its terms.
        feedback: Encoder of the position loop, "motor" or "link".
        delay: Delay of the reference; negative where the drive leads it [s].
        kp: Position gain over velocity gain [1/s].
        ki: Integral gain over velocity gain [1/s²].
        ff_gain: Speed per torque that is fed forward; of a torque loop -1/k_v [rad/(N m s)].
        encoder_offset: Delay of the link encoder behind the motor's; None without one [s].
        kv: Velocity gain of a torque loop, None of a velocity law [N m s/rad].
        interval: Half widths of 95 % intervals of the numbers, by their names.
    """

    name: str
    structure: str
    feedback: str
    delay: float
    kp: float
    ki: float
    ff_gain: float
    encoder_offset: float | None
    kv: float | None
    interval: NamedNumbers


@dataclass(frozen=True, eq=False, repr=False)
class ServoIdentification(Result):
    """A servo from logs.

    Attributes:
        robot: The robot with the servo in its file, as `fitted`.
        feedforward: Torque of the evaluation: "logged", or "model" where logs have none.
        evaluation: Evaluation of the laws with that torque.
        twin: Evaluation of the servo in the robot file, whose torque is the model's.
        fits: The laws by where their torque came from.
        table: The servo of each drive, of the robot file.
        sample: Time between samples of the logs [s].
        logs: Names of the logs it was fitted to.
    """

    robot: Robot
    feedforward: Feedforward
    evaluation: ServoEvaluation
    twin: ServoEvaluation
    fits: dict[str, ServoFit]
    table: tuple[ServoRow, ...]
    sample: float
    logs: Names

    @property
    def servo(self) -> Servo:
        """The servo in the robot file."""
        return self.robot.description.servo[NAME]

    @property
    def share(self) -> Floats:
        """Share of the variance of q_ref - q explained on the validation data, (n,)."""
        return self.evaluation.share

    @property
    def validated(self) -> bool:
        """Whether each joint's error is explained well enough to rely on."""
        return bool((self.share >= VALIDATED).all())

    @property
    def diagnostics(self) -> Names:
        """Diagnostics, one sentence each."""
        return tuple(_diagnose(self))

    def predict(self, log: Log) -> Floats:
        """The error q_ref - q of every joint on a log's reference, up to constants, (m, n).

        The torque is the logged one where the log has it and the fit used it, else the model's.
        """
        ordered = in_order_of(log, self.robot.joint_names)
        known = extract_signals(
            self.robot, _with_positions(ordered), file_name(log.origin, "log 1")
        )
        fit = self.fits["model"]
        if known.logged is not None and "logged" in self.fits:
            fit = self.fits["logged"]
        at_signals = fit.predicted(known)
        times = ordered.time - ordered.time[0]
        columns = [np.interp(times, known.time, column) for column in at_signals.T]
        return np.stack(columns, axis=1)

    def sections(self) -> Report:
        """Validation, parameters, and the errors over time."""
        times = _times(self.evaluation)
        sections = (
            Section("", _validation_tables(self)),
            Section("Servo", _servo(self)),
            Section("Diagnostics", _diagnostics(self)),
            Section("Errors, measured and predicted", _errors(self, times), page_only=True),
        )
        return Report(
            title=f"Servo of {self.robot.name}",
            subtitle=_subtitle(self),
            sections=sections,
            verdict=(_verdict(self),),
            series=_series(self.evaluation, times),
        )


def _with_positions(log: Log) -> Log:
    """A log that has a reference alone, with it in place of the measurement."""
    if "q" in log:
        return log
    return replace(log, channels={**log.channels, "q": log.q_ref})


def _verdict(found: ServoIdentification) -> Text:
    """Validation of a fitted servo in one sentence."""
    share = found.share
    worst = int(np.argmin(share))
    least = FINE_PERCENT.with_unit(float(share[worst]))
    where = ", ".join(found.evaluation.judged_on)
    explained = f"it explains at least {least} of the error on {where}"
    worst_joint = found.robot.joint_names[worst]
    sentence = f"{explained} ({worst_joint}){_as_written(found)}."
    if not found.validated:
        return Text(f"The servo is not validated: {sentence}", "bad")
    return Text(f"The servo is validated: {sentence}", "good")


def _as_written(found: ServoIdentification) -> str:
    """Validation of the servo of the robot file, where another torque was evaluated."""
    if found.feedforward == "model":
        return ""
    worst = int(np.argmin(found.twin.share))
    least = FINE_PERCENT.with_unit(float(found.twin.share[worst]))
    joint = found.robot.joint_names[worst]
    return f" with the logged torque, and as written, with the model's, {least} ({joint})"


def _subtitle(found: ServoIdentification) -> str:
    robot = found.robot.description.title or found.robot.name
    return f"{robot}: fitted to {', '.join(found.logs)}, validated on {_where(found.evaluation)}"


def _where(judgement: ServoEvaluation) -> str:
    names = [name if name == LEFT_OUT else Path(name).name for name in judgement.judged_on]
    return ", ".join(names)


def _validation_tables(found: ServoIdentification) -> Blocks:
    """Explained variance, joint by joint, beside the baselines."""
    judgement, twin = found.evaluation, found.twin
    columns = [Column("name", "joint"), Column("error_rad", "error rms", MILLIRADIANS)]
    if found.feedforward == "logged":
        columns.append(Column("share", "logged torque", SHARE))
    columns += [
        Column("share_twin", "model's torque", SHARE),
        Column("left_rad", "residual rms", MILLIRADIANS),
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
        "Explained share of the variance of q_ref - q, mean removed: by the fitted law, by the "
        "best pure delay, by the best lag proportional to the speed."
    )
    yield from _path(found)
    yield Data(
        {
            "fit": {"logs": list(found.logs), "feedforward": found.feedforward},
            "validation": _validation(judgement),
            "validation_model": _validation(twin),
        }
    )


def _validation(judgement: ServoEvaluation) -> Record:
    return {
        "log": list(judgement.judged_on),
        "share_explained": judgement.share.tolist(),
        "correlation": judgement.correlation.tolist(),
        "left_rad": judgement.left.tolist(),
        "delay_only": judgement.delay_only.tolist(),
        "lag_only": judgement.lag_only.tolist(),
    }


def _path(found: ServoIdentification) -> Blocks:
    records = []
    path = found.evaluation.path
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
        *Column.alike(
            FINE_MILLIMETRES,
            error_m="error rms",
            left_m="residual rms",
            left_twin_m="residual, model's torque",
        ),
    )
    yield Table(columns, records)
    residuals = {"lateral_left_m": path.lateral_left, "vertical_left_m": path.vertical_left}
    yield Data({"path": residuals})


def _servo(found: ServoIdentification) -> Blocks:
    """Parameters of each drive with their intervals."""
    yield Text(f"Written as servo '{NAME}' of the robot file, for the model's torque.")
    yield Table(_columns(found), [vars(row) for row in found.table])
    yield Text(
        "± half widths of 95 % intervals. kp and ki are over the velocity gain; the torque gain is "
        "speed per motor torque, negative where load makes the drive lag.",
        "soft",
    )
    yield Data({"joints": [_json(row) for row in found.table]})


def _columns(found: ServoIdentification) -> tuple[Column, ...]:
    """Columns of the parameters that the laws have; more on a page."""
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
        "interval_95": row.interval,
    }


def _with_interval(key: str, scale: float = 1.0) -> Callable[[Record], str]:
    """Words of a number with its half width."""

    def words(record: Record) -> str:
        value = Number(scale, digits=3).text(record[key])
        return f"{value} ± {Number(scale, digits=2).text(record['interval'][key])}"

    return words


def _diagnostics(found: ServoIdentification) -> Blocks:
    for sentence in found.diagnostics:
        yield Text(sentence)
    if not found.diagnostics:
        yield Text("No anomaly found.")
    yield Data({"findings": list(found.diagnostics)})


def _times(judgement: ServoEvaluation) -> Floats:
    """Times that are shown: an even grid and the extremes of each error."""
    time = judgement.time
    times = [np.linspace(time[0], time[-1], min(GRID, len(time)))]
    for j in range(judgement.measured.shape[1]):
        times.append(extremes(time, judgement.measured[:, j], BUCKETS))
    return np.unique(np.concatenate(times))


def _series(judgement: ServoEvaluation, times: Floats) -> NamedArrays:
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


def _errors(found: ServoIdentification, times: Floats) -> Blocks:
    for j, name in enumerate(found.robot.joint_names):
        lines = (
            Line("measured", f"measured{j + 1}", 6),
            Line("predicted", f"predicted{j + 1}", 0),
            Line("residual", f"residual{j + 1}", 1),
        )
        share = FINE_PERCENT.with_unit(float(found.share[j]))
        caption = f"{name}: {share} of the variance of q_ref - q explained, mean removed."
        yield Plot("time", "time [s]", "error", "mrad", lines, 0, len(times), caption=caption)


def _diagnose(found: ServoIdentification) -> Sentences:
    fit = found.fits["model"]  # the servo that is written and whose numbers are shown
    for row, law in zip(found.table, fit.laws, strict=True):
        if reference_delay(law) + law.interval[2 + SPEED] < 0:
            yield (
                f"{row.name} leads its reference by {-1e3 * reference_delay(law):.3g} ms: "
                "over-compensated feed-forward, or a late reference column."
            )
    without_feedback = []
    for row, law in zip(found.table, fit.laws, strict=True):
        if no_position_feedback(law):
            without_feedback.append(row.name)
    if without_feedback:
        yield f"{', '.join(without_feedback)}: {NO_FEEDBACK}."
    kinds = {is_torque_loop(law) for law in fit.laws}
    if len(kinds) > 1:
        yield (
            "Load makes some drives lag and others lead: all are written as a velocity law, which "
            "takes the model's load but no other."
        )
    for name, share in zip(found.robot.joint_names, found.share, strict=True):
        if share < VALIDATED:
            yield (
                f"{name}: {100 * share:.0f} % of the error explained, below the "
                f"{100 * VALIDATED:.0f} % of a validated servo."
            )
