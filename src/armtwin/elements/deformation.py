"""Deformations of all elements of a structure, their slopes and second derivatives.

The slopes D = de/dx are kept by rows: D[r, k] is the slope of row r with the coordinate
columns[r, k], at most 14 of them.
"""

from typing import Any, NamedTuple

import numpy as np

from armtwin.elements.beam import Ends, Six, beam_jets, ends_of, measure_beam
from armtwin.elements.hinge import Axes, curve_hinge, measure_hinge
from armtwin.elements.jets import Jet, angle_of, chain, difference, length_jet, plus, share, times
from armtwin.elements.rotations import four, put_four, put_three
from armtwin.maths.batch import Floats, Integers, Pair, Values
from armtwin.maths.choice import choose
from armtwin.maths.compiled import compiled, inlined
from armtwin.maths.vectors import dot, row_of


def _series(terms: int) -> Values:
    """Coefficients of asin(s)/s = Σ c_k s^2k."""
    found = [1.0]
    for k in range(terms - 1):
        found.append(found[k] * (2 * k + 1) ** 2 / ((2 * k + 2) * (2 * k + 3)))
    return tuple(found)


TERMS = 17
SERIES = np.array(_series(TERMS))
SERIES_BELOW = 0.1  # there the closed form of the curvature loses digits to cancellation

Ratio = tuple[Any, Any, Any]


@inlined
def _angle_over_sine(S: float) -> Ratio:
    """asin(s)/s over the square S = s² of a sine, its slope and its curvature."""
    f, slope, curvature = 0.0 * S, 0.0 * S, 0.0 * S
    for k in range(TERMS - 1, -1, -1):
        curvature = curvature * S + 2.0 * slope
        slope = slope * S + f
        f = f * S + SERIES[k]
    near = S.real < SERIES_BELOW
    far = choose(near, 0.0 * S + SERIES_BELOW, S)  # the closed form divides by it
    s, c = np.sqrt(far), np.sqrt(1.0 - far)
    closed = angle_of(s, c) / s
    closed_slope = (1.0 / c - closed) / (2.0 * far)
    closed_curvature = (0.5 / (c * c * c) - 3.0 * closed_slope) / (2.0 * far)
    return (
        choose(near, f, closed),
        choose(near, slope, closed_slope),
        choose(near, curvature, closed_curvature),
    )


@inlined
def ratios(length: float, e2: float, at_p: Pair, at_q: Pair) -> tuple[Ratio, Ratio, Ratio]:
    """Angle over sine of the twist and of both ends, from e2, (e3, e5) and (e4, e6)."""
    area = 1.0 / (length * length)
    e3, e5 = at_p
    e4, e6 = at_q
    twist = _angle_over_sine(area * e2 * e2)
    bend_p = _angle_over_sine(area * (e3 * e3 + e5 * e5))
    bend_q = _angle_over_sine(area * (e4 * e4 + e6 * e6))
    return twist, bend_p, bend_q


@inlined
def _end_factor(area: float, ratio: Ratio, z: Jet, y: Jet, spread: Jet) -> Jet:
    """What the two bendings of one end are multiplied by."""
    square = plus(times(z, z), times(y, y))
    return times(chain(ratio, share(area, square)), spread)


@inlined
def better(length: float, e: Six, angles: tuple[Ratio, Ratio, Ratio]) -> Six:
    """The better strains of six small deformations."""
    e1, e2, e3, e4, e5, e6 = e
    area = 1.0 / (length * length)
    twist = times(e2, chain(angles[0], share(area, times(e2, e2))))
    grown = share(area / 12.0, times(twist, twist))
    spread = (1.0 + grown[0], grown[1], grown[2], grown[3])
    at_p = _end_factor(area, angles[1], e3, e5, spread)
    at_q = _end_factor(area, angles[2], e4, e6, spread)
    return _second_order(
        length, (e1, twist, times(e3, at_p), times(e4, at_q), times(e5, at_p), times(e6, at_q))
    )


@inlined
def _second_order(length: float, e: Six) -> Six:
    """The six with their terms of second order."""
    e1, e2, e3, e4, e5, e6 = e
    in_z = plus(times(e3, e3), times(e4, e4))
    in_y = plus(times(e5, e5), times(e6, e6))
    squares = plus(in_z, in_y)
    mixed = plus(times(e3, e4), times(e5, e6))
    shortening = share(1.0 / (30.0 * length), plus(share(2.0, squares), mixed))
    turning = plus(times(e4, e5), share(-1.0, times(e3, e6)))
    sixth = 1.0 / (6.0 * length)
    by_y = share(sixth, times(e2, plus(e5, e6)))
    by_z = share(sixth, times(e2, plus(e3, e4)))
    return (
        plus(e1, shortening),
        plus(e2, share(1.0 / length, turning)),
        plus(e3, by_y),
        plus(e4, share(-1.0, by_y)),
        plus(e5, share(-1.0, by_z)),
        plus(e6, by_z),
    )


