"""What a motion does where its command turns back: lost motion and the height of the glitch.

About a turn at t_0, within ±h of it, x = t - t_0:

    e(x) = c_0 + c_1 x + c_2 x² - (L / 2) s(x) + glitch,   s = -1 before and +1 after the turn

L is lost motion: the response stays behind on either side, by what backlash and friction take.
Errors that follow speed and acceleration are in c_1, and in c_0 and c_2. The time in which a drive
is stuck, about t_0, does not count for the fit; the glitch is the range of what the smooth part
leaves there.
"""

from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Floats, Integers

CORE = 0.3  # share of h about a turn in which the drive may be stuck
LEAST = 8  # samples on either side of a turn


class Turn(NamedTuple):
    """What happens where a command turns back.

    Attributes:
        time: When [s].
        lost_motion: Lost motion: by how much the response stays behind on both sides together.
        glitch: Range of the error about it, beside what is smooth.
    """

    time: float
    lost_motion: float
    glitch: float


def turning_samples(wanted: Floats) -> Integers:
    """Samples at which a command turns back: where its steps change sign, at rest or not."""
    steps = np.sign(np.diff(wanted))
    moving = np.flatnonzero(steps)
    turns = np.flatnonzero(steps[moving][1:] != steps[moving][:-1])
    return moving[turns + 1]


def measure_turn(time: Floats, error: Floats, at: float, half: float, after: float) -> Turn | None:
    """Lost motion and glitch of an error, (m,), about a turn; None where samples are missing.

    Args:
        time: Times of the error, (m,) [s].
        error: Response minus command, (m,).
        at: When the command turns [s].
        half: How far about it is looked [s].
        after: Direction of the command after it, 1 or -1.
    """
    x = (time - at) / half
    near = np.abs(x) <= 1
    x, e = x[near], error[near]
    sides = np.abs(x) > CORE
    if min(np.count_nonzero(sides & (x < 0)), np.count_nonzero(sides & (x > 0))) < LEAST:
        return None
    columns = np.column_stack([np.ones_like(x), x, x**2, np.sign(x)])
    found = np.linalg.lstsq(columns[sides], e[sides], rcond=None)[0]
    smooth = columns[:, :3] @ found[:3]
    return Turn(at, float(-2 * after * found[3]), float(np.ptp(e - smooth)))
