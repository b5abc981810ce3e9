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

# Keys of a hydraulic drive of format 1, and the groups that have them now.
FROM_HYDRAULIC = {
    ("viscous", "coulomb"): "a [[friction]] on it, law = 'coulomb_viscous', as viscous and level",
    ("gain", "sensor_gain", "sensor_delay", "zero"): (
        "a [servo.NAME] of kind 'proportional', as gain, sensor_gain, delay.sensor and sensor_zero"
    ),
}

FLATTENED: dict[str, type] = {"friction": FrictionElement, "balancer": Balancer, "hydraulic": Hydraulic}


def read_toml(path: Path, format_number: int = 1) -> Tables:
    """Tables of a TOML file of a format."""
    return checked_format(read_tables(path), str(path), format_number)


def read_robot(tables: Tables, origin: str) -> Description:
    """Description of the tables of a robot file; an older format is refused with the keys to change."""
    if tables.get("format") == 1:
        head = f"format 1 is older than this armtwin reads ({FORMAT}); write format = {FORMAT} on its first line"
        raise FileError(origin, [head, *changes_since_format_1(tables)])
    return describe(checked_format(tables, origin, FORMAT), origin)


def changes_since_format_1(tables: Tables) -> list[str]:
    """What to change in a robot file of format 1, key by key, as sentences."""
    found = []
    transmissions = _items(tables, "transmission")
    for i, item in enumerate(transmissions, 1):
        if "kind" in item:
            found.append(f"transmission.{i}.kind: take it out; a model says whether joints are elastic")
    between = {item.get("joint") for item in transmissions}
    for i, item in enumerate(_items(tables, "friction"), 1):
        on = item.get("on")
        joints = set(on) if isinstance(on, dict) else {on}
        if joints & between and "side" not in item:
            found.append(f"friction.{i}.side: add it, 'motor' or 'link' of the transmission")
    for i, item in enumerate(_items(tables, "hydraulic"), 1):
        for keys, where in FROM_HYDRAULIC.items():
            present = [key for key in keys if key in item]
            if present:
                found.append(f"hydraulic.{i}: move {', '.join(present)} to {where}")
    servos = tables.get("servo")
    for name, servo in servos.items() if isinstance(servos, dict) else ():
        for key, value in servo.items() if isinstance(servo, dict) else ():
            if isinstance(value, dict) and isinstance(value.get("damping"), float | int):
                found.append(f"servo.{name}.{key}.damping: write it as a list, [{value['damping']}]")
    return found


def _items(tables: Tables, key: str) -> list[Tables]:
    """The tables of a list of groups, as far as they are any."""
    items = tables.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def read_tables(path: Path) -> Tables:
    """Tables of a TOML file as they are."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ArmtwinError(f"{path}: cannot be read ({error.strerror})") from None
    except RecursionError:
        raise FileError(str(path), ["is nested too deep"]) from None
    except ValueError as error:  # not TOML, not UTF-8, or a number of thousands of digits
        raise FileError(str(path), [f"is not valid TOML: {error!s:.200}"]) from None


def checked_format(tables: Tables, origin: str, wanted: int) -> Tables:
    """The tables without their format number, if it is the wanted one."""
    found = tables.get("format")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        got = "is missing" if found is None else f"must be {wanted}, got {found!r}"
        raise FileError(origin, [f"format {got}; write format = {wanted} on its first line"])
    if found > wanted:
        raise FileError(origin, [f"format {found} is newer than this armtwin reads ({wanted}); update armtwin"])
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
