"""The registry of friction laws: a new law is one file and one line here.

A law is a frozen dataclass that derives from `LinearLaw` and gives
    columns(w)     torque per unit of each coefficient at speed w: torque = columns @ coefficients
"""

from __future__ import annotations

import numpy as np

from armtwin.drives.friction.coulomb import (
    Coulomb,
    CoulombViscous,
    SmoothCoulombViscous,
    StaticCoulombViscous,
)
from armtwin.drives.friction.hyperbolic import Hyperbolic
from armtwin.drives.friction.lubricated import GearedJoint, GearPair, RollerBearing
from armtwin.drives.friction.makkar import Makkar
from armtwin.drives.friction.stribeck import Stribeck
from armtwin.drives.friction.table import TabulatedFriction
from armtwin.drives.friction.terms import Drop, Loaded, Power
from armtwin.maths.batch import Floats

Law = (
    Coulomb
    | CoulombViscous
    | SmoothCoulombViscous
    | StaticCoulombViscous
    | Stribeck
    | Hyperbolic
    | Makkar
    | GearPair
    | GearedJoint
    | RollerBearing
    | TabulatedFriction
    | Drop
    | Power
    | Loaded
)


def sliding_torque(law: Law, w: Floats) -> Floats:
    """Torque of a law at speeds of steady sliding w [rad/s]."""
    return np.asarray(law.columns(w) @ [float(getattr(law, name)) for name, _ in law.coefficients])
