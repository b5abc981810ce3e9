"""A tick of the closed loop: its order, which stands here alone, and its stages.

`tick` calls the stages in their order. It is read by all who run a loop: the compiler of kernels
for one loop or for several in lanes, the writer of C, and plain Python, the oracle of tests. A
stage is a function of the whole loop. Run with symbols it leaves a tape; what a structure does not
have leaves nothing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from armtwin.control.controller import SATURATED
from armtwin.drives.friction.load import carry_loads, compute_loads
from armtwin.drives.hydraulics import move_spools
from armtwin.drives.linkage import in_turn
from armtwin.drives.ripple import apply_ripple
from armtwin.drives.rows import Rows, add_along, along
from armtwin.drives.sensors import give_late, read_late
from armtwin.maths.batch import Floats
from armtwin.maths.choice import choose, either, larger, smaller, whole
from armtwin.maths.machine_code import kernel, largest, put
from armtwin.mechanics.arm import make_bodies, place
from armtwin.mechanics.kinematics import press
from armtwin.mechanics.mass import equations_of_motion
from armtwin.simulation.accounts import (
    MOTORS,
    account,
    account_holds,
    account_springs,
    release_cylinders,
)
from armtwin.simulation.equations import of_linear
from armtwin.simulation.loop import ClosedLoop, Sweeps
from armtwin.simulation.plant import OFFSET, SWITCHING
from armtwin.simulation.servo_loops import position_tick, velocity_tick
from armtwin.simulation.solve import solve
from armtwin.simulation.step import (
    LOWER,
    SHARE,
    SWEEPS,
    SWEPT,
    UPPER,
    Contacts,
    StepEquations,
    add_balancers,
    advance,
    begin_step,
    bound_impulses,
    make_contacts,
    press_cylinders,
    press_friction,
    press_springs,
    release_friction,
    set_levers,
    sweep,
)


@kernel
def tick(x: Any, slots: Any, lanes: Any, at_turn: bool, is_pushed: bool, is_logged: bool) -> None:
    """One tick: what is sensed, commanded, and what the plant does until the next.

    Args:
        x: The loop.
        slots: Where the fields of its clock lie.
        lanes: As many zeros as there are loops side by side.
        at_turn: Whether it is the turn of the position loops.
        is_pushed: Whether something acts from outside.
        is_logged: Whether the tick is logged.
    """
    do_read_sensors(x)
    if at_turn:
        do_run_position_loops(x)
    do_run_velocity_loops(x)
    if largest(x, slots.limited, lanes) > 0.0:
        do_watch_limits(x)
    if is_pushed:
        do_push(x)
    do_evaluate_plant(x)
    if is_logged:
        do_log_state(x)
    do_before_steps(x)  # what does not change from step to step
    for count in range(int(largest(x, slots.steps, lanes))):
        put(x, slots.step, lanes, count)
        step(x, slots, lanes)
    do_carry(x)
    if is_logged:
        do_log_means(x)


@kernel
def step(x: Any, slots: Any, lanes: Any) -> None:
    """One step of the plant; where friction switches, with sweeps over its elements."""
    do_take_step(x)
    for _ in range(SWEEPS):
        if largest(x, slots.change, lanes) <= SWEPT:
            break
        do_sweep_friction(x)
    do_end_step(x)


def read_sensors(x: ClosedLoop) -> None:
    """Place the levers, and read late sensors."""
    set_levers(x.plant.levers, x.plant.rows, x.state.u, x.work.rows)
    if x.state.readings is not None:
        _read_positions(x)
        _read_speeds(x)
        delay, work = x.plant.sensors.delay, x.work
        read_late(delay, x.state.readings, x.clock.tick[0], work.position, work.speed)


def _read_speeds(x: ClosedLoop) -> None:
    for m, r in enumerate(x.plant.sensors.speed_row):
        x.work.speed[m] = along(x.rows, r, x.state.v)


def _read_positions(x: ClosedLoop) -> None:
    """Positions of the rows; of rows with levers the length at their angle."""
    levers = list(x.plant.levers.row)
    for m, r in enumerate(x.plant.sensors.row):
        position = along(x.plant.rows, r, x.state.u)
        if r in levers:
            position, _ = in_turn(x.plant.levers.table, levers.index(r), position)
        x.work.position[m] = position


def run_position_loops(x: ClosedLoop) -> None:
    """Run the position loops: commands and feed-forward of the velocity loops."""
    if x.state.readings is None:
        _read_positions(x)
    k, within = whole(x.clock.k[0]), whole(x.clock.within[0])
    x.clock.late[0] = position_tick(
        x.controller, x.plant.sensors, x.inputs.ref, x.state.servo, x.work.position, k, within
    )
    if x.record is not None:
        write_row(x.record.trace, x.clock.trace_row, x.state.u)


def run_velocity_loops(x: ClosedLoop) -> None:
    """Run the velocity loops: currents, which may come late, and torques of the motors."""
    if x.state.readings is None:
        _read_speeds(x)
    state, outputs, work = x.state, x.plant.outputs, x.work
    limited = False
    for m in range(len(outputs.row)):
        limited = either(limited, state.servo[m, SATURATED] != 0.0)
    limited = either(
        velocity_tick(
            x.controller, x.plant.sensors, outputs, state.servo, state.memory, work.speed,
            work.current,
        ),
        limited,
    )  # fmt: skip
    x.clock.limited[0] = choose(limited, 1.0, 0.0)
    if state.commands is not None:
        give_late(outputs.delay, state.commands, x.clock.tick[0], work.current)
    work.tau[:] = 0.0
    for m, r in enumerate(outputs.row):
        add_along(x.rows, r, outputs.torque[m] * work.current[m], work.tau)


def watch_limits(x: ClosedLoop) -> None:
    """Keep the longest stay of each drive at its current limit."""
    h, state = x.controller.tick, x.state
    time = x.clock.tick[0] * h
    for m in range(len(state.since)):
        at_limit = state.servo[m, SATURATED] != 0.0
        begun = choose(state.since[m] < 0.0, time, state.since[m])
        stay = time + h - begun
        is_longest = choose(at_limit, stay > state.saturated[m, 0], False)
        state.saturated[m, 0] = choose(is_longest, stay, state.saturated[m, 0])
        state.saturated[m, 1] = choose(is_longest, begun, state.saturated[m, 1])
        state.since[m] = choose(at_limit, begun, -1.0)


def push(x: ClosedLoop) -> None:
    """Torques from outside in the middle of the tick."""
    for j in range(len(x.work.outside)):
        x.work.outside[j] = _at_middle(x, x.inputs.external, j)


def _at_middle(x: ClosedLoop, values: Any, column: int) -> Any:
    """A column of values at the set-points in the middle of the tick, linear between them."""
    last = values.shape[0] - 1
    k = whole(x.clock.k[0])
    share = (x.clock.within[0] + 0.5) / x.controller.setpoint_ticks
    before, after = values[smaller(k, last), column], values[smaller(k + 1, last), column]
    return (1 - share) * before + share * after


def evaluate_plant(x: ClosedLoop) -> None:
    """Equations of motion half a tick ahead, flows of the valves, and the steps to take."""
    plant, state, work, h = x.plant, x.state, x.work, x.controller.tick
    u = state.u + 0.5 * h * state.v
    v = 1.5 * state.v - 0.5 * work.before
    set_levers(plant.levers, plant.rows, u, work.rows)
    bodies = make_bodies(x.arm, u)
    bias = np.zeros(len(u), dtype=u.dtype)
    if x.path is not None:
        of_linear(x.path, (x.clock.tick[0] + 0.5) * h, u, v, work.M, bias)
    else:
        equations_of_motion(x.arm, plant.rotors, bodies, u, v, work.M, bias)
        add_balancers(plant.balancers, x.rows, u, bias)
    if x.inputs.wrench is not None:
        _press_tool(x, bodies, u)
    move_spools(plant.cylinders, work.current, state.valves, work.flow)
    work.force[:] = work.tau + work.outside - bias
    _count_steps(x)
    work.before[:] = state.v
    x.clock.gone[0] = -1.0


def _press_tool(x: ClosedLoop, bodies: Any, u: Floats) -> None:
    """Add the torques of a force on the tool where it is."""
    values = [_at_middle(x, x.inputs.wrench, column) for column in range(6)]
    tool, force, torque = x.inputs.tool, tuple(values[:3]), tuple(values[3:])
    place(x.arm, u, bodies)
    press(x.arm, bodies, tool, x.inputs.point, force, torque, x.work.outside)


def _count_steps(x: ClosedLoop) -> None:
    """Steps of the tick: several before an element slides, one while all slide."""
    steps = 1
    for e, r in enumerate(x.plant.friction.row):
        sticks = abs(along(x.rows, r, x.state.v)) < x.inputs.slow[e]
        steps = choose(sticks, x.inputs.substeps, steps)
    x.clock.steps[0] = steps
    x.clock.dt[0] = x.controller.tick / steps


def log_state(x: ClosedLoop) -> None:
    """Log coordinates, speeds and currents at the start of the tick."""
    assert x.record is not None
    record, row = x.record, x.clock.log_row
    write_row(record.u, row, x.state.u)
    write_row(record.v, row, x.state.v)
    write_row(record.current, row, x.work.current)


def log_means(x: ClosedLoop) -> None:
    """Log mean accelerations and friction of the tick."""
    assert x.record is not None
    record, row, h = x.record, x.clock.log_row, x.controller.tick
    resistance = np.zeros(len(x.state.u), dtype=x.state.u.dtype)
    for e, r in enumerate(x.plant.friction.row):
        add_along(x.rows, r, x.work.friction[e], resistance)
    write_row(record.a, row, (x.state.v - x.work.before) / h)
    write_row(record.friction, row, resistance)


def write_row(record: Any, row: Floats, values: Any) -> None:
    """Write values to a row of a record."""
    for j, value in enumerate(values):
        record[whole(row[0]), j] = value


def take_step(x: ClosedLoop) -> None:
    """One step of the plant, up to the sweeps where friction switches."""
    plant, state, level = x.plant, x.state, x.work.level
    system, pressing, pressed = _press_parts(x)
    if plant.friction.kind == SWITCHING:
        _begin_sweeps(x, x.work.sweeps, system)
        return
    contacts = press_friction(plant.friction, level, x.rows, state.v, state.z, system)
    solved = solve(x.size, plant.ties, system.A, system.b)
    release_friction(plant.friction, level, x.rows, contacts, state.z, system)
    _finish_step(x, pressing, pressed, contacts, system.b, solved)


def _press_parts(x: ClosedLoop) -> tuple[StepEquations, tuple[Rows, Any], Any]:
    """Equations of a step but for friction; rows and slack of the springs; what these bear."""
    plant, state, work = x.plant, x.state, x.work
    h = x.clock.dt[0]
    system = begin_step(work.M, work.force, h)
    rows, slack = x.rows, plant.springs.rest
    if len(plant.ripples.spring):
        ahead = state.u + 0.5 * h * state.v
        weights, slack = apply_ripple(plant.ripples, plant.springs, rows, ahead)
        rows = rows._replace(weights=weights)
    pressed = press_springs(plant.springs, slack, rows, state.u, state.v, system)
    held = press_springs(plant.holds, plant.holds.rest, x.rows, state.u, state.v, system)
    press_cylinders(plant.cylinders, x.rows, state.oil, work.flow, state.v, system)
    return system, (rows, slack), (pressed, held)


def _finish_step(
    x: ClosedLoop,
    pressing: tuple[Rows, Any],
    pressed: Any,
    contacts: Contacts,
    dv: Floats,
    solved: Any,
) -> None:
    """Where the energy of a step went, and the state after it."""
    plant, state, work = x.plant, x.state, x.work
    h = x.clock.dt[0]
    rows, slack = pressing
    middle = state.v + 0.5 * dv
    account(state.energy, h, middle, work.tau, work.outside, contacts)
    motion = (h, state.u, state.v, dv)
    account_springs(state.energy, plant.springs, slack, rows, motion, pressed[0])
    account_holds(state.energy, plant.holds, x.rows, motion, pressed[1])
    pushed = release_cylinders(plant.cylinders, x.rows, middle, state.oil, work.flow, h)
    state.energy[MOTORS] += pushed
    lost = choose(solved, advance(state.u, state.v, dv, h), len(dv))
    x.clock.gone[0] = larger(x.clock.gone[0], lost)
    work.friction[:] = contacts.torque
    if len(plant.loads.element):
        torque = plant.outputs.torque * work.current
        work.loads[:] = compute_loads(plant.loads, torque, h, contacts.half_way, contacts.change)


def _begin_sweeps(x: ClosedLoop, sweeps: Sweeps, system: StepEquations) -> None:
    """Speed change under the impulses of the step before, and what the sweeps need."""
    friction, state, h = x.plant.friction, x.state, system.h
    bound_impulses(friction, x.work.level, x.rows, state.v, h, sweeps.bounds)
    A, dv = system.A.copy(), system.b
    solved = solve(x.size, x.plant.ties, A, dv)
    for k, r in enumerate(friction.row):
        answer = x.rows.weights[r].copy()
        solve(x.size, x.plant.ties, system.A.copy(), answer)
        sweeps.bounds[k, SHARE] = along(x.rows, r, answer)
        within = larger(state.z[k], sweeps.bounds[k, LOWER])
        state.z[k] = smaller(within, sweeps.bounds[k, UPPER])
        for j in range(len(dv)):
            sweeps.answers[k, j] = answer[j]
            dv[j] -= answer[j] * (state.z[k] + h * friction.numbers[k, OFFSET])
    sweeps.dv[:] = dv
    sweeps.solved[0] = choose(solved, 1.0, 0.0)
    x.clock.change[0] = 1.0


def sweep_friction(x: ClosedLoop) -> None:
    """Have each element of switching friction stop its row if it can."""
    state, sweeps = x.state, x.work.sweeps
    x.clock.change[0] = sweep(x.plant.friction, x.rows, state.v, sweeps.dv, state.z, sweeps)


def end_step(x: ClosedLoop) -> None:
    """The state after a step whose friction switches."""
    friction, dv, h = x.plant.friction, x.work.sweeps.dv, x.clock.dt[0]
    _, pressing, pressed = _press_parts(x)
    contacts = make_contacts(friction, dv)
    for k, r in enumerate(friction.row):
        contacts.torque[k] = x.state.z[k] / h + friction.numbers[k, OFFSET]
        contacts.speed[k] = along(x.rows, r, x.state.v)
        contacts.change[k] = along(x.rows, r, dv)
    _finish_step(x, pressing, pressed, contacts, dv, x.work.sweeps.solved[0] > 0.5)


def carry(x: ClosedLoop) -> None:
    """Levels of the friction that follows its load."""
    carry_loads(x.plant.loads, x.work.loads, x.state.carried, x.work.level)


def _nothing(x: Any) -> None:
    """A stage that a structure does not have."""


Stage = Callable[[ClosedLoop], None]
NamedStages = dict[str, Stage]

TAKE_STEP = "take_step"
OF_TICK: NamedStages = {
    "read_sensors": read_sensors,
    "run_position_loops": run_position_loops,
    "run_velocity_loops": run_velocity_loops,
    "watch_limits": watch_limits,
    "push": push,
    "evaluate_plant": evaluate_plant,
    "log_state": log_state,
    "carry": carry,
    "log_means": log_means,
}
OF_STEP: NamedStages = {
    TAKE_STEP: take_step,
    "sweep_friction": sweep_friction,
    "end_step": end_step,
}

do_read_sensors = do_run_position_loops = do_run_velocity_loops = do_watch_limits = _nothing
do_push = do_evaluate_plant = do_log_state = do_before_steps = do_carry = do_log_means = _nothing
do_take_step = do_sweep_friction = do_end_step = _nothing
