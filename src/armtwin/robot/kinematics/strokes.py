"""Between joints and drives: motor angles or strokes of cylinders, their rates, their forces.

    x_k = s_k · q,  or the length ℓ_k(s_k · q) of a linkage
    x' = B v,  B_k = ℓ_k' s_k;   x'' = B a + ℓ'' (s · v)²;   τ = Bᵀ F
    v = A x',  A = B⁻¹;   a = A x'' - S⁻¹ (ℓ'' / ℓ'³) x'²;    F = Aᵀ τ

Ref: [Machielsen 1983, section 5.2]; its matrix B prints ℓ'' / ℓ'² and loses the minus sign.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Names, check_array
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import Hydraulic

TURN = 2 * np.pi  # [rad]


@dataclass(frozen=True, eq=False)
class LeverArms:
    """What the drives of a robot see of its joints at m postures.

    Attributes:
        weights: S, combinations of the joints, (drives, n).
        angle: Combined angles s · q, (m, drives).
        position: Motor angles or lengths x, (m, drives).
        slope: ℓ' = dx / d(s · q), (m, drives).
        bend: ℓ'', (m, drives).
    """

    weights: Floats
    angle: Floats
    position: Floats
    slope: Floats
    bend: Floats

    @property
    def rows(self) -> Floats:
        """B, (m, drives, n)."""
        return self.slope[:, :, None] * self.weights

    @property
    def inverse(self) -> Floats:
        """A = dq/dx, (m, n, drives)."""
        return np.linalg.inv(self.weights) / self.slope[:, None, :]


def levers(robot: Robot, q: Floats) -> LeverArms:
    """The levers of all drives of a robot at joint positions (m, n)."""
    weights = drive_weights(robot)
    angle = q @ weights.T
    position = angle.copy()
    slope, bend = np.ones_like(angle), np.zeros_like(angle)
    for k, (_, row) in enumerate(robot.assembly.drives):
        if row.linkage is not None:
            position[:, k] = row.linkage.length(angle[:, k])
            slope[:, k] = row.linkage.rate(angle[:, k])
            bend[:, k] = row.linkage.curvature(angle[:, k])
    return LeverArms(weights, angle, position, slope, bend)


def drive_weights(robot: Robot) -> Floats:
    """Combinations of the free coordinates that the drives move, (drives, n)."""
    coupling = robot.assembly.coupling
    rows = [row.weights for _, row in robot.assembly.drives]
    weights = np.array(rows).reshape(len(rows), len(robot.assembly.tree.joints))
    return weights if coupling is None else weights @ coupling.G


def check_drives(robot: Robot) -> None:
    """Refuse a robot whose drives do not determine its joints."""
    weights = drive_weights(robot)
    if len(weights) != robot.n or np.linalg.matrix_rank(weights) < robot.n:
        raise ArmtwinError(
            f"robot '{robot.name}': {robot.n} joints need as many motors or cylinders to be "
            f"controlled, each by an independent combination, got {len(weights)}"
        )


def drive_names(robot: Robot) -> Names:
    """Names of the drives, in their order."""
    return tuple(drive.name for drive, _ in robot.assembly.drives)


def drives_slide(robot: Robot) -> tuple[bool, ...]:
    """Whether each drive moves along a line [m, N] and not about an axis [rad, N m]."""
    return tuple(robot.assembly.slides(row) for _, row in robot.assembly.drives)


def check_levers(robot: Robot, q: Floats) -> None:
    """Refuse joint positions, (m, n), at which a cylinder has passed its dead point."""
    slope = levers(robot, q).slope
    for k, (drive, row) in enumerate(robot.assembly.drives):
        if row.linkage is None or not isinstance(drive, Hydraulic):
            continue
        rising = slope[:, k] if drive.lever == "rising" else -slope[:, k]
        if not (rising > 0).all():
            place = np.degrees(q[int(np.argmin(rising))]).round(2).tolist()
            raise ArmtwinError(
                f"robot '{robot.name}': {drive.name} would pass its dead point at joint positions "
                f"{place} deg"
            )


@dataclass(frozen=True, eq=False)
class Strokes:
    """Motion of the drives: positions, speeds, accelerations, (m, drives) each [m or rad, s]."""

    position: Floats
    speed: Floats
    acceleration: Floats


def strokes(robot: Robot, q: Floats, v: Floats, a: Floats) -> Strokes:
    """Motion of the drives of a motion of the joints, (m, n) each."""
    seen = levers(robot, q)
    turning = v @ seen.weights.T
    acceleration = seen.slope * (a @ seen.weights.T) + seen.bend * turning**2
    return Strokes(seen.position, seen.slope * turning, acceleration)


def joint_positions(robot: Robot, positions: ArrayLike, near: ArrayLike | None = None) -> Floats:
    """Joint positions, (..., n), at which the drives have positions; lengths must close.

    Args:
        robot: The robot; its drives must determine its joints.
        positions: Motor angles, lengths of cylinders, (..., drives) [rad or m].
        near: Joint positions, (n,), from which no angle is more than half a turn away; without it
            angles of linkages are in (-π, π].
    """
    check_drives(robot)
    count = len(robot.assembly.drives)
    x = check_array("positions", positions, (count,), "a position for each drive").copy()
    weights = drive_weights(robot)
    around = np.zeros(robot.n) if near is None else np.asarray(near, dtype=np.float64)
    wanted = weights @ around
    for k, (drive, row) in enumerate(robot.assembly.drives):
        if row.linkage is None or not isinstance(drive, Hydraulic):
            continue
        try:
            angle = row.linkage.angle_of(x[..., k], falling=drive.lever == "falling")
        except ArmtwinError as error:
            raise ArmtwinError(f"robot '{robot.name}': {drive.name} {error}") from None
        x[..., k] = angle + TURN * np.round((wanted[k] - angle) / TURN)
    return x @ np.linalg.inv(weights).T


def drive_forces(robot: Robot, q: Floats, tau: Floats) -> Floats:
    """Torques of motors and forces of cylinders, (m, drives), that give joint torques (m, n)."""
    return np.einsum("mnk,mn->mk", levers(robot, q).inverse, tau)


def joint_torques(robot: Robot, q: Floats, force: Floats) -> Floats:
    """Joint torques, (m, n), of torques of motors and forces of cylinders, (m, drives)."""
    return np.einsum("mkn,mk->mn", levers(robot, q).rows, force)
