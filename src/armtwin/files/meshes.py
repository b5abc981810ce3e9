"""Surfaces of a robot's links, beside its file as NAME.meshes.npz: drawn, never computed with."""

import base64
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import FileError
from armtwin.files.arrays import open_arrays
from armtwin.files.opening import MESHES
from armtwin.files.staging import Content
from armtwin.maths.batch import Floats, Record

ENDING = ".meshes.npz"
FORMAT = 1  # of the file
STEPS = 2**16 - 1  # of the box of a link, and most corners of its surface
DAMAGED = "is damaged or no file of meshes: the robot has none"


@dataclass(frozen=True, eq=False)
class LinkMesh:
    """The surface of a link in its frame.

    Attributes:
        link: Name of the link.
        box: Least corner of its box, and the size of a step, (2, 3) [m].
        places: Corners in steps of the box, (k, 3).
        faces: Corners of its triangles, (m, 3).
    """

    link: str
    box: Floats
    places: NDArray[np.uint16]
    faces: NDArray[np.uint16]

    @staticmethod
    def of(link: str, corners: Floats, faces: NDArray[np.int64]) -> "LinkMesh":
        """A surface from its corners, (k, 3) [m], to 1/65535 of its box."""
        least = corners.min(axis=0)
        step = np.maximum(np.ptp(corners, axis=0) / STEPS, 1e-12)
        places = np.round((corners - least) / step).astype(np.uint16)
        return LinkMesh(link, np.stack([least, step]), places, faces.astype(np.uint16))

    @property
    def corners(self) -> Floats:
        """Its corners, (k, 3) [m]."""
        return np.asarray(self.box[0] + self.box[1] * self.places)

    def figure(self, body: int) -> Record:
        """What the viewer reads, for the body that wears it."""
        least, step = self.box.tolist()
        packed = (base64.b64encode(x.tobytes()).decode() for x in (self.places, self.faces))
        places, faces = packed
        return {"body": body, "least": least, "step": step, "places": places, "faces": faces}


@dataclass(frozen=True, eq=False)
class Meshes:
    """Surfaces of links.

    Attributes:
        links: Those that there are.
        remark: What they are, or why there are none, as a sentence.
    """

    links: tuple[LinkMesh, ...]
    remark: str


def meshes_beside(path: Path) -> Path:
    """Where the meshes of a robot file lie."""
    return path.parent / f"{path.stem}{ENDING}"


def meshes_content(meshes: Meshes) -> Content:
    """What the file of meshes holds."""
    arrays: dict[str, Any] = {
        "format": np.array(FORMAT),
        "links": np.array([x.link for x in meshes.links]),
    }
    for k, mesh in enumerate(meshes.links):
        arrays |= {f"box_{k}": mesh.box, f"places_{k}": mesh.places, f"faces_{k}": mesh.faces}

    def write(file: BinaryIO) -> None:
        np.savez_compressed(file, **arrays)

    return write


def read_meshes(path: Path, known: Sequence[str]) -> Meshes | None:
    """The meshes beside a robot file with links of known names; None where there are none."""
    place = meshes_beside(path)
    if not os.path.exists(place):
        return None
    try:
        with open_arrays(place, MESHES, DAMAGED) as arrays:
            if int(arrays.array("format")) != FORMAT:
                raise ValueError
            links = []
            for k, link in enumerate(arrays.array("links").tolist()):
                box, places, faces = (arrays.array(f"{x}_{k}") for x in ("box", "places", "faces"))
                links.append(_check(LinkMesh(str(link), box, places, faces), known))
    except FileError as error:
        return Meshes((), f"{place.name} {error.problems[0]}")
    triangles = sum(len(mesh.faces) for mesh in links)
    return Meshes(tuple(links), f"{len(links)} links, {triangles} triangles ({place.name})")


def _check(mesh: LinkMesh, known: Sequence[str]) -> LinkMesh:
    """The mesh, if it can be one; else a ValueError."""
    shapes = mesh.box.shape == (2, 3) and mesh.places.shape[1:] == mesh.faces.shape[1:] == (3,)
    kinds = mesh.box.dtype == np.float64 and mesh.places.dtype == mesh.faces.dtype == np.uint16
    if not shapes or not kinds or mesh.link not in known or not np.isfinite(mesh.box).all():
        raise ValueError
    if len(mesh.faces) == 0 or mesh.faces.max() >= len(mesh.places):
        raise ValueError
    return mesh
