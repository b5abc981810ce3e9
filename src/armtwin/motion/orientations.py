"""How the tool is turned along a path: fixed, following the seam, or given at points."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.motion.curves import Jet
from armtwin.motion.frames import NOWHERE, travel_frames, travel_turns


class Turning(NamedTuple):
    """Orientation along a path and its derivatives by arc length.

    Attributes:
        R: Rotations of the tool's frame, (m, 3, 3).
        w: Turn vectors per length, base of the path, (m, 3) [rad/m].
        dw: Their rates, (m, 3) [rad/m²].
    """

    R: Floats
    w: Floats
    dw: Floats


class Orientations(Protocol):
    """A rule that turns the tool along a path."""

    def at(self, s: Floats, path: Jet) -> Turning:
        """Orientation at arc lengths s, (m,), where the path is as given."""

    def rotations(self, s: Floats, path: Jet) -> Floats:
        """The rotations alone, (m, 3, 3)."""


@dataclass(frozen=True, eq=False)
class Fixed:
    """The same orientation everywhere, R (3, 3)."""

    R: Floats

    def at(self, s: Floats, path: Jet) -> Turning:
        """The orientation, once for each arc length."""
        none = np.zeros((len(s), 3))
        return Turning(self.rotations(s, path), none, none)

    def rotations(self, s: Floats, path: Jet) -> Floats:
        """The rotation, once for each arc length."""
        return np.tile(self.R, (len(s), 1, 1))


@dataclass(frozen=True, eq=False)
class Following:
    """An orientation that is fixed in the travel frame.

    Its x is along the path, its z the normal made perpendicular to x.

    Attributes:
        R: Orientation of the tool in the travel frame, (3, 3).
        normal: Direction n that z is made from, (3,).
    """

    R: Floats
    normal: Floats

    def at(self, s: Floats, path: Jet) -> Turning:
        """Orientations with the travel frame's turn and its rate."""
        R = self.rotations(s, path)
        turns = np.empty((len(s), 6))
        travel_turns(np.ascontiguousarray(self.normal), path.t, path.c, path.j, turns)
        return Turning(R, turns[:, :3], turns[:, 3:])

    def rotations(self, s: Floats, path: Jet) -> Floats:
        """The travel frames, turned as the tool is in them."""
        frames = np.empty((len(s), 3, 3))
        along = travel_frames(np.ascontiguousarray(self.normal), path.t, frames)
        if along != NOWHERE:
            raise ArmtwinError(
                f"orientation follows the seam, but at {1e3 * s[along]:.1f} mm the seam runs along "
                "the workpiece's z axis, which says where up is; turn the workpiece's frame, or "
                "give the orientation at points"
            )
        # all rows in one product: one call for each frame would take most of the time
        return (frames.reshape(-1, 3) @ self.R).reshape(-1, 3, 3)


@dataclass(frozen=True, eq=False)
class Given:
    """Orientations at points, between them by a spline of rotations whose turn rate has no kink.

    Attributes:
        marks: Arc length of each point, (k,) [m].
        R: Orientation at each point, (k, 3, 3).
    """

    marks: Floats
    R: Floats

    def at(self, s: Floats, path: Jet) -> Turning:
        """The spline at arc lengths s."""
        spline = self._spline
        inside = np.clip(s, self.marks[0], self.marks[-1])
        rotation = spline(inside)
        return Turning(
            rotation.as_matrix(),
            rotation.apply(spline(inside, 1)),
            rotation.apply(spline(inside, 2)),
        )

    def rotations(self, s: Floats, path: Jet) -> Floats:
        """The spline's rotations."""
        inside = np.clip(s, self.marks[0], self.marks[-1])
        return self._spline(inside).as_matrix()

    @cached_property
    def _spline(self) -> Any:
        from scipy.spatial.transform import Rotation, RotationSpline

        return RotationSpline(self.marks, Rotation.from_matrix(self.R))
