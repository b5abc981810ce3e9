"""Balancers: passive struts that carry part of the arm's weight, as functions of one joint angle.

A balancer has a force σ(L) that pulls its pins together. The torque a motor needs because of it is
σ dL/dx, the derivative of its energy, and linear in its coefficients:
torque = columns @ coefficients.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from armtwin.drives.linkage import Triangle
from armtwin.maths import quantities as si
from armtwin.maths.batch import NamesAndUnits, Numbers

GAS_CONSTANT_NITROGEN = 296.8  # J/(kg K)


@dataclass(frozen=True)
class SpringForce:
    """Spring with preload, σ = preload + stiffness (L - length).

    Attributes:
        length: Length of the strut at which the force is the preload [m].
        preload: Tension at that length [N].
        stiffness: Change of tension with length [N/m].

    Ref: [Waiboer 2007, eq. 4.14, 4.22-4.23, B.1-B.3]
    """

    length: si.Length
    preload: si.Force
    stiffness: si.Stiffness
    kind: Literal["spring"] = "spring"

    coefficients: ClassVar[NamesAndUnits] = (("preload", "N"), ("stiffness", "N/m"))

    def columns(self, linkage: Triangle, x: Numbers) -> Any:
        """Torque per unit of preload and of stiffness, (..., 2)."""
        lever = linkage.rate(x)
        return np.stack([lever, lever * (linkage.length(x) - self.length)], axis=-1)

    def energy(self, linkage: Triangle, x: Numbers) -> Any:
        """Energy stored in the spring [J], zero at its reference length."""
        e = linkage.length(x) - self.length
        return self.preload * e + 0.5 * self.stiffness * e**2


@dataclass(frozen=True)
class GasForce:
    """Gas accumulator behind a pulled piston, at constant temperature, σ = scale A p(L).

        p = Z R_s T m / (V - A (L - L_min))
        A = π/4 (piston² - rod²),   L_min = √(squares - product)

    Attributes:
        piston_diameter: Diameter of the piston [m].
        rod_diameter: Diameter of the rod on the pressure side [m].
        gas_mass: Mass of nitrogen [kg].
        volume: Volume of the gas with the rod fully in [m³].
        compressibility: Real-gas factor Z.
        temperature: Temperature of the gas [K].
        scale: Factor on the force, the one number to identify.

    Ref: [Weigand 2021]
    """

    piston_diameter: si.Length
    rod_diameter: si.Length
    gas_mass: si.Mass
    volume: si.Volume
    temperature: si.Temperature
    compressibility: si.Positive = 1.0
    scale: si.Share = 1.0
    kind: Literal["gas"] = "gas"

    coefficients: ClassVar[NamesAndUnits] = (("scale", "1"),)

    @property
    def area(self) -> float:
        """Annular area of the piston [m²]."""
        return math.pi / 4 * (self.piston_diameter**2 - self.rod_diameter**2)

    @property
    def pressure_volume(self) -> float:
        """Z R_s T m, the product of pressure and volume [J]."""
        return self.compressibility * GAS_CONSTANT_NITROGEN * self.temperature * self.gas_mass

    def too_long(self, linkage: Triangle) -> str:
        """Why the gas has no room for the linkage's stroke, as a phrase; empty if it has."""
        longest = math.sqrt(linkage.squares + linkage.product)
        shortest = math.sqrt(linkage.squares - linkage.product)
        displaced = self.area * (longest - shortest)
        if self.volume > displaced:
            return ""
        return (
            f"volume must exceed the piston's displacement of {displaced:.4g} m³, "
            f"got {self.volume:g}"
        )

    def pressure(self, linkage: Triangle, x: Numbers) -> Any:
        """Gas pressure [Pa] at angle x."""
        shortest = np.sqrt(linkage.squares - linkage.product)
        displaced = self.area * (linkage.length(x) - shortest)
        return self.pressure_volume / (self.volume - displaced)

    def columns(self, linkage: Triangle, x: Numbers) -> Any:
        """Torque per unit of scale, (..., 1)."""
        return (linkage.rate(x) * self.area * self.pressure(linkage, x))[..., None]

    def energy(self, linkage: Triangle, x: Numbers) -> Any:
        """Work stored in the gas [J], zero with the rod fully in: scale p V ln(V / V_gas)."""
        compression = self.pressure(linkage, x) * self.volume / self.pressure_volume
        return self.scale * self.pressure_volume * np.log(compression)


StrutForce = SpringForce | GasForce


@dataclass(frozen=True)
class Strut:
    """A balancer reduced to what acts: a joint, a triangle and a force law.

    Attributes:
        joint: Index of the joint it acts on.
        linkage: Length as a function of that joint's angle.
        force: Force as a function of length.
    """

    joint: int
    linkage: Triangle
    force: StrutForce

    @property
    def values(self) -> tuple[si.Number, ...]:
        """Values of the coefficients, in their order."""
        return tuple(getattr(self.force, name) for name, _ in self.force.coefficients)

    def columns(self, q: Numbers) -> Any:
        """Torque on the joint per unit of each coefficient, (..., k), at joint angles (..., n)."""
        return self.force.columns(self.linkage, q[..., self.joint])

    def torque(self, q: Numbers) -> Any:
        """Torque the joint's motor needs because of the balancer, (...) [N m]."""
        return self.torque_at(q[..., self.joint])

    def torque_at(self, x: Numbers) -> Any:
        """Torque as above at angles x of the joint, (...) [N m]."""
        return (self.force.columns(self.linkage, x) * np.array(self.values)).sum(axis=-1)

    def energy(self, q: Numbers) -> Any:
        """Stored energy, (...) [J]."""
        return self.force.energy(self.linkage, q[..., self.joint])
