"""Changed jobs: another speed, a slow stretch, another orientation, place or radius."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armtwin.jobs.groups import Segment
from armtwin.jobs.job import Job
from armtwin.maths.batch import Floats, Pair
from armtwin.maths.rotations import pose, to_rpy
from armtwin.motion.curves import Following
from armtwin.motion.path import Stretch
from armtwin.robot.schema.groups import Orientation, Pose

STEADY_LENGTH = 0.01  # of steady speed before and after a span that is run slower [m]
LEAST_PART = 0.005  # parts of a line shorter than this are not cut off [m]
ROUNDING = 1e-6  # of arc lengths [m]
DECIMALS = 9  # of a coordinate [m], so that it is written in few digits
ANGLE_DECIMALS = 13  # of an angle [rad]: what is rounding of a right angle vanishes


def with_radius(job: Job, factor: float) -> Job:
    """The job with all rounded corners scaled."""
    segments = []
    for segment in job.description.segment:
        if segment.blend is not None:
            segment = replace(segment, blend=segment.blend * factor)
        segments.append(segment)
    return _change_job(job, segment=tuple(segments))


def shift_workpiece(job: Job, dx: float, dy: float) -> Job:
    """The job with its workpiece shifted in the base frame.

    The posture is chosen anew near the old one.
    """
    x, y, z = job.description.workpiece.position
    moved = (round(x + dx, DECIMALS), round(y + dy, DECIMALS), z)
    return _change_job(job, workpiece=replace(job.description.workpiece, position=moved))


def other_orientation(job: Job) -> Job | None:
    """The job with a tool that follows the seam where it was fixed, and is fixed where it followed.

    The orientation is the one the tool has in the middle of the seam; None where orientations
    are given at points.
    """
    rule, seam = job.description.orientation, job.seam
    if rule.mode == "given":
        return None
    R_WP = job.description.workpiece.matrix()[:3, :3]
    middle = np.array([seam.length / 2])
    jet, turning = seam.at(middle)
    if rule.mode == "follow":
        other = replace(rule, mode="fixed", tool=_orientation(R_WP.T @ turning.R[0], rule.tool))
    else:
        travel = Following(np.eye(3), R_WP[:, 2]).at(middle, jet).R[0]
        other = replace(rule, mode="follow", tool=_orientation(travel.T @ turning.R[0], rule.tool))
    return _change_job(job, orientation=other, posture=None)


def _orientation(R: Floats, like: Orientation | None) -> Orientation:
    """An orientation in angles where another one is given in such; else as a matrix."""
    roll, pitch, yaw = (round(float(angle), ANGLE_DECIMALS) for angle in to_rpy(R))
    if like is not None and like.rpy is not None:
        return Orientation(rpy=(roll, pitch, yaw))
    if like is not None and like.abc is not None:
        return Orientation(abc=(yaw, pitch, roll))
    return Pose.from_matrix(pose(R, (0.0, 0.0, 0.0))).orientation


def divide_lines(job: Job, spans: Sequence[Pair]) -> tuple[Job, list[int]]:
    """The job with its lines cut where spans begin and end.

    Returns also the numbers of the stretches that hold the spans.
    """
    wanted = _with_margin(spans, job.seam.length)
    segments: list[Segment] = []
    for stretch in job.seam.path.stretches:
        if not stretch.corner:
            segments += _cut(job, stretch, wanted)
    changed = _change_job(job, segment=tuple(segments))
    slow = []
    for k, stretch in enumerate(changed.seam.path.stretches):
        if any(_overlap(stretch, start, stop) for start, stop in wanted):
            slow.append(k)
    return changed, slow


def _with_margin(spans: Sequence[Pair], length: float) -> list[Pair]:
    """Spans with a margin about them, in whole mm, joined where no line fits between two."""
    found: list[Pair] = []
    for start, stop in sorted(spans):
        begin = max(0.0, math.floor(1e3 * (start - STEADY_LENGTH)) / 1e3)
        end = min(length, math.ceil(1e3 * (stop + STEADY_LENGTH)) / 1e3)
        if found and begin - found[-1][1] < LEAST_PART:
            begin, before = found.pop()
            end = max(end, before)
        found.append((begin, end))
    return found


def stretches_in_words(job: Job, stretches: Sequence[int]) -> str:
    """Names of stretches and where on the seam they are, as "seam part 2 (from 310 to 420 mm)"."""
    parts = []
    for k in stretches:
        stretch = job.seam.path.stretches[k]
        start, stop = 1e3 * stretch.start, 1e3 * stretch.stop
        parts.append(f"{stretch.name} (from {start:.0f} to {stop:.0f} mm of the seam)")
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _overlap(stretch: Stretch, start: float, stop: float) -> bool:
    """Whether a stretch holds part of a span, more than a rounding of it."""
    return start < stretch.stop - ROUNDING and stop > stretch.start + ROUNDING


def _cut(job: Job, stretch: Stretch, spans: Sequence[Pair]) -> list[Segment]:
    """The segment of a stretch, a line cut at the ends of spans that lie well inside of it."""
    segment = job.description.segment[stretch.move]
    low, high = stretch.start + LEAST_PART, stretch.stop - LEAST_PART
    cuts = sorted({end for span in spans for end in span if low < end < high})
    if segment.lin is None or not cuts or job.is_program:  # a part more would be a stop more
        return [segment]
    name = segment.name or f"segment {stretch.move + 1}"
    parts = []
    for k, cut in enumerate(cuts, 1):
        part = replace(
            segment,
            name=f"{name} part {k}",
            lin=_on_workpiece(job, cut),
            blend=None,
            blend_speed=None,
            orientation=None,
        )
        parts.append(part)
    return [*parts, replace(segment, name=f"{name} part {len(cuts) + 1}")]


def _on_workpiece(job: Job, place: float) -> tuple[float, float, float]:
    """The point of a seam at an arc length, in the frame of the workpiece."""
    X_PW = np.linalg.inv(job.description.workpiece.matrix())
    point = X_PW[:3, :3] @ job.seam.path.at(np.array([place])).p[0] + X_PW[:3, 3]
    x, y, z = (round(float(coordinate), DECIMALS) for coordinate in point)
    return x, y, z


def slow_stretches(job: Job, stretches: Sequence[int], share: float) -> Job:
    """The job with given stretches at a share of their speed."""
    segments = list(job.description.segment)
    for k in stretches:
        stretch = job.seam.path.stretches[k]
        segment = segments[stretch.move]
        speed = round_digits(share * job.speed_of(stretch))
        if stretch.corner and not job.is_program:
            segments[stretch.move] = replace(segment, blend_speed=speed)
        elif segment.ptp is None and segment.joints is None:
            segments[stretch.move] = replace(segment, speed=speed, fastest=False)
    if job.is_program:  # its corners have the speed that look-ahead finds
        return _change_job(job, segment=tuple(segments))
    for stretch in job.seam.path.stretches:
        segment = segments[stretch.move]
        if stretch.corner and segment.speed is not None and segment.blend_speed is None:
            # a corner keeps its own speed where only its segment is slowed
            segments[stretch.move] = replace(segment, blend_speed=job.speed_of(stretch))
    return _change_job(job, segment=tuple(segments))


def round_digits(speed: float) -> float:
    """A speed or length in three digits of mm/s or mm."""
    return float(f"{1e3 * speed:.3g}") / 1e3


def _change_job(job: Job, **keys: object) -> Job:
    return Job(replace(job.description, **keys), job.origin)  # type: ignore[arg-type]
