"""Position sensors: what a controller reads of a row, in its own unit, in steps, and late.

y = scale (x - zero), in whole steps of its quantum, as it was some ticks ago
"""

from __future__ import annotations

from typing import Any, NamedTuple

from armtwin.maths.batch import Floats
from armtwin.maths.choice import choose, whole
from armtwin.maths.compiled import exactly, inlined

POSITION, SPEED = 0, 1


class Sensors(NamedTuple):
    """Sensors of all drives, (drives,) each.

    Attributes:
        row: Row whose position is read.
        speed_row: Row whose speed is read; another one where position and speed come from two
            encoders.
        scale: Reading per position.
        zero: Position that reads as 0.
        quantum: Step of the position reading; 0 reads every value.
        speed_quantum: Step of the speed reading.
        delay: Age of the positions and of the speeds that are read, (drives, 2) [ticks].
    """

    row: Any
    speed_row: Any
    scale: Any
    zero: Any
    quantum: Any
    speed_quantum: Any
    delay: Any


@inlined
def quantise(x: float, step: float) -> float:
    """x in whole steps; a step of 0 changes nothing."""
    smooth = step == 0.0
    steps = x * (1.0 / choose(smooth, 1.0, step))
    half = choose(steps > 0.0, 0.5, -0.5)
    return choose(smooth, x, step * whole(steps + half))


@exactly
def read_delayed(past: Floats, m: int, what: int, head: int, ticks: float) -> float:
    """Value `ticks` ago in a ring (drives, kinds, length), newest at head, linear between ticks."""
    length = past.shape[2]
    full = int(ticks)
    share = ticks - full
    younger = past[m, what, (head - full) % length]
    older = past[m, what, (head - full - 1) % length]
    return (1.0 - share) * younger + share * older


@exactly
def read_late(delay: Floats, past: Floats, head: int, position: Floats, speed: Floats) -> None:
    """Keep positions and speeds of this tick and replace them by those that late sensors show."""
    for m in range(delay.shape[0]):
        past[m, POSITION, head] = position[m]
        past[m, SPEED, head] = speed[m]
        if delay[m, POSITION] > 0.0:
            position[m] = read_delayed(past, m, POSITION, head, delay[m, POSITION])
        if delay[m, SPEED] > 0.0:
            speed[m] = read_delayed(past, m, SPEED, head, delay[m, SPEED])
