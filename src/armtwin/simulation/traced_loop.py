"""The closed loop around traced stages: ticks and steps, in one kernel for each structure."""

from __future__ import annotations

import hashlib
from threading import Lock
from types import FunctionType
from typing import Any

import numpy as np

from armtwin.drives.outputs import give_late
from armtwin.drives.sensors import read_late
from armtwin.maths.compiled import compiled
from armtwin.maths.machine_code import Memory, stretch_kernel
from armtwin.simulation.equations import of_linear
from armtwin.simulation.loop import (
    FINISHED,
    FOLLOWING_ERROR,
    UNSTABLE,
    _net,
    _push,
    _write,
    _write_means,
    keep,
    look_ahead,
)
from armtwin.simulation.ticks import watch
from armtwin.simulation.traced import STAGES, Traced, Tracer


def drive(
    every: Any,
    memories: Any,
    slots: Any,
    views: Any,
    linear: int,
    path: Any,
    counts: Any,
    delays: Any,
    rows: Any,
    external: Any,
    late_state: Any,
    record: Any,
) -> Any:
    """Run the loop; the stages are put in by name for each structure."""
    x = memories[0]
    u, v, before, tau, outside, bias, force, M, position, speed, current, servo, F = views
    step, path_curves, M0, D0, K0 = path
    ticks, log_ticks, position_ticks, setpoint_ticks, h = counts
    sensor_delay, output_delay = delays
    weights, friction_row = rows
    readings, commands, saturated = late_state
    K, WITHIN, DT, LATE, LIMITED, STEPS, GONE = slots
    trace = record.trace
    m, N = position.shape[0], u.shape[0]
    start = (0, 0, 0, 0)
    u_mid, v_mid, since = np.zeros(N), np.zeros(N), np.full(m, -1.0)
    late_readings, late_commands = readings.shape[2], commands.shape[2]
    k, within, late, watching = 0, 0, -1, False
    before_stage(memories, start)
    for tick in range(ticks):
        if within == setpoint_ticks:
            k, within = k + 1, 0
        turn_of_position = within % position_ticks == 0
        speeds_stage(memories, start)
        if turn_of_position or late_readings > 0:
            positions_stage(memories, start)
        if late_readings > 0:
            read_late(sensor_delay, readings, tick % late_readings, position, speed)
        if turn_of_position:
            for j in range(N):
                trace[tick // position_ticks, j] = u[j]
            x[K] = k
            x[WITHIN] = within
            position_loops_stage(memories, start)
            late = int(x[LATE])
        velocity_loops_stage(memories, start)
        limited = x[LIMITED] != 0.0
        if limited or watching:
            watch(servo, saturated, since, tick * h, h)
            watching = limited
        if late_commands > 0:
            give_late(output_delay, commands, tick % late_commands, current)
        torques_stage(memories, start)
        if external.shape[0] > 0:
            _push(every, external, k, (within + 0.5) / setpoint_ticks, outside)
        within += 1
        if linear == 1:
            look_ahead(every, u, v, before, h, u_mid, v_mid)
            of_linear(every, step, path_curves, M0, D0, K0, (tick + 0.5) * h, u_mid, v_mid, M, bias)
            _net(every, tau, outside, bias, force)
        else:
            equations_stage(memories, start)
        logging = tick % log_ticks == 0
        if logging:
            _write(record, tick // log_ticks, u, v, current)
        steps_stage(memories, start)
        steps = int(x[STEPS])
        lost = -1
        x[DT] = h / steps
        keep(every, v, before)
        before_steps_stage(memories, start)
        for _ in range(steps):
            one_step_stage(memories, start)
            lost = max(lost, int(x[GONE]))
        if lost >= 0:
            return UNSTABLE, tick, lost
        if logging:
            _write_means(record, tick // log_ticks, weights, friction_row, v, before, F, h)
        if late >= 0:
            return FOLLOWING_ERROR, tick, late
    return FINISHED, ticks, -1


def _no_stage(memories: Any, start: Any) -> None:
    raise NotImplementedError


before_stage = speeds_stage = positions_stage = position_loops_stage = _no_stage
velocity_loops_stage = torques_stage = equations_stage = steps_stage = _no_stage
before_steps_stage = one_step_stage = _no_stage

VIEWS = (
    "u", "v", "before", "tau", "outside", "bias", "force", "M", "position", "speed", "current",
    "servo", "F",
)  # fmt: skip
SLOTS = ("k", "within", "dt", "late", "limited", "steps", "gone")
