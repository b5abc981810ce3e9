"""What a closed loop works on: parameters, inputs, state, values of a tick, and its record."""

from typing import Any, NamedTuple

import numpy as np

from armtwin.control.controller import Controller
from armtwin.drives.rows import Rows
from armtwin.maths.batch import Flags, Floats
from armtwin.maths.tape import ROUNDING
from armtwin.maths.traced_fields import Aside, Known, Ring, Rows as Recorded, Series, TracedFields
from armtwin.mechanics.arm import Arm
from armtwin.simulation.equations import LinearArm
from armtwin.simulation.plant import SWITCHING, Plant

FINISHED, UNSTABLE, FOLLOWING_ERROR = 0, 1, 2
# below which an element of the geometry is a deviation: sines of 3 degrees, 5 mm, a tilted base
SMALLEST_BY_DESIGN = {"turn": 0.05, "offset": 0.005, "axis": 0.05, "gravity": 0.5}


class Inputs(NamedTuple):
    """What drives a run.

    Attributes:
        ref: Set-points of the drives, position, speed, acceleration, torque of the model, speed of
            the shift, (set-points, 5, drives).
        external: Torques from outside on the coordinates at the set-points, linear between them.
        wrench: Force and torque on the tool at the set-points, base axes, linear between them,
            (set-points, 6); None where there is none.
        tool: Body that carries the tool.
        point: The tool point in its frame, (3,) [m].
        slow: Speed of each friction element below which its bristles do not slide, (e,) [rad/s].
        substeps: Steps in a tick while an element is that slow.
        ticks: Number of ticks to run.
        log_ticks: Ticks between logged samples.
        is_pushed: Whether something acts from outside.
    """

    ref: Series
    external: Series
    wrench: Series | None
    tool: Known
    point: Floats
    slow: Floats
    substeps: int
    ticks: Aside
    log_ticks: Aside
    is_pushed: Aside


class BenchInputs(NamedTuple):
    """What drives a bench.

    Attributes:
        drive: Torque of the motor [N m], or the angle on which a servo holds it [rad], (1,).
        load: Torques from outside on the coordinates, (N,) [N m].
        motor: Row of the motor.
    """

    drive: Floats
    load: Floats
    motor: Known


class State(NamedTuple):
    """What changes in a run; the caller makes it and finds the end state in it.

    Attributes:
        u: Coordinates, (N,).
        v: Their speeds, (N,).
        z: Bristle deflections, or impulses of switching friction, (e,).
        oil: Forces of the cylinders, (c,).
        valves: Positions and speeds of their spools, (c, 2).
        servo: States of the loops, (drives, 6).
        memory: Filter states, (drives, 4, 2).
        readings: Past positions and speeds of late sensors, (ticks, drives, 2); None where none is
            late.
        commands: Past currents of late outputs, (ticks, drives, 1); None where none is late.
        energy: Work of the motors, of outside torques, taken by friction, by dampers, by numerical
            damping, (5,) [J].
        saturated: For each drive the longest stay at the current limit and when it began,
            (drives, 2) [s].
        since: When the present stay at the limit began, -1 while there is none, (drives,) [s].
        carried: Loads that friction elements follow, (l,) [N m].
    """

    u: Floats
    v: Floats
    z: Floats
    oil: Floats
    valves: Floats
    servo: Floats
    memory: Floats
    readings: Ring | None
    commands: Ring | None
    energy: Floats
    saturated: Floats
    since: Floats
    carried: Floats


class Sweeps(NamedTuple):
    """What the sweeps of switching friction work on.

    Attributes:
        dv: Change of the speeds in the step, (N,).
        answers: Change of the speeds per impulse of each element, (e, N).
        bounds: Least and largest impulse, and the answer of the element's own row, (e, 3).
        solved: 1 where the equations of the step could be solved, (1,).
    """

    dv: Floats
    answers: Floats
    bounds: Floats
    solved: Floats


class TickValues(NamedTuple):
    """Values of a tick.

    Attributes:
        rows: Rows of the coordinates, those with levers where the arm is, (rows, N).
        level: Factor of the dry friction of each element, (e,).
        position: What position sensors see, (drives,).
        speed: What speed sensors see, (drives,).
        current: Currents of the drives, (drives,) [A].
        tau: Torques of the motors on the coordinates, (N,).
        outside: Torques from outside, (N,).
        before: Speeds a tick ago, (N,).
        M: Mass matrix, lower triangle, (N, N).
        force: Torque left for acceleration and for what resists, (N,).
        flow: Flow of the cylinders, (c,).
        friction: Torque of each friction element, (e,).
        loads: Loads of the elements that follow them, (l,).
        sweeps: What switching friction needs; empty for others.
    """

    rows: Floats
    level: Floats
    position: Floats
    speed: Floats
    current: Floats
    tau: Floats
    outside: Floats
    before: Floats
    M: Floats
    force: Floats
    flow: Floats
    friction: Floats
    loads: Floats
    sweeps: Sweeps


