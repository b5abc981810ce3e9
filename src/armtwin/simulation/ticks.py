"""The servo's part of a tick: sensors are read, loops computed, motors turned by their currents."""

from __future__ import annotations

from typing import Any

from armtwin.control.controller import (
    ERROR_LIMIT,
    SATURATED,
    position_loop,
    reference,
    velocity_loop,
)
from armtwin.drives.linkage import in_turn
from armtwin.drives.sensors import quantise
from armtwin.maths.choice import both, choose, either
from armtwin.maths.compiled import compiled, exactly, inlined


@inlined
def read_rows(every: Any, rows: Any, sensor_row: Any, x: Any, reading: Any) -> None:
    """Positions or speeds of the rows that sensors see.

    All coordinates in turn, which compiles to few instructions.
    """
    for m in range(sensor_row.shape[0]):
        total = 0.0
        for j in range(len(every)):
            total += rows[sensor_row[m], j] * x[j]
        reading[m] = total


@compiled
def read_lengths(sensor_row: Any, lever_row: Any, tables: Any, position: Any) -> None:
    """Positions of rows with levers: the length at the angle that was read."""
    for m in range(sensor_row.shape[0]):
        for k in range(lever_row.shape[0]):
            if lever_row[k] == sensor_row[m]:
                position[m], _ = in_turn(tables, k, position[m])


@inlined
def position_tick(
    gains: Any,
    lateness: Any,
    times: Any,
    scale: Any,
    zero: Any,
    quantum: Any,
    ref: Any,
    servo: Any,
    position: Any,
    k: int,
    within: int,
) -> int:
    """Position loops of all drives; returns the drive whose following error is too large, or -1.

    times are the tick, the ticks of the position loop and between set-points, and
    given_acceleration.
    """
    h, position_ticks, setpoint_ticks, given = times
    period, late = setpoint_ticks * h, -1
    for m in range(position.shape[0]):
        want = reference(ref, k, within, m, setpoint_ticks, period, lateness[m], given)
        position_wanted = scale[m] * (want[0] - zero[m])
        wanted = (position_wanted, scale[m] * want[1], scale[m] * want[2], want[3], want[4])
        reading = quantise(scale[m] * (position[m] - zero[m]), quantum[m])
        e = position_loop(gains, servo, m, reading, wanted, position_ticks * h)
        late = choose(both(abs(e) > gains[m, ERROR_LIMIT], late < 0), m, late)
    return late


@inlined
def velocity_tick(
    gains: Any,
    filters: Any,
    scale: Any,
    speed_quantum: Any,
    per_current: Any,
    limit: Any,
    quantum: Any,
    servo: Any,
    memory: Any,
    speed: Any,
    current: Any,
) -> bool:
    """Velocity loops of all drives: commanded currents; returns whether one is at its limit."""
    limited = False
    for m in range(speed.shape[0]):
        reading = quantise(scale[m] * speed[m], speed_quantum[m])
        current[m] = velocity_loop(
            gains, filters, servo, memory, m, reading, per_current[m], limit[m], quantum[m]
        )
        limited = either(limited, servo[m, SATURATED] != 0.0)
    return limited


@inlined
def motor_torques(
    every: Any, rows: Any, output_row: Any, per_ampere: Any, current: Any, tau: Any
) -> None:
    """Torques of the motors on the coordinates."""
    for j in range(len(every)):
        tau[j] = 0.0
    for m in range(output_row.shape[0]):
        torque = per_ampere[m] * current[m]
        for j in range(len(every)):
            tau[j] += rows[output_row[m], j] * torque


@exactly
def watch(servo: Any, saturated: Any, since: Any, time: float, h: float) -> None:
    """Keep the longest stay at a current limit of each drive; since is -1 while it is below."""
    for m in range(servo.shape[0]):
        if servo[m, SATURATED] == 0.0:
            since[m] = -1.0
            continue
        if since[m] < 0.0:
            since[m] = time
        if time + h - since[m] > saturated[m, 0]:
            saturated[m, 0], saturated[m, 1] = time + h - since[m], since[m]
