"""Element functions on all elements and many states at once, in numpy, real or complex.

The kernels of one element, run as plain Python, take arrays for numbers: elements of one kind stand
side by side, each with its own coordinates, and so do the states. A complex step of them costs a
few thousand operations on arrays, whatever the number of directions, and nothing is compiled twice.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armtwin.elements.beam import Ends
from armtwin.elements.deformation import (
    HINGE,
    LAMBDA,
    TRUSS,
    Elements,
    curve_element,
    measure_element,
)
from armtwin.elements.loads import LoadTables, Masses, add_beam, add_body, add_load
from armtwin.maths.batch import Integers
from armtwin.maths.tracing import python_of

Numbers = NDArray[Any]

# Rows of an element, and where its nodes start among its own coordinates.
_BEAM: Ends = (0, 3, 7, 10)
_SHAPES: dict[int, tuple[int, Ends]] = {
    LAMBDA: (1, (0, 0, 0, 0)),
    TRUSS: (1, (0, 3, 0, 0)),
    HINGE: (3, (0, 4, 0, 0)),
}
_POINT, _TRIAD = np.arange(3), np.arange(4)


def _families(elements: Elements) -> Iterator[tuple[int, Integers, Integers, int, Ends]]:
    """Kind, members, their first rows, their number of rows and their places, kind by kind."""
    for kind in np.unique(elements.kind):
        members = np.flatnonzero(elements.kind == kind)
        rows, at = _SHAPES.get(int(kind), (6, _BEAM))
        yield int(kind), members, elements.row[members], rows, at


def _own(elements: Elements, first: Integers, x: Numbers) -> Numbers:
    """Coordinates of some elements side by side, (14, members, k)."""
    return x[elements.columns[first].T]


def slopes(elements: Elements, x: Numbers) -> tuple[Numbers, Numbers]:
    """Deformations (rows, k) and slopes by local columns (rows, 14, k) at k states x (nx, k)."""
    measure = python_of(measure_element)
    k, total = x.shape[1], len(elements.width)
    e, D = np.zeros((total, k), x.dtype), np.zeros((total, 14, k), x.dtype)
    for kind, members, first, rows, at in _families(elements):
        own_e = np.zeros((rows, len(members), k), x.dtype)
        own_D = np.zeros((rows, 14, len(members), k), x.dtype)
        near = _own(elements, first, x)
        with np.errstate(invalid="ignore"):  # an element beyond its range has no strain
            measure(elements, members[:, None], kind, at, near, 0, own_e, own_D)
        for row in range(rows):
            e[first + row] = own_e[row]
            D[first + row] = own_D[row].swapaxes(0, 1)
    return e, D


def dense(elements: Elements, local: Numbers, nx: int) -> Numbers:
    """Rows by local columns (rows, 14) as rows of all coordinates, (rows, nx)."""
    whole = np.zeros((len(local), nx + 1), local.dtype)
    np.put_along_axis(whole, elements.columns, local, axis=1)  # -1, beyond the last, is the added
    return whole[:, :-1]


def curvatures(elements: Elements, x: Numbers, u: Numbers, w: Numbers) -> Numbers:
    """Second derivatives along u and w at k states, each (nx, k); (rows, k)."""
    curve = python_of(curve_element)
    k = x.shape[1]
    c = np.zeros((len(elements.width), k), x.dtype)
    for kind, members, first, rows, at in _families(elements):
        own_c = np.zeros((rows, len(members), k), x.dtype)
        near = [_own(elements, first, y) for y in (x, u, w)]
        with np.errstate(invalid="ignore"):  # an element beyond its range has no strain
            curve(elements, members[:, None], kind, at, *near, 0, own_c)
        for row in range(rows):
            c[first + row] = own_c[row]
    return c


def forces(masses: Masses, loads: LoadTables, x: Numbers, vx: Numbers, ax: Numbers) -> Numbers:
    """Nodal forces M ax + h - f at k states, each (nx, k)."""
    g = np.zeros(x.shape, x.dtype)
    gravity = tuple(masses.gravity)
    state = (x, vx, ax)
    bodies = np.arange(len(masses.bodies))[:, None]
    columns = np.hstack([masses.bodies[:, :1] + _POINT, masses.bodies[:, 1:] + _TRIAD])
    add = python_of(add_body)
    _scatter(columns, state, g, lambda own, part: add(masses, bodies, (0, 3), *own, gravity, part))
    beams = np.arange(len(masses.beams))[:, None]
    ends = masses.beams
    nodes = [
        ends[:, :1] + _POINT,
        ends[:, 1:2] + _TRIAD,
        ends[:, 2:3] + _POINT,
        ends[:, 3:] + _TRIAD,
    ]
    bend = python_of(add_beam)
    _scatter(
        np.hstack(nodes),
        state,
        g,
        lambda own, part: bend(masses, beams, _BEAM, *own, gravity, part),
    )
    load = python_of(add_load)
    for kind, at, value in zip(loads.kind, loads.at, loads.value, strict=True):
        load(kind, tuple(-value), at, x, g)
    return g


def _scatter(
    columns: Integers,
    state: tuple[Numbers, Numbers, Numbers],
    g: Numbers,
    work: Callable[[list[Numbers], Numbers], None],
) -> None:
    """Add to g what members (members, width) need, each by its own coordinates."""
    if not len(columns):
        return
    own = [y[columns.T] for y in state]
    part = np.zeros(own[0].shape, g.dtype)
    work(own, part)
    np.add.at(g, columns.T, part)
