"""Deformations of all elements of a structure, their slopes and second derivatives.

The slopes D = de/dx are kept by rows: D[r, k] is the slope of row r with the coordinate
columns[r, k], at most 14 of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armtwin.elements.beam import beam_jets, measure_beam
from armtwin.elements.hinge import curve_hinge, measure_hinge
from armtwin.elements.strains import better, better_slopes
from armtwin.elements.truss import curve_triad, curve_truss, measure_triad, measure_truss
from armtwin.maths.compiled import compiled


class Elements(NamedTuple):
    """All elements, packed; rows of lambda elements first, then trusses, hinges and beams.

    Attributes:
        lambdas: Where the triads with a lambda element start, (k,).
        trusses: Where the points of each truss start, (t, 2).
        truss_length: Lengths, (t,) [m].
        hinges: Where the triads of each hinge start, (h, 2).
        hinge_forms: Coefficients of the relative rotation, (h, 4, 4, 4).
        beams: Where point p, triad p, point q, triad q start, (b, 4).
        beam_forms: Coefficients of R n_y' and R n_z', (b, 2, 3, 4, 4).
        beam_length: Lengths, (b,) [m].
        better: 1 for better strains, (b,).
        columns: Coordinate of each local column, (rows, 14).
        width: Number of local columns, (rows,).
    """

    lambdas: Any
    trusses: Any
    truss_length: Any
    hinges: Any
    hinge_forms: Any
    beams: Any
    beam_forms: Any
    beam_length: Any
    better: Any
    columns: Any
    width: Any


class Room(NamedTuple):
    """Arrays in which elements work, of the type of the coordinates."""

    relative: Any
    relative_slope: Any
    side: Any
    side_slope: Any
    side_jet: Any
    chord: Any
    jets: Any
    more: Any
    small: Any
    turn: Any


def element_room(dtype: Any) -> Room:
    """Room for elements whose coordinates are real or complex."""
    shapes = ((4,), (4, 8), (4, 3), (4, 3, 4), (5, 4, 3), (5, 3), (6, 4), (6, 4), (6, 14), (6, 6))
    return Room(*(np.zeros(shape, dtype) for shape in shapes))


@compiled
def measure(elements: Elements, x: Any, e: Any, D: Any, room: Room) -> None:
    """Deformations e (rows,) and their slopes D (rows, 14) at coordinates x."""
    row = 0
    for i in range(len(elements.lambdas)):
        measure_triad(x, elements.lambdas[i], row, e, D)
        row += 1
    trusses, hinges = elements.trusses, elements.hinges
    for i in range(len(trusses)):
        measure_truss(x, trusses[i, 0], trusses[i, 1], elements.truss_length[i], row, e, D)
        row += 1
    forms = elements.hinge_forms
    for i in range(len(hinges)):
        relative, slope = room.relative, room.relative_slope
        measure_hinge(x, hinges[i, 0], hinges[i, 1], i, forms, row, e, D, relative, slope)
        row += 3
    for i in range(len(elements.beams)):
        far, length = elements.better[i], elements.beam_length[i]
        side, slope, chord = room.side, room.side_slope, room.chord
        measure_beam(
            x, elements.beams, i, elements.beam_forms, length, far, row, e, D, side, slope, chord
        )
        if far == 1:
            better_slopes(length, row, e, D, room.jets, room.more, room.small, room.turn)
        row += 6


@compiled
def curve(elements: Elements, x: Any, u: Any, w: Any, c: Any, room: Room) -> None:
    """Second derivatives D_xx[u, w] of all deformations, (rows,)."""
    row = 0
    for i in range(len(elements.lambdas)):
        curve_triad(u, w, elements.lambdas[i], row, c)
        row += 1
    trusses, hinges = elements.trusses, elements.hinges
    chord, jets = room.chord, room.jets
    for i in range(len(trusses)):
        curve_truss(x, u, w, trusses[i, 0], trusses[i, 1], row, c, chord)
        row += 1
    forms = elements.hinge_forms
    for i in range(len(hinges)):
        curve_hinge(x, u, w, hinges[i, 0], hinges[i, 1], i, forms, row, c, jets)
        row += 3
    for i in range(len(elements.beams)):
        far, length = elements.better[i], elements.beam_length[i]
        beam_jets(
            x, u, w, elements.beams, i, elements.beam_forms, length, far, room.side_jet, chord, jets
        )
        if far == 1:
            better(length, jets, room.more)
        for m in range(6):
            c[row + m] = jets[m, 3]
        row += 6


@compiled
def along(elements: Elements, D: Any, u: Any, change: Any) -> None:
    """Change of all deformations along u, D u, (rows,)."""
    columns, width = elements.columns, elements.width
    for r in range(len(width)):
        total = 0.0 * D[r, 0]
        for k in range(width[r]):
            total += D[r, k] * u[columns[r, k]]
        change[r] = total


@compiled
def add_nodal(elements: Elements, D: Any, sigma: Any, g: Any) -> None:
    """Add the nodal forces D' σ of a stress to g."""
    columns, width = elements.columns, elements.width
    for r in range(len(width)):
        if sigma[r] != 0.0:
            for k in range(width[r]):
                g[columns[r, k]] += D[r, k] * sigma[r]
