"""What comes out of a simulated run: the log a machine would write, its events, where the energy went."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.control.controller import ERROR_LIMIT, Controller
from armtwin.logs.log import Event, Log
from armtwin.maths.batch import Floats
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.robot import Robot
from armtwin.simulation import loop
from armtwin.simulation.loop import Inputs, Record, State
from armtwin.simulation.perturbation import LinearModel

LONG_AT_LIMIT = 0.2  # seconds at the current limit that are worth an event

Ended = tuple[int, int, int]


@dataclass(frozen=True)
class Energy:
    """Where the energy of a run went [J].

    Attributes:
        motors: Work of the motors.
        external: Work of torques from outside.
        stored: Change of kinetic, potential, balancer and bristle energy.
        friction: Lost in friction.
    """

    motors: float
    external: float
    stored: float
    friction: float

    @property
    def gap(self) -> float:
        """Work that is not accounted for; only the error of the integration."""
        return self.motors + self.external - self.stored - self.friction


@dataclass(frozen=True, eq=False)
class Run:
    """A simulated run.

    Attributes:
        log: What a machine would have logged.
        energy: Where the energy went.
        linear: The linear time-varying model, where the perturbation method was used.
        friction_state: Bristle deflections at the end, (e,) [rad].
        trace: Joint positions at the rate of the position loop, (k, n): finer than the log.
        trace_rate: That rate [Hz].
    """

    log: Log
    energy: Energy
    linear: LinearModel | None
    friction_state: Floats
    trace: Floats
    trace_rate: float

    @property
    def trace_time(self) -> Floats:
        """Times of the trace, (k,) [s]."""
        return np.arange(len(self.trace)) / self.trace_rate


def events(robot: Robot, c: Controller, state: State, ended: Ended) -> tuple[Event, ...]:
    """What happened: an early end, and long stays at a current limit."""
    how, tick, which = ended
    motors = robot.description.motor
    events = []
    for motor, (stay, since) in zip(motors, state.saturated, strict=True):
        if stay >= LONG_AT_LIMIT:
            text = f"{motor.name} stays at its current limit of {motor.current_limit:g} A for {stay:.3f} s."
            events.append(Event(float(since), "current_limit", motor.name, text))
    time = tick * c.tick
    if how == loop.FOLLOWING_ERROR:
        limit = float(c.gains[which, ERROR_LIMIT])
        text = f"{motors[which].name} is more than {limit:.4g} rad ({np.degrees(limit):.3g}°) behind; the robot stops."
        events.append(Event(time, "following_error", motors[which].name, text))
    if how == loop.UNSTABLE and which >= robot.n:
        text = "The equations of motion could not be solved: the step is too long for friction this steep."
        events.append(Event(time, "unstable", "", text))
    elif how == loop.UNSTABLE:
        name = robot.joint_names[which]
        text = f"{name} runs away at {state.q[which]:.4g} rad and {state.v[which]:.4g} rad/s: the loop is unstable."
        events.append(Event(time, "unstable", name, text))
    return tuple(sorted(events, key=lambda event: event.time))


def logged(
    robot: Robot,
    motion: Trajectory,
    c: Controller,
    inputs: Inputs,
    record: Record,
    events: tuple[Event, ...],
    ended: Ended,
) -> Log:
    """The samples of a run as a log."""
    samples = len(record.q) if ended[0] == loop.FINISHED else ended[1] // inputs.log_ticks + 1
    time = np.arange(samples) * inputs.log_ticks * c.tick
    wanted = motion if inputs.log_ticks == c.setpoint_ticks else motion.at_rate(1 / (inputs.log_ticks * c.tick))
    constants = np.array([m.torque_constant for m in robot.description.motor])
    tau_m = record.current[:samples] * constants
    N = robot.assembly.gear
    return Log.of(
        time,
        events,
        q=record.q[:samples],
        v=record.v[:samples],
        a=record.a[:samples],
        tau=tau_m @ N,
        tau_m=tau_m,
        current=record.current[:samples],
        q_m=record.q[:samples] @ N.T,
        q_ref=wanted.q[:samples],
        v_ref=wanted.v[:samples],
        a_ref=wanted.a[:samples],
        tau_friction=record.friction[:samples],
    )
