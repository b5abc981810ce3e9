"""A hydraulic robot in an experiment: set-points of drives or wrist, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from armtwin.errors import ArmtwinError, FileError, did_you_mean
from armtwin.files.schema import Schema
from armtwin.files.writing import group_table
from armtwin.jobs.setpoints import Drive
from armtwin.maths.batch import Floats
from armtwin.robot.kinematics.strokes import drives_slide
from armtwin.robot.kinematics.wrist import ANGLES, COORDINATES
from armtwin.robot.robot import Robot
from armtwin.simulation.closed_loop import setpoint_rate
from armtwin.simulation.model import Model
from armtwin.simulation.response import Response
from armtwin.simulation.responses import motion_response
from armtwin.simulation.setpoints import (
    Unit,
    coordinate_names,
    coordinates_of,
    held_motion,
    home_of,
    hydraulic_model,
)

if TYPE_CHECKING:
    from armtwin.jobs.experiment import Experiment
    from armtwin.jobs.experiment_description import HydraulicSetup

MODEL = Schema(Model, "model")


def unit_of(robot: Robot, coordinates: Unit, k: int) -> str:
    """Unit of a coordinate, by its place."""
    if coordinates == "volts":
        return "V"
    if coordinates == "wrist":
        return "rad" if COORDINATES[k] in ANGLES else "m"
    return "m" if drives_slide(robot)[k] else "rad"


def answer_of(
    experiment: Experiment, setup: HydraulicSetup, progress: Callable[[float], None] | None = None
) -> Response:
    """What the sensors of a hydraulic robot show under the set-points of an experiment.

    Args:
        experiment: The experiment.
        setup: Its set-up.
        progress: Called now and then with the share that is done.
    """
    robot = experiment.robot()
    assert robot is not None
    try:
        model = _model(robot, setup.model, experiment.place)
        time = experiment.times(setpoint_rate(robot, model))
        values = _values(experiment, setup, robot, model, time)
        motion = held_motion(robot, model, setup.coordinates, values)
        rate = experiment.description.rate
        return motion_response(
            robot, model, setup.coordinates, motion, log_rate=rate, progress=progress
        )
    except FileError:
        raise
    except ArmtwinError as error:
        raise experiment.refused(str(error)) from None


def _model(robot: Robot, given: Mapping[str, Any], origin: str) -> Model:
    """The model of the robot's proportional servo, with other values where some are given."""
    base = group_table(hydraulic_model(robot))
    model: Model = MODEL.read({**base, **given}, f"{origin}: setup.model")
    return model


def _values(
    experiment: Experiment, setup: HydraulicSetup, robot: Robot, model: Model, time: Floats
) -> Floats:
    """Set-points of all coordinates at times, (m, k); those that none drives are held."""
    names = coordinate_names(robot, setup.coordinates)
    start = coordinates_of(robot, model, setup.coordinates, home_of(robot)[None])[0]
    values = np.tile(start, (len(time), 1))
    points = experiment.description.setpoint
    driven = [point.on for point in points]
    for name, level in setup.start.items():
        k = _place(names, name, f"setup.start.{name}")
        if name in driven:
            raise ArmtwinError(f"setup.start.{name}: a set-point drives it and gives its start")
        values[:, k] = Drive(unit_of(robot, setup.coordinates, k), experiment.folder).read(level)
    for number, point in enumerate(points, 1):
        k = _place(names, point.on, f"setpoint.{number}.on")
        drive = Drive(unit_of(robot, setup.coordinates, k), experiment.folder)
        values[:, k], _ = experiment.sampled(number, point, time, drive)
    return values


def _place(names: tuple[str, ...], name: str, key: str) -> int:
    if name not in names:
        raise ArmtwinError(f"{key}: '{name}' is not known. {did_you_mean(name, names)}")
    return names.index(name)
