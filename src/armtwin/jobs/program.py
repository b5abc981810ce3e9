"""A job as a program: its segments as moves, with stops, zones and several seams, by look-ahead."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.jobs.description import JobDescription, name_robot
from armtwin.jobs.from_points import SeamPoints
from armtwin.jobs.groups import Circle, Segment, Tolerance, ToolOrientation
from armtwin.maths.batch import Floats, Pair, Sentences
from armtwin.maths.rotations import inverse, pose
from armtwin.motion.curves import Orientations
from armtwin.motion.look_ahead import LookAhead
from armtwin.motion.moves import MoveKind, ProgramMove
from armtwin.motion.path import Path as Curve
from armtwin.motion.posture import start_posture
from armtwin.motion.route import Route, build_route, route_of_path
from armtwin.motion.seam import Seam
from armtwin.motion.speed_limits import ToolLimits, plan_by_joints, plan_by_tool
from armtwin.motion.time_laws import TimeLaw
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import Pose

# assumed where a program does not say it: the middle of what controllers of arms this size have
ASSUMED = TimeLaw(kind="look_ahead", acceleration=2.0, jerk=40.0)

PLACES = 9  # of a stretch at which its direction is compared with the beam
ALONG_BEAM = 0.1  # sine of the angle between them up to which a stretch is a plunge, no seam


def is_program(d: JobDescription) -> bool:
    """Whether a job is run by look-ahead."""
    return d.time_law.kind == "look_ahead"


def find_problems(d: JobDescription) -> Sentences:
    """What of a job's segments does not fit its time law."""
    only = ("ptp", "joints", "zone", "fastest", "wait", "joint_speed")
    blends = any(x.blend is not None for x in d.segment)
    for i, x in enumerate(d.segment, 1):
        found = [key for key in only if getattr(x, key)]
        if found and not is_program(d):
            law = f'time_law.kind = "look_ahead", got "{d.time_law.kind}"'
            yield f"segment.{i}.{found[0]} needs {law}"
        if is_program(d) and x.blend_speed is not None:
            yield f"segment.{i}.blend_speed is found by look-ahead: leave it out"
        if is_program(d) and blends and (x.zone or x.ptp or x.joints or x.wait):
            yield f"segment.{i} must not mix radii, blend, with zones, joint moves and waits"
    for i, x in enumerate(d.segment, 1):
        if (x.recorded is not None) != (d.time_law.kind == "recorded"):
            yield f'segment.{i}: recorded and time_law.kind = "recorded" belong together'
    if bool(d.reference) != (d.time_law.kind == "recorded"):
        yield 'reference, a log, and time_law.kind = "recorded" belong together'
    if is_program(d) and d.orientation.mode == "follow" and not blends and len(d.segment) > 1:
        yield 'orientation.mode "follow" needs corners that are rounded by blend'
    if is_program(d) and not any(x.process for x in d.segment):
        yield "process: it is on in no segment, so there is nothing to judge"


@dataclass(frozen=True, eq=False)
class MovesOfJob:
    """The moves of a job in the base frame.

    Attributes:
        start: Pose of the tool where it begins, (4, 4).
        moves: The moves.
        poses: Poses of the tool where they end, (k, 4, 4).
        segments: Number of the segment of each move, from 0.
    """

    start: Floats
    moves: tuple[ProgramMove, ...]
    poses: Floats
    segments: tuple[int, ...]


def list_moves(
    d: JobDescription, points: dict[int, SeamPoints], start: Floats, robot: Robot
) -> MovesOfJob:
    """The moves of a job's segments.

    Args:
        d: The job.
        points: Points of files, by the number of the segment.
        start: Where it begins, in the workpiece's frame, (3,) [m].
        robot: The robot, whose kinematics say where given joints lead the tool.
    """
    X_WP = d.workpiece.matrix()
    tool = d.orientation.tool
    first = points[0].R[0] if 0 in points and points[0].R is not None else np.eye(3)
    here = pose(first if tool is None else tool.rotation(), start)
    begin = X_WP @ here
    moves: list[ProgramMove] = []
    poses: list[Floats] = []
    owners: list[int] = []
    for i, segment in enumerate(d.segment):
        for move in _moves_of(segment, points.get(i), here, X_WP, _speed(d, segment)):
            end = pose_of(move, robot)
            poses.append(end)
            here = inverse(X_WP) @ end
            name = segment.name or f"segment {i + 1}"
            moves.append(replace(move, name=name, line=segment.line, judged=segment.process))
            owners.append(i)
    return MovesOfJob(begin, tuple(moves), np.array(poses), tuple(owners))


