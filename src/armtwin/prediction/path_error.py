"""How far the tool is from its seam: lateral, vertical, along it, and in orientation.

    e = p - p*(s),  s the arc length of the closest point: (p - p*(s)) · t(s) = 0
    lateral = e · y,  vertical = e · z of the seam's frame;  lag = commanded arc length - s

The closest point is sought near the commanded one, so a seam may cross itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Integers, check_array
from armtwin.maths.compiled import compiled, exactly
from armtwin.maths.exact_vectors import dot, minus
from armtwin.maths.vectors import vector
from armtwin.motion.seam import Seam
from armtwin.notebook import cards
from armtwin.robot.robot import Robot

CHUNK = 4096  # samples worked on at a time: they lie in a core's own cache
WINDOW = 0.05  # the closest point is sought this far [m] from the commanded one
STEPS = 30
FLATTEST = 0.1  # slope of Newton's method
CLOSE = 1e-12  # [m] change of the arc length below which the search ends


@dataclass(frozen=True, eq=False)
class PathError:
    """Path error over time, (m,) each.

    Attributes:
        time: Times [s].
        s: Commanded arc length [m].
        speed_ref: Commanded speed along the seam [m/s].
        place: Arc length of the closest point of the seam [m].
        lateral: Error along y of the seam's frame [m].
        vertical: Error along z of the seam's frame, against the beam [m].
        speed: Speed of the closest point along the seam [m/s].
        orientation: Angle between the tool and its orientation at the closest point [rad].
    """

    time: Floats
    s: Floats
    speed_ref: Floats
    place: Floats
    lateral: Floats
    vertical: Floats
    speed: Floats
    orientation: Floats

    @cached_property
    def lag(self) -> Floats:
        """Commanded arc length minus that of the closest point [m]."""
        return self.s - self.place

    @property
    def across(self) -> Floats:
        """Lateral and vertical error, (m, 2) [m]."""
        return np.stack([self.lateral, self.vertical], axis=1)

    def rows(self, some: slice) -> PathError:
        """The error at some of its times."""
        return PathError(*(getattr(self, x.name)[some] for x in fields(self)))

    def __repr__(self) -> str:
        lateral = 1e6 * np.abs(self.lateral).max(initial=0.0)
        vertical = 1e6 * np.abs(self.vertical).max(initial=0.0)
        return cards.line(
            "PathError",
            cards.format_count(len(self.time), "sample"),
            f"lateral at most {lateral:.3g} µm",
            f"vertical at most {vertical:.3g} µm",
        )


def path_error(seam: Seam, time: ArrayLike, X: ArrayLike, shift: float = 0.0) -> PathError:
    """Path error of poses of the tool.

    Args:
        seam: What was commanded.
        time: Times of the samples, (m,) [s].
        X: Poses of the tool in the base frame, (m, 4, 4).
        shift: Time in these samples at which the seam's own time begins [s].
    """
    stamps = np.asarray(time, dtype=np.float64)
    poses = check_array("X", X, (4, 4), "a pose of the tool for each time")
    if poses.ndim != 3 or stamps.shape != poses.shape[:1]:
        raise ArmtwinError(
            f"X must have shape ({len(stamps)}, 4, 4), a pose for each time, got {poses.shape}"
        )
    poses = np.require(poses, requirements=("C", "W"))  # others are other types to kernels
    return _evaluate(seam, stamps, poses.__getitem__, shift)


def path_error_of(seam: Seam, time: Floats, robot: Robot, q: Floats) -> PathError:
    """Path error of a robot with its joints at positions q, (m, n), at times (m,) [s].

    The poses of its tool, sixteen numbers each, are never all in memory.
    """

    def pose(rows: slice) -> Floats:
        return robot.forward_kinematics(q[rows])

    return _evaluate(seam, time, pose, 0.0)


def _evaluate(
    seam: Seam, stamps: Floats, poses_at: Callable[[slice], Floats], shift: float
) -> PathError:
    """Path error at times, from what gives the poses of some of them."""
    s, speed_ref, _ = seam.command(stamps - shift)
    place, lateral, vertical, orientation = np.empty((4, len(stamps)))
    for start in range(0, len(stamps), CHUNK):
        rows = slice(start, start + CHUNK)
        poses = poses_at(rows)
        place[rows] = closest(seam, poses[:, :3, 3], s[rows])
        jet, E, R = seam.frames(place[rows])
        apart = orientation[rows]
        _beside(poses, jet.p, E, R, lateral[rows], vertical[rows], apart)
        # ‖R - R*‖² = 8 sin²(angle / 2): exact for small angles
        np.sqrt(apart, out=apart)
        orientation[rows] = 2 * np.arcsin(np.clip(apart / np.sqrt(8), 0.0, 1.0))
    speed = np.gradient(place, stamps) if len(stamps) > 1 else np.zeros(1)
    return PathError(stamps, s, speed_ref, place, lateral, vertical, speed, orientation)


@compiled(exact=True)
def _beside(
    poses: Floats,
    points: Floats,
    E: Floats,
    R: Floats,
    lateral: Floats,
    vertical: Floats,
    apart: Floats,
) -> None:
    """Error of poses (m, 4, 4) beside their closest points (m, 3), and ‖R - R*‖², (m,) each."""
    for i in range(poses.shape[0]):
        e = minus((poses[i, 0, 3], poses[i, 1, 3], poses[i, 2, 3]), vector(points, i))
        lateral[i] = dot(e, (E[i, 0, 1], E[i, 1, 1], E[i, 2, 1]))
        vertical[i] = dot(e, (E[i, 0, 2], E[i, 1, 2], E[i, 2, 2]))
        apart[i] = _squares(poses, R, i)


@exactly
def _squares(X: Floats, R: Floats, i: int) -> Any:
    """Sum of the squares of the differences of two rotations, added in pairs as numpy does."""
    a, b, c = X[i, 0, 0] - R[i, 0, 0], X[i, 0, 1] - R[i, 0, 1], X[i, 0, 2] - R[i, 0, 2]
    d, e, f = X[i, 1, 0] - R[i, 1, 0], X[i, 1, 1] - R[i, 1, 1], X[i, 1, 2] - R[i, 1, 2]
    g, h, k = X[i, 2, 0] - R[i, 2, 0], X[i, 2, 1] - R[i, 2, 1], X[i, 2, 2] - R[i, 2, 2]
    first = (a * a + b * b) + (c * c + d * d)
    second = (e * e + f * f) + (g * g + h * h)
    return (first + second) + k * k


def closest(seam: Seam, p: Floats, s: Floats) -> Floats:
    """Arc lengths of a seam closest to points p, (m, 3), near arc lengths s; Newton's method."""
    points, found = np.ascontiguousarray(p), np.array(s)
    bounds = np.empty((len(found), 2))
    start, stop = seam.smooth_about(found)  # of two legs that meet in a stop the commanded one
    bounds[:, 0] = np.maximum(found - WINDOW, start)
    bounds[:, 1] = np.minimum(found + WINDOW, stop)
    rows = np.arange(len(found))
    for _ in range(STEPS):
        jet = seam.path.at(found[rows])
        left = _nearer(points, jet.p, jet.t, jet.c, bounds, rows, found)
        rows = rows[:left]
        if not left:
            break
    return found


@compiled(exact=True)
def _nearer(
    p: Floats, here: Floats, t: Floats, c: Floats, bounds: Floats, rows: Integers, found: Floats
) -> int:
    """A step of Newton's method; moves the rows that are not there yet to the front.

    Args:
        p: Points, (m, 3).
        here: The path where the rows are, (r, 3).
        t: Its tangents.
        c: Its curvature vectors.
        bounds: Lowest and highest arc length of each point, (m, 2).
        rows: Numbers of the points that are sought, (r,).
        found: Arc lengths, (m,).
    """
    left = 0
    for k in range(rows.shape[0]):
        i = rows[k]
        e = minus(vector(p, i), vector(here, k))
        # beyond the centre of curvature there is no minimum
        slope = max(1 - dot(e, vector(c, k)), FLATTEST)
        moved = found[i] + dot(e, vector(t, k)) / slope
        moved = min(max(moved, bounds[i, 0]), bounds[i, 1])
        change = abs(moved - found[i])
        found[i] = moved
        if change > CLOSE:
            rows[left] = i
            left += 1
    return left
