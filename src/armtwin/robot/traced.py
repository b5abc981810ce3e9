"""The whole robot's regressor as a formula of a row, traced from its kernels and laws."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.tape import as_symbols
from armtwin.maths.traced_rows import Arrays, Formula
from armtwin.maths.tracing import python_of
from armtwin.mechanics import regressor
from armtwin.mechanics.traced import (
    STATE,
    geometry,
    rows_of_state,
    traced_arm,
    tree,
)
from armtwin.robot.assembly import Assembly
from armtwin.robot.friction_columns import friction_columns


def shape_numbers(part: Any) -> list[str] | None:
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
        self.parts: dict[str, Any] = {}
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
    def numbers(self) -> dict[str, Floats]:
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


def whole_regressor(robot: Assembly) -> Formula | None:
    """All columns Y, (n, p), of a row; None for a robot with a law that is a table."""
    parts = _Parts(robot)
    if not parts.can_be_traced:
        return None
    arm, rotors, places = robot.arm, robot.rotors, robot.layout
    n, p = len(arm.parent), places.friction.stop
    patterns = geometry(arm) | {"gear": robot.gear, "rotor_axis": rotors.axis}
    for k, (_, row) in enumerate(robot.friction):
        patterns[f"row {k}"] = row.weights

    def trace(of: Arrays) -> Arrays:
        q, v, a = rows_of_state(of)
        Y = np.zeros((1, n, p), dtype=object)
        bodies = traced_arm(arm, of)
        python_of(regressor.body_regressor)(bodies, q, v, a, Y, 0, 1)
        turning = rotors._replace(axis=of["rotor_axis"])
        python_of(regressor.rotor_regressor)(
            bodies, turning, of["gear"], robot.spin_on, q, v, a, Y, places.rotors.start, 0, 1
        )
        for k, strut in enumerate(robot.struts):
            force, linkage = parts.traced(f"force {k}", of), parts.traced(f"strut {k}", of)
            symbolic = replace(strut, force=force, linkage=linkage)
            Y[:, strut.joint, places.balancer(k)] = symbolic.columns(as_symbols(q))
        at = places.friction.start
        for row, columns, _ in friction_columns(friction(of), as_symbols(v), as_symbols(q)):
            width = columns.shape[1]
            Y[:, :, at : at + width] = row[:, :, None] * columns[:, None, :]
            at += width
        return {"Y": Y[0]}

    def friction(of: Arrays) -> list[tuple[Any, Any]]:
        """The friction elements with symbols for their numbers."""
        elements = []
        for k, (element, row) in enumerate(robot.friction):
            law = parts.traced(f"law {k}", of)
            negative = parts.traced(f"negative law {k}", of)
            linkage = parts.traced(f"linkage {k}", of)
            weights = as_symbols(of[f"row {k}"])
            acting = replace(row, weights=weights, linkage=linkage)
            elements.append((replace(element, law=law, negative=negative), acting))
        return elements

    joints = [strut.joint for strut in robot.struts]
    offsets = [element.offset is not None for element, _ in robot.friction]
    kind = ("regressor", *tree(arm, rotors), robot.spin_on.tolist(), joints, offsets, parts.kinds)
    rows = dict.fromkeys(STATE, (n,)), {"Y": (n, p)}
    return Formula(kind, patterns, parts.numbers, rows, trace)
