"""Simulate a robot under its servo along a joint trajectory; the result is the Log a machine would write."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from armtwin.control.controller import Controller, controller, initial
from armtwin.errors import ArmtwinError, FileError
from armtwin.maths.batch import Floats, checked
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.provenance import missing
from armtwin.robot.robot import Robot
from armtwin.simulation import loop
from armtwin.simulation.equations import LinearArm
from armtwin.simulation.loop import Inputs, Record, State
from armtwin.simulation.outcome import Ended, Energy, Run, events, logged
from armtwin.simulation.perturbation import linear_model, packed
from armtwin.simulation.plant import C0, FRICTION_KINDS, Model, Plant, plant

Method = Literal["nonlinear", "perturbation"]
SWING = 0.4  # angle [rad] of a bristle's swing that one step may take
MOST_SUBSTEPS = 64


def setpoint_rate(robot: Robot, model: Model) -> float:
    """Rate at which the robot's controller takes set-points [Hz]."""
    c = _controller(robot, model)
    return float(1 / (c.tick * c.setpoint_ticks))


def simulate(
    robot: Robot,
    trajectory: Trajectory,
    model: Model | None = None,
    *,
    method: Method = "nonlinear",
    points: int = 300,
    settle: tuple[float, float] = (0.0, 0.0),
    log_rate: float | None = None,
    torque: ArrayLike | None = None,
    wrench: ArrayLike | None = None,
    progress: Callable[[float], None] | None = None,
) -> Run:
    """Run the closed loop of servo, motors, gears, friction, balancers and arm along a trajectory.

    Args:
        robot: The robot, tool mounted.
        trajectory: Joint motion; it is resampled to the set-point rate.
        model: Friction model, servo, quantisation; the default is the full model.
        method: "nonlinear", or "perturbation" for the arm linearised along the motion.
        points: Points of the linearisation.
        settle: Standstill before and after the motion [s].
        log_rate: Rate of the log; by default the set-point rate [Hz].
        torque: Joint torques from outside at the trajectory's samples, (m, n) [N m].
        wrench: Process force and torque on the tool at the trajectory's samples, base axes, (m, 6); it acts
            through the Jacobian of the reference motion.
        progress: Called now and then with the share of the run that is done.
    """
    model = Model() if model is None else model
    _check(robot, trajectory, model, points, settle)
    c = _controller(robot, model)
    rate = 1 / (c.tick * c.setpoint_ticks)
    motion = trajectory.at_rate(rate).with_standstill(*settle)
    external = _external(robot, trajectory, motion, round(settle[0] * rate) / rate, torque, wrench)
    p, linear = plant(robot, model), None
    if method == "perturbation":
        linear = linear_model(robot, motion, points)
    elif method != "nonlinear":
        raise ArmtwinError(f"method must be 'nonlinear' or 'perturbation', got '{method}'")
    inputs, state, record = _prepared(robot, motion, p, c, external, log_rate)
    q0, v0 = state.q.copy(), state.v.copy()
    n = robot.n
    path = packed(linear) if linear else LinearArm(1.0, np.zeros((4, 1, 4, n)), *np.zeros((3, 2, n, n)))
    work = ((0,) * n, int(linear is not None), robot.assembly.arm, path, p, c, inputs, state, record)
    ended = loop.run(*work) if progress is None else _watched(work, record.trace, progress)
    stored = float(np.diff(np.array([sum(robot.energy(q, v)) for q, v in ((q0, v0), (state.q, state.v))]))[0])
    bristles = 0.5 * float(p.numbers[:, C0] @ state.z**2) if model.friction == "lugre" else 0.0
    energy = Energy(state.energy[0], state.energy[1], stored + bristles, state.energy[2] - bristles)
    log = logged(robot, motion, c, inputs, record, events(robot, c, state, ended), ended)
    traced = len(record.trace) if ended[0] == loop.FINISHED else ended[1] // c.position_ticks + 1
    return Run(log, energy, linear, state.z, record.trace[:traced], 1 / (c.tick * c.position_ticks))


def _watched(work: tuple[Any, ...], trace: Floats, progress: Callable[[float], None]) -> Ended:
    """The run on a thread of its own, while this one looks how far its trace is filled."""
    trace[:, 0] = np.nan
    ended: list[Ended] = []
    failed: list[BaseException] = []

    def start() -> None:
        try:
            ended.append(loop.run(*work))
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=start, daemon=True)
    thread.start()
    done = 0
    while thread.is_alive():
        thread.join(0.1)
        done += int(np.argmax(np.isnan(trace[done:, 0]))) if np.isnan(trace[-1, 0]) else 0
        progress(done / len(trace))
    if failed:
        raise failed[0]
    return ended[0]


def _controller(robot: Robot, model: Model) -> Controller:
    friction = model.friction if robot.description.active_friction() else "off"
    lacking = missing(robot.description, model.servo, friction)
    if lacking:
        origin = robot.origin or f"robot '{robot.name}'"
        raise FileError(origin, [f"cannot be simulated: {x}" for x in lacking])
    servo = robot.description.servo[model.servo]
    return controller(servo, robot.description.motor, model.quantise)


