"""A structure as plain arrays for the kernels."""

from typing import Any, NamedTuple

import numpy as np

from armtwin.elements import parts as el
from armtwin.elements.blocks import Blocks
from armtwin.elements.deformation import BETTER_BEAM, HINGE, LAMBDA, PRINTED_BEAM, TRUSS, Elements
from armtwin.elements.loads import BASE_MOMENT, FORCE, OWN_MOMENT, Laws, LoadTables, Masses
from armtwin.elements.structure import Structure
from armtwin.maths.batch import Flags, Floats, Indices, Integers

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


class _Member(NamedTuple):
    """An element among the others.

    Attributes:
        part: What it is; a triad for a lambda element.
        kind: As in Elements.
        row: Its first row.
        rows: Their number.
        nodes: Where the coordinates of its nodes start.
        length: Length at which it is not elongated; 0 for those without [m].
        axes: n_x', n_y', n_z', (3, 3).
    """

    part: el.Element | el.Triad
    kind: int
    row: int
    rows: int
    nodes: Indices
    length: float
    axes: Floats


def _members(structure: Structure) -> list[_Member]:
    """All elements in the order of their rows."""
    places, found, row = structure.places, [], 0
    parts: tuple[el.Element | el.Triad, ...] = structure.parts.triads
    for part in (*parts, *structure.trusses, *structure.hinges, *structure.beams):
        length, axes = 0.0, np.zeros((3, 3))
        names: tuple[str, ...]
        if isinstance(part, el.Triad):
            if part.held:
                continue
            kind, rows, names = LAMBDA, 1, (part.name,)
        elif isinstance(part, el.Truss):
            kind, rows, names = TRUSS, 1, (part.p, part.q)
            length = distance(structure, *names) if part.length is None else part.length
        elif isinstance(part, el.Hinge):
            kind, rows, names = HINGE, 3, (part.p, part.q)
            axes = axes_about(np.array(part.axis), part.side)
        else:
            kind, rows = (BETTER_BEAM if part.form == "better" else PRINTED_BEAM), 6
            (p, q), (lp, lq) = part.points, part.triads
            names = p, lp, q, lq
            length = distance(structure, p, q)
            axes = axes_about(chord(structure, p, q), part.side)
        nodes = tuple(places[name] for name in names)
        found.append(_Member(part, kind, row, rows, nodes, length, axes))
        row += rows
    return found


def pack_elements(structure: Structure) -> Elements:
    """Tables of the elements alone."""
    members = _members(structure)
    triads = 3 * len(structure.parts.points)  # where the coordinates of triads start
    columns, width = [], []
    for member in members:
        local: list[int] = []
        for node in member.nodes:
            local += range(node, node + (4 if node >= triads else 3))
        columns += [local + [-1] * (WIDTH - len(local))] * member.rows
        width += [len(local)] * member.rows
    return Elements(
        kind=_integers([member.kind for member in members]),
        row=_integers([member.row for member in members]),
        nodes=_integers([(*member.nodes, 0, 0, 0)[:4] for member in members], 4),
        axes=_floats([member.axes for member in members], 3, 3),
        length=_floats([member.length for member in members]),
        columns=_integers(columns, WIDTH),
        width=_integers(width),
    )


def pattern(elements: Elements) -> Flags:
    """Which slopes (rows, 14) can differ from zero."""
    found = np.arange(WIDTH)[None, :] < elements.width[:, None]
    for first in elements.row[elements.kind == PRINTED_BEAM]:
        for i, local in enumerate(_BEAM_COLUMNS):
            found[first + i] = np.isin(np.arange(WIDTH), local)
    return found


def pack(structure: Structure, elements: Elements, blocks: Blocks) -> Tables:
    """All tables of a structure."""
    members = _members(structure)
    n = structure.n
    rotors = structure.parts.coordinate_inertia
    return Tables(
        geometry=Geometry(elements, blocks, _freedom(structure, members)),
        masses=_masses(structure, members),
        laws=_laws(structure, members),
        loads=_loads(structure),
        rotors=np.zeros((n, n)) if rotors is None else np.array(rotors, dtype=np.float64),
    )


def _integers(rows: list[Any], *shape: int) -> Integers:
    return np.array(rows, dtype=np.int64).reshape(-1, *shape)


def _floats(rows: list[Any], *shape: int) -> Floats:
    return np.array(rows, dtype=np.float64).reshape(-1, *shape)


def distance(structure: Structure, p: str, q: str) -> float:
    """Distance of two points in the reference state [m]."""
    return float(np.linalg.norm(chord(structure, p, q)))


