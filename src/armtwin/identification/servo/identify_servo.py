"""`identify_servo`: the law of each drive from logs, validated, as a servo of the robot file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from armtwin.errors import ArmtwinError, blame
from armtwin.files.hypothesis import strongest
from armtwin.identification.fitting.estimate import student
from armtwin.identification.plausibility.suspect import refuse_joint_torque_mistakes
from armtwin.identification.rigid_body.data.log_checks import check_positions, refuse_duplicates
from armtwin.identification.servo import evaluation, fed_forward, gains as servo_gains, servo_fit
from armtwin.identification.servo.estimator import (
    TIME_CONSTANTS,
    is_of_reference,
    is_torque_loop,
)
from armtwin.identification.servo.result import NAME, Feedforward, ServoIdentification, ServoRow
from armtwin.identification.servo.signals import PARTS, Signals, extract_signals
from armtwin.identification.servo.structure import LOAD, SPEED, TERMS
from armtwin.logs.joints import in_order_of
from armtwin.logs.log import Log, as_logs
from armtwin.logs.reference_plausibility import reference_hypotheses
from armtwin.maths.batch import Floats, Pair, Values
from armtwin.robot.defaults.assumed_drives import with_assumed_drives
from armtwin.robot.robot import Robot
from armtwin.robot.schema.servo import ControllerModel, ServoFitRecord

IN_FILE = 0.9  # confidence level of intervals in a robot file, that of a predicted path error
WIDEST = 1e9  # bound of an interval in a robot file, beyond all gains of servos
LEAST_SHARE = -1e3  # of a variance explained, as it is written
LEAST_SAMPLES = 100
NOT_SHOWN = 0.5  # half width, relative, of a position gain that logs do not show


def check_servo_logs(robot: Robot, logs: Sequence[Log], names: Sequence[str]) -> None:
    """Refuse logs from which no servo is identifiable."""
    if not logs:
        raise ArmtwinError("at least one log with q_ref is needed to fit a servo")
    _check_drives(robot)
    for log, name in zip(logs, names, strict=True):
        _check_log(robot, log, name)
        with blame(name):
            refuse_joint_torque_mistakes(robot, log)
    _check_motion(logs, names)
    refuse_duplicates(logs, names)


def _check_drives(robot: Robot) -> None:
    motors, joints = len(robot.description.motor), robot.n
    if robot.description.hydraulic or motors != joints:
        raise ArmtwinError(
            f"robot '{robot.name}': a servo is fitted to {joints} joints with as many motors, got "
            f"{motors} motors; `armtwin complete` gives a robot what it lacks"
        )


def _check_log(robot: Robot, log: Log, name: str) -> None:
    if "q_ref" not in log:
        held = ", ".join(log.channels)
        raise ArmtwinError(
            f"{name}: must have q_ref, the reference that the servo was given, beside q; it has "
            f"{held}. Without it no servo is identifiable"
        )
    if "q" not in log:
        raise ArmtwinError(f"{name}: must have q, the measured positions, beside q_ref")
    if log.q.shape != log.q_ref.shape:
        raise ArmtwinError(
            f"{name}: q and q_ref must have as many columns, got {log.q.shape[1]} and "
            f"{log.q_ref.shape[1]}"
        )
    if log.q.shape[1] == robot.n:
        mistakes = reference_hypotheses(log.time, log.q, log.q_ref, robot.joint_names)
        mistake = strongest(mistakes)
        if mistake is not None:
            raise ArmtwinError(f"{name}: {mistake.sentence}")
    for channel in ("q", "q_ref"):
        check_positions(robot, log, channel, name)
    if len(log.time) < LEAST_SAMPLES:
        raise ArmtwinError(
            f"{name}: must have at least {LEAST_SAMPLES} samples to fit a servo, "
            f"got {len(log.time)}"
        )


def _check_motion(logs: Sequence[Log], names: Sequence[str]) -> None:
    """Refuse logs in which no joint moves."""
    if max(float(np.ptp(log.q_ref, axis=0).max()) for log in logs) <= servo_fit.LEAST_TRAVEL:
        where = names[0] if len(names) == 1 else "any of the logs"
        raise ArmtwinError(
            f"no joint moves by {1e3 * servo_fit.LEAST_TRAVEL:g} mrad in {where}, so no servo is "
            "identifiable; log a motion"
        )


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
        validate: Unseen logs on which the fit is evaluated; without any it is evaluated on left-out
            parts.
        payloads: For each of the logs the payload of the robot file that it carried, where they
            differ.
        feedforward: "logged" takes the torque that was fed forward from tau_m_ff or tau_ff of the
            logs, "model" from the robot's dynamics and friction on q_ref, where torque loops
            have the friction of their own motion; by default the logged one where all logs have
            it.
    """
    called = "identify_servo"
    if not robot.description.motor and not robot.description.hydraulic:
        robot = with_assumed_drives(robot)
    given, names = _checked(robot, as_logs(logs, called), 1)
    others = () if validate is None else as_logs(validate, called, least=0)
    unseen, unseen_names = _checked(robot, others, 1 + len(given)) if others else ([], [])
    carrying = _robots_with_payloads(robot, len(given), payloads)
    fitted = [extract_signals(r, x, n) for r, x, n in zip(carrying, given, names, strict=True)]
    runs = [extract_signals(carrying[0], x, n) for x, n in zip(unseen, unseen_names, strict=True)]
    source = _source(fitted, runs, feedforward)
    fits, evaluations = {}, {}
    if source == "logged":  # the torque that the servo used identifies its structure best
        fits["logged"] = servo_fit.fit_servo(robot, fitted, "logged")
        evaluations["logged"] = evaluation.evaluate_on(
            robot, fits["logged"], [fitted] * PARTS, runs
        )
    logged = fits.get("logged")
    if logged is None or servo_fit.is_all_torque_loops(logged):
        fits["model"], model = _choose_model(carrying, fitted, logged)
        without = [_with_torque(carrying, fitted, model)] * PARTS
    else:
        known = fed_forward.collect_logged_torque(carrying, fitted)
        fits["model"], model = (
            replace(logged, feedforward="model"),
            fed_forward.fit_controller_model(known),
        )
        without = []
        for part in range(PARTS):
            other = fed_forward.fit_controller_model(known, part)
            without.append(_with_torque(carrying, fitted, other))
    seen = [fed_forward.with_model_torque(carrying[0], run, model) for run in runs]
    evaluations["model"] = evaluation.evaluate_on(robot, fits["model"], without, seen)
    return _result(robot, without, fits, evaluations, model)


