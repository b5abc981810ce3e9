"""A predicted job as the motion that an export of its robot is checked on."""

from __future__ import annotations

import numpy as np

from armtwin.exchange.check import CheckMotion
from armtwin.maths.batch import Floats
from armtwin.prediction.path_error import path_error
from armtwin.prediction.predict import Prediction
from armtwin.prediction.verdict import process_is_on
from armtwin.robot.dynamics.sag import Outside


def check_motion_of(p: Prediction) -> CheckMotion:
    """The motion of a job with its forces; what counts is the path error with the process on.

    Args:
        p: The job, predicted.
    """

    def deviation(time: Floats, poses: Floats) -> Floats:
        error = path_error(p.job.seam, time, poses)
        counts = process_is_on(p.job, error.s)
        return np.stack([error.lateral, error.vertical], axis=1) * counts[:, None]

    forces = Outside(p.outside.torque, p.outside.wrench)
    model = p.job.description.model
    return CheckMotion(p.job.name, p.motion.trajectory, model, forces, deviation)
