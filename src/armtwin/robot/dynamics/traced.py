"""The whole robot's regressor as a formula of a row, traced from its kernels and laws."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from armtwin.files.shape import Group
from armtwin.maths.batch import Floats, Indices, NamedArrays, Numbers, Record
from armtwin.maths.compiled import Function
from armtwin.maths.dual import Dual, slope_of
from armtwin.maths.tape import as_symbols
from armtwin.maths.traced_rows import Arrays, Formula
from armtwin.maths.tracing import python_of
from armtwin.mechanics import newton_euler, regressor
from armtwin.mechanics.arm import Arm
from armtwin.mechanics.rotors import Rotors
from armtwin.robot.dynamics.assembly import Assembly, Row
from armtwin.robot.dynamics.friction_columns import friction_columns
from armtwin.robot.schema.drive_groups import FrictionElement

STATE = ("q", "v", "a")


def geometry(arm: Arm) -> NamedArrays:
    """Arrays of an arm whose zeros and ones shape a kernel."""
    return {"turn": arm.turn, "offset": arm.offset, "axis": arm.axis, "gravity": arm.gravity}


def trace_arm(arm: Arm, of: Arrays) -> Arm:
    """The arm with symbols for its numbers."""
    symbols: dict[str, Any] = {name: of.get(name) for name in (*geometry(arm), "inertia")}
    return arm._replace(**symbols)


def trace_rotors(rotors: Rotors, of: Arrays) -> Rotors:
    """The rotors with symbols for their numbers."""
    return Rotors(of["rotor_inertia"], rotors.body, of["rotor_axis"], of["rotor_row"])


def rows_of_state(of: Arrays) -> list[Any]:
    """q, v, a as tables of one row."""
    return [of[name].reshape(1, -1) for name in STATE]


def tree(arm: Arm, rotors: Rotors) -> tuple[list[int], ...]:
    """What shapes a kernel beside numbers."""
    return arm.parent.tolist(), arm.slides.tolist(), rotors.body.tolist()


class _Torques:
    """Torques of an arm with its rotors in one row, from symbols."""

    def __init__(self, arm: Arm, rotors: Rotors) -> None:
        self.arm, self.rotors, self.N = arm, rotors, len(rotors.inertia)

    def trace(self, of: Arrays) -> Any:
        """The torques, (N,)."""
        tau = np.empty((1, self.N), dtype=object)
        bodies, turning = trace_arm(self.arm, of), trace_rotors(self.rotors, of)
        kernel = python_of(newton_euler.inverse_dynamics)
        kernel(bodies, turning, *rows_of_state(of), tau, 0, 1)
        return tau[0]

    def formula(self, kind: str, made: Mapping[str, Indices], trace: Function) -> Formula:
        """A formula of the arm and its rotors."""
        arm, rotors = self.arm, self.rotors
        patterns = geometry(arm) | {
            "rotor_inertia": rotors.inertia,
            "rotor_axis": rotors.axis,
            "rotor_row": rotors.row,
        }
        state = dict.fromkeys(STATE, (self.N,))
        numbers = {"inertia": arm.inertia}
        return Formula((kind, *tree(arm, rotors)), patterns, numbers, state, made, trace)


def inverse_dynamics(arm: Arm, rotors: Rotors) -> Formula:
    """Torques tau, (N,), of a row."""
    torques = _Torques(arm, rotors)
    made = {"tau": (torques.N,)}
    return torques.formula("inverse dynamics", made, lambda of: {"tau": torques.trace(of)})


def linearisation(arm: Arm, rotors: Rotors) -> Formula:
    """Stiffness K and damping D, (N, N), of a row: derivatives of the inverse dynamics."""
    torques = _Torques(arm, rotors)
    N = torques.N

    def derivatives(of: Arrays, name: str) -> Any:
        """Derivatives of the torques by one of q and v, (N, N)."""
        found = np.empty((N, N), dtype=object)
        for k in range(N):
            stepped = of[name].copy()
            stepped[k] = Dual(stepped[k], 1.0)
            tau = torques.trace({**of, name: stepped})
            for i in range(N):
                found[i, k] = slope_of(tau[i])
        return found

    def trace(of: Arrays) -> Arrays:
        return {"K": derivatives(of, "q"), "D": derivatives(of, "v")}

    return torques.formula("linearisation", dict.fromkeys("KD", (N, N)), trace)


WIDTH = "width"


def shape_numbers(part: Group) -> list[str] | None:
    """Names of the numbers of a law, force or linkage that are no coefficients.

    None where some are no single numbers: a table is not traced.
    """
    linear = {name for name, _ in getattr(part, "coefficients", ())}
    names = []
    for f in fields(part):
        value = getattr(part, f.name)
        if isinstance(value, str) or f.name in linear:
            continue
        if not isinstance(value, (int, float)):
            return None
        names.append(f.name)
    return names


class _Parts:
    """Parts of a robot whose numbers become symbols: laws, forces and linkages by name."""

    def __init__(self, robot: Assembly) -> None:
        self.parts: Record = {}
        for k, strut in enumerate(robot.struts):
            self.parts[f"force {k}"] = strut.force
            self.parts[f"strut {k}"] = strut.linkage
        for k, (element, row) in enumerate(robot.friction):
            self.parts[f"law {k}"] = element.law
            if element.negative is not None:
                self.parts[f"negative law {k}"] = element.negative
            if row.linkage is not None:
                self.parts[f"linkage {k}"] = row.linkage

    @property
    def can_be_traced(self) -> bool:
        return all(shape_numbers(part) is not None for part in self.parts.values())

    @property
    def kinds(self) -> list[tuple[str, str]]:
        return [(name, type(part).__name__) for name, part in self.parts.items()]

    @property
    def numbers(self) -> NamedArrays:
        found = {}
        for name, part in self.parts.items():
            values = [getattr(part, number) for number in shape_numbers(part) or ()]
            found[name] = np.array(values, dtype=np.float64)
        return found

    def traced(self, name: str, of: Arrays) -> Any:
        """A part with symbols for its numbers, None if there is no such part."""
        part = self.parts.get(name)
        if part is None:
            return None
        return replace(part, **dict(zip(shape_numbers(part) or (), of[name], strict=True)))


@dataclass(frozen=True)
class _Softened:
    """A law whose sign turns over a width of speeds: f(r) w / r,  r = √(w² + width²)."""

    law: Any
    width: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.law, name)

    def columns(self, w: Numbers) -> Any:
        """Torque per unit of each coefficient at speed w."""
        speed = np.sqrt(w * w + self.width * self.width)
        return self.law.columns(speed) * (w / speed)[..., None]


class _Columns:
    """Columns of a robot's regressor in one row, from symbols."""

    def __init__(self, robot: Assembly, parts: _Parts, softened: bool) -> None:
        self.robot, self.parts, self.softened = robot, parts, softened
        self.shape = len(robot.arm.parent), robot.layout.friction.stop

    def trace(self, of: Arrays) -> Arrays:
        """All columns Y, (n, p)."""
        Y = np.zeros((1, *self.shape), dtype=object)
        self._put_bodies_and_rotors(of, Y)
        self._put_balancers(of, Y)
        self._put_friction(of, Y)
        return {"Y": Y[0]}

    def _put_bodies_and_rotors(self, of: Arrays, Y: Numbers) -> None:
        robot = self.robot
        state = rows_of_state(of)
        bodies = trace_arm(robot.arm, of)
        python_of(regressor.body_regressor)(bodies, *state, Y, 0, 1)
        rotors = robot.rotors._replace(axis=of["rotor_axis"])
        drives = rotors, of["gear"], robot.spin_on
        first = robot.layout.rotors.start
        python_of(regressor.rotor_regressor)(bodies, *drives, *state, Y, first, 0, 1)

    def _put_balancers(self, of: Arrays, Y: Numbers) -> None:
        q, _, _ = rows_of_state(of)
        for k, strut in enumerate(self.robot.struts):
            force = self.parts.traced(f"force {k}", of)
            linkage = self.parts.traced(f"strut {k}", of)
            columns = replace(strut, force=force, linkage=linkage).columns(as_symbols(q))
            Y[:, strut.joint, self.robot.layout.balancer(k)] = columns

    def _put_friction(self, of: Arrays, Y: Numbers) -> None:
        q, v, _ = rows_of_state(of)
        at = self.robot.layout.friction.start
        for row, columns, _ in friction_columns(self._friction(of), as_symbols(v), as_symbols(q)):
            width = columns.shape[1]
            Y[:, :, at : at + width] = row[:, :, None] * columns[:, None, :]
            at += width

    def _friction(self, of: Arrays) -> list[tuple[FrictionElement, Row]]:
        """The friction elements with symbols for their numbers."""
        elements = []
        for k, (element, row) in enumerate(self.robot.friction):
            law = self.parts.traced(f"law {k}", of)
            negative = self.parts.traced(f"negative law {k}", of)
            linkage = self.parts.traced(f"linkage {k}", of)
            acting = replace(row, weights=as_symbols(of[f"row {k}"]), linkage=linkage)
            if self.softened:
                law = _Softened(law, of[WIDTH][k])
            elements.append((replace(element, law=law, negative=negative), acting))
        return elements


def whole_regressor(robot: Assembly, width: Floats | None = None) -> Formula | None:
    """All columns Y, (n, p), of a row; None for a robot with a law that is a table.

    Args:
        robot: The robot.
        width: Speeds over which the sign of each friction element turns, (elements,), so that the
            columns have slopes everywhere; by default it jumps.
    """
    parts = _Parts(robot)
    if not parts.can_be_traced:
        return None
    arm, rotors = robot.arm, robot.rotors
    patterns = geometry(arm) | {"gear": robot.gear, "rotor_axis": rotors.axis}
    for k, (_, row) in enumerate(robot.friction):
        patterns[f"row {k}"] = row.weights
    joints = [strut.joint for strut in robot.struts]
    offsets = [element.offset is not None for element, _ in robot.friction]
    kind = ("regressor", *tree(arm, rotors), robot.spin_on.tolist(), joints, offsets, parts.kinds)
    numbers = parts.numbers
    if width is not None:
        kind = ("softened", *kind)
        numbers[WIDTH] = width
    columns = _Columns(robot, parts, width is not None)
    state = dict.fromkeys(STATE, (len(arm.parent),))
    return Formula(kind, patterns, numbers, state, {"Y": columns.shape}, columns.trace)
