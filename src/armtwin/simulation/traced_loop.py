"""The closed loop around traced stages: ticks and steps, one kernel for each structure."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from armtwin.drives.outputs import give_late
from armtwin.drives.sensors import read_late
from armtwin.maths.compiled import inlined, is_kept
from armtwin.maths.machine_code import staged
from armtwin.maths.memory import Memory
from armtwin.maths.stretches import Stretch
from armtwin.simulation.equations import of_linear
from armtwin.simulation.loop import (
    FINISHED,
    FOLLOWING_ERROR,
    UNSTABLE,
    keep,
    look_ahead,
    net,
    push,
    push_tool,
    write,
    write_means,
)
from armtwin.simulation.ticks import watch
from armtwin.simulation.traced import MOST_KEPT, STAGES, Structure, traced

VIEWS = (
    "u",
    "v",
    "before",
    "tau",
    "outside",
    "bias",
    "force",
    "M",
    "position",
    "speed",
    "current",
    "servo",
    "F",
)
SLOTS = ("k", "within", "dt", "late", "limited", "steps", "gone")


def drive(  # noqa: C901  one loop, and a branch for each kind of lateness and model
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
    process: Any,
    late_state: Any,
    record: Any,
) -> Any:
    """Run a loop as `loop.run` does; the stages are put in by name for each structure."""
    numbers = memories[0]
    u, v, before, tau, outside, bias, force, M, position, speed, current, servo, F = views
    step, path_curves, M0, D0, K0 = path
    ticks, log_ticks, position_ticks, setpoint_ticks, h = counts
    sensor_delay, output_delay = delays
    weights, friction_row = rows
    readings, commands, saturated = late_state
    arm, tool, point, wrench = process
    K, WITHIN, DT, LATE, LIMITED, STEPS, GONE = slots
    trace = record.trace
    m, N = position.shape[0], u.shape[0]
    u_mid, v_mid, since = np.zeros(N), np.zeros(N), np.full(m, -1.0)
    late_readings, late_commands = readings.shape[2], commands.shape[2]
    k, within, late, watching = 0, 0, -1, False  # set-point, and ticks since it
    do_before(memories)
    for tick in range(ticks):
        if within == setpoint_ticks:
            k, within = k + 1, 0
        turn_of_position = within % position_ticks == 0
        do_speeds(memories)
        if turn_of_position or late_readings > 0:
            do_positions(memories)
        if late_readings > 0:
            read_late(sensor_delay, readings, tick % late_readings, position, speed)
        if turn_of_position:
            for j in range(N):
                trace[tick // position_ticks, j] = u[j]
            numbers[K] = k
            numbers[WITHIN] = within
            do_position_loops(memories)
            late = int(numbers[LATE])
        do_velocity_loops(memories)
        limited = numbers[LIMITED] != 0.0
        if limited or watching:
            watch(servo, saturated, since, tick * h, h)
            watching = limited
        if late_commands > 0:
            give_late(output_delay, commands, tick % late_commands, current)
        do_torques(memories)
        if external.shape[0] > 0:
            push(every, external, k, (within + 0.5) / setpoint_ticks, outside)
        if wrench.shape[0] > 0:
            look_ahead(every, u, v, before, h, u_mid, v_mid)
            share = (within + 0.5) / setpoint_ticks
            alone = external.shape[0] == 0
            push_tool(arm, tool, point, wrench, k, share, u_mid, alone, outside)
        within += 1
        if linear == 1:
            look_ahead(every, u, v, before, h, u_mid, v_mid)
            of_linear(every, step, path_curves, M0, D0, K0, (tick + 0.5) * h, u_mid, v_mid, M, bias)
            net(every, tau, outside, bias, force)
        else:
            do_equations(memories)
        logging = tick % log_ticks == 0
        if logging:
            write(record, tick // log_ticks, u, v, current)
        do_steps(memories)
        steps = int(numbers[STEPS])
        lost = -1
        numbers[DT] = h / steps
        keep(every, v, before)
        do_before_steps(memories)
        for _ in range(steps):
            do_one_step(memories)
            lost = max(lost, int(numbers[GONE]))
        if lost >= 0:
            return UNSTABLE, tick, lost
        if logging:
            write_means(record, tick // log_ticks, weights, friction_row, v, before, F, h)
        if late >= 0:
            return FOLLOWING_ERROR, tick, late
    return FINISHED, ticks, -1


@inlined
def _nothing(memories: Any) -> None:
    """A stage that a structure does not have."""


do_before = do_speeds = do_positions = do_position_loops = do_velocity_loops = _nothing
do_torques = do_equations = do_steps = do_before_steps = do_one_step = _nothing


class _Kernel:
    """The kernel of a structure: its machine code, made or found on first call."""

    def __init__(self, structure: Structure, name: str) -> None:
        self.structure, self.name = structure, name
        self.memory = structure.memory()
        stages = {stage: self._stretches(stage) for stage in STAGES}
        self.run = staged(drive, stages, name)

    def _stretches(self, stage: str) -> Any:
        def made() -> tuple[list[Stretch], Memory]:
            stages, memory = self._traced()
            return stages[stage], memory

        return made

    @lru_cache(maxsize=1)  # noqa: B019  a kernel lives as long as the process
    def _traced(self) -> tuple[dict[str, list[Stretch]], Memory]:
        return traced(self.structure)


_kernels: dict[str, _Kernel] = {}
_making = Lock()


def kernel_of(structure: Structure) -> _Kernel | None:
    """The kernel of a structure; None where it cannot be traced.

    A robot whose geometry differs from that of one known already, as one with a deviated link,
    shares a kernel with all such robots, in which no zero of the geometry is used.
    """
    if not structure.can_be_traced:
        return None
    family = _digest(structure.family())
    name = f"{family}-{_digest(structure.geometry())}"
    with _making:
        if name not in _kernels:
            relatives = any(known.startswith(family) for known in _kernels) or is_kept(family)
            if relatives and not is_kept(name):
                structure.dense = True
                name = f"{family}-{_digest(structure.geometry())}"
        if name not in _kernels:
            _kernels[name] = _Kernel(structure, name)
        return _kernels[name]


def _digest(parts: Any) -> str:
    digest = hashlib.sha1(usedforsecurity=False)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:12]


def run_traced(kernel: _Kernel, prepared: Any) -> Any:
    """Run a prepared loop: how, when and where it ended; its state and record are written."""
    plant, c, inputs, state = (
        prepared.plant,
        prepared.controller,
        prepared.inputs,
        prepared.state,
    )
    arm = prepared.coordinates.built.assembly.arm
    numbers = np.zeros(kernel.memory.sizes[0])
    given = {
        **arm._asdict(),
        **plant.springs._asdict(),
        **plant.ripples._asdict(),
        "weights": plant.rows.weights,
        "rotor_inertia": plant.rotors.inertia,
        "numbers": plant.friction.numbers,
        "gains": c.gains,
        "filters": c.filters,
        "lateness": c.lateness,
        "scale": plant.sensors.scale,
        "zero": plant.sensors.zero,
        "sensor_quantum": plant.sensors.quantum,
        "speed_quantum": plant.sensors.speed_quantum,
        "per_current": plant.outputs.per_current,
        "per_ampere": plant.outputs.torque,
        "limit": plant.outputs.limit,
        "current_quantum": plant.outputs.quantum,
        "slow": inputs.slow,
        "h": c.tick,
        "position_ticks": c.position_ticks,
        "setpoint_ticks": c.setpoint_ticks,
        "substeps": inputs.substeps,
        "setpoints": len(inputs.ref),
        "late": -1,
        "before": state.v,
    }
    changing = ("u", "v", "z", "servo", "memory", "energy")
    given |= {name: getattr(state, name) for name in changing}
    for name, values in given.items():
        if name in kernel.memory.arrays:
            view(kernel.memory, numbers, name)[...] = values
    tables = (
        np.ascontiguousarray(plant.friction.curves).ravel(),
        np.ascontiguousarray(plant.balancers.table).ravel(),
        np.ascontiguousarray(inputs.ref).ravel(),
        np.zeros(MOST_KEPT),
    )
    ended = kernel.run(
        (0,) * prepared.coordinates.count,
        (numbers, *tables),
        tuple(kernel.memory.arrays[name][1] for name in SLOTS),
        tuple(view(kernel.memory, numbers, name) for name in VIEWS),
        int(prepared.linear is not None),
        prepared.path,
        (inputs.ticks, inputs.log_ticks, c.position_ticks, c.setpoint_ticks, c.tick),
        (plant.sensors.delay, plant.outputs.delay),
        (plant.rows.weights, plant.friction.row),
        inputs.external,
        (arm, inputs.tool, inputs.point, inputs.wrench),
        (state.readings, state.commands, state.saturated),
        prepared.record,
    )
    for name in changing:
        getattr(state, name)[...] = view(kernel.memory, numbers, name)
    return ended


def view(memory: Memory, numbers: Any, name: str) -> Any:
    """An array in the memory of numbers."""
    _, first, shape = memory.arrays[name]
    size = int(np.prod(shape))
    return numbers[first : first + size].reshape(shape)
