"""The closed loop: set-points, servo, plant, in one kernel without Python in a tick."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armtwin.control.controller import (
    ERROR_LIMIT,
    SATURATED,
    TORQUE_CONSTANT,
    interpolate,
    position_loop,
    velocity_loop,
)
from armtwin.maths.compiled import compiled, inlined
from armtwin.simulation.equations import add_spin, of_bodies, of_linear
from armtwin.simulation.step import add_struts, smooth_step, switching_step

FINISHED, UNSTABLE, FOLLOWING_ERROR = 0, 1, 2
SWITCHING = 3
RUNAWAY = 1e4  # joint speed [rad/s] beyond which a run is called unstable


class Inputs(NamedTuple):
    """What drives a run.

    Attributes:
        ref: Motor set-points, position, speed, acceleration, (set-points, 3, motors).
        external: Joint torques from outside at the set-points, linear between them, (set-points, n); or (0, n).
        ticks: Number of ticks to run.
        log_ticks: Ticks between logged samples.
        slow: Speed of each friction element below which its bristles are not yet sliding, (e,) [rad/s].
        substeps: Steps in a tick while an element is that slow.
    """

    ref: Any
    external: Any
    ticks: int
    log_ticks: int
    slow: Any
    substeps: int


class State(NamedTuple):
    """What changes in a run; the caller makes it and finds the end state in it.

    Attributes:
        q: Joint positions, (n,).
        v: Joint speeds, (n,).
        z: Bristle deflections, or impulses of switching friction, (e,).
        servo: Loop states, (motors, 5).
        memory: Filter states, (motors, 4, 2).
        energy: Work of the motors, of outside torques, and taken by friction, (3,) [J].
        saturated: For each motor the longest stay at the current limit and when it began, (motors, 2) [s].
    """

    q: Any
    v: Any
    z: Any
    servo: Any
    memory: Any
    energy: Any
    saturated: Any


class Record(NamedTuple):
    """Logged samples, (samples, n) or (samples, motors); trace has the positions at each tick of the position loop."""

    q: Any
    v: Any
    a: Any
    current: Any
    friction: Any
    trace: Any


@inlined
def _position_tick(
    size: Any, motors: Any, gains: Any, ref: Any, servo: Any, q: Any, k: int, share: float, times: Any, given: int
) -> int:
    """Position loops of all motors; returns the motor whose following error is too large, or -1.

    times are the periods of the set-points and of this loop.
    """
    late = -1
    for m in range(motors.shape[0]):
        qm = 0.0
        for j in range(len(size)):
            qm += motors[m, j] * q[j]
        wanted = interpolate(ref, k, m, share, times[0])
        if given == 1:
            wanted = (wanted[0], wanted[1], ref[min(k, ref.shape[0] - 1), 2, m])
        e = position_loop(gains, servo, m, qm, wanted, times[1])
        if abs(e) > gains[m, ERROR_LIMIT] and late < 0:
            late = m
    return late


@inlined
def _velocity_tick(
    size: Any, motors: Any, gains: Any, filters: Any, servo: Any, memory: Any, v: Any, current: Any, tau: Any
) -> bool:
    """Velocity loops of all motors: currents, and torques on the joints; returns whether one is at its limit."""
    n, limited = len(size), False
    for j in range(n):
        tau[j] = 0.0
    for m in range(motors.shape[0]):
        vm = 0.0
        for j in range(n):
            vm += motors[m, j] * v[j]
        current[m] = velocity_loop(gains, filters, servo, memory, m, vm)
        torque = gains[m, TORQUE_CONSTANT] * current[m]
        for j in range(n):
            tau[j] += motors[m, j] * torque
        limited = limited or servo[m, SATURATED] != 0.0
    return limited


@compiled
def _watch(servo: Any, saturated: Any, since: Any, time: float, h: float) -> None:
    """Keep the longest stay at a current limit of each motor; since is -1 while it is below the limit."""
    for m in range(servo.shape[0]):
        if servo[m, SATURATED] == 0.0:
            since[m] = -1.0
            continue
        if since[m] < 0.0:
            since[m] = time
        if time + h - since[m] > saturated[m, 0]:
            saturated[m, 0], saturated[m, 1] = time + h - since[m], since[m]


@compiled
def _push(size: Any, external: Any, k: int, share: float, outside: Any) -> None:
    """Joint torques from outside, a share of the way from set-point k to the next."""
    last = external.shape[0] - 1
    a, b = min(k, last), min(k + 1, last)
    for j in range(len(size)):
        outside[j] = (1 - share) * external[a, j] + share * external[b, j]


@inlined
def _account(
    size: Any, h: float, rows: Any, energy: Any, v: Any, dv: Any, tau: Any, outside: Any, F: Any, D: Any
) -> None:
    """Add the work of a step, with the speeds half way through it."""
    n = len(size)
    work, pushed, taken = 0.0, 0.0, 0.0
    for j in range(n):
        work += tau[j] * (v[j] + 0.5 * dv[j])
        pushed += outside[j] * (v[j] + 0.5 * dv[j])
    for e in range(rows.shape[0]):
        w, dw = 0.0, 0.0
        for j in range(n):
            w += rows[e, j] * v[j]
            dw += rows[e, j] * dv[j]
        taken += (F[e] + 0.5 * D[e] * dw) * (w + 0.5 * dw)
    energy[0] += h * work
    energy[1] += h * pushed
    energy[2] += h * taken


@inlined
def _look_ahead(size: Any, q: Any, v: Any, before: Any, h: float, q_mid: Any, v_mid: Any) -> None:
    """State half a step ahead, by the speed now and the speed a step before."""
    for j in range(len(size)):
        q_mid[j] = q[j] + 0.5 * h * v[j]
        v_mid[j] = 1.5 * v[j] - 0.5 * before[j]


@inlined
def _net(size: Any, tau: Any, outside: Any, bias: Any, force: Any) -> None:
    """Torque left for acceleration and friction."""
    for j in range(len(size)):
        force[j] = tau[j] + outside[j] - bias[j]


@inlined
def _keep(size: Any, v: Any, before: Any) -> None:
    """Remember the speeds of this tick."""
    for j in range(len(size)):
        before[j] = v[j]


@inlined
def _trace(size: Any, q: Any, trace: Any, row: int) -> None:
    """Keep the positions of a tick of the position loop."""
    for j in range(len(size)):
        trace[row, j] = q[j]


@inlined
def _copy_lower(size: Any, M: Any, A: Any) -> None:
    """Copy the lower triangle."""
    for i in range(len(size)):
        for j in range(i + 1):
            A[i, j] = M[i, j]


@inlined
def _advance(size: Any, q: Any, v: Any, dv: Any, h: float) -> int:
    """Take the step; returns a joint that runs away (or is not a number), or -1."""
    lost = -1
    for j in range(len(size)):
        q[j] += h * (v[j] + 0.5 * dv[j])
        v[j] += dv[j]
        if not abs(v[j]) < RUNAWAY:
            lost = j
    return lost


@inlined
def _count(size: Any, rows: Any, slow: Any, v: Any, substeps: int) -> int:
    """Steps to take in a tick: several while a bristle is bending, one while all slide."""
    count = 1
    for e in range(rows.shape[0]):
        w = 0.0
        for j in range(len(size)):
            w += rows[e, j] * v[j]
        if abs(w) < slow[e]:
            count = substeps
    return count


@compiled
def _write(record: Any, row: int, rows: Any, q: Any, v: Any, before: Any, current: Any, F: Any, h: float) -> None:
    """Log a sample at the start of a step; accelerations are those of the step before."""
    for j in range(q.shape[0]):
        record.q[row, j], record.v[row, j] = q[j], v[j]
        record.a[row, j] = (v[j] - before[j]) / h
        record.friction[row, j] = 0.0
        for e in range(rows.shape[0]):
            record.friction[row, j] += rows[e, j] * F[e]
    for m in range(current.shape[0]):
        record.current[row, m] = current[m]


@compiled
def run(size: Any, linear: int, arm: Any, path: Any, plant: Any, c: Any, inputs: Any, state: Any, record: Any) -> Any:
    """Run the bodies of `arm`, or with linear = 1 the linear model `path`; returns how, when and where it ended."""
    # unpacked once: reading a field of a noun in a tick costs more than the physics
    parent, slides, turn, offset, axis, inertia, gravity, rotors, spin_body, spin_axis, spin_row = arm
    step, path_curves, M0, D0, K0 = path
    motors, rows, curves, numbers, kind, strut_joint, strut_table = plant
    gains, filters, h, position_ticks, setpoint_ticks, given = c
    ref, external, ticks, log_ticks, slow, substeps = inputs
    q, v, z, servo, memory, energy, saturated = state
    n, elements, m, trace = len(size), rows.shape[0], motors.shape[0], record.trace
    R, P, Ic, L, none = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 10)), np.zeros((n, n)), np.zeros(n)
    w, al, ac, f, t = P.copy(), P.copy(), P.copy(), P.copy(), P.copy()
    M, A, bias, force, q_mid, v_mid = L.copy(), L.copy(), none.copy(), none.copy(), none.copy(), none.copy()
    dv, before, tau, outside = none.copy(), v.copy(), none.copy(), none.copy()
    F, D, G = np.zeros(elements), np.zeros(elements), np.zeros((elements, 3))
    current, since = np.zeros(m), np.full(m, -1.0)
    times = (setpoint_ticks * h, position_ticks * h)
    k, within, late, watching = 0, 0, -1, False  # set-point, and ticks since it
    for tick in range(ticks):
        if within == setpoint_ticks:
            k, within = k + 1, 0
        if within % position_ticks == 0:
            _trace(size, q, trace, tick // position_ticks)
            late = _position_tick(size, motors, gains, ref, servo, q, k, within / setpoint_ticks, times, given)
        limited = _velocity_tick(size, motors, gains, filters, servo, memory, v, current, tau)
        if limited or watching:
            _watch(servo, saturated, since, tick * h, h)
            watching = limited
        if external.shape[0] > 0:
            _push(size, external, k, (within + 0.5) / setpoint_ticks, outside)
        within += 1
        _look_ahead(size, q, v, before, h, q_mid, v_mid)
        if linear == 1:
            of_linear(size, step, path_curves, M0, D0, K0, (tick + 0.5) * h, q_mid, v_mid, M, bias)
        else:
            of_bodies(
                size, parent, slides, turn, offset, axis, inertia, gravity, rotors,
                R, P, w, al, ac, f, t, Ic, L, none, q_mid, v_mid, M, bias,
            )  # fmt: skip
            if spin_body.shape[0] > 0:
                add_spin(parent, slides, axis, spin_body, spin_axis, spin_row, R, P, w, al, f, t, none, v_mid, M, bias)
            add_struts(strut_joint, strut_table, q_mid, bias)
        _net(size, tau, outside, bias, force)
        if tick % log_ticks == 0:
            _write(record, tick // log_ticks, rows, q, v, before, current, F, h)
        if late >= 0:
            return FOLLOWING_ERROR, tick, late
        count, lost = _count(size, rows, slow, v, substeps), -1
        _keep(size, v, before)
        for _ in range(count):
            _copy_lower(size, M, A)
            if kind == SWITCHING:
                solved = switching_step(rows, curves, numbers, A, force, v, z, h / count, dv, F)
            else:
                solved = smooth_step(size, kind, rows, curves, numbers, A, force, v, z, h / count, dv, F, D, G)
            _account(size, h / count, rows, energy, v, dv, tau, outside, F, D)
            lost = max(lost, _advance(size, q, v, dv, h / count) if solved else n)
        if lost >= 0:
            return UNSTABLE, tick, lost
    return FINISHED, ticks, -1
