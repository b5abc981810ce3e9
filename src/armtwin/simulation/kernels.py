"""Kernels of closed loops: the stages of a tick on tapes, one kernel for each structure.

What shapes a kernel is the structure: the tree, zeros, ones and right angles of its geometry, rows,
families of parts, the kind of friction, filters that pass. Lengths, odd angles, inertias, gains and
tables are arguments, so that one kernel serves the variants of a robot.

A kernel runs one loop, or as many as there are lanes: the same stages on woven memories, in which
each number lies once for each lane. A loop gives the same digits in a lane as alone.
"""

import hashlib
from collections.abc import Collection, Mapping
from functools import partial
from threading import Lock
from typing import Any

from armtwin.maths.choice import both
from armtwin.maths.machine_code import (
    Stages,
    defer_stages,
    interpret,
    kernel,
    largest,
    number,
    put,
    staged,
)
from armtwin.maths.stretches import Memory, Part, known_place, stretches
from armtwin.maths.tape import Tape
from armtwin.maths.traced_fields import TracedFields, copy_fields
from armtwin.maths.tracing import python_of
from armtwin.simulation.loop import FOLLOWING_ERROR, UNSTABLE, Clock, ClosedLoop
from armtwin.simulation.plant import SWITCHING
from armtwin.simulation.step import SWEPT
from armtwin.simulation.tick import (
    OF_STEP,
    OF_TICK,
    TAKE_STEP,
    NamedStages,
    Stage,
    step,
    sweep_friction,
    tick,
)

BEFORE, BEFORE_STEPS = "before", "before_steps"
MOST_KEPT = 8192  # results that are kept from loop to loop


