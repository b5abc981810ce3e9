"""What is read off a response: peak, period, overshoot, settling, distance from the set-point."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.responses import StepFeatures, step_features
from armtwin.maths.reversals import measure_turn, turning_samples

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


def _away(name: str, measure: Callable[[Floats], Any], response: SetpointResponse) -> list[Feature]:
    """A measure of response minus set-point."""
    away = response.distance
    value = None if away is None else float(measure(away))
    return [Feature(response.of, name, value, response.unit)]


def _of_turns(name: str, response: SetpointResponse) -> list[Feature]:
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
                values.append(getattr(turn, name))
    value = float(np.mean(values)) if values else None
    return [Feature(response.of, name, value, response.unit)]


def _feature(name: str, unit: str, response: SetpointResponse) -> list[Feature]:
    """What of the response to the last step has this name there."""
    found = _after_step(response)
    value = None if found is None else getattr(found, name)
    return [Feature(response.of, name, value, unit)]


OF_RESPONSES: dict[str, Callable[[SetpointResponse], list[Feature]]] = {
    "first_peak": first_peak,
    # between the first two peaks, or twice from the first to the trough behind it
    "period": partial(_feature, "period", "s"),
    "overshoot": partial(_feature, "overshoot", "1"),  # of the first peak, of the final value
    "settling": partial(_feature, "settling", "s"),
    "final": partial(_feature, "final", "1"),  # where it ends, as a share of the step
    "rms": partial(_away, "rms", lambda away: np.sqrt(np.mean(away**2))),
    "largest": partial(_away, "largest", lambda away: np.abs(away).max()),
    "lost_motion": partial(_of_turns, "lost_motion"),  # by how much it stays behind at turns
    "glitch": partial(_of_turns, "glitch"),  # range of the error about them, less what is smooth
}


def _after_step(response: SetpointResponse) -> StepFeatures | None:
    """Features of the response to the last step; None where there is none."""
    sample = response.last_step
    if sample is None or response.step == 0:
        return None
    risen = response.got[sample + 1 :] - response.got[sample]
    return step_features(response.time[sample + 1 :], risen, response.step)
