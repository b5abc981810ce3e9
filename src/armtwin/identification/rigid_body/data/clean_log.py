"""A log cleaned once for every use: rows on its even grid, motion at its own samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armtwin.identification.resampling import rate_of
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs import cleaning as filters
from armtwin.logs.averaging import select_periods
from armtwin.logs.log import Log
from armtwin.logs.outliers import without_outliers
from armtwin.maths.batch import Flags, Floats
from armtwin.robot.robot import Robot

Integers = NDArray[np.intp]

SAME_TIME = 1e-6  # by which a sample of the grid may differ from that of the log [s]
LEAST_RATE = 5  # samples of a log in a period of the highest cut-off


class Motion(NamedTuple):
    """Positions, speeds and accelerations, (m, n) each."""

    q: Floats
    v: Floats
    a: Floats

    def at(self, which: slice | Flags | Integers) -> Motion:
        """The motion at these of its samples."""
        return Motion(*(values[which] for values in self))

    @staticmethod
    def join(motions: Sequence[Motion]) -> Motion:
        """Several motions one after the other."""
        return Motion(*map(np.concatenate, zip(*motions, strict=True)))


@dataclass(frozen=True, eq=False)
class CleanLog:
    """A log before and after the filter, on one even grid.

    Attributes:
        raw: Its positions q, and tau where a torque was given, before the filter.
        clean: q filtered, speeds v and accelerations a from it, and tau through the same filter.
        noise: Standard deviation of the speeds, (n,) [rad/s].
        how: How the log was cleaned.
    """

    raw: Log
    clean: Log
    noise: Floats
    how: filters.Cleaning

    @property
    def motion(self) -> Motion:
        """The motion on the grid."""
        return Motion(self.clean.q, self.clean.v, self.clean.a)

    def filter_columns(self, columns: Floats) -> Floats:
        """Columns (m, n, k) through the log's filter."""
        return filters.filter_values(columns.reshape(len(columns), -1), self.how).reshape(
            columns.shape
        )

    def first(self, samples: int) -> CleanLog:
        """The first samples of it."""
        return self._cut(slice(samples))

    def stretches(self, parts: int, samples: int) -> list[CleanLog]:
        """The middle of each of `parts` parts of it, of `samples` samples at most.

        Whole periods are one stretch, as their Fourier series cannot be cut before its rows are.
        """
        if self.how.differentiation == "fourier":
            return [self]
        edges = np.linspace(0, len(self.clean.time), parts + 1).astype(int)
        found = []
        for first, last in pairwise(edges.tolist()):
            skipped = max(0, last - first - samples) // 2
            found.append(self._cut(slice(first + skipped, last - skipped)))
        return found

    def _cut(self, chosen: slice) -> CleanLog:
        return replace(self, raw=cut(self.raw, chosen), clean=cut(self.clean, chosen))

    def motion_at(self, time: Floats) -> Motion:
        """The motion at the samples (m,) of the log it was cleaned from."""
        grid = self.clean.time
        unchanged = self.how.averaged == 1 and len(grid) == len(time)
        if unchanged and np.abs(grid - time).max() < SAME_TIME:
            return self.motion
        from scipy.interpolate import CubicSpline

        inside = np.clip(time, grid[0], grid[-1])
        return Motion(*(CubicSpline(grid, x)(inside) for x in self.motion))


def clean_log(
    log: Log, cutoff: float | None, recipe: Recipe, torque: Floats | None = None
) -> CleanLog:
    """A log cleaned as a recipe says.

    Args:
        log: The log.
        cutoff: Cut-off frequency; by default from the spectrum of its speeds [Hz].
        recipe: Where the motion comes from, its period and the rate of rows.
        torque: Joint torque that passes the same filter, (m, n) [N m], or current [A].
    """
    channels = {"q": getattr(log, recipe.position_channel)}
    if torque is not None:
        channels["tau"] = torque
    bare = Log.of(log.time, **channels)
    without, replaced = without_outliers(bare.channels)
    bare = replace(bare, channels=without)
    if recipe.period is not None and recipe.periods is not None:
        bare = select_periods(bare, recipe.period, *recipe.periods)
    how = filters.choices(bare, cutoff, recipe.period, recipe.rate or 0.0)
    even = {name: filters.on_grid(bare.time, x, how) for name, x in bare.channels.items()}
    whole = filters.clean_channels(bare.time, even, replace(how, step=1, margin=0))
    m = len(whole.time)
    raw = Log(whole.time, {name: values[:m] for name, values in even.items()})
    return CleanLog(
        raw=raw,
        clean=whole,
        noise=filters.speed_noise(raw.q, whole.q, how),
        how=replace(how, replaced=replaced),
    )


def filter_motion(log: Log, cutoff: float, recipe: Recipe) -> Motion:
    """Motion at every sample of a log whose torque is predicted, not fitted."""
    cleaned = clean_log(log, limit_to_rate(log, cutoff), recipe.for_prediction())
    return cleaned.motion_at(log.time)


def whole_torque(robot: Robot, q: Floats, v: Floats, a: Floats) -> Floats:
    """Torque of a motion by the robot file, friction included, (m, n)."""
    return robot.inverse_dynamics(q, v, a) + robot.friction_torque(v, q, a)


def cut_middle(log: Log, share: float) -> Log:
    """A share of a log's samples, from its middle."""
    length = int(share * len(log.time))
    first = (len(log.time) - length) // 2
    return cut(log, slice(first, first + length))


def limit_to_rate(log: Log, cutoff: float) -> float:
    """A cut-off that a log's rate allows [Hz]."""
    return min(cutoff, rate_of(log.time) / LEAST_RATE)


def cut(log: Log, chosen: slice | Integers) -> Log:
    """The chosen samples of a log."""
    channels = {name: x[chosen] for name, x in log.channels.items()}
    return Log(log.time[chosen], channels, joint_names=log.joint_names)
