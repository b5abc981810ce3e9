"""What every friction law has: coefficients in which it is linear."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import Field
from typing import Any, ClassVar

from armtwin.maths.batch import Floats, Names, NamesAndUnits


class LinearLaw(ABC):
    """A friction law: torque = columns(w) @ coefficients.

    A law is a frozen dataclass that derives from it by
    `class Coulomb(LinearLaw, units={"level": "N m"}, dry=("level",))`.

    Attributes:
        law: Its name in a robot file.
        coefficients: Names and units of its linear numbers: the dynamic parameters.
        dry: Those that act between rubbing asperities, the g of the bristle model; the others are
            its f.
        thermal: Those that scale with the viscosity of the oil.
        has_curve: Whether it is fitted to torques at constant speeds, which show all its numbers.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # every law is a dataclass
    law: str
    coefficients: ClassVar[NamesAndUnits]
    dry: ClassVar[Names]
    thermal: ClassVar[Names]
    has_curve: ClassVar[bool]

    def __init_subclass__(
        cls,
        *,
        units: Mapping[str, str],
        dry: Names = (),
        thermal: Names = (),
        has_curve: bool = False,
    ) -> None:
        cls.coefficients = tuple(units.items())
        cls.dry = dry
        cls.thermal = thermal
        cls.has_curve = has_curve

    @abstractmethod
    def columns(self, w: Floats) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., coefficients)."""
