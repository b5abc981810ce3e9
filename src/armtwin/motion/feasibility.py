"""Whether a robot can run a seam at all: reach, limits, singularities, branches, its cell.

All of it is found before any simulation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Flags, Floats, NamedArrays, TwoArrays
from armtwin.motion.cell import TOUCH, Cell, Nearness, nearness
from armtwin.motion.curves import Following
from armtwin.motion.joint_motion import CHUNK, Instants, JointMotion, with_ramps
from armtwin.motion.seam import Seam
from armtwin.robot.robot import Robot

Kind = Literal[
    "reach",
    "flip",
    "singularity",
    "curvature",
    "position",
    "cell",
    "velocity",
    "acceleration",
    "torque",
    "drive",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
SINGULAR = 1e-3  # distance to a singularity that counts as one
FLIP = 0.2  # joint change [rad, m] in a sample that its speed does not explain
ALWAYS_REFUSED = KINDS[:6]
LEAST_SETPOINTS = 4  # in a rounded corner
GAP = 10  # samples within limits between two stretches that count as one

DEGREES = 180 / np.pi
# how a limit is broken, and the units in which it is reported with how many of them an SI unit is,
# of a joint that turns and of one that slides
REPORTED = {
    "position": ("would be at", ("°", DEGREES), (" mm", 1e3)),
    "velocity": ("would have to move at", ("°/s", DEGREES), (" mm/s", 1e3)),
    "acceleration": ("would have to accelerate by", ("°/s²", DEGREES), (" m/s²", 1.0)),
    "torque": ("would need", (" N m", 1.0), (" N", 1.0)),
    "drive": ("would have to give", (" N m", 1.0), (" N m", 1.0)),
}


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


@dataclass(frozen=True)
class Clearance:
    """How near the robot comes to an obstacle of its cell.

    Attributes:
        obstacle: What it is called.
        part: What of the robot is nearest, in words.
        joint: Name of the joint that moves it.
        distance: How near its line comes; negative inside; of a box the distance to the planes of
            its faces, at most the shortest way to it [m].
        at_m: Where on the seam that is [m].
        with_tool: Whether the tool was checked as well.
    """

    obstacle: str
    part: str
    joint: str
    distance: float
    at_m: float
    with_tool: bool


@dataclass(frozen=True, eq=False)
class Feasibility:
    """What of a robot a seam uses, and what it breaks.

    Attributes:
        violations: Everything that is broken, by kind and place.
        shares: Largest use of each limit by joint: "velocity", "acceleration", "torque" and by
            motor "drive"; NaN where there is no limit, (n,) each.
        distance: Smallest distance to a singularity.
        distance_at_m: Where that is [m].
        clearances: How near the robot comes to each obstacle of its cell.
    """

    violations: tuple[Violation, ...]
    shares: NamedArrays
    distance: float
    distance_at_m: float
    clearances: tuple[Clearance, ...] = ()

    @property
    def refused(self) -> tuple[Violation, ...]:
        """Violations for which the motion itself makes no sense, whatever the drives could do."""
        return tuple(v for v in self.violations if v.kind in ALWAYS_REFUSED)


class LimitCheck(NamedTuple):
    """Values over a motion, (m, k), that a limit bounds, (k,), and whose they are, (k,)."""

    kind: Kind
    names: Sequence[str]
    values: Floats
    limit: Floats


def feasibility(
    robot: Robot, seam: Seam, motion: JointMotion, cell: Cell | None = None
) -> Feasibility:
    """Check a joint motion along a seam against all that the robot file limits, and the cell."""
    known = ~np.isnan(motion.trajectory.q[:, 0])
    found = list(_reach(motion))
    found += _flips(robot, motion)
    found += _singular(motion, known)
    found += _curvature(seam)
    found += _quick_corners(seam, motion)
    found += _positions(robot, motion)
    near = nearness(robot, cell or Cell(), motion.trajectory.q)
    found += _in_the_way(near, motion.command.s)
    law = with_ramps(robot, seam, motion)
    shares: NamedArrays = {}
    for check in list_checks(robot, law):
        peaks = _peaks(check.values)
        shares[check.kind] = np.where(np.isfinite(check.limit), peaks / check.limit, np.nan)
        found += _beyond(robot, check, peaks, law.s)
    nearest = int(np.where(known, motion.distance, np.inf).argmin())
    return Feasibility(
        violations=tuple(sorted(found, key=_kind_and_place)),
        shares=shares,
        distance=float(motion.distance[nearest]),
        distance_at_m=float(motion.command.s[nearest]),
        clearances=tuple(_clearances(near, motion.command.s)),
    )


def _kind_and_place(violation: Violation) -> tuple[int, float, str]:
    return KINDS.index(violation.kind), violation.from_m, violation.joint


def list_checks(robot: Robot, law: Instants) -> tuple[LimitCheck, ...]:
    """What is bounded: speeds, accelerations and torques of joints, torques of motors."""
    torque, drive = _torques(robot, law)
    motors = [motor.name for motor in robot.description.motor]
    joints, limits = robot.joint_names, robot.limits
    return (
        LimitCheck("velocity", joints, law.v, limits.velocity),
        LimitCheck("acceleration", joints, law.a, limits.acceleration),
        LimitCheck("torque", joints, torque, limits.torque),
        LimitCheck("drive", motors, drive, limits.motor_torque),
    )


def _peaks(values: Floats) -> Floats:
    """Largest magnitude of each column, (k,); 0 where nothing is known."""
    known = np.where(np.isnan(values), 0.0, values)
    return np.abs(known).max(axis=0, initial=0.0)


def _beyond(robot: Robot, check: LimitCheck, peaks: Floats, s: Floats) -> Iterator[Violation]:
    """Stretches on which values are beyond their limit."""
    for j in map(int, np.flatnonzero(peaks > check.limit)):
        turns = check.kind == "drive" or _turns(robot, j)
        limit = float(check.limit[j])
        size = np.abs(check.values[:, j])
        for some in runs(size > limit):
            peak = float(size[some].max())
            yield _violation(check.kind, check.names[j], s[some], peak, limit, turns)


def _positions(robot: Robot, motion: JointMotion) -> Iterator[Violation]:
    """Stretches on which a joint is beyond its position limits."""
    for j, name in enumerate(robot.joint_names):
        q = motion.trajectory.q[:, j]
        low, high = (float(bound[j]) for bound in robot.position_limits)
        for some in runs((q < low) | (q > high)):
            excess = np.maximum(low - q[some], q[some] - high)
            worst = float(q[some[int(excess.argmax())]])
            bound = low if worst < low else high
            place = motion.command.s[some]
            yield _violation("position", name, place, worst, bound, _turns(robot, j))


def _in_the_way(near: Sequence[Nearness], s: Floats) -> Iterator[Violation]:
    """Stretches on which a line of the robot is where something of the cell is."""
    for x in near:
        for some in runs(x.distance < -TOUCH):
            worst = int(some[int(x.distance[some].argmin())])
            depth = float(x.distance[worst])
            how_far = f"{-1e3 * depth:.1f} mm {x.obstacle.beyond}"
            words = f"{x.part(worst)} would be {how_far}"
            yield _broken("cell", x.joint(worst), s[some], depth, 0.0, words)


def _clearances(near: Sequence[Nearness], s: Floats) -> Iterator[Clearance]:
    """The nearest approach to each obstacle."""
    for x in near:
        worst = x.worst
        if worst is None:
            continue
        distance, place = float(x.distance[worst]), float(s[worst])
        with_tool = not x.obstacle.spares_tool
        name = x.obstacle.name
        yield Clearance(name, x.part(worst), x.joint(worst), distance, place, with_tool)


def runs(mask: Flags) -> Iterator[NDArray[np.int64]]:
    """Samples of each stretch where a mask holds; short gaps do not part it."""
    inside = np.flatnonzero(mask)
    if not len(inside):
        return
    for part in np.split(inside, np.flatnonzero(np.diff(inside) > GAP) + 1):
        if len(part):
            yield part


def _turns(robot: Robot, j: int) -> bool:
    return robot.assembly.free_joints[j].type == "revolute"


def _violation(
    kind: Kind, joint: str, s: Floats, value: float, limit: float, turns: bool
) -> Violation:
    """A limit that is broken at arc lengths s, with its sentence."""
    verb, turning, sliding = REPORTED[kind]
    unit, scale = turning if turns else sliding
    numbers = f"{scale * value:.4g}{unit} (limit {scale * limit:.4g}{unit})"
    return _broken(kind, joint, s, value, limit, f"{joint} {verb} {numbers}")


def _broken(kind: Kind, joint: str, s: Floats, value: float, limit: float, words: str) -> Violation:
    """What is not possible at arc lengths s, with words that follow the place."""
    start, stop = float(s.min()), float(s.max())
    return Violation(kind, joint, start, stop, value, limit, f"{between(start, stop)} {words}")


def between(start: float, stop: float) -> str:
    """A place on the seam, in words."""
    if stop - start < 5e-5:
        return f"at {1e3 * start:.1f} mm"
    return f"from {1e3 * start:.1f} to {1e3 * stop:.1f} mm"


def _reach(motion: JointMotion) -> Iterator[Violation]:
    """Stretches that are out of reach, with the reason at their start."""
    s = motion.command.s
    for some in runs(np.isnan(motion.trajectory.q[:, 0])):
        reasons = [text for sample, text in motion.reasons.items() if sample in some]
        reason = reasons[0] if reasons else "It is out of reach."
        yield _broken("reach", "", s[some], np.nan, np.nan, f"out of reach. {reason}")


def _flips(robot: Robot, motion: JointMotion) -> Iterator[Violation]:
    """Jumps of a joint that its speeds at both samples do not explain."""
    trajectory = motion.trajectory
    step = np.diff(trajectory.q, axis=0)
    speed = np.abs(trajectory.v)
    most = np.maximum(speed[1:], speed[:-1]) / trajectory.rate
    for sample, j in np.argwhere(np.abs(step) > 2 * most + FLIP):
        name = robot.joint_names[j]
        jump = float(step[sample, j])
        start = float(motion.command.s[sample])
        stop = float(motion.command.s[sample + 1])
        way = f"would jump by {np.degrees(jump):.0f}° to another branch"
        text = f"at {1e3 * start:.1f} mm {name} {way}"
        yield Violation("flip", name, start, stop, abs(jump), FLIP, text)


def _singular(motion: JointMotion, known: Flags) -> Iterator[Violation]:
    """Stretches on which the arm is singular."""
    for some in runs(known & (motion.distance < SINGULAR)):
        worst = float(motion.distance[some].min())
        words = f"the arm is singular (distance {worst:.1e}, least {SINGULAR:g})"
        yield _broken("singularity", "", motion.command.s[some], worst, SINGULAR, words)


def _curvature(seam: Seam) -> Iterator[Violation]:
    """Steps of the curvature under a following tool, which would have to turn faster at once."""
    if not isinstance(seam.orientations, Following):
        return
    for place, step in seam.path.curvature_steps():
        text = (
            f"at {1e3 * place:.1f} mm the seam's curvature steps by {step:.3g} 1/m, which a tool "
            "that follows the seam cannot do at speed; put a blended corner there"
        )
        yield Violation("curvature", "", place, place, step, 0.0, text)


def _quick_corners(seam: Seam, motion: JointMotion) -> Iterator[Violation]:
    """Corners that are passed between set-points, so that no sample sees what they need."""
    s = motion.command.s
    rate = motion.trajectory.rate
    if seam.route is not None:  # there a zone is passed as controllers do, however short it is
        return
    for x in seam.path.stretches:
        count = int(np.searchsorted(s, x.stop, side="right") - np.searchsorted(s, x.start))
        if x.corner and count < LEAST_SETPOINTS:
            text = (
                f"{between(x.start, x.stop)} the corner is passed in {count} set-points at "
                f"{rate:g} Hz, but needs at least {LEAST_SETPOINTS}; make blend larger or the "
                "speed lower"
            )
            yield Violation("curvature", "", x.start, x.stop, count, LEAST_SETPOINTS, text)


def _torques(robot: Robot, motion: Instants) -> TwoArrays:
    """Joint and motor torques that the motion needs, friction included; NaN where it is unknown."""
    q, v, a = motion.q, motion.v, motion.a
    known = ~np.isnan(q[:, 0])
    motors, n = robot.assembly.motor_rows.shape
    joint = np.full_like(q, np.nan)
    motor = np.full((len(q), motors), np.nan)
    for start in range(0, len(q), CHUNK):
        some = start + np.flatnonzero(known[start : start + CHUNK])
        if len(some):
            joint[some] = robot.inverse_dynamics(q[some], v[some], a[some])
            joint[some] += robot.friction_torque(v[some], q[some])
            joint[some] += robot.load_dependent_friction(q[some], v[some], a[some])
            if motors == n:
                motor[some] = joint[some] @ robot.assembly.motor_inverse
    return joint, motor
