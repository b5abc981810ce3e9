"""Where the tool is beside the path of a reference motion of the joints.

    e = p - p_ref(t*),  t* the time at which the reference is closest: e · x(t*) = 0
    lateral = e · y,  vertical = e · z;  lag = arc length of the reference at t minus that at t*

x is along the reference, z against the tool's beam made perpendicular to x, y = z × x. Where the
reference stands, the frame is that of the nearest motion and the lag is what lies along it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Flags, Floats
from armtwin.robot.robot import Robot

SLOW = 0.02  # share of the highest speed of the reference below which it stands
LATEST = 0.2  # the closest point is sought this long before and after [s]
STEPS = 4
ALONG = 0.1  # sine of the angle between beam and path below which the beam gives no upright


class BesideReference(NamedTuple):
    """Distances of the tool point from a reference path, (m,) each [m]."""

    lateral: Floats
    vertical: Floats
    lag: Floats


class ReferencePath:
    """The path of the tool in a reference motion.

    Args:
        robot: The robot, tool mounted.
        time: Times, (m,) [s].
        q: Joint positions of the reference, (m, n).
        v: Joint speeds of the reference, (m, n).
    """

    def __init__(self, robot: Robot, time: Floats, q: Floats, v: Floats) -> None:
        from scipy.interpolate import CubicHermiteSpline

        X = robot.forward_kinematics(q)
        velocity = np.einsum("mij,mj->mi", robot.jacobian(q)[:, :3], v)
        speed = np.linalg.norm(velocity, axis=1)
        self.time = time
        self.speed = speed
        self.moving: Flags = speed > SLOW * max(float(speed.max()), 1e-12)
        self.point = CubicHermiteSpline(time, X[:, :3, 3], velocity)
        steps = 0.5 * (speed[1:] + speed[:-1]) * np.diff(time)
        self.arc = CubicHermiteSpline(time, np.concatenate([[0.0], np.cumsum(steps)]), speed)
        self.along = _directions(velocity, self.moving)
        self.upright = _upright(X[:, :3, :3], self.along)

    def beside(self, p: Floats) -> BesideReference:
        """Where points of the tool (m, 3), one for each time, are beside the path."""
        first, last = self.time[0], self.time[-1]
        rate = np.where(self.moving, 1 / np.maximum(self.speed, 1e-12), 0.0)
        at = self.time.copy()
        for _ in range(STEPS):
            x, _, _ = self._frame(at)
            ahead = np.einsum("mi,mi->m", p - self.point(at), x)
            moved = np.clip(at + ahead * rate, self.time - LATEST, self.time + LATEST)
            at = np.clip(moved, first, last)
        e = p - self.point(at)
        along, lateral, vertical = (np.einsum("mi,mi->m", e, axis) for axis in self._frame(at))
        lag = self.arc(self.time) - self.arc(at) - along
        return BesideReference(lateral, vertical, lag)

    def _frame(self, at: Floats) -> tuple[Floats, Floats, Floats]:
        """Axes x, y, z of the path's frame at times, (m, 3) each, straight between samples."""
        place = np.interp(at, self.time, np.arange(len(self.time)))
        before = np.minimum(place.astype(np.int64), len(self.time) - 2)
        share = (place - before)[:, None]
        x = (1 - share) * self.along[before] + share * self.along[before + 1]
        z = (1 - share) * self.upright[before] + share * self.upright[before + 1]
        x = x / np.maximum(np.linalg.norm(x, axis=1), 1e-12)[:, None]
        z = _across(z, x)
        z = z / np.maximum(np.linalg.norm(z, axis=1), 1e-12)[:, None]
        return x, np.cross(z, x), z


def _directions(velocity: Floats, moving: Flags) -> Floats:
    """Unit vectors along the path; while it stands those of the nearest motion, (m, 3)."""
    places = np.flatnonzero(moving)
    if not len(places):
        return np.tile([1.0, 0.0, 0.0], (len(velocity), 1))
    every = np.arange(len(velocity))
    after = np.clip(np.searchsorted(places, every), 0, len(places) - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.abs(places[before] - every) < np.abs(places[after] - every)
    chosen = velocity[np.where(nearer, places[before], places[after])]
    return np.asarray(chosen / np.linalg.norm(chosen, axis=1)[:, None])


def _upright(R: Floats, x: Floats) -> Floats:
    """Unit vectors against the beam across a path, (m, 3), for orientations R of the tool.

    Where the beam runs along the path, the tool's own x axis takes its place.
    """
    up = _across(-R[:, :, 2], x)
    level = _across(R[:, :, 0], x)
    steep = np.linalg.norm(up, axis=1) > ALONG
    z = np.where(steep[:, None], up, level)
    return np.asarray(z / np.linalg.norm(z, axis=1)[:, None])


def _across(vectors: Floats, x: Floats) -> Floats:
    """What of vectors is perpendicular to unit vectors x, (m, 3)."""
    along = np.einsum("mi,mi->m", vectors, x)
    return np.asarray(vectors - along[:, None] * x)