@inlined
def _with_slopes(e: float, D: Floats, row: int, j: int) -> Jet:
    """A deformation with its slopes in columns j and j + 1."""
    return e, D[row, j], D[row, j + 1], 0.0 * e


@inlined
def better_slopes(length: float, row: int, e: Floats, D: Floats) -> None:
    """Replace six deformations and their slopes (rows, 14) by those of the better strains."""
    e1, e2, e3 = 1.0 * e[row], 1.0 * e[row + 1], 1.0 * e[row + 2]
    e4, e5, e6 = 1.0 * e[row + 3], 1.0 * e[row + 4], 1.0 * e[row + 5]
    angles = ratios(length, e2, (e3, e5), (e4, e6))
    for j in range(0, 14, 2):  # two columns of the slopes at a time
        printed = (
            _with_slopes(e1, D, row, j),
            _with_slopes(e2, D, row + 1, j),
            _with_slopes(e3, D, row + 2, j),
            _with_slopes(e4, D, row + 3, j),
            _with_slopes(e5, D, row + 4, j),
            _with_slopes(e6, D, row + 5, j),
        )
        found = better(length, printed, angles)
        for m in range(6):
            e[row + m], D[row + m, j], D[row + m, j + 1] = found[m][:3]


@inlined
def measure_triad(x: Floats, at: int, row: int, e: Floats, D: Floats) -> None:
    """Deformation of a lambda element and its slope in its own 4 coordinates."""
    a, b, c, d = four(x, at)
    e[row] = a * a + b * b + c * c + d * d - 1.0
    put_four(D, row, 0, 2.0, (a, b, c, d))


@inlined
def curve_triad(u: Floats, w: Floats, at: int, row: int, curved: Floats) -> None:
    """Second derivative of a lambda element along u and w."""
    a, b, c, d = four(u, at)
    s, t, y, z = four(w, at)
    curved[row] = 2.0 * (a * s + b * t + c * y + d * z)


@inlined
def measure_truss(x: Floats, p: int, q: int, length: float, row: int, e: Floats, D: Floats) -> None:
    """Elongation of a truss and its slope in its 6 coordinates, (-u, u)."""
    d = difference(x, p, q)
    now = np.sqrt(dot(d, d))
    e[row] = now - length
    put_three(D, row, 0, -1.0 / now, d)
    put_three(D, row, 3, 1.0 / now, d)


@inlined
def curve_truss(x: Floats, u: Floats, w: Floats, p: int, q: int, row: int, curved: Floats) -> None:
    """Second derivative of a truss's elongation along u and w."""
    change = length_jet(difference(x, p, q), difference(u, p, q), difference(w, p, q))
    curved[row] = change[3]


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

    kind: Integers
    row: Integers
    nodes: Integers
    axes: Floats
    length: Floats
    columns: Integers
    width: Integers


@inlined
def _axes(elements: Elements, i: int) -> Axes:
    """n_x', n_y', n_z' of an element."""
    axes = elements.axes
    return row_of(axes, i, 0), row_of(axes, i, 1), row_of(axes, i, 2)


@inlined
def measure_element(
    elements: Elements, i: int, kind: int, at: Ends, x: Floats, row: int, e: Floats, D: Floats
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
    elements: Elements,
    i: int,
    kind: int,
    at: Ends,
    x: Floats,
    u: Floats,
    w: Floats,
    row: int,
    c: Floats,
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
def measure(elements: Elements, x: Floats, e: Floats, D: Floats) -> None:
    """Deformations e (rows,) and their slopes D (rows, 14) at coordinates x."""
    for i in range(len(elements.kind)):
        at = ends_of(elements.nodes, i)
        measure_element(elements, i, elements.kind[i], at, x, elements.row[i], e, D)


@compiled
def curve(elements: Elements, x: Floats, u: Floats, w: Floats, c: Floats) -> None:
    """Second derivatives D_xx[u, w] of all deformations, (rows,)."""
    for i in range(len(elements.kind)):
        at = ends_of(elements.nodes, i)
        curve_element(elements, i, elements.kind[i], at, x, u, w, elements.row[i], c)


@inlined
def along(elements: Elements, D: Floats, u: Floats, change: Floats) -> None:
    """Change of all deformations along u, D u, (rows,)."""
    columns, width = elements.columns, elements.width
    for r in range(len(width)):
        total = 0.0
        for k in range(width[r]):
            total += D[r, k] * u[columns[r, k]]
        change[r] = total


@inlined
def add_nodal(elements: Elements, D: Floats, sigma: Floats, g: Floats) -> None:
    """Add the nodal forces D' σ of a stress to g."""
    columns, width = elements.columns, elements.width
    for r in range(len(width)):
        if sigma[r] != 0.0:
            for k in range(width[r]):
                g[columns[r, k]] += D[r, k] * sigma[r]
