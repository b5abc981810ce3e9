"""Closed-form inverse kinematics of arms with an ortho-parallel base and a spherical wrist.

Axis 1 is perpendicular to axes 2 and 3, which are parallel; axes 4, 5, 6 meet in the wrist centre,
each perpendicular to the next. Shoulder, elbow and lateral offsets are free. Joints 1 to 3 place
the wrist centre (a turn, then a triangle), joints 4 to 6 turn the tool; two choices each give eight
solutions.

The wrist's angles are computed one after the other, each from the ones before, so that the pose is
met to rounding however near the wrist is to its singularity.

Ref: [Pieper 1968], [Brandstoetter-Angerer-Hofbaur 2014]
"""

from typing import Any, NamedTuple

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled
from armtwin.maths.rotations import about
from armtwin.maths.vectors import dot, vector

# Sines and lengths below this, relative to 1 and to the arm, leave an angle undetermined.
SINGULAR = 1e-12
# Rounding by which a stretched arm may seem out of reach, relative.
STRETCH = 4e-15
# Joint difference [rad, m] below which two solutions are one.
SAME = 1e-7


class WristArm(NamedTuple):
    """Geometry of the arm at q = 0, with x = y × z, y along axis 2, z along axis 1.

    Attributes:
        base: Rotation with columns x, y, z in base axes, (3, 3).
        origin: Point of axis 1 at the height of axis 2, in base coordinates, (3,).
        shoulder: Distance of axis 2 from axis 1 along x [m].
        upper: Length and angle (from z towards x) from axis 2 to axis 3, (2,).
        fore: Length and angle from axis 3 to the wrist centre, (2,).
        lateral: Offset of the wrist centre along y [m].
        sense: Direction of axis 3 relative to axis 2, ±1.
        left: wristᵀ base, with the columns of wrist u5 × u4, u5, u4 in base axes, (3, 3).
        right: homeᵀ wrist Ry(bend), home the rotation of the frame at q = 0, (3, 3).
        bend: Angle about u5 from u4 to u6 [rad].
        centre: Wrist centre in the frame, (3,) [m].
    """

    base: Any
    origin: Any
    shoulder: float
    upper: Any
    fore: Any
    lateral: float
    sense: float
    left: Any
    right: Any
    bend: float
    centre: Any


def recognise(
    axes: Floats, points: Floats, home: Floats, tolerance: float = 1e-9
) -> WristArm | str:
    """The geometry of six revolute axes at q = 0, or why they are no such arm.

    Args:
        axes: Unit vectors of the axes in base axes, (6, 3).
        points: A point on each axis, (6, 3) [m].
        home: Pose of the frame to place at q = 0, (4, 4).
        tolerance: How exactly axes must be parallel, perpendicular and meet [rad, m].
    """
    u1, u2, u3, u4, u5, u6 = axes
    if abs(u1 @ u2) > tolerance:
        return "axis 2 is not perpendicular to axis 1"
    if np.linalg.norm(np.cross(u2, u3)) > tolerance:
        return "axis 3 is not parallel to axis 2"
    if abs(u4 @ u5) > tolerance or abs(u5 @ u6) > tolerance:
        return "the wrist's axes are not perpendicular to each other"
    # wrist centre: the point of axis 4 nearest to axis 5
    centre = points[3] + u4 * ((points[4] - points[3]) @ u4)
    for name, axis, point in (("5", u5, points[4]), ("6", u6, points[5])):
        if np.linalg.norm(np.cross(centre - point, axis)) > tolerance:
            return f"axis {name} does not pass through the wrist centre"
    base = np.column_stack([np.cross(u2, u1), u2, u1])
    origin = points[0] + u1 * ((points[1] - points[0]) @ u1)
    shoulder = base.T @ (points[1] - origin)
    elbow = base.T @ (points[2] - origin)
    tip = base.T @ (centre - origin)
    upper = _length_and_angle(elbow - shoulder)
    fore = _length_and_angle(tip - elbow)
    if min(upper[0], fore[0]) < 1e-6:
        return "upper arm or forearm has no length"
    wrist = np.column_stack([np.cross(u5, u4), u5, u4])
    bend = float(np.arctan2(u6 @ wrist[:, 0], u6 @ wrist[:, 2]))
    R, p = home[:3, :3], home[:3, 3]
    return WristArm(
        base=base,
        origin=origin,
        shoulder=float(shoulder[0]),
        upper=upper,
        fore=fore,
        lateral=float(tip[1]),
        sense=float(np.sign(u2 @ u3)),
        left=wrist.T @ base,
        right=R.T @ wrist @ about((0, 1, 0), bend),
        bend=bend,
        centre=R.T @ (centre - p),
    )


