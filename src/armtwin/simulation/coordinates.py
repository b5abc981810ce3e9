"""The coordinates of a simulation: those of the robot, as its model asks for."""

from armtwin.robot.kinematics import coordinates as of_robot
from armtwin.robot.kinematics.coordinates import Coordinates
from armtwin.robot.robot import Robot
from armtwin.simulation.model import Model

__all__ = ["Coordinates", "coordinates"]


def coordinates(robot: Robot, model: Model) -> Coordinates:
    """The coordinates of a robot under a model."""
    return of_robot.coordinates(
        robot,
        joints=model.joints == "elastic",
        links=model.links == "elastic",
        deviations=model.deviations,
        ripple=model.ripple,
    )
