"""A transmission identified by one method from its clamping curve."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    refused: str = ""
    notes: Names = ()

    def on_joint_side(self, gear_ratio: float) -> TransmissionEstimate:
        """The numbers of the motor side as the joint has them: N² K, b / N, N F."""
        N = abs(gear_ratio)
        return replace(
            self,
            stiffness=_scale(self.stiffness, N**2),
            backlash=_scale(self.backlash, 1 / N),
            friction=_scale(self.friction, N),
            stiffness_std=_scale(self.stiffness_std, N**2),
            backlash_std=_scale(self.backlash_std, 1 / N),
            friction_std=_scale(self.friction_std, N),
        )


def _scale(value: float | None, factor: float) -> float | None:
    return None if value is None else factor * value
