"""A job from the log of a dry run: its reference is the motion, with the controller's own zones.

Seams are found by stops and speed: stretches between stops that are run slower than those through
the air, and not along the beam.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np

from armtwin.errors import ArmtwinError, FileError
from armtwin.files.hypothesis import refuse_by
from armtwin.jobs.description import JobDescription, name_robot
from armtwin.jobs.groups import Advising, Segment, Standstill, Tolerance
from armtwin.logs.log import Log
from armtwin.logs.plausibility import Pace, check_motion
from armtwin.logs.reference_plausibility import reference_hypotheses
from armtwin.maths.batch import Floats, Pair
from armtwin.maths.median import weighted_median
from armtwin.motion.recorded import RecordedPart, Reference, build_recorded, find_parts
from armtwin.motion.seam import Seam
from armtwin.motion.time_laws import TimeLaw
from armtwin.robot.robot import Robot

SHORTEST = 50  # samples of a reference
IN_MOTION = 0.05  # of the largest speed, from which on a log begins or ends in motion
THROUGH_AIR = 1.5  # ratio of speeds from which on a stretch is one through the air
ALONG_BEAM = 0.94  # cosine of the angle to the beam within which a stretch is no seam
REST = 0.2  # time at rest before the motion in which the drives settle [s]
STANDSTILL = 1.0  # that is added where the log has none [s]


def read_reference(path: Path, robot: Robot) -> Reference:
    """The reference of a log of a robot, from time 0 on."""
    log = Log.read(path)
    if "q_ref" not in log:
        raise FileError(
            str(path),
            f"has no reference q_ref, the commanded positions. It has: {', '.join(log.channels)}",
        )
    if log.q_ref.shape[1] != robot.n or len(log.time) < SHORTEST:
        rows, columns = log.q_ref.shape
        raise FileError(
            str(path),
            f"must have at least {SHORTEST} samples of q_ref for the {robot.n} joints of "
            f"'{robot.name}', got {rows} of {columns}",
        )
    check_motion(log, "q_ref", Pace.of_robot(robot))
    if "q" in log and log.q.shape == log.q_ref.shape:
        refuse_by(reference_hypotheses(log.time, log.q, log.q_ref, robot.joint_names))
    reference = Reference(log.time - log.time[0], log.q_ref)
    _check_rest(path, reference)
    return reference


def _check_rest(path: Path, reference: Reference) -> None:
    """Refuse a log that begins or ends in motion: what came before is not known."""
    speed = np.abs(np.diff(reference.q, axis=0) / np.diff(reference.time)[:, None]).max(axis=1)
    for where, value in (("begins", speed[0]), ("ends", speed[-1])):
        if value > IN_MOTION * speed.max():
            raise FileError(
                str(path),
                f"{where} in motion, a joint at {value:.3g} rad/s: cut it where the robot is at "
                "rest (armtwin log LOG --from, --until)",
            )


def describe_log(
    robot: Robot, path: Path, tolerance: Tolerance, *, seams: tuple[Pair, ...] = (), name: str
) -> JobDescription:
    """A job along the reference of a log.

    Args:
        robot: The robot, tool mounted.
        path: The log.
        tolerance: Lateral and vertical.
        seams: Times from and to of each seam in the log [s]; by default they are found.
        name: What the job is called.
    """
    reference = read_reference(path, robot)
    X = robot.forward_kinematics(reference.q)
    first = Log.read(path).time[0]
    cuts = [t - first for seam in seams for t in seam]
    parts = find_parts(reference.time, X[:, :3, 3], cuts)
    speeds = np.array([_speed(reference.time, X, part) for part in parts])
    if seams:
        judged = [_is_within(reference.time, part, seams, first) for part in parts]
    else:
        judged = [bool(x) for x in _find_seams(X, parts, speeds)]
    if not any(judged):
        raise ArmtwinError(f"{path}: no seam lies between the given times")
    segments = []
    for k, (part, is_seam) in enumerate(zip(parts, judged, strict=True), 1):
        span = (float(reference.time[part.first]), float(reference.time[part.last]))
        label = f"seam {sum(judged[:k])}" if is_seam else f"move {k}"
        segments.append(Segment(name=label, recorded=span, process=is_seam))
    rest = _time_at_rest(reference)
    return JobDescription(
        name=name,
        **name_robot(robot),
        speed=float(max(speeds[judged])),
        tolerance=tolerance,
        posture=tuple(reference.q[0].tolist()),
        segment=tuple(segments),
        time_law=TimeLaw(kind="recorded"),
        reference=path.resolve().as_posix(),
        advice=Advising(options=("correction",)),
        standstill=Standstill(0.0 if rest >= REST else STANDSTILL, 0.0),
    )


def _time_at_rest(reference: Reference) -> float:
    """How long the joints are at rest before they move [s]."""
    moved = np.abs(reference.q - reference.q[0]).max(axis=1) > 1e-6
    return float(reference.time[int(moved.argmax())])


def _speed(time: Floats, X: Floats, part: RecordedPart) -> float:
    """Speed at which most of a stretch is run [m/s]."""
    p = X[part.first : part.last + 1, :3, 3]
    step = np.linalg.norm(np.diff(p, axis=0), axis=1)
    speed = step / np.diff(time[part.first : part.last + 1])
    return weighted_median(speed, step)


def _find_seams(X: Floats, parts: list[RecordedPart], speeds: Floats) -> list[bool]:
    """Which stretches are seams: slower than through the air, and across the beam."""
    across = []
    for part in parts:
        way = X[part.last, :3, 3] - X[part.first, :3, 3]
        size = max(float(np.linalg.norm(way)), 1e-9)
        across.append(abs(float(way @ X[part.first, :3, 2])) < ALONG_BEAM * size)
    possible = np.array(across) if any(across) else np.ones(len(parts), dtype=bool)
    slowest = speeds[possible].min()
    return list(possible & (speeds < THROUGH_AIR * slowest))


def _is_within(time: Floats, part: RecordedPart, seams: tuple[Pair, ...], first: float) -> bool:
    middle = first + (time[part.first] + time[part.last]) / 2
    return any(start <= middle <= stop for start, stop in seams)


def build_log_seam(d: JobDescription, reference: Reference, robot: Robot) -> Seam:
    """The seam of a job along the reference of a log.

    Args:
        d: The job.
        reference: The reference; where the workpiece is moved, the tool moves with it.
        robot: The robot, equipped.
    """
    time = reference.time
    X = robot.forward_kinematics(reference.q)
    X_WP = d.workpiece.matrix()
    if not np.array_equal(X_WP, np.eye(4)):
        X = X_WP @ X
        reference = Reference(time, robot.follow(X, reference.q[0]))
    starts: list[float] = []
    for i, segment in enumerate(d.segment, 1):
        start, stop = segment.recorded or (0.0, 0.0)
        if not (starts[-1] if starts else -1.0) < start < stop <= time[-1] + 1e-9:
            raise ArmtwinError(
                f"segment.{i}.recorded must follow the one before and lie within the log of "
                f"{time[-1]:.4g} s, got {start:g} to {stop:g} s"
            )
        starts.append(start)
    bounds = [0, *np.searchsorted(time, np.array(starts[1:]) - 1e-9).tolist(), len(time) - 1]
    parts = [RecordedPart(*ends) for ends in pairwise(bounds)]
    names = tuple(x.name or f"segment {i}" for i, x in enumerate(d.segment, 1))
    path, orientations, profile = build_recorded(time, X, parts, names)
    judged = tuple((x.start, x.stop) for x in path.stretches if d.segment[x.move].process)
    rest = (d.standstill.before, d.standstill.after)
    return Seam(path, orientations, profile, rest, judged=judged, reference=reference)
