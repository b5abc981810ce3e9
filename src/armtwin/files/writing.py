"""From dataclasses to the text of a TOML file: defaults are left out, numbers are exact."""

import json
import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.shape import KIND_KEYS, Group, Tables, WithFields, items_of
from armtwin.maths.units import units_of

WIDTH = 100  # characters of a line of TOML
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")  # that TOML takes without quotes


class WholeFile(WithFields, Protocol):
    """What a whole file holds."""

    format_number: ClassVar[int]


def to_tables(description: WholeFile) -> Tables:
    """Tables of a robot or job file: the inverse of reading it."""
    return {"format": description.format_number, **group_table(description)}


def group_table(group: Group) -> Tables:
    """Keys of one group that differ from their defaults, after the key of its kind."""
    kind: Tables = {}
    table: Tables = {}
    for f in fields(group):
        value = getattr(group, f.name)
        if f.metadata.get("derived"):
            continue
        if f.metadata.get("flat"):
            table.update(_plain(value))
        elif f.name in KIND_KEYS and value is not None:
            kind[f.name] = value
        elif _is_default(f, value):
            continue
        elif "differing_from" in f.metadata:
            table[f.name] = _table_of_differences(
                value, getattr(group, f.metadata["differing_from"])
            )
        else:
            table[f.name] = _entry(group, f.name)
    return {**kind, **table}


def _table_of_differences(group: Group, other: Group) -> Tables:
    """Keys of one group that differ from those of another; all that it has, if of another kind."""
    if type(group) is not type(other):
        return group_table(group)
    table = {}
    for f in fields(group):
        if getattr(group, f.name) != getattr(other, f.name):
            table[f.name] = _entry(group, f.name)
    return table


def _entry(group: object, name: str) -> Any:
    """The value of one key of a group as TOML has it."""
    return _with_unit(type(group), name, _plain(getattr(group, name)))


def _with_unit(kind: object, name: str, value: object) -> Any:
    """A number that would be refused as a bare one, written with its unit."""
    unit = dict(units_of(kind)).get(name)
    if unit is None:
        return value
    if isinstance(value, list):
        return [_with_unit(kind, name, x) for x in value]
    if isinstance(value, float) and abs(value) > unit.plausible:
        return f"{value!r} {unit.symbol}"
    return value


def _is_default(f: Field[Any], value: object) -> bool:
    if f.metadata.get("always"):
        return False
    default = f.default if f.default_factory is MISSING else f.default_factory()
    if isinstance(value, np.ndarray):
        return bool(_plain(value) == _plain(default))
    return bool(value == default)


def _plain(value: object) -> Any:
    """A value as TOML has it."""
    if is_dataclass(value):
        return group_table(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def read_back(tables: Tables, read: Callable[[Tables], Any], what: str) -> str:
    """Text of a TOML file from which its reader makes the same tables again.

    Args:
        tables: The tables.
        read: The reader: makes a description of tables, or refuses them.
        what: What is written, for the sentence of a refusal.
    """
    try:
        text = to_toml(tables)
        again = to_tables(read(tomllib.loads(text)))
    except ArmtwinError as error:
        raise ArmtwinError(f"{what} cannot be written: {error}") from None
    if again != tables:
        place = _difference(tables, again)
        raise ArmtwinError(f"{what} cannot be written: {place} does not read back as it is")
    return text


def _difference(one: object, other: object, path: str = "") -> str:
    """Key path of the first place where two tables differ."""
    theirs = dict(items_of(other))
    for key, item in items_of(one):
        if key not in theirs or item != theirs[key]:
            return _difference(item, theirs.get(key), f"{path}.{key}".lstrip("."))
    return path


def to_toml(tables: Tables) -> str:
    """Text of a TOML file; short tables and arrays stand on one line.

    What no such file can hold is refused.
    """
    plain = _plain(tables)
    _refuse_unreadable(plain, "")
    return "\n".join(_lines(plain, "")) + "\n"


def _refuse_unreadable(value: object, path: str) -> None:
    """Refuse values that TOML has not, and numbers that no reader of these files takes."""
    if isinstance(value, dict | list):
        for key, item in items_of(value):
            _refuse_unreadable(item, f"{path}.{key}".lstrip("."))
    elif not isinstance(value, str | bool | int | float):
        kind = type(value).__name__
        raise ArmtwinError(f"{path} must be a number, a text, true or false, got a {kind}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise ArmtwinError(f"{path} must be a finite number, got {value}")


def _lines(table: Tables, path: str) -> list[str]:
    lines = []
    deep = {}
    for key, value in table.items():
        if _needs_header(value, path):
            deep[key] = value
        else:
            lines += f"{_key(key)} = {_inline(value)}".split("\n")
    for key, value in deep.items():
        lines += _with_header(value, f"{path}.{_key(key)}".lstrip("."), at_top=path == "")
    return lines


def _with_header(value: Tables | list[Tables], name: str, at_top: bool) -> list[str]:
    """Lines of a table or of a list of tables below a header of its own."""
    if isinstance(value, list):
        lines = []
        for item in value:
            lines += ["", f"[[{name}]]", *_lines(item, name)]
        return lines
    # a table needs no header where all that it holds has one
    headed = [isinstance(x, dict) and _needs_header(x, name) for x in value.values()]
    if at_top and all(headed):
        return _lines(value, name)
    return ["", f"[{name}]", *_lines(value, name)]


def _needs_header(value: object, path: str) -> bool:
    """Whether a value is written as a table or list of tables of its own, not on one line."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict)
    if not isinstance(value, dict):
        return False
    return path == "" or "source" in value or len(_inline(value)) > WIDTH


def _inline(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, dict):
        entries = [f"{_key(key)} = {_inline(item)}" for key, item in value.items()]
        return "{ " + ", ".join(entries) + " }"
    if isinstance(value, list):
        return _inline_list(value)
    return repr(value)


def _inline_list(values: list[Any]) -> str:
    """A list on one line, or a long list of lists with a line for each."""
    line = "[" + ", ".join(map(_inline, values)) + "]"
    if len(line) <= WIDTH or not isinstance(values[0], list):
        return line
    lines = [f"    {_inline(value)},\n" for value in values]
    return "[\n" + "".join(lines) + "]"


def _key(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else _quote(key)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
