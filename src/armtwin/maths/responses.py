"""Features of a step response: first peak, period, overshoot, settling.

    overshoot = (y_max - y_∞) / y_∞      the first peak beyond the final value, as a share of it

The final value y_∞ is where the response ends; dry friction and dead bands keep it from the
set-point.

An extreme counts where the response then turns back by a share of the step: bumps of coupled axes
and rounding are passed over. Its place is that of a parabola through three samples.

Ref: [Machielsen 1983, section 7.1.2]
"""

from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Floats

PROMINENCE = 0.003  # share of the step by which a response turns back from an extreme
RISEN = 0.3  # share of the step from which an extreme is a peak of the response
BAND = 0.05  # share of the step within which a response has settled
LATEST = 0.9  # share of a record by which a response must have settled to have a final value


@dataclass(frozen=True)
class StepFeatures:
    """Features of a step response.

    Attributes:
        first_peak: Time from the step to the first peak [s]; None where there is none.
        period: Time from the first peak to the second, or twice that to the first trough where
            friction stops the second [s]; None where the response does not oscillate.
        peak: Height of the first peak, as a share of the step.
        overshoot: By how much the first peak exceeds the final value, as a share of that; None
            where the response does not settle or ends on the other side of its start.
        settling: Time from the step from which the response stays within BAND of its end [s].
        final: Where the response ends, as a share of the step.
    """

    first_peak: float | None
    period: float | None
    peak: float | None
    overshoot: float | None
    settling: float
    final: float


def step_features(time: Floats, response: Floats, step: float) -> StepFeatures:
    """Features of a response to a step at the first sample.

    Args:
        time: Times of the samples, even, (m,) [s].
        response: The response less its start, (m,).
        step: The step of the set-point, in the same unit.
    """
    y = response / step
    since = time - time[0]
    peaks, troughs = extremes(since, y, PROMINENCE)
    peaks = [place for place in peaks if place[1] > RISEN]
    final = float(y[-1])
    settling = _settling(since, y, final)
    if not peaks:
        return StepFeatures(None, None, None, None, settling, final)
    first, height = peaks[0]
    period = None
    later = [t for t, _ in troughs if t > first]
    if len(peaks) > 1:
        period = peaks[1][0] - first
    elif later:
        period = 2 * (later[0] - first)
    settles = settling <= LATEST * since[-1] and final > 0
    over = height / final - 1 if settles else None
    return StepFeatures(first, period, height, over, settling, final)


def _settling(time: Floats, y: Floats, final: float) -> float:
    away = np.flatnonzero(np.abs(y - final) > BAND)
    return float(time[min(away[-1] + 1, len(time) - 1)]) if len(away) else 0.0


Place = tuple[float, float]


def extremes(time: Floats, y: Floats, prominence: float) -> tuple[list[Place], list[Place]]:
    """Times and values of the peaks and troughs from which y turns back by at least a threshold."""
    peaks: list[Place] = []
    troughs: list[Place] = []
    high = low = 0
    rising = True
    for k in range(1, len(y)):
        if y[k] > y[high]:
            high = k
        if y[k] < y[low]:
            low = k
        if rising and y[k] < y[high] - prominence:
            peaks.append(_parabola(time, y, high))
            rising, low = False, k
        elif not rising and y[k] > y[low] + prominence:
            troughs.append(_parabola(time, y, low))
            rising, high = True, k
    return peaks, troughs


def _parabola(time: Floats, y: Floats, k: int) -> Place:
    """Place of the extreme of a parabola through the samples around one."""
    if not 0 < k < len(y) - 1:
        return float(time[k]), float(y[k])
    before, here, after = y[k - 1 : k + 2]
    bend = before - 2 * here + after
    if bend == 0:
        return float(time[k]), float(here)
    share = 0.5 * (before - after) / bend
    return float(time[k] + share * (time[k + 1] - time[k])), float(
        here - 0.25 * (before - after) * share
    )
