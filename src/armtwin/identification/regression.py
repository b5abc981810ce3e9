"""The regression of a robot's parameters on its logs: Y(q, v, a) φ = τ, both sides through the same filter.

Friction has no sign at rest, and a logged speed has noise. Its columns are therefore the mean over the speeds that the
joint may have had, within a width about the filtered one; far from a reversal that changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from armtwin.identification.recipe import Recipe
from armtwin.logs.averaging import chosen_periods
from armtwin.logs.cleaning import Cleaning, choices, clean, filtered, on_grid, speed_noise
from armtwin.logs.log import Log
from armtwin.logs.outliers import without_outliers
from armtwin.logs.torque import joint_torque, needs_gains, torque_channel
from armtwin.maths.batch import Flags, Floats
from armtwin.robot.robot import Robot

CHUNK = 4000  # samples whose regressor is held at a time
POINTS = 8  # speeds over which friction is averaged near a reversal
_SPREAD = (np.arange(POINTS) + 0.5) / POINTS * 2 - 1


@dataclass(frozen=True, eq=False)
class Block:
    """One log, clean, on an even grid.

    Attributes:
        time: Times, (m,) [s].
        q: Filtered positions, (m, n).
        v: Speeds, (m, n).
        a: Accelerations, (m, n).
        tau: Filtered joint torque, (m, n) [N m], or current [A] where its gain is not known.
        raw: The same without the filter, (m, n).
        noise: Standard deviation of the speeds, (n,) [rad/s].
        how: How the log was cleaned.
        source: Channel that the torque comes from.
    """

    time: Floats
    q: Floats
    v: Floats
    a: Floats
    tau: Floats
    raw: Floats
    noise: Floats
    how: Cleaning
    source: str

    def first(self, samples: int) -> Block:
        """The first samples of it."""
        names = ("time", "q", "v", "a", "tau", "raw")
        return replace(self, **{name: getattr(self, name)[:samples] for name in names})


def block(robot: Robot, log: Log, cutoff: float | None, channel: str | None, recipe: Recipe) -> Block:
    """A log made ready for the regression of a robot."""
    motion = "q" if recipe.motion == "measured" else "q_ref"
    source = torque_channel(log, channel)
    torque = log.channels[source] if needs_gains(robot, source) else joint_torque(robot, log, source)[0]
    bare, replaced = without_outliers(Log.of(log.time, q=getattr(log, motion), tau=torque))
    if recipe.period is not None and recipe.periods is not None:
        bare = chosen_periods(bare, recipe.period, *recipe.periods)
    how = replace(choices(bare, cutoff, recipe.period), replaced=replaced)
    if recipe.rate is not None:
        how = replace(how, step=max(1, round(how.rate / recipe.rate)))
    whole = clean(bare, replace(how, step=1, margin=0))
    m = len(whole.time)
    raw_q, raw = (on_grid(bare.time, x, how)[:m] for x in (bare.q, bare.tau))
    noise = speed_noise(raw_q, whole.q, how)
    return Block(whole.time, whole.q, whole.v, whole.a, whole.tau, raw, noise, how, source)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a regression.

    Attributes:
        Y: Filtered regressor, (k, n, p).
        tau: Filtered torque, (k, n).
        used: Whether a row counts: whether its joint moves, (k, n).
    """

    Y: Floats
    tau: Floats
    used: Flags


def rows(robot: Robot, log: Block, rest: Floats, width: Floats) -> Rows:
    """The rows of a clean log.

    Args:
        robot: The robot.
        log: The clean log.
        rest: Speeds below which a joint counts as standing, (n,) [rad/s].
        width: Half widths of the speeds over which friction is averaged, (n,) [rad/s].
    """
    Y = robot.regressor(log.q, log.v, log.a)
    near = near_reversal(robot, log.v, width)
    if near.any():
        Y[near, :, -robot.friction_regressor(log.v[:1]).shape[2] :] = mean_friction_columns(
            robot, log.v[near], log.a[near], width
        )
    m, n, p = Y.shape
    flat = Y.reshape(m, n * p)
    busy = flat.any(axis=0)
    kept = slice(log.how.margin, m - log.how.margin, log.how.step)
    thin = np.zeros((len(range(*kept.indices(m))), n * p))
    thin[:, busy] = filtered(flat[:, busy], log.how)[kept]
    return Rows(thin.reshape(-1, n, p), log.tau[kept], np.abs(log.v[kept]) > rest)


