"""Simulations of a stretch of a run with one effect taken out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from armtwin.control import controller as control
from armtwin.maths.batch import Floats, NamedArrays
from armtwin.maths.interpolation import interpolate_columns
from armtwin.motion.trajectory import Trajectory
from armtwin.prediction.path_error import path_error
from armtwin.prediction.predict import Prediction
from armtwin.prediction.verdict import Direction
from armtwin.robot.kinematics.coordinates import Compliance
from armtwin.robot.robot import Robot
from armtwin.simulation import plant
from armtwin.simulation.closed_loop import prepare_run, simulate_all
from armtwin.simulation.coordinates import coordinates
from armtwin.simulation.model import Model
from armtwin.simulation.outcome import Run
from armtwin.simulation.prepared import PreparedRun, controller_of

RECENT = 0.5  # a reversal explains what happens within this time after it [s]


@dataclass(frozen=True, eq=False)
class Effect:
    """A change of the simulation that takes one effect away.

    Attributes:
        cause: Its name.
        joint: Where it sits.
        taken: What is taken out, whatever it is called: runs of one window without it are one.
        ready: Makes a run of a window without it ready.
    """

    cause: str
    joint: str
    taken: tuple[str, int | None]
    ready: Callable[[], PreparedRun]


class TimeWindow:
    """A part of a prediction's motion that is simulated again and again.

    Attributes:
        prediction: The prediction.
        model: What is simulated.
        begins: When it begins [s].
        motion: The motion in it.
        torques: Missing torques by cause, (m, n) each [N m].
    """

    def __init__(self, p: Prediction, rows: slice) -> None:
        motion = p.motion.trajectory
        self.prediction, self.model = p, p.job.description.model
        self.begins = rows.start / motion.rate
        self.motion = motion.rows(rows)
        self.outside = p.outside.rows(rows)
        self.torques = _missing_torques(p.robot, self.model, self.motion)
        self._runs: dict[tuple[str, int | None], Run] = {}

    def runs(self, effects: Sequence[Effect]) -> list[Run]:
        """The run without each effect; what was run before is not run again."""
        new = {}
        for effect in effects:
            if effect.taken not in self._runs:
                new[effect.taken] = effect
        found = simulate_all([effect.ready() for effect in new.values()])
        self._runs.update(zip(new, found, strict=True))
        return [self._runs[effect.taken] for effect in effects]

    def ready(
        self,
        model: Model | None = None,
        torque: Floats | None = None,
        servo: control.Controller | None = None,
        change: Callable[[plant.Plant], plant.Plant] | None = None,
        forced: bool = True,
    ) -> PreparedRun:
        """A run of the window, ready to be simulated.

        A changed plant has the same structure, so that nothing is compiled for it.
        """
        outside = self.outside if forced else self.outside.make_zero()
        return prepare_run(
            self.prediction.robot,
            self.motion,
            model or self.model,
            options=outside.with_torque(torque).options(servo=servo, change=change),
        )


class SimulatedStretch:
    """A span of the seam whose error is evaluated in the runs of a window.

    Attributes:
        window: The part of the motion that is simulated; its prediction, model and missing torques
            are here too.
        direction: Direction of the error.
        times: Times at which it is evaluated [s].
    """

    def __init__(self, window: TimeWindow, direction: Direction, times: Floats) -> None:
        self.window, self.direction, self.times = window, direction, times
        self.prediction, self.model, self.torques = window.prediction, window.model, window.torques

    def without(
        self, cause: str, joint: str, number: int | None = None, taken: str = "", **changes: Any
    ) -> Effect:
        """An effect that changes of a run take away: of a joint, gear or motor, or of all.

        Args:
            cause: Its name.
            joint: Where it sits.
            number: Which one it is of those that are taken out alike.
            taken: What is taken out, where it is called otherwise.
            changes: What is changed in the window's run.
        """
        return Effect(cause, joint, (taken or cause, number), partial(self.window.ready, **changes))

    def error(self, run: Run) -> Floats:
        """Path error of a run at the times of the span, in its direction."""
        at = self.times - self.window.begins
        q = interpolate_columns(at, run.trace_time, run.bodies)
        X = run.built.forward_kinematics(q)
        found = path_error(self.prediction.job.seam, self.times, X)
        return getattr(found, self.direction)


def _missing_torques(robot: Robot, model: Model, motion: Trajectory) -> NamedArrays:
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
    gains = control.acceleration_feedforward(controller_of(robot, model))
    given = (a @ N.T * gains) @ N
    return {"inertia": own - given, "coupling": whole - own, "gravity": gravity - gravity[0]}


def torque_effect(stretch: SimulatedStretch, cause: str, joint: int | None) -> Effect:
    """The torque that is missing, given from outside: in one joint, or in all."""
    torque = stretch.torques[cause]
    if joint is not None:
        torque = torque * np.eye(torque.shape[1])[joint]
    name = "" if joint is None else stretch.prediction.robot.joint_names[joint]
    return stretch.without(cause, name, joint, torque=torque)


def nothing(stretch: SimulatedStretch) -> Effect:
    """No effect: the run as it is."""
    return stretch.without("", "")


def single_effects(stretch: SimulatedStretch) -> Iterator[Effect]:
    """Friction elements, springs, backlash and ripple one by one, quantisation, current limits."""
    model = stretch.model
    if model.friction != "off":
        yield from _friction_effects(stretch)
    yield from _arm_effects(stretch)
    yield from _speed_effects(stretch)
    if model.quantise:
        yield stretch.without("quantisation", "", model=replace(model, quantise=False))
    motors = stretch.prediction.robot.description.motor
    for m in _find_saturated(stretch):
        yield stretch.without(
            "torque limit", motors[m].name, m, change=partial(plant.without_limit, m)
        )


def _arm_effects(stretch: SimulatedStretch) -> Iterator[Effect]:
    """Elasticity, backlash and ripple gear by gear, deviations of the arm, process forces."""
    model, window = stretch.model, stretch.window
    places = coordinates(stretch.prediction.robot, model)
    rippling = {gear.compliance for gear in places.rippling}
    for e, compliance in enumerate(places.elastic):
        yield from _gear_effects(stretch, e, compliance, ripples=e in rippling)
    if None in rippling:
        yield stretch.without("ripple", "rigid gears", model=replace(model, ripple=False))
    if model.deviations:
        yield stretch.without("deviation", "", model=replace(model, deviations=False))
    if window.outside.wrench is not None or window.outside.torque is not None:
        yield stretch.without("process force", "", forced=False)


def _gear_effects(
    stretch: SimulatedStretch, e: int, compliance: Compliance, *, ripples: bool
) -> Iterator[Effect]:
    """Elasticity, backlash and ripple of one gear."""
    name = compliance.name
    yield stretch.without("elasticity", name, e, change=partial(plant.without_elasticity, e))
    if compliance.spring.backlash > 0:
        yield stretch.without("backlash", name, e, change=partial(plant.without_backlash, e))
    if ripples:
        yield stretch.without("ripple", name, e, change=partial(plant.without_ripple, e))


def _friction_effects(stretch: SimulatedStretch) -> Iterator[Effect]:
    """Friction taken out, row by row: all elements of a row together."""
    friction = stretch.prediction.robot.assembly.friction
    rows: dict[tuple[bytes, str], list[int]] = {}
    for e, (_, row) in enumerate(friction):
        rows.setdefault((row.weights.tobytes(), row.side), []).append(e)
    for numbers in rows.values():
        element, row = friction[numbers[0]]
        kind = "friction reversal" if _reverses(stretch, row.weights) else "friction"
        name = element.on if isinstance(element.on, str) else element.name
        change = partial(plant.without_friction, numbers)
        yield stretch.without(kind, name, numbers[0], "friction", change=change)


def all_friction(stretch: SimulatedStretch) -> Effect:
    """Friction of all joints together."""
    every = range(len(stretch.prediction.robot.assembly.friction))
    return stretch.without("friction", "all joints", change=partial(plant.without_friction, every))


def _speed_effects(stretch: SimulatedStretch) -> Iterator[Effect]:
    """Speed feed-forward beyond what the velocity feedback takes back, k_vf - k_v, by motor."""
    p, model = stretch.prediction, stretch.model
    d = p.robot.description
    c = controller_of(p.robot, model)
    for m in np.flatnonzero(control.speed_surplus(c)):
        matched = control.with_matched_speed(c, int(m))
        yield stretch.without("speed feed-forward", d.motor[m].name, int(m), servo=matched)


def _reverses(stretch: SimulatedStretch, row: Floats) -> bool:
    """Whether the speed of a row changes its sign during the span or shortly before."""
    motion = stretch.window.motion
    time = motion.time + stretch.window.begins
    recent = (time >= stretch.times[0] - RECENT) & (time <= stretch.times[-1])
    speed = (motion.v @ row)[recent]
    fastest = float(np.abs(speed).max(initial=0.0))
    moving = speed[np.abs(speed) > 1e-6 * max(fastest, 1e-9)]
    return bool((np.diff(np.sign(moving)) != 0).any())


def _find_saturated(stretch: SimulatedStretch) -> Iterator[int]:
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
