"""Seams and motions for the tests of the path error."""

from dataclasses import replace

import numpy as np

import armtwin as at
from armtwin.jobs.groups import Segment
from armtwin.prediction.predict import plan_motion


def eight():
    """A seam that crosses itself:
    a figure of eight, 160 mm by 80 mm, through points of a spline.
    """
    job = at.Job.load("rx90b_line")
    u = np.linspace(0, 2 * np.pi, 33)[1:] + 0.4
    points = tuple(
        (float(x), float(y), 0.0)
        for x, y in zip(0.04 * np.sin(2 * u), 0.08 * np.sin(u), strict=True)
    )
    d = replace(
        job.description,
        start=(float(0.04 * np.sin(0.8)), float(0.08 * np.sin(0.4)), 0.0),
        segment=(Segment(name="eight", spline=points),),
        orientation=replace(job.description.orientation, mode="fixed"),
        speed=0.05,
        posture=None,
        name="eight",
    )
    return at.Job(d)


def motion_of(job):
    """Robot and commanded joint motion of a job."""
    robot = job.robot()
    return robot, plan_motion(robot, job).trajectory
