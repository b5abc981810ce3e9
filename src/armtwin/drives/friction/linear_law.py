"""What every friction law has: coefficients in which it is linear."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from armtwin.maths.batch import Names, NamesAndUnits


class LinearLaw:
    """A friction law: torque = columns(w) @ coefficients.

    A law derives from it by
    `class Coulomb(LinearLaw, units={"level": "N m"}, dry=("level",))`.

    Attributes:
        coefficients: Names and units of its linear numbers: the dynamic parameters.
        dry: Those that act between rubbing asperities, the g of the bristle model; the others are
            its f.
        thermal: Those that scale with the viscosity of the oil.
    """

    coefficients: ClassVar[NamesAndUnits]
    dry: ClassVar[Names]
    thermal: ClassVar[Names]

    def __init_subclass__(
        cls, *, units: Mapping[str, str], dry: Names = (), thermal: Names = ()
    ) -> None:
        cls.coefficients = tuple(units.items())
        cls.dry = dry
        cls.thermal = thermal
