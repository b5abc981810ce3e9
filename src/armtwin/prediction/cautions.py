"""What a reader of a verdict must know before trusting it: what was left out, what was smoothed."""

from __future__ import annotations

from collections.abc import Iterator

from armtwin.jobs.job import Job
from armtwin.robot.robot import Robot

MM = 1e3


def cautions(robot: Robot, job: Job) -> tuple[str, ...]:
    """Sentences that belong beside the verdict on a job.

    Args:
        robot: The robot as it was simulated.
        job: The job.
    """
    return (*_without_tool(robot), *_smoothed(job))


def _without_tool(robot: Robot) -> Iterator[str]:
    """A bare flange, where the robot's file has a tool."""
    d = robot.description
    if d.tool and not d.mounted.tool:
        names = " and ".join(d.tool)
        yield (
            f"No tool is mounted: the job names none, the file of '{robot.name}' has {names}. "
            "The bare flange is judged, without a tool's length and weight."
        )


def _smoothed(job: Job) -> Iterator[str]:
    """Splines through points of a file that leave their polyline by more than the tolerance."""
    tolerance = job.description.tolerance
    allowed = min(tolerance.lateral, tolerance.vertical)
    for spline in job.splines:
        segment = job.description.segment[spline.move]
        if segment.points is None or spline.deviation <= allowed:
            continue
        yield (
            f"The spline through {segment.points} leaves the straight lines between its points by "
            f"{MM * spline.deviation:.3g} mm at {MM * spline.at_m:.1f} mm, more than the tolerance "
            f"of {MM * allowed:.3g} mm. The path error is measured from the spline."
        )
