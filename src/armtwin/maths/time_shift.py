"""The time in a recording at which a wanted motion begins, by a search that narrows."""

from collections.abc import Callable

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Pair

GRID = 400  # shifts tried on each level of the search
LEVELS = 3
LEAST_MOVING = 0.5  # share of the motion that a recording must hold


def possible_shifts(time: Floats, begin: float, end: float) -> Pair:
    """Smallest and largest shift at which a recording holds enough of a motion; it may be cut.

    Args:
        time: Times of the recording, (m,) [s].
        begin: When the wanted motion begins to move, in its own time [s].
        end: When it comes to rest [s].
    """
    need = LEAST_MOVING * (end - begin)
    low, high = time[0] - end + need, time[-1] - begin - need
    length = time[-1] - time[0]
    if low > high or length < need:
        raise ArmtwinError(
            f"the log of {length:.4g} s is too short for a motion of {end - begin:.4g} s: "
            f"at least {100 * LEAST_MOVING:.0f} % of it must be there"
        )
    return low, high


def search_shift(limits: Pair, costs: Callable[[Floats], Floats]) -> float:
    """The shift of the least cost on grids that are finer from level to level."""
    low, high = limits
    best = low
    for _ in range(LEVELS):
        shifts = np.linspace(low, high, GRID)
        best = float(shifts[int(np.argmin(costs(shifts)))])
        step = (high - low) / (GRID - 1)
        low = max(best - 2 * step, limits[0])
        high = min(best + 2 * step, limits[1])
    return best