def chord(structure: Structure, p: str, q: str) -> Floats:
    """From one point to another in the reference state, (3,) [m]."""
    x, places = structure.reference, structure.places
    return x[places[q] : places[q] + 3] - x[places[p] : places[p] + 3]


def axes_about(x: Floats, side: el.Triple | None) -> Floats:
    """Unit vectors along x, near `side` and across both, (3, 3)."""
    nx = x / np.linalg.norm(x)
    near = np.eye(3)[np.argmin(np.abs(nx))] if side is None else np.array(side)
    ny = near - (near @ nx) * nx
    ny = ny / np.linalg.norm(ny)
    return np.array([nx, ny, np.cross(nx, ny)])


STRIDE = 0.5  # rad, or of an element's length


def _freedom(structure: Structure, members: list[_Member]) -> Freedom:
    twists = []
    scale = np.ones(len(structure.row_names))
    for member in members:
        rows = slice(member.row, member.row + member.rows)
        if isinstance(member.part, el.Truss):
            scale[rows] = distance(structure, member.part.p, member.part.q)
        elif isinstance(member.part, el.Beam):
            scale[rows] = member.length
        elif isinstance(member.part, el.Hinge):
            twists.append(member.row)
    corners = np.array([point.at for point in structure.parts.points]).reshape(-1, 3)
    size = np.ptp(corners) if len(corners) > 1 else 1.0
    lengths = np.full(len(structure.free_columns), size)
    return Freedom(
        columns=structure.free_columns,
        rows=structure.free_rows,
        twists=_integers(twists),
        stride=STRIDE * np.concatenate([lengths, scale[structure.free_rows]]),
    )


def _masses(structure: Structure, members: list[_Member]) -> Masses:
    places = structure.places
    bodies = [(places[body.point], places[body.triad]) for body in structure.parts.bodies]
    ten = [body.ten for body in structure.parts.bodies]
    beams, axes, bulk = [], [], []
    for member in members:
        section = member.part.section if isinstance(member.part, el.Beam) else None
        if section is not None and (section.mass or section.polar):
            beams.append(member.nodes)
            axes.append(member.axes[0])
            bulk.append((member.length, section.mass, section.polar))
    return Masses(
        bodies=_integers(bodies, 2),
        inertia=_floats(ten, 10),
        beams=_integers(beams, 4),
        axis=_floats(axes, 3),
        bulk=_floats(bulk, 3),
        gravity=np.array(structure.parts.gravity, dtype=np.float64),
    )


class _Law:
    """Collects the laws row by row."""

    def __init__(self, rows: int) -> None:
        self.preload = np.zeros(rows)
        self.springs: list[tuple[int, int, float]] = []
        self.dampers: list[tuple[int, int, float]] = []
        self.gas: list[tuple[int, float, float]] = []

    def add(self, row: int, law: el.ElementSpring | el.Gas | None) -> None:
        if isinstance(law, el.Gas):
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


def _laws(structure: Structure, members: list[_Member]) -> Laws:
    """Stress laws; those of held rows are left out, for nothing deforms there."""
    law = _Law(len(structure.row_names))
    for member in members:
        part, row = member.part, member.row
        if isinstance(part, el.Truss):
            law.add(row, part.law)
        elif isinstance(part, el.Hinge):
            for i in range(3):
                law.add(row + i, part.laws[i])
        elif isinstance(part, el.Beam) and part.section is not None:
            S = el.stiffness(part.section, member.length)
            moves = np.array(part.modes) != "held"
            law.add_beam(row, S * np.outer(moves, moves), part.section.relaxation)
    return Laws(
        preload=law.preload,
        spring_rows=_integers([pair[:2] for pair in law.springs], 2),
        springs=_floats([pair[2] for pair in law.springs]),
        damper_rows=_integers([pair[:2] for pair in law.dampers], 2),
        dampers=_floats([pair[2] for pair in law.dampers]),
        gas_rows=_integers([gas[0] for gas in law.gas]),
        gas=_floats([gas[1:] for gas in law.gas], 2),
    )


def _loads(structure: Structure) -> LoadTables:
    kinds, places, values = [], [], []
    for load in structure.parts.loads:
        if isinstance(load, el.PointForce):
            kinds.append(FORCE)
            places.append(structure.places[load.point])
        else:
            kinds.append(BASE_MOMENT if load.axes == "base" else OWN_MOMENT)
            places.append(structure.places[load.triad])
        values.append(load.value)
    return LoadTables(
        kind=_integers(kinds),
        at=_integers(places),
        value=_floats(values, 3),
    )
