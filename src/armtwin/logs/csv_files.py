"""Logs as CSV files: `time`, then `q1..qn` and other channels.

Names of joints and events are lines that start with #.
"""

import gzip
import json
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from pydantic_core import to_json

from armtwin.logs.recording import Recording
from armtwin.maths.batch import Floats

JOINTS = "# joints "
EVENT = "# event "
BLOCK = 2000  # lines written at a time
SAMPLED = 200  # lines from which the length of a file is estimated


def put_csv(log: Recording, file: BinaryIO) -> None:
    """Write a log with all digits into an open file."""
    file.writelines(_lines(log))


def estimate_size(log: Recording) -> float:
    """About how long the file of a log is [MB], from rows all along it."""
    rows = np.unique(np.linspace(0, len(log.time) - 1, SAMPLED).astype(int))
    columns = [log.time[rows], *(values[rows] for values in log.channels.values())]
    return len(rows_as_text(np.column_stack(columns))) / len(rows) * len(log.time) / 1e6


def put_packed_csv(log: Recording, file: BinaryIO) -> None:
    """Write a log with all digits into an open file, packed by gzip."""
    with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
        put_csv(log, packed)  # type: ignore[arg-type]


def _lines(log: Recording) -> Iterator[bytes]:
    """The file in blocks of lines, so that long logs take no more memory than short ones."""
    header = ["time"]
    for name, values in log.channels.items():
        header += [f"{name}{j + 1}" for j in range(values.shape[1])]
    yield (",".join(header) + "\n").encode()
    for start in range(0, len(log.time), BLOCK):
        some = slice(start, start + BLOCK)
        columns = [log.time[some]]
        columns += [values[some] for values in log.channels.values()]
        yield rows_as_text(np.column_stack(columns))
    if log.joint_names:
        yield _remark(JOINTS, log.joint_names)
    for event in log.events:
        yield _remark(EVENT, event.to_list())


def rows_as_text(table: Floats) -> bytes:
    """Rows of numbers between commas, each with the fewest digits that identify it."""
    if not table.size or not np.isfinite(table).all():
        row_of = ",".join(["%r"] * table.shape[1]) + "\n"
        return "".join([row_of % tuple(row) for row in table.tolist()]).encode()
    return to_json(table.tolist())[2:-2].replace(b"],[", b"\n") + b"\n"


def _remark(mark: str, content: object) -> bytes:
    return f"{mark}{json.dumps(content)}\n".encode()
