"""Inverse kinematics of a robot: closed form where there is one, Newton's method elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, TwoArrays, check_array
from armtwin.maths.rotations import nearest_rotation
from armtwin.mechanics import kinematics, newton_ik, wrist_arm
from armtwin.mechanics.wrist_arm import WristArm
from armtwin.robot.dynamics.assembly import Assembly

RESTARTS = 60  # numerical searches before a pose counts as out of reach
STEPS = 80  # of one search
MET = 1e-10  # pose error [m, rad] below which a numerical solution counts
# below which a solution in closed form is one of an arm whose file rounds its right angles
NEARLY = 1e-7
LARGEST_JUMP = 1.0  # joint change [rad, m] between two poses of a path that is taken for a flip


def check_poses(X: ArrayLike, single: bool) -> Floats:
    """Poses with proper rotations, (4, 4) or (m, 4, 4)."""
    poses = check_array("X", X, (4, 4), "poses as homogeneous matrices")
    if poses.ndim != (2 if single else 3):
        wanted = "(4, 4)" if single else "(m, 4, 4)"
        raise ArmtwinError(f"X must have shape {wanted}, got {poses.shape}")
    R = poses[..., :3, :3]
    off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(initial=0.0)
    mirrored = (np.linalg.det(R) < 0).any()
    inhomogeneous = (poses[..., 3, :] != [0, 0, 0, 1]).any()
    if off > 1e-6 or mirrored or inhomogeneous:
        contract = "X must be homogeneous matrices with proper rotations"
        raise ArmtwinError(f"{contract}, got R Rᵀ off the identity by {off:.2g}")
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
        if self.robot.passive:
            return "joints follow through closed loops"
        arm = self.robot.arm
        body, X_BF = self.robot.frame("tool")
        serial = arm.parent.tolist() == [-1, 0, 1, 2, 3, 4]
        if not serial or arm.slides.any() or body != 5:
            return "it is not a chain of six revolute joints that ends at the tool"
        if self.robot.coupling is not None:
            return "joints follow each other"
        q = np.zeros((1, 6))
        X = np.empty((1, 4, 4))
        axes = np.empty((6, 3))
        points = np.empty((6, 3))
        for i in range(6):
            kinematics.poses(arm, i, np.eye(4), q, X, 0, 1)
            axes[i] = X[0, :3, :3] @ arm.axis[i]
            points[i] = X[0, :3, 3]
        kinematics.poses(arm, body, X_BF, q, X, 0, 1)
        return wrist_arm.recognise(axes, points, X[0])

    def solutions(self, X: ArrayLike) -> Floats:
        """Every solution of one pose with angles in (-π, π], (k, n)."""
        pose = check_poses(X, single=True)
        if isinstance(self.recognised, str):
            return self._by_newton(pose)
        out = np.empty((8, 6))
        found = wrist_arm.solve(self.recognised, pose, np.zeros(6), out)
        candidates = out[:found]
        error = self._errors(pose, candidates)
        for k in np.flatnonzero((error >= MET) & (error < NEARLY)):
            error[k] = self._descend(pose, candidates[k], STEPS)
        return self._distinct(candidates[error < MET])

    def within(self, solutions: Floats) -> Floats:
        """The solutions within the limits, an angle turned by 2π where that brings it there."""
        kept = []
        for q in solutions:
            choice = q.copy()
            for turned in self._add_turns(q)[::-1]:
                choice = np.where(self._inside(turned), turned, choice)
            if self._inside(choice).all():
                kept.append(choice)
        return np.array(kept).reshape(-1, self.limits.shape[1])

    def _inside(self, q: Floats) -> Floats:
        """Whether each coordinate lies within its limits."""
        lower, upper = self.limits
        return (q >= lower) & (q <= upper)

    def _add_turns(self, q: Floats) -> Floats:
        """Positions as they are, a turn further and a turn back, (3, ...)."""
        return np.stack([q + 2 * np.pi * k * self._turns for k in (0, 1, -1)])

    def trace(self, X: ArrayLike, q0: ArrayLike) -> Floats:
        """Joint path along poses, (m, n), on the branch that starts nearest to q0.

        It is NaN where a pose is out of reach.
        """
        poses = check_poses(X, single=False)
        n = self.limits.shape[1]
        start = check_array("q0", q0, (n,), "joint position to start from", single=True)
        path = np.empty((len(poses), n))
        if isinstance(self.recognised, str):
            self._follow_by_newton(poses, start, path)
        else:
            wrist_arm.follow(self.recognised, poses, start.copy(), path)
        return path

    def follow(self, X: ArrayLike, q0: ArrayLike) -> Floats:
        """Joint path along poses as `trace`; a pose out of reach and a jump are refused, (m, n)."""
        path = self.trace(X, q0)
        unreachable = np.isnan(path[:, 0])
        if unreachable.any():
            first = int(unreachable.argmax())
            why = self.why_unreachable(np.asarray(X)[first])
            raise ArmtwinError(f"pose {first} of the path: {why}")
        jumps = np.abs(np.diff(path, axis=0))
        if jumps.size and jumps.max() > LARGEST_JUMP:
            at, joint = np.unravel_index(int(jumps.argmax()), jumps.shape)
            jump = f"{self._name(int(joint))} jumps by {jumps[at, joint]:.3g}"
            raise ArmtwinError(
                f"the path must stay on one branch, but {jump} between poses {at} and {at + 1} "
                "(a singularity, or poses too far apart)"
            )
        return path

    def _name(self, coordinate: int) -> str:
        """Name of the joint of a coordinate."""
        return self.robot.free_joints[coordinate].name

    def why_unreachable(self, X: ArrayLike) -> str:
        """Why a pose cannot be reached within the limits, as a sentence."""
        pose = check_poses(X, single=True)
        solutions = self.solutions(pose)
        if len(self.within(solutions)):
            return "The pose can be reached."
        if len(solutions):
            return self._beyond_limits(solutions)
        if isinstance(self.recognised, str):
            searched = f"No joint position was found in {RESTARTS} numerical searches"
            return f"{searched}; the pose is most likely out of reach."
        return _beyond_arm(self.recognised, pose)

    def _beyond_limits(self, solutions: Floats) -> str:
        """Which joints would be beyond their limits, in the solution that is nearest to them."""
        lower, upper = self.limits
        turned = self._add_turns(solutions)
        beyond = np.maximum(lower - turned, turned - upper).clip(min=0)
        excess = beyond.min(axis=0)
        best = int(excess.sum(axis=1).argmin())
        parts = []
        for j in np.flatnonzero(excess[best]):
            scale, unit = (180 / np.pi, "°") if self._turns[j] else (1e3, " mm")
            q = f"{scale * solutions[best, j]:.1f}{unit}"
            low = f"{scale * lower[j]:.1f}{unit}"
            high = f"{scale * upper[j]:.1f}{unit}"
            parts.append(f"{self._name(int(j))} would be at {q} (limits {low} to {high})")
        which = f"in the nearest of {len(solutions)} solutions {', '.join(parts)}"
        return f"The pose is reached only outside the joint limits; {which}."

    @cached_property
    def _turns(self) -> Floats:
        """1 for each revolute coordinate, 0 for each prismatic one."""
        return np.asarray(1.0 - self.robot.arm.slides[list(self.robot.free)], dtype=np.float64)

    @cached_property
    def _map(self) -> TwoArrays:
        """G and c of the joints G q + c."""
        coupling = self.robot.coupling
        if coupling is not None:
            return coupling.G, coupling.c
        n = self.limits.shape[1]
        return np.eye(n), np.zeros(n)

    def _errors(self, pose: Floats, solutions: Floats) -> Floats:
        """Largest difference between a pose and the pose of each solution, (k,)."""
        arm = self.robot.arm
        body, X_BF = self.robot.frame("tool")
        k = len(solutions)
        X = np.empty((k, 4, 4))
        kinematics.poses(arm, body, X_BF, solutions, X, 0, k)
        return np.abs(X - pose).max(axis=(1, 2))

    def _distinct(self, solutions: Floats) -> Floats:
        """The solutions without repetitions, angles in (-π, π], (k, n)."""
        kept = np.empty_like(solutions)
        return kept[: wrist_arm.distinct(solutions, self._turns, kept)]

    def _descend(self, pose: Floats, q: Floats, steps: int) -> float:
        """Newton's method from q, in place; the pose error that is left."""
        arm = self.robot.arm
        G, c = self._map
        body, X_BF = self.robot.frame("tool")
        return float(newton_ik.descend(arm, G, c, body, X_BF, pose, q, steps))

    def _by_newton(self, pose: Floats) -> Floats:
        """Distinct solutions found from random starts; the starts are always the same ones."""
        chance = np.random.default_rng(20070901)
        turn = 2 * np.pi
        low, high = self.limits
        otherwise = np.where(np.isfinite(high), high - turn, -np.pi)
        low = np.where(np.isfinite(low), low, otherwise)
        high = np.where(np.isfinite(high), high, low + turn)
        found: list[Floats] = []
        for _ in range(RESTARTS):
            q = chance.uniform(low, high)
            if self._descend(pose, q, STEPS) < MET:
                found.append(q)
        return self._distinct(np.array(found).reshape(-1, self.limits.shape[1]))

    def _follow_by_newton(self, poses: Floats, start: Floats, path: Floats) -> None:
        """Newton from pose to pose, the first from q0; a pose that is not met leaves NaN."""
        q = start.copy()
        for row, pose in enumerate(poses):
            path[row] = q
            if self._descend(pose, path[row], STEPS) < MET:
                q = path[row].copy()
            else:
                path[row] = np.nan


def _beyond_arm(arm: WristArm, pose: Floats) -> str:
    """Where the wrist centre of a pose is that no solution reaches, as a sentence."""
    x, y, z = wrist_arm.reach(arm, pose)
    across = float(np.hypot(x, y))
    lateral = abs(arm.lateral)
    if across < lateral:
        return (
            f"The wrist centre is {1e3 * across:.1f} mm from axis 1, "
            f"closer than the arm's lateral offset of {1e3 * lateral:.1f} mm."
        )
    flat = np.sqrt(across**2 - arm.lateral**2)
    far = min(float(np.hypot(side * flat - arm.shoulder, z)) for side in (1, -1))
    where = f"The wrist centre is {1e3 * far:.1f} mm from axis 2"
    longest = float(arm.upper[0] + arm.fore[0])
    if far > longest:
        beyond = f"{1e3 * (far - longest):.1f} mm beyond the stretched arm"
        return f"{where}, {beyond} ({1e3 * longest:.1f} mm)."
    shortest = abs(float(arm.upper[0] - arm.fore[0]))
    return f"{where}, closer than the folded arm ({1e3 * shortest:.1f} mm)."
