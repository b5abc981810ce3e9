"""A table of records as a CSV or a Parquet file, written in groups of rows."""

import csv
import io
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, BinaryIO

from armtwin.errors import ArmtwinError
from armtwin.files.staging import Content
from armtwin.maths.batch import Record

AT_ONCE = 10_000  # rows of a group of a Parquet file
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with which formulas of spreadsheets begin
Records = Callable[[], Iterator[dict[str, Any]]]


def csv_content(columns: Sequence[str], records: Records) -> Content:
    """What a CSV file of records holds; numbers in SI, all their digits.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """

    def write(file: BinaryIO) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        lines = csv.DictWriter(text, columns, lineterminator="\n")
        lines.writerow({name: _guard(name) for name in columns})
        for record in records():
            lines.writerow({name: _guard(value) for name, value in record.items()})
        text.flush()
        text.detach()

    return write


def _guard(value: object) -> object:
    """A value of a cell, its text as a text."""
    is_formula = isinstance(value, str) and value.startswith(FORMULA)
    return f"'{value}" if is_formula else value


def parquet_content(columns: Sequence[str], words: Collection[str], records: Records) -> Content:
    """What a Parquet file of records holds.

    Args:
        columns: Names of the columns; "run" holds whole numbers.
        words: Those that hold words; all others hold numbers.
        records: Gives the records.
    """
    arrow, parquet = _arrow()
    kinds = []
    for name in columns:
        kind = arrow.string() if name in words else arrow.float64()
        kinds.append((name, arrow.int64() if name == "run" else kind))
    schema = arrow.schema(kinds)

    def write(file: BinaryIO) -> None:
        some: list[Record] = []
        with parquet.ParquetWriter(file, schema) as writer:
            for record in records():
                some.append(record)
                if len(some) == AT_ONCE:
                    writer.write_table(arrow.Table.from_pylist(some, schema))
                    some = []
            writer.write_table(arrow.Table.from_pylist(some, schema))

    return write


def check_parquet() -> None:
    """Refuse Parquet where what writes it is not installed."""
    _arrow()


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ArmtwinError(
            "Parquet files need pyarrow, which is not installed: pip install armtwin[parquet]"
        ) from None
    return pyarrow, parquet
