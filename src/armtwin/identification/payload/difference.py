"""The torque of a load along a motion, as rows of a regression in its ten parameters.

    τ_with - τ_without - (τ_arm(q_with) - τ_arm(q_without)) = Y_flange(q_with) φ

Friction, the arm and repeatable errors of the drives are in both runs and cancel. The bracket is
the small difference of the two runs of one motion; only there the robot file's parameters matter.

With the arm held there is no second run:  τ_with - τ_arm(q_with) = Y_flange(q_with) φ.

Two runs of one motion synchronised on one even time grid.

    s = argmin Σ (q_with(t + s) - q_without(t))²

Clocks of logs have unknown zeros. The cross-correlation of the speeds gives the shift to a sample,
Gauss-Newton steps refine it.
"""

from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.estimate import RowNoise, even_blocks
from armtwin.identification.resampling import at_times, step_of
from armtwin.identification.rigid_body.data.clean_log import (
    CleanLog,
    Motion,
    clean_log,
    whole_torque,
)
from armtwin.identification.rigid_body.fit.regression import select_rows
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.cleaning import choices, filter_values
from armtwin.logs.log import Log
from armtwin.logs.rest import SLOW_SHARE, STILL_SHARE
from armtwin.maths.batch import Flags, Floats, Pair, TwoArrays
from armtwin.mechanics.inertia import transform_to_parent
from armtwin.robot.robot import Robot

STEPS = 8
SAME = 0.05  # share of a joint's speed by which the runs of one motion may differ
LEAST_OVERLAP = 0.3  # share of the shorter log that both logs must cover


@dataclass(frozen=True, eq=False)
class SynchronisedRuns:
    """Two runs on one grid.

    Attributes:
        without: The run without, channels q and tau (a torque or a current).
        with_it: The run with it, channels and times as those of the run without.
        shift: Time of the run with it less that of the run without [s].
        apart: Root mean square by which the speeds differ, over that of the speed, (n,).
    """

    without: Log
    with_it: Log
    shift: float
    apart: Floats


def synchronise(without: Log, with_it: Log, torques: TwoArrays) -> SynchronisedRuns:
    """Synchronise two runs of one motion.

    Args:
        without: The log without.
        with_it: The log with it.
        torques: Torque or current of both, (m, n) each.
    """
    step = max(step_of(without.time), step_of(with_it.time))
    shift = _shift(without, with_it, step)
    start, stop = _overlap(without, with_it, shift)
    shorter = min(np.ptp(without.time), np.ptp(with_it.time))
    if stop - start < LEAST_OVERLAP * shorter:
        raise ArmtwinError(
            "the runs without and with the payload are of different motions: they share "
            f"{max(stop - start, 0):.3g} s of one motion at best, of {shorter:.3g} s"
        )
    time = np.arange(start, stop, step)
    first = _on(time, without, torques[0])
    second = _on(time + shift, with_it, torques[1])
    apart = _apart(first.q, second.q)
    worst = np.argmax(apart)
    if apart[worst] > SAME:
        raise ArmtwinError(
            "the runs without and with the payload are of different motions: the speeds of joint "
            f"{worst + 1} differ by {100 * apart[worst]:.3g} %, more than {100 * SAME:g} %; log "
            "one program twice"
        )
    return SynchronisedRuns(first, Log(time, second.channels), shift, apart)


def _overlap(without: Log, with_it: Log, shift: float) -> Pair:
    """First and last time of the run without at which both runs are known."""
    first = max(without.time[0], with_it.time[0] - shift)
    return first, min(without.time[-1], with_it.time[-1] - shift)


def _at(time: Floats, log: Log, values: Floats) -> Floats:
    """Values of a log at other times, by cubics between its samples."""
    from scipy.interpolate import CubicSpline

    inside = np.clip(time, log.time[0], log.time[-1])
    return CubicSpline(log.time, values)(inside)


def _on(time: Floats, log: Log, torque: Floats) -> Log:
    straight = at_times(time, log.time, torque)  # noise must not oscillate between samples
    return Log(time, {"q": _at(time, log, log.q), "tau": straight})


def _shift(without: Log, with_it: Log, step: float) -> float:
    """Shift of the clocks [s]."""
    from scipy.signal import fftconvolve

    first = _speeds(without, step)
    second = _speeds(with_it, step)
    size = np.maximum(first.std(axis=0), 1e-12)
    match = np.zeros(len(first) + len(second) - 1)
    for j in range(first.shape[1]):
        match += fftconvolve(second[:, j] / size[j], first[::-1, j] / size[j])
    lag = int(np.argmax(match)) - (len(first) - 1)
    shift = lag * step + with_it.time[0] - without.time[0]
    return _refine_shift(without, with_it, shift, step)


