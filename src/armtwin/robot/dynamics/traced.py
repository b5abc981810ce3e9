"""The whole robot's regressor as a formula of a row, traced from its kernels and laws."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armtwin.maths.batch import Floats, NamedArrays, Numbers, Record
from armtwin.maths.tape import as_symbols
from armtwin.maths.traced_rows import Arrays, Formula
from armtwin.maths.tracing import python_of
from armtwin.mechanics import regressor
from armtwin.robot.dynamics import formulas
from armtwin.robot.dynamics.assembly import Assembly, Row
from armtwin.robot.dynamics.friction_columns import friction_columns
from armtwin.robot.schema.drive_groups import FrictionElement

WIDTH = "width"


class _Parts:
    """Parts of friction whose numbers become symbols: laws and linkages by name."""

    def __init__(self, robot: Assembly) -> None:
        self.parts: Record = {}
        for k, (element, row) in enumerate(robot.friction):
            self.parts[f"law {k}"] = element.law
            if element.negative is not None:
                self.parts[f"negative law {k}"] = element.negative
            if row.linkage is not None:
                self.parts[f"linkage {k}"] = row.linkage

    @property
    def can_be_traced(self) -> bool:
        return all(formulas.shape_numbers(part) is not None for part in self.parts.values())

    @property
    def kinds(self) -> list[tuple[str, str]]:
        return [(name, type(part).__name__) for name, part in self.parts.items()]

    @property
    def numbers(self) -> NamedArrays:
        return {name: formulas.read_numbers(part) for name, part in self.parts.items()}

    def traced(self, name: str, of: Arrays) -> Any:
        """A part with symbols for its numbers, None if there is no such part."""
        part = self.parts.get(name)
        return None if part is None else formulas.with_numbers(part, of[name])


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
        self.struts = formulas.StrutParts(robot.struts)
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
        state = formulas.rows_of_state(of)
        bodies = formulas.trace_arm(robot.arm, of)
        python_of(regressor.body_regressor)(bodies, *state, Y, 0, 1)
        rotors = robot.rotors._replace(axis=of["rotor_axis"])
        drives = rotors, of["gear"], robot.spin_on
        first = robot.layout.rotors.start
        python_of(regressor.rotor_regressor)(bodies, *drives, *state, Y, first, 0, 1)

    def _put_balancers(self, of: Arrays, Y: Numbers) -> None:
        for k, columns in enumerate(self.struts.columns(of, of["q"].reshape(1, -1))):
            Y[:, self.robot.struts[k].joint, self.robot.layout.balancer(k)] = columns

    def _put_friction(self, of: Arrays, Y: Numbers) -> None:
        q, v, _ = formulas.rows_of_state(of)
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
    patterns = formulas.geometry(arm) | {"gear": robot.gear, "rotor_axis": rotors.axis}
    for k, (_, row) in enumerate(robot.friction):
        patterns[f"row {k}"] = row.weights
    offsets = [element.offset is not None for element, _ in robot.friction]
    columns = _Columns(robot, parts, width is not None)
    kinds = columns.struts.kinds, offsets, parts.kinds
    kind = ("regressor", *formulas.tree(arm, rotors), robot.spin_on.tolist(), *kinds)
    numbers = parts.numbers | columns.struts.numbers
    if width is not None:
        kind = ("softened", *kind)
        numbers[WIDTH] = width
    state = dict.fromkeys(formulas.STATE, (len(arm.parent),))
    return Formula(kind, patterns, numbers, state, {"Y": columns.shape}, columns.trace)
