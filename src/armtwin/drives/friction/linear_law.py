"""What every friction law has: coefficients in which it is linear."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from armtwin.maths.batch import Names, NamesAndUnits


class LinearLaw:
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
        tangents: Slopes that may be interchanged, of which the steepest comes first.
        scaled: Shape numbers that are torques and scale with its level.
    """

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]  # every law is a dataclass
    law: str
    coefficients: ClassVar[NamesAndUnits]
    dry: ClassVar[Names]
    thermal: ClassVar[Names]
    has_curve: ClassVar[bool]
    tangents: ClassVar[Names]
    scaled: ClassVar[Names]

    def __init_subclass__(
        cls,
        *,
        units: Mapping[str, str],
        dry: Names = (),
        thermal: Names = (),
        has_curve: bool = False,
        tangents: Names = (),
        scaled: Names = (),
    ) -> None:
        cls.scaled = scaled
        cls.has_curve = has_curve
        cls.tangents = tangents
        cls.coefficients = tuple(units.items())
        cls.dry = dry
        cls.thermal = thermal

    @property
    def held(self) -> float | None:
        """Largest torque held at rest [N m]; None where it is that of the slowest sliding."""
        return None

    def columns(self, w: Any) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., k)."""
        raise NotImplementedError

    def sliding_torque(self, w: Any) -> Any:
        """Torque at speeds of steady sliding w [rad/s]."""
        return self.columns(w) @ [float(getattr(self, name)) for name, _ in self.coefficients]