def _speeds(log: Log, step: float) -> Floats:
    """Changes of the positions from step to step, (m, n)."""
    time = np.arange(log.time[0], log.time[-1], step)
    return np.gradient(_at(time, log, log.q), axis=0)


def _refine_shift(without: Log, with_it: Log, shift: float, step: float) -> float:
    """The shift to a small part of a sample."""
    for _ in range(STEPS):
        time = np.arange(*_overlap(without, with_it, shift), step)
        if len(time) < 3:
            return shift
        moved = _at(time + shift, with_it, with_it.q)
        gap = moved - _at(time, without, without.q)
        speed = np.gradient(moved, step, axis=0)
        change = -float((gap * speed).sum() / max((speed**2).sum(), 1e-300))
        shift += float(np.clip(change, -step, step))
        if abs(change) < 1e-4 * step:
            break
    return shift


def _apart(first: Floats, second: Floats) -> Floats:
    """By how much the speeds of two runs differ, over the speeds, (n,)."""
    v = np.gradient(first, axis=0)
    gap = np.gradient(second - first, axis=0)
    smooth = max(3, len(first) // 200)
    window = np.ones(smooth) / smooth
    speed = np.sqrt((v**2).mean(axis=0))
    moving = speed > STILL_SHARE * speed.max(initial=1e-300)
    found = np.zeros(first.shape[1])
    for j in np.flatnonzero(moving):
        rest = np.convolve(gap[:, j], window, mode="same")  # without the encoder's noise
        found[j] = np.sqrt((rest**2).mean()) / speed[j]
    return found


PARTS = 10  # of a run that count as independent of each other
SIZES = np.array([1.0, *[0.1] * 3, *[0.01] * 6])  # of one kilogram at ten centimetres


@dataclass(frozen=True, eq=False)
class LoadRows:
    """Rows of a load's regression.

    Attributes:
        Y: Torque per parameter in the flange's frame, filtered, (m, n, 10).
        target: Torque, or current, that they explain, (m, n).
        arm: Difference of the two runs of the arm, (m, n) [N m].
        used: Which rows count, (m, n).
        independent: Share of the rows that are independent.
        cutoff: Of the filter [Hz].
    """

    Y: Floats
    target: Floats
    arm: Floats
    used: Flags
    independent: float
    cutoff: float

    @property
    def noise(self) -> RowNoise:
        """How the rows err: blocks of the run are independent of each other."""
        return RowNoise(even_blocks([len(self.target)], PARTS), self.independent)


def flange_columns(robot: Robot, motion: Motion) -> Floats:
    """Joint torques per parameter of a body given in the flange's frame, (m, n, 10)."""
    body, X = robot.assembly.frame("flange")
    to_link = np.stack([transform_to_parent(X, unit) for unit in np.eye(10)], axis=1)
    Y = robot.regressor(*motion)
    return Y[:, :, 10 * body : 10 * body + 10] @ to_link


def by_difference(robot: Robot, runs: SynchronisedRuns, cutoff: float | None) -> LoadRows:
    """Rows of the difference of two runs."""
    without = _clean(runs.without, cutoff)
    with_it = _clean(runs.with_it, without.how.cutoff)
    arm = whole_torque(robot, *with_it.motion) - whole_torque(robot, *without.motion)
    moving = _moving(without) & _moving(with_it)
    return _rows(robot, with_it, with_it.clean.tau - without.clean.tau, arm, moving)


def with_arm_held(robot: Robot, with_it: Log, torque: Floats, cutoff: float | None) -> LoadRows:
    """Rows of one run, the arm as in its file."""
    cleaned = _clean(Log(with_it.time, {"q": with_it.q, "tau": torque}), cutoff)
    arm = whole_torque(robot, *cleaned.motion)
    return _rows(robot, cleaned, cleaned.clean.tau, arm, _moving(cleaned))


def _clean(log: Log, cutoff: float | None) -> CleanLog:
    """A run through the filter of a cut-off, by default that of the spectrum of its speeds."""
    bare = Log(log.time, {"q": log.q})
    return clean_log(bare, cutoff or choices(bare).cutoff, Recipe(), log.tau)


def _moving(log: CleanLog) -> Flags:
    speed = np.abs(log.clean.v)
    return speed >= SLOW_SHARE * speed.max(axis=0)


def _rows(robot: Robot, log: CleanLog, target: Floats, arm: Floats, moving: Flags) -> LoadRows:
    how = log.how
    here = select_rows(log)
    if not moving[here].any():
        raise ArmtwinError("no joint moves in the run with the payload, so it is not identifiable")
    return LoadRows(
        Y=log.filter_columns(flange_columns(robot, log.motion))[here],
        target=target[here],
        arm=filter_values(arm, how)[here],
        used=moving[here],
        independent=min(1.0, 2 * how.cutoff * how.step / how.rate),
        cutoff=how.cutoff,
    )
