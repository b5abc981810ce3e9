"""Denavit-Hartenberg tables as input: joints, link frames and flange of a robot file.

    standard   T_i = Rot(z, θ) Trans(z, d) Trans(x, a) Rot(x, α)     link frame after the joint
    modified   T_i = Rot(x, α) Trans(x, a) Rot(z, θ) Trans(z, d)     link frame on the joint

θ = q + theta of a revolute joint, d = q + d of a prismatic one. Bodies of links are given in their
link frames. The joints of a robot file turn about the z axis of their own frame, so a standard
table's shift along the link belongs to the joint that follows.

Ref: [Denavit-Hartenberg 1955], [Craig 1986], [Machielsen 1983, section 4.5]
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from armtwin.errors import FileError
from armtwin.files.comma_table import comma_table
from armtwin.files.fields import Source
from armtwin.files.schema import Schema
from armtwin.files.shape import Tables
from armtwin.maths.batch import Floats
from armtwin.maths.quantities import Angle, Length
from armtwin.maths.rotations import about, pose
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.groups import Flange, Pose

KEY = "denavit_hartenberg"
Convention = Literal["standard", "modified"]


@dataclass(frozen=True)
class DhRow:
    """A row of a Denavit-Hartenberg table.

    Attributes:
        type: "revolute" or "prismatic".
        a: Shift along x [m].
        alpha: Turn about x [rad].
        d: Shift along z, of a prismatic joint at q = 0 [m].
        theta: Turn about z, of a revolute joint at q = 0 [rad].
        name: Name of the joint; "" for joint_1, joint_2, ...
        link: Name of the link; "" for link_1, link_2, ...
    """

    a: Length = 0.0
    alpha: Angle = 0.0
    d: Length = 0.0
    theta: Angle = 0.0
    type: Literal["revolute", "prismatic"] = "revolute"
    name: str = ""
    link: str = ""

    def along_x(self) -> Floats:
        """Trans(x, a) Rot(x, α), in either order."""
        return pose(about((1, 0, 0), self.alpha), (self.a, 0.0, 0.0))

    def along_z(self) -> Floats:
        """Rot(z, θ) Trans(z, d) at q = 0, in either order."""
        return pose(about((0, 0, 1), self.theta), (0.0, 0.0, self.d))


@dataclass(frozen=True)
class DhTable:
    """A Denavit-Hartenberg table.

    Attributes:
        row: A row for each joint, from the base on.
        convention: "standard" or "modified".
        base: Name of the link that does not move.
    """

    row: tuple[DhRow, ...]
    source: Source
    convention: Convention = "standard"
    base: str = "base"

    def rows_with_names(self) -> Iterator[tuple[str, str, DhRow]]:
        """Names of joint and link with each row."""
        for i, row in enumerate(self.row, 1):
            yield row.name or f"joint_{i}", row.link or f"link_{i}", row


@dataclass(frozen=True)
class _File:
    """The part of a robot file that holds the table."""

    denavit_hartenberg: DhTable = field()


_SCHEMA = Schema(_File, "robot file")


def joint_frames(table: DhTable) -> tuple[list[Floats], list[Floats], Floats]:
    """Joints' origins in the frames of the joints before, link frames on them, and the flange.

    Returns:
        Origins, (4, 4) each; link frames in the joints' frames; the flange in the last one's.
    """
    origins, links = [], []
    shift = np.eye(4)
    for row in table.row:
        if table.convention == "modified":
            origins.append(row.along_x() @ row.along_z())
            links.append(np.eye(4))
            continue
        origins.append(shift @ row.along_z())
        shift = row.along_x()
        links.append(shift)
    return origins, links, links[-1]


def table_of(tables: Tables, origin: str) -> DhTable:
    """The Denavit-Hartenberg table of a robot file's tables."""
    if "joint" in tables:
        raise FileError(origin, f"must have either [[joint]] or [{KEY}], got both")
    read: _File = _SCHEMA.read({KEY: tables[KEY]}, origin)
    if not read.denavit_hartenberg.row:
        raise FileError(origin, f"{KEY}.row: a robot needs at least one joint, got none")
    return read.denavit_hartenberg


def expand_rows(tables: Tables, table: DhTable) -> Tables:
    """The tables of a robot file with a joint for each row, its frames still to be placed."""
    joints: list[Any] = []
    links = list(tables.get("link", ()))
    named = {link.get("name") for link in links if isinstance(link, dict)}
    parent = table.base
    for name, link, row in table.rows_with_names():
        joint = {"name": name, "parent": parent, "child": link, "type": row.type}
        joints.append({**joint, "source": table.source})
        if link not in named:
            links.append({"name": link, "source": table.source})
        parent = link
    rest = {key: value for key, value in tables.items() if key != KEY}
    return {**rest, "joint": joints, "link": links}


def place_joints(description: Description, table: DhTable) -> Description:
    """The description with its joints, bodies and flange where the table puts them."""
    origins, frames, last = joint_frames(table)
    joints = []
    for joint, origin in zip(description.joint, origins, strict=True):
        joints.append(replace(joint, origin=_tidy(origin)))
    frame_of = {}
    for (_, name, _), frame in zip(table.rows_with_names(), frames, strict=True):
        frame_of[name] = frame
    links = []
    for link in description.link:
        body = link.body
        if body is not None and link.name in frame_of:
            seen = frame_of[link.name] @ body.frame.matrix()
            body = replace(body, frame=_tidy(seen))
        links.append(replace(link, body=body))
    flange = description.flange
    end = joints[-1].child
    if flange is None:
        flange = Flange(link=end, source=table.source, origin=_tidy(last))
    elif flange.link == end:
        flange = replace(flange, origin=_tidy(last @ flange.origin.matrix()))
    return replace(description, joint=tuple(joints), link=tuple(links), flange=flange)


def _tidy(X: Floats) -> Pose:
    """A pose without the rounding of right angles, so that zeros are zeros."""
    close = np.round(X)
    kept = np.where(np.abs(X - close) < 4e-16, close, X)
    return Pose.from_matrix(kept + 0.0)


def read_table(text: str, convention: Convention, origin: str) -> DhTable:
    """A table from comma-separated text with a header of a, alpha, d, theta, type, name, link.

    Numbers are SI, or carry their unit ("90 deg").
    """
    rows = comma_table(text, "a row for each joint", origin)
    source = f"public: Denavit-Hartenberg table {origin}"
    group = {"row": rows, "convention": convention, "source": source}
    return table_of({KEY: group}, origin)
