"""Prepared loops laid side by side: the memories of a traced kernel, and its results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.memory import Memory
from armtwin.simulation.loop import Record
from armtwin.simulation.traced import MOST_KEPT

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
    "acceleration",
    "resistance",
)
CHANGING = ("u", "v", "z", "servo", "memory", "energy", "carried")


class Lanes:
    """What a traced kernel works on; the first axis of all but the memories is that of the lanes.

    Of one loop its own arrays are used, of several copies; lanes beyond the loops have copies of
    the last one.

    Attributes:
        memories: Numbers, friction curves, balancer tables, set-points, outside torques, tool
            forces, and space for what is kept, each woven: element e of lane l at e lanes + l.
        views: Arrays in the memory of numbers.
        is_pushed: Whether a loop has torques from outside.
        late: Delays and past values of sensors, then of outputs.
        stays: Longest stays at current limits, begin of the present one, whether there is one.
        record: What is logged.
        ended: How and where each loop ended, (lanes, 2).
        running: Lanes whose loops have not ended.
    """

    def __init__(self, memory: Memory, runs: Sequence[Any], count: int) -> None:
        self.memory, self.runs, self.count = memory, runs, count
        filled = [*runs, *[runs[-1]] * (count - len(runs))]
        drives = len(runs[0].plant.sensors.row)
        self.numbers = _interleave([numbers_of(memory, run) for run in filled])
        self.memories = (
            self.numbers,
            _interleave([run.plant.friction.curves for run in filled]),
            _interleave([run.plant.balancers.table for run in filled]),
            _interleave([run.inputs.ref for run in filled]),
            _interleave([_or_zeros(run.inputs.external) for run in filled]),
            _interleave([_or_zeros(run.inputs.wrench) for run in filled]),
            np.zeros(MOST_KEPT * count),
        )
        self.views = tuple(self.view(name) for name in VIEWS)
        self.is_pushed = any(len(run.inputs.external) > 0 for run in runs)
        self.late = (
            _stack([run.plant.sensors.delay for run in filled]),
            _stack([run.state.readings for run in filled]),
            _stack([run.plant.outputs.delay for run in filled]),
            _stack([run.state.commands for run in filled]),
        )
        self.stays = (
            _stack([run.state.saturated for run in filled]),
            np.full((count, drives), -1.0),
            np.zeros(count, dtype=np.bool_),
        )
        records = [run.record for run in filled]
        self.record = Record(*(_stack(arrays) for arrays in zip(*records, strict=True)))
        self.ended = np.zeros((count, 2), dtype=np.int64)
        self.running = list(range(len(runs)))

    def view(self, name: str) -> Any:
        """An array in the memory of numbers, (lanes, ...)."""
        _, first, shape = self.memory.arrays[name]
        size = math.prod(shape)
        rows = self.numbers.reshape(-1, self.count)[first : first + size]
        woven = rows.reshape(*shape, self.count)
        return woven.transpose(len(shape), *range(len(shape)))

    def finish(self, lane: int) -> None:
        """Write the state and the record of a loop that has ended."""
        self.running.remove(lane)
        state, record = self.runs[lane].state, self.runs[lane].record
        for name in CHANGING:
            getattr(state, name)[...] = self.view(name)[lane]
        if self.count == 1:
            return
        state.readings[...] = self.late[1][lane]
        state.commands[...] = self.late[3][lane]
        state.saturated[...] = self.stays[0][lane]
        for values, found in zip(record, self.record, strict=True):
            values[...] = found[lane, : len(values)]

    def fill(self) -> None:
        """Have lanes without a loop do what one with a loop does."""
        if not self.running:
            return
        lane = self.running[0]
        others = [x for x in range(self.count) if x not in self.running]
        for memory in self.memories:
            woven = memory.reshape(-1, self.count)
            for other in others:
                woven[:, other] = woven[:, lane]
        for array in (*self.late, *self.stays):
            for other in others:
                array[other] = array[lane]


def numbers_of(memory: Memory, run: Any) -> Floats:
    """The memory of numbers of one loop at its start."""
    plant, c, inputs, state = run.plant, run.controller, run.inputs, run.state
    given = {
        **run.coordinates.built.assembly.arm._asdict(),
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
        "load_ratio": plant.loads.ratio,
        "load_inertia": plant.loads.inertia,
        "load_least": plant.loads.least,
        "load_share": plant.loads.share,
        "loaded_level": plant.loads.least + plant.loads.share * np.abs(state.carried),
        "slow": inputs.slow,
        "h": c.tick,
        "position_ticks": c.position_ticks,
        "setpoint_ticks": c.setpoint_ticks,
        "substeps": inputs.substeps,
        "setpoints": len(inputs.ref),
        "pushes": max(1, len(inputs.external)),
        "presses": max(1, len(inputs.wrench)),
        "point": inputs.point,
        "late": -1,
        "before": state.v,
    }
    given |= {name: getattr(state, name) for name in CHANGING}
    numbers = np.zeros(memory.sizes[0])
    for name, values in given.items():
        if name in memory.arrays:
            _, first, shape = memory.arrays[name]
            size = int(np.prod(shape))
            numbers[first : first + size].reshape(shape)[...] = values
    return numbers


def _or_zeros(acting: Floats) -> Floats:
    """What acts from outside at the set-points, nothing being one row of zeros."""
    return acting if len(acting) else np.zeros((1, acting.shape[1]))


def _interleave(arrays: Sequence[Any]) -> Floats:
    """Arrays element by element side by side; the shorter ones are filled with zeros."""
    if len(arrays) == 1:
        return np.ascontiguousarray(arrays[0]).reshape(-1)
    longest = max(np.size(x) for x in arrays)
    woven = np.zeros((longest, len(arrays)))
    for lane, values in enumerate(arrays):
        woven[: np.size(values), lane] = np.ravel(values)
    return woven.reshape(-1)


def _stack(arrays: Sequence[Any]) -> Any:
    """Arrays as one, the lanes first; the shorter ones are filled with zeros."""
    if len(arrays) == 1:
        return arrays[0][None]
    longest = max(len(x) for x in arrays)
    stack = np.zeros((len(arrays), longest, *arrays[0].shape[1:]), dtype=arrays[0].dtype)
    for lane, values in enumerate(arrays):
        stack[lane, : len(values)] = values
    return stack
