"""The registry of friction laws: a new law is one file, and one line here that imports it.

docs/adding.md shows what such a file holds.
"""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, TypeAlias

from armtwin.drives.friction.coulomb import (
    Coulomb as Coulomb,
    CoulombViscous as CoulombViscous,
    SmoothCoulombViscous as SmoothCoulombViscous,
    StaticCoulombViscous as StaticCoulombViscous,
    Stribeck as Stribeck,
)
from armtwin.drives.friction.hyperbolic import Hyperbolic as Hyperbolic, Makkar as Makkar
from armtwin.drives.friction.linear_law import LinearLaw
from armtwin.drives.friction.lubricated import (
    GearedJoint as GearedJoint,
    GearPair as GearPair,
    RollerBearing as RollerBearing,
)
from armtwin.drives.friction.table import TabulatedFriction as TabulatedFriction
from armtwin.drives.friction.terms import Drop as Drop, Loaded as Loaded, Power as Power

if TYPE_CHECKING:
    Law: TypeAlias = LinearLaw
else:
    # the union of the imported laws, from which the schema of a robot file is made
    Law = reduce(or_, sorted(LinearLaw.__subclasses__(), key=lambda kind: kind.law))
