"""Simulations of a stretch of a run with one effect taken out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from armtwin.control.controller import (
    Controller,
    fed_forward_acceleration,
    speed_surplus,
    with_matched_speed,
)
from armtwin.maths.batch import Floats
from armtwin.motion.trajectory import Trajectory
from armtwin.prediction.path_error import path_error
from armtwin.prediction.predict import Prediction
from armtwin.prediction.verdict import Direction
from armtwin.robot.robot import Robot
from armtwin.simulation.closed_loop import made_ready
from armtwin.simulation.coordinates import coordinates
from armtwin.simulation.model import Model
from armtwin.simulation.outcome import Run
from armtwin.simulation.plant import (
    Plant,
    without_backlash,
    without_elasticity,
    without_friction,
    without_limit,
    without_ripple,
)
from armtwin.simulation.prepared import PreparedRun, controller_of

RECENT = 0.5  # a reversal explains what happens within this time after it [s]


@dataclass(frozen=True, eq=False)
class Effect:
    """A change of the simulation that takes one effect away.

    Attributes:
        cause: Its name.
        joint: Where it sits.
        ready: Makes a run of a stretch of the motion without it ready.
    """

    cause: str
    joint: str
    ready: Callable[[], PreparedRun]


class Stretch:
    """A stretch of a prediction's motion that is simulated again and again."""

    def __init__(self, p: Prediction, rows: slice, direction: Direction, times: Floats) -> None:
        motion = p.motion.trajectory
        self.prediction, self.direction, self.times = p, direction, times
        self.model = p.job.description.model
        self.begins = rows.start / motion.rate
        self.motion = Trajectory(motion.rate, motion.q[rows], motion.v[rows], motion.a[rows])
        self.outside = p.outside.rows(rows)
        self.torques = _missing_torques(p.robot, self.model, self.motion)

    def ready(
        self,
        model: Model | None = None,
        torque: Floats | None = None,
        servo: Controller | None = None,
        change: Callable[[Plant], Plant] | None = None,
        forced: bool = True,
    ) -> PreparedRun:
        """A run of the stretch, ready to be simulated."""
        outside = self.outside if forced else self.outside.stilled()
        acting = outside.with_torque(torque)
        return made_ready(
            self.prediction.robot,
            self.motion,
            model or self.model,
            torque=acting.torque,
            wrench=acting.wrench,
            servo=servo,
            change=change,
        )

    def error(self, run: Run) -> Floats:
        """Path error of a run at the times of the span, in its direction."""
        at = self.times - self.begins
        q = np.stack([np.interp(at, run.trace_time, x) for x in run.bodies.T], axis=1)
        X = run.built.forward_kinematics(q)
        found = path_error(self.prediction.job.seam, self.times, X)
        return np.asarray(getattr(found, self.direction))


def _missing_torques(robot: Robot, model: Model, motion: Trajectory) -> dict[str, Floats]:
    """Joint torques that the motion needs and no feed-forward gives, (m, n), by cause.

    inertia    Nᵀ (diag M_m - k_af) N a,   M_m = N⁻ᵀ M N⁻¹ what each motor feels
        coupling   the rest of M a, and C v
        gravity    g(q) - g(q at the start), which the integrator must follow
    """
    q, v, a = motion.q, motion.v, motion.a
    gravity = robot.gravity(q)
    N = robot.assembly.motor_rows
    own = (a @ N.T * robot.motor_inertia(q)) @ N
    whole = robot.inverse_dynamics(q, v, a) - gravity
    gains = fed_forward_acceleration(controller_of(robot, model))
    given = (a @ N.T * gains) @ N
    return {"inertia": own - given, "coupling": whole - own, "gravity": gravity - gravity[0]}


def torque_effect(stretch: Stretch, cause: str, joint: int | None) -> Effect:
    """The torque that is missing, given from outside: in one joint, or in all."""
    torque = stretch.torques[cause]
    if joint is not None:
        torque = torque * np.eye(torque.shape[1])[joint]
    name = "" if joint is None else stretch.prediction.robot.joint_names[joint]
    return Effect(cause, name, lambda: stretch.ready(torque=torque))


