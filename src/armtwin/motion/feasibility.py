"""Whether a robot can run a seam at all: reach, limits, singularities, branches, all found before any dynamics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Floats
from armtwin.motion.joint_motion import CHUNK, Instants, JointMotion, with_ramps
from armtwin.motion.orientations import Following
from armtwin.motion.seam import Seam
from armtwin.robot.robot import Robot

Kind = Literal[
    "reach",
    "flip",
    "singularity",
    "curvature",
    "position",
    "velocity",
    "acceleration",
    "torque",
    "drive",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
SINGULAR = 1e-3  # distance to a singularity that counts as one
FLIP = 0.2  # joint change [rad, m] in a sample that its speed does not explain
ALWAYS_REFUSED = KINDS[:5]
LEAST_SETPOINTS = 4  # in a rounded corner
GAP = 10  # samples within limits between two stretches that count as one


@dataclass(frozen=True)
class Violation:
    """A stretch of the seam on which something is not possible.

    Attributes:
        kind: What is broken.
        joint: Name of the joint or motor, or "".
        from_m: Arc length where it begins [m].
        to_m: Arc length where it ends [m].
        value: Worst value there, SI.
        limit: The limit, SI.
        text: A sentence with the place and the numbers.
    """

    kind: Kind
    joint: str
    from_m: float
    to_m: float
    value: float
    limit: float
    text: str


@dataclass(frozen=True, eq=False)
class Feasibility:
    """What of a robot a seam uses, and what it breaks.

    Attributes:
        violations: Everything that is broken, by kind and place.
        shares: Largest use of each limit by joint: "velocity", "acceleration", "torque" and by motor "drive"; NaN where
            there is no limit, (n,) each.
        distance: Smallest distance to a singularity.
        distance_at_m: Where that is [m].
    """

    violations: tuple[Violation, ...]
    shares: dict[str, Floats]
    distance: float
    distance_at_m: float

    @property
    def refused(self) -> tuple[Violation, ...]:
        """Violations for which the motion itself makes no sense, whatever the drives could do."""
        return tuple(v for v in self.violations if v.kind in ALWAYS_REFUSED)


def feasibility(robot: Robot, seam: Seam, motion: JointMotion) -> Feasibility:
    """Check a joint motion along a seam against everything the robot file limits."""
    s, known = motion.command.s, ~np.isnan(motion.trajectory.q[:, 0])
    found = [*_reach(motion), *_flips(robot, motion), *_singular(motion, known)]
    found += [*_curvature(seam), *_quick_corners(seam, motion)]
    shares: dict[str, Floats] = {}
    q, limits = motion.trajectory.q, robot.limits
    low, high = robot.position_limits
    for j, name in enumerate(robot.joint_names):
        for rows in runs((q[:, j] < low[j]) | (q[:, j] > high[j])):
            worst = rows[int(np.maximum(low[j] - q[rows, j], q[rows, j] - high[j]).argmax())]
            bound = float(low[j] if q[worst, j] < low[j] else high[j])
            found.append(
                _violation("position", name, s[rows], float(q[worst, j]), bound, _turns(robot, j))
            )
    law = with_ramps(robot, seam, motion)
    torque, drive = _torques(robot, law)
    motors = [m.name for m in robot.description.motor]
    checks: tuple[tuple[Kind, Sequence[str], Floats, Floats], ...] = (
        ("velocity", robot.joint_names, law.v, limits.velocity),
        ("acceleration", robot.joint_names, law.a, limits.acceleration),
        ("torque", robot.joint_names, torque, limits.torque),
        ("drive", motors, drive, limits.motor_torque),
    )
    for kind, names, values, limit in checks:
        peaks = np.abs(np.where(np.isnan(values), 0.0, values)).max(axis=0, initial=0.0)
        shares[kind] = np.where(np.isfinite(limit), peaks / limit, np.nan)
        for j in map(int, np.flatnonzero(peaks > limit)):
            for rows in runs(np.abs(values[:, j]) > limit[j]):
                peak, turns = (
                    float(np.abs(values[rows, j]).max()),
                    kind == "drive" or _turns(robot, j),
                )
                found.append(_violation(kind, names[j], law.s[rows], peak, float(limit[j]), turns))
    nearest = int(np.where(known, motion.distance, np.inf).argmin())
    ordered = tuple(sorted(found, key=lambda v: (KINDS.index(v.kind), v.from_m, v.joint)))
    return Feasibility(ordered, shares, float(motion.distance[nearest]), float(s[nearest]))


def runs(mask: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """Each stretch of rows where a mask holds; short gaps do not part it."""
    rows = np.flatnonzero(mask)
    for part in np.split(rows, np.flatnonzero(np.diff(rows) > GAP) + 1):
        if len(part):
            yield part


def _turns(robot: Robot, j: int) -> bool:
    return robot.assembly.tree.joints[robot.assembly.free[j]].type == "revolute"


def _violation(
    kind: Kind, joint: str, s: Floats, value: float, limit: float, turns: bool
) -> Violation:
    verb, unit, scale = {
        "position": ("would be at", "°" if turns else " mm", 180 / np.pi if turns else 1e3),
        "velocity": (
            "would have to move at",
            "°/s" if turns else " mm/s",
            180 / np.pi if turns else 1e3,
        ),
        "acceleration": (
            "would have to accelerate by",
            "°/s²" if turns else " m/s²",
            180 / np.pi if turns else 1.0,
        ),
        "torque": ("would need", " N m" if turns else " N", 1.0),
        "drive": ("would have to give", " N m", 1.0),
    }[kind]
    numbers = f"{scale * value:.4g}{unit} (limit {scale * limit:.4g}{unit})"
    place = between(float(s.min()), float(s.max()))
    return Violation(
        kind,
        joint,
        float(s.min()),
        float(s.max()),
        value,
        limit,
        f"{place} {joint} {verb} {numbers}",
    )


def between(start: float, stop: float) -> str:
    """A place on the seam, in words."""
    if stop - start < 5e-5:
        return f"at {1e3 * start:.1f} mm"
    return f"from {1e3 * start:.1f} to {1e3 * stop:.1f} mm"


def _reach(motion: JointMotion) -> Iterator[Violation]:
    s = motion.command.s
    for rows in runs(np.isnan(motion.trajectory.q[:, 0])):
        start, stop = float(s[rows].min()), float(s[rows].max())
        reason = next(
            (text for row, text in motion.reasons.items() if row in rows), "It is out of reach."
        )
        yield Violation(
            "reach",
            "",
            start,
            stop,
            np.nan,
            np.nan,
            f"{between(start, stop)} out of reach. {reason}",
        )


def _flips(robot: Robot, motion: JointMotion) -> Iterator[Violation]:
    """Jumps of a joint that its speeds at both samples do not explain."""
    q, v, s = motion.trajectory.q, motion.trajectory.v, motion.command.s
    step = np.diff(q, axis=0)
    most = np.maximum(np.abs(v[1:]), np.abs(v[:-1])) / motion.trajectory.rate
    for row, j in np.argwhere(np.abs(step) > 2 * most + FLIP):
        name, jump = robot.joint_names[j], float(step[row, j])
        place = f"at {1e3 * s[row]:.1f} mm"
        text = f"{place} {name} would jump by {np.degrees(jump):.0f}° to another branch"
        yield Violation("flip", name, float(s[row]), float(s[row + 1]), abs(jump), FLIP, text)


def _singular(motion: JointMotion, known: NDArray[np.bool_]) -> Iterator[Violation]:
    for rows in runs(known & (motion.distance < SINGULAR)):
        s, worst = motion.command.s[rows], float(motion.distance[rows].min())
        place = between(float(s.min()), float(s.max()))
        text = f"{place} the arm is singular (distance {worst:.1e}, least {SINGULAR:g})"
        yield Violation("singularity", "", float(s.min()), float(s.max()), worst, SINGULAR, text)


def _curvature(seam: Seam) -> Iterator[Violation]:
    """Steps of the curvature under a following tool, which would have to turn at another rate at once."""
    if not isinstance(seam.orientations, Following):
        return
    for place, step in seam.path.curvature_steps():
        text = (
            f"at {1e3 * place:.1f} mm the seam's curvature steps by {step:.3g} 1/m, which a tool that follows the seam "
            "cannot do at speed; put a blended corner there"
        )
        yield Violation("curvature", "", place, place, step, 0.0, text)


def _quick_corners(seam: Seam, motion: JointMotion) -> Iterator[Violation]:
    """Corners that are passed between set-points, so that no sample of the motion sees what they need."""
    s, rate = motion.command.s, motion.trajectory.rate
    for x in seam.path.stretches:
        count = int(np.searchsorted(s, x.stop, side="right") - np.searchsorted(s, x.start))
        if x.corner and count < LEAST_SETPOINTS:
            text = (
                f"{between(x.start, x.stop)} the corner is passed in {count} set-points at {rate:g} Hz, but needs "
                f"at least {LEAST_SETPOINTS}; make blend larger or the speed lower"
            )
            yield Violation("curvature", "", x.start, x.stop, count, LEAST_SETPOINTS, text)


def _torques(robot: Robot, motion: Instants) -> tuple[Floats, Floats]:
    """Joint and motor torques that the motion needs, friction included; NaN where it is unknown."""
    q, v, a = motion.q, motion.v, motion.a
    known = ~np.isnan(q[:, 0])
    motors, n = robot.assembly.motor_rows.shape
    joint, motor = np.full_like(q, np.nan), np.full((len(q), motors), np.nan)
    for start in range(0, len(q), CHUNK):
        rows = start + np.flatnonzero(known[start : start + CHUNK])
        if len(rows):
            joint[rows] = robot.inverse_dynamics(q[rows], v[rows], a[rows])
            joint[rows] += robot.friction_torque(v[rows], q[rows])
            if motors == n:
                motor[rows] = joint[rows] @ robot.assembly.motor_inverse
    return joint, motor
