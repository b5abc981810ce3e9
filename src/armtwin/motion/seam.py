"""A seam: where the tool shall be, how it shall be turned and when, in the base frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Pair
from armtwin.motion.curves import Jet
from armtwin.motion.frames import NOWHERE, seam_frames
from armtwin.motion.orientations import Orientations, Turning
from armtwin.motion.path import Path
from armtwin.motion.time_laws import Profile

# Set-points of a motion: an hour at 250 Hz and its standstills; its prediction takes up to 2 GB.
MOST_SAMPLES = 920_000


class Command(NamedTuple):
    """What is commanded at times, (m,) each, along the seam.

    Attributes:
        s: Arc length [m].
        speed: Speed [m/s].
        acceleration: Acceleration [m/s²].
    """

    s: Floats
    speed: Floats
    acceleration: Floats


@dataclass(frozen=True, eq=False)
class Seam:
    """A path with the tool's orientations along it and the time law of the travel.

    Attributes:
        path: Positions of the tool point, base frame.
        orientations: Rule for the tool's frame; its z axis is the beam.
        profile: Arc length over time, from rest to rest.
        standstill: Time at rest before and after the motion [s].
    """

    path: Path
    orientations: Orientations
    profile: Profile
    standstill: Pair

    @property
    def length(self) -> float:
        """Arc length [m]."""
        return self.path.length

    @property
    def duration(self) -> float:
        """Time of the motion with its standstills [s]."""
        return sum(self.standstill) + self.profile.duration

    def times(self, rate: float) -> Floats:
        """Sample times at a rate; the last is at or after the end [s]."""
        if self.duration * rate > MOST_SAMPLES:
            raise ArmtwinError(
                f"the motion takes {self.duration:.4g} s, but must take at most "
                f"{MOST_SAMPLES / rate:.4g} s, {MOST_SAMPLES} set-points at {rate:g} Hz, for its "
                "prediction to fit into 2 GB of memory; check speed and standstill, or split the "
                "seam"
            )
        count = int(np.ceil(self.duration * rate - 1e-6)) + 1
        return np.arange(count) / rate

    def command(self, time: Floats) -> Command:
        """What is commanded at times from the start of the first standstill."""
        return Command(*self.profile.at(time - self.standstill[0]))

    def at(self, s: Floats) -> tuple[Jet, Turning]:
        """Path and orientation at arc lengths, (m,)."""
        jet = self.path.at(s)
        return jet, self.orientations.at(s, jet)

    def frames(self, s: Floats) -> tuple[Jet, Floats, Floats]:
        """Path, seam frames (m, 3, 3) and tool orientations (m, 3, 3) at arc lengths.

        Columns of a seam frame: x along the path, z against the beam made perpendicular to x,
        y = z × x.
        """
        jet = self.path.at(s)
        R = self.orientations.rotations(s, jet)
        frames = np.empty((len(s), 3, 3))
        along = seam_frames(R, jet.t, frames)
        if along != NOWHERE:
            raise ArmtwinError(
                f"the tool's beam runs along the seam at {1e3 * s[along]:.1f} mm, so lateral and "
                "vertical have no meaning there; change the tool's orientation"
            )
        return jet, frames, R
