"""The step of a bench, traced for its structure: what a unit for exchange is written from.

The parts are left on tapes by the kernels that `run_bench` calls. All numbers of the bench are
inputs; what follows from them alone is computed once, before the steps. Torques at an instant are
those of a step of no length, and the speed of a bristle is the slope of its deflection with the
length of a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from armtwin.drives.friction.presliding import advance_bristle
from armtwin.maths.batch import Indices, NamedNumbers, Record
from armtwin.maths.dual import Dual, slope_of
from armtwin.maths.memory import Memory
from armtwin.maths.stretches import Part, TapeStretch, stretches
from armtwin.maths.tape import Tape, TapeTable
from armtwin.maths.tracing import python_of
from armtwin.simulation import bench_loop, loop, solve, step
from armtwin.simulation.bench import (
    Bench,
    friction_of,
    mass_of,
    pack_rows,
    rows_of,
    springs_of,
)
from armtwin.simulation.bench_loop import MOTOR
from armtwin.simulation.model import FRICTION_KINDS
from armtwin.simulation.plant import C0, HELD, HELD_BACK, SCALE
from armtwin.simulation.traced import Levelled, put_all, scratch

NUMBERS, CURVES, KEPT = 0, 1, 2  # memories
OF_BENCH = ("rotor_inertia", "gear_ratio", "stiffness", "damping", "backlash", "ground_damping")
OF_KNEE = ("low_stiffness", "low_torque")
OF_CLAMP = ("clamp_stiffness", "clamp_damping")
OUTPUTS = (
    "motor_angle",
    "motor_speed",
    "drive_angle",
    "joint_angle",
    "joint_speed",
    "twist",
    "spring_torque",
    "motor_torque",
)
Driven = Literal["torque", "angle"]


class _Parts(NamedTuple):
    """A bench of symbols: its rows, mass matrix, springs, friction numbers and tables."""

    rows: Any
    M: Any
    springs: Any
    numbers: Any
    curves: Any


class TracedBench:
    """A bench whose step is put on tapes.

    Attributes:
        bench: The bench, with an elastic gear.
        driven: What drives its motor: a "torque", or an "angle" on which a servo holds it.
        names: Names of its rows.
        friction: Its friction elements, those left out whose row does not move.
        count: Number of its coordinates.
        parameters: Numbers of the bench that are inputs, by name.
    """

    def __init__(self, bench: Bench, driven: Driven) -> None:
        self.bench, self.driven = bench, driven
        rows = rows_of(bench)
        self.names = list(rows)
        weights = np.array([rows[name] for name in self.names])
        self.rows = pack_rows(weights)
        found = friction_of(bench, self.names)
        acts = self.rows.count[found.row] > 0
        self.friction = found._replace(
            row=found.row[acts], curves=found.curves[acts], numbers=found.numbers[acts]
        )
        self.acting = [int(k) for k in np.flatnonzero(acts)]
        self.count = len(rows["drive"])
        self.every = (0,) * self.count
        self.level = (1.0,) * len(self.acting)  # of dry friction: a bench has no loaded gears
        self.parameters = self._parameters()

    @property
    def switches(self) -> bool:
        """Whether its friction switches, which no differential equation can say."""
        return bool(self.friction.kind == loop.SWITCHING)

    @property
    def has_bristles(self) -> bool:
        """Whether its friction has states of its own."""
        return bool(self.friction.kind == FRICTION_KINDS["lugre"])

    def _parameters(self) -> NamedNumbers:
        names = list(OF_BENCH)
        if self.bench.low_stiffness is not None:
            names += OF_KNEE
        if self.bench.has_joint:
            names.append("inertia")
        if self.bench.clamp_stiffness is not None:
            names += OF_CLAMP
        return {name: float(getattr(self.bench, name)) for name in names}

    def memory(self) -> Memory:
        """Where the arrays lie, but for what is kept."""
        N, e = self.count, len(self.friction.row)
        shapes: dict[str, Indices] = {
            **dict.fromkeys(self.parameters, ()),
            "servo": (2,),
            "level": (e,),
            "numbers": self.friction.numbers.shape,
            **dict.fromkeys(("u", "v", "slope_u", "slope_v"), (N,)),
            **dict.fromkeys(("z", "slope_z"), (e,)),
            **dict.fromkeys(("drive", "load", "dt", "gone", "largest", "solved"), ()),
            **dict.fromkeys(OUTPUTS, ()),
            "dv": (N,),
            "W": (e, N),
            "bounds": (e, 3),
            "indicators": (2 + e,),
        }
        memory = Memory()
        for name, shape in shapes.items():
            memory.add(name, shape, NUMBERS)
        memory.add("curves", self.friction.curves.shape, CURVES)
        return memory

    def traced(self) -> tuple[dict[str, list[TapeStretch]], Memory]:
        """The stretches of each stage, and where their arrays lie."""
        memory = self.memory()
        unchanged = [{*self.parameters, "servo", "level", "numbers"}]
        stages: dict[str, list[TapeStretch]] = {"before": []}
        for name, part in self._stages():
            kept = f"kept by {name}"
            before, inside = stretches(part, kept, unchanged)
            memory.add(kept, (len(before.kept),), KEPT)
            stages["before"].append(before)
            stages[name] = [inside]
        return stages, memory

    def _stages(self) -> Iterator[tuple[str, Part]]:
        if self.switches:
            yield "begin_step", self._begin_step()
            yield "sweep", self._sweep()
            yield "end_step", self._end_step()
        else:
            yield "step", self._step()
            yield "derivatives", self._derivatives()
            yield "indicators", self._indicators()
        yield "outputs", self._outputs()

    # the bench as symbols

    def _parts(self, tape: Tape) -> _Parts:
        symbols: Record = {name: tape.input(name, ()) for name in self.parameters}
        bench = replace(self.bench, **symbols)
        rows = rows_of(bench)
        weights = np.array([rows[name] for name in self.names], dtype=object)
        springs = springs_of(bench, self.names, grounded=True)
        numbers = tape.inputs("numbers", self.friction.numbers.shape)
        level = tape.inputs("level", self.friction.row.shape)
        for e in range(len(level)):
            numbers[e, HELD] = level[e] * numbers[e, HELD]
            numbers[e, HELD_BACK] = level[e] * numbers[e, HELD_BACK]
        curves = Levelled(TapeTable(tape, "curves", self.friction.curves.shape), level)
        return _Parts(weights, mass_of(bench, self.count), springs, numbers, curves)

    def _state(self, tape: Tape) -> tuple[Any, Any, Any]:
        N, e = self.count, len(self.friction.row)
        return tape.inputs("u", (N,)), tape.inputs("v", (N,)), tape.inputs("z", (e,))

    def _force(self, tape: Tape, parts: _Parts) -> Any:
        """Torques of the motor and from outside on the coordinates."""
        now = tape.input("drive", ()) if self.driven == "torque" else 0.0
        joint = parts.rows[self.names.index("joint")]
        load = [weight * tape.input("load", ()) for weight in joint]
        tau, force = scratch(self.count), scratch(self.count)
        python_of(bench_loop.push_motor)(self.every, parts.rows[MOTOR], load, now, tau, force)
        return force

    def _compute_servo_torque(
        self, tape: Tape, parts: _Parts, u: Any, v: Any, h: Any
    ) -> tuple[Any, Any]:
        """Torque of the servo and its slope."""
        kp, kd = tape.inputs("servo", (2,))
        wanted = tape.input("drive", ())
        _, place, count = self.rows
        return python_of(bench_loop.hold_motor)(parts.rows, place, count, kp, kd, wanted, u, v, h)

    def _press_springs(self, parts: _Parts, u: Any, v: Any, h: Any, A: Any, dv: Any) -> Any:
        """Put the springs into the equations of a step; their torques and slopes."""
        springs = parts.springs
        twisted = scratch(len(springs.row), 2)
        _, place, count = self.rows
        python_of(step.press_springs)(parts.rows, place, count, *springs, u, v, h, A, dv, twisted)
        return twisted

    def _ties(self) -> tuple[Any, Any]:
        """No coordinate is eliminated before the others."""
        return np.zeros((0, self.count), dtype=np.int64), np.zeros(0, dtype=np.int64)

    def _begin_equations(
        self, tape: Tape, parts: _Parts, u: Any, v: Any, h: Any
    ) -> tuple[Any, Any]:
        """Matrix and right side of a step, but for friction."""
        _, place, count = self.rows
        A, dv = scratch(self.count, self.count), scratch(self.count)
        python_of(loop.begin)(self.every, parts.M, self._force(tape, parts), h, A, dv)
        self._press_springs(parts, u, v, h, A, dv)
        if self.driven == "angle":
            pull, slope = self._compute_servo_torque(tape, parts, u, v, h)
            python_of(step.resist)(parts.rows, place, count, MOTOR, pull, slope, h, A, dv)
        return A, dv

    # parts

    def _step(self) -> Part:
        """A step with smooth friction."""
        tape = Tape()
        part = Part(tape)
        parts, h = self._parts(tape), tape.input("dt", ())
        u, v, z = self._state(tape)
        A, dv = self._begin_equations(tape, parts, u, v, h)
        e = len(self.friction.row)
        F, D, G = scratch(e), scratch(e), scratch(e, 2)
        _, place, count = self.rows
        solved = python_of(step.smooth_step)(
            self.every, self.every, *self._ties(), parts.rows, place, count,
            self.friction.row, parts.curves, parts.numbers, self.level, self.friction.kind,
            A, v, z, h, dv, F, D, G,
        )  # fmt: skip
        self._put_advance(tape, part, (u, v, z), dv, h, solved)
        return part

    def _put_advance(
        self, tape: Tape, part: Part, state: tuple[Any, Any, Any], dv: Any, h: Any, solved: Any
    ) -> None:
        u, v, z = state
        lost = python_of(loop.advance)(self.every, u, v, dv, h)
        for name, values in (("u", u), ("v", v), ("z", z)):
            put_all(part, name, values)
        part.put("gone", (), tape.choose(solved, lost, 0))

    def _begin_step(self) -> Part:
        """A step with switching friction, up to its sweeps."""
        tape = Tape()
        part = Part(tape)
        parts, h = self._parts(tape), tape.input("dt", ())
        u, v, z = self._state(tape)
        M, dv = self._begin_equations(tape, parts, u, v, h)
        N, e = self.count, len(self.friction.row)
        A, answer, W, bounds = scratch(N, N), scratch(N), scratch(e, N), scratch(e, 3)
        _, place, count = self.rows
        solved = python_of(step.before_sweeps)(
            self.every, self.every, *self._ties(), parts.rows, place, count,
            self.friction.row, parts.curves, parts.numbers, self.level, M, v, z, h, dv, A, answer,
            W, bounds,
        )  # fmt: skip
        for name, values in (("z", z), ("dv", dv), ("W", W), ("bounds", bounds)):
            put_all(part, name, values)
        part.put("solved", (), tape.choose(solved, 1.0, 0.0))
        return part

    def _sweep(self) -> Part:
        """One sweep over the friction elements."""
        tape = Tape()
        part = Part(tape)
        parts = self._parts(tape)
        _, v, z = self._state(tape)
        N, e = self.count, len(self.friction.row)
        dv, W = tape.inputs("dv", (N,)), tape.inputs("W", (e, N))
        bounds = tape.inputs("bounds", (e, 3))
        _, place, count = self.rows
        largest = python_of(step.sweep)(
            self.every, parts.rows, place, count, self.friction.row, v, dv, z, W, bounds
        )
        for name, values in (("z", z), ("dv", dv)):
            put_all(part, name, values)
        part.put("largest", (), largest)
        return part

    def _end_step(self) -> Part:
        tape = Tape()
        part = Part(tape)
        u, v, z = self._state(tape)
        dv = tape.inputs("dv", (self.count,))
        solved = tape.input("solved", ()) > 0.5
        self._put_advance(tape, part, (u, v, z), dv, tape.input("dt", ()), solved)
        return part

    def _derivatives(self) -> Part:
        """Slopes of the states with time: torques of a step of no length on the mass matrix."""
        tape = Tape()
        part = Part(tape)
        parts = self._parts(tape)
        u, v, z = self._state(tape)
        N, e = self.count, len(self.friction.row)
        _, place, count = self.rows
        A, dv, unused = scratch(N, N), scratch(N), scratch(N)
        python_of(loop.begin)(self.every, parts.M, self._force(tape, parts), 1.0, A, dv)
        twisted = self._press_springs(parts, u, v, 0.0, scratch(N, N), unused)
        torques = list(zip(parts.springs.row, twisted[:, 0], strict=True))
        if self.driven == "angle":
            torques.append((MOTOR, self._compute_servo_torque(tape, parts, u, v, 0.0)[0]))
        kind, curves, numbers = self.friction.kind, parts.curves, parts.numbers
        rate = scratch(e)
        for k, r in enumerate(self.friction.row):
            w = python_of(step.along)(parts.rows, place, count, r, v)
            F, _ = python_of(step.compute_friction)(curves, k, numbers, 1.0, kind, w, z[k], 0.0)
            torques.append((r, F))
            if self.has_bristles:
                scale, c0 = numbers[k, SCALE], numbers[k, C0]
                bent = python_of(advance_bristle)(
                    curves, k, scale, 1.0, c0, w, z[k], Dual(0.0, 1.0)
                )
                rate[k] = slope_of(bent)
        for r, F in torques:
            python_of(step.resist)(parts.rows, place, count, r, F, 0.0, 1.0, A, dv)
        python_of(solve.solve)(self.every, self.every, *self._ties(), A, dv)
        for name, values in (("slope_u", v), ("slope_v", dv), ("slope_z", rate)):
            put_all(part, name, values)
        return part

    def _indicators(self) -> Part:
        """What changes its sign where the equations change: flanks, and speeds of friction."""
        tape = Tape()
        part = Part(tape)
        parts = self._parts(tape)
        u, v, _ = self._state(tape)
        _, place, count = self.rows
        twist = python_of(step.along)(parts.rows, place, count, self.names.index("twist"), u)
        gap = parts.springs.gap[0]
        speeds = []
        for r in self.friction.row:
            speeds.append(python_of(step.along)(parts.rows, place, count, r, v))
        for k, value in enumerate((twist - gap, twist + gap, *speeds)):
            part.put("indicators", (k,), value)
        return part

    def _outputs(self) -> Part:
        tape = Tape()
        part = Part(tape)
        parts = self._parts(tape)
        u, v, _ = self._state(tape)
        _, place, count = self.rows

        def of(name: str, x: Any) -> Any:
            return python_of(step.along)(parts.rows, place, count, self.names.index(name), x)

        N = self.count
        twisted = self._press_springs(parts, u, v, 0.0, scratch(N, N), scratch(N))
        torque: Any = tape.input("drive", ())
        if self.driven == "angle":
            torque = -self._compute_servo_torque(tape, parts, u, v, 0.0)[0]
        found = (
            of("motor", u),
            of("motor", v),
            of("drive", u),
            of("joint", u),
            of("joint", v),
            of("twist", u),
            twisted[0, 0],
            torque,
        )
        for name, value in zip(OUTPUTS, found, strict=True):
            part.put(name, (), value)
        return part
