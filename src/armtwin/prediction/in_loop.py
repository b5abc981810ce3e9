"""`identify_in_loop`: the estimator that iterates over simulations, with the closed loop in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.closed_loop.result import SETTLED, LoopIdentification, LoopStep
from armtwin.identification.rigid_body.data.clean_log import filter_motion
from armtwin.identification.rigid_body.evaluation.estimate import Estimate
from armtwin.identification.rigid_body.identify import identify
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.joints import in_order_of, joint_positions
from armtwin.logs.log import Log, as_logs
from armtwin.maths.batch import Floats
from armtwin.prediction.compare_reference import usual_model
from armtwin.prediction.logged_reference import read_reference
from armtwin.robot.robot import Robot
from armtwin.simulation.closed_loop import simulate
from armtwin.simulation.options import RunOptions

STEPS = 6  # at most
SAMPLES = 400  # of each log at which torques are compared


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
    chosen = replace(recipe or Recipe(), motion="measured")
    if chosen.average:
        raise ArmtwinError("recipe: average is of measured motions; simulate each run by itself")
    for k, log in enumerate(given, 1):
        if "q_ref" not in log:
            raise ArmtwinError(
                f"{log.origin or f'log {k}'}: has no reference q_ref to simulate the robot on"
            )
    ordered = [in_order_of(log, robot.joint_names) for log in given]
    found = robot
    steps: list[LoopStep] = []
    while len(steps) < STEPS:
        positions = [_positions(found, log) for log in ordered]
        moved = [_with_positions(log, q) for log, q in zip(ordered, positions, strict=True)]
        fit = identify(robot, moved, torque=torque, cutoff=cutoff, recipe=chosen)
        cutoff = fit.cutoff
        change = _change(found, fit)
        steps.append(LoopStep(change, _position_error(ordered, positions)))
        found = fit.robot
        if change < SETTLED:
            break
    estimate = replace(fit, recipe=replace(chosen, motion="simulated"))
    return LoopIdentification(estimate, tuple(steps))


def _with_positions(log: Log, q: Floats) -> Log:
    """A log with other positions; what was derived from its own is left out."""
    channels = {name: values for name, values in log.channels.items() if name[:1] not in "qva"}
    return replace(log, channels={"q": q, **channels})


def _position_error(logs: Sequence[Log], positions: Sequence[Floats]) -> float:
    """Rms of simulated less measured positions, worst joint, means removed."""
    worst = 0.0
    for log, q in zip(logs, positions, strict=True):
        gap = log.q - q
        gap = gap - gap.mean(axis=0)
        worst = max(worst, float(np.sqrt((gap**2).mean(axis=0)).max()))
    return worst


def _change(before: Robot, fit: Estimate) -> float:
    """Root mean square change of the torque over all logs, over the torque; worst joint."""
    shares = []
    for log in fit.logs:
        whole = filter_motion(log, fit.cutoff, fit.recipe)
        step = max(1, len(log.time) // SAMPLES)
        motion = whole.at(slice(step // 2, None, step))
        torques = []
        for robot in (before, fit.robot):
            torque = robot.inverse_dynamics(*motion) + robot.friction_torque(motion.v, motion.q)
            torques.append(torque)
        gap = np.sqrt(((torques[1] - torques[0]) ** 2).mean(axis=0))
        size = np.sqrt((torques[1] ** 2).mean(axis=0))
        shares.append(float((gap / np.maximum(size, 1e-12)).max()))
    return max(shares)


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
    return CubicSpline(run.log.time, run.log.q)(inside)
