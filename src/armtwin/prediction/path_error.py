"""How far the tool is from its seam: lateral, vertical, along it, and in orientation.

    e = p - p*(s),  s the arc length of the closest point: (p - p*(s)) · t(s) = 0
    lateral = e · y,  vertical = e · z of the seam's frame;  lag = commanded arc length - s

The closest point is sought near the commanded one, so a seam may cross itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, checked
from armtwin.motion.seam import Seam
from armtwin.notebook import cards

CHUNK = 20_000  # samples worked on at a time
WINDOW = 0.05  # the closest point is sought this far [m] from the commanded one
STEPS = 30
CLOSE = 1e-12


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
        lag: Commanded arc length minus that of the closest point [m].
        speed: Speed of the closest point along the seam [m/s].
        orientation: Angle between the tool and its orientation at the closest point [rad].
    """

    time: Floats
    s: Floats
    speed_ref: Floats
    place: Floats
    lateral: Floats
    vertical: Floats
    lag: Floats
    speed: Floats
    orientation: Floats

    def __repr__(self) -> str:
        lateral = 1e6 * np.abs(self.lateral).max(initial=0.0)
        vertical = 1e6 * np.abs(self.vertical).max(initial=0.0)
        return cards.line(
            "PathError",
            cards.counted(len(self.time), "sample"),
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
    poses = checked("X", X, (4, 4), "a pose of the tool for each time")
    if poses.ndim != 3 or stamps.shape != poses.shape[:1]:
        raise ArmtwinError(
            f"X must have shape ({len(stamps)}, 4, 4), a pose for each time, got {poses.shape}"
        )
    command = seam.command(stamps - shift)
    place, lateral, vertical, orientation = np.empty((4, len(stamps)))
    for start in range(0, len(stamps), CHUNK):
        rows = slice(start, start + CHUNK)
        points = poses[rows, :3, 3]
        place[rows] = closest(seam, points, command.s[rows])
        jet, E, R = seam.frames(place[rows])
        e = points - jet.p
        lateral[rows], vertical[rows] = (np.einsum("mi,mi->m", e, E[:, :, k]) for k in (1, 2))
        # ‖R - R*‖² = 8 sin²(angle / 2): exact for small angles
        apart = np.linalg.norm(poses[rows, :3, :3] - R, axis=(1, 2))
        orientation[rows] = 2 * np.arcsin(np.clip(apart / np.sqrt(8), 0.0, 1.0))
    speed = np.gradient(place, stamps) if len(stamps) > 1 else np.zeros(1)
    lag = command.s - place
    return PathError(
        stamps, command.s, command.speed, place, lateral, vertical, lag, speed, orientation
    )


def closest(seam: Seam, p: Floats, s: Floats) -> Floats:
    """Arc lengths of a seam closest to points p, (m, 3), near arc lengths s; Newton's method."""
    low, high = np.maximum(s - WINDOW, 0.0), np.minimum(s + WINDOW, seam.length)
    found, open_ = s.copy(), np.arange(len(s))
    for _ in range(STEPS):
        jet = seam.path.at(found[open_])
        e = p[open_] - jet.p
        slope = np.maximum(
            1 - (e * jet.c).sum(axis=1), 0.1
        )  # beyond the centre of curvature there is no minimum
        step = (e * jet.t).sum(axis=1) / slope
        moved = np.clip(found[open_] + step, low[open_], high[open_])
        change = np.abs(moved - found[open_])
        found[open_] = moved
        open_ = open_[change > CLOSE]
        if not len(open_):
            break
    return found
