"""Changed jobs: another speed, a slow stretch, another orientation, another place, another radius."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armtwin.jobs.groups import Segment
from armtwin.jobs.job import Job
from armtwin.maths.batch import Floats
from armtwin.maths.rotations import pose
from armtwin.motion.orientations import Following
from armtwin.robot.groups import Orientation, Pose

ROOM = 0.01  # of steady speed before and after a span that is run slower [m]
LEAST_PART = 0.005  # parts of a line shorter than this are not cut off [m]


def with_radius(job: Job, factor: float) -> Job:
    """The job with all rounded corners scaled."""
    segments = tuple(
        s if s.blend is None else replace(s, blend=s.blend * factor)
        for s in job.description.segment
    )
    return _changed(job, segment=segments)


def shifted(job: Job, dx: float, dy: float) -> Job:
    """The job with its workpiece shifted in the base frame; the posture is chosen anew near the old one."""
    x, y, z = job.description.workpiece.position
    return _changed(job, workpiece=replace(job.description.workpiece, position=(x + dx, y + dy, z)))


def other_orientation(job: Job) -> Job | None:
    """The job with a tool that follows the seam where it was fixed, and is fixed where it followed.

    The orientation is the one the tool has in the middle of the seam; None where orientations are given at points.
    """
    rule, seam = job.description.orientation, job.seam
    if rule.mode == "given":
        return None
    R_WP = job.description.workpiece.matrix()[:3, :3]
    middle = np.array([seam.length / 2])
    jet, turning = seam.at(middle)
    if rule.mode == "follow":
        other = replace(rule, mode="fixed", tool=_orientation(R_WP.T @ turning.R[0]))
    else:
        travel = Following(np.eye(3), R_WP[:, 2]).at(middle, jet).R[0]
        other = replace(rule, mode="follow", tool=_orientation(travel.T @ turning.R[0]))
    return _changed(job, orientation=other, posture=None)


def _orientation(R: Floats) -> Orientation:
    return Pose.from_matrix(pose(R, (0.0, 0.0, 0.0))).orientation


def divided(job: Job, spans: Sequence[tuple[float, float]]) -> tuple[Job, list[int]]:
    """The job with its lines cut where spans begin and end, and the numbers of the stretches that hold the spans."""
    seam = job.seam
    wanted = [(max(0.0, a - ROOM), min(seam.length, b + ROOM)) for a, b in spans]
    segments: list[Segment] = []
    X = np.linalg.inv(job.description.workpiece.matrix())
    for x in seam.path.stretches:
        s = job.description.segment[x.move]
        if x.corner:
            continue
        cuts = sorted(
            {c for a, b in wanted for c in (a, b) if x.start + LEAST_PART < c < x.stop - LEAST_PART}
        )
        if s.lin is None or not cuts:
            segments.append(s)
            continue
        name = s.name or f"segment {x.move + 1}"
        for k, c in enumerate(cuts, 1):
            p = X[:3, :3] @ seam.path.at(np.array([c])).p[0] + X[:3, 3]
            place = (round(float(p[0]), 9), round(float(p[1]), 9), round(float(p[2]), 9))
            part = replace(
                s,
                name=f"{name} part {k}",
                lin=place,
                blend=None,
                blend_speed=None,
                orientation=None,
            )
            segments.append(part)
        segments.append(replace(s, name=f"{name} part {len(cuts) + 1}"))
    changed = _changed(job, segment=tuple(segments))
    slow = [
        k
        for k, x in enumerate(changed.seam.path.stretches)
        if any(a < x.stop - 1e-6 and b > x.start + 1e-6 for a, b in wanted)
    ]
    return changed, slow


def slowed(job: Job, stretches: Sequence[int], speed: float) -> Job:
    """The job with some of its stretches at a lower speed."""
    segments = list(job.description.segment)
    for k in stretches:
        x = job.seam.path.stretches[k]
        s = segments[x.move]
        segments[x.move] = replace(s, blend_speed=speed) if x.corner else replace(s, speed=speed)
    for (
        x
    ) in job.seam.path.stretches:  # a corner keeps its own speed where only its segment is slowed
        s = segments[x.move]
        if x.corner and s.speed is not None and s.blend_speed is None:
            segments[x.move] = replace(
                s, blend_speed=job.description.segment[x.move].speed or job.description.speed
            )
    return _changed(job, segment=tuple(segments))


def _changed(job: Job, **keys: object) -> Job:
    return Job(replace(job.description, **keys), job.origin)  # type: ignore[arg-type]
