"""The table of a sweep as a CSV or a Parquet file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

from armtwin.errors import ArmtwinError

if TYPE_CHECKING:
    from armtwin.sweeps.result import SweepResult

AT_ONCE = 10_000  # rows of a group of a Parquet file
Content = Callable[[BinaryIO], None]


def csv_content(result: SweepResult) -> Content:
    """What a CSV file of the table holds; numbers in SI, all their digits."""

    def write(file: BinaryIO) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        lines = csv.DictWriter(text, result.columns, lineterminator="\n")
        lines.writeheader()
        lines.writerows(result.records())
        text.flush()
        text.detach()

    return write


def parquet_content(result: SweepResult) -> Content:
    """What a Parquet file of the table holds."""
    arrow, parquet = _arrow()

    def write(file: BinaryIO) -> None:
        writer = None
        some: list[dict[str, Any]] = []
        schema = _schema(arrow, result)
        with parquet.ParquetWriter(file, schema) as writer:
            for record in result.records():
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


def _schema(arrow: Any, result: SweepResult) -> Any:
    """Columns with their types: words, whole numbers, numbers."""
    words = {"job", "robot", "outcome", "sentence"}
    words |= {axis.key for axis in result.sweep.axes if not axis.is_number}
    found = []
    for name in result.columns:
        kind = arrow.string() if name in words else arrow.float64()
        found.append((name, arrow.int64() if name == "run" else kind))
    return arrow.schema(found)
