"""Paths of a tool as instruments write them: x, y, z over time, optionally with a rotation.

Laser trackers, cameras, ball bars and line scanners have a frame and a clock of their own. A
rotation is a vector (rx, ry, rz), the axis times the angle, or a unit quaternion (qw, qx, qy, qz).
Units are in brackets behind a name, as in "x [mm]", or in a columns file.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from armtwin.errors import FileError
from armtwin.logs import csv_reading
from armtwin.logs.channels import is_time
from armtwin.logs.columns import Columns
from armtwin.logs.recording import Recording
from armtwin.maths.batch import Floats, Names

POINT, VECTOR, QUATERNION = ("x", "y", "z"), ("rx", "ry", "rz"), ("qw", "qx", "qy", "qz")
NO_UNIT = 'x, y, z have no unit in the file: taken as m; say unit.tool = "mm" if they are mm'
UNIT_LENGTH = 1e-2  # by which the length of a quaternion may differ from 1


def name_columns(header: Iterable[str]) -> dict[str, str]:
    """The word of a header for each of x, y, z, a rotation and the time."""
    known = {*POINT, *VECTOR, *QUATERNION}
    found: dict[str, str] = {}
    for word in header:
        name = csv_reading.split_unit(word)[0].lower()
        name = "time" if is_time(name) else name
        if name in known or name == "time":
            found.setdefault(name, word)
    return found


def is_tool_path(line: str) -> bool:
    """Whether a line is the header of a path of a tool, and of no joints."""
    header = csv_reading.split_header(line)
    if not {"time", *POINT} <= set(name_columns(header)):
        return False
    try:
        return not csv_reading.place_columns(Path("header"), header)
    except FileError:  # joints that are numbered with a gap
        return False


def read_path(path: Path, columns: Columns) -> Recording:
    """Read a path of a tool as a log without joints."""
    found = name_columns(
        csv_reading.split_header(csv_reading.header_line(csv_reading.read_head(path)))
    )
    named: dict[str, Names | str] = {"tool": tuple(found[name] for name in POINT)}
    turned = next((names for names in (VECTOR, QUATERNION) if set(names) <= set(found)), ())
    if turned:
        named["tool_rotation"] = tuple(found[name] for name in turned)
    how = replace(columns, time=found["time"], columns={**named, **columns.columns})
    recording = csv_reading.read_csv(path, how)
    channels = dict(recording.channels)
    if turned == QUATERNION:
        channels["tool_rotation"] = _to_vectors(path, channels["tool_rotation"])
    remarks = list(recording.remarks)
    if "tool" not in columns.unit and not csv_reading.split_unit(found["x"])[1]:
        remarks.insert(0, NO_UNIT)
    return replace(recording, channels=channels, remarks=tuple(remarks))


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
