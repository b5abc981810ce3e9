"""The shape of a file's tables as its dataclasses declare it: which group is where, its keys.

A field whose table in the file is not as the dataclass has it says so in its metadata: `FLAT`,
`DERIVED`, `ALWAYS`, `kind_from` or `differing_from`. Reader, writer and overrides go by these.
"""

from collections.abc import Sequence
from dataclasses import Field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, ClassVar, Protocol, Union, get_args, get_origin, get_type_hints

from armtwin.maths.batch import NamedTexts

Tables = dict[str, Any]
Step = str | int  # a key of a table, or the place in a list, from 0

KIND_KEYS = ("law", "kind")  # that distinguish groups of several kinds
NAME_KEYS = ("name", "joint")  # that an item of a list goes by, the first it has


class WithFields(Protocol):
    """A dataclass."""

    __dataclass_fields__: ClassVar[Tables]


Group = WithFields | type[WithFields]  # the dataclass of a table, filled or as a type

FLAT = {"flat": True}  # the keys of this group stand in the table around it
DERIVED = {"derived": True}  # not in the file: follows from other keys
ALWAYS = {"always": True}  # written even at its default, as its reader should see it


def kind_from(key: str) -> NamedTexts:
    """Metadata of a field of several kinds: which one it is follows from a key beside it."""
    return {"kind_from": key}


def differing_from(name: str) -> NamedTexts:
    """Metadata of a field whose table has only the keys that differ from those of a flat field."""
    return {"differing_from": name}


@cache
def types_of(group: object) -> dict[str, Any]:
    """Types of the fields of a dataclass."""
    return get_type_hints(group)


def choices(kind: object) -> tuple[Any, ...]:
    """The types that a value may have."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def group_of(kind: object, table: Tables) -> Any:
    """The dataclass that a table of a type is read into, None if that is ambiguous."""
    groups = [choice for choice in choices(kind) if is_dataclass(choice)]
    if len(groups) == 1:
        return groups[0]
    for group in groups:
        for key in KIND_KEYS:
            if key in table and table[key] == getattr(group, key, None):
                return group
    return None


def item_type(kind: object, container: type) -> Any:
    """Type of the items of a type that is a list (tuple) or a table (dict) of such, else None."""
    for choice in choices(kind):
        if get_origin(choice) is container:
            return get_args(choice)[0 if container is tuple else 1]
    return None


def _parts(group: type, table: Tables) -> list[type]:
    """The dataclasses whose keys stand in the table of a group: itself and its flat fields."""
    parts = [group]
    for f in fields(group):
        if f.metadata.get("flat"):
            flat = group_of(types_of(group)[f.name], table)
            parts += [] if flat is None else [flat]
    return parts


def _type_behind(kind: object, here: Any, step: Step) -> Any:
    """Type behind one step into a table or list of a type."""
    if isinstance(here, list):
        return item_type(kind, tuple)
    group = group_of(kind, here)
    if group is None:
        return item_type(kind, dict)
    for part in _parts(group, here):
        for f in fields(part):
            if f.name == step:
                return _type_of_field(part, f, here)
    return None


def _type_of_field(group: object, f: Field[Any], table: Tables) -> Any:
    """Type of a field of a group, the one of several kinds that the keys around it select."""
    kind = types_of(group)[f.name]
    if "kind_from" in f.metadata:
        key = f.metadata["kind_from"]
        return group_of(kind, {"kind": table.get(key, getattr(group, key))})
    if "differing_from" in f.metadata:
        return group_of(kind, {**table, **table[f.name]})
    return kind


def keys_at(kind: object, tables: Tables, steps: Sequence[Step]) -> list[str]:
    """Keys that the table at a place may have, those at their default too.

    Args:
        kind: Dataclass of the whole file.
        tables: The file.
        steps: The keys to the table; it must be there.
    """
    here: Any = tables
    for step in steps:
        kind = _type_behind(kind, here, step)
        here = here[step]
    group = group_of(kind, here)
    if group is None:
        return list(here)
    keys = []
    for part in _parts(group, here):
        for f in fields(part):
            if not f.metadata.get("flat") and not f.metadata.get("derived"):
                keys.append(f.name)
    return keys


def name_of(item: object) -> str:
    """What a table in a list goes by; empty where it has no name."""
    if isinstance(item, dict):
        for key in NAME_KEYS:
            if key in item:
                return str(item[key])
    return ""


def items_of(value: object) -> list[tuple[str, Any]]:
    """What a table or a list holds, by key or by number from 1."""
    if isinstance(value, dict):
        return [(str(key), item) for key, item in value.items()]
    if isinstance(value, list):
        return [(str(i), item) for i, item in enumerate(value, 1)]
    return []
