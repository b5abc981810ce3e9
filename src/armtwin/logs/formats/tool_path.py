"""Paths of a tool as instruments write them: x, y, z over time, optionally with a rotation.

Laser trackers, cameras, ball bars and line scanners have a frame and a clock of their own. A
rotation is a vector (rx, ry, rz), the axis times the angle, or a unit quaternion (qw, qx, qy, qz).
Units are in brackets behind a name, as in "x [mm]", or in a columns file.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from armtwin.errors import FileError, shorten
from armtwin.logs.columns import Columns
from armtwin.logs.csv_reading import header_line, place_columns, read_csv, read_head
from armtwin.logs.formats.text_tables import delimiter_of, split_header
from armtwin.logs.recording import Recording
from armtwin.maths.batch import Floats, NamedTexts, Names

POINT, VECTOR, QUATERNION = ("x", "y", "z"), ("rx", "ry", "rz"), ("qw", "qx", "qy", "qz")
TIMES = ("time", "t", "timestamp", "zeit")
WORD = re.compile(r"([A-Za-z]+)\s*(?:[\[(]([^\])]*)[\])])?")  # a name, and a unit in brackets
UNIT_LENGTH = 1e-2  # by which the length of a quaternion may differ from 1


def name_columns(header: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The word of a header and the unit for each of x, y, z, a rotation and the time."""
    known = {*POINT, *VECTOR, *QUATERNION}
    found: dict[str, tuple[str, str]] = {}
    for word in header:
        match = WORD.fullmatch(word)
        name = "" if match is None else match[1].lower()
        name = "time" if name in TIMES else name
        if match is not None and (name in known or name == "time"):
            found.setdefault(name, (word, (match[2] or "").strip()))
    return found


def is_tool_path(line: str) -> bool:
    """Whether a line is the header of a path of a tool, and of no joints."""
    header = split_header(line)
    if not {"time", *POINT} <= set(name_columns(header)):
        return False
    try:
        return not place_columns(Path("header"), header)
    except FileError:  # joints that are numbered with a gap
        return False


def read_path(path: Path, columns: Columns) -> Recording:
    """Read a path of a tool as a log without joints."""
    line = header_line(read_head(path))
    found = name_columns(split_header(line))
    named: dict[str, Names | str] = {"tool": tuple(found[name][0] for name in POINT)}
    names = {"tool": POINT, "tool_rotation": VECTOR, "quaternion": QUATERNION}
    turned = next(
        (key for key in ("tool_rotation", "quaternion") if set(names[key]) <= set(found)), ""
    )
    if turned:
        named["tool_rotation"] = tuple(found[name][0] for name in names[turned])
    units = {"time": _common_unit(path, found, ("time",)), "tool": _common_unit(path, found, POINT)}
    if turned == "tool_rotation":
        units[turned] = _common_unit(path, found, VECTOR)
    given = {name: unit for name, unit in units.items() if unit}
    how = replace(
        columns,
        time=found["time"][0],
        delimiter=delimiter_of(line),
        columns={**named, **columns.columns},
        unit={**given, **columns.unit},
    )
    if how.problem():
        raise FileError(path, how.problem())
    recording = read_csv(path, how)
    channels = {}
    for name, values in recording.channels.items():
        channels[name] = values if name in columns.unit else how.to_si(name, values)
    if turned == "quaternion":
        channels["tool_rotation"] = _to_vectors(path, channels["tool_rotation"])
    remarks = (*_describe_units(how.unit), *recording.remarks)
    return replace(recording, channels=channels, remarks=remarks)


def _common_unit(path: Path, found: dict[str, tuple[str, str]], names: Names) -> str:
    units = {found[name][1] for name in names}
    if len(units) > 1:
        got = shorten(", ".join(sorted(units)), 80)
        raise FileError(path, f"{', '.join(names)} must have one unit, got {got}")
    return units.pop()


def _describe_units(units: NamedTexts) -> Names:
    if "tool" in units:
        return (f"x, y, z are in {units['tool']}: converted to m",)
    return ('x, y, z have no unit in the file: taken as m; say unit.tool = "mm" if they are mm',)


def _to_vectors(path: Path, quaternions: Floats) -> Floats:
    """Rotation vectors of unit quaternions (w, x, y, z), continuous over time, (m, 3)."""
    from scipy.spatial.transform import Rotation

    length = np.linalg.norm(quaternions, axis=1)
    wrong = np.flatnonzero(~(np.abs(length - 1) <= UNIT_LENGTH))
    if len(wrong):
        k = int(wrong[0])
        sentence = f"qw, qx, qy, qz must have length 1, got {length[k]:.4g}"
        raise FileError(path, f"sample {k + 1}: {sentence}")
    return Rotation.from_quat(np.roll(quaternions, -1, axis=1)).as_rotvec()