def pose_of(move: ProgramMove, robot: Robot) -> Floats:
    """Pose of the tool where a move ends, (4, 4)."""
    if move.joints is not None:
        return robot.forward_kinematics(move.joints)
    assert move.pose is not None
    return move.pose


def _speed(d: JobDescription, segment: Segment) -> float | None:
    """Speed of a segment's moves: as given, by its window, or none."""
    if segment.ptp is not None or segment.joints is not None:
        return segment.joint_speed
    if not segment.fastest:
        return segment.speed or d.speed
    if segment.window is None:
        return None
    ranges = segment.window.speeds(d.process.power)
    return max(high for _, high in ranges) if ranges else segment.speed or d.speed


def _moves_of(
    x: Segment, points: SeamPoints | None, here: Floats, X_WP: Floats, speed: float | None
) -> Iterator[ProgramMove]:
    """The moves of a segment that begins at a pose of the workpiece's frame."""
    R = here[:3, :3] if x.orientation is None else x.orientation.rotation()
    zone, wait = x.zone or 0.0, x.wait
    if x.joints is not None:
        yield ProgramMove("PTP", joints=np.array(x.joints), speed=speed, zone=zone, wait=wait)
    elif x.lin is not None or x.ptp is not None:
        kind: MoveKind = "PTP" if x.lin is None else "LIN"
        X = X_WP @ pose(R, x.lin or x.ptp or ())
        yield ProgramMove(kind, X, speed=speed, zone=zone, wait=wait)
    elif x.circ is not None:
        via, X = X_WP @ pose(R, x.circ.via), X_WP @ pose(R, x.circ.to)
        yield ProgramMove("CIRC", X, via=via, speed=speed, zone=zone, wait=wait)
    else:
        targets, turns = _spline_of(x, points, R)
        for k, (p, turn) in enumerate(zip(targets, turns, strict=True)):
            rest = wait if k == len(targets) - 1 else 0.0
            yield ProgramMove("SPLINE", X_WP @ pose(turn, p), speed=speed, joined=k > 0, wait=rest)


def _spline_of(
    x: Segment, points: SeamPoints | None, R: Floats
) -> tuple[Floats, Floats | list[Floats]]:
    """Points that a spline goes to and the orientations there."""
    if points is not None:
        p = points.p[1:]
        return p, [R] * len(p) if points.R is None else points.R[1:]
    p = np.array(x.spline)
    if x.orientations is None:
        return p, [R] * len(p)
    return p, [turn.rotation() for turn in x.orientations]


@dataclass(frozen=True, eq=False)
class Planner:
    """Whose limits count in the profile of a program.

    Attributes:
        robot: The robot, equipped.
        like: Where the profile is that of another seam with the same moves, elsewhere: that seam.
    """

    robot: Robot
    like: Seam | None = None


def build_program(
    d: JobDescription, of: MovesOfJob, smooth: tuple[Curve, Orientations] | None, planner: Planner
) -> Seam:
    """The seam of a job that is a program, with the profile that its robot's limits allow.

    Args:
        d: The job.
        of: Its moves.
        smooth: Path and orientations where corners are rounded by radii.
        planner: Whose limits count.
    """
    robot = planner.robot
    law = d.time_law
    assert law.acceleration is not None
    assert law.jerk is not None
    limits = ToolLimits(law.acceleration, law.jerk)
    route = build_route(of.start, of.moves, of.poses) if smooth is None else route_of_path(*smooth)
    profile = _profile_like(planner.like, route) or plan_by_tool(route, of.moves, limits)
    path = _name_by_segments(route, of)
    judged = tuple(_find_judged(d, path, route.orientations))
    rest = (d.standstill.before, d.standstill.after)
    seam = Seam(path, route.orientations, profile, rest, elbow=d.elbow, route=route, judged=judged)
    if planner.like is not None:
        return seam
    posture = np.array(d.posture) if isinstance(d.posture, tuple) else d.posture
    try:
        q0 = start_posture(robot, seam, posture, d.cell)
    except ArmtwinError:  # said when the motion is planned; until then the tool's limits count
        return seam
    return replace(seam, profile=plan_by_joints(robot, seam, q0, of.moves, limits))


