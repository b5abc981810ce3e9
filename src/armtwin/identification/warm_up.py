"""Warm-up of joints from a log of one motion repeated: is the robot warm, and how fast it warms.

    m(t) = m_∞ + (m_0 - m_∞) exp(-t / T)

m is the friction of a cycle, the work of the torque over the way: weight and inertia do no work in
a closed cycle, so that joints that carry weight are told too. Where positions are not closed, it is
the mean absolute torque of document 004. A joint is warm, as there, when the relative change from
cycle to cycle is below a limit: of the exponential, which noise of single cycles does not move, or
of the mean torques where there is none.

Ref: [Memar-Esfahani 2015, section II, fig. 3]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.logs.log import Log
from armtwin.logs.torque import torque_channel
from armtwin.logs.warm_up import WarmUpState, warm_up_state
from armtwin.maths.batch import Floats
from armtwin.notebook import cards
from armtwin.notebook.figures import Panel, draw_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LIMIT = 1e-4  # relative change of the mean torque from cycle to cycle of a joint that is warm
CLOSED = 0.02  # of the way of a cycle by which its ends may differ
FEWEST = 6  # cycles that tell an exponential
STILL = 1e-3  # of the fastest joint's way below which a joint does not move
TOLD = 0.3  # relative standard deviation up to which a time constant is told
REPEATS = 0.9  # correlation of the motion with itself one cycle later


@dataclass(frozen=True)
class JointWarmUp:
    """How a joint warms.

    Attributes:
        joint: Its number, from 1.
        first: Friction of the first cycle.
        last: Friction of the last cycle.
        final: Friction that it falls to; nan where it is not told.
        decay: Share of the first friction that is lost until then, of all cycles where it is not.
        time_constant: Of the fall [s]; nan where it is not told.
        time_constant_std: Its standard deviation [s].
        warm_at: Time from which on the joint is warm [s]; nan where it never is.
        by: What the friction is, "work" or "mean torque".
        refused: Why there is no time constant, "" where there is one.
    """

    joint: int
    first: float
    last: float
    final: float
    decay: float
    time_constant: float
    time_constant_std: float
    warm_at: float
    by: str
    refused: str = ""

    @property
    def warm(self) -> bool:
        """Whether it is warm at the end of the log."""
        return bool(np.isfinite(self.warm_at))


@dataclass(frozen=True, eq=False)
class WarmUpIdentification:
    """Warm-up of the joints of a log.

    Attributes:
        table: The joints that move.
        state: Mean absolute torques of the cycles, and when they stopped to fall.
        friction: Friction of each cycle and joint of the table, (cycles, joints).
        fitted: The exponential through it; nan where it is not told, (cycles, joints).
        period: Duration of a cycle [s].
        limit: Relative change of the mean torque from cycle to cycle of a joint that is warm.
        unit: Unit of the torques.
        origin: The log.
    """

    table: tuple[JointWarmUp, ...]
    state: WarmUpState
    friction: Floats
    fitted: Floats
    period: float
    limit: float
    unit: str
    origin: str

    @property
    def warm(self) -> bool:
        """Whether all joints that move are warm at the end."""
        return all(joint.warm for joint in self.table)

    def __repr__(self) -> str:
        state = "warm" if self.warm else "not warm"
        cycles = cards.counted(len(self.friction), "cycle")
        return cards.line("WarmUpIdentification", state, cycles, f"{self.period:.4g} s each")

    def _repr_html_(self) -> str:
        rows = []
        for row in self.table:
            numbers = (row.first, row.last, 100 * row.decay, row.time_constant, row.warm_at)
            rows.append((str(row.joint), *(f"{x:.4g}" for x in numbers)))
        heads = ("joint", "first", "last", "decay %", "time constant [s]", "warm at [s]")
        return cards.table(repr(self), rows, heads)

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw the friction of each cycle and its exponential, a panel for each joint.

        Args:
            axes: One for each joint; new ones where none are given.
        """
        panels = []
        for k, row in enumerate(self.table):
            lines = {"cycle": self.friction[:, k], "exponential": self.fitted[:, k]}
            panels.append(Panel(f"joint {row.joint} [{self.unit}]", lines))
        return draw_panels(self.state.time, "time [s]", panels, axes)


