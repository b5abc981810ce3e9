"""Friction as a measured table of speed and torque."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np

from armtwin.maths.quantities import Friction, Share, Speed


@dataclass(frozen=True)
class Table:
    """τ = scale sign(w) T(|w|), T linear between the points and constant outside them.

    Attributes:
        speeds: Speeds of the points, increasing [rad/s].
        torques: Friction torques at these speeds [N m].
        scale: Factor on the table, the one number to identify.

    Ref: [Soder-Hoorn 2015]
    """

    speeds: tuple[Speed, ...]
    torques: tuple[Friction, ...]
    scale: Share = 1.0
    law: Literal["table"] = "table"

    coefficients: ClassVar[tuple[tuple[str, str], ...]] = (("scale", "1"),)
    dry: ClassVar[tuple[str, ...]] = ("scale",)
    thermal: ClassVar[tuple[str, ...]] = ()

    def columns(self, w: Any) -> Any:
        """Torque per unit of each coefficient at speed w [rad/s], (..., 1)."""
        return (np.sign(w) * np.interp(np.abs(w), self.speeds, self.torques))[..., None]

    def problem(self) -> str:
        """What is wrong with the table, as a phrase; empty if nothing is."""
        speeds, torques = len(self.speeds), len(self.torques)
        if speeds != torques or speeds < 2:
            return f"needs two or more speeds and as many torques, got {speeds} and {torques}"
        if any(b <= a for a, b in pairwise(self.speeds)):
            return f"speeds must increase, got {list(self.speeds)}"
        return ""
