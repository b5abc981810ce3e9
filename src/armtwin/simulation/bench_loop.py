"""The loop of a bench: a plant with constant mass, driven at given times, in steps between them."""

from functools import partial
from typing import Any

import numpy as np

from armtwin.control.controller import COLUMNS, Controller
from armtwin.drives.friction.load import GearLoads
from armtwin.drives.hydraulics import pack_circuits
from armtwin.drives.linkage import TURN_INTERVALS, Levers
from armtwin.drives.ripple import Ripples
from armtwin.drives.rows import Rows, Springs
from armtwin.drives.sensors import Outputs, Sensors
from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiles
from armtwin.maths.machine_code import defer_stages, interpret, kernel, largest, put, staged
from armtwin.maths.traced_fields import TracedFields
from armtwin.maths.tracing import python_of
from armtwin.mechanics.arm import Arm
from armtwin.mechanics.rotors import Rotors
from armtwin.simulation import kernels, loop as loops
from armtwin.simulation.plant import Balancers, Friction, Plant
from armtwin.simulation.solve import Ties
from armtwin.simulation.tick import OF_STEP, TAKE_STEP, NamedStages, step, take_step, write_row

LOG = "log_bench"
NONE = np.zeros(0, dtype=np.int64)
NO_BODIES = Arm(
    parent=NONE,
    slides=NONE,
    turn=np.zeros((0, 3, 3, 3)),
    offset=np.zeros((0, 2, 3)),
    axis=np.zeros((0, 3)),
    inertia=np.zeros((0, 10)),
    gravity=np.zeros(3),
)


@kernel
def run_bench(
    memories: Any, slots: Any, drive_slot: Any, times: Floats, drive: Floats, steps: Any
) -> int:
    """Run a bench; what drives it is linear between the times.

    Args:
        memories: What the stages work on.
        slots: Where the fields of the clock lie, a Clock.
        drive_slot: Where that lies which drives the bench.
        times: Times, (m,) [s].
        drive: Torques of the motor or angles that it is held on, at the times, (m,).
        steps: Steps from each time to the next, (m - 1,).

    Returns the time, by its number, at which it ran away, or -1.
    """
    lane = (0,)
    do_before(memories)
    for k in range(len(steps)):
        put(memories, slots.dt, lane, (times[k + 1] - times[k]) / steps[k])
        do_before_steps(memories)
        for i in range(steps[k]):
            share = (i + 0.5) / steps[k]
            put(memories, drive_slot, lane, (1.0 - share) * drive[k] + share * drive[k + 1])
            step(memories, slots, lane)
            if largest(memories, slots.gone, lane) >= 0.0:
                return k
        put(memories, slots.log_row, lane, k + 1)
        do_log_bench(memories)
    return -1


def _nothing(x: Any) -> None:
    """A stage that a structure gives."""


do_before = do_before_steps = do_log_bench = _nothing


def drive_motor(x: loops.ClosedLoop) -> None:
    """Drive the motor, by a torque or by the servo that holds it."""
    inputs, work = x.inputs, x.work
    if len(x.plant.holds.row):
        x.plant.holds.rest[0] = inputs.drive[0]
    else:
        work.tau[:] = x.rows.weights[inputs.motor] * inputs.drive[0]
    work.outside[:] = inputs.load
    work.force[:] = work.tau + work.outside


def take_bench_step(x: loops.ClosedLoop) -> None:
    """Drive the motor and take a step."""
    drive_motor(x)
    take_step(x)


def log_bench(x: loops.ClosedLoop) -> None:
    """Keep coordinates and speeds."""
    assert x.record is not None
    write_row(x.record.u, x.clock.log_row, x.state.u)
    write_row(x.record.v, x.clock.log_row, x.state.v)


def bench_stages(loop: loops.ClosedLoop) -> NamedStages:
    """The stages of a step of a bench."""
    return {**kernels.stages_of_step(loop), TAKE_STEP: take_bench_step}