def identify_warm_up(
    log: Log, *, period: float | None = None, limit: float = LIMIT, torque: str | None = None
) -> WarmUpIdentification:
    """Whether the joints of a log are warm, and the time constants with which they warm.

    Args:
        log: A log of a motion that is repeated, with q and a torque or a current.
        period: Duration of a cycle [s]; by default the one with which the positions repeat.
        limit: Relative change of the mean torque from cycle to cycle of a joint that is warm.
        torque: Channel of the torque; by default tau, else tau_m, else current.
    """
    name = log.origin or "the log"
    source = torque_channel(log, torque)
    if "q" not in log:
        raise ArmtwinError(f"{name}: a warm-up needs joint positions q")
    way = np.abs(np.diff(log.q, axis=0)).sum(axis=0)
    if not way.any():
        raise ArmtwinError(f"{name}: no joint moves, so that nothing warms")
    if not 0 < limit < 1:
        raise ArmtwinError(f"limit must be a share between 0 and 1, got {limit:g}")
    duration = repeats_after(log) if period is None else period
    if not duration > 0:
        raise ArmtwinError(f"period must be above 0 s, got {duration:g}")
    tau = log.channels[source]
    state = warm_up_state(Log(log.time, {"tau": tau}), duration, limit)
    moving = np.flatnonzero(way > STILL * way.max())
    moving = moving[moving < tau.shape[1]]
    rows, friction, fitted = [], [], []
    since = state.time - 0.5 * duration - log.time[0]  # friction of a cycle is that of its middle
    for j in moving.tolist():
        values, by = _friction(log.time, log.q[:, j], tau[:, j], state, j, duration)
        row, curve = _joint(j, since, values, state, limit, by)
        rows.append(row)
        friction.append(values)
        fitted.append(curve)
    unit = "A" if source.startswith("current") else "N m"
    columns = np.array(friction).T, np.array(fitted).T
    return WarmUpIdentification(tuple(rows), state, *columns, duration, limit, unit, log.origin)


def repeats_after(log: Log) -> float:
    """Time after which the positions repeat, by their correlation with themselves [s]."""
    m = len(log.time)
    step = float(np.ptp(log.time)) / max(m - 1, 1)
    even = np.arange(m) * step + log.time[0]
    size = 2 ** int(np.ceil(np.log2(2 * m)))
    power = np.zeros(size // 2 + 1)
    for q in log.q.T:
        x = np.interp(even, log.time, q)
        power += np.abs(np.fft.rfft(x - x.mean(), size)) ** 2
    correlation = np.fft.irfft(power)[: m // 2]
    overlap = m / (m - np.arange(len(correlation)))  # later shifts leave fewer samples
    correlation = correlation / correlation[0] * overlap
    below = np.flatnonzero(correlation < 0)
    if not len(below):
        raise _not_repeated(log)
    later = below[0] + int(np.argmax(correlation[below[0] :]))
    # the first shift that is as good as the best: the others are whole numbers of it
    best = correlation[later]
    good = np.flatnonzero(correlation > max(REPEATS, best - 0.02))
    good = good[good > below[0]]
    if not len(good):
        raise _not_repeated(log)
    first = int(good[0])
    end = first
    while end + 1 < len(correlation) and correlation[end + 1] > correlation[end]:
        end += 1
    return _vertex(correlation, end) * step


def _vertex(values: Floats, k: int) -> float:
    """Place of the peak of a parabola through three values about k."""
    if not 0 < k < len(values) - 1:
        return float(k)
    before, here, after = values[k - 1 : k + 2]
    bend = before - 2 * here + after
    return float(k + 0.5 * (before - after) / bend) if bend < 0 else float(k)


def _not_repeated(log: Log) -> ArmtwinError:
    return ArmtwinError(
        f"{log.origin or 'the log'}: its motion does not repeat; a warm-up needs one motion over "
        "and over, or the period of its cycles"
    )


def _friction(
    time: Floats, q: Floats, tau: Floats, state: WarmUpState, j: int, period: float
) -> tuple[Floats, str]:
    """Friction of each cycle, (cycles,), and what it is."""
    cycles = len(state.time)
    ends = time[0] + period * np.arange(cycles + 1)
    middle = 0.5 * (tau[1:] + tau[:-1])
    work = np.concatenate([[0.0], np.cumsum(middle * np.diff(q))])
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(q)))])
    position = np.interp(ends, time, q)
    done, gone = np.diff(np.interp(ends, time, work)), np.diff(np.interp(ends, time, way))
    closed = np.abs(np.diff(position)) < CLOSED * np.maximum(gone, 1e-300)
    found = done / np.maximum(gone, 1e-300)
    if closed.all() and (found > 0).all():
        return found, "work"
    return state.mean_torque[:, j], "mean torque"


