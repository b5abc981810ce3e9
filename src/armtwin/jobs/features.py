"""What is read off a response: peak, period, overshoot, settling, distance from the set-point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Floats

SETTLED = 0.05  # of its change within which a response has settled


@dataclass(frozen=True)
class Feature:
    """A number read off a response.

    Attributes:
        of: What responds.
        name: Which number.
        value: It, in SI; None where the response does not show it.
        unit: Its unit.
    """

    of: str
    name: str
    value: float | None
    unit: str


@dataclass(frozen=True, eq=False)
class Response:
    """What a set-point asked for and what came.

    Attributes:
        of: What responds.
        unit: Unit of the response.
        wanted_unit: Unit of the set-point; another one where a torque moves an angle.
        time: Times, (m,) [s].
        wanted: The set-point, (m,).
        got: The response, (m,).
    """

    of: str
    unit: str
    wanted_unit: str
    time: Floats
    wanted: Floats
    got: Floats

    @property
    def last_step(self) -> int | None:
        """The sample before the last jump of the set-point; None where it never jumps."""
        jumps = np.diff(self.wanted)
        size = np.abs(jumps).max(initial=0.0)
        usual = np.median(np.abs(jumps)) if len(jumps) else 0.0
        if size == 0 or size < 10 * usual:
            return None
        return int(np.flatnonzero(np.abs(jumps) > 0.5 * size)[-1])

    @property
    def distance(self) -> Floats | None:
        """Response minus set-point, (m,); None where they are not of one kind."""
        return self.got - self.wanted if self.unit == self.wanted_unit else None


def first_peak(response: Response) -> list[Feature]:
    """When the response to the last step first turns back, and how high it is there."""
    found = _peaks(response)
    when = None if not found else found[0][0]
    height = None if not found else found[0][1]
    return [
        Feature(response.of, "first_peak_time", when, "s"),
        Feature(response.of, "first_peak", height, response.unit),
    ]


def period(response: Response) -> list[Feature]:
    """Time between the first two peaks after the last step."""
    found = _peaks(response)
    value = found[1][0] - found[0][0] if len(found) > 1 else None
    return [Feature(response.of, "period", value, "s")]


def overshoot(response: Response) -> list[Feature]:
    """By which share of its change after the last step the response goes beyond its end."""
    after = _after_step(response)
    value = None
    if after is not None:
        _, share = after
        value = max(float(share.max()) - float(share[-1]), 0.0)
    return [Feature(response.of, "overshoot", value, "1")]


def settling(response: Response) -> list[Feature]:
    """Time from the last step until the response stays near its end."""
    after = _after_step(response)
    value = None
    if after is not None:
        time, share = after
        outside = np.flatnonzero(np.abs(share - share[-1]) > SETTLED)
        value = float(time[outside[-1]]) if len(outside) else 0.0
    return [Feature(response.of, "settling", value, "s")]


def rms(response: Response) -> list[Feature]:
    """Root mean square of response minus set-point."""
    away = response.distance
    value = None if away is None else float(np.sqrt(np.mean(away**2)))
    return [Feature(response.of, "rms", value, response.unit)]


def largest(response: Response) -> list[Feature]:
    """Largest distance of the response from the set-point."""
    away = response.distance
    value = None if away is None else float(np.abs(away).max())
    return [Feature(response.of, "largest", value, response.unit)]


OF_RESPONSES = {
    "first_peak": first_peak,
    "period": period,
    "overshoot": overshoot,
    "settling": settling,
    "rms": rms,
    "largest": largest,
}


def _after_step(response: Response) -> tuple[Floats, Floats] | None:
    """Times after the last step, and the response as a share of its change since then."""
    sample = response.last_step
    if sample is None:
        return None
    change = float(response.got[-1] - response.got[sample])
    if change == 0:
        return None
    time = response.time[sample:] - response.time[sample + 1]
    return time, (response.got[sample:] - response.got[sample]) / change


def _peaks(response: Response) -> list[tuple[float, float]]:
    """Time after the last step and value of each maximum in its direction; between samples by a
    parabola.
    """
    after = _after_step(response)
    if after is None:
        return []
    time, share = after
    sample = response.last_step or 0
    change = float(response.got[-1] - response.got[sample])
    before, at, behind = share[:-2], share[1:-1], share[2:]
    found = []
    for k in np.flatnonzero((at > before) & (at >= behind) & (at > SETTLED)):
        bend = before[k] - 2 * at[k] + behind[k]
        shift = 0.0 if bend == 0 else 0.5 * (before[k] - behind[k]) / bend
        when = time[k + 1] + shift * (time[k + 2] - time[k + 1])
        top = at[k] - 0.25 * (before[k] - behind[k]) * shift
        found.append((float(when), float(response.got[sample] + change * top)))
    return found
