"""The servo of a robot from its logs: the law of each drive, judged, as a servo of its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.servo.checks import check_servo_logs
from armtwin.identification.servo.estimator import (
    TIME_CONSTANTS,
    is_torque_loop,
    no_position_feedback,
)
from armtwin.identification.servo.gains import fitted_servo, reference_delay, velocity_gain
from armtwin.identification.servo.judgement import Judgement, judged, judged_on_left_out
from armtwin.identification.servo.servo_fit import ServoFit, fit_servo
from armtwin.identification.servo.signals import Signals, signals
from armtwin.identification.servo.structure import LOAD, SPEED, TERMS
from armtwin.logs.joint_order import in_order_of
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.notebook import cards
from armtwin.notebook.figures import Panel, draw_panels
from armtwin.robot.robot import Robot
from armtwin.robot.servo import Servo
from armtwin.robot.servo_fit import Fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "fitted"
VALIDATED = 0.8  # share of variance below which a servo is not validated
STANDING = "no position feedback seen, offsets drift"

Feedforward = Literal["logged", "model"]


@dataclass(frozen=True)
class ServoRow:
    """The servo of one drive.

    Attributes:
        name: Name of the drive.
        structure: "torque loop" or "velocity law", with its terms.
        feedback: Encoder of the position loop, "motor" or "link".
        delay: Lateness of the reference; negative where the drive leads it [s].
        kp: Position gain over velocity gain [1/s].
        ki: Integral gain over velocity gain [1/s²].
        ff_gain: Speed per torque that is fed forward; of a torque loop -1/k_v [rad/(N m s)].
        encoder_offset: Lateness of the link encoder behind the motor's; None without one [s].
        kv: Velocity gain of a torque loop, None of a velocity law [N m s/rad].
        interval: Half widths of 90 % of the numbers, by their names.
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
    interval: dict[str, float]