@kernel
def run(memories: Any, slots: Any, lanes: Any, counts: Any, is_pushed: bool, ended: Any) -> int:
    """Run loops, one in each lane, from a first tick to a last, or until one ends.

    Args:
        memories: What the stages work on.
        slots: Where the fields of the clock lie, a Clock.
        lanes: As many zeros as there are lanes: a tuple makes it known to the compiler.
        counts: First and last tick, the one with which series and records begin, a set-point, and
            ticks between samples of the log, of the position loop and between set-points.
        is_pushed: Whether something acts from outside.
        ended: Takes how and where each loop ended, (lanes, 2).

    Returns the tick in which a loop ended, or the last one.
    """
    first, last, begin, log_ticks, position_ticks, setpoint_ticks = counts
    k, within = (first - begin) // setpoint_ticks, first % setpoint_ticks
    do_before(memories)
    for now in range(first, last):
        if within == setpoint_ticks:
            k, within = k + 1, 0
        put(memories, slots.k, lanes, k)
        put(memories, slots.within, lanes, within)
        put(memories, slots.tick, lanes, now)
        put(memories, slots.log_row, lanes, (now - begin) // log_ticks)
        put(memories, slots.trace_row, lanes, (now - begin) // position_ticks)
        at_turn = within % position_ticks == 0
        tick(memories, slots, lanes, at_turn, is_pushed, now % log_ticks == 0)
        within += 1
        gone = largest(memories, slots.gone, lanes)
        late = largest(memories, slots.late, lanes)
        if gone >= 0.0 or late >= 0.0:
            for lane in range(len(lanes)):
                gone = number(memories, slots.gone, lanes, lane)
                late = number(memories, slots.late, lanes, lane)
                if gone >= 0.0:
                    ended[lane, 0], ended[lane, 1] = UNSTABLE, int(gone)
                elif late >= 0.0:
                    ended[lane, 0], ended[lane, 1] = FOLLOWING_ERROR, int(late)
            return now
    return last


def do_before(memories: Any) -> None:
    """What follows from numbers that do not change in a run; a structure gives it."""


def trace_part(fields: TracedFields, stage: Stage, guard: Any = None) -> Part:
    """What a stage does, as a part of a kernel.

    With a guard, a condition on the fields, it changes something only where that holds.
    """
    part = Part(Tape())
    before = fields.symbols(part)
    after = copy_fields(before)
    python_of(stage)(after)
    fields.put_changes(part, before, after)
    if guard is not None:
        holds = python_of(guard)(before)
        for n, ((array, place), number) in enumerate(part.outputs):
            old = part.tape.input(array, known_place(place))
            value = part.tape.choose(holds, part.tape.value(number), old)
            part.outputs[n] = (array, place), part.tape.number_of(value)
    return part


def stages_of_step(loop: ClosedLoop) -> NamedStages:
    """The stages of a step: one, and more where friction switches."""
    is_switching = loop.plant.friction.kind == SWITCHING
    return OF_STEP if is_switching else {TAKE_STEP: OF_STEP[TAKE_STEP]}


def trace_stages(
    fields: TracedFields,
    of_tick: NamedStages = OF_TICK,
    of_step: NamedStages | None = None,
    *,
    in_lanes: bool = False,
    wanted: Collection[str] = (),
) -> tuple[Stages, Memory]:
    """The stretches of each stage of a loop, and where their arrays lie.

    Args:
        fields: The loop.
        of_tick: Stages of a tick beside those of a step.
        of_step: Stages of a step; by default those of the closed loop.
        in_lanes: Whether loops run side by side: a step is then taken only in lanes that are not
            done with theirs.
        wanted: Arrays beside state, clock and record that are read from outside.
    """
    ticks = {name: trace_part(fields, stage) for name, stage in of_tick.items()}
    steps = {}
    for name, stage in (of_step or stages_of_step(fields.value)).items():
        guard = is_sweeping if stage is sweep_friction else is_stepping
        steps[name] = trace_part(fields, stage, guard if in_lanes else None)
    parts = ticks | steps
    _drop_unread(parts, wanted)
    memory = fields.memory()
    memory.woven = in_lanes
    in_a_tick = _unwritten(fields, steps) - {"clock.step", "inputs.drive", "inputs.load"}
    in_a_run = _unwritten(fields, parts) & in_a_tick
    in_a_run -= {f"clock.{name}" for name in Clock._fields}
    kept_in = len(memory.sizes)
    found: Stages = {BEFORE: [], BEFORE_STEPS: []}
    for name, part in parts.items():
        levels = [in_a_run, in_a_tick] if name in steps else [in_a_run]
        split = stretches(part, f"kept by {name}", levels)
        memory.add(f"kept by {name}", (len(split[0].kept),), kept_in)
        found[BEFORE].append(split[0])
        if name in steps:
            found[BEFORE_STEPS].append(split[1])
        found[name] = [split[-1]]
    assert memory.sizes[kept_in] <= MOST_KEPT
    return found, memory


def is_stepping(x: ClosedLoop) -> Any:
    """Whether a loop is not done with the steps of its tick."""
    return x.clock.step[0] < x.clock.steps[0]


def is_sweeping(x: ClosedLoop) -> Any:
    """Whether the friction of a loop still changes."""
    return both(is_stepping(x), x.clock.change[0] > SWEPT)


def run_in_python(loop: ClosedLoop, counts: tuple[int, ...], ended: Any) -> int:
    """Run one loop as its kernel does, in plain Python."""
    stages = OF_TICK | stages_of_step(loop)
    found = {name: python_of(stage) for name, stage in stages.items()}
    play = interpret(run, found, (step, tick))
    return play(loop, loop.clock, (0,), counts, loop.inputs.is_pushed, ended)


def _drop_unread(parts: Mapping[str, Part], wanted: Collection[str]) -> None:
    """Leave out values of a tick that nobody reads."""
    read = set(wanted)
    for part in parts.values():
        read |= part.arrays_read()
    for part in parts.values():
        kept = []
        for output in part.outputs:
            (array, _), _ = output
            if array in read or not array.startswith("work."):
                kept.append(output)
        part.outputs = kept


def _unwritten(fields: TracedFields, parts: Mapping[str, Part]) -> set[str]:
    """Arrays that no part writes."""
    names = set(fields.memory().arrays)
    for part in parts.values():
        names -= {array for (array, _), _ in part.outputs}
    return names


class Kernel:
    """The kernel of a structure: its machine code, made or found on first call.

    Attributes:
        fields: A loop of its structure.
        name: The structure's name.
        lanes: How many loops it runs at once.
        memory: Where the arrays lie.
        slots: Where the fields of the clock lie.
    """

    def __init__(self, fields: TracedFields, name: str, lanes: int) -> None:
        fields = fields.first_rows()  # a kernel outlives the run that it was made for
        self.fields, self.name, self.lanes = fields, name, lanes
        self.memory = fields.memory()
        self.slots = slots_of(self.memory)
        trace = partial(trace_stages, fields, in_lanes=lanes > 1)
        names = [BEFORE, BEFORE_STEPS, *OF_TICK, *OF_STEP]
        suffix, wide = ("", ()) if lanes == 1 else (f"-{lanes}", names)
        stages = defer_stages(trace, names)
        self.run = staged(run, stages, f"{name}{suffix}", (step, tick), wide)


def slots_of(memory: Memory) -> Clock:
    """Where the fields of the clock lie in the memory of inputs."""
    places: list[Any] = [memory.arrays[f"clock.{name}"][1] for name in Clock._fields]
    return Clock(*places)


_kernels: dict[tuple[str, int], Kernel] = {}
_making = Lock()


def kernel_of(fields: TracedFields, lanes: int = 1) -> Kernel:
    """The kernel of a loop.

    Args:
        fields: The loop.
        lanes: How many loops it runs at once, 1 or LANES.
    """
    name = name_of(fields)
    with _making:
        if (name, lanes) not in _kernels:
            _kernels[name, lanes] = Kernel(fields, name, lanes)
        return _kernels[name, lanes]


def name_of(fields: TracedFields) -> str:
    """Name of a structure."""
    shape = b"".join(fields.structure())
    return hashlib.sha1(shape, usedforsecurity=False).hexdigest()[:20]
