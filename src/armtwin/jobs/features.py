"""What is read off a response: peak, period, overshoot, settling, distance from the set-point."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.responses import StepFeatures, step_features
from armtwin.maths.reversals import Turn, measure_turn, turning_samples

ABOUT_TURN = 0.25  # of the time between two turns, to either side of one


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
class SetpointResponse:
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
    def step(self) -> float:
        """Height of the last step: the set-point's, or where a response of another kind ends."""
        sample = self.last_step
        if sample is None:
            return 0.0
        values = self.wanted if self.unit == self.wanted_unit else self.got
        return float(values[-1] - values[sample])

    @property
    def distance(self) -> Floats | None:
        """Response minus set-point, (m,); None where they are not of one kind."""
        return self.got - self.wanted if self.unit == self.wanted_unit else None


def first_peak(response: SetpointResponse) -> list[Feature]:
    """When the response to the last step first turns back, and how high it is there."""
    found = _after_step(response)
    when = height = None
    if found is not None and found.first_peak is not None and found.peak is not None:
        sample = response.last_step or 0
        when = found.first_peak
        height = float(response.got[sample]) + found.peak * response.step
    return [
        Feature(response.of, "first_peak_time", when, "s"),
        Feature(response.of, "first_peak", height, response.unit),
    ]


def period(response: SetpointResponse) -> list[Feature]:
    """Time between the first two peaks after the last step; twice that to the trough between
    where the second is missing.
    """
    return [_feature(response, "period", "s")]


def overshoot(response: SetpointResponse) -> list[Feature]:
    """By which share of the final value the first peak after the last step exceeds it."""
    return [_feature(response, "overshoot", "1")]


def settling(response: SetpointResponse) -> list[Feature]:
    """Time from the last step until the response stays near its end."""
    return [_feature(response, "settling", "s")]


def final(response: SetpointResponse) -> list[Feature]:
    """Where the response to the last step ends, as a share of it."""
    return [_feature(response, "final", "1")]


def rms(response: SetpointResponse) -> list[Feature]:
    """Root mean square of response minus set-point."""
    away = response.distance
    value = None if away is None else float(np.sqrt(np.mean(away**2)))
    return [Feature(response.of, "rms", value, response.unit)]


def largest(response: SetpointResponse) -> list[Feature]:
    """Largest distance of the response from the set-point."""
    away = response.distance
    value = None if away is None else float(np.abs(away).max())
    return [Feature(response.of, "largest", value, response.unit)]


def lost_motion(response: SetpointResponse) -> list[Feature]:
    """By how much the response stays behind where the set-point turns back, mean of the turns."""
    return [_of_turns(response, "lost_motion", lambda turn: turn.lost)]


def glitch(response: SetpointResponse) -> list[Feature]:
    """Range of the error about turns of the set-point, beside what is smooth, their mean."""
    return [_of_turns(response, "glitch", lambda turn: turn.glitch)]


def _of_turns(response: SetpointResponse, name: str, number: Callable[[Turn], float]) -> Feature:
    """Mean of a number over the turns of a set-point; None where it never turns back and forth."""
    away, wanted, time = response.distance, response.wanted, response.time
    samples = turning_samples(wanted)
    values = []
    if away is not None and len(samples) > 1:
        half = ABOUT_TURN * float(np.diff(time[samples]).min())
        for sample in samples[time[samples] > time[0] + half]:
            after = float(np.sign(wanted[sample + 1] - wanted[sample]))
            turn = measure_turn(time, away, float(time[sample]), half, after)
            if turn is not None:
                values.append(number(turn))
    return Feature(response.of, name, float(np.mean(values)) if values else None, response.unit)


OF_RESPONSES = {
    "first_peak": first_peak,
    "period": period,
    "overshoot": overshoot,
    "settling": settling,
    "final": final,
    "rms": rms,
    "largest": largest,
    "lost_motion": lost_motion,
    "glitch": glitch,
}


def _feature(response: SetpointResponse, name: str, unit: str) -> Feature:
    found = _after_step(response)
    value = None if found is None else getattr(found, name)
    return Feature(response.of, name, value, unit)


def _after_step(response: SetpointResponse) -> StepFeatures | None:
    """Features of the response to the last step; None where there is none."""
    sample = response.last_step
    if sample is None or response.step == 0:
        return None
    risen = response.got[sample + 1 :] - response.got[sample]
    return step_features(response.time[sample + 1 :], risen, response.step)
