"""Inverse dynamics and linearisation as formulas of a row, traced from their own kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.maths.batch import NamedArrays
from armtwin.maths.dual import Dual, slope_of
from armtwin.maths.traced_rows import Arrays, Formula
from armtwin.maths.tracing import python_of
from armtwin.mechanics import newton_euler
from armtwin.mechanics.arm import Arm
from armtwin.mechanics.rotors import Rotors

STATE = ("q", "v", "a")


def geometry(arm: Arm) -> NamedArrays:
    """Arrays of an arm whose zeros and ones shape a kernel."""
    return {"turn": arm.turn, "offset": arm.offset, "axis": arm.axis, "gravity": arm.gravity}


def trace_arm(arm: Arm, of: Arrays) -> Arm:
    """The arm with symbols for its numbers."""
    inertia = of.get("inertia")
    symbols = {name: of[name] for name in geometry(arm)}
    return Arm(parent=arm.parent, slides=arm.slides, inertia=inertia, **symbols)


def trace_rotors(rotors: Rotors, of: Arrays) -> Rotors:
    """The rotors with symbols for their numbers."""
    return Rotors(of["rotor_inertia"], rotors.body, of["rotor_axis"], of["rotor_row"])


def rows_of_state(of: Arrays) -> list[Any]:
    """q, v, a as tables of one row."""
    return [of[name].reshape(1, -1) for name in STATE]


def tree(arm: Arm, rotors: Rotors) -> tuple[list[int], ...]:
    """What shapes a kernel beside numbers."""
    return arm.parent.tolist(), arm.slides.tolist(), rotors.body.tolist()


def _rotor_patterns(rotors: Rotors) -> NamedArrays:
    return {
        "rotor_inertia": rotors.inertia,
        "rotor_axis": rotors.axis,
        "rotor_row": rotors.row,
    }


def inverse_dynamics(arm: Arm, rotors: Rotors) -> Formula:
    """Torques tau, (N,), of a row."""
    N = len(rotors.inertia)

    def trace(of: Arrays) -> Arrays:
        tau = np.empty((1, N), dtype=object)
        bodies, turning = trace_arm(arm, of), trace_rotors(rotors, of)
        kernel = python_of(newton_euler.inverse_dynamics)
        kernel(bodies, turning, *rows_of_state(of), tau, 0, 1)
        return {"tau": tau[0]}

    kind = ("inverse dynamics", *tree(arm, rotors))
    patterns = geometry(arm) | _rotor_patterns(rotors)
    state = dict.fromkeys(STATE, (N,))
    return Formula(kind, patterns, {"inertia": arm.inertia}, state, {"tau": (N,)}, trace)


def linearisation(arm: Arm, rotors: Rotors) -> Formula:
    """Stiffness K and damping D, (N, N), of a row: derivatives of the inverse dynamics."""
    N = len(rotors.inertia)
    kernel = python_of(newton_euler.inverse_dynamics)

    def derivatives(of: Arrays, name: str) -> Any:
        """Derivatives of the torques by one of q and v, (N, N)."""
        found = np.empty((N, N), dtype=object)
        bodies, turning = trace_arm(arm, of), trace_rotors(rotors, of)
        for k in range(N):
            stepped = of[name].copy()
            stepped[k] = Dual(stepped[k], 1.0)
            tau = np.empty((1, N), dtype=object)
            kernel(bodies, turning, *rows_of_state({**of, name: stepped}), tau, 0, 1)
            for i in range(N):
                found[i, k] = slope_of(tau[0, i])
        return found

    def trace(of: Arrays) -> Arrays:
        return {"K": derivatives(of, "q"), "D": derivatives(of, "v")}

    kind = ("linearisation", *tree(arm, rotors))
    patterns = geometry(arm) | _rotor_patterns(rotors)
    state, matrices = dict.fromkeys(STATE, (N,)), dict.fromkeys("KD", (N, N))
    return Formula(kind, patterns, {"inertia": arm.inertia}, state, matrices, trace)
