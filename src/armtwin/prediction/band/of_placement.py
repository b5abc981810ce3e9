"""Where the workpiece may be: shifted, and turned about the middle of its seam."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from armtwin.jobs.job import Job
from armtwin.maths.rotations import from_rpy, pose
from armtwin.prediction.band.quantity import Placement, Quantity, Variant, with_values
from armtwin.prediction.band.width_settings import WidthSettings
from armtwin.robot.schema.groups import Pose


def placement_quantities(asked: WidthSettings) -> Iterator[Quantity]:
    """Shifts of the workpiece in the base frame, and its turn about the vertical."""
    for key in ("x", "y", "z", "yaw"):
        turns = key == "yaw"
        yield Quantity(
            name=f"placement.{key}",
            words="turn of the workpiece" if turns else f"place of the workpiece in {key}",
            kind="placement",
            basis="assumed",
            width=asked.yaw if turns else asked.shift(key),
            change=partial(_move, key),
            measured_by="placement",
            unit="rad" if turns else "m",
        )


def _move(key: str, variant: Variant, by: float) -> Variant:
    own = variant.placement
    return with_values(variant, placement=with_values(own, **{key: getattr(own, key) + by}))


def place_workpiece(job: Job, placement: Placement) -> Job:
    """The job with its workpiece elsewhere, turned about the middle of the seam."""
    if placement == Placement():
        return job
    middle = job.seam.path.at(np.array([job.seam.length / 2])).p[0]
    R = from_rpy(0.0, 0.0, placement.yaw)
    shift = np.array([placement.x, placement.y, placement.z])
    X = pose(R, middle - R @ middle + shift) @ job.description.workpiece.matrix()
    return job.with_workpiece(Pose.from_matrix(X))
