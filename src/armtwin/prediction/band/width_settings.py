"""The widths that a job and a robot file ask for, in place of the usual ones."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.jobs.uncertainty import Kind, Uncertainty
from armtwin.prediction.band.quantity import Quantity, names_of
from armtwin.prediction.band.widths import POSITION, YAW, width_of

PLACEMENT = "placement"


@dataclass(frozen=True)
class WidthSettings:
    """Widths of quantities: the job's where it gives one, the robot file's, or the usual ones.

    Attributes:
        job: What the job says.
    """

    job: Uncertainty

    def width(self, kind: Kind, name: str, source: str, *groups: Any, key: str = "") -> float:
        """The width of a quantity, by its source and the groups that may say it.

        Args:
            kind: What it is.
            name: Its name.
            source: Kind of its source.
            groups: Groups of the robot file, the first that has a width counts.
            key: Its key there.
        """
        asked = self.job.first(*names_of(name, kind))
        if asked is not None:
            return asked
        for group in groups:
            own = getattr(group, "uncertainty", None)
            if isinstance(own, dict):
                own = own.get(key)
            if own is not None:
                return float(own)
        return width_of(kind, source)

    def shift(self, axis: str) -> float:
        """Half width of the 90 % interval of the workpiece along an axis [m]."""
        asked = self.job.first(f"{PLACEMENT}.{axis}", PLACEMENT)
        return POSITION if asked is None else asked

    @property
    def yaw(self) -> float:
        """Half width of its 90 % interval about z [rad]; in proportion to a shift given alone."""
        asked = self.job.first(f"{PLACEMENT}.yaw")
        if asked is not None:
            return asked
        shift = self.job.first(PLACEMENT)
        return YAW if shift is None else YAW * shift / POSITION

    def check(self, quantities: Iterable[Quantity]) -> None:
        """Refuse a width of the job for which the robot has no quantity."""
        known: dict[str, None] = {}
        for quantity in quantities:
            known |= dict.fromkeys(quantity.names)
        for name in self.job.widths:
            if name not in known:
                unknown = f"uncertainty '{name}' is no quantity that is varied here"
                raise ArmtwinError(f"{unknown}. {did_you_mean(name, known)}")
