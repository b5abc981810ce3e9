"""From the tables of a TOML file to a Description, with every error of the file at once."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

from armtwin.errors import ArmtwinError, FileError
from armtwin.robot.description import FORMAT, Description
from armtwin.robot.drive_groups import Balancer, FrictionElement, Hydraulic
from armtwin.robot.schema import Schema

Tables = dict[str, Any]

FLATTENED: dict[str, type] = {"friction": FrictionElement, "balancer": Balancer, "hydraulic": Hydraulic}


def read_toml(path: Path) -> Tables:
    """Tables of a TOML file, its format checked."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ArmtwinError(f"{path}: cannot be read ({error.strerror})") from None
    except RecursionError:
        raise FileError(str(path), ["is nested too deep"]) from None
    except ValueError as error:  # not TOML, not UTF-8, or a number of thousands of digits
        raise FileError(str(path), [f"is not valid TOML: {error!s:.200}"]) from None
    return checked_format(tables, str(path))


def checked_format(tables: Tables, origin: str) -> Tables:
    """The tables without their format number, if this version can read it."""
    found = tables.get("format")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        got = "is missing" if found is None else f"must be {FORMAT}, got {found!r}"
        raise FileError(origin, [f"format {got}; write format = {FORMAT} on its first line"])
    if found > FORMAT:
        raise FileError(origin, [f"format {found} is newer than this armtwin reads ({FORMAT}); update armtwin"])
    return {key: value for key, value in tables.items() if key != "format"}


def describe(tables: Tables, origin: str) -> Description:
    """Description of the tables of a robot file; raises a FileError that lists all problems of form."""
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
        result["joint"] = [_with_kind(joint) if isinstance(joint, dict) else joint for joint in joints]
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
    if not isinstance(limits, dict) or joint.get("type", "revolute") not in ("revolute", "prismatic"):
        return {key: value for key, value in joint.items() if key != "limits"}
    return {**joint, "limits": {**limits, "kind": joint.get("type", "revolute")}}
