"""Temperature of a joint's oil: how viscous friction follows it.

    viscosity ~ exp(β/T - β/T₀)

The contact-level formula for c_v has the viscosity to the power 1 - δ and moves the Stribeck speed
too; the document's temperature law (3.67) scales c_v with the viscosity and keeps the speed. They
disagree; (3.67), which was measured, is followed.

Ref: [Waiboer 2007, eq. 3.66-3.67], [Memar-Esfahani 2015, section II]
"""

from typing import Protocol

import numpy as np


class ThermalNumbers(Protocol):
    """Numbers of a joint's thermal behaviour, as a robot file gives them."""

    @property
    def reference(self) -> float:
        """Temperature at which the friction numbers hold [K]."""

    @property
    def viscosity(self) -> float:
        """Temperature-viscosity coefficient β [K]."""


def viscosity_factor(thermal: ThermalNumbers | None, temperature: float | None) -> float:
    """Viscosity at a temperature [K] relative to the reference; 1 where either is not given."""
    if thermal is None or temperature is None:
        return 1.0
    return float(np.exp(thermal.viscosity / temperature - thermal.viscosity / thermal.reference))