def _find_judged(d: JobDescription, path: Curve, orientations: Orientations) -> Iterator[Pair]:
    """Stretches with the process on, from and to [m]; none on which the tool moves along its beam.

    The zone between a move with the process on and one with it off belongs to the latter.
    """
    on = [x.process for x in d.segment]
    between = [*(a and b for a, b in pairwise(on)), False]
    shares = np.linspace(0.02, 0.98, PLACES)
    for x in path.stretches:
        s = x.start + (x.stop - x.start) * shares
        jet = path.at(s)
        beam = orientations.rotations(s, jet)[:, :, 2]
        sine = np.linalg.norm(np.cross(jet.t, beam), axis=1)
        if (between if x.corner else on)[x.move] and sine.min() > ALONG_BEAM:
            yield x.start, x.stop


def _profile_like(like: Seam | None, route: Route) -> LookAhead | None:
    """The profile of a seam on another route with the same moves."""
    if like is None or like.route is None or not isinstance(like.profile, LookAhead):
        return None
    planned, run = like.route.pieces.bounds, route.pieces.bounds
    return None if len(planned) != len(run) else replace(like.profile, onto=(planned, run))


def _name_by_segments(route: Route, of: MovesOfJob) -> Curve:
    """The path of a route with the numbers of segments in place of those of moves."""
    found = tuple(replace(x, move=of.segments[x.move]) for x in route.path.stretches)
    return replace(route.path, stretches=found)


def describe_program(
    robot: Robot, program: Sequence[ProgramMove], tolerance: Tolerance, *, name: str
) -> JobDescription:
    """The job of a program: a segment for each move, and one for each spline.

    Args:
        robot: The robot, tool mounted.
        program: Moves of a stretch; the first says where it begins: its kind, speed and zone do
            not count.
        tolerance: Lateral and vertical.
        name: What the job is called.
    """
    first, *moves = program
    if not moves:
        raise ArmtwinError(f"{name}: a stretch needs two moves or more")
    start = Pose.from_matrix(pose_of(first, robot))
    segments: list[Segment] = []
    for move in moves:
        if move.joined and segments and segments[-1].spline is not None:
            segments[-1] = _extend(segments[-1], move)
        else:
            segments.append(_segment(move))
    speeds = [m.speed for m in moves if m.speed is not None and m.judged and m.kind != "PTP"]
    return JobDescription(
        name=name,
        **name_robot(robot),
        speed=max(speeds, default=0.1),
        tolerance=tolerance,
        start=start.position,
        posture=None if first.joints is None else tuple(first.joints.tolist()),
        orientation=ToolOrientation(start.orientation, "given"),
        segment=tuple(segments),
        time_law=ASSUMED,
    )


def _segment(m: ProgramMove) -> Segment:
    """A move as a segment."""
    x = Segment(
        name=m.name,
        zone=m.zone or None,
        wait=m.wait,
        line=m.line,
        process=m.judged and m.kind != "PTP",
        speed=None if m.kind == "PTP" else m.speed,
        joint_speed=m.speed if m.kind == "PTP" else None,
        fastest=m.speed is None and m.kind != "PTP",
    )
    if m.pose is None:
        assert m.joints is not None
        return replace(x, joints=tuple(m.joints.tolist()))
    end = Pose.from_matrix(m.pose)
    if m.kind == "SPLINE":
        return replace(x, zone=None, spline=(end.position,), orientations=(end.orientation,))
    x = replace(x, orientation=end.orientation)
    if m.kind == "PTP":
        return replace(x, ptp=end.position)
    if m.via is None:
        return replace(x, lin=end.position)
    return replace(x, circ=Circle(Pose.from_matrix(m.via).position, end.position))


def _extend(x: Segment, m: ProgramMove) -> Segment:
    """A spline with one more point."""
    assert m.pose is not None
    end = Pose.from_matrix(m.pose)
    spline = (*(x.spline or ()), end.position)
    return replace(x, spline=spline, orientations=(*(x.orientations or ()), end.orientation))
