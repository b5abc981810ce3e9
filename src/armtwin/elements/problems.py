"""What is wrong with the parts of a structure, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from armtwin.elements.parts import Beam, Element, Gas, Hinge, Parts, RigidBody, Triple, Truss
from armtwin.errors import did_you_mean

# Stiffness that each of a beam's modes needs where it is not held.
_NEEDED = ("EA", "GJ", "EIy", "EIy", "EIz", "EIz")
SHORTEST = 1e-9  # m: points nearer than this are one
LARGEST_LEAN = 0.999  # cosine of the angle between a beam and its side


def problems(parts: Parts) -> list[str]:
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


def _twice(parts: Parts) -> Iterator[str]:
    """Names that two nodes or two elements have."""
    nodes = [point.name for point in parts.points] + [triad.name for triad in parts.triads]
    elements = [part.name for part in parts.elements]
    for what, names in (("node", nodes), ("element", elements)):
        for name in sorted(set(names)):
            if names.count(name) > 1:
                yield f"{what} '{name}': a name must be used once, got {names.count(name)} times"


def _unknown(owner: str, what: str, name: str, known: set[str]) -> Iterator[str]:
    if name not in known:
        yield f"{owner}: {what} '{name}' is not known. {did_you_mean(name, known)}"


def _element_problems(
    element: Element, points: dict[str, Triple], triads: set[str]
) -> Iterator[str]:
    kind = type(element).__name__.lower()
    owner = f"{kind} '{element.name}'"
    if isinstance(element, Hinge):
        for name in (element.p, element.q):
            yield from _unknown(owner, "triad", name, triads)
        if not np.linalg.norm(element.axis) > 0:
            yield f"{owner}: axis must have a length, got {element.axis}"
        return
    ends = (element.p, element.q) if isinstance(element, Truss) else element.points
    unknown = []
    for name in ends:
        unknown += list(_unknown(owner, "point", name, set(points)))
    yield from unknown
    if not unknown:
        yield from _length_problems(owner, points[ends[0]], points[ends[1]])
    if isinstance(element, Beam):
        for name in element.triads:
            yield from _unknown(owner, "triad", name, triads)
        yield from _beam_problems(owner, element)
        return
    yield from _strut_problems(owner, element)


def _length_problems(owner: str, p: Triple, q: Triple) -> Iterator[str]:
    length = float(np.linalg.norm(np.subtract(q, p)))
    if length < SHORTEST:
        yield f"{owner}: length must be above 0 m, got {length:g} (both points at {p})"


def _strut_problems(owner: str, truss: Truss) -> Iterator[str]:
    if isinstance(truss.law, Gas) and not truss.law.stroke > 0:
        yield f"{owner}: stroke of its gas must be above 0 m, got {truss.law.stroke:g}"


def _beam_problems(owner: str, beam: Beam) -> Iterator[str]:
    """Modes that move need a stiffness."""
    bad: dict[str, float] = {}
    for mode, key in zip(beam.modes, _NEEDED, strict=True):
        if mode != "free":
            continue
        if beam.section is None:
            if beam.modes[1:] != ("held",) * 5:  # but a slide needs no spring
                yield f"{owner}: a section with stiffness is needed, for some of its modes are free"
            return
        value = getattr(beam.section, key)
        if not value > 0:
            bad[key] = value
    for key, value in bad.items():
        yield f"{owner}: {key} must be above 0, got {value:g}"


def _body_problems(
    i: int, body: RigidBody, points: dict[str, Triple], triads: set[str]
) -> Iterator[str]:
    yield from _unknown(f"body {i}", "point", body.point, set(points))
    yield from _unknown(f"body {i}", "triad", body.triad, triads)
    if len(body.ten) != 10 or not np.isfinite(body.ten).all():
        yield f"body {i}: ten finite parameters are needed, got {body.ten}"
