"""The table of formats: how each is recognised by what a file holds, how it is read and written."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from armtwin.errors import FileError
from armtwin.logs.channels import is_time
from armtwin.logs.csv_reading import header_line, read_head, split_header, split_unit
from armtwin.logs.formats.text_tables import LAYOUTS, ControllerTable
from armtwin.logs.formats.tool_path import is_tool_path

Detector = Callable[[bytes], bool]


@dataclass(frozen=True)
class Format:
    """A layout of logs.

    Attributes:
        name: What it is called.
        detects: Whether the first bytes of a file are of this format.
        read: MODULE.FUNCTION of this package that makes a recording of a path and columns.
        endings: Of the names of its files, which count where nothing is recognised.
        write: For each ending that is written the MODULE.FUNCTION that does.
    """

    name: str
    detects: Detector
    read: str
    endings: tuple[str, ...] = ()
    write: tuple[tuple[str, str], ...] = ()


def _begins(*marks: bytes) -> Detector:
    return lambda head: head.startswith(marks)


def _fits(layout: ControllerTable) -> Detector:
    return lambda head: layout.fits(header_line(head))


def _is_table(head: bytes) -> bool:
    return any(is_time(split_unit(word)[0]) for word in split_header(header_line(head)))


BAGS = (b"#ROSBAG V2.0\n", b"\x89MCAP0\r\n", b"SQLite format 3\0")
TRACE = (b"DIAEXTENDED", b"#BEGINGLOBALHEADER", b"#BEGINCHANNELHEADER")
HDF5 = (b"\x89HDF\r\n\x1a\n", b"MATLAB 7.3")
CYCLE = re.compile(rb"<Rob[\s>]")
FORMATS = (
    Format("ROS bag", _begins(*BAGS), "bag_files.read_bag", (".bag", ".mcap", ".db3")),
    Format(
        "NPZ",
        _begins(b"PK\x03\x04"),
        "npz_files.read_npz",
        (".npz",),
        ((".npz", "npz_files.put_npz"),),
    ),
    Format("MAT", _begins(b"MATLAB 5.0"), "formats.mat.read_mat", (".mat",)),
    Format("HDF5", _begins(*HDF5), "formats.hdf5.read_hdf5", (".h5", ".hdf5")),
    Format(
        "Parquet",
        _begins(b"PAR1"),
        "formats.parquet.read_parquet",
        (".parquet",),
        ((".parquet", "formats.parquet.put_parquet"),),
    ),
    Format("KUKA trace", _begins(*TRACE), "formats.kuka_trace.read_trace", (".r64",)),
    Format("KUKA RSI", lambda head: bool(CYCLE.search(head)), "formats.rsi.read_rsi"),
    *(Format(name, _fits(one), "formats.text_tables.read_table") for name, one in LAYOUTS.items()),
    Format(
        "tool path", lambda head: is_tool_path(header_line(head)), "formats.tool_path.read_path"
    ),
    Format(
        "CSV",
        _is_table,
        "csv_reading.read_csv",
        (".csv", ".csv.gz"),
        ((".csv.gz", "csv_files.put_packed_csv"), (".csv", "csv_files.put_csv")),
    ),
)
OTHERWISE = FORMATS[-1]  # a file that nothing recognises is refused as a table
IN_FOLDERS = {"metadata.yaml": "ROS bag", ".dat": "KUKA trace"}  # what a folder of a log holds


def load(place: str) -> Callable[..., Any]:
    """The function MODULE.FUNCTION of this package."""
    module, _, name = place.rpartition(".")
    return getattr(import_module(f"armtwin.logs.{module}"), name)


def find_format(path: Path) -> Format | None:
    """The format of a file or folder, by what it holds, else by its name; None for any other."""
    if os.path.isdir(path):
        return _in_folder(path)
    if os.path.isfile(path):
        head = read_head(path)
        for known in FORMATS:
            if known.detects(head):
                return known
    return next((known for known in FORMATS if path.name.endswith(known.endings)), None)


def _in_folder(path: Path) -> Format | None:
    held = os.listdir(path)
    for ending, name in IN_FOLDERS.items():
        if any(file.lower().endswith(ending) for file in held):
            return next(known for known in FORMATS if known.name == name)
    return None


def format_of(path: Path) -> Format:
    """The format by which a path is read."""
    found = find_format(path)
    if found is None and os.path.isdir(path):
        sentence = "must be a plain file, but is a folder without a recording or a KUKA trace"
        raise FileError(path, sentence)
    return found or OTHERWISE
