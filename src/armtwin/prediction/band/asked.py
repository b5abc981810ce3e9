"""The widths that a job and a robot file ask for, in place of the usual ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from armtwin.jobs.groups import Uncertainty
from armtwin.prediction.band.widths import POSITION, YAW, Kind, width_of


@dataclass(frozen=True)
class Asked:
    """Widths of quantities: the job's where it gives one, the robot file's, or the usual ones.

    Attributes:
        job: What the job says.
    """

    job: Uncertainty

    def width(self, kind: Kind, source: str, group: Any = None, key: str = "") -> float:
        """The width of a quantity of a kind, by its source and the group that holds it.

        Args:
            kind: What it is.
            source: Kind of its source.
            group: The group of the robot file.
            key: Its key there.
        """
        asked: float | None = getattr(self.job, kind)
        if asked is not None:
            return asked
        own = getattr(group, "uncertainty", None)
        if isinstance(own, dict):
            own = own.get(key)
        return width_of(kind, source) if own is None else float(own)

    @property
    def position(self) -> float:
        """Within which nine of ten workpieces lie, in each direction [m]."""
        return POSITION if self.job.position is None else self.job.position

    @property
    def yaw(self) -> float:
        """Within which nine of ten workpieces are turned [rad]."""
        return YAW if self.job.yaw is None else self.job.yaw
