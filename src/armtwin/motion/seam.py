"""A seam: where the tool shall be, how it shall be turned and when, in the base frame."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Pair
from armtwin.motion.curves import Jet, Orientations, Turning
from armtwin.motion.frames import LEAST_SINE, NOWHERE, seam_frames
from armtwin.motion.look_ahead import LookAhead
from armtwin.motion.path import Path
from armtwin.motion.recorded import RecordedProfile, Reference
from armtwin.motion.route import JointMove, Route
from armtwin.motion.time_laws import Profile

# Set-points of a motion: an hour at 250 Hz and its standstills; its prediction takes up to 2 GB.
MOST_SAMPLES = 920_000
BEFORE = 1e-12  # a corner [m], where the path has the direction of what leads to it


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
        elbow: Elbow angle that a seven-axis arm holds [rad]; None leaves it to the shortest steps.
        route: What it consists of, where it is a program's; None for a seam of steady speed.
        judged: Stretches with the process on, from and to [m]; None for all. Elsewhere the tool may
            move along its beam.
        reference: Where it was recorded, what the joints were asked to do.
    """

    path: Path
    orientations: Orientations
    profile: Profile | LookAhead | RecordedProfile
    standstill: Pair
    elbow: float | None = None
    route: Route | None = None
    judged: tuple[Pair, ...] | None = None
    reference: Reference | None = None

    @property
    def length(self) -> float:
        """Arc length [m]."""
        return self.path.length

    @property
    def joint_moves(self) -> tuple[JointMove, ...]:
        """Stretches on which the joints are led, not the tool."""
        return () if self.route is None else self.route.joint_moves

    @cached_property
    def stops(self) -> Floats:
        """Arc lengths at which the path may have a corner, since the tool is at rest there [m]."""
        if self.route is not None:
            return self.route.pieces.bounds[1:][self.route.pieces.stops]
        if self.reference is None:
            return np.empty(0)
        return np.array([x.stop for x in self.path.stretches])

    def smooth_about(self, s: Floats) -> tuple[Floats, Floats]:
        """Between which arc lengths the path has no corner, about arc lengths s, (m,) each."""
        bounds = np.concatenate([[0.0], self.stops[self.stops < self.length], [self.length]])
        leg = np.clip(np.searchsorted(bounds, s, side="right") - 1, 0, len(bounds) - 2)
        ends = np.where(leg < len(bounds) - 2, bounds[leg + 1] - BEFORE, self.length)
        return bounds[leg], ends

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
        along = seam_frames(R, self._directions(s, jet, R), frames)
        if along != NOWHERE:
            raise ArmtwinError(
                f"the tool's beam runs along the seam at {1e3 * s[along]:.1f} mm, so lateral and "
                "vertical have no meaning there; change the tool's orientation"
            )
        return jet, frames, R

    def _directions(self, s: Floats, jet: Jet, R: Floats) -> Floats:
        """Directions of travel, (m, 3); the tool's x axis where it moves along its beam unjudged.

        So that a plunge, a turn on the spot and a move of the joints have a frame as well.
        """
        if self.judged is None:
            return jet.t
        beside = np.cross(jet.t, R[:, :, 2])
        along = np.linalg.norm(beside, axis=1) < LEAST_SINE
        for start, stop in self.judged:
            along &= (s < start) | (s >= stop)
        return np.ascontiguousarray(np.where(along[:, None], R[:, :, 0], jet.t))
