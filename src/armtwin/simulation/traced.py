"""The closed loop of one structure, traced: straight lines for each part of a tick, no product by zero.

The parts are left on tapes by the same kernels that `loop.run` calls, in the same order; only the loops over
ticks and steps are written here. What shapes them is the structure: the tree, zeros, ones and right angles of
its geometry, rows, families of parts, the kind of friction, filters that pass. Lengths, odd angles,
inertias, gains and tables are arguments, so that one kernel serves every variant of a robot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.maths.tape import Table, Tape
from armtwin.maths.tracing import python_of
from armtwin.maths.writing_kernels import Part, text_of
from armtwin.simulation import accounts, equations, loop, step, ticks

ARGUMENTS = {
    "turn", "offset", "axis", "inertia", "gravity", "weights", "rotor_inertia", "numbers",
    "stiffness", "damping", "gap", "numerical", "scale", "zero", "sensor_quantum", "speed_quantum",
    "per_current", "per_ampere", "limit", "current_quantum", "gains", "filters", "lateness", "slow",
    "h", "position_ticks", "setpoint_ticks", "substeps", "setpoints",
}  # fmt: skip
IN_A_TICK = {"dt", "M", "force", "tau", "outside"}

HEAD = '''"""A closed loop, written by armtwin from its kernels; not to be edited."""

from math import atan, cos, floor, sin, sqrt

import numpy as np

from armtwin.drives.outputs import give_late
from armtwin.drives.sensors import read_late
from armtwin.maths.compiled import compiled
from armtwin.simulation.equations import of_linear
from armtwin.simulation.loop import _push, _write, _write_means
from armtwin.simulation.ticks import watch


@compiled
def run(size, every, linear, arm, path, plant, c, inputs, state, record):
    parent, slides, turn, offset, axis, inertia, gravity = arm
    step, path_curves, M0, D0, K0 = path
    (combinations, levers, rotors, friction, springs, balancers, cylinders, sensors, outputs, ties) = plant
    weights, place, count = combinations
    rotor_inertia, spin_body, _, _ = rotors
    friction_row, curves, numbers, kind = friction
    spring_row, stiffness, damping, gap, numerical = springs
    balancer_row, balancer_table = balancers
    sensor_row, speed_row, scale, zero, sensor_quantum, speed_quantum, sensor_delay = sensors
    output_row, per_current, per_ampere, limit, current_quantum, output_delay = outputs
    gains, filters, lateness, h, position_ticks, setpoint_ticks, given = c
    ref, external, ticks, log_ticks, slow, substeps = inputs
    u, v, z, oil, valves, servo, memory, readings, commands, energy, saturated = state
    trace = record.trace
    setpoints = ref.shape[0]
    N, m = u.shape[0], sensor_row.shape[0]
    M, force, before, tau, outside = np.zeros((N, N)), np.zeros(N), v.copy(), np.zeros(N), np.zeros(N)
    u_mid, v_mid, bias = np.zeros(N), np.zeros(N), np.zeros(N)
    F = np.zeros(friction_row.shape[0])
    position, speed, current, since = np.zeros(m), np.zeros(m), np.zeros(m), np.full(m, -1.0)
    late_readings, late_commands = readings.shape[2], commands.shape[2]
    k, within, late, watching = 0, 0, -1, False
{before}
    for tick in range(ticks):
        if within == setpoint_ticks:
            k, within = k + 1, 0
        turn_of_position = within % position_ticks == 0
{speeds}
        if turn_of_position or late_readings > 0:
{positions}
        if late_readings > 0:
            read_late(sensor_delay, readings, tick % late_readings, position, speed)
        if turn_of_position:
            for j in range(N):
                trace[tick // position_ticks, j] = u[j]
{position_loops}
{velocity_loops}
        if limited or watching:
            watch(servo, saturated, since, tick * h, h)
            watching = limited
        if late_commands > 0:
            give_late(output_delay, commands, tick % late_commands, current)
{torques}
        if external.shape[0] > 0:
            _push(every, external, k, (within + 0.5) / setpoint_ticks, outside)
        within += 1
{equations}
        logging = tick % log_ticks == 0
        if logging:
            _write(record, tick // log_ticks, u, v, current)
{steps}
        lost = -1
        dt = h / steps
        for j in range(N):
            before[j] = v[j]
{before_steps}
        for _ in range(steps):
{step}
            lost = max(lost, gone)
        if lost >= 0:
            return 1, tick, lost
        if logging:
            _write_means(record, tick // log_ticks, weights, friction_row, v, before, F, h)
        if late >= 0:
            return 2, tick, late
    return 0, ticks, -1
'''

LINEAR = '''        for j in range(N):
            u_mid[j] = u[j] + 0.5 * h * v[j]
            v_mid[j] = 1.5 * v[j] - 0.5 * before[j]
        of_linear(every, step, path_curves, M0, D0, K0, (tick + 0.5) * h, u_mid, v_mid, M, bias)
        for j in range(N):
            force[j] = tau[j] + outside[j] - bias[j]'''


def scratch(*shape: int) -> Any:
    """An array that kernels write symbols into."""
    return np.zeros(shape, dtype=object)


class Tracer:
    """Symbols of the arrays that the loop of a prepared run is given."""

    def __init__(self, arm: Any, plant: Any, c: Any, linear: bool) -> None:
        self.arm, self.plant, self.c, self.linear = arm, plant, c, linear
        self.n, self.N = len(arm.parent), plant.rows.weights.shape[1]
        self.m = len(plant.sensors.row)
        self.size, self.every = (0,) * self.n, (0,) * self.N

    def vector(self, tape: Tape, name: str) -> Any:
        return tape.inputs(name, (self.N,))

    def drives(self, tape: Tape, name: str) -> Any:
        return tape.inputs(name, (self.m,))

    def rows(self, tape: Tape) -> tuple[Any, Any, Any]:
        weights, place, count = self.plant.rows
        return tape.pattern("weights", weights), place, count

    # the parts of a tick

    def sensed(self, name: str, row: Any, x: str, reading: str) -> Part:
        """Positions or speeds that the sensors see."""
        tape = Tape()
        part = Part(name, tape)
        found = scratch(self.m)
        rows, _, _ = self.rows(tape)
        python_of(ticks.read_rows)(self.every, rows, row, self.vector(tape, x), found)
        put(part, reading, found)
        return part

    def position_loops(self) -> Part:
        tape = Tape()
        part = Part("p", tape)
        sensors, c = self.plant.sensors, self.c
        servo, known = self._servo(tape)
        times = (
            tape.input("h", ()),
            tape.input("position_ticks", ()),
            tape.input("setpoint_ticks", ()),
            c.given_acceleration,
        )
        ref = Table(tape, "ref", (tape.input("setpoints", ()), 4, self.m))
        late = python_of(ticks.position_tick)(
            tape.inputs("gains", c.gains.shape),
            tape.pattern("lateness", c.lateness),
            times,
            tape.pattern("scale", sensors.scale),
            tape.pattern("zero", sensors.zero),
            tape.pattern("sensor_quantum", sensors.quantum),
            ref,
            servo,
            self.drives(tape, "position"),
            tape.input("k", ()),
            tape.input("within", ()),
        )
        put(part, "servo", servo, known)
        part.put("late", late)
        return part

    def _servo(self, tape: Tape) -> tuple[Any, Any]:
        servo = tape.inputs("servo", (self.m, 6))
        return servo, servo.copy()

    def velocity_loops(self) -> Part:
        tape = Tape()
        part = Part("c", tape)
        sensors, outputs, c = self.plant.sensors, self.plant.outputs, self.c
        servo, known = self._servo(tape)
        memory = tape.inputs("memory", (self.m, 4, 2))
        for drive, which, order in np.argwhere(self._memoryless()):
            memory[drive, which, order] = 0.0
        remembered = memory.copy()
        current = scratch(self.m)
        limited = python_of(ticks.velocity_tick)(
            tape.inputs("gains", c.gains.shape),
            tape.pattern("filters", c.filters),
            tape.pattern("scale", sensors.scale),
            tape.pattern("speed_quantum", sensors.speed_quantum),
            tape.inputs("per_current", (self.m,)),
            tape.inputs("limit", (self.m,)),
            tape.pattern("current_quantum", outputs.quantum),
            servo,
            memory,
            self.drives(tape, "speed"),
            current,
        )
        put(part, "servo", servo, known)
        put(part, "memory", memory, remembered)
        put(part, "current", current)
        part.put("limited", limited)
        return part

    def _memoryless(self) -> Any:
        """Filter states that stay zero: those of filters that only scale, (drives, 4, 2)."""
        still = np.zeros((self.m, 4, 2), dtype=bool)
        order_1 = (self.c.filters[:, :, [1, 3]] == 0).all(axis=2)
        order_2 = (self.c.filters[:, :, [2, 4]] == 0).all(axis=2)
        still[:, :, 1] = order_2
        still[:, :, 0] = order_1 & order_2
        return still

    def torques(self) -> Part:
        tape = Tape()
        part = Part("t", tape)
        rows, _, _ = self.rows(tape)
        outputs = self.plant.outputs
        tau = scratch(self.N)
        python_of(ticks.motor_torques)(
            self.every,
            rows,
            outputs.row,
            tape.inputs("per_ampere", (self.m,)),
            self.drives(tape, "current"),
            tau,
        )
        put(part, "tau", tau)
        return part

    def equations(self) -> Part:
        tape = Tape()
        part = Part("e", tape)
        arm, n, N = self.arm, self.n, self.N
        u, v, before = (self.vector(tape, name) for name in ("u", "v", "before"))
        u_mid, v_mid, M, bias, force = (
            scratch(N),
            scratch(N),
            scratch(N, N),
            scratch(N),
            scratch(N),
        )
        python_of(loop.look_ahead)(self.every, u, v, before, tape.input("h", ()), u_mid, v_mid)
        python_of(equations.of_bodies)(
            self.size,
            self.every,
            arm.parent,
            arm.slides,
            tape.pattern("turn", arm.turn),
            tape.pattern("offset", arm.offset),
            tape.pattern("axis", arm.axis),
            tape.inputs("inertia", (n, 10)),
            tape.pattern("gravity", arm.gravity),
            tape.pattern("rotor_inertia", self.plant.rotors.inertia),
            scratch(n, 3, 3),
            *(scratch(n, 3) for _ in range(6)),
            scratch(n, 10),
            scratch(n, n),
            np.zeros(N),
            u_mid,
            v_mid,
            M,
            bias,
        )
        rows, place, count = self.rows(tape)
        balancers = self.plant.balancers
        table = Table(tape, "balancer_table", balancers.table.shape)
        python_of(step.add_balancers)(rows, place, count, balancers.row, table, u_mid, bias)
        tau, outside = self.vector(tape, "tau"), self.vector(tape, "outside")
        python_of(loop._net)(self.every, tau, outside, bias, force)
        put(part, "force", force)
        for i in range(N):
            for j in range(i + 1):
                part.put(f"M[{i}, {j}]", M[i, j])
        return part

    def steps(self) -> Part:
        tape = Tape()
        part = Part("k", tape)
        rows, place, count = self.rows(tape)
        friction = self.plant.friction
        slow = tape.inputs("slow", friction.row.shape)
        v = self.vector(tape, "v")
        substeps = tape.input("substeps", ())
        found = python_of(loop._steps)(rows, place, count, friction.row, slow, v, substeps)
        part.put("steps", found)
        return part

    def one_step(self) -> Part:
        tape = Tape()
        part = Part("s", tape)
        plant, N = self.plant, self.N
        friction, springs, ties = plant.friction, plant.springs, plant.ties
        elements = len(friction.row)
        rows, place, count = self.rows(tape)
        u, v = self.vector(tape, "u"), self.vector(tape, "v")
        z = tape.inputs("z", (elements,))
        energy = tape.inputs("energy", (5,))
        dt = tape.input("dt", ())
        known = {"u": u.copy(), "v": v.copy(), "z": z.copy(), "energy": energy.copy()}
        M, force, tau, outside = (
            tape.inputs("M", (N, N)),
            *(self.vector(tape, name) for name in ("force", "tau", "outside")),
        )
        A, dv = scratch(N, N), scratch(N)
        F, D, G = scratch(elements), scratch(elements), scratch(elements, 4)
        twisted = scratch(len(springs.row), 2)
        pressed = (
            tape.inputs("stiffness", springs.stiffness.shape),
            tape.pattern("damping", springs.damping),
            tape.pattern("gap", springs.gap),
        )
        python_of(loop._begin)(self.every, M, force, dt, A, dv)
        numerical = tape.inputs("numerical", springs.numerical.shape)
        python_of(step.press_springs)(
            rows, place, count, springs.row, *pressed, numerical, u, v, dt, A, dv, twisted
        )
        curves = Table(tape, "curves", friction.curves.shape)
        numbers = tape.inputs("numbers", friction.numbers.shape)
        solved = python_of(step.smooth_step)(
            self.size, self.every, ties.place, ties.count, rows, place, count,
            friction.row, curves, numbers, friction.kind, A, v, z, dt, dv, F, D, G,
        )  # fmt: skip
        python_of(accounts.account)(self.every, dt, energy, v, dv, tau, outside, F, D, G)
        python_of(accounts.account_springs)(
            dt, rows, place, count, springs.row, *pressed, energy, u, v, dv, twisted
        )
        lost = python_of(loop.advance)(self.every, u, v, dv, dt)
        for name, values in (("u", u), ("v", v), ("z", z), ("energy", energy)):
            put(part, name, values, known[name])
        put(part, "F", F)
        part.put("gone", tape.choose(solved, lost, N))
        return part


def put(part: Part, array: str, values: Any, known: Any = None) -> None:
    """Write the elements of an array that changed."""
    for place, value in np.ndenumerate(values):
        if known is None or known[place] is not value:
            part.put(f"{array}[{', '.join(map(str, place))}]", value)


def kernel_text(arm: Any, plant: Any, c: Any, linear: bool) -> str:
    """The text of a module whose `run` does what `loop.run` does, for one structure."""
    tracer = Tracer(arm, plant, c, linear)
    before: list[str] = []

    def lines(part: Part, depth: int) -> str:
        early, inside = text_of(part, [ARGUMENTS])
        before.extend(early)
        return indented(inside, depth)

    parts = {
        "speeds": lines(tracer.sensed("w", plant.sensors.speed_row, "v", "speed"), 2),
        "positions": lines(tracer.sensed("x", plant.sensors.row, "u", "position"), 3),
        "position_loops": lines(tracer.position_loops(), 3),
        "velocity_loops": lines(tracer.velocity_loops(), 2),
        "torques": lines(tracer.torques(), 2),
        "equations": LINEAR if linear else lines(tracer.equations(), 2),
        "steps": lines(tracer.steps(), 2),
    }
    early, in_tick, inside = text_of(tracer.one_step(), [ARGUMENTS, IN_A_TICK])
    before.extend(early)
    parts["before_steps"] = indented(in_tick, 2)
    parts["step"] = indented(inside, 3)
    text = HEAD
    for name, value in {**parts, "before": indented(before, 1)}.items():
        text = text.replace("{" + name + "}", value)
    return text


def indented(lines: list[str], depth: int) -> str:
    """Lines of a block."""
    return "\n".join("    " * depth + line for line in lines)
