"""One speed profile over a path of many parts, each with its own limits: look-ahead.

Between two nodes the speed rises, stays and falls with a bounded jerk, and the acceleration is 0 at
every node. A ramp by Δ takes T and covers T (u + Δ/2):

    T = Δ/A + A/J  from Δ = A²/J on, below it 2 √(Δ/J)

The highest speeds at the nodes follow from one pass backwards and one forwards; from rest to rest
on a part of its own this is the motion of least time.

Ref: [Biagiotti-Melchiorri 2008, section 3.4]
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Flags, Floats, Integers, Pair, ThreeArrays
from armtwin.maths.compiled import compiled, inlined

PHASES = 8  # of a part at most: three of each ramp, a steady one, a wait
HALVINGS = 44  # of the interval in which a speed is sought


class ProfileParts(NamedTuple):
    """Parts of a path in order, (k,) each.

    Attributes:
        length: Arc length [m].
        speed: Highest speed [m/s].
        acceleration: Largest acceleration along the path [m/s²].
        jerk: Largest jerk along the path [m/s³].
        stops: Whether the part ends at rest.
        wait: Time at rest after it [s].
    """

    length: Floats
    speed: Floats
    acceleration: Floats
    jerk: Floats
    stops: Flags
    wait: Floats


@inlined
def ramp_time(change: float, A: float, J: float) -> float:
    """Time of a ramp [s]."""
    if change >= A * A / J:
        return change / A + A / J
    return 2 * math.sqrt(change / J)


@inlined
def ramp_way(slow: float, fast: float, A: float, J: float) -> float:
    """Travel of a ramp between two speeds [m]."""
    return ramp_time(fast - slow, A, J) * (slow + fast) / 2


@inlined
def reach_speed(slow: float, length: float, A: float, J: float) -> float:
    """Highest speed that a ramp from a speed reaches within a length.

    From Δ = A²/J on a quadratic equation, below it x³ + 2 u x = L √J with x = √Δ.
    """
    least = A * A / J
    if length >= ramp_way(slow, slow + least, A, J):
        p = slow + A * A / (2 * J)
        q = 2 * A * (slow * A / J - length)
        return slow - p + math.sqrt(p * p - q)
    p = 2 * slow / 3
    q = length * math.sqrt(J) / 2
    w = math.sqrt(q * q + p * p * p)
    # of the cubic's two terms the second by the product of both: no digits are lost
    first = (q + w) ** (1 / 3)
    x = first - p / first if first > 0 else 0.0
    return slow + max(x, 0.0) ** 2


@compiled
def limit_nodes(parts: ProfileParts, u: Floats) -> None:
    """Highest speeds at the nodes, (k + 1,), at rest at both ends."""
    count = parts.length.shape[0]
    u[0] = 0.0
    u[count] = 0.0
    for k in range(count - 1):
        u[k + 1] = 0.0 if parts.stops[k] else min(parts.speed[k], parts.speed[k + 1])
    for i in range(count):
        k = count - 1 - i
        most = reach_speed(u[k + 1], parts.length[k], parts.acceleration[k], parts.jerk[k])
        u[k] = min(u[k], most)
    for k in range(count):
        most = reach_speed(u[k], parts.length[k], parts.acceleration[k], parts.jerk[k])
        u[k + 1] = min(u[k + 1], most)


@inlined
def top_speed(u0: float, u1: float, V: float, length: float, A: float, J: float) -> float:
    """Highest speed on a part between two nodes."""
    low = max(u0, u1)
    if ramp_way(u0, V, A, J) + ramp_way(u1, V, A, J) <= length:
        return V
    high = V
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if ramp_way(u0, middle, A, J) + ramp_way(u1, middle, A, J) <= length:
            low = middle
        else:
            high = middle
    return low


@inlined
def put_ramp(out: Floats, row: int, u: float, change: float, A: float, J: float) -> int:
    """Store the phases of a ramp: duration, jerk; speed and acceleration when they begin."""
    size = abs(change)
    if size == 0.0:
        return row
    sign = 1.0 if change > 0 else -1.0
    rise = min(A / J, math.sqrt(size / J))
    flat = max(ramp_time(size, A, J) - 2 * rise, 0.0)
    top = J * rise
    speed = u
    for duration, jerk, a in ((rise, J, 0.0), (flat, 0.0, top), (rise, -J, top)):
        if duration > 0:
            out[row, 0] = duration
            out[row, 1] = sign * jerk
            out[row, 2] = speed
            out[row, 3] = sign * a
            speed += sign * (a * duration + jerk * duration * duration / 2)
            row += 1
    return row


@compiled
def lay_phases(parts: ProfileParts, u: Floats, out: Floats, first: Integers) -> int:
    """Phases of constant jerk: duration, jerk, speed and acceleration, (phases, 4).

    Returns how many there are; `first` is the first of each part, (k + 1,).
    """
    row = 0
    for k in range(parts.length.shape[0]):
        first[k] = row
        A, J, length = parts.acceleration[k], parts.jerk[k], parts.length[k]
        top = top_speed(u[k], u[k + 1], parts.speed[k], length, A, J)
        row = put_ramp(out, row, u[k], top - u[k], A, J)
        steady = length - ramp_way(u[k], top, A, J) - ramp_way(u[k + 1], top, A, J)
        if steady > 0 and top > 0:
            out[row, 0] = steady / top
            out[row, 1] = 0.0
            out[row, 2] = top
            out[row, 3] = 0.0
            row += 1
        row = put_ramp(out, row, top, u[k + 1] - top, A, J)
        if parts.wait[k] > 0:
            out[row, 0] = parts.wait[k]
            out[row, 1] = 0.0
            out[row, 2] = 0.0
            out[row, 3] = 0.0
            row += 1
    first[parts.length.shape[0]] = row
    return row


@compiled
def find_times(phases: Floats, which: Integers, way: Floats, found: Floats) -> None:
    """Time [s] in a phase after which a way is covered, (m,): by halving."""
    for i in range(way.shape[0]):
        k = which[i]
        jerk, v, a = phases[k, 1], phases[k, 2], phases[k, 3]
        low, high = 0.0, phases[k, 0]
        for _ in range(HALVINGS):
            x = 0.5 * (low + high)
            if x * (v + x * (a / 2 + x * jerk / 6)) < way[i]:
                low = x
            else:
                high = x
        found[i] = high


@dataclass(frozen=True, eq=False)
class LookAhead:
    """Travel along a path over time in phases of constant jerk.

    Attributes:
        parts: What it is over.
        nodes: Speed where parts meet, (k + 1,) [m/s].
        first: First phase of each part, and how many there are, (k + 1,).
        phases: Duration [s], jerk, speed and acceleration when it begins, (phases, 4).
        onto: Arc lengths of the path that it was planned for and of the one that is run, (k,) each;
            None for the same.
    """

    parts: ProfileParts
    nodes: Floats
    first: Integers
    phases: Floats
    onto: tuple[Floats, Floats] | None = None

    @cached_property
    def times(self) -> Floats:
        """When each phase begins, and the end [s]."""
        return np.concatenate([[0.0], np.cumsum(self.phases[:, 0])])

    @cached_property
    def ways(self) -> Floats:
        """Arc length there [m]; what rounding adds up to is left at every node."""
        d, jerk, v, a = self.phases.T
        travel = np.concatenate([[0.0], np.cumsum(d * (v + d * (a / 2 + d * jerk / 6)))])
        nodes = np.concatenate([[0.0], np.cumsum(self.parts.length)])
        error = nodes - travel[self.first]
        corrected: Floats = travel + np.repeat(error, np.diff(self.first, append=len(travel)))
        corrected[self.first] = nodes
        waits = (v == 0) & (a == 0) & (jerk == 0)
        corrected[:-1][waits] = corrected[1:][waits]
        return corrected

    @property
    def duration(self) -> float:
        """Time from rest to rest [s]."""
        return float(self.times[-1])

    @property
    def steady(self) -> Pair:
        """When the process may be on [s]: moves say where it is, not ramps."""
        return 0.0, self.duration

    def at(self, time: Floats) -> ThreeArrays:
        """Arc length, speed, acceleration along the path at times, (m,) each; at rest outside."""
        t = np.clip(time, 0.0, self.duration)
        begun = np.searchsorted(self.times, t, side="right")
        phase = np.clip(begun - 1, 0, len(self.phases) - 1)
        x = t - self.times[phase]
        _, jerk, v0, a0 = self.phases[phase].T
        s = self.ways[phase] + x * (v0 + x * (a0 / 2 + x * jerk / 6))
        outside = (time <= 0) | (time >= self.duration)
        v = np.where(outside, 0.0, np.maximum(v0 + x * (a0 + x * jerk / 2), 0.0))
        a = np.where(outside, 0.0, a0 + x * jerk)
        # rounding must not lead back, nor beyond the end of a phase
        s = np.clip(s, self.ways[phase], np.maximum(self.ways[phase + 1], self.ways[phase]))
        if self.onto is None:
            return s, v, a
        planned, run = self.onto
        part = np.clip(np.searchsorted(planned, s, side="right") - 1, 0, len(planned) - 2)
        ratio = (np.diff(run) / np.diff(planned))[part]
        return np.interp(s, planned, run), ratio * v, ratio * a

    def time_at(self, s: Floats) -> Floats:
        """When arc lengths (m,) are reached [s]; a place at rest when the tool comes there."""
        phase = np.clip(np.searchsorted(self.ways, s) - 1, 0, len(self.phases) - 1)
        found = np.empty(len(s))
        find_times(self.phases, phase, s - self.ways[phase], found)
        return self.times[phase] + found

    def ramps(self, x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """No instants beside the set-points: the acceleration is continuous."""
        none = np.empty((0, len(x)))
        return none, none, none, none


def plan_look_ahead(parts: ProfileParts) -> LookAhead:
    """The profile of a path's parts, from rest to rest."""
    count = len(parts.length)
    nodes = np.empty(count + 1)
    limit_nodes(parts, nodes)
    phases = np.empty((PHASES * count, 4))
    first = np.empty(count + 1, dtype=np.int64)
    used = lay_phases(parts, nodes, phases, first)
    return LookAhead(parts, nodes, first, phases[:used])