def rigid_and_friction(robot: Robot, log: Block) -> tuple[Floats, Floats]:
    """Columns of the regressor (m, n, p) at every sample, those of bodies and drives, and those of friction."""
    Y = robot.regressor(log.q, log.v, log.a)
    friction_columns = robot.friction_regressor(log.v)
    return Y[:, :, : Y.shape[2] - friction_columns.shape[2]], friction_columns


def near_reversal(robot: Robot, v: Floats, width: Floats) -> Flags:
    """Samples (m,) at which some friction element is so slow that its sign is in doubt."""
    near = np.zeros(len(v), dtype=bool)
    for _, row in robot.assembly.friction:
        w, doubt = _on_free(robot, v) @ row, _on_free(robot, width) @ np.abs(row)
        near |= np.abs(w) < 2 * doubt
    return near


def _on_free(robot: Robot, x: Floats) -> Floats:
    """Joint quantities of all joints, from those of the coordinates."""
    coupling = robot.assembly.coupling
    return x if coupling is None else x @ coupling.G.T


def mean_friction_columns(robot: Robot, v: Floats, a: Floats, width: Floats) -> Floats:
    """Friction columns (k, n, f), averaged over the speeds that the joints may have had."""
    shift = np.where(a < 0, -1.0, 1.0) * width
    total = robot.friction_regressor(v + _SPREAD[0] * shift)
    for x in _SPREAD[1:]:
        total += robot.friction_regressor(v + x * shift)
    return total / POINTS


def friction(robot: Robot, v: Floats, a: Floats, width: Floats) -> Floats:
    """Friction torque (m, n), averaged near reversals as in the regression."""
    torque = robot.friction_torque(v)
    near = near_reversal(robot, v, width)
    if near.any():
        shift = np.where(a[near] < 0, -1.0, 1.0) * width
        torque[near] = np.mean([robot.friction_torque(v[near] + x * shift) for x in _SPREAD], axis=0)
    return torque


def plain_torque(robot: Robot, motion: tuple[Floats, Floats, Floats], width: Floats, phi: Floats) -> Floats:
    """Torque (m, n) of any parameters, also of those that no robot has, friction averaged near reversals."""
    q, v, a = motion
    torque = np.empty_like(q)
    for k in range(0, len(q), CHUNK):
        some = slice(k, k + CHUNK)
        Y = robot.regressor(q[some], v[some], a[some])
        near = near_reversal(robot, v[some], width)
        if near.any():
            first = Y.shape[2] - robot.friction_regressor(v[:1]).shape[2]
            Y[near, :, first:] = mean_friction_columns(robot, v[some][near], a[some][near], width)
        torque[some] = Y @ phi
    return torque


def motion(log: Log, cutoff: float, recipe: Recipe) -> tuple[Floats, Floats, Floats]:
    """Filtered positions, speeds and accelerations at every sample of a log, for predicting its torque."""
    positions = log.q if recipe.motion == "measured" else log.q_ref
    bare, _ = without_outliers(Log.of(log.time, q=positions))
    how = replace(choices(bare, cutoff), step=1, margin=0)
    cleaned = clean(bare, how)
    parts = (cleaned.q, cleaned.v, cleaned.a)
    if how.averaged == 1 and len(cleaned.time) == len(log.time) and np.abs(cleaned.time - log.time).max() < 1e-6:
        return parts
    q, v, a = (np.stack([np.interp(log.time, cleaned.time, x) for x in part.T], axis=1) for part in parts)
    return q, v, a
