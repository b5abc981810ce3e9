"""Stretches of constant speed in a log: staircases and trapezoids of the speed.

A speed is constant over the longest stretch in which it stays within a band about its mean; both
ends of a stretch are cut, where the torque still settles.

Friction curves from slow motion back and forth over the same positions, as a slow sine.

    friction = (τ_there(q) - τ_back(q)) / 2,    speed = (v_there(q) - v_back(q)) / 2

At one position gravity is the same in both directions; so is inertia, as the acceleration of an
even motion back and forth depends on the position. The rest changes sign with the speed: friction.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.identification.plausibility.suspect import refuse_torque_mistakes
from armtwin.identification.resampling import rate_of, runs_of
from armtwin.logs.joints import in_order_of, needs_gains, torque_channel, torque_or_current
from armtwin.logs.log import Log, as_logs
from armtwin.logs.rest import SLOW_SHARE
from armtwin.maths.batch import Flags, Floats, TwoArrays
from armtwin.maths.smoothing import low_pass
from armtwin.robot.robot import Robot

BAND = 0.05  # about its mean in which a speed is constant
CREEP_TRAVEL = 2e-3  # travel in a plateau above which a joint is not at rest [rad]
STEADY = 0.25  # of its speed by which a joint that creeps may differ from it
SHORTEST = 0.2  # duration of a plateau [s]
SETTLING = 0.15  # share of a plateau that is cut at each end
SMOOTH = 20.0  # cut-off of speeds [Hz]
FEWEST, APART = 3, 0.1  # different speeds of a joint, and how far they differ at least
DRIFT = 0.5  # of the band that a speed may drift from one end of a plateau to the other


def curves_of_logs(
    robot: Robot, logs: Log | Sequence[Log], torque: str | None = None
) -> FrictionCurves:
    """Mean torques of the plateaus of logs.

    Args:
        robot: The robot; its file gives the gravity torque at the logged positions.
        logs: Logs with positions and a torque or a current.
        torque: Channel of the torque; by default tau, else tau_m, else current.
    """
    given = as_logs(logs, "curves_of_logs")
    parts = [_of_log(robot, in_order_of(log, robot.joint_names), torque) for log in given]
    curves = FrictionCurves.join(*parts)
    _refuse_few_speeds(curves)
    refuse_torque_mistakes(robot, given, torque)
    return curves


def _refuse_few_speeds(curves: FrictionCurves) -> None:
    """Refuse joints of one or two speeds: the crests of a wave look like plateaus."""
    for j in np.unique(curves.joint):
        speeds = np.sort(np.abs(curves.speed[curves.joint == j]))
        different = 1 + int((np.diff(np.log(speeds)) > APART).sum())
        if different < FEWEST:
            raise ArmtwinError(
                f"{curves.joint_names[j]}: a friction curve needs {FEWEST} or more constant "
                f"speeds, got {different}, about {np.median(speeds):.3g} rad/s; log a staircase or "
                "trapezoids of the speed, or use --sweep for slow motion back and forth"
            )


def smooth_speeds(log: Log) -> Floats:
    """Joint speeds (m, n) [rad/s], logged or by the positions."""
    rate = rate_of(log.time)
    v = log.v if "v" in log else np.gradient(log.q, log.time, axis=0)
    return low_pass(v, rate, SMOOTH) if rate > 4 * SMOOTH else v


def _of_log(robot: Robot, log: Log, torque: str | None) -> FrictionCurves:
    name = log.origin or "the log"
    source = torque_channel(log, torque)
    tau = torque_or_current(robot, log, source)
    _check_motion(robot, log, name)
    v = smooth_speeds(log)
    rows = []
    for number, inside in enumerate(_plateaus(log.time, v)):
        rows += list(_rows(robot, log, v, tau, inside, number))
    if not rows:
        raise ArmtwinError(
            f"{name}: no stretch of {SHORTEST:g} s or more has a constant speed within "
            f"{100 * BAND:g} %; friction curves need a staircase or trapezoids of the speed, or, "
            "for slow motion back and forth over the same positions, --sweep"
        )
    joint, plateau, speeds, numbers = (list(column) for column in zip(*rows, strict=True))
    mean, weight, warm = np.array(numbers).T
    try:
        curves = FrictionCurves.of(
            robot.joint_names, joint, np.array(speeds), mean, temperature=warm
        )
    except ArmtwinError as error:
        raise ArmtwinError(f"{name}: {error}") from None
    return replace(
        curves,
        weight=weight,
        plateau=np.array(plateau, dtype=np.int64),
        unit="A" if needs_gains(robot, source) else "N m",
        origin=log.origin,
    )


def _check_motion(robot: Robot, log: Log, name: str) -> None:
    if "q" not in log:
        raise ArmtwinError(f"{name}: friction curves need joint positions q")
    if log.q.shape[1] != robot.n:
        got = log.q.shape[1]
        raise ArmtwinError(f"{name}: q must have {robot.n} columns, one for each joint, got {got}")
    if not np.ptp(log.q, axis=0).any():
        raise ArmtwinError(f"{name}: no joint moves, so friction is not identifiable")


def _plateaus(time: Floats, v: Floats) -> Iterator[slice]:
    """The inner part of each stretch in which all speeds are constant for long enough."""
    slack = SLOW_SHARE * float(np.abs(v).max())
    for first, last in runs_of(_calm(time, v, slack)):
        cut = int(SETTLING * (last - first))
        inside = slice(first + cut, last - cut)
        if _is_constant(time[inside], v[inside], slack):
            yield inside


def _calm(time: Floats, v: Floats, slack: float) -> Flags:
    """Samples at which a joint moves and none would leave its band within a plateau, (m,)."""
    changing = np.abs(np.diff(v, axis=0)) / np.diff(time)[:, None]
    largest = np.maximum(BAND * np.abs(v[:-1]), slack)
    steady = (changing * SHORTEST < 2 * largest).all(axis=1)
    moving = (np.abs(v) > slack).any(axis=1)
    return np.append(steady, False) & moving


def _is_constant(time: Floats, v: Floats, slack: float) -> bool:
    """Whether speeds (m, n) stay within a band about their mean for long enough."""
    if len(time) < 3 or np.ptp(time) < SHORTEST * (1 - 2 * SETTLING):
        return False
    mean = v.mean(axis=0)
    band = np.maximum(BAND * np.abs(mean), 0.5 * slack)
    half = len(v) // 2
    drift = np.abs(v[half:].mean(axis=0) - v[:half].mean(axis=0))
    apart = np.abs(v - mean).mean(axis=0)
    return bool(((apart < band) & (drift < DRIFT * band)).all())


def _rows(
    robot: Robot, log: Log, v: Floats, tau: Floats, inside: slice, number: int
) -> Iterator[tuple[int, int, Floats, list[float]]]:
    """Joint, plateau, speeds, and torque, weight and temperature of each joint that moves."""
    speeds = v[inside].mean(axis=0)
    slack = SLOW_SHARE * float(np.abs(v).max())
    q = log.q[inside]
    travel = np.abs(q[-1] - q[0])
    apart = np.abs(v[inside] - speeds).mean(axis=0)
    elsewhere = np.abs(v).max(axis=0) > slack  # one that never moves but drifts
    creeps = elsewhere & (travel > CREEP_TRAVEL) & (apart < STEADY * np.abs(speeds))
    speeds = np.where((np.abs(speeds) > slack) | creeps, speeds, 0.0)
    weight = robot.gravity(q).mean(axis=0)
    for j in np.flatnonzero(speeds).tolist():
        warm = np.nan
        if "temperature" in log and j < log.temperature.shape[1]:
            warm = float(log.temperature[inside, j].mean())
        yield j, number, speeds, [float(tau[inside, j].mean()), float(weight[j]), warm]


ALONE = 0.1  # of the moving joint's speed that others may have
ALIKE = 0.1  # of the fastest speed by which both directions may differ at a position
PLACES = 2000  # positions along a half-cycle
BINS = 16  # speeds of a curve
LEAST_TRAVEL = 0.5  # of the longest travel that a half-cycle must have


def curves_of_sweeps(
    robot: Robot, logs: Log | Sequence[Log], torque: str | None = None
) -> FrictionCurves:
    """Friction over speed from logs in which one joint moves back and forth.

    Args:
        robot: The robot.
        logs: Logs with positions and a torque or a current.
        torque: Channel of the torque; by default tau, else tau_m, else current.
    """
    given = as_logs(logs, "curves_of_sweeps")
    parts = [_of_sweep(robot, in_order_of(log, robot.joint_names), torque) for log in given]
    return FrictionCurves.join(*parts)


def _of_sweep(robot: Robot, log: Log, torque: str | None) -> FrictionCurves:
    name = log.origin or "the log"
    source = torque_channel(log, torque)
    tau = torque_or_current(robot, log, source)
    v = smooth_speeds(log)
    travel = np.abs(np.diff(log.q, axis=0)).sum(axis=0)
    j = int(np.argmax(travel))
    half_cycles = list(_half_cycles(log, v, j))
    found: list[Floats] = []
    for one, other in itertools.pairwise(half_cycles):
        found += _halves(log.q[:, j], v[:, j], tau[:, j], one, other)
    if not found:
        raise ArmtwinError(
            f"{name}: {robot.joint_names[j]} does not move back and forth over the same positions "
            "with the others at rest; friction is half the difference of the directions"
        )
    speed, friction, weight = np.array(found).T
    rows = len(found)
    return replace(
        FrictionCurves.of(robot.joint_names, [j] * rows, speed, friction),
        weight=weight,
        plateau=np.arange(rows),
        unit="A" if needs_gains(robot, source) else "N m",
        origin=log.origin,
        bare=True,
    )


def _half_cycles(log: Log, v: Floats, j: int) -> Iterator[slice]:
    """Stretches in which joint j moves in one direction and the others are at rest."""
    others = np.delete(np.abs(v), j, axis=1).max(axis=1, initial=0.0)
    fastest = np.quantile(np.abs(v[:, j]), 0.99)
    alone = others < ALONE * fastest
    sign = np.where(alone, np.sign(v[:, j]), 0.0)
    edges = np.flatnonzero(np.diff(sign)) + 1
    stretches = [slice(int(a), int(b)) for a, b in itertools.pairwise(edges)]
    lengths = [float(np.ptp(log.q[one, j])) if one.stop > one.start else 0.0 for one in stretches]
    longest = max(lengths, default=0.0)
    for one, length in zip(stretches, lengths, strict=True):
        if length > LEAST_TRAVEL * longest > 0 and sign[one].any():
            yield one


def _halves(q: Floats, v: Floats, tau: Floats, one: slice, other: slice) -> Iterator[Floats]:
    """Speed, friction and weight in bins of the speed from forward and backward motion."""
    low = max(q[one].min(), q[other].min())
    high = min(q[one].max(), q[other].max())
    if v[one].mean() * v[other].mean() >= 0 or high <= low:
        return
    places = np.linspace(low, high, PLACES)
    there, back = _along(q, v, tau, one, places), _along(q, v, tau, other, places)
    if v[one].mean() < 0:
        there, back = back, there
    fastest = max(there[0].max(), -back[0].min())
    speed = 0.5 * (there[0] - back[0])
    alike = np.abs(there[0] + back[0]) < ALIKE * fastest
    every = (speed, 0.5 * (there[1] - back[1]), 0.5 * (there[1] + back[1]))
    edges = np.geomspace(SLOW_SHARE * fastest, fastest, BINS + 1)
    for low_edge, high_edge in itertools.pairwise(edges):
        inside = alike & (speed >= low_edge) & (speed < high_edge)
        if inside.any():
            yield np.array([values[inside].mean() for values in every])


def _along(q: Floats, v: Floats, tau: Floats, half_cycle: slice, places: Floats) -> TwoArrays:
    """Speed and torque of a half-cycle at positions."""
    order = np.argsort(q[half_cycle])
    x = q[half_cycle][order]
    return np.interp(places, x, v[half_cycle][order]), np.interp(places, x, tau[half_cycle][order])
