"""All quantities of a prediction that are not known exactly."""

from __future__ import annotations

from armtwin.errors import ArmtwinError
from armtwin.jobs.job import Job
from armtwin.prediction.band.of_bodies import link_quantities, tool_quantities
from armtwin.prediction.band.of_drives import (
    elastic_quantities,
    friction_quantities,
    rotor_quantities,
)
from armtwin.prediction.band.of_placement import placement_quantities
from armtwin.prediction.band.of_servo import servo_quantities
from armtwin.prediction.band.quantity import Quantity
from armtwin.prediction.band.width_settings import WidthSettings
from armtwin.prediction.predict import Prediction
from armtwin.robot.robot import Robot


def quantities_of(p: Prediction) -> tuple[Quantity, ...]:
    """What of robot, servo, tool and placement of a prediction is not known exactly."""
    return quantities_for(p.robot, p.job)


def quantities_for(robot: Robot, job: Job) -> tuple[Quantity, ...]:
    """What of a robot with its tool, and of the placement of a job, is not known exactly.

    Those of a width of zero are there as well, so that the samples of the others stay the same.
    """
    model = job.description.model
    asked = WidthSettings(job.description.uncertainty)
    found = [
        *servo_quantities(robot, model.servo, asked),
        *friction_quantities(robot, model, asked),
        *elastic_quantities(robot, model, asked),
        *link_quantities(robot, asked),
        *rotor_quantities(robot, asked),
        *tool_quantities(robot, asked),
        *placement_quantities(asked),
    ]
    try:
        asked.check(found)
    except ArmtwinError as error:
        raise ArmtwinError(f"{job.where}: {error}") from None
    return tuple(found)
