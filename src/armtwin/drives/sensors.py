"""Position sensors and amplifiers: what a controller reads and gives, in steps, and late.

y = scale (x - zero) of a row, in whole steps of its quantum, as it was some ticks ago. A current is
limited; it becomes the torque of a motor along its row, or opens the valve of a cylinder.
"""

from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.choice import choose, whole
from armtwin.maths.compiled import inlined
from armtwin.maths.traced_fields import Index, Pattern, Ring

POSITION, SPEED = 0, 1  # rows of late readings


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

    row: Index
    speed_row: Index
    scale: Pattern
    zero: Pattern
    quantum: Floats
    speed_quantum: Floats
    delay: Floats


@inlined
def quantise(x: float, step: float) -> float:
    """x in whole steps; a step of 0 changes nothing."""
    smooth = step == 0.0
    steps = x * (1.0 / choose(smooth, 1.0, step))
    half = choose(steps > 0.0, 0.5, -0.5)
    return choose(smooth, x, step * whole(steps + half))


def find_head(past: Ring, tick: float) -> int:
    """Row of a ring that a tick writes: its rows in turn."""
    length = past.shape[0]
    return whole(tick - length * np.floor(tick / length))


def recall(past: Ring, head: int, m: int, what: int, now: float, ticks: float) -> float:
    """Value `ticks` ago in a ring, (length, drives, kinds), linear between ticks.

    The value of now, which row `head` is to get, is kept in it; that of no delay is returned.
    """
    full = whole(ticks)
    share = ticks - full
    younger = choose(full == 0, now, past[_back(past, head, full), m, what])
    older = past[_back(past, head, full + 1), m, what]
    past[head, m, what] = now
    return choose(ticks > 0.0, (1.0 - share) * younger + share * older, now)


def _back(past: Ring, head: int, ticks: int) -> int:
    """Row of a ring some ticks before its head."""
    row = head - ticks
    return choose(row < 0, row + past.shape[0], row)


def read_late(delay: Floats, past: Ring, tick: float, position: Floats, speed: Floats) -> None:
    """Keep positions and speeds of this tick and replace them by those that late sensors show."""
    head = find_head(past, tick)
    for m in range(delay.shape[0]):
        position[m] = recall(past, head, m, POSITION, position[m], delay[m, POSITION])
        speed[m] = recall(past, head, m, SPEED, speed[m], delay[m, SPEED])


class Outputs(NamedTuple):
    """Outputs of all drives, (drives,) each.

    Attributes:
        row: Row on which the drive acts.
        per_current: What the controller commands for one ampere: a motor's torque constant; 1 for
            a valve.
        torque: Torque of one ampere along the row [N m/A]; 0 for a valve.
        limit: Largest current [A].
        quantum: Step of the current [A]; 0 gives every value.
        delay: Time from the command to the current [ticks].
    """

    row: Index
    per_current: Floats
    torque: Floats
    limit: Floats
    quantum: Floats
    delay: Floats


def give_late(delay: Floats, past: Ring, tick: float, current: Floats) -> None:
    """Keep the commanded currents of this tick and replace them by those that flow now."""
    head = find_head(past, tick)
    for m in range(delay.shape[0]):
        current[m] = recall(past, head, m, 0, current[m], delay[m])
