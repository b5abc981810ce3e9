"""The registry of friction laws: a new law is one file and one line here."""

from __future__ import annotations

from armtwin.drives.friction.coulomb import Coulomb, CoulombViscous, StaticCoulombViscous
from armtwin.drives.friction.hyperbolic import Hyperbolic
from armtwin.drives.friction.lubricated import GearedJoint, GearPair, RollerBearing
from armtwin.drives.friction.stribeck import Stribeck
from armtwin.drives.friction.table import Table

Law = (
    Coulomb
    | CoulombViscous
    | StaticCoulombViscous
    | Stribeck
    | Hyperbolic
    | GearPair
    | GearedJoint
    | RollerBearing
    | Table
)
