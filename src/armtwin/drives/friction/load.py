"""Friction of teeth that grows with the torque they carry: worm gears.

    τ = sign(w) (a + b |load|) s(w) + viscous part,    s(w) = g(w) / g(0), a = g(0)

g is the dry friction of the element's law, load the torque that the gear passes from the motor to
the joint, on the element's row. Of a worm b = tan φ / tan λ, angle of friction over lead angle: a
motor that lifts needs (1 + b) times the load, one that lowers (1 - b) times. From b = 1 on the
friction at rest holds any load: the gear locks itself, and no load drives the motor back. As s(w)
falls with speed as the asperities' share does, this holds at rest only: a load that is once moved,
as by vibration, may go on driving a motor whose b s(w) is below 1.

    load = ρ τ_m - ρ² J dw/dt - friction on the row

The motor's torque τ_m and rotor J with ρ turns of the motor for one of the row. Within a simulation
the load of a step is that of the steps before, smoothed over some of them: friction slows what it
loads, which alone would oscillate from step to step.

`Loaded` of the laws is the same without a level of its own: a = 0, separate from the level of the
friction beside it.

Ref: [Waiboer 2007, sections 4.4.4, 5.4.1, 5.6]
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armtwin.drives.friction.curves import breakaway, split
from armtwin.drives.friction.laws import Law
from armtwin.drives.friction.terms import Loaded
from armtwin.maths.batch import Floats
from armtwin.maths.quantities import Share
from armtwin.maths.traced_fields import Index, Pattern

SMOOTHED = 0.25  # share of the change to a step's load that the carried one goes in a tick
LEAST = 1e-3  # of its usual level that friction keeps without load: its bristle must bend back
LOCKS = 1.0  # share of the load from which on it cannot drive the motor back


@dataclass(frozen=True)
class Load:
    """How dry friction grows with the load of the gear.

    Attributes:
        share: Friction per load, b; 1 and above locks itself.
    """

    share: Share

    @property
    def locks(self) -> bool:
        """Whether the load cannot drive the motor back."""
        return self.share >= LOCKS


def dry_share(law: Law, w: Floats) -> Floats:
    """s(w) of either direction: dry friction over that at the start of sliding, at most 1."""
    speed = np.abs(np.asarray(w, dtype=np.float64))
    g, _ = split(law, np.maximum(speed, 1e-12))
    return g / breakaway(law)


def of_load(law: Law, load: Load | None) -> tuple[float, float, float]:
    """Friction that follows its load as a line: share of the load, level of the law, usual load.

    τ = sign(w) (level + share (|load| - usual)) s(w)
    """
    if isinstance(law, Loaded):
        return law.share, breakaway(law), law.usual
    assert load is not None
    return load.share, breakaway(law), 0.0


class GearLoads(NamedTuple):
    """Friction elements whose level follows their load.

    Attributes:
        element: Number of the friction element, (l,).
        drive: Number of the motor that turns its row, (l,).
        ratio: Turns of that motor for one of the row, ρ, (l,).
        inertia: Its rotor on the row, ρ² J, (l,) [kg m²].
        least: Level without load, over that of the element's table, (l,).
        share: Level per load, (l,) [1/(N m)].
        beside: 1 for the friction elements on the same row, (l, e).
    """

    element: Index
    drive: Index
    ratio: Floats
    inertia: Floats
    least: Floats
    share: Floats
    beside: Pattern


def compute_loads(
    loads: GearLoads, torque: Floats, h: float, friction: Floats, change: Floats
) -> Floats:
    """Loads of a step h, (l,).

    Args:
        loads: Elements that follow their load.
        torque: Torques of the motors, (drives,).
        h: Length of the step.
        friction: Torque of every friction element half way through the step, (e,).
        change: Change of the elements' speeds, (e,).
    """
    found = np.zeros(len(loads.element), dtype=friction.dtype)
    for k in range(len(loads.element)):
        passed = loads.ratio[k] * torque[loads.drive[k]]
        passed -= loads.inertia[k] * change[loads.element[k]] / h
        for other in range(len(friction)):
            passed -= loads.beside[k, other] * friction[other]
        found[k] = passed
    return found


def carry_loads(loads: GearLoads, load: Floats, carried: Floats, level: Floats) -> None:
    """Carry loads on, smoothed, after a tick: levels least + share |load| of their elements."""
    for k in range(len(loads.element)):
        carried[k] += SMOOTHED * (load[k] - carried[k])
        level[loads.element[k]] = loads.least[k] + loads.share[k] * abs(carried[k])
