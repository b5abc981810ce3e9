"""The posture in which a robot starts a seam: as given, by name, or the best of all that reach it.

Elbow and wrist lie in a plane across the shoulder's axis. With S, E, W the shoulder, the elbow and
the wrist in it, and u upwards, the elbow is up where it is above the line from S to W:

    rise = u · (E - F),   F the foot of E on that line
"""

from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.maths.rotations import pose
from armtwin.mechanics.newton_ik import POSE
from armtwin.motion.cell import Cell, stays_clear, upwards
from armtwin.motion.joint_motion import invert_jacobians
from armtwin.motion.seam import Seam
from armtwin.robot.robot import Robot

ELBOWS = ("elbow up", "elbow down")

COARSE = 200  # poses on which the branches are compared where no posture is given
BRANCH = np.pi / 2  # change [rad] of a joint between two of them that is one to another branch
# of the most room, from which on postures count as equal; mirrored ones differ by less
EQUAL = 0.5
SAME = 1e-9  # of the most room, which rounding alone parts: the first of such postures is taken
MIDDLE = 0.5  # of its travel that a joint has left in the middle, and one without limits anywhere
PARALLEL = 1e-3  # of axes, sine of the angle between them
STRETCHED = 1e-6  # rise [m] of an elbow that is neither up nor down


def start_posture(
    robot: Robot, seam: Seam, posture: Floats | str | None, cell: Cell | None = None
) -> Floats:
    """Joint position near which a robot starts a seam.

    Where no angles are given, every branch is followed along the whole seam, of a seven-axis arm
    those at the seam's elbow angle or at every 30 degrees of it. The best one keeps the joint
    limits, stays clear of the cell, and has the largest margin to the limits and to singularities;
    among equal ones the elbow is up.

    Args:
        robot: The robot.
        seam: The seam.
        posture: Angles, where the elbow shall be, or None.
        cell: What stands around the robot.
    """
    if robot.n < POSE or robot.assembly.coupling is not None:
        raise ArmtwinError(
            f"robot '{robot.name}': a seam needs six joints that move freely, got {robot.n}"
        )
    if isinstance(posture, np.ndarray):
        return posture
    X = _coarse(seam)
    starts = robot.inverse_kinematics(X[0], within_limits=True, elbow=seam.elbow)
    if not len(starts):
        why = robot.why_unreachable(X[0], seam.elbow)
        raise ArmtwinError(f"the start of the seam cannot be reached. {why}")
    if posture is not None:
        starts = _with_elbow(robot, starts, posture)
    branches = []
    for q in starts:
        path = robot.inverse.trace(X, q, seam.elbow)
        branches.append(_branch(robot, q, path, cell or Cell()))
    return _best(branches).start


def _coarse(seam: Seam) -> Floats:
    """Some poses along a seam, (k, 4, 4); up to where the joints are led, if they are."""
    stop = min([seam.length, *(move.start for move in seam.joint_moves)])
    jet, turning = seam.at(np.linspace(0, stop, COARSE))
    return np.array([pose(R, p) for R, p in zip(turning.R, jet.p, strict=True)])


@dataclass(frozen=True, eq=False)
class _Branch:
    """A branch of a seam: its first joint position, its margin, whether it is clear, elbow up."""

    start: Floats
    room: float
    is_clear: bool
    is_up: bool


def _branch(robot: Robot, start: Floats, q: Floats, cell: Cell) -> _Branch:
    rise = elbow_rise(robot, start)
    is_up = rise is not None and rise > STRETCHED
    return _Branch(start, _room(robot, q), stays_clear(robot, cell, q), is_up)


def _best(branches: list[_Branch]) -> _Branch:
    """The one with most room of those that can be run and stay clear, elbow up where equal."""
    possible = [x for x in branches if x.room > 0]
    clear = [x for x in possible if x.is_clear]
    left = clear or possible or branches
    most = max(x.room for x in left)
    chosen = [x for x in left if x.room >= EQUAL * most and x.is_up] or left
    most = max(x.room for x in chosen)
    return next(x for x in chosen if x.room >= most - SAME * abs(most))


def _with_elbow(robot: Robot, starts: Floats, elbow: str) -> Floats:
    """The joint positions (k, n) whose elbow is where it shall be."""
    sign = 1 if elbow == "elbow up" else -1
    kept = []
    for q in starts:
        rise = elbow_rise(robot, q)
        if rise is None:
            raise ArmtwinError(
                f"posture '{elbow}': robot '{robot.name}' has no elbow, six joints of which the "
                "second and the third turn about parallel axes, or a chain of seven that turn; "
                "give the angles of a posture"
            )
        if sign * rise > STRETCHED:
            kept.append(q)
    if not kept:
        raise ArmtwinError(
            f"posture '{elbow}': in none of the {len(starts)} postures within the joint limits "
            "that reach the start of the seam is the elbow there"
        )
    return np.array(kept)


def elbow_rise(robot: Robot, q: Floats) -> float | None:
    """How far the elbow is above the line from shoulder to wrist at a posture (n,) [m].

    None where the robot has no elbow. Of seven joints it lies where the elbow angle has it. Of six
    the wrist is joint 4 where its axis is parallel to the elbow's, and joint 5 elsewhere.
    """
    points = robot.inverse.elbow_points(q)
    if points is None:
        points = _points_of_six(robot, q)
    if points is None:
        return None
    shoulder, elbow, wrist = points
    chord = wrist - shoulder
    out = elbow - shoulder
    length = float(chord @ chord)
    foot = chord * (out @ chord) / length if length > 0 else chord
    up = upwards(robot)
    if up is None:
        up = np.array([0.0, 0.0, 1.0])
    return float(up @ (out - foot))


def _points_of_six(robot: Robot, q: Floats) -> Floats | None:
    """Shoulder, elbow and wrist of six joints in the plane across the shoulder's axis, (3, 3)."""
    joints = robot.assembly.tree.joints
    slides = any(joint.type == "prismatic" for joint in joints)
    if len(joints) != POSE or slides:
        return None
    X = [robot.forward_kinematics(q, joint.child) for joint in joints]
    axes = []
    for x, joint in zip(X, joints, strict=True):
        axis = x[:3, :3] @ np.array(joint.axis)
        axes.append(axis / np.linalg.norm(axis))
    about = axes[1]
    if not _parallel(about, axes[2]):
        return None
    wrist = X[3] if _parallel(about, axes[3]) else X[4]
    across = np.eye(3) - np.outer(about, about)
    return np.array([X[1][:3, 3], X[2][:3, 3], wrist[:3, 3]]) @ across


def _parallel(a: Floats, b: Floats) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) < PARALLEL)


def _room(robot: Robot, q: Floats) -> float:
    """Smallest share of its travel that a joint has left, times the distance to singularities.

    Negative for positions (m, n) beyond limits, out of reach, or on several branches.
    """
    if np.isnan(q).any():
        return -float(np.isnan(q[:, 0]).sum())
    low, high = robot.position_limits
    travel = np.where(np.isfinite(high - low), high - low, 1.0)
    room = min(float(np.min(np.minimum(q - low, high - q) / travel)), MIDDLE)
    largest_step = np.abs(np.diff(q, axis=0)).max()
    if room < 0 or largest_step > BRANCH:
        return min(room, -1e-3)
    _, distance = invert_jacobians(robot.jacobian(q))
    return room * float(distance.min())
