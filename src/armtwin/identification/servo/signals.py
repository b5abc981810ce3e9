"""What a servo is fitted to: reference, error and torque of every drive at an even, low rate.

Errors of a servo are slow beside the rate of a log, so signals are smoothed without delay and
thinned. The same filter on reference and measurement leaves a linear law between them unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.completion.sizes import felt_inertias
from armtwin.identification.resampling import at_times, step_of
from armtwin.logs.log import Log
from armtwin.logs.reference_plausibility import JUMPS, choose_derivative
from armtwin.maths.batch import Flags, Floats, Integers
from armtwin.maths.smoothing import low_pass
from armtwin.robot.dynamics.feedforward import feedforward_torque
from armtwin.robot.robot import Robot

PARTS = 5  # of each log, left out in turn
LEAST_MOTION = 0.005  # share of a log's motion in each of its parts
EVEN = 0.2  # of the mean motion that time counts as where parts are not even in time
MOST_RATE = 125.0  # of the thinned signals [Hz]
ROUNDED = 1e-3  # of a step by which the last time may be short of even ones by its rounding
CUTOFF = 12.0  # of the smoothing [Hz]; position loops of arms end below
COARSE_CUTOFF = 6.0  # of the smoothing where positions come in coarse steps [Hz]
COARSE = 0.05  # step over the usual change in a sample that makes positions coarse
LEAST_RATE = 3.0  # samples in a period of the cut-off, below which nothing is smoothed
OTHER_UNIT = 5.0  # times the model's torque, from which on a logged one has another unit
INERTIA_POSES = 50  # at which the inertia that a motor feels is averaged

Smoothing = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Signals:
    """One log, drive by drive, on the motor side; (m, drives) where nothing else is said.

    Attributes:
        name: Name of the log.
        rate: Samples in a second [Hz].
        sample: Time between samples of the log itself [s].
        time: Times from the first sample, (m,) [s].
        q: Reference positions.
        v: Reference speeds.
        a: Reference accelerations.
        error: Reference minus measured position.
        raw: Reference minus measured position as logged, joint by joint, (m, n) [rad].
        twist: Motor minus link encoder; NaN where there is no link encoder.
        load: Torque of the rigid body without friction.
        model: The model's torque, friction included.
        logged: The torque that was fed forward, as logged, in the model's unit; None where it was
            not.
        inertia: Inertia that each motor feels, (drives,) [kg m²].
        cutoff: Of the smoothing; None where there was none [Hz].
    """

    name: str
    rate: float
    sample: float
    time: Floats
    q: Floats
    v: Floats
    a: Floats
    error: Floats
    raw: Floats
    twist: Floats
    load: Floats
    model: Floats
    logged: Floats | None
    inertia: Floats
    cutoff: float | None

    def torque(self, feedforward: str) -> Floats:
        """The torque from a source, "logged" or "model"."""
        return self.logged if feedforward == "logged" and self.logged is not None else self.model

    @cached_property
    def parts(self) -> Integers:
        """The part of the log to which each sample belongs, from 0 to PARTS - 1, (m,).

        Parts are even in time; in a log that moves for a second and is then at rest, in motion.
        """
        count = len(self.time)
        even = np.arange(count) * PARTS // count
        fastest = np.maximum(np.abs(self.v).max(axis=0), 1e-12)
        motion = np.abs(self.v / fastest).mean(axis=1) + 1e-12
        of_parts = np.bincount(even, motion, PARTS) / motion.sum()
        if of_parts.min() >= LEAST_MOTION:
            return even
        done = np.cumsum(motion + EVEN * motion.mean())
        return np.minimum((PARTS * done / done[-1]).astype(np.int64), PARTS - 1)

    def rows(self, some: Flags) -> Signals:
        """Some of the samples."""
        changes: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, np.ndarray) and f.name != "inertia":
                changes[f.name] = value[some]
        return replace(self, **changes)


def extract_signals(robot: Robot, log: Log, name: str) -> Signals:
    """The signals of a log, for the robot as it was when logged."""
    from scipy.interpolate import CubicSpline

    gear = robot.assembly.motor_rows
    time, rate = _even_times(log)
    inverse = robot.assembly.motor_inverse
    cutoff = COARSE_CUTOFF if _is_coarse(log.q_ref) else CUTOFF
    smooth = partial(_smooth, log, time=time, rate=rate, cutoff=cutoff)
    q_ref, q = smooth(log.q_ref), smooth(log.q)
    v = CubicSpline(time, q_ref)(time, 1)
    if "v_ref" in log:
        v = choose_derivative(smooth(log.v_ref), v, JUMPS)
    a = CubicSpline(time, v)(time, 1)
    load = robot.inverse_dynamics(q_ref, v, a) @ inverse
    model = feedforward_torque(robot, None, q_ref, v, a)
    return Signals(
        name=name,
        rate=rate,
        sample=step_of(log.time),
        time=time - time[0],
        q=q_ref @ gear.T,
        v=v @ gear.T,
        a=a @ gear.T,
        error=(q_ref - q) @ gear.T,
        raw=at_times(time, log.time, log.q_ref - log.q),
        twist=_twist(log, q, gear, smooth),
        load=load,
        model=model,
        logged=_in_newton_metres(_read_torque(robot, log, smooth), model),
        inertia=felt_inertias(robot, q_ref[:: max(1, len(q_ref) // INERTIA_POSES)]),
        cutoff=cutoff if _is_smoothed(log, cutoff) else None,
    )


def _even_times(log: Log) -> tuple[Floats, float]:
    """Even times within the log at a rate that is enough for a servo, and the rate [Hz]."""
    step = step_of(log.time)
    step *= max(1, round(1 / (step * MOST_RATE)))
    count = int((log.time[-1] - log.time[0]) / step + ROUNDED) + 1
    return log.time[0] + step * np.arange(count), 1 / step


def _is_coarse(q: Floats) -> bool:
    """Whether positions come in steps that a joint takes few of in a sample."""
    steps = np.abs(np.diff(q, axis=0))
    taken = steps[steps > 1e-12]
    if not len(taken):
        return False
    return bool(np.quantile(taken, 0.001) > COARSE * np.median(taken))


def _smooth(log: Log, values: Floats, *, time: Floats, rate: float, cutoff: float) -> Floats:
    """Values (m, k) without what is faster than a servo, at other times."""
    own = 1 / step_of(log.time)
    even = log.time[0] + np.arange(len(time) * max(1, round(own / rate))) / own
    dense = at_times(even, log.time, values)
    if _is_smoothed(log, cutoff):
        dense = low_pass(dense, own, cutoff)
    return at_times(time, even, dense)


def _is_smoothed(log: Log, cutoff: float) -> bool:
    return 1 / step_of(log.time) > LEAST_RATE * cutoff


def _twist(log: Log, q: Floats, gear: Floats, smooth: Smoothing) -> Floats:
    """Motor minus link encoder of every drive; NaN where a joint has no link encoder."""
    twist = np.full(q.shape, np.nan)
    if "q_link" in log:
        seen = min(log.q_link.shape[1], q.shape[1])  # the first joints of the arm
        twist[:, :seen] = q[:, :seen] - smooth(log.q_link[:, :seen])
    of_drives = np.full((len(q), len(gear)), np.nan)
    for k, row in enumerate(gear):
        used = row != 0
        of_drives[:, k] = twist[:, used] @ row[used]
    return of_drives


def _read_torque(robot: Robot, log: Log, smooth: Smoothing) -> Floats | None:
    """The fed-forward torque of every motor, where a column has it."""
    drives = len(robot.assembly.motor_rows)
    for channel, turn in (("tau_m_ff", None), ("tau_ff", robot.assembly.motor_inverse)):
        if channel not in log:
            continue
        values = log.channels[channel]
        if values.shape[1] != drives:
            contract = f"must have {drives} columns, one for each motor or joint"
            raise ArmtwinError(f"channel '{channel}' {contract}, got {values.shape[1]}")
        torque = smooth(values)
        return torque if turn is None else torque @ turn
    return None


def _in_newton_metres(logged: Floats | None, model: Floats) -> Floats | None:
    """A logged torque in the unit of the model's: one that is far from it has another unit."""
    if logged is None:
        return None
    sizes = logged.std(axis=0), model.std(axis=0)
    seen = (sizes[0] > 0) & (sizes[1] > 0)
    if not seen.any():
        return logged
    factor = float(np.exp(np.median(np.log(sizes[0][seen] / sizes[1][seen]))))
    return logged if 1 / OTHER_UNIT < factor < OTHER_UNIT else logged / factor