def _length_and_angle(x: Floats) -> Floats:
    """Length and angle, from z towards x, of a vector in the arm's axes seen along y, (2,)."""
    return np.array([np.hypot(x[0], x[2]), np.arctan2(x[0], x[2])])


NEAR = 0.5  # angle within which the next solution along a path is looked for first [rad]


@compiled
def wrap_angle(x: float) -> float:
    """The angle in (-π, π]."""
    y = x - 2 * np.pi * np.rint(x / (2 * np.pi))  # np.round would import scipy in each process
    return y if y > -np.pi else y + 2 * np.pi


@compiled
def is_far(q: Floats, reference: Floats, joint: int, within: float) -> bool:
    """Whether an angle is further than `within` from that of a reference, whole turns aside."""
    return abs(wrap_angle(q[joint] - reference[joint])) > within


@compiled
def _times(A: Floats, B: Floats, out: Floats) -> None:
    """A B for 3 x 3 matrices."""
    for r in range(3):
        for c in range(3):
            out[r, c] = dot(vector(A, r), (B[0, c], B[1, c], B[2, c]))


@compiled
def _rotate_rows(M: Floats, i: int, j: int, angle: float, out: Floats) -> None:
    """M turned by an angle in the plane of its rows i and j.

    row_i' = c row_i + s row_j,   row_j' = -s row_i + c row_j
    """
    c, s = np.cos(angle), np.sin(angle)
    other = 3 - i - j
    for k in range(3):
        x, y = M[i, k], M[j, k]
        out[other, k] = M[other, k]
        out[i, k] = c * x + s * y
        out[j, k] = -s * x + c * y


@compiled
def reach(g: WristArm, X: Floats) -> tuple[float, float, float]:
    """Wrist centre of a pose in the arm's own axes x, y, z from the origin on axis 1."""
    c = np.empty(3)
    for r in range(3):
        c[r] = X[r, 3] - g.origin[r]
        for k in range(3):
            c[r] += X[r, k] * g.centre[k]
    axes, centre = g.base.T, (c[0], c[1], c[2])
    return dot(vector(axes, 0), centre), dot(vector(axes, 1), centre), dot(vector(axes, 2), centre)


@compiled
def _solve_wrist(
    g: WristArm, E: Floats, q: Floats, reference: Floats, out: Floats, found: int
) -> int:
    """Append the one or two wrists with Rz(q4) Ry(q5 + bend) Rz(q6) = E, for arm angles q[0:3]."""
    zx, zy, zz = E[0, 2], E[1, 2], E[2, 2]
    straight = np.hypot(zx, zy) < SINGULAR
    for side in (1.0, -1.0):
        q4 = reference[3] if straight else np.arctan2(side * zy, side * zx)
        c, s = np.cos(q4), np.sin(q4)
        bent = np.arctan2(c * zx + s * zy, zz)
        sine = c * E[1, 0] - s * E[0, 0]
        cosine = c * E[1, 1] - s * E[0, 1]
        for j in range(3):
            out[found, j] = q[j]
        out[found, 3] = wrap_angle(q4)
        out[found, 4] = wrap_angle(bent - g.bend)
        out[found, 5] = wrap_angle(np.arctan2(sine, cosine))
        found += 1
        if straight:
            break
    return found


