"""The closed loop around traced stages: ticks and steps, one kernel for each structure.

A kernel runs one loop, or as many as there are lanes: the same stages on woven memories, in which
each number lies once for each lane. A loop gives the same digits in a lane as alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from armtwin.drives.outputs import give_late
from armtwin.drives.sensors import read_late
from armtwin.maths.compiled import compiles, inlined
from armtwin.maths.machine_code import kernel, staged
from armtwin.maths.memory import Memory
from armtwin.maths.stretches import TapeStretch
from armtwin.simulation.equations import of_linear
from armtwin.simulation.lanes import Lanes
from armtwin.simulation.loop import FINISHED, FOLLOWING_ERROR, UNSTABLE, look_ahead, net
from armtwin.simulation.ticks import watch
from armtwin.simulation.traced import STAGES, KernelStructure, trace_stages

SLOTS = ("k", "within", "dt", "late", "limited", "steps", "taken", "gone")


@kernel
def drive(  # noqa: C901  one loop, and a branch for each kind of lateness and model
    every: Any,
    lanes: Any,
    memories: Any,
    slots: Any,
    views: Any,
    path: Any,
    counts: Any,
    is_pushed: bool,
    late: Any,
    stays: Any,
    record: Any,
    ended: Any,
) -> int:
    """Run loops as `loop.run` does, one in each lane, until the last tick or until one ends.

    The stages are put in by name for each structure. len(lanes) is the number of lanes: a tuple
    makes it known to the compiler. So does None for a linear model that is not there, and what only
    such a model needs is not compiled. Of views, lateness, stays at limits, record and `ended`,
    which takes how and where, the first axis is that of the lanes. Returns the tick in which a loop
    ended, or the last one.
    """
    numbers = memories[0]
    u, v, before, tau, outside, bias, force, M, position, speed, current, servo, mean_a, mean_F = (
        views
    )
    bodies = (u[0], v[0], before[0], tau[0], outside[0], bias[0], force[0], M[0])
    first, last, log_ticks, position_ticks, setpoint_ticks, h = counts
    sensor_delay, readings, output_delay, commands = late
    saturated, since, watching = stays
    record_u, record_v, record_a, record_current, record_friction, trace = record
    K, WITHIN, DT, LATE, LIMITED, STEPS, TAKEN, GONE = slots
    L, N = len(lanes), len(every)
    u_mid, v_mid, lost = np.zeros(N), np.zeros(N), np.full(L, -1)
    late_readings, late_commands = readings.shape[3], commands.shape[3]
    k, within = first // setpoint_ticks, first % setpoint_ticks  # set-point, and ticks since it
    do_before(memories)
    for tick in range(first, last):
        if within == setpoint_ticks:
            k, within = k + 1, 0
        turn_of_position = within % position_ticks == 0
        if turn_of_position or is_pushed:
            for lane in range(L):
                numbers[K * L + lane] = k
                numbers[WITHIN * L + lane] = within
        do_speeds(memories)
        if turn_of_position or late_readings > 0:
            do_positions(memories)
        if late_readings > 0:
            head = tick % late_readings
            for lane in range(L):
                read_late(sensor_delay[lane], readings[lane], head, position[lane], speed[lane])
        if turn_of_position:
            for lane in range(L):
                _copy(lane, u, trace, tick // position_ticks)
            do_position_loops(memories)
        do_velocity_loops(memories)
        for lane in range(L):
            limited = numbers[LIMITED * L + lane] != 0.0
            if limited or watching[lane]:
                watch(servo[lane], saturated[lane], since[lane], tick * h, h)
                watching[lane] = limited
        if late_commands > 0:
            head = tick % late_commands
            for lane in range(L):
                give_late(output_delay[lane], commands[lane], head, current[lane])
        do_torques(memories)
        if is_pushed:
            do_outside(memories)
        within += 1
        if path is None:
            do_equations(memories)
        else:
            time = (tick + 0.5) * h
            step, path_curves, M0, D0, K0 = path
            u_0, v_0, before_0, tau_0, outside_0, bias_0, force_0, M_0 = bodies
            look_ahead(every, u_0, v_0, before_0, h, u_mid, v_mid)
            of_linear(every, step, path_curves, M0, D0, K0, time, u_mid, v_mid, M_0, bias_0)
            net(every, tau_0, outside_0, bias_0, force_0)
        logging = tick % log_ticks == 0
        row = tick // log_ticks
        if logging:
            for lane in range(L):
                _copy(lane, u, record_u, row)
                _copy(lane, v, record_v, row)
                _copy(lane, current, record_current, row)
        do_steps(memories)
        most = 0
        for lane in range(L):
            steps = int(numbers[STEPS * L + lane])
            numbers[DT * L + lane] = h / steps
            most = max(most, steps)
        for j in range(N):
            for lane in range(L):
                before[lane, j] = v[lane, j]
        do_before_steps(memories)
        for count in range(most):
            if L > 1:
                for lane in range(L):
                    is_taken = count < numbers[STEPS * L + lane]
                    numbers[TAKEN * L + lane] = 1.0 if is_taken else 0.0
            do_one_step(memories)
            for lane in range(L):
                gone = numbers[GONE * L + lane]
                if gone >= 0.0:
                    lost[lane] = max(lost[lane], int(gone))
        do_carry(memories)
        if logging:
            do_means(memories)
        is_over = False
        for lane in range(L):
            if lost[lane] >= 0:
                ended[lane, 0], ended[lane, 1], is_over = UNSTABLE, lost[lane], True
                continue
            if logging:
                _copy(lane, mean_a, record_a, row)
                _copy(lane, mean_F, record_friction, row)
            behind = int(numbers[LATE * L + lane])
            if behind >= 0:
                ended[lane, 0], ended[lane, 1], is_over = FOLLOWING_ERROR, behind, True
        if is_over:
            return tick
    return last


@inlined
def _copy(lane: int, values: Any, record: Any, row: int) -> None:
    """Write the values of a lane, (lanes, n), to its row of a record, (lanes, rows, n)."""
    for j in range(values.shape[1]):
        record[lane, row, j] = values[lane, j]


@inlined
def _nothing(memories: Any) -> None:
    """A stage that a structure does not have."""


do_before = do_speeds = do_positions = do_position_loops = do_velocity_loops = _nothing
do_torques = do_outside = do_equations = do_steps = do_before_steps = do_one_step = _nothing
do_carry = do_means = _nothing


class Kernel:
    """The kernel of a structure: its machine code, made or found on first call.

    Attributes:
        structure: What shapes it.
        name: The structure's name.
        lanes: How many loops it runs at once.
        memory: Where the arrays lie.
    """

    def __init__(self, structure: KernelStructure, name: str, lanes: int) -> None:
        self.structure, self.name, self.lanes = structure, name, lanes
        self.memory = structure.memory()
        stages = {stage: self._stretches(stage) for stage in STAGES}
        if lanes == 1:
            self.run = staged(drive, stages, name)
        else:
            self.run = staged(drive, stages, f"{name}-{lanes}", wide=STAGES)

    def _stretches(self, stage: str) -> Any:
        def build() -> tuple[list[TapeStretch], Memory]:
            stages, memory = self._traced()
            return stages[stage], memory

        return build

    @lru_cache(maxsize=1)  # noqa: B019  a kernel lives as long as the process
    def _traced(self) -> tuple[dict[str, list[TapeStretch]], Memory]:
        return trace_stages(self.structure, in_lanes=self.lanes > 1)


_kernels: dict[tuple[str, int], Kernel] = {}
_making = Lock()


def kernel_of(structure: KernelStructure, lanes: int = 1) -> Kernel | None:
    """The kernel of a structure; None where it cannot be traced.

    Args:
        structure: What shapes it.
        lanes: How many loops it runs at once, 1 or LANES.
    """
    if not (compiles() and structure.can_be_traced):
        return None
    name = f"{_digest(structure.family())}-{_digest(structure.geometry())}"
    with _making:
        if (name, lanes) not in _kernels:
            _kernels[name, lanes] = Kernel(structure, name, lanes)
        return _kernels[name, lanes]


def _digest(parts: Any) -> str:
    digest = hashlib.sha1(usedforsecurity=False)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:12]


def run_traced(kernel: Kernel, runs: Sequence[Any]) -> list[tuple[int, int, int]]:
    """Run prepared loops, one in each lane: how, when and where each ended.

    Their states and records are written. A lane without a loop of its own, or whose loop has
    ended, does what another lane does.
    """
    lanes = Lanes(kernel.memory, runs, kernel.lanes)
    ends: dict[int, tuple[int, int, int]] = {}
    first = 0
    while lanes.running:
        last = min(runs[lane].inputs.ticks for lane in lanes.running)
        tick = run_ticks(kernel, lanes, first, last)
        for lane in list(lanes.running):
            how, where = lanes.ended[lane]
            if how != FINISHED or tick == runs[lane].inputs.ticks:
                ends[lane] = int(how), tick, int(where)
                lanes.finish(lane)
        lanes.fill()
        first = tick if tick == last else tick + 1
    return [ends[lane] for lane in range(len(runs))]


def run_ticks(kernel: Kernel, lanes: Lanes, first: int, last: int) -> int:
    """Run the ticks from the first to the last, or to that in which a loop ends."""
    run = lanes.runs[0]
    c = run.controller
    lanes.ended[:] = FINISHED, -1
    tick: int = kernel.run(
        (0,) * run.coordinates.count,
        (0,) * kernel.lanes,
        lanes.memories,
        tuple(kernel.memory.arrays[name][1] for name in SLOTS),
        lanes.views,
        run.path,
        (first, last, run.inputs.log_ticks, c.position_ticks, c.setpoint_ticks, c.tick),
        lanes.is_pushed,
        lanes.late,
        lanes.stays,
        lanes.record,
        lanes.ended,
    )
    return tick
