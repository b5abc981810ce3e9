"""Outputs of a controller: an amplifier that gives a current, limited, in steps, and late.

A current becomes the torque of a motor along its row, or opens the valve of a cylinder.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from armtwin.drives.sensors import read_delayed
from armtwin.maths.batch import Floats
from armtwin.maths.compiled import exactly


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

    row: Any
    per_current: Any
    torque: Any
    limit: Any
    quantum: Any
    delay: Any


@exactly
def give_late(delay: Floats, past: Floats, head: int, current: Floats) -> None:
    """Keep the commanded currents of this tick and replace them by those that flow now."""
    for m in range(delay.shape[0]):
        past[m, 0, head] = current[m]
        if delay[m] > 0.0:
            current[m] = read_delayed(past, m, 0, head, delay[m])
