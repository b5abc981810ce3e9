"""A servo identified from logs, and its report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.digests import file_name
from armtwin.identification.servo.estimator import is_torque_loop, no_position_feedback
from armtwin.identification.servo.evaluation import LEFT_OUT, ServoEvaluation
from armtwin.identification.servo.fed_forward import with_model_torque
from armtwin.identification.servo.gains import reference_delay
from armtwin.identification.servo.servo_fit import ServoFit
from armtwin.identification.servo.signals import Signals, extract_signals
from armtwin.identification.servo.structure import SPEED
from armtwin.logs.joints import in_order_of
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, NamedNumbers, Names, Record, Sentences
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import FINE_PERCENT, Number
from armtwin.notebook.over_time import MeasuredOverTime
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.robot.schema.servo import Servo

NAME = "fitted"
VALIDATED = 0.8  # share of variance below which a servo is not validated
UNRESOLVED = 0.5  # share of variance below which an error shows its size, but no law
NO_FEEDBACK = "no position feedback seen, offsets drift"
MILLIRADIANS = Number(1e3, "mrad")
MILLISECONDS = Number(1e3, "ms")
FINE_MILLIMETRES = Number(1e3, "mm", places=2)
SHARE = Number(places=3)
KEYS = {
    "delay": "delay_s",
    "kp": "kp_1_s",
    "ki": "ki_1_s2",
    "kv": "kv_n_m_s_rad",
    "encoder_offset": "encoder_offset_s",
    "interval": "interval_95",
}  # of the numbers in result.json

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
        evaluation: Evaluation of the servo that is written, whose torque is the model's.
        with_logged_torque: Evaluation of a law with the torque that was logged, which no file can
            hold; None where logs have none or "model" was asked for.
        fits: The laws by where their torque came from.
        table: The servo of each drive, of the robot file.
        bandwidth: Least bandwidth with which the errors are as small as logged, (n,) [Hz].
        sample: Time between samples of the logs [s].
        logs: Names of the logs it was fitted to.
    """

    robot: Robot
    evaluation: ServoEvaluation
    with_logged_torque: ServoEvaluation | None
    fits: dict[str, ServoFit]
    table: tuple[ServoRow, ...]
    bandwidth: Floats
    sample: float
    logs: Names

    @property
    def servo(self) -> Servo:
        """The servo in the robot file."""
        return self.robot.description.servo[NAME]

    @property
    def share(self) -> Floats:
        """Share of the variance of q_ref - q that the written servo explains, (n,)."""
        return self.evaluation.share

    @property
    def validated(self) -> bool:
        """Whether the written servo explains each joint's error well enough to rely on."""
        moving = np.isfinite(self.share)
        return bool(moving.any() and (self.share[moving] >= VALIDATED).all())

    @property
    def diagnostics(self) -> Names:
        """Diagnostics, one sentence each."""
        return tuple(_diagnose(self))

    def predict(self, log: Log) -> Floats:
        """The error q_ref - q of every joint on a log's reference, up to constants, (m, n).

        The torque is the logged one where the log has it and the fit used it, else the model's.
        """
        known = self._read(log)
        fit = self.fits["model"]
        if known.logged is not None and "logged" in self.fits:
            fit = self.fits["logged"]
        else:
            known = with_model_torque(self.robot, known, getattr(self.servo, "model", None))
        at_signals = fit.predicted(known)
        times = log.time - log.time[0]
        columns = [np.interp(times, known.time, column) for column in at_signals.T]
        return np.stack(columns, axis=1)

    def predict_size(self, log: Log) -> Floats:
        """Size of the error on a log's reference: rms, its 5 % and its 95 % quantile, (3, n) [rad].

        It counts what the law does not explain.
        """
        record = getattr(self.servo, "fit", None)
        size = None if record is None else record.size
        if size is None:
            raise ArmtwinError(
                f"the logs of servo '{NAME}' are too few or too still for a size of its error"
            )
        known, inverse = self._read(log), self.fits["model"].inverse
        left = size.rms(known.v @ inverse.T, known.a @ inverse.T)
        rms = np.hypot(self.predict(log).std(axis=0), left)
        return rms * np.exp(size.width * np.array([0.0, -1.0, 1.0]))[:, None]

    def _read(self, log: Log) -> Signals:
        """The signals of a log; one that has a reference alone is taken to follow it."""
        ordered = in_order_of(log, self.robot.joint_names)
        return extract_signals(self.robot, _with_positions(ordered), file_name(log.origin, "log 1"))

    def sections(self) -> show.Report:
        """Validation, parameters, and the errors over time."""
        seen, robot = self.evaluation, self.robot.description.title or self.robot.name
        where = ", ".join(x if x == LEFT_OUT else Path(x).name for x in seen.judged_on)
        errors = MeasuredOverTime(seen.time, seen.measured, seen.predicted, "mrad", 1e3)
        sections = (
            show.Section("", _validation_tables(self)),
            show.Section("Servo", _servo(self)),
            show.Section(
                "Diagnostics",
                show.list_sentences(self.diagnostics, "findings", "No anomaly found."),
            ),
            show.Section("Errors, measured and predicted", _errors(self, errors), page_only=True),
        )
        return show.Report(
            title=f"Servo of {self.robot.name}",
            subtitle=f"{robot}: fitted to {', '.join(self.logs)}, validated on {where}",
            sections=sections,
            verdict=(_verdict(self),),
            series=errors.series,
        )


