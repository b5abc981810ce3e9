"""From the tables of a TOML file to a Description, with every error of the file at once."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

from armtwin.errors import FileError, shortened
from armtwin.files.opening import TOML, Kind, read_text
from armtwin.robot.description import FORMAT, Description
from armtwin.robot.drive_groups import Balancer, FrictionElement, Hydraulic
from armtwin.robot.older_formats import changes_since_format_1
from armtwin.robot.schema import Schema

Tables = dict[str, Any]

FLATTENED: dict[str, type] = {
    "friction": FrictionElement,
    "balancer": Balancer,
    "hydraulic": Hydraulic,
}


DEEPEST = 16  # tables and lists within each other
MOST_GROUPS = 300  # of one kind in a robot file
LARGEST_INTEGER = 2**63  # TOML's own
# A key of more parts than tables may be nested; no part is tried twice, so that no text takes long.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_DEEP_KEY = re.compile(rf"""(?<![\w"'-])(?:{_PART}){{{DEEPEST}}}""")


def read_robot(tables: Tables, origin: str) -> Description:
    """Description of the tables of a robot file; an older format is refused with the keys to change."""
    if tables.get("format") == 1:
        head = f"format 1 is older than this armtwin reads ({FORMAT}); write format = {FORMAT} on its first line"
        raise FileError(origin, [head, *changes_since_format_1(tables)])
    return describe(checked_format(tables, origin, FORMAT), origin)


def read_tables(path: Path, kind: Kind = TOML) -> Tables:
    """Tables of a TOML file as they are."""
    text = read_text(path, kind)
    too_deep = FileError(str(path), [f"must not nest tables and lists deeper than {DEEPEST}"])
    if _DEEP_KEY.search(text):
        raise too_deep
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise too_deep from None
    except ValueError as error:  # not TOML, or a number of thousands of digits
        raise FileError(str(path), [f"is not valid TOML: {error!s:.200}"]) from None
    if _depth(tables) > DEEPEST:
        raise too_deep
    place = _endless_integer(tables)
    if place is not None:
        raise FileError(str(path), [f"{place} must be a whole number of at most 64 bits"])
    return tables


def _items(value: Any) -> list[tuple[str, Any]]:
    """What a table or a list holds, by key or by number from 1."""
    if isinstance(value, dict):
        return [(str(key), item) for key, item in value.items()]
    return [(str(i), item) for i, item in enumerate(value, 1)] if isinstance(value, list) else []


def _depth(tables: Tables) -> int:
    """How deep tables and lists are nested, one level after the other."""
    depth = 0
    level: list[Any] = [tables]
    while level:
        depth += 1
        below = [item for value in level for _, item in _items(value)]
        level = [item for item in below if isinstance(item, dict | list)]
    return depth


def _endless_integer(value: Any, path: str = "") -> str | None:
    """Key path of the first integer that no machine number holds."""
    for key, item in _items(value):
        place = f"{path}.{shortened(key, 60)}".lstrip(".")
        if isinstance(item, int) and not -LARGEST_INTEGER <= item < LARGEST_INTEGER:
            return place
        found = _endless_integer(item, place) if isinstance(item, dict | list) else None
        if found is not None:
            return found
    return None


def checked_format(tables: Tables, origin: str, wanted: int) -> Tables:
    """The tables without their format number, if it is the wanted one."""
    found = tables.get("format")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        got = "is missing" if found is None else f"must be {wanted}, got {found!r:.60}"
        raise FileError(origin, [f"format {got}; write format = {wanted} on its first line"])
    if found > wanted:
        raise FileError(
            origin, [f"format {found} is newer than this armtwin reads ({wanted}); update armtwin"]
        )
    return {key: value for key, value in tables.items() if key != "format"}


def describe(tables: Tables, origin: str) -> Description:
    """Description of the tables of a robot file; raises a FileError that lists all problems of form."""
    for key, groups in tables.items():
        if isinstance(groups, list) and len(groups) > MOST_GROUPS:
            contract = f"{key} must have at most {MOST_GROUPS} entries"
            raise FileError(origin, [f"{contract}, got {len(groups)}"])
    return Schema(Description, "robot file").read(_nested(tables), tables, origin)


def _nested(tables: Tables) -> Tables:
    """The same tables with the keys of laws, force laws and circuits moved into a table of their own."""
    result = dict(tables)
    for key, group in FLATTENED.items():
        items = tables.get(key)
        if isinstance(items, list):
            result[key] = [_nest(item, group) if isinstance(item, dict) else item for item in items]
    joints = tables.get("joint")
    if isinstance(joints, list):
        result["joint"] = [
            _with_kind(joint) if isinstance(joint, dict) else joint for joint in joints
        ]
    return result


def _nest(item: Tables, group: type) -> Tables:
    flat = next(f.name for f in fields(group) if f.metadata.get("flat"))
    own = {f.name for f in fields(group)} - {flat}
    outer = {key: value for key, value in item.items() if key in own}
    inner = {key: value for key, value in item.items() if key not in own}
    if isinstance(outer.get("negative"), dict):
        outer["negative"] = {**inner, **outer["negative"]}
    return {**outer, flat: inner}


def _with_kind(joint: Tables) -> Tables:
    limits = joint.get("limits")
    if not isinstance(limits, dict) or joint.get("type", "revolute") not in (
        "revolute",
        "prismatic",
    ):
        return {key: value for key, value in joint.items() if key != "limits"}
    return {**joint, "limits": {**limits, "kind": joint.get("type", "revolute")}}
