"""Inverse kinematics of a robot: closed form where there is one, Newton's method elsewhere.

An arm with more than six joints reaches a pose in infinitely many postures. Those of seven revolute
joints are given at chosen elbow angles, and a path may be followed with the elbow angle held; else
each step of a path is the shortest one of the joints [rad, m].
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, TwoArrays, check_array
from armtwin.maths.rotations import nearest_rotation
from armtwin.mechanics import elbow, kinematics, newton_ik, wrist_arm
from armtwin.mechanics.elbow import NO_ELBOW, Elbow
from armtwin.mechanics.newton_ik import POSE
from armtwin.mechanics.wrist_arm import WristArm
from armtwin.robot.dynamics.assembly import Assembly

RESTARTS = 60  # numerical searches before a pose counts as out of reach
ROUNDS = 4  # of so many searches at an elbow angle, while a round finds something new
ELBOW_ANGLES = np.arange(12) * np.pi / 6 - np.pi  # where none is chosen [rad]
NEW_BRANCHES = 12  # searches at an angle beside those from the solutions at the angle before
PULLS = 30  # steps in the null space by which a posture may come within the limits
STEPS = 80  # of one search
MET = 1e-10  # pose error [m, rad] below which a numerical solution counts
# below which a solution in closed form is one of an arm whose file rounds its right angles
NEARLY = 1e-7
REACHABLE = "The pose can be reached."
INSIDE = 0.05  # of its travel that a coordinate is moved into its limits
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
        if not self._is_chain or self._n != POSE:
            return "it is not a chain of six revolute joints that ends at the tool"
        if self.robot.coupling is not None:
            return "joints follow each other"
        axes, poses = self._axes
        body, X_BF = self.robot.frame("tool")
        return wrist_arm.recognise(axes, poses[:, :3, 3], poses[body] @ X_BF)

    @cached_property
    def elbow(self) -> Elbow | str:
        """Where shoulder, elbow and wrist of seven revolute joints are, or why there are none."""
        if self.robot.passive or self.robot.coupling is not None or not self._is_chain:
            return "an elbow angle needs a chain of revolute joints that ends at the tool"
        return elbow.recognise(*self._axes)

    @property
    def _n(self) -> int:
        return self.limits.shape[1]

    @property
    def _is_chain(self) -> bool:
        """Whether every joint turns and carries the next, the last one the tool."""
        arm = self.robot.arm
        count = len(arm.parent)
        is_serial = arm.parent.tolist() == list(range(-1, count - 1))
        return is_serial and not arm.slides.any() and self.robot.frame("tool")[0] == count - 1

    @cached_property
    def _axes(self) -> TwoArrays:
        """Axes (n, 3) of the joints and poses (n, 4, 4) of their bodies at zero, base frame."""
        arm = self.robot.arm
        count = len(arm.parent)
        poses = np.empty((count, 4, 4))
        for i in range(count):
            kinematics.poses(arm, i, np.eye(4), np.zeros((1, count)), poses[i : i + 1], 0, 1)
        return np.einsum("nij,nj->ni", poses[:, :3, :3], arm.axis), poses

    def hold(self, angle: float | None) -> Elbow:
        """The elbow held at an angle [rad]; None leaves it free."""
        if isinstance(self.elbow, Elbow):
            return self.elbow._replace(angle=np.nan if angle is None else float(angle))
        if angle is not None:
            name = self.robot.description.name
            raise ArmtwinError(f"robot '{name}' has no elbow angle to be held: {self.elbow}")
        return NO_ELBOW

    def task_rows(self, q: Floats, angle: float | None = None) -> Floats:
        """Jacobians of the tool at joints (m, n), (m, 6, n); (m, 7, n) where the elbow is held."""
        body, X_BF = self.robot.frame("tool")
        point = np.ascontiguousarray(X_BF[:3, 3])
        J = np.empty((len(q), POSE + (angle is not None), q.shape[1]))
        newton_ik.task_rows(self.robot.arm, body, point, self.hold(angle), q, J, 0, len(q))
        return J

    def elbow_angle(self, q: Floats) -> Floats:
        """Elbow angles at joint positions (m, n), (m,) [rad]."""
        angle = np.empty(len(q))
        elbow.elbow_angles(self.robot.arm, self.hold(0.0), q, angle, np.empty(q.shape), 0, len(q))
        return angle

    def elbow_points(self, q: Floats) -> Floats | None:
        """Shoulder, elbow and wrist at a joint position (n,), (3, 3) [m]; None without an elbow."""
        if isinstance(self.elbow, str):
            return None
        points = np.empty((1, 3, 3))
        bodies, at = self.elbow.bodies, self.elbow.points
        kinematics.places(self.robot.arm, bodies, at, q[None], points, 0, 1)
        return points[0]

    def solutions(self, X: ArrayLike, angles: ArrayLike | None = None) -> Floats:
        """Every solution of one pose with angles in (-π, π], (k, n).

        Of seven revolute joints every one at chosen elbow angles, by default twelve; of other
        redundant arms some.
        """
        pose = check_poses(X, single=True)
        if self._n > POSE or angles is not None:
            return self._at_elbow_angles(pose, angles)
        if isinstance(self.recognised, str):
            return self._by_newton(pose)
        out = np.empty((8, 6))
        found = wrist_arm.solve(self.recognised, pose, np.zeros(6), out, np.pi)
        candidates = out[:found]
        error = self._errors(pose, candidates)
        for k in np.flatnonzero((error >= MET) & (error < NEARLY)):
            error[k] = self._descend(pose, candidates[k])
        return self._distinct(candidates[error < MET])

    def _at_elbow_angles(self, pose: Floats, angles: ArrayLike | None) -> Floats:
        """Solutions of a redundant arm at elbow angles; where it has none, some solutions."""
        if angles is None and isinstance(self.elbow, str):
            return self._by_newton(pose)
        if angles is not None:
            every = [self._by_newton(pose, float(angle)) for angle in np.atleast_1d(angles)]
            return np.concatenate(every)
        near = self._by_newton(pose, ELBOW_ANGLES[0])
        every = [near]
        for angle in ELBOW_ANGLES[1:]:
            some = self._random_starts(NEW_BRANCHES)
            near = self._meet(pose, np.vstack([near, some]), angle)
            every.append(near)
        return np.concatenate(every)

    def solutions_within(self, X: ArrayLike, angles: ArrayLike | None = None) -> Floats:
        """Solutions of one pose within the limits, as `solutions`, (k, n).

        Where a redundant arm has none among those, its solutions are moved along their null space
        towards the limits.
        """
        solutions = self.solutions(X, angles)
        kept = self.within(solutions)
        if len(kept) or self._n <= POSE or angles is not None:
            return kept
        pulled = [self._pull(check_poses(X, single=True), q) for q in solutions]
        return self.within(self._distinct(np.array(pulled).reshape(-1, self._n)))

    def _pull(self, pose: Floats, q: Floats) -> Floats:
        """A solution moved along its null space towards the limits, (n,).

        δq = (1 - J⁺ J) d,   d the way from each coordinate into its limits
        """
        low, high = self.limits
        travel = np.where(np.isfinite(high - low), high - low, 0.0)
        inside = low + INSIDE * travel, high - INSIDE * travel
        turned = self._add_turns(q)
        beyond = np.abs(np.clip(turned, *self.limits) - turned)
        q = np.take_along_axis(turned, beyond.argmin(axis=0)[None], axis=0)[0]
        G, c = self._map
        for _ in range(PULLS):
            if self._inside(q).all():
                break
            d = np.clip(q, *inside) - q
            J = self.task_rows((G @ q + c)[None])[0] @ G
            trial = q + d - np.linalg.pinv(J) @ (J @ d)
            if self._descend(pose, trial) >= MET:
                break
            q = trial
        return q

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

    def trace(self, X: ArrayLike, q0: ArrayLike, angle: float | None = None) -> Floats:
        """Joint path along poses, (m, n), on the branch that starts nearest to q0.

        It is NaN where a pose is out of reach. A redundant arm takes the shortest steps, or those
        that hold an elbow angle [rad].
        """
        poses = check_poses(X, single=False)
        n = self._n
        start = check_array("q0", q0, (n,), "joint position to start from", single=True)
        path = np.empty((len(poses), n))
        held = self.hold(angle)
        if isinstance(self.recognised, str):
            body, X_BF = self.robot.frame("tool")
            path[:1] = start
            newton_ik.follow(self.robot.arm, *self._map, body, X_BF, poses, held, path, MET, STEPS)
        else:
            wrist_arm.follow(self.recognised, poses, start.copy(), path)
        return path

    def follow(self, X: ArrayLike, q0: ArrayLike, angle: float | None = None) -> Floats:
        """Joint path along poses as `trace`; a pose out of reach and a jump are refused, (m, n)."""
        path = self.trace(X, q0, angle)
        unreachable = np.isnan(path[:, 0])
        if unreachable.any():
            first = int(unreachable.argmax())
            why = self.why_lost(np.asarray(X)[first], angle)
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

    def why_lost(self, X: ArrayLike, angle: float | None = None) -> str:
        """Why a path along poses does not reach one of them, as a sentence."""
        why = self.why_unreachable(X, angle)
        if why != REACHABLE:
            return why
        return (
            "The pose can be reached, but not from the posture before it: the arm is singular on "
            "the way; start in another posture."
        )

    def why_unreachable(self, X: ArrayLike, angle: float | None = None) -> str:
        """Why a pose cannot be reached within the limits, as a sentence.

        Args:
            X: The pose, (4, 4).
            angle: Elbow angle at which it shall be reached [rad].
        """
        pose = check_poses(X, single=True)
        beyond = self._beyond_chain(pose) if isinstance(self.recognised, str) else ""
        if beyond:
            return beyond
        if len(self.solutions_within(pose, angle)):
            return REACHABLE
        solutions = self.solutions(pose, angle)
        at_angle = "" if angle is None else f" at an elbow angle of {np.degrees(angle):.4g}°"
        if len(solutions):
            return self._beyond_limits(solutions, at_angle)
        if angle is not None and len(self.solutions(pose)):
            return f"The pose is reached, but not{at_angle}."
        if isinstance(self.recognised, str):
            searched = f"No joint position was found in {RESTARTS} numerical searches"
            return f"{searched}; the pose is most likely out of reach."
        return _beyond_arm(self.recognised, pose)

    def _beyond_chain(self, pose: Floats) -> str:
        """How far a pose is beyond the joints of a chain laid end to end; empty within.

        Distances between joints do not change, nor does that of joint 2 from axis 1.
        """
        if not self._is_chain or self._n < 2:
            return ""
        axes, poses = self._axes
        body, X_BF = self.robot.frame("tool")
        corners = np.vstack([poses[:, :3, 3], (poses[body] @ X_BF)[:3, 3]])
        corners[0] += axes[0] * ((corners[1] - corners[0]) @ axes[0])
        longest = float(np.linalg.norm(np.diff(corners, axis=0), axis=1).sum())
        far = float(np.linalg.norm(pose[:3, 3] - corners[0]))
        if far <= longest:
            return ""
        where = f"The tool is {1e3 * far:.1f} mm from axis 1 at {self._name(1)}"
        excess = f"{1e3 * (far - longest):.1f} mm beyond all links laid end to end"
        return f"{where}, {excess} ({1e3 * longest:.1f} mm)."

    def _beyond_limits(self, solutions: Floats, at_angle: str) -> str:
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
        return f"The pose is reached{at_angle} only outside the joint limits; {which}."

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

    def _descend(self, pose: Floats, q: Floats, angle: float | None = None) -> float:
        """Newton's method from q, in place; the pose error that is left."""
        body, X_BF = self.robot.frame("tool")
        held = self.hold(angle)
        return float(
            newton_ik.descend(self.robot.arm, *self._map, body, X_BF, pose, held, q, STEPS)
        )

    def _by_newton(self, pose: Floats, angle: float | None = None) -> Floats:
        """Distinct solutions from random starts, at an elbow angle until no new one is found."""
        found = np.empty((0, self._n))
        rounds = 1 if angle is None else ROUNDS
        for starts in np.split(self._random_starts(rounds * RESTARTS), rounds):
            known = len(found)
            found = self._distinct(np.vstack([found, self._meet(pose, starts, angle)]))
            if len(found) == known:
                break
        return found

    def _random_starts(self, count: int) -> Floats:
        """Random joint positions within the limits, always the same ones, (count, n)."""
        chance = np.random.default_rng(20070901)
        turn = 2 * np.pi
        low, high = self.limits
        otherwise = np.where(np.isfinite(high), high - turn, -np.pi)
        low = np.where(np.isfinite(low), low, otherwise)
        high = np.where(np.isfinite(high), high, low + turn)
        return chance.uniform(low, high, (count, self._n))

    def _meet(self, pose: Floats, starts: Floats, angle: float | None) -> Floats:
        """Distinct solutions that Newton's method finds from starts (k, n)."""
        found = []
        for q in starts.copy():
            if self._descend(pose, q, angle) < MET:
                found.append(q)
        return self._distinct(np.array(found).reshape(-1, self._n))


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
