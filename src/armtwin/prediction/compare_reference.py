"""The twin on a log's own reference: joint errors, path error at the tool, torques.

The machine's servo was asked for q_ref; so is the twin's. The mean difference of each joint is an
encoder's zero or an error that no position feedback takes away, and is taken off the measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from armtwin.logs.joint_order import in_order_of
from armtwin.logs.log import Log
from armtwin.logs.positions import joint_positions
from armtwin.logs.torque import joint_torque, tells_torque
from armtwin.maths.batch import Floats
from armtwin.motion.beside_reference import reference_path
from armtwin.prediction.agreement import Series, agreement
from armtwin.prediction.logged_reference import LoggedReference, logged_reference
from armtwin.prediction.reference_comparison import PATH, ReferenceComparison
from armtwin.robot.robot import Robot
from armtwin.robot.schema.provenance import DEFAULT_SERVO
from armtwin.simulation.closed_loop import simulate
from armtwin.simulation.model import Model
from armtwin.simulation.options import Method, RunOptions
from armtwin.simulation.outcome import Run


def usual_model(robot: Robot) -> Model:
    """The full model with the robot's fitted servo, where it has one, else its usual one."""
    for name, servo in robot.description.servo.items():
        if getattr(servo, "fit", None) is not None:
            return Model(servo=name)
    names = list(robot.description.servo) or [DEFAULT_SERVO]
    return Model(servo=DEFAULT_SERVO if DEFAULT_SERVO in names else names[0])


def _feeds_the_model(robot: Robot, model: Model) -> bool:
    """Whether the servo was fitted with the model's torque in place of what a machine fed."""
    servo = robot.description.servo.get(model.servo)
    fit = getattr(servo, "fit", None)
    return fit is not None and fit.feedforward == "model"


def compare_reference(
    robot: Robot,
    log: Log,
    model: Model | None = None,
    *,
    method: Method = "nonlinear",
    progress: Callable[[str, float], None] | None = None,
) -> ReferenceComparison:
    """Run the twin on a log's own reference and compare.

    Args:
        robot: The robot, with what it carried mounted.
        log: A log with q_ref.
        model: What is simulated; by default all of it, with the fitted servo where there is one.
        method: How to predict.
        progress: Called with what is being done and the share that is done.
    """
    used = usual_model(robot) if model is None else model
    ordered = in_order_of(log, robot.joint_names)
    q, side = joint_positions(robot, ordered)
    reference = logged_reference(robot, ordered, q)
    if _feeds_the_model(robot, used):
        reference = replace(reference, feedforward=None, source="")
    watch = None if progress is None else lambda share: progress("simulation", share)
    run = simulate(
        robot,
        reference.trajectory,
        used,
        progress=watch,
        options=RunOptions(method=method, feedforward=reference.feedforward),
    )
    time = ordered.time - ordered.time[0]
    done = time <= run.trace_time[-1] + 1e-9  # a run that stops early has nothing to say later
    time = time[done]
    positions = run.link_side if side == "q_link" else run.motor_side
    predicted = _at(time, run.trace_time, positions)
    offset = (q[done] - predicted).mean(axis=0)
    measured = q[done] - offset
    series = [*_errors(robot, reference, time, measured, predicted)]
    source = ""
    if tells_torque(robot, ordered):
        torque, source = joint_torque(robot, ordered)
        series += _torques(robot, run, time, torque[done])
    return ReferenceComparison(
        robot=robot,
        model=used,
        log=log,
        reference=reference,
        run=run,
        side=side,
        torque_source=source,
        offset=offset,
        time=time,
        channels={x.name: x.pair for x in series},
        rows=tuple(agreement(x) for x in series),
    )


def _at(times: Floats, own: Floats, values: Floats) -> Floats:
    """Columns of values at other times, (k, n)."""
    return np.stack([np.interp(times, own, column) for column in values.T], axis=1)


def _errors(
    robot: Robot, reference: LoggedReference, time: Floats, measured: Floats, predicted: Floats
) -> Iterator[Series]:
    """Errors of the joints, and of the tool beside the path of the reference."""
    wanted, speed, _ = reference.trajectory.at(time)
    for j, name in enumerate(robot.joint_names):
        pair = np.stack([measured[:, j] - wanted[:, j], predicted[:, j] - wanted[:, j]])
        yield Series(f"{name} error", "rad", pair)
    path = reference_path(robot, time, wanted, speed)
    logged = path.beside(robot.forward_kinematics(measured)[:, :3, 3])
    twin = path.beside(robot.forward_kinematics(predicted)[:, :3, 3])
    for direction in PATH:
        pair = np.stack([getattr(logged, direction), getattr(twin, direction)])
        yield Series(direction, "m", pair)


def _torques(robot: Robot, run: Run, time: Floats, torque: Floats) -> Iterator[Series]:
    predicted = _at(time, run.log.time, run.log.tau)
    for j, name in enumerate(robot.joint_names):
        yield Series(f"{name} torque", "N m", np.stack([torque[:, j], predicted[:, j]]))
