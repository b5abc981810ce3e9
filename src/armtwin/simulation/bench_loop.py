"""The loop of a bench: torques at given times, the step of the plant between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armtwin.maths.batch import Pair
from armtwin.maths.compiled import compiled, inlined
from armtwin.simulation.accounts import MOTORS, account, account_springs
from armtwin.simulation.loop import SWITCHING, advance, begin
from armtwin.simulation.step import along, press_springs, resist, smooth_step, switching_step

MOTOR = 0  # number of the motor's row


class BenchInputs(NamedTuple):
    """What a bench is and what drives it.

    Attributes:
        times: Times of the torques, (m,) [s].
        torque: Torques of the motor, linear between them, (m,) [N m]; a servo's are written here.
        position: Angles that a servo holds the motor on, (m,) [rad]; (0,) where torques are given.
        servo: Torque of the servo per angle and per speed of the motor, (2,).
        steps: Steps from each time to the next, (m - 1,).
        rows: Rows of the coordinates.
        M: Mass matrix, (N, N) [kg m²].
        motor: Row of the motor, (N,).
        load: Torques from outside on the coordinates, (N,) [N m].
        springs: Springs and dampers.
        friction: Friction elements.
    """

    times: Any
    torque: Any
    position: Any
    servo: Any
    steps: Any
    rows: Any
    M: Any
    motor: Any
    load: Any
    springs: Any
    friction: Any


class BenchState(NamedTuple):
    """What changes in a run: coordinates and speeds, (N,), bristles or impulses, energy, (5,)."""

    u: Any
    v: Any
    z: Any
    energy: Any


@inlined
def push_motor(every: Any, motor: Any, load: Any, now: float, tau: Any, force: Any) -> None:
    """Torques of the motor on the coordinates, and with them those from outside."""
    for j in range(len(every)):
        tau[j] = motor[j] * now
        force[j] = tau[j] + load[j]


@inlined
def hold_motor(
    rows: Any,
    place: Any,
    count: Any,
    kp: float,
    kd: float,
    wanted: float,
    u: Any,
    v: Any,
    h: float,
) -> Pair:
    """Torque by which a servo pulls the motor back over a step, and its slope with the speed."""
    w = along(rows, place, count, MOTOR, v)
    ahead = along(rows, place, count, MOTOR, u) + 0.5 * h * w
    return kp * (ahead - wanted) + kd * w, kd + 0.5 * h * kp


@compiled
def run_bench(every: Any, inputs: Any, state: Any, record: Any) -> int:
    """Run a bench; record, (m, 2, N), gets coordinates and speeds at the given times.

    `every` is an array with an entry for each coordinate: one kernel serves all benches. Returns
    the time, by its number, at which it ran away, or -1.
    """
    times, torque, position, servo, steps, combinations, M, motor, load, springs, friction = inputs
    kp, kd = servo[0], servo[1]
    held = position.shape[0] > 0
    rows, place, count = combinations
    spring_row, stiffness, damping, gap, soft, knee, rest, numerical = springs
    friction_row, curves, numbers, kind = friction
    u, v, z, energy = state
    N, elements = len(every), friction_row.shape[0]
    A, dv, tau, force = np.zeros((N, N)), np.zeros(N), np.zeros(N), np.zeros(N)
    F, D, G = np.zeros(elements), np.zeros(elements), np.zeros((elements, 2))
    level = np.ones(elements)  # a bench has no loaded gears
    twisted = np.zeros((spring_row.shape[0], 2))
    tied, tie_count = np.zeros((0, N), dtype=np.int64), np.zeros(0, dtype=np.int64)
    for j in range(N):
        record[0, 0, j], record[0, 1, j] = u[j], v[j]
    for k in range(steps.shape[0]):
        h = (times[k + 1] - times[k]) / steps[k]
        for i in range(steps[k]):
            share = (i + 0.5) / steps[k]
            now = 0.0
            if not held:
                now = (1.0 - share) * torque[k] + share * torque[k + 1]
            push_motor(every, motor, load, now, tau, force)
            begin(every, M, force, h, A, dv)
            press_springs(
                rows, place, count, spring_row, stiffness, damping, gap, soft, knee, rest,
                numerical, u, v, h, A, dv, twisted,
            )  # fmt: skip
            pull, slope = 0.0, 0.0
            if held:
                wanted = (1.0 - share) * position[k] + share * position[k + 1]
                pull, slope = hold_motor(rows, place, count, kp, kd, wanted, u, v, h)
                resist(rows, place, count, MOTOR, pull, slope, h, A, dv)
            if kind == SWITCHING:
                solved = switching_step(
                    every, every, tied, tie_count, rows, place, count,
                    friction_row, curves, numbers, level, A, v, z, h, dv, F, G,
                )  # fmt: skip
            else:
                solved = smooth_step(
                    every, every, tied, tie_count, rows, place, count,
                    friction_row, curves, numbers, level, kind, A, v, z, h, dv, F, D, G,
                )  # fmt: skip
            account(every, h, energy, v, dv, tau, load, F, D, G)
            account_springs(
                h, rows, place, count, spring_row, stiffness, damping, gap, soft, knee, rest,
                energy, u, v, dv, twisted,
            )  # fmt: skip
            if held:
                dw = along(rows, place, count, MOTOR, dv)
                w = along(rows, place, count, MOTOR, v) + 0.5 * dw
                energy[MOTORS] -= h * w * (pull + 0.5 * slope * dw)
            lost = advance(every, u, v, dv, h) if solved else 0
            if lost >= 0:
                return k
        for j in range(N):
            record[k + 1, 0, j], record[k + 1, 1, j] = u[j], v[j]
        if held:
            pull, _ = hold_motor(rows, place, count, kp, kd, position[k + 1], u, v, 0.0)
            torque[k + 1] = -pull
    return -1
