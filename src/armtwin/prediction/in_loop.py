"""`identify_in_loop`: the estimator that iterates over simulations, with the closed loop in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.closed_loop.in_loop import in_loop
from armtwin.identification.closed_loop.result import LoopIdentification
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.log import Log, as_logs
from armtwin.logs.positions import joint_positions
from armtwin.maths.batch import Floats
from armtwin.prediction.compare_reference import usual_model
from armtwin.prediction.logged_reference import read_reference
from armtwin.robot.robot import Robot
from armtwin.simulation.closed_loop import simulate
from armtwin.simulation.options import RunOptions


def identify_in_loop(
    robot: Robot,
    logs: Log | Sequence[Log],
    *,
    torque: str | None = None,
    cutoff: float | None = None,
    recipe: Recipe | None = None,
) -> LoopIdentification:
    """Identify a robot with the motion of its own simulated loop in place of the measured one.

    For encoders so coarse, or a servo so stiff, that noise in the measured motion biases a plain
    estimate. The servo of the robot file must be the machine's.

    Args:
        robot: The robot as it was when logged, payload mounted, with its servo.
        logs: One or more logs with q_ref.
        torque: Channel of the torque, as for `identify`.
        cutoff: Cut-off frequency; by default the one that the first step chooses [Hz].
        recipe: Other choices.
    """
    given = as_logs(logs, "identify_in_loop")
    if not robot.description.servo:
        raise ArmtwinError(
            f"robot '{robot.name}': its loop cannot be simulated, as the file has no servo; fit "
            "one by at.identify_servo, or identify with the measured motion"
        )
    return in_loop(robot, given, _positions, torque=torque, cutoff=cutoff, recipe=recipe)


def _positions(robot: Robot, log: Log) -> Floats:
    """Joint positions of a robot that runs on a log's reference, at the log's times, (m, n)."""
    from scipy.interpolate import CubicSpline

    q, _ = joint_positions(robot, log)
    reference = read_reference(robot, log, q)
    model = replace(usual_model(robot), quantise=False)
    run = simulate(
        robot, reference.trajectory, model, options=RunOptions(feedforward=reference.feedforward)
    )
    time = log.time - log.time[0]
    if run.log.time[-1] < time[-1] - 2 / reference.trajectory.rate:
        raise ArmtwinError(
            f"the simulated loop of robot '{robot.name}' stops at {run.log.time[-1]:.4g} s of "
            f"{time[-1]:.4g} s; its servo, or the parameters of its file, are too far from the "
            "machine's"
        )
    inside = np.minimum(time, run.log.time[-1])
    return np.asarray(CubicSpline(run.log.time, run.log.q)(inside))