def _choose_model(
    robots: Sequence[Robot], logs: Sequence[Signals], like: servo_fit.ServoFit | None
) -> tuple[servo_fit.ServoFit, ControllerModel | None]:
    """The fit whose feed-forward explains left-out parts best, with the controller's model.

    Torque loops carry the load of their own motion, so that no other model than the robot's is
    theirs.
    """
    robot = robots[0]
    best, chosen, least = None, None, np.inf
    for model in fed_forward.list_models(robot, logs):
        seen = _with_torque(robots, logs, model)
        fit = servo_fit.fit_servo(robot, seen, "model", like)
        if best is not None and servo_fit.is_all_torque_loops(fit):
            continue
        error = servo_fit.cross_validation_error(fit, seen)
        if best is None or error < least:
            best, chosen, least = fit, model, error
        if servo_fit.is_all_torque_loops(fit):
            break
    assert best is not None
    return best, chosen


def _with_torque(
    robots: Sequence[Robot], logs: Sequence[Signals], model: ControllerModel | None
) -> list[Signals]:
    """Logs with the torque that a controller's model would have fed forward."""
    pairs = zip(robots, logs, strict=True)
    return [fed_forward.with_model_torque(robot, log, model) for robot, log in pairs]


def _checked(robot: Robot, logs: Sequence[Log], first: int) -> tuple[list[Log], list[str]]:
    """Logs in the order of the robot's joints, and their names or numbers."""
    ordered = [in_order_of(log, robot.joint_names) for log in logs]
    names = []
    for k, log in enumerate(ordered, first):
        names.append(Path(log.origin).name if log.origin else f"log {k}")
    check_servo_logs(robot, ordered, names)
    return ordered, names


def _robots_with_payloads(
    robot: Robot, count: int, payloads: Sequence[str | None] | None
) -> list[Robot]:
    """The robot as it was in each log."""
    if payloads is None:
        return [robot] * count
    if len(payloads) != count:
        raise ArmtwinError(f"payloads must have one for each of {count} logs, got {len(payloads)}")
    return [robot.with_payload(payload) for payload in payloads]


