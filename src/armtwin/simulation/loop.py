"""The closed loop: sensors, servo, outputs, plant, in one kernel without Python in a tick."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armtwin.drives.friction.load import carry, load_step
from armtwin.drives.hydraulics import move_spools
from armtwin.drives.outputs import give_late
from armtwin.drives.ripple import apply_ripple
from armtwin.drives.sensors import read_late
from armtwin.maths.choice import choose, smaller
from armtwin.maths.compiled import compiled, inlined
from armtwin.mechanics.arm import place
from armtwin.mechanics.kinematics import press
from armtwin.simulation.accounts import account, account_springs, release
from armtwin.simulation.equations import add_spin, of_bodies, of_linear
from armtwin.simulation.step import (
    add_balancers,
    along,
    press_cylinders,
    press_springs,
    set_levers,
    smooth_step,
    switching_step,
)
from armtwin.simulation.ticks import (
    motor_torques,
    position_tick,
    read_lengths,
    read_rows,
    velocity_tick,
    watch,
)

FINISHED, UNSTABLE, FOLLOWING_ERROR = 0, 1, 2
SWITCHING = 3
RUNAWAY = 1e4  # speed [rad/s] beyond which a run is called unstable


class Inputs(NamedTuple):
    """What drives a run.

    Attributes:
        ref: Set-points of the drives, position, speed, acceleration, torque of the model, speed of
            the shift, (set-points, 5, drives).
        external: Torques from outside on the coordinates at the set-points, linear between them;
            or (0, N).
        wrench: Force and torque on the tool at the set-points, base axes, linear between them,
            (set-points, 6); or (0, 6). With them come torques on the coordinates, if only zeros.
        tool: Body that carries the tool.
        point: The tool point in its frame, (3,) [m].
        ticks: Number of ticks to run.
        log_ticks: Ticks between logged samples.
        slow: Speed of each friction element below which its bristles do not slide, (e,) [rad/s].
        substeps: Steps in a tick while an element is that slow.
    """

    ref: Any
    external: Any
    wrench: Any
    tool: int
    point: Any
    ticks: int
    log_ticks: int
    slow: Any
    substeps: int


class State(NamedTuple):
    """What changes in a run; the caller makes it and finds the end state in it.

    Attributes:
        u: Coordinates, (N,).
        v: Their speeds, (N,).
        z: Bristle deflections, or impulses of switching friction, (e,).
        oil: Forces of the cylinders, (c,).
        valves: Positions and speeds of their spools, (c, 2).
        servo: Loop states, (drives, 6).
        memory: Filter states, (drives, 4, 2).
        readings: Past positions and speeds of late sensors, (drives, 2, length); length 0 where
            none is late.
        commands: Past currents of late outputs, (drives, 1, length); length 0 where none is late.
        energy: Work of the motors, of outside torques, taken by friction, by dampers, by numerical
            damping, (5,) [J].
        saturated: For each drive the longest stay at the current limit and when it began,
            (drives, 2) [s].
        carried: Loads that friction elements follow, (l,) [N m].
    """

    u: Any
    v: Any
    z: Any
    oil: Any
    valves: Any
    servo: Any
    memory: Any
    readings: Any
    commands: Any
    energy: Any
    saturated: Any
    carried: Any


class Record(NamedTuple):
    """Logged samples, (samples, N) or (samples, drives).

    The trace has the coordinates at each tick of the position loop. Accelerations and friction are
    the means of the tick that begins with the sample.
    """

    u: Any
    v: Any
    a: Any
    current: Any
    friction: Any
    trace: Any


@inlined
def push(every: Any, external: Any, k: int, within: int, setpoint_ticks: int, outside: Any) -> None:
    """Torques from outside in the middle of a tick, `within` ticks from set-point k to the next."""
    last = external.shape[0] - 1
    a, b = smaller(k, last), smaller(k + 1, last)
    share = (within + 0.5) / setpoint_ticks
    for j in range(len(every)):
        outside[j] = (1 - share) * external[a, j] + share * external[b, j]


@compiled
def push_tool(
    size: Any,
    parent: Any,
    slides: Any,
    turn: Any,
    offset: Any,
    axis: Any,
    R: Any,
    P: Any,
    tool: int,
    point: Any,
    wrench: Any,
    k: int,
    within: int,
    setpoint_ticks: int,
    u: Any,
    outside: Any,
) -> None:
    """Add the torques of a force on the tool where it is, in the middle of a tick as `push`."""
    last = wrench.shape[0] - 1
    a, b = smaller(k, last), smaller(k + 1, last)
    share = (within + 0.5) / setpoint_ticks
    force = between(wrench, a, b, share, 0)
    torque = between(wrench, a, b, share, 3)
    place(size, slides, turn, offset, u, R, P)
    press(parent, slides, axis, R, P, tool, point, force, torque, outside)


@inlined
def between(values: Any, a: int, b: int, share: float, first: int) -> tuple[Any, Any, Any]:
    """Three columns of values a share of the way from row a to row b."""
    return (
        (1 - share) * values[a, first] + share * values[b, first],
        (1 - share) * values[a, first + 1] + share * values[b, first + 1],
        (1 - share) * values[a, first + 2] + share * values[b, first + 2],
    )


@inlined
def look_ahead(every: Any, u: Any, v: Any, before: Any, h: float, u_mid: Any, v_mid: Any) -> None:
    """State half a step ahead, by the speed now and the speed a step before."""
    for j in range(len(every)):
        u_mid[j] = u[j] + 0.5 * h * v[j]
        v_mid[j] = 1.5 * v[j] - 0.5 * before[j]


@inlined
def net(every: Any, tau: Any, outside: Any, bias: Any, force: Any) -> None:
    """Torque left for acceleration and for what resists."""
    for j in range(len(every)):
        force[j] = tau[j] + outside[j] - bias[j]


@inlined
def begin(every: Any, M: Any, force: Any, h: float, A: Any, dv: Any) -> None:
    """Equations of a step without what resists: A = M (lower triangle), dv = h force."""
    for i in range(len(every)):
        dv[i] = h * force[i]
        for j in range(i + 1):
            A[i, j] = M[i, j]


@inlined
def keep(every: Any, v: Any, before: Any) -> None:
    """Remember the speeds of this tick."""
    for j in range(len(every)):
        before[j] = v[j]


@inlined
def _trace(every: Any, u: Any, trace: Any, row: int) -> None:
    """Keep the coordinates of a tick of the position loop."""
    for j in range(len(every)):
        trace[row, j] = u[j]


@inlined
def advance(every: Any, u: Any, v: Any, dv: Any, h: float) -> int:
    """Take the step; returns a coordinate that runs away (or is not a number), or -1."""
    lost = -1
    for j in range(len(every)):
        u[j] += h * (v[j] + 0.5 * dv[j])
        v[j] += dv[j]
        lost = choose(abs(v[j]) < RUNAWAY, lost, j)
    return lost


@inlined
def steps_in_tick(
    rows: Any, place: Any, count: Any, friction_row: Any, slow: Any, v: Any, substeps: int
) -> int:
    """Steps to take in a tick: several before sliding of an element, one while all slide."""
    steps = 1
    for e in range(friction_row.shape[0]):
        sticks = abs(along(rows, place, count, friction_row[e], v)) < slow[e]
        steps = choose(sticks, substeps, steps)
    return steps


@compiled
def write(record: Any, row: int, u: Any, v: Any, current: Any) -> None:
    """Log coordinates, speeds and currents at the start of a tick."""
    for j in range(u.shape[0]):
        record.u[row, j], record.v[row, j] = u[j], v[j]
    for m in range(current.shape[0]):
        record.current[row, m] = current[m]


@inlined
def means(
    every: Any,
    rows: Any,
    friction_row: Any,
    v: Any,
    before: Any,
    F: Any,
    h: float,
    acceleration: Any,
    resistance: Any,
) -> None:
    """Mean accelerations and friction of a tick, on the coordinates."""
    for j in range(len(every)):
        acceleration[j] = (v[j] - before[j]) / h
        resistance[j] = 0.0
        for e in range(friction_row.shape[0]):
            resistance[j] += rows[friction_row[e], j] * F[e]


@compiled
def write_means(record: Any, row: int, acceleration: Any, resistance: Any) -> None:
    """Log the means of the tick that began with the sample."""
    for j in range(acceleration.shape[0]):
        record.a[row, j], record.friction[row, j] = acceleration[j], resistance[j]


@compiled
def run(  # noqa: C901  one loop, and a branch for each family of parts that may be empty
    size: Any,
    every: Any,
    arm: Any,
    path: Any,
    plant: Any,
    c: Any,
    inputs: Any,
    state: Any,
    record: Any,
    switching: Any,
) -> Any:
    """Run the bodies of `arm`, or the linear model `path` where it is not None.

    len(size) is the number of bodies, len(every) that of the coordinates: tuples make them known to
    the compiler. `switching` is empty but for switching friction, whose step is compiled only then;
    so is a linear model. Returns how, when and where it ended.
    """
    # unpacked once: reading a field of a dataclass in a tick costs more than the physics
    parent, slides, turn, offset, axis, inertia, gravity = arm
    (
        combinations,
        levers,
        rotors,
        friction,
        springs,
        ripples,
        balancers,
        cylinders,
        sensors,
        outputs,
        ties,
        loads,
    ) = plant
    weights, place, count = combinations
    tied, tie_count = ties
    lever_row, lever_table = levers
    rotor_inertia, spin_body, _, _ = rotors
    friction_row, curves, numbers, kind = friction
    spring_row, stiffness, damping, gap, soft, knee, rest, numerical = springs
    ripple_spring, ripple_motor, cycles, amplitude, phase = ripples
    balancer_row, balancer_table = balancers
    cylinder_row, cylinder_drive, compliance, leakage, flow, spool = cylinders
    sensor_row, speed_row, scale, zero, sensor_quantum, speed_quantum, sensor_delay = sensors
    output_row, per_current, per_ampere, limit, current_quantum, output_delay = outputs
    gains, filters, lateness, h, position_ticks, setpoint_ticks, given, _, _ = c
    ref, external, wrench, tool, point, ticks, log_ticks, slow, substeps = inputs
    loaded, load_drive, load_ratio, load_inertia, load_least, load_share, beside = loads
    u, v, z, oil, valves, servo, memory, readings, commands, energy, saturated, carried = state
    trace = record.trace
    times = (h, position_ticks, setpoint_ticks, given)
    n, N, elements, m = len(size), len(every), friction_row.shape[0], sensor_row.shape[0]
    R, P, Ic, L = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 10)), np.zeros((n, n))
    w, al, ac, f, t = P.copy(), P.copy(), P.copy(), P.copy(), P.copy()
    M, A, none = np.zeros((N, N)), np.zeros((N, N)), np.zeros(N)
    bias, force, u_mid, v_mid = none.copy(), none.copy(), none.copy(), none.copy()
    dv, before, tau, outside = none.copy(), v.copy(), none.copy(), none.copy()
    acceleration, resistance = none.copy(), none.copy()
    F, D, G = np.zeros(elements), np.zeros(elements), np.zeros((elements, 2))
    level, load = np.ones(elements), carried.copy()
    loaded_level = load_least + load_share * np.abs(carried)
    for e in range(loaded.shape[0]):
        level[loaded[e]] = loaded_level[e]
    twisted, Q = np.zeros((spring_row.shape[0], 2)), np.zeros(cylinder_row.shape[0])
    position, speed, current, since = np.zeros(m), np.zeros(m), np.zeros(m), np.full(m, -1.0)
    rows, slack = weights.copy(), rest.copy()
    late_readings, late_commands = readings.shape[2], commands.shape[2]
    k, within, late, watching = 0, 0, -1, False  # set-point, and ticks since it
    for tick in range(ticks):
        if within == setpoint_ticks:
            k, within = k + 1, 0
        turn_of_position = within % position_ticks == 0
        if lever_row.shape[0] > 0:
            set_levers(weights, place, count, lever_row, lever_table, u, rows)
        read_rows(every, rows, speed_row, v, speed)
        if turn_of_position or late_readings > 0:
            read_rows(every, weights, sensor_row, u, position)
            if lever_row.shape[0] > 0:
                read_lengths(sensor_row, lever_row, lever_table, position)
        if late_readings > 0:
            read_late(sensor_delay, readings, tick % late_readings, position, speed)
        if turn_of_position:
            _trace(every, u, trace, tick // position_ticks)
            late = position_tick(
                gains, lateness, times, scale, zero, sensor_quantum, ref, servo, position, k, within
            )
        limited = velocity_tick(
            gains,
            filters,
            scale,
            speed_quantum,
            per_current,
            limit,
            current_quantum,
            servo,
            memory,
            speed,
            current,
        )
        if limited or watching:
            watch(servo, saturated, since, tick * h, h)
            watching = limited
        if late_commands > 0:
            give_late(output_delay, commands, tick % late_commands, current)
        motor_torques(every, rows, output_row, per_ampere, current, tau)
        if cylinder_row.shape[0] > 0:
            move_spools(cylinder_drive, flow, spool, current, valves, Q)
        if external.shape[0] > 0:
            push(every, external, k, within, setpoint_ticks, outside)
        look_ahead(every, u, v, before, h, u_mid, v_mid)
        if wrench.shape[0] > 0:
            push_tool(
                size, parent, slides, turn, offset, axis, R, P, tool, point, wrench,
                k, within, setpoint_ticks, u_mid, outside,
            )  # fmt: skip
        within += 1
        if lever_row.shape[0] > 0:
            set_levers(weights, place, count, lever_row, lever_table, u_mid, rows)
        if path is None:
            of_bodies(
                size, every, parent, slides, turn, offset, axis, inertia, gravity, rotor_inertia,
                R, P, w, al, ac, f, t, Ic, L, none, u_mid, v_mid, M, bias,
            )  # fmt: skip
            if spin_body.shape[0] > 0:
                add_spin(parent, slides, axis, rotors, R, P, w, al, f, t, none, v_mid, M, bias)
            add_balancers(rows, place, count, balancer_row, balancer_table, u_mid, bias)
        else:
            step, path_curves, M0, D0, K0 = path
            of_linear(every, step, path_curves, M0, D0, K0, (tick + 0.5) * h, u_mid, v_mid, M, bias)
        net(every, tau, outside, bias, force)
        logging = tick % log_ticks == 0
        if logging:
            write(record, tick // log_ticks, u, v, current)
        steps, lost = steps_in_tick(rows, place, count, friction_row, slow, v, substeps), -1
        dt = h / steps
        keep(every, v, before)
        for _ in range(steps):
            begin(every, M, force, dt, A, dv)
            if ripple_spring.shape[0] > 0:
                apply_ripple(
                    weights, place, count, spring_row, rest,
                    ripple_spring, ripple_motor, cycles, amplitude, phase, u, v, dt, rows, slack,
                )  # fmt: skip
            if spring_row.shape[0] > 0:
                press_springs(
                    rows,
                    place,
                    count,
                    spring_row,
                    stiffness,
                    damping,
                    gap,
                    soft,
                    knee,
                    slack,
                    numerical,
                    u,
                    v,
                    dt,
                    A,
                    dv,
                    twisted,
                )
            if cylinder_row.shape[0] > 0:
                press_cylinders(
                    rows, place, count, cylinder_row, compliance, leakage, oil, Q, v, dt, A, dv
                )
            if len(switching) > 0:
                solved = switching_step(
                    size, every, tied, tie_count, rows, place, count,
                    friction_row, curves, numbers, level, A, v, z, dt, dv, F, G,
                )  # fmt: skip
            else:
                solved = smooth_step(
                    size, every, tied, tie_count, rows, place, count,
                    friction_row, curves, numbers, level, kind, A, v, z, dt, dv, F, D, G,
                )  # fmt: skip
            account(every, dt, energy, v, dv, tau, outside, F, D, G)
            if spring_row.shape[0] > 0:
                account_springs(
                    dt,
                    rows,
                    place,
                    count,
                    spring_row,
                    stiffness,
                    damping,
                    gap,
                    soft,
                    knee,
                    slack,
                    energy,
                    u,
                    v,
                    dv,
                    twisted,
                )
            if cylinder_row.shape[0] > 0:
                release(
                    dt, rows, place, count, cylinder_row, compliance, leakage, energy, oil, Q, v, dv
                )
            lost = max(lost, advance(every, u, v, dv, dt) if solved else N)
        if lost >= 0:
            return UNSTABLE, tick, lost
        if loaded.shape[0] > 0:
            load_step(
                loaded, load_drive, load_ratio, load_inertia, beside, per_ampere, current, dt,
                F, D, G, load,
            )  # fmt: skip
            carry(load_least, load_share, load, carried, loaded_level)
            for e in range(loaded.shape[0]):
                level[loaded[e]] = loaded_level[e]
        if logging:
            means(every, rows, friction_row, v, before, F, h, acceleration, resistance)
            write_means(record, tick // log_ticks, acceleration, resistance)
        if late >= 0:
            return FOLLOWING_ERROR, tick, late
    return FINISHED, ticks, -1
