"""From lubricant and geometry to friction parameters: the lubricated laws, derived in numbers.

A contact of two rolling and sliding surfaces carries its load by an oil film and by asperities that
touch. The film grows with the sum of the surface speeds, h = h_s (u⁺/u_s)^δ; fewer asperities touch
then, and the oil is sheared. A gear pair is such a contact with a slip given by its teeth, a roller
bearing one with a small slip.

Ref: [Waiboer 2007, eq. 3.13-3.47, appendix A], [Dowson-Higginson 1977], [Greenwood-Williamson 1966]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.drives.friction.lubricated import GearPair, RollerBearing
from armtwin.maths.batch import Pair
from armtwin.maths.quantities import Positive, Share


def lubrication_number(
    viscosity: Share, sum_speed: Share, pressure: Positive, roughness: Positive
) -> float:
    """η u⁺ / (p R_a), the abscissa of a generalised Stribeck curve.

    Args:
        viscosity: Viscosity η [Pa s].
        sum_speed: Sum of the surface speeds u⁺ [m/s].
        pressure: Mean pressure p [Pa].
        roughness: Roughness R_a [m].

    Ref: [Waiboer 2007, eq. 3.13]
    """
    return viscosity * sum_speed / (pressure * roughness)


def film_height(
    radius: Positive,
    modulus: Positive,
    viscosity: Share,
    exponent: Share,
    load: Positive,
    sum_speed: Share,
) -> float:
    """Smallest film height [m] of a line contact, H = 1.6 G^0.6 U^0.7 / W^0.13. (3.22-3.26)

    Args:
        radius: Radius R of the roller pair [m].
        modulus: Elastic modulus E [Pa].
        viscosity: Viscosity η₀ [Pa s].
        exponent: Pressure exponent α of the oil [1/Pa].
        load: Load per width w [N/m].
        sum_speed: Sum of the surface speeds u⁺ [m/s].
    """
    W = load / (modulus * radius)
    U = sum_speed * viscosity / (modulus * radius)
    G = exponent * modulus
    return radius * 1.6 * G**0.6 * U**0.7 / W**0.13


@dataclass(frozen=True)
class Contact:
    """One lubricated contact.

    Attributes:
        asperity_force: Friction force of one asperity at rest, f [N].
        density: Asperities per area, d [1/m²].
        area: Area of contact, A [m²].
        summit_spread: Standard deviation of the summits' heights, σ [m].
        film: Film height h_s at the scaling speed [m].
        scaling_speed: Sum speed u_s at which the film has that height [m/s].
        growth: Exponent δ of the film's growth with speed.
        viscosity: Viscosity η of the oil [Pa s].
        hydrodynamic_area: Area over which the oil is sheared, A_H [m²].
    """

    asperity_force: float
    density: float
    area: float
    summit_spread: float
    film: float
    scaling_speed: float
    growth: float
    viscosity: float
    hydrodynamic_area: float

    def height(self, sum_speed: float) -> float:
        """Film height at a sum speed (3.29) [m]."""
        return float(self.film * (sum_speed / self.scaling_speed) ** self.growth)

    def asperity_friction(self, sum_speed: float) -> float:
        """Friction force of the asperities still in contact [N] (3.31-3.35)."""
        touching = self.density * self.area * np.exp(-self.height(sum_speed) / self.summit_spread)
        return float(touching * self.asperity_force)

    def newtonian_friction(self, sum_speed: float, sliding_speed: float) -> float:
        """Force that shears a Newtonian film, η A u⁻ / h [N] (3.15-3.19, 3.30)."""
        return self.viscosity * self.hydrodynamic_area * sliding_speed / self.height(sum_speed)

    def stress_limited_friction(self, height: float, sliding_speed: float, limit: float) -> float:
        """Force that shears a film of a height [m] up to a limit of stress [Pa] (3.16, 3.20)."""
        decay = np.expm1(-self.viscosity * sliding_speed / (limit * height))
        return float(-self.hydrodynamic_area * limit * decay)


@dataclass(frozen=True)
class Teeth:
    """Geometry of a helical gear pair.

    Attributes:
        pitch_radius: Pitch radius of the driving wheel, R₁ [m].
        pressure_angle: Pressure angle α [rad].
        pair_ratio: Speed of the driven over the driving wheel, n of the pair.
        contact_angle: Largest contact angle of the driving wheel, β_c [rad].
        joint_ratio: Speed of the driving wheel over the joint's, n_g; 1 for a law on the wheel.
        in_contact: Teeth in contact, k.
    """

    pitch_radius: float
    pressure_angle: float
    pair_ratio: float
    contact_angle: float
    joint_ratio: float
    in_contact: float

    def speeds(self, wheel_speed: float, angle: float) -> Pair:
        """Sum and sliding speed [m/s] at a contact angle [rad] (A.6)."""
        along = wheel_speed * self.pitch_radius * np.cos(self.pressure_angle)
        first = np.tan(self.pressure_angle + angle)
        second = np.tan(self.pressure_angle - self.pair_ratio * angle)
        return float(along * (first + second)), float(along * (first - second))

    @property
    def slip(self) -> float:
        """Mean absolute slip ratio s₀ (A.10-A.11)."""
        sides = 4 * np.sin(self.pressure_angle) * np.cos(self.pressure_angle)
        return float(self.contact_angle * (1 + self.pair_ratio) / sides)

    @property
    def lever(self) -> float:
        """Sum speed per joint speed, r [m]; the factor 2 of (A.8) is kept here (3.36-3.37)."""
        return float(2 * self.joint_ratio * self.pitch_radius * np.sin(self.pressure_angle))


def gear_pair(contact: Contact, teeth: Teeth) -> GearPair:
    """Friction law of a gear pair, speed and torque both at the joint. (3.40-3.41)

        τ_joint = n_g τ_wheel      the power lost is τ_joint q̇ = τ_wheel ω₁ with ω₁ = n_g q̇
        c_v = n_g k R₁ s₀ η A_H / h_s (u_s / r)^δ r

    Errata: (3.40) has the speed of the joint and, without n_g, the torque of the driving wheel.
    (3.41c) is printed without the last factor r; the sliding speed s₀ r q̇ brings it in, and
    without it c_v q̇^(1-δ) would be no torque.

    Args:
        contact: What two surfaces with oil between them are.
        teeth: Where and how the teeth touch.
    """
    wheel = teeth.in_contact * teeth.pitch_radius * np.cos(teeth.pressure_angle)
    radius = teeth.joint_ratio * wheel
    delta, r = contact.growth, teeth.lever
    speed = contact.scaling_speed / r
    shear = contact.viscosity * contact.hydrodynamic_area / contact.film * speed**delta
    rough = (contact.summit_spread / contact.film) ** (1 / delta)
    return GearPair(
        asperity=float(radius * contact.asperity_force * contact.density * contact.area),
        speed=float(speed * rough),
        exponent=delta,
        viscous=float(radius * teeth.slip * shear * r),
    )


def roller_bearing(
    contact: Contact, radius: float, rollers: float, slip: float, limit: float, height: float
) -> RollerBearing:
    """Friction law of a prestressed roller bearing. (3.43-3.47)

    Erratum: (3.43) and (3.44b) give a sliding speed s₀ r q̇ / 2, (3.45b) has s₀ r q̇. The latter is
    followed, as (3.47d) follows from it; with the former limit_speed would be twice as large.

    Args:
        contact: The contact of a roller and a raceway.
        radius: Mean radius of the raceway [m].
        rollers: Number of rollers.
        slip: Mean slip ratio s₀, very small.
        limit: Limiting shear stress of the oil [Pa].
        height: Film height, taken constant for the shear [m].
    """
    rough = (contact.summit_spread / contact.film) ** (1 / contact.growth)
    return RollerBearing(
        asperity=radius * rollers * contact.asperity_force * contact.density * contact.area,
        speed=contact.scaling_speed / radius * rough,
        exponent=contact.growth,
        limit=radius * rollers * limit * contact.hydrodynamic_area,
        limit_speed=limit * height / (radius * slip * contact.viscosity),
    )