def _check(robot: Robot, trajectory: Trajectory, model: Model, points: int, settle: tuple[float, float]) -> None:
    if not isinstance(model, Model):
        raise ArmtwinError(f"model must be an armtwin Model, got {model!r}")
    if trajectory.q.shape[1] != robot.n:
        joints = trajectory.q.shape[1]
        raise ArmtwinError(f"the trajectory must move the {robot.n} joints of '{robot.name}', got {joints} joints")
    if not isinstance(points, int) or points < 4:
        raise ArmtwinError(f"points must be a whole number from 4 on, got {points}")
    if np.shape(settle) != (2,) or not all(np.isfinite(x) and x >= 0 for x in settle):
        raise ArmtwinError(f"settle must be two times of at least 0 s, before and after, got {settle}")


def _external(
    robot: Robot,
    given: Trajectory,
    motion: Trajectory,
    start: float,
    torque: ArrayLike | None,
    wrench: ArrayLike | None,
) -> Floats:
    """Joint torques from outside at the set-points, (k, n); (0, n) where there are none."""
    if torque is None and wrench is None:
        return np.zeros((0, robot.n))
    total = np.zeros_like(given.q)
    if torque is not None:
        total = total + _samples("torque", torque, given.q.shape)
    if wrench is not None:
        force = _samples("wrench", wrench, (len(given.q), 6))
        total = total + np.einsum("mij,mi->mj", robot.jacobian(given.q), force)
    times = motion.time - start
    acting = (times > -1e-9) & (times < given.duration + 1e-9)
    return np.stack([np.interp(times, given.time, x) * acting for x in total.T], axis=1)


def _samples(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Floats:
    array = checked(name, values, shape, "one row for each sample of the trajectory")
    if array.ndim != 2:
        raise ArmtwinError(f"{name} must have shape {shape}, got {array.shape}")
    return array


def _prepared(
    robot: Robot, motion: Trajectory, p: Plant, c: Controller, external: Floats, log_rate: float | None
) -> tuple[Inputs, State, Record]:
    """Arrays of a run that starts on the first set-point, its integrators carrying the static torque."""
    N, n, m = p.motors, robot.n, len(p.motors)
    ticks = (len(motion.q) - 1) * c.setpoint_ticks + 1
    log_ticks = c.setpoint_ticks if log_rate is None else _log_ticks(log_rate, c.tick)
    ref = np.ascontiguousarray(np.stack([motion.q @ N.T, motion.v @ N.T, motion.a @ N.T], axis=1))
    static = robot.gravity(motion.q[0]) - (external[0] if len(external) else 0.0)
    if len(N) < n:
        raise ArmtwinError(f"robot '{robot.name}': {n} joints need as many motors to be controlled, got {len(N)}")
    servo, memory = initial(c, np.linalg.solve(N.T, static), ref[0, 1], ref[0, 2])
    slow, substeps = _presliding(robot, motion.q[0], p, c.tick)
    z = np.zeros(len(p.friction))
    state = State(motion.q[0].copy(), motion.v[0].copy(), z, servo, memory, np.zeros(3), np.zeros((m, 2)))
    samples = (ticks - 1) // log_ticks + 1
    none, currents = np.zeros((samples, n)), np.zeros((samples, m))
    trace = np.zeros(((ticks - 1) // c.position_ticks + 1, n))
    record = Record(none, none.copy(), none.copy(), currents, none.copy(), trace)
    return Inputs(ref, np.ascontiguousarray(external), ticks, log_ticks, slow, substeps), state, record


def _log_ticks(rate: float, tick: float) -> int:
    """Ticks between samples of a log; the rate must divide the velocity loop's."""
    ticks = 1 / (rate * tick) if rate > 0 else 0.0
    if not np.isfinite(ticks) or ticks < 1 - 1e-9 or abs(ticks - round(ticks)) > 1e-6:
        raise ArmtwinError(f"log_rate must divide the velocity loop's rate of {1 / tick:g} Hz, got {rate:g}")
    return round(ticks)


def _presliding(robot: Robot, q: Floats, p: Plant, h: float) -> tuple[Floats, int]:
    """Speeds below which bristles bend more than they slide, and the steps in a tick that resolve their swing.

    A bristle slides when it relaxes within half a tick, c0 |w| h > 2 g; it swings at √(c0 / J) before.
    """
    c0 = p.numbers[:, C0]
    if p.kind != FRICTION_KINDS["lugre"] or not len(c0):
        return np.zeros(len(c0)), 1
    inverse = np.linalg.inv(robot.mass_matrix(q))
    swing = np.sqrt(c0 * np.einsum("ei,ij,ej->e", p.friction, inverse, p.friction))
    largest = p.curves[..., 0].max(axis=(1, 2))  # dry friction at the nodes; it may vanish at rest
    return 2 * largest / (c0 * h), int(np.clip(np.ceil(h * swing.max() / SWING), 1, MOST_SUBSTEPS))
