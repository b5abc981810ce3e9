"""From degrees of freedom to nodal coordinates, and the rates of both.

Newton's method on D_C(x) = e_C(q): J δx = e_C - D_C(x). At the solution, with the same J:

    vx:  J vx = E v                       ax:  J ax = E a - D_C,xx[vx, vx]
    DF:  J DF = E                         second order:  J D2F[a, b] = -D_C,xx[DF a, DF b]

E puts each degree of freedom on its row; free nodal coordinates are their own.

Ref: [Jonker 1988], [Waiboer 2007, 4.2]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armtwin.elements.blocks import factor, solve
from armtwin.elements.deformation import curve, element_room, measure
from armtwin.elements.hinge import TURNS_ALIKE
from armtwin.elements.masses import mass_room
from armtwin.maths.compiled import compiled, inlined

MOST_ITERATIONS = 20
CONVERGED = 3e-8  # of the coordinates: the error left is its square
EXACT = 1e-13  # a step so small leaves the slopes as they are
MOST_PIECES = 400


class State(NamedTuple):
    """Slopes and factors of J at some coordinates.

    Attributes:
        e: Deformations, (rows,).
        D: Slopes, (rows, 14).
        c: Second derivatives along the velocities, (rows,).
        LU: Factors of J.
        pivot: Row exchanges.
        rhs: Room for a right-hand side, (rows,).
        step: Room for a step of the coordinates, (nx,).
        way: Room for the way to go in q and a place on it, (2, n).
        room: Room of the elements.
        mass_room: Room of masses and loads.
    """

    e: Any
    D: Any
    c: Any
    LU: Any
    pivot: Any
    rhs: Any
    step: Any
    way: Any
    room: Any
    mass_room: Any


def empty_state(tables: Any, nx: int) -> State:
    """Room for a state of nx coordinates."""
    rows = len(tables.elements.width)
    blocks = tables.blocks
    return State(
        e=np.zeros(rows),
        D=np.zeros((rows, 14)),
        c=np.zeros(rows),
        LU=np.zeros(blocks.place[-1]),
        pivot=np.zeros(len(blocks.row), dtype=np.int64),
        rhs=np.zeros(rows),
        step=np.zeros(nx),
        way=np.zeros((2, len(tables.freedom.stride))),
        room=element_room(np.float64),
        mass_room=mass_room(np.float64),
    )


@inlined
def put_free(freedom: Any, value: Any, rhs: Any, x: Any) -> None:
    """Put one value for each degree of freedom on rows and columns; other rows become 0."""
    for r in range(len(rhs)):
        rhs[r] = 0.0
    k = len(freedom.columns)
    for i in range(k):
        x[freedom.columns[i]] = value[i]
    for i in range(len(freedom.rows)):
        rhs[freedom.rows[i]] = value[k + i]


@compiled
def rates(tables: Any, v: Any, state: State, vx: Any) -> None:
    """Velocities vx of the coordinates; held ones are left as they are."""
    put_free(tables.freedom, v, state.rhs, vx)
    solve(tables.blocks, state.D, state.LU, state.pivot, state.rhs, vx)


@compiled
def second_rates(tables: Any, x: Any, vx: Any, a: Any, state: State, ax: Any) -> None:
    """Accelerations ax of the coordinates."""
    curve(tables.elements, x, vx, vx, state.c, state.room)
    put_free(tables.freedom, a, state.rhs, ax)
    for r in range(len(state.c)):
        state.rhs[r] -= state.c[r]
    solve(tables.blocks, state.D, state.LU, state.pivot, state.rhs, ax)


@inlined
def _wrap(freedom: Any, rhs: Any) -> None:
    """Twists are known up to two turns: take the nearest."""
    for i in range(len(freedom.twists)):
        row = freedom.twists[i]
        rhs[row] -= TURNS_ALIKE * np.round(rhs[row] / TURNS_ALIKE)


@compiled
def _gap(tables: Any, q: Any, x: Any, state: State) -> None:
    """Put what the measured deformations lack of q, and the free coordinates' step, into state."""
    freedom = tables.freedom
    k = len(freedom.columns)
    for r in range(len(state.rhs)):
        state.rhs[r] = -state.e[r]
    for i in range(len(freedom.rows)):
        state.rhs[freedom.rows[i]] += q[k + i]
    _wrap(freedom, state.rhs)
    for i in range(k):
        column = freedom.columns[i]
        state.step[column] = q[i] - x[column]


@compiled
def _newton(tables: Any, q: Any, x: Any, state: State) -> int:
    """Iterations that Newton's method took from x; negative where it failed.

    `state` comes measured at x.
    """
    for iteration in range(MOST_ITERATIONS):
        if factor(tables.blocks, state.D, state.LU, state.pivot) >= 0:
            return -2
        _gap(tables, q, x, state)
        solve(tables.blocks, state.D, state.LU, state.pivot, state.rhs, state.step)
        largest = 0.0
        for i in range(len(x)):
            x[i] += state.step[i]
            largest = max(largest, abs(state.step[i]))
        if not largest < 1e6:
            return -1
        if largest < EXACT:
            return iteration + 1
        measure(tables.elements, x, state.e, state.D, state.room)
        if largest < CONVERGED:
            bad = factor(tables.blocks, state.D, state.LU, state.pivot)
            return iteration + 1 if bad < 0 else -2
    return -1


@compiled
def find(tables: Any, q: Any, x: Any, state: State) -> int:
    """Coordinates x at q, from those of another q; a long way is cut in pieces.

    Args:
        tables: The structure.
        q: Degrees of freedom, (n,).
        x: Coordinates to start from, replaced by those found, (nx,).
        state: Is left measured and factored at x.

    Returns:
        Iterations; -1 where Newton's method diverged, -2 where J is singular.
    """
    freedom = tables.freedom
    k, n = len(freedom.columns), len(q)
    measure(tables.elements, x, state.e, state.D, state.room)
    _gap(tables, q, x, state)
    way, target = state.way[0], state.way[1]
    longest = 0.0
    for i in range(n):
        way[i] = state.step[freedom.columns[i]] if i < k else state.rhs[freedom.rows[i - k]]
        longest = max(longest, abs(way[i]) / freedom.stride[i])
    pieces = min(int(longest) + 1, MOST_PIECES)
    if pieces == 1:
        return _newton(tables, q, x, state)
    total = 0
    for piece in range(pieces):
        left = (pieces - 1.0 - piece) / pieces
        for i in range(n):
            target[i] = q[i] - left * way[i]
        taken = _newton(tables, target, x, state)
        if taken < 0:
            return taken
        total += taken
    return total
