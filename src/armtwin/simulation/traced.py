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
from armtwin.maths.machine_code import Memory
from armtwin.maths.stretches import Part, Stretch, stretches
from armtwin.simulation import accounts, equations, loop, step, ticks

ARGUMENTS = {
    "turn", "offset", "axis", "inertia", "gravity", "weights", "rotor_inertia", "numbers",
    "stiffness", "damping", "gap", "numerical", "scale", "zero", "sensor_quantum", "speed_quantum",
    "per_current", "per_ampere", "limit", "current_quantum", "gains", "filters", "lateness", "slow",
    "h", "position_ticks", "setpoint_ticks", "substeps", "setpoints",
}  # fmt: skip
IN_A_TICK = {"dt", "M", "force", "tau", "outside"}

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

    def sensed(self, row: Any, x: str, reading: str) -> Part:
        """Positions or speeds that the sensors see."""
        tape = Tape()
        part = Part(tape)
        found = scratch(self.m)
        rows, _, _ = self.rows(tape)
        python_of(ticks.read_rows)(self.every, rows, row, self.vector(tape, x), found)
        put(part, reading, found)
        return part

    def position_loops(self) -> Part:
        tape = Tape()
        part = Part(tape)
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
        part.put("late", (), late)
        return part

    def _servo(self, tape: Tape) -> tuple[Any, Any]:
        servo = tape.inputs("servo", (self.m, 6))
        return servo, servo.copy()

    def velocity_loops(self) -> Part:
        tape = Tape()
        part = Part(tape)
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
        part.put("limited", (), limited)
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
        part = Part(tape)
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
        part = Part(tape)
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
                part.put("M", (i, j), M[i, j])
        return part

    def steps(self) -> Part:
        tape = Tape()
        part = Part(tape)
        rows, place, count = self.rows(tape)
        friction = self.plant.friction
        slow = tape.inputs("slow", friction.row.shape)
        v = self.vector(tape, "v")
        substeps = tape.input("substeps", ())
        found = python_of(loop._steps)(rows, place, count, friction.row, slow, v, substeps)
        part.put("steps", (), found)
        return part

    def one_step(self) -> Part:
        tape = Tape()
        part = Part(tape)
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
        part.put("gone", (), tape.choose(solved, lost, N))
        return part


def put(part: Part, array: str, values: Any, known: Any = None) -> None:
    """Write the elements of an array that changed."""
    for place, value in np.ndenumerate(values):
        if known is None or known[place] is not value:
            part.put(array, place, value)


STAGES = (
    "before",
    "speeds",
    "positions",
    "position_loops",
    "velocity_loops",
    "torques",
    "equations",
    "steps",
    "before_steps",
    "one_step",
)


class Traced:
    """The stretches of a structure's loop, and where their arrays lie in one memory."""

    def __init__(self, tracer: Tracer) -> None:
        self.memory = _memory(tracer)
        self.stages: dict[str, list[Stretch]] = {name: [] for name in STAGES}
        parts = {
            "speeds": tracer.sensed(tracer.plant.sensors.speed_row, "v", "speed"),
            "positions": tracer.sensed(tracer.plant.sensors.row, "u", "position"),
            "position_loops": tracer.position_loops(),
            "velocity_loops": tracer.velocity_loops(),
            "torques": tracer.torques(),
            "steps": tracer.steps(),
        }
        if not tracer.linear:
            parts["equations"] = tracer.equations()
        for name, part in parts.items():
            once, inside = self._stretches(name, part, [ARGUMENTS])
            self.stages["before"].append(once)
            self.stages[name].append(inside)
        names = ("before", "before_steps", "one_step")
        loops = [ARGUMENTS, IN_A_TICK]
        for name, stretch in zip(
            names, self._stretches("one_step", tracer.one_step(), loops), strict=True
        ):
            self.stages[name].append(stretch)

    def _stretches(self, name: str, part: Part, unchanged: list[set[str]]) -> list[Stretch]:
        kept = f"kept by {name}"
        found = stretches(part, kept, unchanged)
        self.memory.add(kept, (len(found[0].kept),))
        return found


def _memory(tracer: Tracer) -> Memory:
    """All numbers of a loop in one array, tables in arrays of their own."""
    memory = Memory()
    for name, shape in shapes(tracer).items():
        memory.add(name, shape)
    plant = tracer.plant
    memory.add("curves", plant.friction.curves.shape, 1)
    memory.add("balancer_table", plant.balancers.table.shape, 2)
    memory.add("ref", (1, 4, tracer.m), 3)
    return memory


def shapes(tracer: Tracer) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays that lie in the memory of numbers."""
    arm, plant, c = tracer.arm, tracer.plant, tracer.c
    n, N, m, e, s = tracer.n, tracer.N, tracer.m, len(plant.friction.row), len(plant.springs.row)
    per_drive = (
        "scale", "zero", "sensor_quantum", "speed_quantum", "per_current", "per_ampere", "limit",
        "current_quantum", "lateness", "position", "speed", "current",
    )  # fmt: skip
    numbers = ("h", "dt", "position_ticks", "setpoint_ticks", "substeps", "setpoints", "k", "within")
    results = ("late", "limited", "steps", "gone")
    return {
        "turn": arm.turn.shape,
        "offset": arm.offset.shape,
        "axis": arm.axis.shape,
        "inertia": (n, 10),
        "gravity": (3,),
        "weights": plant.rows.weights.shape,
        "rotor_inertia": (N, N),
        "numbers": plant.friction.numbers.shape,
        "slow": (e,),
        "z": (e,),
        "F": (e,),
        "gains": c.gains.shape,
        "filters": c.filters.shape,
        "servo": (m, 6),
        "memory": (m, 4, 2),
        "M": (N, N),
        "energy": (5,),
        **{name: (s,) for name in ("stiffness", "damping", "gap", "numerical")},
        **{name: (m,) for name in per_drive},
        **{name: (N,) for name in ("u", "v", "before", "tau", "outside", "force", "bias")},
        **{name: () for name in (*numbers, *results)},
    }
