"""What a robot needs beside its ticks to run in another tool, on tapes.

A payload is put on the flange, the robot settles on its first set-point, set-points of the joints
become those of the drives, late sensors and outputs are recalled, and outputs are written. The
kernels and functions are those by which a run is prepared and its log is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from armtwin.control.controller import (
    ACCELERATION,
    HELD,
    POSITION,
    REFERENCES,
    SPEED,
    TORQUE,
    initial,
)
from armtwin.drives.outputs import give_late
from armtwin.drives.sensors import read_late
from armtwin.drives.springs import Springs
from armtwin.maths.batch import Indices
from armtwin.maths.memory import Memory
from armtwin.maths.stretches import Part, TapeStretch, stretches
from armtwin.maths.tape import Tape, TapeTable, as_symbols
from armtwin.maths.tracing import python_of
from armtwin.mechanics import arm as arms, inertia, kinematics
from armtwin.robot.dynamics.sag import freedom_of, twists_under_load
from armtwin.robot.kinematics.strokes import drive_weights, levers
from armtwin.simulation import equations, step, ticks
from armtwin.simulation.prepared import PreparedRun
from armtwin.simulation.start import split_holding_torque
from armtwin.simulation.traced import (
    GEOMETRY,
    KEPT,
    OF_SPRINGS,
    KernelStructure,
    put_all,
    scratch,
    trace_stages,
)

PAYLOAD = 10  # mass, centre of mass, inertia about it


class TracedRobot:
    """A robot in closed loop whose ticks, start and outputs are put on tapes.

    Attributes:
        run: A run prepared on a posture.
        structure: What shapes its ticks.
        window: Set-points that the servo uses: as many as its delay needs.
        readings: Length of the past that late sensors need, 0 where none is late.
        commands: Length of the past that late outputs need, 0 where none is late.
    """

    def __init__(self, run: PreparedRun) -> None:
        self.run, self.places = run, run.coordinates
        self.plant, self.c = run.plant, run.controller
        self.robot, self.assembly = run.robot, run.coordinates.built.assembly
        self.structure = KernelStructure(
            self.assembly.arm, run.plant, run.controller, linear=False, levelled=True
        )
        self.N, self.n, self.m = self.places.count, self.robot.n, self.structure.drives
        late = float(np.max(self.c.lateness, initial=0.0)) / self.c.setpoint_ticks
        self.window = 2 + int(np.ceil(late))
        self.readings = run.state.readings.shape[2]
        self.commands = run.state.commands.shape[2]

    def traced(self) -> tuple[dict[str, list[TapeStretch]], Memory]:
        """The stretches of each stage, and where their arrays lie."""
        stages, memory = trace_stages(self.structure)
        for name, shape in self._shapes().items():
            memory.add(name, shape)
        for name, part in self._parts():
            (stretch,) = stretches(part, f"kept by {name}")
            memory.add(f"kept by {name}", (0,), KEPT)
            stages[name] = [stretch]
        return stages, memory

    def _shapes(self) -> dict[str, Indices]:
        per_joint = ("q_ref", "v_ref", "a_ref", "load", "q", "q_link", "speeds", "joint_torque")
        return {
            **dict.fromkeys(per_joint, (self.n,)),
            **dict.fromkeys(("motor_torque", "tau_ff"), (self.m,)),
            "payload": (PAYLOAD,),
            "bare": (10,),
            "static": (self.places.bodies,),
            "moved": (),
            "pose": (3, 4),
            "setpoint": (REFERENCES, self.m),
            "readings": (self.m, 2, self.readings),
            "commands": (self.m, 1, self.commands),
            **dict.fromkeys(("within_period", "done"), ()),
        }

    def _parts(self) -> Iterator[tuple[str, Part]]:
        yield "mount", self._mount()
        yield "place", self._place()
        yield "weigh", self._weigh()
        if self.places.elastic:
            yield "sag", self._sag()
        yield "settle", self._settle()
        yield "take", self._take()
        if self.readings:
            yield "late_readings", self._late_readings()
        if self.commands:
            yield "late_commands", self._late_commands()
        yield "write_outputs", self._write_outputs()

    # start

    def _mount(self) -> Part:
        """The payload, given about its centre in the flange's frame, on the flange's body."""
        tape = Tape()
        part = Part(tape)
        mass, *centre = tape.inputs("payload", (PAYLOAD,))[:4]
        about_centre = tape.inputs("payload", (PAYLOAD,))[4:]
        body, X = self.assembly.frame("flange")
        on_flange = python_of(inertia.transform_body)(
            np.eye(3)[None], np.array([centre]), 0, (mass, 0.0, 0.0, 0.0, *about_centre)
        )
        R, P = X[None, :3, :3], X[None, :3, 3]
        load = python_of(inertia.transform_body)(R, P, 0, on_flange)
        for k, bare in enumerate(tape.inputs("bare", (10,))):
            part.put("inertia", (body, k), bare + load[k])
        return part

    def _place(self) -> Part:
        """Both sides of each joint on its set-point."""
        tape = Tape()
        part = Part(tape)
        q = tape.inputs("q_ref", (self.n,))
        # the coordinates are linear in the joints
        for j, row in enumerate(self.places.both_sides(np.eye(self.n)).T):
            part.put("u", (j,), _combine(row, q))
        return part

    def _weigh(self) -> Part:
        """Torques that hold the bodies at rest: bias without speed, outside torques taken off."""
        tape = Tape()
        part = Part(tape)
        arm, n = self.assembly.arm, self.places.bodies
        size, every, N = (0,) * n, (0,) * self.N, self.N
        u = tape.inputs("u", (N,))
        turn, offset, axis, gravity = (self._geometry(tape, name) for name in GEOMETRY)
        bodies = tape.inputs("inertia", arm.inertia.shape)
        none, bias, M = np.zeros(N), scratch(N), scratch(N, N)
        R, Ic, L = scratch(n, 3, 3), scratch(n, 10), scratch(n, n)
        python_of(equations.of_bodies)(
            size, every, arm.parent, arm.slides, turn, offset, axis, bodies, gravity,
            np.zeros((N, N)), R, *(scratch(n, 3) for _ in range(6)), Ic, L, none, u, none, M, bias,
        )  # fmt: skip
        row, table = self.plant.balancers
        tables = TapeTable(tape, "balancer_table", table.shape)
        weights, place, count = self._rows(tape)
        python_of(step.add_balancers)(weights, place, count, row, tables, u, bias)
        load = _spread(self.places.link, tape.inputs("load", (self.n,)), N)
        for j in range(n):
            part.put("static", (j,), bias[j] - load[j])
        return part

    def _sag(self) -> Part:
        """One round in which springs take up what they bear."""
        tape = Tape()
        part = Part(tape)
        places = self.places
        rows = np.array([compliance.twist for compliance in places.elastic])
        freedom = _clean(freedom_of(places))
        bears = np.linalg.inv(rows @ freedom)
        # the springs of gears and links come before the dampers to ground
        numbers = [tape.inputs(name, self.plant.springs.row.shape) for name in OF_SPRINGS]
        own = Springs(
            np.arange(len(rows)), *(as_symbols(values[: len(rows)]) for values in numbers)
        )
        u = as_symbols(tape.inputs("u", (self.N,)))
        load = scratch(self.N)
        load[: places.bodies] = -tape.inputs("static", (places.bodies,))
        torque = _clean((freedom @ bears).T) @ as_symbols(load)
        twist = twists_under_load(own, torque)
        moved = _clean(freedom @ bears) @ (twist - rows @ u)
        put_all(part, "u", np.asarray(u + moved))
        largest: Any = 0.0
        for x in np.asarray(moved):
            largest = tape.do("larger", largest, abs(x))
        part.put("moved", (), largest)
        return part

    def _settle(self) -> Part:
        """Servo, filters and pasts of drives that have long held the robot."""
        tape = Tape()
        part = Part(tape)
        m, c = self.m, self.c
        static = tape.inputs("static", (self.places.bodies,))[self.places.own]
        inverse = levers(self.robot, np.zeros((1, self.n))).inverse[0]
        force = np.array([_combine(inverse[:, k], static) for k in range(m)], dtype=object)
        held, offset = split_holding_torque(c, force, tape.inputs("tau_ff", (m,)))
        # at rest the states of loops and filters are proportional to the torque held
        servo, memory = initial(c, np.ones(m), np.zeros(m), np.zeros(m))
        servo, memory = (held[:, None] * servo), (held[:, None, None] * memory)
        servo[:, HELD] = offset
        put_all(part, "servo", servo)
        put_all(part, "memory", memory)
        per_current = tape.inputs("per_current", (m,))
        current = force / per_current
        put_all(part, "current", current)
        position = scratch(m)
        weights, _, _ = self._rows(tape)
        u, every = tape.inputs("u", (self.N,)), (0,) * self.N
        python_of(ticks.read_rows)(every, weights, self.plant.sensors.row, u, position)
        for k in range(m):
            for age in range(self.readings):
                part.put("readings", (k, 0, age), position[k])
                part.put("readings", (k, 1, age), 0.0)
            for age in range(self.commands):
                part.put("commands", (k, 0, age), current[k])
        for name in ("v", "before", "z"):
            for j in range(self.structure.shapes()[name][0]):
                part.put(name, (j,), 0.0)
        return part

    # ticks

    def _take(self) -> Part:
        """Set-points of the drives, and torques on the coordinates, from those of the joints."""
        tape = Tape()
        part = Part(tape)
        weights = drive_weights(self.robot)
        names = {POSITION: "q_ref", SPEED: "v_ref", ACCELERATION: "a_ref"}
        for k in range(self.m):
            for column, name in names.items():
                joints = tape.inputs(name, (self.n,))
                part.put("setpoint", (column, k), _combine(weights[k], joints))
            part.put("setpoint", (TORQUE, k), tape.input("tau_ff", (k,)))
        load = _spread(self.places.link, tape.inputs("load", (self.n,)), self.N)
        put_all(part, "outside", load)
        return part

    def _late_readings(self) -> Part:
        """What late sensors show; the newest value of the past is the last one."""
        tape = Tape()
        part = Part(tape)
        past = tape.inputs("readings", (self.m, 2, self.readings))
        position, speed = tape.inputs("position", (self.m,)), tape.inputs("speed", (self.m,))
        head = self.readings - 1
        python_of(read_late)(self.plant.sensors.delay, past, head, position, speed)
        put_all(part, "position", position)
        put_all(part, "speed", speed)
        for k in range(self.m):
            for what in range(2):
                part.put("readings", (k, what, head), past[k, what, head])
        return part

    def _late_commands(self) -> Part:
        """What late outputs give; the newest value of the past is the last one."""
        tape = Tape()
        part = Part(tape)
        past = tape.inputs("commands", (self.m, 1, self.commands))
        current = tape.inputs("current", (self.m,))
        head = self.commands - 1
        python_of(give_late)(self.plant.outputs.delay, past, head, current)
        put_all(part, "current", current)
        for k in range(self.m):
            part.put("commands", (k, 0, head), past[k, 0, head])
        return part

    def _write_outputs(self) -> Part:
        """Joints on both sides, torques, pose of the tool."""
        tape = Tape()
        part = Part(tape)
        u, v = tape.inputs("u", (self.N,)), tape.inputs("v", (self.N,))
        seen = self.places.motor_side(np.eye(self.N)).T  # linear in the coordinates
        torque = tape.inputs("per_ampere", (self.m,)) * tape.inputs("current", (self.m,))
        gear = self.robot.assembly.gear
        for j in range(self.n):
            part.put("q", (j,), _combine(seen[j], u))
            part.put("speeds", (j,), _combine(seen[j], v))
            part.put("q_link", (j,), u[self.places.link[j]])
            part.put("joint_torque", (j,), _combine(gear[:, j], torque))
        put_all(part, "motor_torque", torque)
        self._put_pose(tape, part, u)
        return part

    def _put_pose(self, tape: Tape, part: Part, u: Any) -> None:
        arm, n = self.assembly.arm, self.places.bodies
        R, P = scratch(n, 3, 3), scratch(n, 3)
        turn, offset = self._geometry(tape, "turn"), self._geometry(tape, "offset")
        python_of(arms.place)((0,) * n, arm.slides, turn, offset, u, R, P)
        body, X = self.assembly.frame("tool")
        for column in range(3):
            axis = python_of(kinematics.axis_to_base)(arm.parent, R, body, tuple(X[:3, column]))
            for row in range(3):
                part.put("pose", (row, column), axis[row])
        point = python_of(kinematics.to_base)(arm.parent, R, P, body, tuple(X[:3, 3]))
        for row in range(3):
            part.put("pose", (row, 3), point[row])

    def _geometry(self, tape: Tape, name: str) -> Any:
        values = getattr(self.assembly.arm, name)
        if self.structure.dense:
            return tape.inputs(name, values.shape)
        return tape.pattern(name, values)

    def _rows(self, tape: Tape) -> tuple[Any, Any, Any]:
        weights, place, count = self.plant.rows
        return tape.pattern("weights", weights), place, count


def _combine(weights: Any, values: Any) -> Any:
    """Σ weights values, of weights that are numbers."""
    total: Any = 0.0
    for weight, value in zip(weights, values, strict=True):
        total = total + float(weight) * value
    return total


def _spread(places: Any, values: Any, count: int) -> Any:
    """Values at their places in an array, zero elsewhere."""
    found = scratch(count)
    found[:] = 0.0
    for place, value in zip(places, values, strict=True):
        found[place] = value
    return found


def _clean(matrix: Any) -> Any:
    """A matrix whose rounded zeros are zeros."""
    return np.where(np.abs(matrix) < 1e-14, 0.0, matrix)
