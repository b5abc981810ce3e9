"""How the tool speeds up and slows down along a path; between the ramps its speed is steady.

Every ramp from speed v0 to v1 takes a time T and is symmetric in speed: it covers T (v0 + v1) / 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Pair, ThreeArrays, rows_of_each
from armtwin.maths.units import Unit

RampTime = Annotated[float, Unit("s", above=0, plausible=60, hint="ms")]
ToolAcceleration = Annotated[float, Unit("m/s^2", above=0)]
ToolJerk = Annotated[float, Unit("m/s^3", above=0)]

# beyond these, numbers would overflow
LARGEST = {"acceleration": (1e6, "m/s²"), "jerk": (1e12, "m/s³")}
SHORTEST = 1e-9  # ramp [s]

NEEDED = {
    "ramped_sine": ("ramp",),
    "trapezoid": ("acceleration",),
    "jerk_limited": ("acceleration", "jerk"),
    "look_ahead": ("acceleration", "jerk"),
    "recorded": (),
}


@dataclass(frozen=True)
class TimeLaw:
    """Shape of the ramps.

        ramped_sine    v = v0 + Δ (x - sin(2πx)/(2π)),  x = t / T:  acceleration Δ/T (1 - cos 2πx)
        trapezoid      constant acceleration, T = Δ / a
        jerk_limited   acceleration rises and falls evenly, T = Δ/a + a/j,
                       or 2 √(Δ/j) where a is not reached
        look_ahead     as jerk_limited, wherever limits ask for it: moves of any length, exact stops
                       and zones; the limits hold along and across the path
        recorded       as the reference of a log has it

    Attributes:
        kind: "ramped_sine", "trapezoid", "jerk_limited", "look_ahead" or "recorded".
        ramp: Time T of each ramp of the ramped sine [s].
        acceleration: Largest acceleration along the path [m/s²].
        jerk: Largest jerk along the path [m/s³].

    Ref: [Waiboer 2007, fig. 5.4]
    """

    kind: Literal["ramped_sine", "trapezoid", "jerk_limited", "look_ahead", "recorded"] = (
        "ramped_sine"
    )
    ramp: RampTime | None = None
    acceleration: ToolAcceleration | None = None
    jerk: ToolJerk | None = None

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        needed = NEEDED[self.kind]
        for key in ("ramp", "acceleration", "jerk"):
            if (getattr(self, key) is None) == (key in needed):
                keys = " and ".join(needed) or "no other key"
                return f"of kind {self.kind} must have {keys} and nothing else"
        if self.ramp is not None and self.ramp < SHORTEST:
            return f"ramp must be at least {SHORTEST:g} s, got {self.ramp:g}"
        for key, (largest, unit) in LARGEST.items():
            value = getattr(self, key)
            if value is not None and value > largest:
                return f"{key} must be at most {largest:g} {unit}, got {value:g}"
        return ""

    def duration(self, change: float) -> float:
        """Time of a ramp that changes the speed by an amount [m/s]."""
        change = abs(change)
        if self.ramp is not None or self.kind == "recorded":
            return self.ramp or 0.0
        assert self.acceleration is not None
        if self.jerk is None:
            return change / self.acceleration
        if change >= self.acceleration**2 / self.jerk:
            return change / self.acceleration + self.acceleration / self.jerk
        return 2 * float(np.sqrt(change / self.jerk))

    def shape(self, x: Floats, change: float) -> ThreeArrays:
        """Travel, speed, acceleration of a ramp of unit time and change, at shares x of it."""
        if self.kind == "ramped_sine":
            w = 2 * np.pi
            way = x * x / 2 + (np.cos(w * x) - 1) / w**2
            return way, x - np.sin(w * x) / w, 1 - np.cos(w * x)
        if self.kind == "trapezoid":
            return x * x / 2, x, np.ones_like(x)
        return self._jerk_limited(x, change)

    def _jerk_limited(self, x: Floats, change: float) -> ThreeArrays:
        """Shape of the jerk-limited ramp: up, flat, down; its second half mirrors the first."""
        assert self.acceleration is not None
        assert self.jerk is not None
        T = self.duration(change)
        # share of the time in which the acceleration rises
        rise = min(self.acceleration / self.jerk, T / 2) / T
        top = 1 / (1 - rise)
        y = np.minimum(x, 1 - x)
        flat = np.maximum(y - rise, 0.0)
        up = np.minimum(y, rise)
        speed = top * (up * up / (2 * rise) + flat)
        way = top * (up**3 / (6 * rise) + flat * rise / 2 + flat * flat / 2)
        late = x > 0.5
        way = np.where(late, x - 0.5 + way, way)
        speed = np.where(late, 1 - speed, speed)
        return way, speed, top * up / rise


@dataclass(frozen=True, eq=False)
class Profile:
    """Travel along a path over time: steady phases and ramps.

    Attributes:
        law: Shape of the ramps.
        times: When each phase begins, and the end, (k + 1,) [s].
        ways: Arc length there, (k + 1,) [m].
        speeds: Speed there, (k + 1,) [m/s].
    """

    law: TimeLaw
    times: Floats
    ways: Floats
    speeds: Floats

    @property
    def duration(self) -> float:
        """Time from rest to rest [s]."""
        return float(self.times[-1])

    def at(self, time: Floats) -> ThreeArrays:
        """Arc length, speed, acceleration along the path at times, (m,) each; at rest outside."""
        t = np.clip(time, 0.0, self.duration)
        last = len(self.times) - 2
        begun = np.searchsorted(self.times, t, side="right")
        phase = np.clip(begun - 1, 0, last)
        since = t - self.times[phase]
        v = self.speeds[phase].copy()
        s = self.ways[phase] + v * since
        a = np.zeros_like(t)
        for k, some in rows_of_each(phase):
            change = float(self.speeds[k + 1] - self.speeds[k])
            T = float(self.times[k + 1] - self.times[k])
            if change == 0.0 or T == 0.0:  # steady, or a ramp shorter than the time is known
                continue
            x = np.clip(since[some] / T, 0.0, 1.0)
            way, speed, rate = self.law.shape(x, change)
            s[some] += change * T * way
            v[some] += change * speed
            a[some] = change / T * rate
        outside = (time <= 0) | (time >= self.duration)
        v[outside] = 0.0
        a[outside] = 0.0
        return np.clip(s, 0.0, self.ways[-1]), v, a

    def ramps(self, x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Time, arc length, speed, acceleration at shares x of each ramp's time, (ramps, shares).

        They follow from the law, not from times: a ramp may be shorter than the resolution of time.
        """
        found = []
        for k in np.flatnonzero(np.diff(self.speeds)):
            before = float(self.speeds[k])
            change = float(self.speeds[k + 1] - self.speeds[k])
            T = self.law.duration(change)
            way, speed, rate = self.law.shape(x, change)
            t = self.times[k] + x * T
            s = self.ways[k] + T * (before * x + change * way)
            v = before + change * speed
            a = change / T * rate
            found.append((t, s, v, a))
        t, s, v, a = np.array(found).reshape(-1, 4, len(x)).swapaxes(0, 1)
        return t, np.clip(s, 0.0, self.ways[-1]), v, a

    @property
    def steady(self) -> Pair:
        """When the first ramp ends and when the last one begins [s]."""
        return float(self.times[1]), float(self.times[-2])