@compiled
def solve(g: WristArm, X: Floats, reference: Floats, out: Floats, within: float) -> int:
    """Solutions of a pose X (4, 4), angles in (-π, π], into rows of out (8, 6); their number.

    Angles that the pose leaves undetermined (wrist straight, wrist centre on axis 1 or 2) are taken
    from `reference`, one representative for each branch. Left out are solutions of which one of the
    first three angles is further than `within` from the reference [rad].
    """
    found = 0
    x, y, z = reach(g, X)
    L1, L2 = g.upper[0], g.fore[0]
    across = np.hypot(x, y)
    inside = (across - abs(g.lateral)) * (across + abs(g.lateral))
    if inside < -STRETCH * (L1 + L2) ** 2:
        return 0
    radius = np.sqrt(max(inside, 0.0))
    on_axis = across < SINGULAR * (L1 + L2)
    # what arm and wrist must turn together, seen in the arm's axes: V = baseᵀ R right
    q, E = np.empty(3), np.empty((3, 3))
    V, V1, V2 = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    _times(X, g.right, V1)
    _times(g.base.T, V1, V)
    for front in (1.0, -1.0):
        if on_axis:
            q[0] = wrap_angle(reference[0] if front > 0 else reference[0] + np.pi)
        else:
            q[0] = wrap_angle(np.arctan2(y, x) - np.arctan2(g.lateral, front * radius))
        if is_far(q, reference, 0, within):
            continue
        _rotate_rows(V, 0, 1, q[0], V1)
        px, pz = front * radius - g.shoulder, z
        D = np.hypot(px, pz)
        # sin and cos of the elbow's angle, times 2 L1 L2; a product keeps the sine near its zeros
        sine2 = (L1 + L2 - D) * (L1 + L2 + D) * (D - L1 + L2) * (D + L1 - L2)
        if sine2 < -STRETCH * (L1 + L2) ** 4:
            continue
        sine = np.sqrt(max(sine2, 0.0))
        cosine = D * D - L1 * L1 - L2 * L2
        folded = D < SINGULAR * (L1 + L2)
        for elbow in (1.0, -1.0):
            bent = np.arctan2(elbow * sine, cosine)
            if folded:
                q[1] = reference[1]
            else:
                away = np.arctan2(L2 * np.sin(bent), L1 + L2 * np.cos(bent))
                q[1] = wrap_angle(np.arctan2(px, pz) - g.upper[1] - away)
            q[2] = wrap_angle(g.sense * (bent + g.upper[1] - g.fore[1]))
            if is_far(q, reference, 1, within) or is_far(q, reference, 2, within):
                continue
            _rotate_rows(V1, 2, 0, q[1] + g.sense * q[2], V2)
            _times(g.left, V2, E)
            found = _solve_wrist(g, E, q, reference, out, found)
    return found


@compiled
def distinct(solutions: Floats, turns: Floats, kept: Floats) -> int:
    """Copy the rows that differ, angles wrapped, into kept; returns their number.

    turns[j] is 0 for a displacement.
    """
    count = 0
    for row in range(solutions.shape[0]):
        repeated = False
        for k in range(count):
            gap = 0.0
            for j in range(turns.shape[0]):
                x = solutions[row, j] - kept[k, j]
                gap = max(gap, abs(wrap_angle(x) if turns[j] > 0 else x))
            repeated = repeated or gap < SAME
        if not repeated:
            for j in range(turns.shape[0]):
                x = solutions[row, j]
                kept[count, j] = wrap_angle(x) if turns[j] > 0 else x
            count += 1
    return count


@compiled
def follow(g: WristArm, X: Floats, q0: Floats, path: Floats) -> int:
    """Joint path (m, 6) along poses X (m, 4, 4), at each the solution nearest to the one before.

    A pose without a solution leaves a row of NaN; returns how many there are.
    """
    out = np.empty((8, 6))
    before = q0.copy()
    unreachable = 0
    for row in range(X.shape[0]):
        for within in (NEAR, np.pi):
            best, least = 0, np.inf
            found = solve(g, X[row], before, out, within)
            for k in range(found):
                far = 0.0
                for j in range(6):
                    far = max(far, abs(wrap_angle(out[k, j] - before[j])))
                if far < least:
                    best, least = k, far
            if least <= within:  # what was left out is further
                break
        if found == 0:
            unreachable += 1
            path[row] = np.nan
            continue
        for j in range(6):
            before[j] += wrap_angle(out[best, j] - before[j])
            path[row, j] = before[j]
    return unreachable
