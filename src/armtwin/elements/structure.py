"""Structure: parts put together, every row and coordinate with its name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from armtwin.elements import parts as el
from armtwin.errors import ArmtwinError, check_known, did_you_mean
from armtwin.maths.batch import Floats, Integers, NamedNumbers, Names, Sentences

# Stiffness that each of a beam's modes needs where it is not held.
_NEEDED = ("EA", "GJ", "EIy", "EIy", "EIz", "EIz")
SHORTEST = 1e-9  # m: points nearer than this are one


def problems(parts: el.Parts) -> list[str]:
    """Sentences on parts that cannot be used."""
    found = list(_twice(parts))
    points = {point.name: point.at for point in parts.points}
    triads = {triad.name for triad in parts.triads}
    for element in parts.elements:
        found += _element_problems(element, points, triads)
    for i, body in enumerate(parts.bodies, 1):
        found += _body_problems(i, body, points, triads)
    for i, load in enumerate(parts.loads, 1):
        name, known = ("triad", triads) if hasattr(load, "triad") else ("point", set(points))
        found += _unknown(f"load {i}", name, getattr(load, name), known)
    return found


def _twice(parts: el.Parts) -> Sentences:
    """Names that two nodes or two elements have."""
    nodes = [point.name for point in parts.points] + [triad.name for triad in parts.triads]
    elements = [part.name for part in parts.elements]
    for what, names in (("node", nodes), ("element", elements)):
        for name in sorted(set(names)):
            if names.count(name) > 1:
                yield f"{what} '{name}': a name must be used once, got {names.count(name)} times"


def _unknown(owner: str, what: str, name: str, known: set[str]) -> Sentences:
    if name not in known:
        yield f"{owner}: {what} '{name}' is not known. {did_you_mean(name, known)}"


def _element_problems(
    element: el.Element, points: dict[str, el.Triple], triads: set[str]
) -> Sentences:
    kind = type(element).__name__.lower()
    owner = f"{kind} '{element.name}'"
    if isinstance(element, el.Hinge):
        for name in (element.p, element.q):
            yield from _unknown(owner, "triad", name, triads)
        if not np.linalg.norm(element.axis) > 0:
            yield f"{owner}: axis must have a length, got {element.axis}"
        return
    ends = (element.p, element.q) if isinstance(element, el.Truss) else element.points
    unknown = []
    for name in ends:
        unknown += list(_unknown(owner, "point", name, set(points)))
    yield from unknown
    if not unknown:
        yield from _length_problems(owner, points[ends[0]], points[ends[1]])
    if isinstance(element, el.Beam):
        for name in element.triads:
            yield from _unknown(owner, "triad", name, triads)
        yield from _beam_problems(owner, element)
    elif isinstance(element.law, el.Gas) and not element.law.stroke > 0:
        yield f"{owner}: stroke of its gas must be above 0 m, got {element.law.stroke:g}"


def _length_problems(owner: str, p: el.Triple, q: el.Triple) -> Sentences:
    length = float(np.linalg.norm(np.subtract(q, p)))
    if length < SHORTEST:
        yield f"{owner}: length must be above 0 m, got {length:g} (both points at {p})"


def _beam_problems(owner: str, beam: el.Beam) -> Sentences:
    """Modes that move need a stiffness."""
    bad: NamedNumbers = {}
    for mode, key in zip(beam.modes, _NEEDED, strict=True):
        if mode != "free":
            continue
        if beam.section is None:
            if beam.modes[1:] != ("held",) * 5:  # but a slide needs no spring
                yield f"{owner}: a section with stiffness is needed, as modes of it are free"
            return
        value = getattr(beam.section, key)
        if not value > 0:
            bad[key] = value
    for key, value in bad.items():
        yield f"{owner}: {key} must be above 0, got {value:g}"


def _body_problems(
    i: int, body: el.RigidBody, points: dict[str, el.Triple], triads: set[str]
) -> Sentences:
    yield from _unknown(f"body {i}", "point", body.point, set(points))
    yield from _unknown(f"body {i}", "triad", body.triad, triads)
    if len(body.ten) != 10 or not np.isfinite(body.ten).all():
        yield f"body {i}: ten finite parameters are needed, got {body.ten}"


@dataclass(frozen=True)
class Structure:
    """An assembly of elements that share nodes; it never changes.

    x are the coordinates of all nodes, (nx,): points first, then triads. e are the deformations of
    all rows: lambda elements, trusses, hinges, beams. q are the degrees of freedom, (n,): free
    nodal coordinates, then free deformations.

    Attributes:
        parts: What it is built of.
        released: Rows whose stress is not determined and was taken to be zero.
    """

    parts: el.Parts
    released: Names = ()

    def __post_init__(self) -> None:
        found = problems(self.parts)
        if found:
            raise ArmtwinError("; ".join(found))

    # nodes

    @cached_property
    def places(self) -> dict[str, int]:
        """Where the coordinates of each node start."""
        places = {}
        at = 0
        for point in self.parts.points:
            places[point.name] = at
            at += 3
        for triad in self.parts.triads:
            places[triad.name] = at
            at += 4
        return places

    @cached_property
    def reference(self) -> Floats:
        """Coordinates of the reference state, (nx,)."""
        x = [np.array(point.at, dtype=np.float64) for point in self.parts.points]
        x += [np.array([1.0, 0.0, 0.0, 0.0])] * len(self.parts.triads)
        return np.concatenate(x)

    @cached_property
    def column_names(self) -> Names:
        """Names of the nodal coordinates."""
        names = []
        for point in self.parts.points:
            names += [f"{point.name}.{axis}" for axis in "xyz"]
        for triad in self.parts.triads:
            names += [f"{triad.name}.l{i}" for i in range(4)]
        return tuple(names)

    @cached_property
    def column_modes(self) -> tuple[el.Mode, ...]:
        """What is known of each nodal coordinate."""
        modes: list[el.Mode] = []
        for point in self.parts.points:
            modes += point.modes
        for triad in self.parts.triads:
            modes += ["held" if triad.held else "calculated"] * 4
        return tuple(modes)

    # elements

    @cached_property
    def trusses(self) -> tuple[el.Truss, ...]:
        """The trusses, in order."""
        return tuple(part for part in self.parts.elements if isinstance(part, el.Truss))

    @cached_property
    def hinges(self) -> tuple[el.Hinge, ...]:
        """The hinges, in order."""
        return tuple(part for part in self.parts.elements if isinstance(part, el.Hinge))

    @cached_property
    def beams(self) -> tuple[el.Beam, ...]:
        """The beams, in order."""
        return tuple(part for part in self.parts.elements if isinstance(part, el.Beam))

    @cached_property
    def _rows(self) -> list[tuple[str, el.Mode]]:
        """Name of each deformation, and what is known of it."""
        rows: list[tuple[str, el.Mode]] = []
        for triad in self.parts.triads:
            if not triad.held:
                rows.append((f"{triad.name}.length", "held"))
        for truss in self.trusses:
            rows.append((f"{truss.name}.{el.TRUSS_MODES[0]}", truss.mode))
        for kinds, parts in ((el.HINGE_MODES, self.hinges), (el.BEAM_MODES, self.beams)):
            for part in parts:
                for kind, mode in zip(kinds, part.modes, strict=True):
                    rows.append((f"{part.name}.{kind}", mode))
        return rows

    @cached_property
    def row_names(self) -> Names:
        """Names of the deformations."""
        return tuple(name for name, _ in self._rows)

    @cached_property
    def row_modes(self) -> tuple[el.Mode, ...]:
        """What is known of each deformation."""
        return tuple(mode for _, mode in self._rows)

    def row(self, name: str) -> int:
        """Row of a deformation by its name; an unknown one is an error that suggests one."""
        check_known("deformation", name, self.row_names)
        return self.row_names.index(name)

    # freedom

    @cached_property
    def free_columns(self) -> Integers:
        """Nodal coordinates that are degrees of freedom."""
        return _where(self.column_modes, ("free",))

    @cached_property
    def free_rows(self) -> Integers:
        """Deformations that are degrees of freedom."""
        return _where(self.row_modes, ("free",))

    @cached_property
    def calculated_columns(self) -> Integers:
        """Nodal coordinates that follow."""
        return _where(self.column_modes, ("calculated",))

    @cached_property
    def prescribed_rows(self) -> Integers:
        """Deformations that are held or degrees of freedom."""
        return _where(self.row_modes, ("held", "free"))

    @property
    def n(self) -> int:
        """Number of degrees of freedom."""
        return len(self.free_columns) + len(self.free_rows)

    @cached_property
    def coordinate_names(self) -> Names:
        """Names of the degrees of freedom q."""
        names = [self.column_names[i] for i in self.free_columns]
        return tuple(names + [self.row_names[i] for i in self.free_rows])

    @property
    def reference_q(self) -> Floats:
        """Degrees of freedom of the reference state, (n,): where points are, and no deformation."""
        free = self.free_columns
        return np.append(self.reference[free], np.zeros(self.n - len(free)))

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What was computed from it once, by name."""
        return {}

    def with_parts(self, **changes: Any) -> Structure:
        """The structure with other parts."""
        return replace(self, parts=replace(self.parts, **changes))


def _where(modes: tuple[el.Mode, ...], wanted: tuple[el.Mode, ...]) -> Integers:
    found = [i for i, mode in enumerate(modes) if mode in wanted]
    return np.array(found, dtype=np.int64)
