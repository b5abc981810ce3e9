"""Outputs of a controller: an amplifier that gives a current, limited, in steps, and late.

A current becomes the torque of a motor along its row, or opens the valve of a cylinder.
"""

from typing import NamedTuple

from armtwin.drives.sensors import find_head, recall
from armtwin.maths.batch import Floats
from armtwin.maths.traced_fields import Index, Ring


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
