"""The plant as packed arrays: rows of the coordinates, and families of parts that name a row.

A part sees the position x = s · u and the speed w = s · v of its row and acts back along it. A row
may have a lever: its position is then a length over the combination s · u, and it acts with the
slope of that length. Every part gives its torque and the torque's slope with w before a step is
solved, and takes its new state after it. Nothing here knows a robot or a law: rows and tables say
it all.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from armtwin.drives.friction.load import GearLoads
from armtwin.drives.hydraulics import Cylinders
from armtwin.drives.linkage import Levers
from armtwin.drives.ripple import Ripples
from armtwin.drives.rows import Rows, Springs
from armtwin.drives.sensors import Outputs, Sensors
from armtwin.maths.batch import Floats
from armtwin.maths.traced_fields import Index, Known, Table
from armtwin.mechanics.rotors import Rotors
from armtwin.simulation.solve import Ties

STEEPNESS = 1e6  # of the arctangent [s/rad]: full friction beyond about 1e-4 rad/s
SCALE, C0, C1, OFFSET, HELD, HELD_BACK = range(6)
NO_FRICTION, BRISTLES, ARCTANGENT, SWITCHING = range(4)


class Friction(NamedTuple):
    """Friction elements.

    Attributes:
        row: Row of each element, (e,).
        curves: Tables of dry and viscous friction, positive and negative side,
            (e, 2, INTERVALS, 8).
        numbers: Table scale, bristle stiffness, damping, offset, torque held at rest forward and
            backward, (e, 6).
        kind: NO_FRICTION, BRISTLES, ARCTANGENT or SWITCHING.
    """

    row: Index
    curves: Table
    numbers: Floats
    kind: Known


class Balancers(NamedTuple):
    """Passive struts: tables of their torque over the angle of a row.

    Attributes:
        row: Row of each balancer, (b,).
        table: Cubics of its torque over one turn, (b, TURN_INTERVALS, 4).
    """

    row: Index
    table: Table


# A bristle that is hardly there: friction of 1e-15 N m keeps a run and its kernel the same.
SILENT_LEVEL, SILENT_STIFFNESS = 1e-15, 1e-6


class Plant(NamedTuple):
    """Rows of the coordinates and all that acts on them.

    Attributes:
        rows: Combinations of coordinates that the parts name.
        levers: Rows whose position is a length.
        rotors: Inertia of the motors.
        friction: Friction elements.
        springs: Springs of elastic transmissions and links.
        holds: Servos that hold rows on positions as springs do; their work is the motors'.
        ripples: Unevenness of elastic transmissions.
        balancers: Passive struts.
        cylinders: Hydraulic drives.
        sensors: What the controller reads.
        outputs: What the controller drives.
        ties: Which coordinates a drive side is tied to.
        loads: Friction elements whose level follows their load.
    """

    rows: Rows
    levers: Levers
    rotors: Rotors
    friction: Friction
    springs: Springs
    holds: Springs
    ripples: Ripples
    balancers: Balancers
    cylinders: Cylinders
    sensors: Sensors
    outputs: Outputs
    ties: Ties
    loads: GearLoads


def without_friction(elements: Iterable[int], plant: Plant) -> Plant:
    """The plant with given friction elements removed; its structure stays."""
    curves, numbers = plant.friction.curves.copy(), plant.friction.numbers.copy()
    for e in elements:
        curves[e] = 0.0
        curves[e, :, :, 0] = SILENT_LEVEL
        numbers[e, [C0, C1, OFFSET, HELD, HELD_BACK]] = SILENT_STIFFNESS, 0.0, 0.0, 0.0, 0.0
    return plant._replace(friction=plant.friction._replace(curves=curves, numbers=numbers))


STIFFER = 1e3  # factor by which a spring is stiffer in place of a rigid gear; the structure stays


def without_elasticity(spring: int, plant: Plant) -> Plant:
    """The plant with a spring so stiff that its gear or link is as good as rigid."""
    stiffness, soft = plant.springs.stiffness.copy(), plant.springs.soft.copy()
    damping, knee = plant.springs.damping.copy(), plant.springs.knee.copy()
    stiffness[spring] *= STIFFER
    soft[spring] *= STIFFER
    knee[spring] /= STIFFER
    damping[spring] *= np.sqrt(STIFFER)  # the relative damping stays
    springs = plant.springs._replace(stiffness=stiffness, soft=soft, damping=damping, knee=knee)
    return plant._replace(springs=springs)


def without_backlash(spring: int, plant: Plant) -> Plant:
    """The plant with a gear that has no backlash."""
    gap = plant.springs.gap.copy()
    gap[spring] = 0.0
    return plant._replace(springs=plant.springs._replace(gap=gap))


def without_ripple(spring: int, plant: Plant) -> Plant:
    """The plant with an elastic gear that turns evenly."""
    amplitude = np.where(plant.ripples.spring == spring, 0.0, plant.ripples.amplitude)
    return plant._replace(ripples=plant.ripples._replace(amplitude=amplitude))


def without_limit(drive: int, plant: Plant) -> Plant:
    """The plant with a drive whose current has no limit."""
    limit = plant.outputs.limit.copy()
    limit[drive] = np.inf
    return plant._replace(outputs=plant.outputs._replace(limit=limit))
