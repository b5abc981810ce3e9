"""The regression of a robot's parameters on its logs: Y(q, v, a) φ = τ, both sides through the same filter.

Friction has no sign at rest, and a logged speed has noise. Its columns are therefore the mean over the speeds that the
joint may have had, within a width about the filtered one; far from a reversal that changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from armtwin.identification.identifiable import Identifiable
from armtwin.identification.recipe import Recipe
from armtwin.logs.averaging import chosen_periods
from armtwin.logs.cleaning import Cleaning, choices, clean, filtered, on_grid, speed_noise
from armtwin.logs.log import Log
from armtwin.logs.outliers import without_outliers
from armtwin.logs.torque import logged_torque, torque_channel
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


def block(robot: Robot, log: Log, cutoff: float | None, channel: str, recipe: Recipe) -> Block:
    """A log made ready for the regression of a robot."""
    motion = "q" if recipe.motion == "measured" else "q_ref"
    source = torque_channel(log, channel)
    torque = logged_torque(robot, log, source)
    bare, replaced = without_outliers(Log.of(log.time, q=getattr(log, motion), tau=torque))
    if recipe.period is not None and recipe.periods is not None:
        bare = chosen_periods(bare, recipe.period, *recipe.periods)
    how = replace(choices(bare, cutoff, recipe.period, recipe.rate or 0.0), replaced=replaced)
    whole = clean(bare, replace(how, step=1, margin=0))
    m = len(whole.time)
    raw_q, raw = (on_grid(bare.time, x, how)[:m] for x in (bare.q, bare.tau))
    noise = speed_noise(raw_q, whole.q, how)
    return Block(whole.time, whole.q, whole.v, whole.a, whole.tau, raw, noise, how, source)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a regression.

    Attributes:
        Y: Filtered columns of the base parameters that each joint's row has, joint after joint, (k, c).
        busy: Which base parameters these are, (n, r).
        tau: Filtered torque, (k, n).
        used: Whether a row counts: whether its joint moves, (k, n).
    """

    Y: Floats
    busy: Flags
    tau: Floats
    used: Flags

    def of_joint(self, j: int) -> Floats:
        """The columns of one joint, (k, its base parameters)."""
        first = int(self.busy[:j].sum())
        return self.Y[:, first : first + int(self.busy[j].sum())]

    def torque(self, base: Floats) -> Floats:
        """Torque of base parameters, (k, n)."""
        return np.stack([self.of_joint(j) @ base[busy] for j, busy in enumerate(self.busy)], axis=1)


def rows(robot: Robot, log: Block, base: Identifiable, rest: Floats, width: Floats) -> Rows:
    """The rows of a clean log.

    Args:
        robot: The robot.
        log: The clean log.
        base: The columns of the regressor that are filtered and kept.
        rest: Speeds below which a joint counts as standing, (n,) [rad/s].
        width: Half widths of the speeds over which friction is averaged, (n,) [rad/s].
    """
    n, p = robot.n, len(robot.parameters)
    joint, column = np.nonzero(base.busy)
    places = joint * p + np.array(base.kept)[column]
    m = len(log.time)
    columns, Y = np.empty((m, len(places))), None
    for k in range(0, m, CHUNK):
        some = slice(k, k + CHUNK)
        Y = doubtful_regressor(robot, (log.q[some], log.v[some], log.a[some]), width, Y)
        np.take(Y.reshape(-1, n * p), places, axis=1, out=columns[some])
    kept = slice(log.how.margin, m - log.how.margin, log.how.step)
    return Rows(
        filtered(columns, log.how)[kept], base.busy, log.tau[kept], np.abs(log.v[kept]) > rest
    )


def doubtful_regressor(
    robot: Robot, motion: tuple[Floats, Floats, Floats], width: Floats, out: Floats | None = None
) -> Floats:
    """The regressor (m, n, p), its friction columns averaged where the sign of a speed is in doubt."""
    q, v, a = motion
    Y = robot.regressor(q, v, a, out=out)
    near = near_reversal(robot, v, width)
    if near.any():
        friction_columns = mean_friction_columns(robot, (q[near], v[near], a[near]), width)
        Y[near, :, robot.layout.friction] = friction_columns
    return Y


def near_reversal(robot: Robot, v: Floats, width: Floats) -> Flags:
    """Samples (m,) at which some friction element is so slow that its sign is in doubt.

    A lever scales a speed and its doubt alike, so that it need not be known.
    """
    near = np.zeros(len(v), dtype=bool)
    for _, row in robot.assembly.friction:
        w = _on_free(robot, v) @ row.weights
        doubt = _on_free(robot, width) @ np.abs(row.weights)
        near |= np.abs(w) < 2 * doubt
    return near


def _on_free(robot: Robot, x: Floats) -> Floats:
    """Joint quantities of all joints, from those of the coordinates."""
    coupling = robot.assembly.coupling
    return x if coupling is None else x @ coupling.G.T


def mean_friction_columns(
    robot: Robot, motion: tuple[Floats, Floats, Floats], width: Floats
) -> Floats:
    """Friction columns (k, n, f), averaged over the speeds that the joints may have had."""
    q, v, a = motion
    shift = np.where(a < 0, -1.0, 1.0) * width
    every = robot.friction_regressor(v + _SPREAD[:, None, None] * shift, q)
    return np.asarray(every.mean(axis=0))


def friction(robot: Robot, motion: tuple[Floats, Floats, Floats], width: Floats) -> Floats:
    """Friction torque (m, n), averaged near reversals as in the regression."""
    q, v, a = motion
    torque = robot.friction_torque(v, q)
    near = near_reversal(robot, v, width)
    if near.any():
        shift = np.where(a[near] < 0, -1.0, 1.0) * width
        torque[near] = robot.friction_torque(
            v[near] + _SPREAD[:, None, None] * shift, q[near]
        ).mean(axis=0)
    return torque


def plain_torque(
    robot: Robot, motion: tuple[Floats, Floats, Floats], width: Floats, phi: Floats
) -> Floats:
    """Torque (m, n) of any parameters, also of those that no robot has, friction averaged near reversals."""
    torque, Y = np.empty_like(motion[0]), None
    for k in range(0, len(torque), CHUNK):
        some = slice(k, k + CHUNK)
        q, v, a = (x[some] for x in motion)
        Y = doubtful_regressor(robot, (q, v, a), width, Y)
        torque[some] = Y @ phi
    return torque


def within_rate(log: Log, cutoff: float) -> float:
    """A cut-off that a log's rate allows [Hz]."""
    return min(cutoff, (len(log.time) - 1) / float(log.time[-1] - log.time[0]) / 5)


def motion(log: Log, cutoff: float, recipe: Recipe) -> tuple[Floats, Floats, Floats]:
    """Filtered positions, speeds and accelerations at every sample of a log, for predicting its torque."""
    positions = log.q if recipe.motion == "measured" else log.q_ref
    bare, _ = without_outliers(Log.of(log.time, q=positions))
    how = replace(choices(bare, within_rate(log, cutoff)), step=1, margin=0)
    cleaned = clean(bare, how)
    parts = (cleaned.q, cleaned.v, cleaned.a)
    if (
        how.averaged == 1
        and len(cleaned.time) == len(log.time)
        and np.abs(cleaned.time - log.time).max() < 1e-6
    ):
        return parts
    from scipy.interpolate import CubicSpline

    inside = np.clip(log.time, cleaned.time[0], cleaned.time[-1])
    q, v, a = (np.asarray(CubicSpline(cleaned.time, part)(inside)) for part in parts)
    return q, v, a