def _with_positions(log: Log) -> Log:
    """A log that has a reference alone, with it in place of the measurement."""
    if "q" in log:
        return log
    return replace(log, channels={**log.channels, "q": log.q_ref})


def _verdict(found: ServoIdentification) -> show.Text:
    """Validation of a fitted servo in one sentence."""
    where = ", ".join(found.evaluation.judged_on)
    sentence = (
        f"as written, with the model's torque, it explains {_least(found, found.evaluation)} of "
        f"the error on {where}"
    )
    if found.with_logged_torque is not None:
        sentence += f"; with the logged torque {_least(found, found.with_logged_torque)}"
    if not found.validated:
        return show.Text(f"The servo is not validated: {sentence}.", "bad")
    return show.Text(f"The servo is validated: {sentence}.", "good")


def _least(found: ServoIdentification, judgement: ServoEvaluation) -> str:
    """Least share of the variance that is explained, with its joint."""
    if not np.isfinite(judgement.share).any():
        return "nothing, as no joint moves,"
    worst = int(np.nanargmin(judgement.share))
    share = float(judgement.share[worst])
    least = f"at least {FINE_PERCENT.with_unit(share)}" if share > 0 else "none"
    return f"{least} ({found.robot.joint_names[worst]})"


def _share_words(key: str) -> show.Wording:
    """Words of a share; one below zero explains none."""

    def words(record: Record) -> str:
        if not np.isfinite(record[key]):
            return "at rest"
        return SHARE.text(record[key]) if record[key] > 0 else "none"

    return words


def _validation_tables(found: ServoIdentification) -> show.Blocks:
    """Explained variance, joint by joint, beside the baselines."""
    judgement, logged = found.evaluation, found.with_logged_torque
    with_logged: tuple[Any, ...] = (judgement.share,)
    if logged is not None:
        with_logged = (logged.share, "logged torque", _share_words("share_logged"))
    yield show.Table.of(
        name=(found.robot.joint_names, "joint"),
        error_rad=(judgement.error, "error rms", MILLIRADIANS),
        share=(judgement.share, "as written", _share_words("share")),
        left_rad=(judgement.left, "residual rms", MILLIRADIANS),
        share_logged=with_logged,
        delay_only=(judgement.delay_only, "delay only", _share_words("delay_only")),
        lag_only=(judgement.lag_only, "lag only", _share_words("lag_only")),
    )
    yield show.Text(
        "Explained share of the variance of q_ref - q, mean removed: by the servo as written, by "
        "the best pure delay, by the best lag proportional to the speed."
    )
    yield from _path(found)
    yield from _size(found)
    data = {"fit": {"logs": list(found.logs)}, "validation": _validation(judgement)}
    if logged is not None:
        data["validation_logged"] = _validation(logged)
    yield show.Data(data)


def _validation(judgement: ServoEvaluation) -> Record:
    return {
        "log": list(judgement.judged_on),
        "feedforward": judgement.feedforward,
        "share_explained": judgement.share,
        "correlation": judgement.correlation,
        "left_rad": judgement.left,
        "delay_only": judgement.delay_only,
        "lag_only": judgement.lag_only,
    }


