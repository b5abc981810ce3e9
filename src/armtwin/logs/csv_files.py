"""Logs as CSV files: `time`, then `q1..qn` and other channels; events as lines that start with #."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from armtwin.logs.log import Log

EVENT = "# event "
BLOCK = 2000  # lines written at a time


def put_csv(log: Log, file: BinaryIO) -> None:
    """Write a log with all digits into an open file."""
    file.writelines(_lines(log))


def put_packed_csv(log: Log, file: BinaryIO) -> None:
    """Write a log with all digits into an open file, packed by gzip."""
    with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
        put_csv(log, packed)  # type: ignore[arg-type]


def _lines(log: Log) -> Iterator[bytes]:
    """The file in blocks of lines, so that long logs take no more memory than short ones."""
    names = [
        "time",
        *(
            f"{name}{j + 1}"
            for name, values in log.channels.items()
            for j in range(values.shape[1])
        ),
    ]
    yield (",".join(names) + "\n").encode()
    row_of = ",".join(["%r"] * len(names)) + "\n"
    for start in range(0, len(log.time), BLOCK):
        rows = slice(start, start + BLOCK)
        table = np.column_stack(
            [log.time[rows], *(values[rows] for values in log.channels.values())]
        )
        yield "".join([row_of % tuple(row) for row in table.tolist()]).encode()
    for event in log.events:
        yield (
            EVENT + json.dumps([float(event.time), event.kind, event.joint, event.text]) + "\n"
        ).encode()
