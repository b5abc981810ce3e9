"""Numbers of a robot file replaced by key path, as friction.5.level or friction.wrist.level; the rest stays."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from armtwin.errors import FileError, did_you_mean
from armtwin.maths.units import whole_number
from armtwin.robot.description import FORMAT, Description
from armtwin.robot.reading import checked_format, describe
from armtwin.robot.writing import to_tables

SOURCE = "assumed: overridden by the job"


def overridden(description: Description, values: Mapping[str, Any], origin: str) -> Description:
    """The description with other values at key paths; lists count from 1 or go by name."""
    tables = deepcopy(checked_format(to_tables(description), origin, FORMAT))
    problems = [problem for path, value in values.items() if (problem := _put(tables, path, value))]
    if problems:
        raise FileError(origin, problems)
    return describe(tables, f"{origin}: override")


def _put(tables: Any, path: str, value: Any) -> str:
    """Set one value in the tables; returns what is wrong, or an empty text."""
    here, words = tables, path.split(".")
    group: Any = None
    for i, word in enumerate(words[:-1]):
        found, known = _step(here, word)
        if found is None:
            return f"override '{path}': there is no '{'.'.join(words[: i + 1])}'. {did_you_mean(word, known)}"
        if isinstance(found, dict) and "source" in found:
            group = found
        here = found
    last, known = words[-1], list(here) if isinstance(here, dict) else []
    if isinstance(here, list):
        place = (whole_number(last) or 0) - 1
        if not 0 <= place < len(here) or isinstance(here[place], dict):
            return f"override '{path}': must name one number, 1 to {len(here)}"
        here[place] = value
    elif (
        not isinstance(here, dict)
        or isinstance(here.get(last), dict)
        or (known and last == "source")
    ):
        return f"override '{path}': must name one key of a group. {did_you_mean(last, known)}"
    else:
        here[last] = value
    if group is not None:
        keys = {*group, *(key for item in group.values() if isinstance(item, dict) for key in item)}
        _mark(group, next(word for word in reversed(words) if word in keys))
    return ""


def _step(here: Any, word: str) -> tuple[Any, list[str]]:
    """What a word of a path leads to, and the words that would have led somewhere."""
    if isinstance(here, dict):
        return here.get(word), list(here)
    if isinstance(here, list):
        names = [
            str(item.get("name", item.get("joint", ""))) if isinstance(item, dict) else ""
            for item in here
        ]
        number = whole_number(word)
        if number is not None and 1 <= number <= len(here):
            return here[number - 1], names
        return (here[names.index(word)] if word in names else None), [n for n in names if n]
    return None, []


def _mark(group: dict[str, Any], key: str) -> None:
    """Say in a group's source that one of its keys was overridden."""
    source = group["source"]
    if isinstance(source, str):
        source = {k: source for k in group if k not in ("name", "source")}
    group["source"] = {**source, key: SOURCE}
