"""Half-cycles of a clamping curve: the motor's travel from one turning region to the other.

As the document has it: steps of position below the mean step are set to zero, for in the turning
regions the motor hardly moves and its noise changes sign; a moving average that delays nothing
removes the noise of the rest; a half-cycle has steps of one sign.

Ref: [Soder-Hoorn 2015, section 4.3]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress, groupby

import numpy as np
from numpy.typing import NDArray

from armtwin.identification.clamping.curves import moving_average
from armtwin.maths.batch import Floats

WINDOW = 1 / 400  # of the samples: the moving average
BLIP = 0.1  # of the whole turn: shorter sequences belong to those beside them
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
    signs = _signs(q)
    found = _sequences(signs)
    least = BLIP * float(np.ptp(q))
    kept = [part for part in found if part.travel(q) >= least]
    return _join(kept)


def select_whole(q: Floats, found: list[HalfCycle]) -> list[HalfCycle]:
    """Half-cycles that go from one turning region to the other; the partial ones are left out."""
    if not found:
        return []
    travels = np.array([part.travel(q) for part in found])
    return list(compress(found, travels >= WHOLE * np.median(travels)))


def _signs(q: Floats) -> NDArray[np.int64]:
    """Sign of the motion in each step, 0 in the turning regions, (m - 1,)."""
    steps = np.diff(q)
    steps[np.abs(steps) < np.abs(steps).mean()] = 0.0
    window = max(3, round(WINDOW * len(q)))
    smooth = moving_average(steps, window)
    # what is left of rounding in the sums is no motion
    smooth[np.abs(smooth) < 1e-12 * np.abs(smooth).max()] = 0.0
    return np.sign(smooth).astype(np.int64)


def _sequences(signs: NDArray[np.int64]) -> list[HalfCycle]:
    found = []
    start = 0
    for sign, steps in groupby(signs.tolist()):
        count = len(list(steps))
        if sign != 0:
            found.append(HalfCycle(start, start + count + 1, sign))
        start += count
    return found


def _join(parts: list[HalfCycle]) -> list[HalfCycle]:
    """Parts that follow each other in one direction as one."""
    joined: list[HalfCycle] = []
    for part in parts:
        if joined and joined[-1].direction == part.direction:
            joined[-1] = HalfCycle(joined[-1].start, part.stop, part.direction)
        else:
            joined.append(part)
    return joined