def _joint(
    j: int, time: Floats, friction: Floats, state: WarmUpState, limit: float, by: str
) -> tuple[JointWarmUp, Floats]:
    """A joint's row and the exponential through the friction of its cycles."""
    ends, warm_at = state.time, float(state.warm_at[j])
    first, last = float(friction[0]), float(friction[-1])
    unknown = np.full(len(friction), np.nan)

    def row(final: float, constant: float, std: float, refused: str) -> JointWarmUp:
        least = last if np.isnan(final) else final
        decay = 1 - least / first
        return JointWarmUp(j + 1, first, last, final, decay, constant, std, warm_at, by, refused)

    if len(friction) < FEWEST:
        few = f"{len(friction)} cycles do not tell an exponential, {FEWEST} are needed"
        return row(np.nan, np.nan, np.nan, few), unknown
    numbers, std = _exponential(time, friction)
    final, fall, constant = (float(x) for x in numbers)
    if not std[2] < TOLD * constant or constant > 10 * np.ptp(time):
        return row(np.nan, np.nan, np.nan, "the friction does not fall as an exponential"), unknown
    if not fall > 0:
        return row(np.nan, np.nan, np.nan, "the friction does not fall"), unknown
    curve = final + fall * np.exp(-time / constant)
    change = -np.diff(curve) / curve[:-1]
    calm = np.flatnonzero(change < limit)
    warm_at = float(ends[calm[0] + 1]) if len(calm) else np.nan
    return replace(row(final, constant, float(std[2]), ""), warm_at=warm_at), curve


def _exponential(time: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Final value, fall and time constant of an exponential through points, and their std."""
    from scipy.optimize import least_squares

    span = float(np.ptp(time))

    def linear(constant: float) -> tuple[Floats, Floats]:
        A = np.column_stack([np.ones(len(time)), np.exp(-time / constant)])
        values = np.linalg.lstsq(A, y, rcond=None)[0]
        return values, y - A @ values

    tried = np.geomspace(0.02 * span, 20 * span, 40)
    left = [float((linear(one)[1] ** 2).sum()) for one in tried]
    start = np.log(tried[int(np.argmin(left))])
    found = least_squares(lambda x: linear(float(np.exp(x[0])))[1], [start])
    constant = float(np.exp(found.x[0]))
    values, missed = linear(constant)
    fade = np.exp(-time / constant)
    J = np.column_stack([np.ones(len(time)), fade, values[1] * fade * time / constant**2])
    variance = float(missed @ missed) / max(len(y) - 3, 1)
    spread = np.sqrt(np.diag(np.linalg.pinv(J.T @ J)) * variance)
    return np.array([*values, constant]), spread