def _source(
    fitted: Sequence[Signals], runs: Sequence[Signals], asked: Feedforward | None
) -> Feedforward:
    """Where the torque of the evaluation comes from."""
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
    without: Sequence[Sequence[Signals]],
    fits: dict[str, servo_fit.ServoFit],
    evaluations: dict[str, evaluation.ServoEvaluation],
    model: ControllerModel | None = None,
) -> ServoIdentification:
    fit, written, logs = fits["model"], evaluations["model"], without[0]
    inertia = np.mean([log.inertia for log in logs], axis=0)
    sample = float(np.median([log.sample for log in logs]))
    seen = sum(float(log.time[-1]) for log in logs)
    rows = tuple(_rows(robot, fit, (sample, seen)))
    names = tuple(log.name for log in logs)
    basis = ServoFitRecord(
        logs=names,
        judged_on=written.judged_on,
        share=_written_shares(written.share),
        residual=tuple(float(f"{x:.4g}") for x in written.left),
        feedforward="model",
        duration=round(max(float(log.time[-1]) for log in logs), 3),
        interval=_intervals(rows),
        at_rest=tuple(robot.description.motor[k].name for k in sorted(fit.at_rest)),
        size=evaluation.estimate_error_size(fit, without),
    )
    servo = servo_gains.build_servo(fit.laws, inertia, sample, basis, model)
    servo = servo_gains.keep_former(servo, robot.description.servo.get(NAME), fit.at_rest)
    description = replace(robot.description, servo={**robot.description.servo, NAME: servo})
    return ServoIdentification(
        robot=robot.with_description(description),
        evaluation=written,
        with_logged_torque=evaluations.get("logged"),
        fits=fits,
        table=rows,
        bandwidth=_least_bandwidth(fit, logs),
        sample=sample,
        logs=names,
    )


def _written_shares(share: Floats) -> Values:
    """Shares as a file has them: bounded below, and 1 of a joint at rest, which needs no law."""
    bounded = np.clip(np.nan_to_num(share, nan=1.0), LEAST_SHARE, 1.0)
    return tuple(float(x) for x in np.round(bounded, 4))


def _least_bandwidth(fit: servo_fit.ServoFit, logs: Sequence[Signals]) -> Floats:
    """Bandwidth √(rms a_ref / rms e) / 2π of a position loop with errors as logged, (n,) [Hz]."""
    a = np.concatenate([log.a @ fit.inverse.T for log in logs])
    error = np.concatenate([log.error - log.error.mean(axis=0) for log in logs]) @ fit.inverse.T
    sizes = np.sqrt((a**2).mean(axis=0)), np.sqrt((error**2).mean(axis=0))
    return np.asarray(np.sqrt(sizes[0] / np.maximum(sizes[1], 1e-12)) / (2 * np.pi))


def _rows(robot: Robot, fit: servo_fit.ServoFit, times: Pair) -> Iterator[ServoRow]:
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
            "kp": max(half["kp"], _slow_gain_width(law.poles.p1, seen)),
            "ki": half["ki"],
            "ff_gain": half["load"],
        }
        if is_of_reference(law):
            interval["kp"] = NOT_SHOWN * servo_gains.position_gain(law)
        gain = None
        if torque:
            gain = servo_gains.velocity_gain(law)
            relative = half["load"] / law.coefficient(LOAD)
            # A delay δ in the loop, shorter than a sample, takes δ k_p from k_v and δ k_i from k_p:
            # k_p / k_v moves by δ p1² or by δ p0, one against the other.
            interval["kv"] = gain * (relative + sample * law.poles.p1)
            interval["kp"] += sample * max(law.poles.p1**2, law.poles.p0)
        yield ServoRow(
            name=motor.name,
            structure=structure,
            feedback=law.side,
            delay=servo_gains.reference_delay(law),
            kp=servo_gains.position_gain(law),
            ki=law.poles.p0,
            ff_gain=-law.coefficient(LOAD),
            encoder_offset=None if law.offset is None else law.offset.lateness,
            kv=gain,
            interval=interval,
        )


def _slow_gain_width(p1: float, seen: float) -> float:
    """Half width that covers all gains too slow to be identifiable from logs of that length."""
    slowest = TIME_CONSTANTS / seen
    return max(p1, slowest - p1) if p1 < slowest else 0.0


def _intervals(rows: Sequence[ServoRow]) -> dict[str, Values]:
    """Lower, then upper bounds of 90 % intervals of all drives, as a robot file has them."""
    narrower = student(np.inf, IN_FILE) / student(np.inf)
    found = {}
    for name in ("delay", "kp", "ki", "ff_gain"):
        values = np.array([getattr(row, name) for row in rows])
        half = narrower * np.array([row.interval[name] for row in rows])
        bounds = np.clip(np.concatenate([values - half, values + half]), -WIDEST, WIDEST)
        found[name] = tuple(float(f"{x:.4g}") for x in bounds)
    return found
