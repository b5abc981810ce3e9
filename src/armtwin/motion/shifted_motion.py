"""A command beside its seam: shifted at every set-point, or through points of a program."""

from dataclasses import dataclass, replace

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.interpolation import interpolate_columns
from armtwin.maths.splines import interpolate_cubic
from armtwin.motion.joint_motion import JointMotion
from armtwin.motion.seam import Seam
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.robot import Robot

LEAST_SPACING = 0.002  # between points of a program: nearer ones make controllers brake [m]
LARGEST_SPACING = 0.016  # halved where the points deviate: 8, 4 and 2 mm [m]

SETTLED = 0.06  # time in which a shift turns from one leg of a program to the next [s]


def smooth_over(values: Floats, samples: float) -> Floats:
    """Values (m, k) averaged over a number of samples, those in the middle most."""
    from scipy.ndimage import convolve1d

    window = np.hanning(2 * max(1, round(samples / 2)) + 3)
    return convolve1d(values, window / window.sum(), axis=0, mode="nearest")


def shift_motion(robot: Robot, seam: Seam, motion: JointMotion, shift: Floats) -> JointMotion:
    """A joint motion whose tool point is beside its seam.

    Args:
        robot: The robot that the motion is of.
        seam: The seam that it follows.
        motion: The motion along the seam itself.
        shift: Lateral and vertical shift in the seam's frame at the set-points, (m, 2) [m].
    """
    own = motion.trajectory
    X = robot.forward_kinematics(own.q)
    _, frames, _ = seam.frames(motion.command.s)
    away = shift[:, :1] * frames[:, :, 1] + shift[:, 1:] * frames[:, :, 2]
    if len(seam.stops):
        away += _share_of_turns(seam, motion) * (smooth_over(away, SETTLED * own.rate) - away)
    X[:, :3, 3] += away
    more = interpolate_cubic(own.time, robot.follow(X, own.q[0], seam.elbow) - own.q)
    q = own.q + more(own.time)
    v = own.v + more(own.time, 1)
    a = own.a + more(own.time, 2)
    return replace(motion, trajectory=Trajectory(own.rate, q, v, a))


def _share_of_turns(seam: Seam, motion: JointMotion) -> Floats:
    """1 where the seam's frame turns at once, at stops, and the shift must not; (m, 1)."""
    from scipy.ndimage import maximum_filter1d

    samples = SETTLED * motion.trajectory.rate
    turns = np.zeros(len(motion.command.s))
    inner = seam.stops[seam.stops < seam.length - LEAST_SPACING]
    for side in ("left", "right"):
        turns[np.searchsorted(motion.command.s, inner, side=side)] = 1.0
    return smooth_over(maximum_filter1d(turns, 1 + 2 * round(samples))[:, None], samples)


@dataclass(frozen=True, eq=False)
class ProgramPoints:
    """Points of a program beside a seam, in the base frame.

    Attributes:
        places: Arc lengths of the points on the seam, increasing, (k,) [m].
        p: The points, (k, 3) [m].
        R: Orientations of the tool at them, (k, 3, 3).
    """

    places: Floats
    p: Floats
    R: Floats

    def __len__(self) -> int:
        return len(self.places)

    @property
    def spacings(self) -> Floats:
        """Distances between neighbours along the seam, (k - 1,) [m]."""
        return np.diff(self.places)

    def shift(self, seam: Seam, s: Floats, *, smoothly: bool = True) -> Floats:
        """Shift from the seam of what joins the points: a cubic spline, or straight lines, (m, 2).

        Args:
            seam: The seam that they are beside.
            s: Arc lengths at which it is wanted, (m,) [m].
            smoothly: Whether a spline joins them.
        """
        if smoothly:
            joined = interpolate_cubic(self.places, self.p)(s)
        else:
            joined = interpolate_columns(s, self.places, self.p)
        jet, frames, _ = seam.frames(s)
        return np.einsum("mi,mij->mj", joined - jet.p, frames[:, :, 1:])


def points_beside(seam: Seam, s: Floats, shift: Floats, places: Floats) -> ProgramPoints:
    """Points at places of a seam, shifted as set-points are.

    Args:
        seam: The seam.
        s: Arc length of the set-points, never decreasing, (m,) [m].
        shift: Their lateral and vertical shift, (m, 2) [m].
        places: Arc lengths of the points, (k,) [m].
    """
    moving = np.r_[True, np.diff(s) > 0]
    away = interpolate_columns(places, s[moving], shift[moving])
    jet, frames, turns = seam.frames(places)
    p = jet.p + away[:, :1] * frames[:, :, 1] + away[:, 1:] * frames[:, :, 2]
    return ProgramPoints(places, p, turns)


def space_evenly(seam: Seam, spacing: float) -> Floats:
    """Arc lengths of points at about equal distances."""
    return np.linspace(0.0, seam.length, max(2, round(seam.length / spacing)) + 1)


def space_by_curvature(seam: Seam, s: Floats, shift: Floats, deviation: float) -> Floats:
    """Arc lengths of points, nearer to each other where seam and shift are curved.

    A stretch is halved while the spline through the points deviates there from the shifted seam.

    Args:
        seam: The seam.
        s: Arc length of the set-points, never decreasing, (m,) [m].
        shift: Their lateral and vertical shift, (m, 2) [m].
        deviation: Largest deviation that is left where points are not at their least distance [m].
    """
    moving = np.r_[True, np.diff(s) > 0]
    s, shift = s[moving], shift[moving]
    # at least the largest spacing, so that halves of it are not below the least
    places = np.linspace(0.0, seam.length, max(2, int(seam.length / LARGEST_SPACING)) + 1)
    while True:
        joined = points_beside(seam, s, shift, places).shift(seam, s)
        away = np.linalg.norm(joined - shift, axis=1)
        stretch = np.clip(np.searchsorted(places, s, side="right") - 1, 0, len(places) - 2)
        curved = np.zeros(len(places) - 1, dtype=bool)
        curved[stretch[away > deviation]] = True
        curved &= np.diff(places) >= 2 * LEAST_SPACING
        if not curved.any():
            return places
        middles = 0.5 * (places[:-1] + places[1:])
        places = np.sort(np.r_[places, middles[curved]])
