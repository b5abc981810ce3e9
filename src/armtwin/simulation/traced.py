"""The parts of a tick, traced for one structure: no product by zero, nothing computed twice.

The parts are left on tapes by the same kernels that `loop.run` calls, in the same order. What
shapes them is the structure: the tree, zeros, ones and right angles of its geometry, rows, families
of parts, the kind of friction, filters that pass. Lengths, odd angles, inertias, gains and tables
are arguments, so that one kernel serves the variants of a robot.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from armtwin.control.controller import REFERENCES
from armtwin.drives.friction.load import carry, load_step
from armtwin.drives.ripple import apply_ripple
from armtwin.maths.batch import Floats, Indices
from armtwin.maths.memory import Memory
from armtwin.maths.stretches import Part, TapeStretch, stretches
from armtwin.maths.tape import ROUNDING, Tape, TapeTable, pattern_of
from armtwin.maths.tracing import python_of
from armtwin.simulation import accounts, equations, loop, step, ticks

NUMBERS = (
    "h",
    "dt",
    "position_ticks",
    "setpoint_ticks",
    "substeps",
    "setpoints",
    "pushes",
    "presses",
    "k",
    "within",
    "taken",
)
RESULTS = ("late", "limited", "steps", "gone")
OF_DRIVES = (
    "scale",
    "zero",
    "sensor_quantum",
    "speed_quantum",
    "per_current",
    "per_ampere",
    "limit",
    "current_quantum",
    "lateness",
)
OF_SPRINGS = ("stiffness", "damping", "gap", "soft", "knee", "rest", "numerical")
OF_RIPPLES = ("cycles", "amplitude", "phase")
OF_LOADS = ("load_ratio", "load_inertia", "load_least", "load_share")
GEOMETRY = ("turn", "offset", "axis", "gravity")
# below which an element of the geometry is a deviation: sines of 3 degrees, 5 mm, a tilted base
SMALLEST_BY_DESIGN = {"turn": 0.05, "offset": 0.005, "axis": 0.05, "gravity": 0.5}
# arrays that do not change in a run, and in a tick
IN_A_RUN = {
    *GEOMETRY,
    *OF_DRIVES,
    *OF_SPRINGS,
    *OF_RIPPLES,
    *OF_LOADS,
    "inertia",
    "weights",
    "rotor_inertia",
    "numbers",
    "gains",
    "filters",
    "slow",
    "level",
    "h",
    "position_ticks",
    "setpoint_ticks",
    "substeps",
    "setpoints",
    "pushes",
    "presses",
    "point",
}
IN_A_TICK = {"dt", "M", "force", "tau", "outside", "current", "loaded_level"}

STAGES = (
    "before",  # once a run: what does not change in it
    "speeds",  # read the speed sensors
    "positions",  # read the encoders, in turns of the position loop
    "position_loops",  # set-point and position loop, in its own turns
    "velocity_loops",  # velocity loop, filters, limits: a current for each drive
    "torques",  # outputs: currents to torques of the drives
    "outside",  # forces of the process and of other units
    "equations",  # mass matrix and bias of the arm, net force
    "steps",  # in how many steps the tick is integrated
    "before_steps",  # once a tick: what does not change from step to step
    "one_step",  # friction, springs and accelerations solved together; state moved on
    "carry",  # load of the gears, for friction that depends on it
    "means",  # means of accelerations and friction, where the tick is logged
)
# memories beside that of the numbers, which is 0
CURVES, BALANCER_TABLE, REF, EXTERNAL, WRENCH, KEPT = 1, 2, 3, 4, 5, 6
NOWHERE = -2  # no body: -1 is the base
LEAST_LEVEL = 1e-9  # of friction
MOST_KEPT = 8192  # results that are kept from loop to loop


def is_out_of_square(arm: Any) -> bool:
    """Whether some angle or length of the geometry is so small that it is a deviation, no design.

    Robots with deviated links share one kernel, in which no zero of the geometry is used.
    """
    for name, smallest in SMALLEST_BY_DESIGN.items():
        size = np.abs(getattr(arm, name))
        if np.any((size > ROUNDING) & (size < smallest)):
            return True
    return False


class KernelStructure:
    """What shapes the kernel of a loop.

    Attributes:
        arm: The bodies.
        plant: Rows and parts.
        c: The servo.
        linear: Whether a linear model along the motion takes the place of the bodies.
        pressed: Body that bears a force from outside, or NOWHERE.
        dense: Whether the geometry is taken as if it had no zeros, ones and right angles.
        levelled: Whether the torques of each friction element are multiplied by its level.
    """

    def __init__(
        self,
        arm: Any,
        plant: Any,
        c: Any,
        *,
        linear: bool,
        pressed: int = NOWHERE,
        levelled: bool = False,
    ) -> None:
        self.arm, self.plant, self.c, self.pressed = arm, plant, c, pressed
        self.linear, self.dense, self.levelled = linear, is_out_of_square(arm), levelled
        self.bodies, self.coordinates = len(arm.parent), plant.rows.weights.shape[1]
        self.drives, self.elements = len(plant.sensors.row), len(plant.friction.row)
        self.loaded = len(plant.loads.element)

    @property
    def can_be_traced(self) -> bool:
        """Whether all its families are on the tape.

        Levers, oil and spin are not, nor switching friction.
        """
        plant = self.plant
        families = (plant.levers.row, plant.cylinders.row, plant.rotors.body)
        return not any(len(x) for x in families) and plant.friction.kind != loop.SWITCHING

    def family(self) -> Iterator[bytes]:
        """What shapes the kernel beside the geometry."""
        arm, plant, c = self.arm, self.plant, self.c
        kinds = (self.linear, self.pressed, plant.friction.kind, c.given_acceleration)
        yield repr(kinds).encode()
        if self.levelled:
            yield b"levelled"
        if self.loaded:
            yield repr((plant.loads.element.tolist(), plant.loads.drive.tolist())).encode()
        for numbers in (
            arm.parent,
            arm.slides,
            plant.sensors.row,
            plant.sensors.speed_row,
            plant.outputs.row,
            plant.friction.row,
            plant.springs.row,
            plant.ripples.spring,
            plant.ripples.motor,
            plant.balancers.row,
        ):
            yield repr(np.asarray(numbers).tolist()).encode()
        for values in (
            plant.rows.weights,
            plant.rotors.inertia,
            plant.sensors.scale,
            plant.sensors.zero,
            c.filters,
        ):
            yield pattern_of(values)

    def geometry(self) -> Iterator[bytes]:
        """The pattern of the geometry."""
        is_unused = self.linear and self.pressed == NOWHERE
        if self.dense or is_unused:
            yield b"dense"
            return
        for name in GEOMETRY:
            yield pattern_of(getattr(self.arm, name))

    def shapes(self) -> dict[str, Indices]:
        """Shapes of the arrays that lie in the memory of numbers."""
        arm, plant, c = self.arm, self.plant, self.c
        N, m, e = self.coordinates, self.drives, self.elements
        return {
            **{name: getattr(arm, name).shape for name in (*GEOMETRY, "inertia")},
            "weights": plant.rows.weights.shape,
            "rotor_inertia": (N, N),
            "numbers": plant.friction.numbers.shape,
            "gains": c.gains.shape,
            "filters": c.filters.shape,
            "servo": (m, 6),
            "memory": (m, 4, 2),
            "M": (N, N),
            "energy": (5,),
            "point": (3,),
            **dict.fromkeys(("slow", "z", "F", *(("level",) if self.levelled else ())), (e,)),
            **dict.fromkeys(OF_SPRINGS, plant.springs.row.shape),
            **dict.fromkeys(OF_RIPPLES, plant.ripples.spring.shape),
            **dict.fromkeys((*OF_LOADS, "passed", "carried", "loaded_level"), (self.loaded,)),
            **dict.fromkeys((*OF_DRIVES, "position", "speed", "current"), (m,)),
            **dict.fromkeys(("u", "v", "before", "tau", "outside", "force", "bias"), (N,)),
            **dict.fromkeys(("acceleration", "resistance"), (N,)),
            **dict.fromkeys((*NUMBERS, *RESULTS), ()),
        }

    def memory(self) -> Memory:
        """Where the arrays lie."""
        memory = Memory()
        for name, shape in self.shapes().items():
            memory.add(name, shape)
        memory.add("curves", self.plant.friction.curves.shape, CURVES)
        memory.add("balancer_table", self.plant.balancers.table.shape, BALANCER_TABLE)
        memory.add("ref", (1, REFERENCES, self.drives), REF)
        memory.add("external", (1, self.coordinates), EXTERNAL)
        memory.add("wrench", (1, 6), WRENCH)
        return memory


def trace_stages(
    structure: KernelStructure, *, in_lanes: bool = False
) -> tuple[dict[str, list[TapeStretch]], Memory]:
    """The stretches of each stage of a loop, and where their arrays lie.

    In lanes a step is taken only where `taken` is 1: loops take more or fewer of them in a tick.
    """
    tracer = _Tracer(structure)
    memory = structure.memory()
    memory.woven = in_lanes
    stages: dict[str, list[TapeStretch]] = {name: [] for name in STAGES}
    for name, part in tracer.parts():
        once, inside = _split_part(name, part, [IN_A_RUN], memory)
        stages["before"].append(once)
        stages[name].append(inside)
    one_step = tracer.one_step(is_chosen=in_lanes)
    found = _split_part("one_step", one_step, [IN_A_RUN, IN_A_TICK], memory)
    for name, stretch in zip(("before", "before_steps", "one_step"), found, strict=True):
        stages[name].append(stretch)
    return stages, memory


def _split_part(
    name: str, part: Part, unchanged: list[set[str]], memory: Memory
) -> list[TapeStretch]:
    kept = f"kept by {name}"
    found = stretches(part, kept, unchanged)
    memory.add(kept, (len(found[0].kept),), KEPT)
    assert memory.sizes[KEPT] <= MOST_KEPT
    return found


def scratch(*shape: int) -> Any:
    """An array that kernels write symbols into."""
    return np.zeros(shape, dtype=object)


def put_all(part: Part, array: str, values: Any, known: Any = None) -> None:
    """Write the elements of an array that changed."""
    for place, value in np.ndenumerate(values):
        if known is None or known[place] is not value:
            part.put(array, place, value)


class Levelled:
    """Friction tables of which each element's torques are multiplied by its level.

    A level of zero leaves a trace of friction: bristles must relax at any speed.
    """

    def __init__(self, table: TapeTable, level: Any) -> None:
        self.table = table
        self.level = [table.tape.do("larger", x, LEAST_LEVEL) for x in level]

    def __getitem__(self, place: tuple[Any, ...]) -> Any:
        return self.level[place[0]] * self.table[place]


class _Tracer:
    """Runs the kernels of a tick with symbols."""

    def __init__(self, structure: KernelStructure) -> None:
        self.structure = structure
        self.arm, self.plant, self.c = structure.arm, structure.plant, structure.c
        self.size = (0,) * structure.bodies
        self.every = (0,) * structure.coordinates
        self.shapes = structure.shapes()

    def parts(self) -> Iterator[tuple[str, Part]]:
        """All parts of a tick but its steps."""
        sensors = self.plant.sensors
        yield "speeds", self._read_sensors(sensors.speed_row, "v", "speed")
        yield "positions", self._read_sensors(sensors.row, "u", "position")
        yield "position_loops", self._position_loops()
        yield "velocity_loops", self._velocity_loops()
        yield "torques", self._torques()
        yield "outside", self._outside()
        yield "steps", self._steps()
        yield "means", self._means()
        if self.structure.loaded:
            yield "carry", self._carry()
        if not self.structure.linear:
            yield "equations", self._equations()

    def _all(self, tape: Tape, *names: str) -> list[Any]:
        """Arrays of which every element is an input."""
        return [tape.inputs(name, self.shapes[name]) for name in names]

    def _number(self, tape: Tape, name: str) -> Any:
        return tape.input(name, ())

    def _rows(self, tape: Tape) -> tuple[Any, Any, Any]:
        weights, place, count = self.plant.rows
        return tape.pattern("weights", weights), place, count

    def _geometry(self, tape: Tape, name: str) -> Any:
        if self.structure.dense:
            return tape.inputs(name, self.shapes[name])
        return tape.pattern(name, getattr(self.arm, name))

    def _read_sensors(self, row: Any, x: str, reading: str) -> Part:
        """Positions or speeds that the sensors see."""
        tape = Tape()
        part = Part(tape)
        rows, _, _ = self._rows(tape)
        (values,) = self._all(tape, x)
        found = scratch(self.structure.drives)
        python_of(ticks.read_rows)(self.every, rows, row, values, found)
        put_all(part, reading, found)
        return part

    def _position_loops(self) -> Part:
        tape = Tape()
        part = Part(tape)
        sensors = self.plant.sensors
        gains, lateness, quantum, servo, position = self._all(
            tape, "gains", "lateness", "sensor_quantum", "servo", "position"
        )
        known = servo.copy()
        times = (
            self._number(tape, "h"),
            self._number(tape, "position_ticks"),
            self._number(tape, "setpoint_ticks"),
            self.c.given_acceleration,
        )
        setpoints = self._number(tape, "setpoints")
        late = python_of(ticks.position_tick)(
            gains,
            lateness,
            times,
            tape.pattern("scale", sensors.scale),
            tape.pattern("zero", sensors.zero),
            quantum,
            TapeTable(tape, "ref", (setpoints, REFERENCES, self.structure.drives)),
            servo,
            position,
            self._number(tape, "k"),
            self._number(tape, "within"),
        )
        put_all(part, "servo", servo, known)
        part.put("late", (), late)
        return part

    def _velocity_loops(self) -> Part:
        tape = Tape()
        part = Part(tape)
        gains, speed_quantum, per_current, limit, quantum, servo, memory, speed = self._all(
            tape,
            "gains",
            "speed_quantum",
            "per_current",
            "limit",
            "current_quantum",
            "servo",
            "memory",
            "speed",
        )
        for place in np.argwhere(_memoryless(self.c.filters)):
            memory[tuple(place)] = 0.0
        known, remembered = servo.copy(), memory.copy()
        current = scratch(self.structure.drives)
        limited = python_of(ticks.velocity_tick)(
            gains,
            tape.pattern("filters", self.c.filters),
            tape.pattern("scale", self.plant.sensors.scale),
            speed_quantum,
            per_current,
            limit,
            quantum,
            servo,
            memory,
            speed,
            current,
        )
        put_all(part, "servo", servo, known)
        put_all(part, "memory", memory, remembered)
        put_all(part, "current", current)
        part.put("limited", (), limited)
        return part

    def _torques(self) -> Part:
        tape = Tape()
        part = Part(tape)
        rows, _, _ = self._rows(tape)
        per_ampere, current = self._all(tape, "per_ampere", "current")
        tau = scratch(self.structure.coordinates)
        row = self.plant.outputs.row
        python_of(ticks.motor_torques)(self.every, rows, row, per_ampere, current, tau)
        put_all(part, "tau", tau)
        return part

    def _outside(self) -> Part:
        tape = Tape()
        part = Part(tape)
        N = self.structure.coordinates
        found = scratch(N)
        external = TapeTable(tape, "external", (self._number(tape, "pushes"), N))
        k, within, setpoint_ticks = (
            self._number(tape, name) for name in ("k", "within", "setpoint_ticks")
        )
        python_of(loop.push)(self.every, external, k, within, setpoint_ticks, found)
        if self.structure.pressed != NOWHERE:
            self._push_tool(tape, (k, within, setpoint_ticks), found)
        put_all(part, "outside", found)
        return part

    def _push_tool(self, tape: Tape, time: tuple[Any, Any, Any], outside: Any) -> None:
        """Add what a force on the tool does on the coordinates."""
        n, N = self.structure.bodies, self.structure.coordinates
        u, v, before, point = self._all(tape, "u", "v", "before", "point")
        turn, offset, axis = (self._geometry(tape, name) for name in ("turn", "offset", "axis"))
        wrench = TapeTable(tape, "wrench", (self._number(tape, "presses"), 6))
        R, P = scratch(n, 3, 3), scratch(n, 3)
        u_mid, v_mid = scratch(N), scratch(N)
        h = self._number(tape, "h")
        python_of(loop.look_ahead)(self.every, u, v, before, h, u_mid, v_mid)
        python_of(loop.push_tool)(
            self.size, self.arm.parent, self.arm.slides, turn, offset, axis, R, P,
            self.structure.pressed, point, wrench, *time, u_mid, outside,
        )  # fmt: skip

    def _means(self) -> Part:
        tape = Tape()
        part = Part(tape)
        rows, _, _ = self._rows(tape)
        v, before, F = self._all(tape, "v", "before", "F")
        acceleration, resistance = (scratch(self.structure.coordinates) for _ in range(2))
        h, row = self._number(tape, "h"), self.plant.friction.row
        python_of(loop.means)(self.every, rows, row, v, before, F, h, acceleration, resistance)
        put_all(part, "acceleration", acceleration)
        put_all(part, "resistance", resistance)
        return part

    def _carry(self) -> Part:
        tape = Tape()
        part = Part(tape)
        least, share, load, carried = self._all(
            tape, "load_least", "load_share", "passed", "carried"
        )
        level = scratch(self.structure.loaded)
        python_of(carry)(least, share, load, carried, level)
        put_all(part, "carried", carried)
        put_all(part, "loaded_level", level)
        return part

    def _levels(self, tape: Tape) -> list[Any]:
        """Factors of the dry friction of each element: 1 but where it follows a load."""
        level: list[Any] = [1.0] * self.structure.elements
        (found,) = self._all(tape, "loaded_level")
        for element, value in zip(self.plant.loads.element, found, strict=True):
            level[element] = value
        return level

    def _load(self, tape: Tape, of_step: tuple[Any, ...]) -> Any:
        """Loads of a step, from its length, friction, slopes and speeds."""
        loads = self.plant.loads
        ratio, inertia, per_ampere, current = self._all(
            tape, "load_ratio", "load_inertia", "per_ampere", "current"
        )
        found = scratch(self.structure.loaded)
        numbers = loads.element, loads.drive, ratio, inertia, loads.beside
        python_of(load_step)(*numbers, per_ampere, current, *of_step, found)
        return found

    def _equations(self) -> Part:
        tape = Tape()
        part = Part(tape)
        n, N = self.structure.bodies, self.structure.coordinates
        u, v, before, tau, outside, inertia = self._all(
            tape, "u", "v", "before", "tau", "outside", "inertia"
        )
        turn, offset, axis, gravity = (self._geometry(tape, name) for name in GEOMETRY)
        rotors = tape.pattern("rotor_inertia", self.plant.rotors.inertia)
        u_mid, v_mid, bias, force = (scratch(N) for _ in range(4))
        M, none = scratch(N, N), np.zeros(N)
        R, Ic, L = scratch(n, 3, 3), scratch(n, 10), scratch(n, n)
        P, w, al, ac, f, t = (scratch(n, 3) for _ in range(6))
        h = self._number(tape, "h")
        python_of(loop.look_ahead)(self.every, u, v, before, h, u_mid, v_mid)
        python_of(equations.of_bodies)(
            self.size, self.every, self.arm.parent, self.arm.slides, turn, offset, axis, inertia,
            gravity, rotors, R, P, w, al, ac, f, t, Ic, L, none, u_mid, v_mid, M, bias,
        )  # fmt: skip
        rows, place, count = self._rows(tape)
        row, table = self.plant.balancers
        tables = TapeTable(tape, "balancer_table", table.shape)
        python_of(step.add_balancers)(rows, place, count, row, tables, u_mid, bias)
        python_of(loop.net)(self.every, tau, outside, bias, force)
        put_all(part, "force", force)
        for i in range(N):
            for j in range(i + 1):
                part.put("M", (i, j), M[i, j])
        return part

    def _steps(self) -> Part:
        tape = Tape()
        part = Part(tape)
        rows, place, count = self._rows(tape)
        slow, v = self._all(tape, "slow", "v")
        if self.structure.levelled:
            slow = slow * self._all(tape, "level")[0]
        row = self.plant.friction.row
        substeps = self._number(tape, "substeps")
        found = python_of(loop.steps_in_tick)(rows, place, count, row, slow, v, substeps)
        part.put("steps", (), found)
        return part

    def one_step(self, *, is_chosen: bool) -> Part:
        """A step of the plant; one that is chosen changes something only where `taken` is 1."""
        tape = Tape()
        part = Part(tape)
        N, e = self.structure.coordinates, self.structure.elements
        friction, springs, ties = self.plant.friction, self.plant.springs, self.plant.ties
        rows, place, count = self._rows(tape)
        changing = dict(zip("uvz", self._all(tape, "u", "v", "z"), strict=True))
        (changing["energy"],) = self._all(tape, "energy")
        known = {name: values.copy() for name, values in changing.items()}
        u, v, z, energy = changing.values()
        M, force, tau, outside, numbers = self._all(tape, "M", "force", "tau", "outside", "numbers")
        stiffness, damping, gap, soft, knee, rest, numerical = self._all(tape, *OF_SPRINGS)
        dt = self._number(tape, "dt")
        A, dv = scratch(N, N), scratch(N)
        F, D, G = scratch(e), scratch(e), scratch(e, 2)
        twisted = scratch(len(springs.row), 2)
        curves: Any = TapeTable(tape, "curves", friction.curves.shape)
        if self.structure.levelled:
            curves = Levelled(curves, self._all(tape, "level")[0])
        python_of(loop.begin)(self.every, M, force, dt, A, dv)
        acting, slack = self._uneven(tape, rows, (u, v, dt), rest)
        python_of(step.press_springs)(
            acting, place, count, springs.row, stiffness, damping, gap, soft, knee, slack,
            numerical, u, v, dt, A, dv, twisted,
        )  # fmt: skip
        solved = python_of(step.smooth_step)(
            self.size, self.every, ties.place, ties.count, rows, place, count,
            friction.row, curves, numbers, self._levels(tape), friction.kind, A, v, z, dt, dv,
            F, D, G,
        )  # fmt: skip
        python_of(accounts.account)(self.every, dt, energy, v, dv, tau, outside, F, D, G)
        python_of(accounts.account_springs)(
            dt, acting, place, count, springs.row, stiffness, damping, gap, soft, knee, slack,
            energy, u, v, dv, twisted,
        )  # fmt: skip
        lost = python_of(loop.advance)(self.every, u, v, dv, dt)
        changing["F"], gone = F, tape.choose(solved, lost, N)
        (known["F"],) = self._all(tape, "F")
        if self.structure.loaded:
            changing["passed"] = self._load(tape, (dt, F, D, G))
            (known["passed"],) = self._all(tape, "passed")
        if is_chosen:
            taken = self._number(tape, "taken") > 0.5
            gone = tape.choose(taken, gone, -1)
            for name, values in changing.items():
                changing[name] = _choose(tape, taken, values, known[name])
        for name, values in changing.items():
            put_all(part, name, values, known[name])
        part.put("gone", (), gone)
        return part

    def _uneven(self, tape: Tape, weights: Any, state: Any, rest: Any) -> tuple[Any, Any]:
        """Rows of the springs and where they are slack, with the ripple of their gears."""
        _, place, count = self.plant.rows
        ripples = self.plant.ripples
        if not len(ripples.spring):
            return weights, rest
        rows, slack = weights.copy(), rest.copy()
        python_of(apply_ripple)(
            weights, place, count, self.plant.springs.row, rest, ripples.spring, ripples.motor,
            *self._all(tape, *OF_RIPPLES), *state, rows, slack,
        )  # fmt: skip
        return rows, slack


def _choose(tape: Tape, condition: Any, values: Any, others: Any) -> Any:
    """Values where a condition holds, others elsewhere; what is the same in both is left alone."""
    found = others.copy()
    for place, value in np.ndenumerate(values):
        if value is not others[place]:
            found[place] = tape.choose(condition, value, others[place])
    return found


def _memoryless(filters: Floats) -> Any:
    """Filter states that stay zero: those of filters that only scale, (drives, 4, 2)."""
    still = np.zeros((*filters.shape[:2], 2), dtype=bool)
    second = (filters[:, :, [2, 4]] == 0).all(axis=2)
    still[:, :, 1] = second
    still[:, :, 0] = second & (filters[:, :, [1, 3]] == 0).all(axis=2)
    return still
