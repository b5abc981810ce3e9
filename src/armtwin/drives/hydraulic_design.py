"""Oil and flow of a hydraulic drive from its physical data.

A cylinder with areas A₁, A₂ (a = A₂/A₁) behind a valve of area per current w and discharge C:

    x_v > 0 (extends)    Q₁ = C w x_v √(2 (p_s - p_L) / (ρ (1 + a³)))
    x_v < 0 (retracts)   Q₁ = C w x_v √(2 (a p_s + p_L) / (ρ (1 + a³)))       p_L = p₁ - a p₂ = F/A₁

    no-load speed Q₁/A₁ at p_L = 0,   compliance 1 / (β (A₁²/V₁ + A₂²/V₂)),
    leakage (K_c + C_leak)/A₁² with K_c = |∂Q₁/∂p_L| at an opening and p_L = 0:
    Q₁/(2 p_s) where it extends, |Q₁|/(2 a p_s) where it retracts, 1/√a times as much

A vane motor displaces D for each radian, both sides alike:

    Q = C w x_v √((p_s - p_L)/ρ),   leakage (K_c + C_leak)/D²,   compliance V / (4 β D²)

Ref: [Machielsen 1983, appendices D and E], [Merritt 1967]; retracting from the same continuity,
Q₂ = a Q₁, for its print of that equation is not legible.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from armtwin.maths.batch import Pair
from armtwin.maths.quantities import Area, Current, Positive, Volume
from armtwin.maths.units import Unit

Pressure = Annotated[float, Unit("Pa", above=0)]
Density = Annotated[float, Unit("kg/m^3", above=0)]
Opening = Annotated[float, Unit("A")]
AreaPerCurrent = Annotated[float, Unit("m^2/A", above=0)]
Leak = Annotated[float, Unit("m^3/(Pa s)", at_least=0)]
Displacement = Annotated[float, Unit("m^3/rad", above=0)]
FlowTable = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class CylinderDesign:
    """Physical data of a valve and a cylinder.

    Attributes:
        area: Piston area on the side that extends, A₁ [m²].
        return_area: Piston area on the other side, A₂ [m²].
        volume: Oil on the side that extends, lines included, V₁ [m³].
        return_volume: Oil on the other side, V₂ [m³].
        bulk_modulus: Effective bulk modulus of the oil, β [Pa].
        density: Density of the oil, ρ [kg/m³].
        supply: Supply pressure p_s [Pa].
        discharge: Discharge coefficient C of the valve.
        gradient: Area the valve opens for each ampere, w [m²/A].
        opening: Current at which the valve's pressure coefficient is taken, less than 0 where the
            piston retracts [A].
        leak: Leakage past the piston, C_leak [m³/(Pa s)].
    """

    area: Area
    return_area: Area
    volume: Volume
    return_volume: Volume
    bulk_modulus: Pressure
    density: Density
    supply: Pressure
    discharge: Positive
    gradient: AreaPerCurrent
    opening: Opening = 0.0
    leak: Leak = 0.0
    kind: Literal["cylinder"] = "cylinder"

    @property
    def compliance(self) -> float:
        """Stroke per force of the oil, valve shut [m/N]."""
        forward = self.area**2 / self.volume
        backward = self.return_area**2 / self.return_volume
        return 1 / (self.bulk_modulus * (forward + backward))

    @property
    def speed_per_current(self) -> Pair:
        """Speed of the unloaded piston for each ampere, retracting and extending [m/(A s)]."""
        a = self.return_area / self.area
        head = np.sqrt(2 * self.supply / (self.density * (1 + a**3)))
        extending = self.discharge * self.gradient * head / self.area
        return float(np.sqrt(a) * extending), float(extending)

    @property
    def leakage(self) -> float:
        """Speed lost per force, extending or retracting as the opening is [m/(N s)]."""
        retracting, extending = self.speed_per_current
        flow, head = self.area * extending * self.opening, self.supply
        if self.opening < 0:
            flow = -self.area * retracting * self.opening
            head = self.supply * self.return_area / self.area
        return (flow / (2 * head) + self.leak) / self.area**2

    def flow(self, current_limit: float) -> FlowTable:
        """Speed of the unloaded piston up to a current, (A, m/s)."""
        retracting, extending = self.speed_per_current
        low, high = -current_limit * retracting, current_limit * extending
        return (-current_limit, low), (0.0, 0.0), (current_limit, high)


@dataclass(frozen=True)
class VaneDesign:
    """Physical data of a valve and a vane motor.

    Attributes:
        displacement: Oil displaced for each radian, D [m³/rad].
        volume: Oil of all chambers and lines, V [m³].
        bulk_modulus: Effective bulk modulus of the oil, β [Pa].
        density: Density of the oil, ρ [kg/m³].
        supply: Supply pressure p_s [Pa].
        discharge: Discharge coefficient C of the valve.
        gradient: Area the valve opens for each ampere, w [m²/A].
        opening: Current at which the valve's pressure coefficient is taken [A].
        leak: Leakage past the vanes, C_leak [m³/(Pa s)].
    """

    displacement: Displacement
    volume: Volume
    bulk_modulus: Pressure
    density: Density
    supply: Pressure
    discharge: Positive
    gradient: AreaPerCurrent
    opening: Current = 0.0
    leak: Leak = 0.0
    kind: Literal["vane"] = "vane"

    @property
    def compliance(self) -> float:
        """Angle per torque of the oil, valve shut [rad/(N m)]."""
        return self.volume / (4 * self.bulk_modulus * self.displacement**2)

    @property
    def speed_per_current(self) -> float:
        """Speed of the unloaded motor for each ampere [rad/(A s)]."""
        head = float(np.sqrt(self.supply / self.density))
        return self.discharge * self.gradient * head / self.displacement

    @property
    def leakage(self) -> float:
        """Speed lost per torque [rad/(N m s)]."""
        flow = self.displacement * self.speed_per_current * self.opening
        return (flow / (2 * self.supply) + self.leak) / self.displacement**2

    def flow(self, current_limit: float) -> FlowTable:
        """Speed of the unloaded motor up to a current, (A, rad/s)."""
        fastest = current_limit * self.speed_per_current
        return (-current_limit, -fastest), (current_limit, fastest)


Design = CylinderDesign | VaneDesign