@dataclass(frozen=True, eq=False)
class ServoIdentification:
    """A servo from logs.

    Attributes:
        robot: The robot with the servo in its file, as `fitted`.
        feedforward: Torque of the judgement: "logged", or "model" where logs have none.
        judgement: What the laws are worth with that torque.
        twin: What the servo in the robot file is worth, whose torque is the model's.
        fits: The laws by where their torque came from.
        table: The servo of each drive, of the robot file.
        sample: Time between samples of the logs [s].
        logs: Names of the logs it was fitted to.
    """

    robot: Robot
    feedforward: Feedforward
    judgement: Judgement
    twin: Judgement
    fits: dict[str, ServoFit]
    table: tuple[ServoRow, ...]
    sample: float
    logs: tuple[str, ...]

    @property
    def servo(self) -> Servo:
        """The servo in the robot file."""
        return self.robot.description.servo[NAME]

    @property
    def share(self) -> Floats:
        """Share of the variance of q_ref - q that is explained where it was judged, (n,)."""
        return self.judgement.share

    @property
    def validated(self) -> bool:
        """Whether each joint's error is explained well enough to rely on."""
        return bool((self.share >= VALIDATED).all())

    @property
    def findings(self) -> tuple[str, ...]:
        """What should make one wary, one sentence each."""
        return tuple(_findings(self))

    def predict(self, log: Log) -> Floats:
        """The error q_ref - q of every joint on a log's reference, but for constants, (m, n).

        The torque is the logged one where the log has it and the fit used it, else the model's.
        """
        ordered = in_order_of(log, self.robot.joint_names)
        known = signals(self.robot, _with_positions(ordered), _name(log, 0))
        fit = self.fits["model"]
        if known.logged is not None and "logged" in self.fits:
            fit = self.fits["logged"]
        at_signals = fit.predicted(known)
        times = ordered.time - ordered.time[0]
        columns = [np.interp(times, known.time, column) for column in at_signals.T]
        return np.stack(columns, axis=1)

    def __repr__(self) -> str:
        worst = int(np.argmin(self.share))
        least = f"{100 * self.share[worst]:.1f} % of {self.robot.joint_names[worst]} explained"
        where = ", ".join(self.judgement.judged_on)
        return cards.line("ServoIdentification", f"{self.robot.name!r}: at least {least}", where)

    def _repr_html_(self) -> str:
        rows = []
        for row in self.table:
            delay = f"{1e3 * row.delay:.3g} ms"
            rows.append((row.name, row.structure, row.feedback, delay, f"{row.kp:.3g} 1/s"))
        return cards.table(repr(self), rows, ("drive", "structure", "encoder", "delay", "kp"))

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw measured and predicted error of each joint over time.

        Args:
            axes: One for each joint; new ones where none are given.
        """
        judgement = self.judgement
        panels = []
        for j, name in enumerate(self.robot.joint_names):
            lines = {
                "measured": 1e3 * judgement.measured[:, j],
                "predicted": 1e3 * judgement.predicted[:, j],
            }
            panels.append(Panel(f"{name} [mrad]", lines))
        return draw_panels(judgement.time, "time [s]", panels, axes)


def identify_servo(
    robot: Robot,
    logs: Sequence[Log] | Log,
    validate: Sequence[Log] | Log | None = None,
    *,
    payloads: Sequence[str | None] | None = None,
    feedforward: Feedforward | None = None,
) -> ServoIdentification:
    """Fit the servo of a robot to logs of its reference and of its motion.

    Structure and terms are chosen on parts of the logs that are left out; the error of each drive
    is explained from its reference alone.

    Args:
        robot: The robot as it was when logged, with its payload.
        logs: One or more logs with q_ref and q, of one servo.
        validate: Logs that the fit does not see, on which it is judged; without any it is judged
            on left-out parts.
        payloads: For each of the logs the payload of the robot file that it carried, where they
            differ.
        feedforward: "logged" takes the torque that was fed forward from tau_m_ff or tau_ff of the
            logs, "model" from the robot's dynamics and friction on q_ref, where torque loops
            bear the friction of the motion that they make; by default the logged one where all
            logs have it.
    """
    given = [logs] if isinstance(logs, Log) else list(logs)
    unseen = [] if validate is None else [validate] if isinstance(validate, Log) else list(validate)
    names = [_name(log, k) for k, log in enumerate(given)]
    given = [_ordered(robot, log) for log in given]
    check_servo_logs(robot, given, names)
    unseen_names = [_name(log, k + len(given)) for k, log in enumerate(unseen)]
    unseen = [_ordered(robot, log) for log in unseen]
    if unseen:
        check_servo_logs(robot, unseen, unseen_names)
    carrying = _loaded(robot, len(given), payloads)
    fitted = [signals(r, x, n) for r, x, n in zip(carrying, given, names, strict=True)]
    runs = [signals(carrying[0], x, n) for x, n in zip(unseen, unseen_names, strict=True)]
    source = _source(fitted, runs, feedforward)
    fits = {}
    if source == "logged":  # the torque that the servo was given tells its structure best
        fits["logged"] = fit_servo(robot, fitted, "logged")
    fits["model"] = fit_servo(robot, fitted, "model", fits.get("logged"))
    judgements = {}
    for name, fit in fits.items():
        judgements[name] = (
            judged(robot, fit, runs) if runs else judged_on_left_out(robot, fit, fitted)
        )
    return _result(robot, fitted, fits, judgements, source)


def _ordered(robot: Robot, log: Log) -> Log:
    return in_order_of(log, robot.joint_names)


def _with_positions(log: Log) -> Log:
    """A log that has a reference alone, with it in place of the measurement."""
    if "q" in log:
        return log
    return replace(log, channels={**log.channels, "q": log.q_ref})


def _name(log: Log, k: int) -> str:
    return Path(log.origin).name if log.origin else f"log {k + 1}"


def _loaded(robot: Robot, count: int, payloads: Sequence[str | None] | None) -> list[Robot]:
    """The robot as it was in each log."""
    if payloads is None:
        return [robot] * count
    if len(payloads) != count:
        raise ArmtwinError(f"payloads must have one for each of {count} logs, got {len(payloads)}")
    return [robot.with_payload(payload) for payload in payloads]


def _source(
    fitted: Sequence[Signals], runs: Sequence[Signals], asked: Feedforward | None
) -> Feedforward:
    """Where the torque of the judgement comes from."""
    lacking = [log.name for log in (*fitted, *runs) if log.logged is None]
    if asked == "logged" and lacking:
        raise ArmtwinError(
            f"{lacking[0]}: must have tau_m_ff or tau_ff for feedforward = 'logged'; use 'model'"
        )
    if asked not in (None, "logged", "model"):
        raise ArmtwinError(f"feedforward must be 'logged' or 'model', got '{asked}'")
    if asked is None:
        return "model" if lacking else "logged"
    return asked


def _result(
    robot: Robot,
    logs: Sequence[Signals],
    fits: dict[str, ServoFit],
    judgements: dict[str, Judgement],
    source: Feedforward,
) -> ServoIdentification:
    fit, twin = fits["model"], judgements["model"]
    inertia = np.mean([log.inertia for log in logs], axis=0)
    sample = float(np.median([log.sample for log in logs]))
    seen = sum(float(log.time[-1]) for log in logs)
    rows = tuple(_rows(robot, fit, (sample, seen)))
    names = tuple(log.name for log in logs)
    basis = Fit(
        logs=names,
        judged_on=twin.judged_on,
        share=tuple(float(x) for x in np.round(twin.share, 4)),
        residual=tuple(float(f"{x:.4g}") for x in twin.left),
        feedforward="model",
        duration=round(max(float(log.time[-1]) for log in logs), 3),
        interval=_intervals(rows),
    )
    servo = fitted_servo(fit.laws, inertia, sample, basis)
    description = replace(robot.description, servo={**robot.description.servo, NAME: servo})
    return ServoIdentification(
        robot=robot.with_description(description),
        feedforward=source,
        judgement=judgements[source],
        twin=twin,
        fits=fits,
        table=rows,
        sample=sample,
        logs=names,
    )


def _rows(robot: Robot, fit: ServoFit, times: tuple[float, float]) -> Iterator[ServoRow]:
    """The servo of each drive; times are those between samples, and of all logs together [s]."""
    sample, seen = times
    for motor, law in zip(robot.description.motor, fit.laws, strict=True):
        torque = is_torque_loop(law)
        words = [TERMS[term] for term in law.terms if term not in (LOAD, SPEED)]
        kind = "torque loop" if torque else "velocity law"
        if torque and law.poles.p0 > 0:
            kind = "torque loop with integral"
        structure = ", ".join([kind, *words])
        half = dict(zip(("kp", "ki", *TERMS), law.interval.tolist(), strict=True))
        interval = {
            "delay": half["speed"] + half["delay"],
            "kp": max(half["kp"], _slower_alike(law.poles.p1, seen)),
            "ki": half["ki"],
            "ff_gain": half["load"],
        }
        gain = None
        if torque:
            gain = velocity_gain(law)
            relative = half["load"] / law.coefficient(LOAD)
            # A delay δ in the loop, too short for the log to tell, takes δ k_p from k_v and δ k_i
            # from k_p: k_p / k_v moves by δ p1² or by δ p0, one against the other.
            interval["kv"] = gain * (relative + sample * law.poles.p1)
            interval["kp"] += sample * max(law.poles.p1**2, law.poles.p0)
        yield ServoRow(
            name=motor.name,
            structure=structure,
            feedback=law.side,
            delay=reference_delay(law),
            kp=law.poles.p1,
            ki=law.poles.p0,
            ff_gain=-law.coefficient(LOAD),
            encoder_offset=None if law.offset is None else law.offset.lateness,
            kv=gain,
            interval=interval,
        )


def _slower_alike(p1: float, seen: float) -> float:
    """Half width in which all gains lie that are too slow for logs so long to tell them apart."""
    slowest = TIME_CONSTANTS / seen
    return max(p1, slowest - p1) if p1 < slowest else 0.0


def _intervals(rows: Sequence[ServoRow]) -> dict[str, tuple[float, ...]]:
    """Lower, then upper bounds of 90 % of the numbers of all drives."""
    found = {}
    for name in ("delay", "kp", "ki", "ff_gain"):
        values = np.array([getattr(row, name) for row in rows])
        half = np.array([row.interval[name] for row in rows])
        bounds = np.concatenate([values - half, values + half])
        found[name] = tuple(float(f"{x:.4g}") for x in bounds)
    return found


def _findings(found: ServoIdentification) -> Iterator[str]:
    fit = found.fits["model"]  # the servo that is written and whose numbers are shown
    for row, law in zip(found.table, fit.laws, strict=True):
        if reference_delay(law) + law.interval[2 + SPEED] < 0:
            yield (
                f"{row.name} leads its reference by {-1e3 * reference_delay(law):.3g} ms: "
                "over-compensated feed-forward, or a late reference column."
            )
    standing = []
    for row, law in zip(found.table, fit.laws, strict=True):
        if no_position_feedback(law):
            standing.append(row.name)
    if standing:
        yield f"{', '.join(standing)}: {STANDING}."
    kinds = {is_torque_loop(law) for law in fit.laws}
    if len(kinds) > 1:
        yield (
            "Load lets some drives lag and drives others ahead; all are written as a velocity law, "
            "which has the model's load but no other."
        )
    for name, share in zip(found.robot.joint_names, found.share, strict=True):
        if share < VALIDATED:
            yield (
                f"{name}: {100 * share:.0f} % of the error explained is too little to rely on "
                f"(at least {100 * VALIDATED:.0f} %)."
            )