class Clock(NamedTuple):
    """Counts and marks of a tick, (1,) each.

    Attributes:
        k: Set-point that was reached.
        within: Ticks since then.
        tick: Number of the tick.
        log_row: Row of the log that it writes.
        trace_row: Row of the trace that it writes.
        step: Number of the step in the tick.
        steps: Steps of the tick.
        dt: Length of a step [s].
        limited: 1 while a current is at its limit, and a tick longer.
        late: Drive whose following error is too large, or -1.
        gone: Coordinate that runs away, N where a step could not be solved, or -1.
        change: Largest change of the last sweep; 0 where there are none.
    """

    k: Floats
    within: Floats
    tick: Floats
    log_row: Floats
    trace_row: Floats
    step: Floats
    steps: Floats
    dt: Floats
    limited: Floats
    late: Floats
    gone: Floats
    change: Floats


class Record(NamedTuple):
    """Logged samples, (samples, N) or (samples, drives).

    The trace has the coordinates at each tick of the position loop. Accelerations and friction are
    the means of the tick that begins with the sample.
    """

    u: Recorded
    v: Recorded
    a: Recorded
    current: Recorded
    friction: Recorded
    trace: Recorded


class ClosedLoop(NamedTuple):
    """All that a tick works on.

    Attributes:
        size: As many zeros as there are bodies.
        arm: The bodies; none for a plant with a constant mass.
        path: The linear model along the motion that takes their place, or None.
        plant: Rows and parts.
        controller: The servo; without drives on a bench.
        inputs: What drives it: Inputs, or BenchInputs.
        state: What changes.
        work: Values of a tick.
        clock: Its counts and marks.
        record: What it logs; None for no log.
    """

    size: Aside
    arm: Arm
    path: LinearArm | None
    plant: Plant
    controller: Controller
    inputs: Any  # Inputs, or BenchInputs
    state: State
    work: TickValues
    clock: Clock
    record: Record | None

    @property
    def rows(self) -> Rows:
        """Rows of the coordinates, with their levers as they are."""
        return self.plant.rows._replace(weights=self.work.rows)


def make_work(plant: Plant, state: State) -> TickValues:
    """Values of a tick before the first one."""
    N, m, e = len(state.u), len(plant.sensors.row), len(plant.friction.row)
    level = np.ones(e)
    loads = plant.loads
    level[loads.element] = loads.least + loads.share * np.abs(state.carried)
    swept = e if plant.friction.kind == SWITCHING else 0
    sweeps = Sweeps(np.zeros(N), np.zeros((swept, N)), np.zeros((swept, 3)), np.zeros(1))
    return TickValues(
        rows=plant.rows.weights.copy(),
        level=level,
        position=np.zeros(m),
        speed=np.zeros(m),
        current=np.zeros(m),
        tau=np.zeros(N),
        outside=np.zeros(N),
        before=state.v.copy(),
        M=np.zeros((N, N)),
        force=np.zeros(N),
        flow=np.zeros(len(plant.cylinders.row)),
        friction=np.zeros(e),
        loads=np.zeros(len(loads.element)),
        sweeps=sweeps,
    )


def make_clock() -> Clock:
    """Counts and marks before the first tick."""
    clock = Clock(*(np.zeros(1) for _ in Clock._fields))
    clock.late[0] = clock.gone[0] = -1.0
    return clock


def trace_fields(loop: ClosedLoop) -> TracedFields:
    """The fields of a loop as a tape sees them.

    Filters that only scale have no state, rows without levers and friction without a load no
    changing numbers.
    """
    plant = loop.plant
    rigid = np.ones(plant.rows.weights.shape, dtype=bool)
    rigid[plant.levers.row] = False
    unloaded = np.ones(plant.friction.row.shape, dtype=bool)
    unloaded[plant.loads.element] = False
    memoryless = _memoryless(loop.controller.filters)
    constant = {"work.rows": rigid, "work.level": unloaded, "state.memory": memoryless}
    if loop.path is not None:
        for name in ("M", "D", "K"):
            constant[f"path.{name}"] = (getattr(loop.path, name) == 0).all(axis=0)
    dense: tuple[str, ...] = ()
    if is_out_of_square(loop.arm):
        dense = tuple(f"arm.{name}" for name in SMALLEST_BY_DESIGN)
    return TracedFields(loop, constant, dense)


def is_out_of_square(arm: Arm) -> bool:
    """Whether some angle or length of the geometry is so small that it is a deviation, no design.

    Robots with deviated links share one kernel, in which no zero of the geometry is used.
    """
    for name, smallest in SMALLEST_BY_DESIGN.items():
        size = np.abs(getattr(arm, name))
        if np.any((size > ROUNDING) & (size < smallest)):
            return True
    return False


def _memoryless(filters: Floats) -> Flags:
    """Filter states that stay zero: those of filters that only scale, (drives, 4, 2)."""
    second = (filters[:, :, [2, 4]] == 0).all(axis=2)
    first = second & (filters[:, :, [1, 3]] == 0).all(axis=2)
    return np.stack([first, second], axis=2)
