"""Robots in equilibrium whose set-points jump or follow a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.maths.batch import Floats, OnProgress
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.kinematics.strokes import drive_names
from armtwin.robot.robot import Robot
from armtwin.robot.schema.overrides import apply_overrides
from armtwin.robot.schema.servo import for_each
from armtwin.simulation import setpoints as points
from armtwin.simulation.closed_loop import simulate
from armtwin.simulation.model import Model
from armtwin.simulation.options import RunOptions
from armtwin.simulation.prepared import servo_of
from armtwin.simulation.response import Response

AT_ONCE = 1e-9  # the set-point jumps just after the first sample, where the run starts [s]


def step_response(
    robot: Robot,
    steps: Mapping[str, float],
    unit: points.Unit = "volts",
    *,
    model: Model | None = None,
    seconds: float = 0.12,
    start: ArrayLike | None = None,
) -> Response:
    """Simulate a robot in equilibrium whose set-points jump at time 0.

    Args:
        robot: The robot, with what is mounted on it.
        steps: By how much set-points jump, by name of drive or wrist coordinate.
        unit: "volts", "strokes" (m, rad) or "wrist" (m, rad).
        model: How it is simulated; by default with its proportional servo and smooth friction.
        seconds: Length of the run [s].
        start: Joint positions at the start, (n,); by default where its sensors read zero.
    """
    model = points.hydraulic_model(robot) if model is None else model
    names = points.coordinate_names(robot, unit)
    q0 = points.home_of(robot) if start is None else np.asarray(start, dtype=np.float64)
    step = np.zeros(len(names))
    for name, by in steps.items():
        if name not in names:
            raise ArmtwinError(f"set-point '{name}' is not known. {did_you_mean(name, names)}")
        step[names.index(name)] = by
    if not step.any():
        raise ArmtwinError("a step response needs a set-point that jumps")
    before = points.coordinates_of(robot, model, unit, q0[None])[0]
    after = points.joints_of(robot, model, unit, (before + step)[None], q0)[0]
    motion = points.build_step_motion(robot, model, [0.0, AT_ONCE], np.array([q0, after]), seconds)
    return motion_response(robot, model, unit, motion)


def driven_response(
    robot: Robot,
    time: ArrayLike,
    setpoints: ArrayLike,
    unit: points.Unit = "volts",
    *,
    model: Model | None = None,
) -> Response:
    """Simulate a robot that starts in equilibrium on a record of set-points.

    Args:
        robot: The robot, with what is mounted on it.
        time: Times of the set-points, rising from 0, (m,) [s].
        setpoints: Set-points of all drives or wrist coordinates, linear between times, (m, k).
        unit: "volts", "strokes" (m, rad) or "wrist" (m, rad).
        model: How it is simulated; by default with its proportional servo and smooth friction.
    """
    model = points.hydraulic_model(robot) if model is None else model
    motion = points.interpolate_motion(robot, model, unit, time, setpoints)
    return motion_response(robot, model, unit, motion)


def motion_response(
    robot: Robot,
    model: Model,
    unit: points.Unit,
    motion: Trajectory,
    *,
    log_rate: float | None = None,
    progress: OnProgress | None = None,
) -> Response:
    """Simulate a robot that starts in equilibrium on a motion of its set-points.

    Args:
        robot: The robot, with what is mounted on it.
        model: How it is simulated.
        unit: Coordinates of the response: "volts", "strokes" or "wrist".
        motion: Set-points as joint positions.
        log_rate: Rate of the log; by default that of the set-points [Hz].
        progress: Called now and then with the share of the run that is done.
    """
    run = simulate(robot, motion, model, progress=progress, options=RunOptions(log_rate=log_rate))
    time = run.log.time
    wanted = points.coordinates_of(robot, model, unit, run.log.q_ref)
    reading = points.coordinates_of(robot, model, unit, run.log.q) - wanted[0]
    if unit != "wrist":
        reading = _late(robot, model, time, reading)
    names = points.coordinate_names(robot, unit)
    jumped = np.where(np.abs(wanted - wanted[0]) > 1e-12, wanted - wanted[0], 0.0)
    return Response(robot, model, unit, names, wanted[0], time, jumped, reading, run)


def _late(robot: Robot, model: Model, time: Floats, reading: Floats) -> Floats:
    """Readings as late as the servo's sensors show them."""
    count = len(drive_names(robot))
    delays = for_each(servo_of(robot, model).delay.sensor, count)
    late = np.empty_like(reading)
    for k, delay in enumerate(delays):
        late[:, k] = np.interp(time - delay, time, reading[:, k], left=0.0)
    return late


@dataclass(frozen=True, eq=False)
class StepTest:
    """A step response that can be asked again with other numbers.

    Attributes:
        robot: The robot, with what is mounted on it.
        steps: By how much set-points jump, by name.
        unit: "volts", "strokes" or "wrist".
        seconds: Length of the run [s].
        model: How it is simulated; None for the robot's own proportional servo.
    """

    robot: Robot
    steps: Mapping[str, float]
    unit: points.Unit = "volts"
    seconds: float = 0.12
    model: Model | None = None

    def run(self, values: Mapping[str, Any] | None = None) -> Response:
        """The response, with other numbers at key paths of the robot file where some are given."""
        robot = self.robot
        if values:
            origin = f"robot '{robot.name}'"
            robot = Robot(apply_overrides(robot.description, values, origin), robot.origin)
        return step_response(robot, self.steps, self.unit, model=self.model, seconds=self.seconds)

    def measured(self, values: Mapping[str, Any]) -> dict[str, float | None]:
        """Features of every coordinate that jumps, with other numbers; it must not run away."""
        response = self.run(values)
        unstable = [event.text for event in response.run.log.events if event.kind == "unstable"]
        if unstable:
            raise ArmtwinError(unstable[0])
        found: dict[str, float | None] = {}
        for name in self.steps:
            features = response.features(name)
            before = f"{name} " if len(self.steps) > 1 else ""
            found[f"{before}overshoot"] = features.overshoot
            found[f"{before}first peak time"] = features.first_peak
            found[f"{before}period"] = features.period
            found[f"{before}settling"] = features.settling
        return found