class _Ramp(NamedTuple):
    """A change of speed: the time [s] and the travel [m] that it takes."""

    time: float
    way: float


def _ramp(law: TimeLaw, speed: float, change: float) -> _Ramp:
    """The ramp between a speed and one that is lower by a change [m/s]."""
    if not change:
        return _Ramp(0.0, 0.0)
    time = law.duration(change)
    mean = speed - change / 2
    return _Ramp(time, time * mean)


def build_profile(
    bounds: Sequence[float], speeds: Sequence[float], names: Sequence[str], law: TimeLaw
) -> Profile:
    """The profile that has a steady speed in each stretch.

    A change of speed lies in the faster of two neighbours.

    Args:
        bounds: Arc lengths where stretches meet, start and end included [m].
        speeds: Speed in each stretch [m/s].
        names: Name of each stretch.
        law: Shape of the ramps.
    """
    times, ways, passed = [0.0], [0.0], [0.0]

    def add(time: float, way: float, speed_after: float) -> None:
        if time > 0:
            times.append(times[-1] + time)
            ways.append(ways[-1] + way)
            passed.append(speed_after)

    neighbours = [0.0, *speeds, 0.0]
    for k, (speed, name) in enumerate(zip(speeds, names, strict=True)):
        before, after = neighbours[k], neighbours[k + 2]
        up = _ramp(law, speed, max(speed - before, 0.0))
        down = _ramp(law, speed, max(speed - after, 0.0))
        length = bounds[k + 1] - bounds[k]
        need = up.way + down.way
        if length - need < -1e-12:
            raise ArmtwinError(
                f"segment '{name}' is {1e3 * length:.1f} mm long, but speeding up and slowing down "
                f"at {1e3 * speed:.4g} mm/s needs {1e3 * need:.1f} mm; choose a lower speed or "
                "shorter ramps"
            )
        steady = max(length - need, 0.0)
        add(up.time, up.way, speed)
        add(steady / speed, steady, speed)
        add(down.time, down.way, after)
    return Profile(law, np.array(times), np.array(ways), np.array(passed))
