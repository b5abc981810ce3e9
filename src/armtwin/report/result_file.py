"""A report as result.json: what its tables and data hold, in SI numbers.

Docs/result.md explains every key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from armtwin.files.versions import versions
from armtwin.maths.batch import NamedTexts, Record
from armtwin.notebook.sections import Block, Data, Facts, Report, Table, Text

RESULT_FORMAT = 2  # of result.json


def to_result(report: Report) -> Record:
    """A report as tables that JSON can hold; numbers that do not exist are null."""
    result: Record = {"format": RESULT_FORMAT, "armtwin": versions()["armtwin"]}
    for section in report.sections:
        for block in section.blocks:
            for key, value in _data(block):
                _put(result, key.split("."), plain(value))
    return result


def _data(block: Block) -> Iterator[tuple[str, Any]]:
    """Key and value of a block that has them."""
    if isinstance(block, Table) and block.key:
        yield block.key, block.records
    if isinstance(block, Data):
        yield from block.values.items()


def _put(result: Record, path: list[str], value: object) -> None:
    """Set the value at a path of keys; one key holds one value."""
    *groups, last = path
    for group in groups:
        result = result.setdefault(group, {})
    if last in result:
        raise KeyError(f"two blocks of a report give '{'.'.join(path)}' of result.json")
    result[last] = value


def plain(value: object) -> Any:
    """A value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def to_description(report: Report) -> Record:
    """What is shown of something that is no result: title, facts, sentences, and its tables."""
    facts: NamedTexts = {}
    remarks = [text.text for text in report.verdict]
    for block in report.blocks:
        if isinstance(block, Facts):
            facts |= dict(block.shown)
        elif isinstance(block, Text):
            remarks.append(block.text.strip())
    return {**to_result(report), "title": report.title, "facts": facts, "remarks": remarks}
