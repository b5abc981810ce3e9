"""How the tool is turned along a path: fixed, following the seam, or given at points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.motion.curves import Jet

LEAST_SINE = 0.02  # of the angle between the seam and the direction that turns with it


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


@dataclass(frozen=True, eq=False)
class Fixed:
    """The same orientation everywhere, R (3, 3)."""

    R: Floats

    def at(self, s: Floats, path: Jet) -> Turning:
        """The orientation, once for each arc length."""
        none = np.zeros((len(s), 3))
        return Turning(np.broadcast_to(self.R, (len(s), 3, 3)), none, none)


@dataclass(frozen=True, eq=False)
class Following:
    """An orientation that is fixed in the travel frame.

    Its x is along the path, its z the normal made perpendicular to x.

        m = n - (n·x) x,  z = m / |m|,  y = z × x;   ω = -(z'·y) x - (x'·z) y + (x'·y) z

    Attributes:
        R: Orientation of the tool in the travel frame, (3, 3).
        normal: Direction n that z is made from, (3,).
    """

    R: Floats
    normal: Floats

    def at(self, s: Floats, path: Jet) -> Turning:
        """Orientations with the travel frame's turn and its rate."""
        n, x, c, j = self.normal, path.t, path.c, path.j
        m, size, along = across(np.broadcast_to(n, x.shape), x)
        if along is not None:
            raise ArmtwinError(
                f"orientation follows the seam, but at {1e3 * s[along]:.1f} mm the seam runs along "
                "the workpiece's z axis, which says where up is; turn the workpiece's frame, or "
                "give the orientation at points"
            )
        dm = -dot(c, n) * x - dot(x, n) * c
        ddm = -dot(j, n) * x - 2 * dot(c, n) * c - dot(x, n) * j
        z = m / size
        g = dot(z, dm)
        dz = (dm - g * z) / size
        ddz = (ddm - (dot(dz, dm) + dot(z, ddm)) * z - 2 * g * dz) / size
        y = np.cross(z, x)
        dy = np.cross(dz, x) + np.cross(z, c)
        w = -dot(dz, y) * x - dot(c, z) * y + dot(c, y) * z
        about_x = -dot(ddz, y) - dot(dz, dy)
        about_y = -dot(j, z) - dot(c, dz)
        about_z = dot(j, y) + dot(c, dy)
        dw = about_x * x + about_y * y + about_z * z
        return Turning(np.stack([x, y, z], axis=2) @ self.R, w, dw)


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

    @cached_property
    def _spline(self) -> Any:
        from scipy.spatial.transform import Rotation, RotationSpline

        return RotationSpline(self.marks, Rotation.from_matrix(self.R))


def dot(a: Floats, b: Floats) -> Floats:
    """Scalar products of rows, (m, 1)."""
    return np.asarray((a * b).sum(axis=-1, keepdims=True), dtype=np.float64)


def across(direction: Floats, x: Floats) -> tuple[Floats, Floats, int | None]:
    """What of directions (m, 3) is perpendicular to unit vectors x, (m, 3).

    And its length (m, 1), and the number of the first direction that has none.
    """
    rest = direction - dot(direction, x) * x
    size = np.linalg.norm(rest, axis=1, keepdims=True)
    lost = np.flatnonzero(size[:, 0] < LEAST_SINE)
    return rest, size, int(lost[0]) if len(lost) else None