def bench_plant(rows: Rows, springs: Springs, holds: Springs, friction: Friction) -> Plant:
    """A plant of springs, servos that hold, and friction."""
    N = rows.weights.shape[1]
    nothing = np.zeros(0)
    return Plant(
        rows=rows,
        levers=Levers(NONE, np.zeros((0, TURN_INTERVALS, 4))),
        rotors=Rotors(np.zeros((N, N)), NONE, np.zeros((0, 3)), np.zeros((0, N))),
        friction=friction,
        springs=springs,
        holds=holds,
        ripples=Ripples(NONE, NONE, nothing, nothing, nothing),
        balancers=Balancers(NONE, np.zeros((0, TURN_INTERVALS, 4))),
        cylinders=pack_circuits((), (), (), 1.0),
        sensors=Sensors(NONE, NONE, nothing, nothing, nothing, nothing, np.zeros((0, 2))),
        outputs=Outputs(NONE, nothing, nothing, nothing, nothing, nothing),
        ties=Ties(np.zeros((0, N), dtype=np.int64), NONE),
        loads=GearLoads(NONE, NONE, nothing, nothing, nothing, nothing, np.zeros((0, 0))),
    )


def bench_loop(plant: Plant, M: Floats, load: Floats, motor: int, samples: int) -> loops.ClosedLoop:
    """The loop of a bench at rest.

    Args:
        plant: Its parts.
        M: Its mass matrix, (N, N) [kg m²].
        load: Torques from outside on the coordinates, (N,) [N m].
        motor: Row of its motor.
        samples: How many samples it records.
    """
    N, e = len(M), len(plant.friction.row)
    nothing = np.zeros(0)
    state = loops.State(
        u=np.zeros(N),
        v=np.zeros(N),
        z=np.zeros(e),
        oil=nothing,
        valves=np.zeros((0, 2)),
        servo=np.zeros((0, 6)),
        memory=np.zeros((0, 4, 2)),
        readings=None,
        commands=None,
        energy=np.zeros(5),
        saturated=np.zeros((0, 2)),
        since=nothing,
        carried=nothing,
    )
    work = loops.make_work(plant, state)
    work.M[:] = M
    size = (0,) * N
    logged = [np.zeros((samples, N)) for _ in loops.Record._fields]
    inputs = loops.BenchInputs(np.zeros(1), load, motor)
    return loops.ClosedLoop(
        size=size,
        arm=NO_BODIES,
        path=None,
        plant=plant,
        controller=Controller(
            np.zeros((0, COLUMNS)), np.zeros((0, 4, 5)), nothing, 1.0, 1, 1, 0, nothing, nothing
        ),
        inputs=inputs,
        state=state,
        work=work,
        clock=loops.make_clock(),
        record=loops.Record(*logged),
    )


class BenchKernel:
    """The kernel of a bench's structure: its machine code, made or found on first call."""

    def __init__(self, fields: TracedFields, name: str) -> None:
        self.memory = fields.memory()
        self.slots: loops.Clock = kernels.slots_of(self.memory)
        self.drive_slot = self.memory.arrays["inputs.drive"][1]
        of_tick: NamedStages = {LOG: log_bench}
        of_step = bench_stages(fields.value)
        trace = partial(kernels.trace_stages, fields, of_tick, of_step)
        stages = defer_stages(trace, [kernels.BEFORE, kernels.BEFORE_STEPS, LOG, *OF_STEP])
        self.run = staged(run_bench, stages, name, (step,))


_kernels: dict[str, BenchKernel] = {}


def play_bench(loop: loops.ClosedLoop, times: Floats, drive: Floats, steps: Any) -> int:
    """Run a bench as `run_bench` says; its state and record are written."""
    if not compiles():
        found = {LOG: log_bench} | bench_stages(loop)
        stages = {name: python_of(stage) for name, stage in found.items()}
        play = interpret(run_bench, stages, (step,))
        return play(loop, loop.clock, loop.inputs.drive, times, drive, steps)
    fields = loops.trace_fields(loop)
    name = kernels.name_of(fields)
    kernel = _kernels.get(name)
    if kernel is None:
        kernel = _kernels[name] = BenchKernel(fields, name)
    memories = (
        fields.numbers(kernel.memory),
        *fields.separate().values(),
        np.zeros(kernels.MOST_KEPT),
    )
    flat = tuple(np.ascontiguousarray(x).reshape(-1) for x in memories)
    lost = kernel.run(flat, kernel.slots, kernel.drive_slot, times, drive, steps)
    fields.read_back(kernel.memory, flat[0])
    return lost
