"""A structure as plain arrays for the kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armtwin.elements.blocks import Blocks, Integers
from armtwin.elements.deformation import BETTER_BEAM, HINGE, LAMBDA, PRINTED_BEAM, TRUSS, Elements
from armtwin.elements.loads import BASE_MOMENT, FORCE, OWN_MOMENT, Laws, LoadTables
from armtwin.elements.masses import Masses
from armtwin.elements.parts import Beam, ElementSpring, Gas, PointForce, Triple, stiffness
from armtwin.elements.structure import Structure
from armtwin.maths.batch import Flags, Floats, Indices

WIDTH = 14
# Local columns of a beam's printed deformations that can differ from zero.
_POINTS = (0, 1, 2, 7, 8, 9)
_TRIAD_P = (3, 4, 5, 6)
_TRIAD_Q = (10, 11, 12, 13)
_BEAM_COLUMNS = (
    _POINTS,
    _TRIAD_P + _TRIAD_Q,
    _POINTS + _TRIAD_P,
    _POINTS + _TRIAD_Q,
    _POINTS + _TRIAD_P,
    _POINTS + _TRIAD_Q,
)


class Freedom(NamedTuple):
    """Degrees of freedom, packed.

    Attributes:
        columns: Nodal coordinates among them, (k,); the first of q.
        rows: Deformations among them, (n - k,); the rest of q.
        twists: Rows of hinge twists, which repeat every two turns, (h,).
        stride: Largest change of each of q that Newton's method takes in one go, (n,).
    """

    columns: Integers
    rows: Integers
    twists: Integers
    stride: Floats


class Geometry(NamedTuple):
    """How the nodes of a structure follow its degrees of freedom, packed.

    Attributes:
        elements: What deforms.
        blocks: How J is solved.
        freedom: Degrees of freedom.
    """

    elements: Elements
    blocks: Blocks
    freedom: Freedom


class Tables(NamedTuple):
    """A structure, packed.

    Attributes:
        geometry: What deforms and how it moves.
        masses: What is heavy.
        laws: Stress along deformations.
        loads: Loads on nodes.
        rotors: Inertia along q, (n, n).
    """

    geometry: Geometry
    masses: Masses
    laws: Laws
    loads: LoadTables
    rotors: Floats


def columns(structure: Structure) -> tuple[Integers, Integers]:
    """Coordinate of each local column, (rows, 14), and their number, (rows,)."""
    places = structure.places
    groups: list[tuple[int, list[int]]] = []
    for triad in structure.parts.triads:
        if not triad.held:
            groups.append((1, _run(places[triad.name], 4)))
    for truss in structure.trusses:
        groups.append((1, _run(places[truss.p], 3) + _run(places[truss.q], 3)))
    for hinge in structure.hinges:
        groups.append((3, _run(places[hinge.p], 4) + _run(places[hinge.q], 4)))
    for beam in structure.beams:
        p = _run(places[beam.points[0]], 3) + _run(places[beam.triads[0]], 4)
        q = _run(places[beam.points[1]], 3) + _run(places[beam.triads[1]], 4)
        groups.append((6, p + q))
    found, width = [], []
    for rows, local in groups:
        found += [local + [-1] * (WIDTH - len(local))] * rows
        width += [len(local)] * rows
    return np.array(found, dtype=np.int64).reshape(-1, WIDTH), np.array(width, dtype=np.int64)


def _run(start: int, count: int) -> list[int]:
    return list(range(start, start + count))


def pattern(structure: Structure, columns: Integers, width: Integers) -> Flags:
    """Which slopes (rows, 14) can differ from zero."""
    found = np.arange(WIDTH)[None, :] < width[:, None]
    row = len(width) - 6 * len(structure.beams)
    for beam in structure.beams:
        if beam.form == "printed":
            found[row : row + 6] = False
            for i, local in enumerate(_BEAM_COLUMNS):
                found[row + i, list(local)] = True
        row += 6
    return found


def pack(structure: Structure, columns: Integers, width: Integers, blocks: Blocks) -> Tables:
    """All tables of a structure."""
    elements = pack_elements(structure, columns, width)
    n = structure.n
    rotors = structure.parts.coordinate_inertia
    return Tables(
        geometry=Geometry(elements, blocks, _freedom(structure)),
        masses=_masses(structure),
        laws=_laws(structure),
        loads=_loads(structure),
        rotors=np.zeros((n, n)) if rotors is None else np.array(rotors, dtype=np.float64),
    )


def _integers(rows: list[Any], width: int) -> Integers:
    return np.array(rows, dtype=np.int64).reshape(-1, width)


def distance(structure: Structure, p: str, q: str) -> float:
    """Distance of two points in the reference state [m]."""
    return float(np.linalg.norm(chord(structure, p, q)))


def chord(structure: Structure, p: str, q: str) -> Floats:
    """From one point to another in the reference state, (3,) [m]."""
    x, places = structure.reference, structure.places
    return x[places[q] : places[q] + 3] - x[places[p] : places[p] + 3]


def axes_about(x: Floats, side: Triple | None) -> Floats:
    """Unit vectors along x, near `side` and across both, (3, 3)."""
    nx = x / np.linalg.norm(x)
    near = np.eye(3)[np.argmin(np.abs(nx))] if side is None else np.array(side)
    ny = near - (near @ nx) * nx
    ny = ny / np.linalg.norm(ny)
    return np.array([nx, ny, np.cross(nx, ny)])


def pack_elements(structure: Structure, columns: Integers, width: Integers) -> Elements:
    """Tables of the elements alone."""
    table = _ElementTable()
    places = structure.places
    for triad in structure.parts.triads:
        if not triad.held:
            table.add(LAMBDA, 1, (places[triad.name],))
    for truss in structure.trusses:
        own = distance(structure, truss.p, truss.q)
        length = own if truss.length is None else truss.length
        table.add(TRUSS, 1, (places[truss.p], places[truss.q]), length)
    for hinge in structure.hinges:
        axes = axes_about(np.array(hinge.axis), hinge.side)
        table.add(HINGE, 3, (places[hinge.p], places[hinge.q]), axes=axes)
    for beam in structure.beams:
        kind = BETTER_BEAM if beam.form == "better" else PRINTED_BEAM
        axes = axes_about(chord(structure, *beam.points), beam.side)
        length = distance(structure, *beam.points)
        table.add(kind, 6, _beam_places(structure, beam), length, axes)
    return Elements(
        kind=np.array(table.kind, dtype=np.int64),
        row=np.array(table.row, dtype=np.int64),
        nodes=_integers(table.nodes, 4),
        axes=np.array(table.axes, dtype=np.float64).reshape(-1, 3, 3),
        length=np.array(table.length, dtype=np.float64),
        columns=columns,
        width=width,
    )


class _ElementTable:
    """Collects the elements one by one."""

    def __init__(self) -> None:
        self.rows = 0
        self.kind: list[int] = []
        self.row: list[int] = []
        self.nodes: list[Indices] = []
        self.axes: list[Floats] = []
        self.length: list[float] = []

    def add(
        self, kind: int, rows: int, nodes: Indices, length: float = 0.0, axes: Floats | None = None
    ) -> None:
        """One element with its rows."""
        self.kind.append(kind)
        self.row.append(self.rows)
        self.nodes.append(nodes + (0,) * (4 - len(nodes)))
        self.length.append(length)
        self.axes.append(np.zeros((3, 3)) if axes is None else axes)
        self.rows += rows


def _beam_places(structure: Structure, beam: Beam) -> tuple[int, int, int, int]:
    places = structure.places
    p, q = beam.points
    lp, lq = beam.triads
    return places[p], places[lp], places[q], places[lq]


STRIDE = 0.5  # rad, or of an element's length


def _freedom(structure: Structure) -> Freedom:
    twists = []
    scale = np.ones(len(structure.row_names))
    row = len(structure.row_names) - 6 * len(structure.beams) - 3 * len(structure.hinges)
    first = row - len(structure.trusses)
    for i, truss in enumerate(structure.trusses):
        scale[first + i] = distance(structure, truss.p, truss.q)
    for _ in structure.hinges:
        twists.append(row)
        row += 3
    for beam in structure.beams:
        scale[row : row + 6] = distance(structure, *beam.points)
        row += 6
    corners = np.array([point.at for point in structure.parts.points]).reshape(-1, 3)
    size = np.ptp(corners) if len(corners) > 1 else 1.0
    lengths = np.full(len(structure.free_columns), size)
    return Freedom(
        columns=structure.free_columns,
        rows=structure.free_rows,
        twists=np.array(twists, dtype=np.int64),
        stride=STRIDE * np.concatenate([lengths, scale[structure.free_rows]]),
    )


def _masses(structure: Structure) -> Masses:
    places = structure.places
    bodies = [(places[body.point], places[body.triad]) for body in structure.parts.bodies]
    ten = [body.ten for body in structure.parts.bodies]
    beams, axes, bulk = [], [], []
    for beam in structure.beams:
        if beam.section is not None and (beam.section.mass or beam.section.polar):
            d = chord(structure, *beam.points)
            length = float(np.linalg.norm(d))
            beams.append(_beam_places(structure, beam))
            axes.append(d / length)
            bulk.append((length, beam.section.mass, beam.section.polar))
    return Masses(
        bodies=_integers(bodies, 2),
        inertia=np.array(ten, dtype=np.float64).reshape(-1, 10),
        beams=_integers(beams, 4),
        axis=np.array(axes, dtype=np.float64).reshape(-1, 3),
        bulk=np.array(bulk, dtype=np.float64).reshape(-1, 3),
        gravity=np.array(structure.parts.gravity, dtype=np.float64),
    )


class _Law:
    """Collects the laws row by row."""

    def __init__(self, rows: int) -> None:
        self.preload = np.zeros(rows)
        self.springs: list[tuple[int, int, float]] = []
        self.dampers: list[tuple[int, int, float]] = []
        self.gas: list[tuple[int, float, float]] = []

    def add(self, row: int, law: ElementSpring | Gas | None) -> None:
        if isinstance(law, Gas):
            self.gas.append((row, law.strength, law.stroke))
        elif law is not None:
            self.preload[row] += law.preload
            if law.stiffness:
                self.springs.append((row, row, law.stiffness))
            if law.damping:
                self.dampers.append((row, row, law.damping))

    def add_beam(self, row: int, S: Floats, relaxation: float) -> None:
        for i, j in zip(*np.nonzero(S), strict=True):
            self.springs.append((row + i, row + j, S[i, j]))
            if relaxation:
                self.dampers.append((row + i, row + j, relaxation * S[i, j]))


def _laws(structure: Structure) -> Laws:
    """Stress laws; those of held rows are left out, for nothing deforms there."""
    law = _Law(len(structure.row_names))
    row = len(structure.row_names)
    row -= len(structure.trusses) + 3 * len(structure.hinges) + 6 * len(structure.beams)
    for truss in structure.trusses:
        law.add(row, truss.law)
        row += 1
    for hinge in structure.hinges:
        for i in range(3):
            law.add(row + i, hinge.laws[i])
        row += 3
    for beam in structure.beams:
        if beam.section is not None:
            S = stiffness(beam.section, distance(structure, *beam.points))
            moves = np.array(beam.modes) != "held"
            law.add_beam(row, S * np.outer(moves, moves), beam.section.relaxation)
        row += 6
    return Laws(
        preload=law.preload,
        spring_rows=_integers([pair[:2] for pair in law.springs], 2),
        springs=np.array([pair[2] for pair in law.springs], dtype=np.float64),
        damper_rows=_integers([pair[:2] for pair in law.dampers], 2),
        dampers=np.array([pair[2] for pair in law.dampers], dtype=np.float64),
        gas_rows=np.array([gas[0] for gas in law.gas], dtype=np.int64),
        gas=np.array([gas[1:] for gas in law.gas], dtype=np.float64).reshape(-1, 2),
    )


def _loads(structure: Structure) -> LoadTables:
    kinds, places, values = [], [], []
    for load in structure.parts.loads:
        if isinstance(load, PointForce):
            kinds.append(FORCE)
            places.append(structure.places[load.point])
        else:
            kinds.append(BASE_MOMENT if load.axes == "base" else OWN_MOMENT)
            places.append(structure.places[load.triad])
        values.append(load.value)
    return LoadTables(
        kind=np.array(kinds, dtype=np.int64),
        at=np.array(places, dtype=np.int64),
        value=np.array(values, dtype=np.float64).reshape(-1, 3),
    )
