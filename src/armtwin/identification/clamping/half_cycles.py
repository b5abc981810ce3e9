"""Half-cycles of a clamping curve: the motor's travel from one turning region to the other.

The document sets steps of position below the mean step to zero and takes sequences of one sign; an
encoder whose lines are farther apart than a sample's step has no such sequences. Here a turn counts
when the motor has come back from its farthest angle by a share of the whole turn, whatever the
steps; a half-cycle lasts from one turn to the next, without the samples in which it rests there.

Ref: [Soder-Hoorn 2015, section 4.3]
"""

from dataclasses import dataclass
from itertools import compress, pairwise

import numpy as np

from armtwin.identification.clamping.curves import moving_average
from armtwin.maths.batch import Floats

WINDOW = 1 / 400  # of the samples: the moving average
TURNED = 0.25  # of the whole turn by which the motor comes back after a turn: more than noise does
RESTS = 0.02  # of a half-cycle's travel within which the motor rests at its ends
WHOLE = 0.8  # of the longest usual travel: less is a part of a half-cycle


@dataclass(frozen=True)
class HalfCycle:
    """Samples `start` up to `stop` with motion in one direction.

    Attributes:
        start: First sample.
        stop: One after the last.
        direction: +1 where position and torque rise, -1 where they decrease.
    """

    start: int
    stop: int
    direction: int

    @property
    def rows(self) -> slice:
        """Its samples."""
        return slice(self.start, self.stop)

    def travel(self, q: Floats) -> float:
        """How far the motor turns in it [rad]."""
        return self.direction * float(q[self.stop - 1] - q[self.start])


def find_half_cycles(q: Floats) -> list[HalfCycle]:
    """All half-cycles of motor angles (m,), parts at the ends included."""
    smooth = moving_average(q, max(3, round(WINDOW * len(q))))
    ends = _find_turns(smooth)
    found = []
    for start, stop in pairwise(ends):
        travel = float(smooth[stop] - smooth[start])
        share = (smooth[start : stop + 1] - smooth[start]) / travel
        left = start + int(np.flatnonzero(share <= RESTS)[-1])
        arrived = start + int(np.flatnonzero(share >= 1 - RESTS)[0])
        found.append(HalfCycle(left, arrived + 1, 1 if travel > 0 else -1))
    return found


def _find_turns(q: Floats) -> list[int]:
    """Samples at which the motor is farthest, with the first and last sample that end a travel."""
    back = TURNED * float(np.ptp(q))
    low = high = 0  # samples of the extreme angles since the last turn
    direction = 0
    turns = []
    angles = q.tolist()
    for k, angle in enumerate(angles):
        if angle > angles[high]:
            high = k
        if angle < angles[low]:
            low = k
        if direction >= 0 and angles[high] - angle >= back:
            turns.append(high)
            direction, low = -1, k
        elif direction <= 0 and angle - angles[low] >= back:
            turns.append(low)
            direction, high = 1, k
    last = high if direction > 0 else low
    if turns and abs(angles[last] - angles[turns[-1]]) >= back:
        turns.append(last)
    return turns


def select_whole(q: Floats, found: list[HalfCycle]) -> list[HalfCycle]:
    """Half-cycles that go from one turning region to the other; the partial ones are left out."""
    if not found:
        return []
    travels = np.array([part.travel(q) for part in found])
    return list(compress(found, travels >= WHOLE * np.median(travels)))