def single_effects(stretch: Stretch) -> Iterator[Effect]:
    """Friction elements, springs, play and ripple one by one, quantisation, current limits."""
    model = stretch.model
    if model.friction != "off":
        yield from _friction_effects(stretch)
    yield from _arm_effects(stretch)
    yield from _speed_effects(stretch)
    if model.quantise:
        exact = replace(model, quantise=False)
        yield Effect("quantisation", "", partial(stretch.ready, exact))
    motors = stretch.prediction.robot.description.motor
    for m in _limited(stretch):
        yield Effect("torque limit", motors[m].name, _changed(stretch, partial(without_limit, m)))


def _arm_effects(stretch: Stretch) -> Iterator[Effect]:
    """Elasticity, backlash and ripple gear by gear, deviations of the arm, process forces."""
    model, places = stretch.model, coordinates(stretch.prediction.robot, stretch.model)
    rippling = {gear.compliance for gear in places.rippling}
    for e, compliance in enumerate(places.elastic):
        stiff = _changed(stretch, partial(without_elasticity, e))
        yield Effect("elasticity", compliance.name, stiff)
        if compliance.spring.backlash > 0:
            yield Effect(
                "backlash", compliance.name, _changed(stretch, partial(without_backlash, e))
            )
        if e in rippling:
            yield Effect("ripple", compliance.name, _changed(stretch, partial(without_ripple, e)))
    if None in rippling:
        even = replace(model, ripple=False)
        yield Effect("ripple", "rigid gears", partial(stretch.ready, even))
    if model.deviations:
        exact = replace(model, deviations=False)
        yield Effect("deviation", "", partial(stretch.ready, exact))
    if stretch.outside.wrench is not None or stretch.outside.torque is not None:
        yield Effect("process force", "", partial(stretch.ready, forced=False))


def _friction_effects(stretch: Stretch) -> Iterator[Effect]:
    """Each friction element taken out."""
    for e, (element, row) in enumerate(stretch.prediction.robot.assembly.friction):
        kind = "friction reversal" if _reverses(stretch, row.weights) else "friction"
        name = element.on if isinstance(element.on, str) else element.name
        yield Effect(kind, name, _changed(stretch, partial(without_friction, [e])))


def all_friction(stretch: Stretch) -> Effect:
    """Friction of all joints together."""
    every = range(len(stretch.prediction.robot.assembly.friction))
    return Effect("friction", "all joints", _changed(stretch, partial(without_friction, every)))


def _changed(stretch: Stretch, change: Callable[[Plant], Plant]) -> Callable[[], PreparedRun]:
    """The stretch with another plant; its structure is the same, so nothing is compiled for it."""
    return partial(stretch.ready, change=change)


def _speed_effects(stretch: Stretch) -> Iterator[Effect]:
    """Speed feed-forward beyond what the velocity feedback takes back, k_vf - k_v, by motor."""
    p, model = stretch.prediction, stretch.model
    d = p.robot.description
    c = controller_of(p.robot, model)
    for m in np.flatnonzero(speed_surplus(c)):
        matched = with_matched_speed(c, int(m))
        yield Effect("speed feed-forward", d.motor[m].name, partial(stretch.ready, servo=matched))


def _reverses(stretch: Stretch, row: Floats) -> bool:
    """Whether the speed of a row changes its sign during the span or shortly before."""
    time = stretch.motion.time + stretch.begins
    recent = (time >= stretch.times[0] - RECENT) & (time <= stretch.times[-1])
    speed = (stretch.motion.v @ row)[recent]
    fastest = float(np.abs(speed).max(initial=0.0))
    moving = speed[np.abs(speed) > 1e-6 * max(fastest, 1e-9)]
    return bool((np.diff(np.sign(moving)) != 0).any())


def _limited(stretch: Stretch) -> Iterator[int]:
    """Numbers of the motors whose current is at its limit during the span or shortly before."""
    log = stretch.prediction.log
    rows = (log.time >= stretch.times[0] - RECENT) & (log.time <= stretch.times[-1])
    motors = stretch.prediction.robot.description.motor
    for m, (motor, current) in enumerate(zip(motors, log.current.T, strict=True)):
        if motor.current_limit is None:
            continue
        quantum = motor.current_quantum or 0.0
        reached = motor.current_limit - 1.01 * quantum - 1e-9
        if (np.abs(current[rows]) >= reached).any():
            yield m
