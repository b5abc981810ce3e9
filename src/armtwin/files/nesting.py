"""From tables as people write them to tables as the dataclasses have them: a group has its own."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any

from armtwin.files.shape import KIND_KEYS, Tables, choices, group_of, item_type, types_of


def nested(value: Any, kind: Any) -> Any:
    """A value of a file of a type, with every group below it in a table of its own."""
    if isinstance(value, list):
        item = item_type(kind, tuple)
        return [nested(entry, item) for entry in value]
    if not isinstance(value, dict):
        return value
    group = group_of(kind, value)
    if group is not None:
        return _nested_group(value, group)
    item = item_type(kind, dict)
    return {key: nested(entry, item) for key, entry in value.items()}


def _nested_group(table: Tables, group: Any) -> Tables:
    result = dict(table)
    for f in fields(group):
        if f.metadata.get("flat"):
            _move_flat_keys(result, group, f.name)
    for f in fields(group):
        if "differing_from" in f.metadata:
            _complete(result, f)
        if "kind_from" in f.metadata:
            _put_kind(result, group, f)
        if f.name in result:
            result[f.name] = nested(result[f.name], types_of(group)[f.name])
    return result


def _move_flat_keys(table: Tables, group: Any, name: str) -> None:
    """Move the keys that are not the group's own into the table of its flat field."""
    own = {f.name for f in fields(group)} - {name}
    inner = {}
    for key in list(table):
        if key not in own:
            inner[key] = table.pop(key)
    table[name] = inner


def _complete(table: Tables, f: Field[Any]) -> None:
    """Give a table of what differs from another field of the same kind the keys of that one."""
    differing = table.get(f.name)
    other = table.get(f.metadata["differing_from"])
    if not isinstance(differing, dict) or not isinstance(other, dict):
        return
    for key in KIND_KEYS:
        if key in differing and differing[key] != other.get(key):
            return
    table[f.name] = {**other, **differing}


def _put_kind(table: Tables, group: Any, f: Field[Any]) -> None:
    """Write into the table of a field of several kinds which one it is, as a key beside it says."""
    value = table.get(f.name)
    if not isinstance(value, dict):
        return
    key = f.metadata["kind_from"]
    kind = table.get(key, getattr(group, key))
    known = [getattr(choice, "kind", None) for choice in choices(types_of(group)[f.name])]
    if kind in known:
        table[f.name] = {**value, "kind": kind}
    else:
        del table[f.name]  # the key beside it is refused already
