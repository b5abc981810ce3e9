"""From a Description to the text of a TOML file: what is at its default is left out, numbers are exact."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from armtwin.maths.units import units_of
from armtwin.robot.groups import SlideLimits, TurnLimits

WIDTH = 100


def to_tables(description: Any) -> dict[str, Any]:
    """Tables of a robot or job file: the inverse of reading it."""
    return {"format": description.format_number, **_table(description)}


def _table(group: Any) -> dict[str, Any]:
    """Keys of one group that differ from their defaults, after the key that tells its kind."""
    table: dict[str, Any] = {}
    for f in fields(group):
        value = getattr(group, f.name)
        if f.metadata.get("flat"):
            table.update(_table(value))
        elif f.name == "negative" and value is not None:
            law = _table(group.law)
            table[f.name] = {k: v for k, v in _table(value).items() if law.get(k) != v}
        elif _tells_kind(group, f.name, value):
            table = {f.name: value, **table}
        elif not _is_default(f, value):
            table[f.name] = _plain(_with_unit(type(group), f.name, value))
    return table


def _with_unit(kind: Any, name: str, value: Any) -> Any:
    """A number that would be refused as a bare one, written with its unit."""
    unit = dict(units_of(kind)).get(name)
    if unit is not None and isinstance(value, tuple):
        return tuple(_with_unit(kind, name, x) for x in value)
    if unit is not None and isinstance(value, float) and abs(value) > unit.plausible:
        return f"{value!r} {unit.symbol}"
    return value


def _tells_kind(group: Any, name: str, value: Any) -> bool:
    """Whether a key must be written though it has its default; the kind of limits follows from the joint."""
    return (
        name in {"law", "kind"}
        and value is not None
        and not isinstance(group, TurnLimits | SlideLimits)
    )


def _is_default(f: Any, value: Any) -> bool:
    if f.default is not MISSING:
        return bool(value == f.default)
    return f.default_factory is not MISSING and bool(value == f.default_factory())


def _plain(value: Any) -> Any:
    """A value as TOML has it."""
    if is_dataclass(value):
        return _table(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def to_toml(tables: dict[str, Any]) -> str:
    """Text of a TOML file; short tables and arrays stand on one line."""
    return "\n".join(_lines(tables, "")) + "\n"


def _lines(table: dict[str, Any], path: str) -> list[str]:
    simple: list[tuple[str, Any]] = []
    deep: list[tuple[str, Any]] = []
    for key, value in table.items():
        (deep if _needs_header(value, path) else simple).append((key, value))
    lines = []
    for key, value in simple:
        lines += f"{_key(key)} = {_inline(value)}".split("\n")
    for key, value in deep:
        name = f"{path}.{_key(key)}".lstrip(".")
        if isinstance(value, list):
            for item in value:
                lines += ["", f"[[{name}]]", *_lines(item, name)]
        elif path == "" and all(
            isinstance(item, dict) and _needs_header(item, name) for item in value.values()
        ):
            lines += _lines(value, name)
        else:
            lines += ["", f"[{name}]", *_lines(value, name)]
    return lines


def _needs_header(value: Any, path: str) -> bool:
    """Whether a value is written as a table or list of tables of its own, not on one line."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], dict)
    return isinstance(value, dict) and (
        path == "" or "source" in value or len(_inline(value)) > WIDTH
    )


def _inline(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_inline(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        line = "[" + ", ".join(map(_inline, value)) + "]"
        if len(line) > WIDTH and isinstance(value[0], list):
            return "[\n" + "".join(f"    {_inline(row)},\n" for row in value) + "]"
        return line
    return repr(value)


def _key(key: str) -> str:
    bare = key and all(c.isascii() and (c.isalnum() or c in "-_") for c in key)
    return key if bare else json.dumps(key, ensure_ascii=False)
