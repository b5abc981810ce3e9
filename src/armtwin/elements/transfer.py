"""From degrees of freedom to nodal coordinates, and the rates of both.

Newton's method on D_C(x) = e_C(q): J δx = e_C - D_C(x). At the solution, with the same J:

    vx:  J vx = E v                       ax:  J ax = E a - D_C,xx[vx, vx]
    DF:  J DF = E                         second order:  J D2F[a, b] = -D_C,xx[DF a, DF b]

E puts each degree of freedom on its row; free nodal coordinates are their own.

Ref: [Jonker 1988], [Waiboer 2007, 4.2]
"""

from typing import NamedTuple

import numpy as np

from armtwin.elements.blocks import factor, solve
from armtwin.elements.deformation import curve, measure
from armtwin.elements.hinge import TURNS_ALIKE
from armtwin.elements.packing import Freedom, Geometry, Tables
from armtwin.maths.batch import Floats, Integers
from armtwin.maths.compiled import compiled, inlined

MOST_ITERATIONS = 20
CONVERGED = 3e-8  # of the coordinates: the error left is its square
EXACT = 1e-13  # a step so small leaves the slopes as they are
MOST_PIECES = 400
FAR = 1e6  # a step so long leads nowhere


class TransferState(NamedTuple):
    """Slopes and factors of J at some coordinates.

    Attributes:
        e: Deformations, (rows,).
        D: Slopes, (rows, 14).
        c: Second derivatives along the velocities, (rows,).
        LU: Factors of J.
        pivot: Row exchanges.
        rhs: Room for a right-hand side, (rows,).
        step: Room for a step of the coordinates, (nx,).
        goal: Buffer for an intermediate q, (n,).
        vx: Velocities of all coordinates, zeros where held, (nx,).
        ax: Their accelerations.
        g: Forces on them.
    """

    e: Floats
    D: Floats
    c: Floats
    LU: Floats
    pivot: Integers
    rhs: Floats
    step: Floats
    goal: Floats
    vx: Floats
    ax: Floats
    g: Floats


def empty_state(tables: Tables, nx: int) -> TransferState:
    """Room for a state of nx coordinates."""
    elements, blocks, freedom = tables.geometry
    rows = len(elements.width)
    return TransferState(
        e=np.zeros(rows),
        D=np.zeros((rows, 14)),
        c=np.zeros(rows),
        LU=np.zeros(blocks.place[-1]),
        pivot=np.zeros(len(blocks.row), dtype=np.int64),
        rhs=np.zeros(rows),
        step=np.zeros(nx),
        goal=np.zeros(len(freedom.stride)),
        vx=np.zeros(nx),
        ax=np.zeros(nx),
        g=np.zeros(nx),
    )


@inlined
def put_free(freedom: Freedom, value: Floats, rhs: Floats, x: Floats) -> None:
    """Put one value for each degree of freedom on rows and columns; other rows become 0."""
    for r in range(len(rhs)):
        rhs[r] = 0.0
    k = len(freedom.columns)
    for i in range(k):
        x[freedom.columns[i]] = value[i]
    for i in range(len(freedom.rows)):
        rhs[freedom.rows[i]] = value[k + i]


@inlined
def rates(geometry: Geometry, v: Floats, state: TransferState, vx: Floats) -> None:
    """Velocities vx of the coordinates; held ones are left as they are."""
    put_free(geometry.freedom, v, state.rhs, vx)
    solve(geometry.blocks, state.D, state.LU, state.pivot, state.rhs, vx)


@inlined
def second_rates(
    geometry: Geometry, x: Floats, vx: Floats, a: Floats, state: TransferState, ax: Floats
) -> None:
    """Accelerations ax of the coordinates."""
    curve(geometry.elements, x, vx, vx, state.c)
    put_free(geometry.freedom, a, state.rhs, ax)
    for r in range(len(state.c)):
        state.rhs[r] -= state.c[r]
    solve(geometry.blocks, state.D, state.LU, state.pivot, state.rhs, ax)


@inlined
def _gap(freedom: Freedom, q: Floats, x: Floats, state: TransferState) -> None:
    """Put what the measured deformations lack of q, and the free coordinates' step, into state.

    Twists are known up to two turns: the nearest is taken.
    """
    k = len(freedom.columns)
    for r in range(len(state.rhs)):
        state.rhs[r] = -state.e[r]
    for i in range(len(freedom.rows)):
        state.rhs[freedom.rows[i]] += q[k + i]
    for i in range(len(freedom.twists)):
        row = freedom.twists[i]
        state.rhs[row] -= TURNS_ALIKE * np.round(state.rhs[row] / TURNS_ALIKE)
    for i in range(k):
        column = freedom.columns[i]
        state.step[column] = q[i] - x[column]


@inlined
def _advance(geometry: Geometry, q: Floats, x: Floats, state: TransferState) -> float:
    """One step of Newton's method with the factors of J; its largest change."""
    _gap(geometry.freedom, q, x, state)
    solve(geometry.blocks, state.D, state.LU, state.pivot, state.rhs, state.step)
    largest = 0.0
    for i in range(len(x)):
        x[i] += state.step[i]
        largest = max(largest, abs(state.step[i]))
    return largest if largest < FAR else np.inf  # NaN is far too


@inlined
def _newton(geometry: Geometry, q: Floats, x: Floats, state: TransferState) -> int:
    """Iterations that Newton's method took from x; negative where it failed.

    `state` comes measured at x.
    """
    settled = False
    for iteration in range(MOST_ITERATIONS):
        if factor(geometry.blocks, state.D, state.LU, state.pivot) >= 0:
            return -2
        if settled:
            return iteration
        largest = _advance(geometry, q, x, state)
        if largest < EXACT:
            return iteration + 1
        if largest >= FAR:
            return -1
        measure(geometry.elements, x, state.e, state.D)
        settled = largest < CONVERGED
    return -1


@inlined
def _pieces(freedom: Freedom, state: TransferState) -> int:
    """Pieces into which the change of q is cut."""
    k = len(freedom.columns)
    longest = 0.0
    for i in range(len(freedom.stride)):
        way = state.step[freedom.columns[i]] if i < k else state.rhs[freedom.rows[i - k]]
        longest = max(longest, abs(way) / freedom.stride[i])
    return min(int(longest) + 1, MOST_PIECES)


@compiled
def find(geometry: Geometry, q: Floats, x: Floats, state: TransferState) -> int:
    """Coordinates x at q, from those of another q; a large change is cut in pieces.

    Args:
        geometry: Elements, blocks and freedom of the structure.
        q: Degrees of freedom, (n,).
        x: Coordinates to start from, replaced by those found, (nx,).
        state: Is left measured and factored at x.

    Returns:
        Iterations; -1 where Newton's method diverged, -2 where J is singular.
    """
    freedom = geometry.freedom
    k = len(freedom.columns)
    measure(geometry.elements, x, state.e, state.D)
    _gap(freedom, q, x, state)
    total, left = 0, _pieces(freedom, state)
    while True:
        for i in range(len(q)):
            way = state.step[freedom.columns[i]] if i < k else state.rhs[freedom.rows[i - k]]
            state.goal[i] = q[i] - (1.0 - 1.0 / left) * way
        taken = _newton(geometry, state.goal, x, state)
        if taken < 0:
            return taken
        total += taken
        left -= 1
        if left == 0:
            return total
        _gap(freedom, q, x, state)
