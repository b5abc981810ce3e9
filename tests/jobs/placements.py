"""Shipped jobs where another program put them; the straight seam keeps its tolerance there."""

from dataclasses import replace
from math import pi, radians

import armtwin as at

FOLLOW_ENDS = (
    [19.592, 36.147, 127.076, 143.327, 30.529, 14.111],
    [-19.592, 36.147, 127.076, 216.673, 30.529, -14.111],
)
FIXED_ENDS = (
    [30.916, 36.323, 126.544, -135.632, 31.302, -16.937],
    [-30.916, 36.323, 126.544, -224.368, 31.302, 16.937],
)
LINE_ENDS = (
    [-36.744, 47.383, 79.831, -25.033, 91.351, -28.461],
    [45.512, 58.9, 57.475, 30.581, 97.458, 40.135],
)
# position of the workpiece [m], turn of the head [deg], joints at the start [deg]
ELSEWHERE = {
    "rx90b_line": ((0.45, 0.0, 0.1), 90, LINE_ENDS[0]),
    "rx90b_corner_follow": ((0.65, 0.0, 0.0), 90, FOLLOW_ENDS[0]),
    "rx90b_corner_fixed": ((0.65, 0.0, 0.0), 45, FIXED_ENDS[0]),
}


def as_in_another_program(job):
    """A shipped job where the other program put it."""
    position, head, posture = ELSEWHERE[job.name]
    d = job.description
    tool = replace(d.orientation.tool, rpy=(pi, 0.0, radians(head)))
    placed = replace(
        d,
        workpiece=replace(d.workpiece, position=position),
        orientation=replace(d.orientation, tool=tool),
        posture=tuple(map(radians, posture)),
    )
    return at.Job(placed, job.origin)


def line_that_holds():
    """The straight seam 150 mm higher: within tolerance at 100 mm/s, out of it at 200."""
    return as_in_another_program(at.Job.load("rx90b_line"))
