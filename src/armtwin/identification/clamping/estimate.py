"""A transmission identified by one method from its clamping curve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from armtwin.identification.fitting.estimate import ParameterEstimate
from armtwin.maths.batch import Names


@dataclass(frozen=True)
class TransmissionEstimate:
    """Stiffness, backlash and friction of a transmission, on one side of its gear.

    Attributes:
        method: Name of the method.
        stiffness: Torsion stiffness K [N m/rad]; None where it was refused.
        backlash: Backlash b, from one flank to the other [rad]; None where not identifiable.
        friction: Friction torque F while sliding [N m].
        stiffness_std: Standard deviation [N m/rad].
        backlash_std: Standard deviation [rad].
        friction_std: Standard deviation [N m].
        stiffness_half: Half width of its 95 % interval [N m/rad].
        backlash_half: Half width [rad].
        friction_half: Half width [N m].
        explained: Share of the spring's torque that the log recreated with it explains; None where
            it was not recreated.
        refused: Why a number or all of them are missing, a sentence; "" where none is.
        notes: Steps of the method, a sentence each.
    """

    method: str
    stiffness: float | None = None
    backlash: float | None = None
    friction: float | None = None
    stiffness_std: float | None = None
    backlash_std: float | None = None
    friction_std: float | None = None
    stiffness_half: float | None = None
    backlash_half: float | None = None
    friction_half: float | None = None
    explained: float | None = None
    refused: str = ""
    notes: Names = ()

    def on_joint_side(self, gear_ratio: float) -> TransmissionEstimate:
        """The numbers of the motor side as the joint has them: N² K, b / N, N F."""
        N = abs(gear_ratio)
        changes: dict[str, Any] = {}
        for name, factor in (("stiffness", N**2), ("backlash", 1 / N), ("friction", N)):
            for key in (name, f"{name}_std", f"{name}_half"):
                value = getattr(self, key)
                changes[key] = None if value is None else factor * value
        return replace(self, **changes)


def named(name: str, found: ParameterEstimate) -> dict[str, Any]:
    """The first of estimated numbers as keys of a `TransmissionEstimate`."""
    numbers = (found.values[0], found.std[0], found.half_width[0])
    keys = (name, f"{name}_std", f"{name}_half")
    return dict(zip(keys, (float(x) for x in numbers), strict=True))
