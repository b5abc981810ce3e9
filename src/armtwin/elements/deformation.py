"""Deformations of all elements of a structure, their slopes and second derivatives.

The slopes D = de/dx are kept by rows: D[r, k] is the slope of row r with the coordinate
columns[r, k], at most 14 of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from armtwin.elements.beam import Ends, beam_jets, measure_beam
from armtwin.elements.hinge import Axes, curve_hinge, measure_hinge
from armtwin.elements.strains import better, better_slopes, ratios
from armtwin.elements.truss import curve_triad, curve_truss, measure_triad, measure_truss
from armtwin.maths.compiled import compiled, inlined

LAMBDA, TRUSS, HINGE, PRINTED_BEAM, BETTER_BEAM = range(5)


class Elements(NamedTuple):
    """All elements, packed; rows of lambda elements first, then trusses, hinges and beams.

    Attributes:
        kind: LAMBDA, TRUSS, HINGE, PRINTED_BEAM or BETTER_BEAM, (elements,).
        row: First row, (elements,).
        nodes: Where the coordinates of the nodes start, (elements, 4); of a beam point p, triad p,
            point q, triad q.
        axes: n_x', n_y', n_z' of hinges and beams, (elements, 3, 3).
        length: Lengths of trusses and beams, (elements,) [m].
        columns: Coordinate of each local column, (rows, 14).
        width: Number of local columns, (rows,).
    """

    kind: Any
    row: Any
    nodes: Any
    axes: Any
    length: Any
    columns: Any
    width: Any


@inlined
def _axes(elements: Elements, i: int) -> Axes:
    """n_x', n_y', n_z' of an element."""
    a = elements.axes
    return (
        (a[i, 0, 0], a[i, 0, 1], a[i, 0, 2]),
        (a[i, 1, 0], a[i, 1, 1], a[i, 1, 2]),
        (a[i, 2, 0], a[i, 2, 1], a[i, 2, 2]),
    )


@inlined
def measure_element(
    elements: Elements, i: int, kind: int, at: Ends, x: Any, row: int, e: Any, D: Any
) -> None:
    """Deformations of element i and their slopes, its nodes at places of x.

    Run as plain Python, i may be an array of elements of one kind and x their coordinates side by
    side.
    """
    length = elements.length[i]
    if kind == LAMBDA:
        measure_triad(x, at[0], row, e, D)
    elif kind == TRUSS:
        measure_truss(x, at[0], at[1], length, row, e, D)
    elif kind == HINGE:
        measure_hinge(x, (at[0], at[1]), _axes(elements, i), row, e, D)
    else:
        _, ny, nz = _axes(elements, i)
        measure_beam(x, at, ny, nz, length, kind - PRINTED_BEAM, row, e, D)
        if kind == BETTER_BEAM:
            better_slopes(length, row, e, D)


@inlined
def curve_element(
    elements: Elements, i: int, kind: int, at: Ends, x: Any, u: Any, w: Any, row: int, c: Any
) -> None:
    """Second derivatives of the deformations of element i along u and w."""
    length = elements.length[i]
    if kind == LAMBDA:
        curve_triad(u, w, at[0], row, c)
    elif kind == TRUSS:
        curve_truss(x, u, w, at[0], at[1], row, c)
    elif kind == HINGE:
        curve_hinge(x, u, w, (at[0], at[1]), _axes(elements, i), row, c)
    else:
        _, ny, nz = _axes(elements, i)
        e = beam_jets(x, u, w, at, ny, nz, length, kind - PRINTED_BEAM)
        if kind == BETTER_BEAM:
            at_p, at_q = (e[2][0], e[4][0]), (e[3][0], e[5][0])
            e = better(length, e, ratios(length, e[1][0], at_p, at_q))
        for m in range(6):
            c[row + m] = e[m][3]


@compiled
def measure(elements: Elements, x: Any, e: Any, D: Any) -> None:
    """Deformations e (rows,) and their slopes D (rows, 14) at coordinates x."""
    nodes = elements.nodes
    for i in range(len(elements.kind)):
        at = (nodes[i, 0], nodes[i, 1], nodes[i, 2], nodes[i, 3])
        measure_element(elements, i, elements.kind[i], at, x, elements.row[i], e, D)


@compiled
def curve(elements: Elements, x: Any, u: Any, w: Any, c: Any) -> None:
    """Second derivatives D_xx[u, w] of all deformations, (rows,)."""
    nodes = elements.nodes
    for i in range(len(elements.kind)):
        at = (nodes[i, 0], nodes[i, 1], nodes[i, 2], nodes[i, 3])
        curve_element(elements, i, elements.kind[i], at, x, u, w, elements.row[i], c)


@inlined
def along(elements: Elements, D: Any, u: Any, change: Any) -> None:
    """Change of all deformations along u, D u, (rows,)."""
    columns, width = elements.columns, elements.width
    for r in range(len(width)):
        total = 0.0
        for k in range(width[r]):
            total += D[r, k] * u[columns[r, k]]
        change[r] = total


@inlined
def add_nodal(elements: Elements, D: Any, sigma: Any, g: Any) -> None:
    """Add the nodal forces D' σ of a stress to g."""
    columns, width = elements.columns, elements.width
    for r in range(len(width)):
        if sigma[r] != 0.0:
            for k in range(width[r]):
                g[columns[r, k]] += D[r, k] * sigma[r]