def _size(found: ServoIdentification) -> show.Blocks:
    """What the law leaves in other runs, by how the joints move."""
    record = getattr(found.servo, "fit", None)
    if record is None or record.size is None:
        return
    size = record.size
    yield show.Table.of(
        "size",
        name=(found.robot.joint_names, "left in other runs"),
        rest_rad=(size.rest, "at rest", MILLIRADIANS),
        per_speed_s=(size.speed, "per rad/s", MILLIRADIANS),
        per_acceleration_s2=(size.acceleration, "per rad/s²", MILLIRADIANS),
    )
    factor = float(np.exp(size.width))
    yield show.Text(
        "Root mean squares, by those of speed and acceleration. The error of a whole run is known "
        f"to a factor of {factor:.2g} (90 % interval)."
    )


def _path(found: ServoIdentification) -> show.Blocks:
    path = found.evaluation.path
    left = (path.lateral_left, path.vertical_left)
    yield show.Table.of(
        direction=(("lateral", "vertical"), "at the flange"),
        error_m=((path.lateral, path.vertical), "error rms", FINE_MILLIMETRES),
        left_m=(left, "residual rms", FINE_MILLIMETRES),
    )
    residuals = {"lateral_left_m": path.lateral_left, "vertical_left_m": path.vertical_left}
    yield show.Data({"path": residuals})


def _servo(found: ServoIdentification) -> show.Blocks:
    """Parameters of each drive with their intervals."""
    yield show.Text(f"Written as servo '{NAME}' of the robot file, for the model's torque.")
    records = [show.rename(vars(row), **KEYS) for row in found.table]
    columns = show.list_columns(
        name="drive",
        structure="law",
        feedback="encoder",
        delay_s=("delay ms", _with_interval("delay", 1e3)),
        kp_1_s=("kp 1/s", _with_interval("kp")),
        ki_1_s2=("ki 1/s²", _with_interval("ki"), show.PAGE_ONLY),
        kv_n_m_s_rad=("kv N m s/rad", _with_interval("kv"), show.PAGE_ONLY),
        ff_gain=("torque gain", _with_interval("ff_gain"), show.PAGE_ONLY),
        encoder_offset_s=("link late", MILLISECONDS, show.PAGE_ONLY),
    )
    yield show.Table(show.keep_filled(columns, records), records, "joints")
    yield show.Text(
        "± half widths of 95 % intervals. kp and ki are over the velocity gain; the torque gain is "
        "speed per motor torque, negative where load makes the drive lag.",
        "soft",
    )


def _with_interval(name: str, scale: float = 1.0) -> show.Wording:
    """Words of a number with its half width."""
    number, key = Number(scale), KEYS.get(name, name)
    return lambda record: number.with_width(record[key], record["interval_95"].get(name))


def _errors(found: ServoIdentification, errors: MeasuredOverTime) -> show.Blocks:
    for j, name in enumerate(found.robot.joint_names):
        share = float(found.share[j])
        if not np.isfinite(share):
            continue
        words = FINE_PERCENT.with_unit(share) if share > 0 else "none"
        caption = f"{name}: {words} of the variance of q_ref - q explained, mean removed."
        yield errors.plot(j, "error", caption)


def _diagnose(found: ServoIdentification) -> Sentences:
    fit = found.fits["model"]  # the servo that is written and whose numbers are shown
    for row, law in zip(found.table, fit.laws, strict=True):
        if reference_delay(law) + law.interval[2 + SPEED] < 0:
            yield (
                f"{row.name} leads its reference by {-1e3 * reference_delay(law):.3g} ms: "
                "over-compensated feed-forward, or a late reference column."
            )
    laws = zip(found.table, fit.laws, strict=True)
    without_feedback = [row.name for row, law in laws if no_position_feedback(law)]
    if without_feedback:
        yield f"{', '.join(without_feedback)}: {NO_FEEDBACK}."
    if len({is_torque_loop(law) for law in fit.laws}) > 1:
        yield (
            "Load makes some drives lag and others lead: all are written as a velocity law, which "
            "takes the model's load but no other."
        )
    if fit.at_rest:
        names = ", ".join(found.table[k].name for k in sorted(fit.at_rest))
        yield f"{names}: at rest in all logs; former numbers are kept, else the others' medians."
    joints = zip(found.robot.joint_names, found.share, found.bandwidth, strict=True)
    for name, share, bandwidth in joints:
        if share < VALIDATED:
            words = f"{100 * share:.0f} %" if share > 0 else "none"
            sentence = (
                f"{name}: {words} of the error explained, below the {100 * VALIDATED:.0f} % of a "
                "validated servo"
            )
            if share < UNRESOLVED:
                sentence += f"; it is stiffer than these logs resolve: at least {bandwidth:.2g} Hz"
            yield f"{sentence}."
