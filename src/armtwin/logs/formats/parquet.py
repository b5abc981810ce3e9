"""Parquet files: columns as those of a CSV file. Needs the extra `parquet`."""

from pathlib import Path
from typing import BinaryIO

import numpy as np

from armtwin.errors import ArmtwinError, FileError, shorten
from armtwin.files.opening import DAMAGE, LOG, open_plain_file
from armtwin.logs.columns import Columns
from armtwin.logs.formats.named_arrays import read_named
from armtwin.logs.recording import Recording
from armtwin.notebook.dataframes import number_columns

EXTRA = "Parquet needs the extra 'parquet': pip install armtwin[parquet]"


def read_parquet(path: Path, columns: Columns) -> Recording:
    """Read the columns of numbers and dates; one with nulls is refused with the row."""
    try:
        from pyarrow import lib, parquet
    except ImportError:
        raise FileError(path, EXTRA) from None
    with open_plain_file(path, LOG) as file:
        try:
            held = parquet.ParquetFile(file)
            kinds = {field.name: field.type for field in held.schema_arrow}
            wanted = [name for name, kind in kinds.items() if _is_number(kind)]
            if 8 * held.metadata.num_rows * len(wanted) > LOG.most:
                raise LOG.too_long(path)
            table = held.read(columns=wanted, use_threads=False)
        except (lib.ArrowException, *DAMAGE) as error:
            sentence = f"is no Parquet file that can be read ({shorten(str(error), 80)})"
            raise FileError(path, sentence) from None
    arrays = {}
    for name in wanted:
        column = table.column(name)
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy())[0]) + 1
            count = f"{column.null_count} of {len(column)} are null, the first in row {row}"
            raise FileError(path, f"column '{shorten(name, 60)}' must hold a number each: {count}")
        arrays[name] = column.to_numpy()
    unread = [f"{name} ({kind})" for name, kind in kinds.items() if name not in wanted]
    return read_named(path, columns, arrays, {}, unread)


def _is_number(kind: object) -> bool:
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_timestamp, types.is_duration)
    return any(test(kind) for test in tests)


def put_parquet(log: Recording, file: BinaryIO) -> None:
    """Write a log into an open file."""
    try:
        from pyarrow import parquet, table
    except ImportError:
        raise ArmtwinError(EXTRA) from None
    columns = {"time": log.time}
    for name, values in log.channels.items():
        columns |= number_columns(name, values)
    parquet.write_table(table(columns), file)
