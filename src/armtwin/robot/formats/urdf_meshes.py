"""Meshes that a URDF shows its links with, reduced to what a report carries.

Files are read with trimesh and reduced with fast_simplification, both of the extra `meshes`. What
cannot be read is said in a sentence: nothing is computed with a mesh.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError
from armtwin.files.meshes import LinkMesh, Meshes
from armtwin.maths.batch import Floats
from armtwin.robot.dynamics.assembly import Assembly
from armtwin.robot.formats.urdf_numbers import Reader
from armtwin.robot.formats.xml_tree import Node, read_xml

KINDS = (".stl", ".obj", ".dae")
MOST_TRIANGLES = 10_000  # of a robot: 100 kB
LEAST_TRIANGLES = 100  # of a part, where it has so many
LARGEST = 200_000_000  # file that is read [bytes]
FAR = 10.0  # lengths of the arm beyond which a part is drawn in millimetres
MILLIMETRE = 1e-3
COARSER = 0.7  # grid of the last resort, from round to round
WANTED = ("trimesh", "fast_simplification")
MISSING = "pip install 'armtwin[meshes]' reads them"

Triangles = NDArray[np.int64]


class _Part(NamedTuple):
    """One mesh: the link that wears it, its pose there, corners and triangles in its own frame."""

    link: str
    X: Floats
    corners: Floats
    faces: Triangles


def read_urdf_meshes(path: Path, robot: Assembly) -> Meshes | None:
    """Meshes of a URDF file, by the links of the robot that was read from it.

    None where it names none.
    """
    shown = list(_visuals(read_xml(path)))
    if not shown:
        return None
    if any(find_spec(name) is None for name in WANTED):
        return Meshes((), f"{len(shown)} meshes were not read: {MISSING}")
    parts, problems = [], []
    for link, visual, mesh in shown:
        name = mesh.attributes.get("filename", "")
        try:
            parts.append(_read_part(path, robot, link, (visual, mesh)))
        except ArmtwinError as error:
            problems.append(f"{name:.100} {error}")
        except Exception as error:  # readers of meshes raise anything on a damaged file
            problems.append(f"{name:.100} cannot be read ({type(error).__name__})")
    sentences = []
    reach = sum(float(np.linalg.norm(j.origin.matrix()[:3, 3])) for j in robot.tree.joints)
    widest = max((float(np.ptp(part.corners, axis=0).max()) for part in parts), default=0.0)
    if widest > FAR * reach > 0:
        parts = [part._replace(corners=MILLIMETRE * part.corners) for part in parts]
        size = f"{widest:.3g} m wide on an arm of {reach:.3g} m"
        sentences.append(f"a mesh is {size}: all are taken as millimetres")
    total = sum(len(part.faces) for part in parts)
    meshes = tuple(_reduce(parts, total))
    if meshes:
        kept = sum(len(mesh.faces) for mesh in meshes)
        sentences.insert(0, f"{len(meshes)} links, {kept} of {total} triangles")
    return Meshes(meshes, "; ".join([*sentences, *problems]))


def _visuals(root: Node) -> Iterator[tuple[str, Node, Node]]:
    for link in root.all("link"):
        for visual in link.all("visual"):
            for geometry in visual.all("geometry"):
                for mesh in geometry.all("mesh"):
                    yield link.attributes.get("name", ""), visual, mesh


def _read_part(path: Path, robot: Assembly, link: str, shown: tuple[Node, Node]) -> _Part:
    """One mesh, for the body that carries its link."""
    visual, mesh = shown
    place = locate(path, mesh.attributes.get("filename", ""))
    if place is None:
        raise ArmtwinError("is not there")
    if link not in robot.frames:
        raise ArmtwinError(f"is of link '{link}', which is no part of the chain")
    if place.stat().st_size > LARGEST:
        raise ArmtwinError(f"is larger than {LARGEST / 1e6:g} MB")
    scale = [float(x) for x in mesh.attributes.get("scale", "1 1 1").split()]
    corners, faces = _load(place)
    if not len(faces) or not np.isfinite(corners).all():
        raise ArmtwinError("holds no surface")
    body, X_BL = robot.frame(link)
    home = robot.tree.root if body < 0 else robot.tree.joints[body].child
    X = X_BL @ Reader("").origin(visual.first("origin"), f"link '{link}' visual")
    return _Part(home, X, corners * scale, faces)


def locate(path: Path, name: str) -> Path | None:
    """The file that a URDF names: beside it, or in its package at or above it."""
    plain = name.removeprefix("file://")
    package, mark, rest = plain.partition("://")
    if not mark:
        place = path.parent / plain
        return place if place.is_file() else None
    inside = rest.partition("/")[2]
    for folder in path.resolve().parents:
        for place in (folder / rest, folder / inside):
            if package in ("package", "model") and place.is_file():
                return place
    return None


def _load(place: Path) -> tuple[Floats, Triangles]:
    """Corners and triangles of a file, equal corners as one."""
    import trimesh

    if place.suffix.lower() not in KINDS:
        raise ValueError
    mesh: Any = trimesh.load(place, force="mesh", skip_materials=True)
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    corners, faces = np.asarray(mesh.vertices, dtype=np.float64), np.asarray(mesh.faces)
    return corners, faces.astype(np.int64)


def _reduce(parts: Sequence[_Part], total: int) -> Iterator[LinkMesh]:
    """Each link's parts as one surface, with its share of the triangles of the robot."""
    worn: dict[str, list[_Part]] = {}
    for part in parts:
        worn.setdefault(part.link, []).append(part)
    for link, own in worn.items():
        places, faces, first = [], [], 0
        for part in own:
            most = max(LEAST_TRIANGLES, len(part.faces) * MOST_TRIANGLES // total)
            corners, triangles = simplify(part.corners, part.faces, most)
            places.append(corners @ part.X[:3, :3].T + part.X[:3, 3])
            faces.append(triangles + first)
            first += len(corners)
        yield LinkMesh.of(link, np.concatenate(places), np.concatenate(faces))


def simplify(corners: Floats, faces: Triangles, most: int) -> tuple[Floats, Triangles]:
    """A surface of at most so many triangles that looks the same.

    Edges are collapsed where this changes least; triangles that share no edges are put on a grid.
    """
    from fast_simplification import simplify as collapse

    if len(faces) > most:
        kept, reduced = collapse(corners, faces, target_count=most)
        corners, faces = np.asarray(kept, dtype=np.float64), np.asarray(reduced, dtype=np.int64)
    cells = float(most)
    while len(faces) > most:
        size = float(np.ptp(corners, axis=0).max()) / max(cells, 1.0)
        places, back = np.unique(np.round(corners / size), axis=0, return_inverse=True)
        joined = back.reshape(-1)[faces]
        apart = (joined != np.roll(joined, 1, axis=1)).all(axis=1)
        different = np.unique(np.sort(joined[apart], axis=1), axis=0, return_index=True)[1]
        if len(different) <= most:
            return size * places, joined[apart][different]
        cells *= COARSER
    return corners, faces
