"""Inverse kinematics of a robot: closed form where its geometry has one, Newton's method elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, checked
from armtwin.maths.rotations import nearest_rotation
from armtwin.mechanics import kinematics, newton_ik, wrist_arm
from armtwin.mechanics.wrist_arm import WristArm
from armtwin.robot.assembly import Assembly

RESTARTS = 60
STEPS = 80
MET = 1e-10  # pose error [m, rad] below which a numerical solution counts
LARGEST_JUMP = 1.0  # joint change [rad, m] between two poses of a path that is taken for a flip


def checked_poses(X: ArrayLike, single: bool) -> Floats:
    """Poses with proper rotations, (4, 4) or (m, 4, 4)."""
    poses = checked("X", X, (4, 4), "poses as homogeneous matrices")
    if poses.ndim != (2 if single else 3):
        raise ArmtwinError(
            f"X must have shape {'(4, 4)' if single else '(m, 4, 4)'}, got {poses.shape}"
        )
    R = poses[..., :3, :3]
    off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(initial=0.0)
    if off > 1e-6 or (np.linalg.det(R) < 0).any() or (poses[..., 3, :] != [0, 0, 0, 1]).any():
        raise ArmtwinError(
            f"X must be homogeneous matrices with proper rotations, got R Rᵀ off the identity by {off:.2g}"
        )
    if off < 1e-14:
        return np.ascontiguousarray(poses)
    fixed = poses.copy()
    fixed[..., :3, :3] = nearest_rotation(R.reshape(-1, 3, 3)).reshape(R.shape)
    return fixed


@dataclass(frozen=True)
class InverseKinematics:
    """Inverse kinematics of the frame "tool" of a robot.

    Attributes:
        robot: The robot.
        limits: Lower and upper limits of the coordinates, (2, n).
    """

    robot: Assembly
    limits: Floats

    @cached_property
    def recognised(self) -> WristArm | str:
        """The closed-form geometry, or why there is none."""
        arm, (body, X_BF) = self.robot.arm, self.robot.frame("tool")
        chain = list(range(-1, len(arm.parent) - 1))
        if len(arm.parent) != 6 or arm.parent.tolist() != chain or arm.slides.any() or body != 5:
            return "it is not a chain of six revolute joints that ends at the tool"
        if self.robot.coupling is not None:
            return "joints follow each other"
        q, X = np.zeros((1, 6)), np.empty((1, 4, 4))
        axes, points = np.empty((6, 3)), np.empty((6, 3))
        for i in range(6):
            kinematics.poses(arm, i, np.eye(4), q, X, 0, 1)
            axes[i], points[i] = X[0, :3, :3] @ arm.axis[i], X[0, :3, 3]
        kinematics.poses(arm, body, X_BF, q, X, 0, 1)
        return wrist_arm.recognise(axes, points, X[0])

    def solutions(self, X: ArrayLike) -> Floats:
        """Every solution of one pose with angles in (-π, π], (k, n)."""
        pose = checked_poses(X, single=True)
        if isinstance(self.recognised, str):
            return self._by_newton(pose)
        out = np.empty((8, 6))
        found = wrist_arm.solve(self.recognised, pose, np.zeros(6), out)
        return self._distinct(out[:found][self._errors(pose, out[:found]) < MET])

    def within(self, solutions: Floats) -> Floats:
        """The solutions that lie within the limits, an angle turned by 2π where that brings it there."""
        kept = []
        for q in solutions:
            turns = [q + 2 * np.pi * k * self._turns for k in (0, 1, -1)]
            choice = q.copy()
            for turned in turns[::-1]:
                inside = (turned >= self.limits[0]) & (turned <= self.limits[1])
                choice = np.where(inside, turned, choice)
            if ((choice >= self.limits[0]) & (choice <= self.limits[1])).all():
                kept.append(choice)
        return np.array(kept).reshape(-1, self.limits.shape[1])

    def trace(self, X: ArrayLike, q0: ArrayLike) -> Floats:
        """Joint path along poses, (m, n), on the branch that starts nearest to q0; NaN where a pose is out of reach."""
        poses = checked_poses(X, single=False)
        n = self.limits.shape[1]
        start = checked("q0", q0, (n,), "joint position to start from")
        if start.ndim != 1:
            raise ArmtwinError(f"q0 must have shape ({n},), got {start.shape}")
        path = np.empty((len(poses), n))
        if isinstance(self.recognised, str):
            self._follow_by_newton(poses, start, path)
        else:
            wrist_arm.follow(self.recognised, poses, start.copy(), path)
        return path

    def follow(self, X: ArrayLike, q0: ArrayLike) -> Floats:
        """Joint path along poses, (m, n), as `trace`; a pose out of reach and a jump of a joint are refused."""
        path = self.trace(X, q0)
        missed = np.isnan(path[:, 0])
        if missed.any():
            first = int(missed.argmax())
            raise ArmtwinError(
                f"pose {first} of the path: {self.why_unreachable(np.asarray(X)[first])}"
            )
        jumps = np.abs(np.diff(path, axis=0))
        if jumps.size and jumps.max() > LARGEST_JUMP:
            at, joint = (int(i) for i in np.unravel_index(int(jumps.argmax()), jumps.shape))
            name = self.robot.tree.joints[self.robot.free[joint]].name
            raise ArmtwinError(
                f"the path must stay on one branch, but {name} jumps by {jumps[at, joint]:.3g} between poses {at} and "
                f"{at + 1} (a singularity, or poses too far apart)"
            )
        return path

    def why_unreachable(self, X: ArrayLike) -> str:
        """Why a pose cannot be reached within the limits, as a sentence."""
        pose = checked_poses(X, single=True)
        solutions = self.solutions(pose)
        if len(self.within(solutions)):
            return "The pose can be reached."
        if len(solutions):
            return self._beyond_limits(solutions)
        if isinstance(self.recognised, str):
            return f"No joint position was found in {RESTARTS} numerical searches; the pose is most likely out of reach."
        g = self.recognised
        x, y, z = wrist_arm.reach(g, pose)
        across, longest = float(np.hypot(x, y)), float(g.upper[0] + g.fore[0])
        if across < abs(g.lateral):
            return (
                f"The wrist centre is {1e3 * across:.1f} mm from axis 1, closer than the arm's lateral offset of "
                f"{1e3 * abs(g.lateral):.1f} mm."
            )
        flat = np.sqrt(across**2 - g.lateral**2)
        far = min(float(np.hypot(side * flat - g.shoulder, z)) for side in (1, -1))
        if far > longest:
            return (
                f"The wrist centre is {1e3 * far:.1f} mm from axis 2, {1e3 * (far - longest):.1f} mm beyond the "
                f"stretched arm ({1e3 * longest:.1f} mm)."
            )
        shortest = abs(float(g.upper[0] - g.fore[0]))
        return f"The wrist centre is {1e3 * far:.1f} mm from axis 2, closer than the folded arm ({1e3 * shortest:.1f} mm)."

    def _beyond_limits(self, solutions: Floats) -> str:
        turned = np.stack([solutions + 2 * np.pi * k * self._turns for k in (0, 1, -1)])
        excess = (
            np.maximum(self.limits[0] - turned, turned - self.limits[1]).clip(min=0).min(axis=0)
        )
        best = int(excess.sum(axis=1).argmin())
        parts = []
        for j in np.flatnonzero(excess[best]):
            values = [solutions[best, j], self.limits[0, j], self.limits[1, j]]
            scale, unit = (180 / np.pi, "°") if self._turns[j] else (1e3, " mm")
            q, low, high = (f"{scale * x:.1f}{unit}" for x in values)
            name = self.robot.tree.joints[self.robot.free[int(j)]].name
            parts.append(f"{name} would be at {q} (limits {low} to {high})")
        return (
            f"The pose is reached only outside the joint limits; in the nearest of {len(solutions)} solutions "
            + (", ".join(parts) + ".")
        )

    @cached_property
    def _turns(self) -> Floats:
        """1 for each revolute coordinate, 0 for each prismatic one."""
        return 1.0 - self.robot.arm.slides[list(self.robot.free)]

    @cached_property
    def _map(self) -> tuple[Floats, Floats]:
        n = self.limits.shape[1]
        coupling = self.robot.coupling
        return (np.eye(n), np.zeros(n)) if coupling is None else (coupling.G, coupling.c)

    def _errors(self, pose: Floats, solutions: Floats) -> Floats:
        """Largest difference between a pose and the pose of each solution, (k,)."""
        body, X_BF = self.robot.frame("tool")
        X = np.empty((len(solutions), 4, 4))
        kinematics.poses(self.robot.arm, body, X_BF, solutions, X, 0, len(solutions))
        return np.abs(X - pose).max(axis=(1, 2))

    def _distinct(self, solutions: Floats) -> Floats:
        """The solutions without repetitions, angles in (-π, π], (k, n)."""
        kept = np.empty_like(solutions)
        return kept[: wrist_arm.distinct(solutions, self._turns, kept)]

    def _descend(self, pose: Floats, q: Floats, steps: int) -> float:
        body, X_BF = self.robot.frame("tool")
        return float(newton_ik.descend(self.robot.arm, *self._map, body, X_BF, pose, q, steps))

    def _by_newton(self, pose: Floats) -> Floats:
        """Distinct solutions found from random starts; the starts are always the same ones."""
        chance = np.random.default_rng(20070901)
        low, high = self.limits
        low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * np.pi, -np.pi))
        span = np.array([low, np.where(np.isfinite(high), high, low + 2 * np.pi)])
        found: list[Floats] = []
        for _ in range(RESTARTS):
            q = chance.uniform(span[0], span[1])
            if self._descend(pose, q, STEPS) < MET:
                found.append(q)
        return self._distinct(np.array(found).reshape(-1, self.limits.shape[1]))

    def _follow_by_newton(self, poses: Floats, start: Floats, path: Floats) -> None:
        """Newton from pose to pose, the first from q0; a pose that is not met leaves a row of NaN."""
        q = start.copy()
        for row, pose in enumerate(poses):
            path[row] = q
            if self._descend(pose, path[row], STEPS) < MET:
                q = path[row].copy()
            else:
                path[row] = np.nan
