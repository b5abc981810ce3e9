"""From the tables of a TOML file to a Description, with every error of the file at once.

A key path such as friction.5.level counts from 1 and may use a name in place of a number.
"""

from __future__ import annotations

import tomllib
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

from armtwin.errors import ArmtwinError, FileError, did_you_mean
from armtwin.robot.description import FORMAT, Description
from armtwin.robot.drive_groups import Balancer, FrictionElement, Hydraulic

Tables = dict[str, Any]

ARRAYS = ("joint", "link", "frame", "motor", "balancer", "friction", "transmission", "hydraulic")
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
        raise FileError(origin, [f"format must be a whole number from 1 to {FORMAT}, got {found!r}"])
    if found > FORMAT:
        raise FileError(origin, [f"format {found} is newer than this armtwin reads ({FORMAT}); update armtwin"])
    return {key: value for key, value in tables.items() if key != "format"}


def describe(tables: Tables, origin: str) -> Description:
    """Description of the tables of a robot file; raises a FileError that lists all problems of form."""
    from pydantic import ValidationError

    try:
        return _validator().validate_python(_nested(tables))
    except ValidationError as error:
        problems = [_sentence(item, tables) for item in error.errors(include_url=False)]
        raise FileError(origin, dict.fromkeys(problems)) from None


@cache
def _validator() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Description)


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


def _place(loc: tuple[Any, ...], tables: Tables) -> tuple[str, Any]:
    """Key path of an error as the file has it, and the table it is in."""
    here: Any = tables
    words: list[str] = []
    for step in loc[:-1]:
        if isinstance(here, dict) and isinstance(here.get(step), dict | list):
            here = here[step]
            words.append(str(step))
        elif isinstance(here, list) and isinstance(step, int) and step < len(here):
            here = here[step]
            words.append(str(step + 1))
    last = loc[-1]
    inside = isinstance(here, list) and isinstance(last, int)
    words.append(str(last + 1) if inside else str(last))
    return ".".join(words), here


def _sentence(error: Any, tables: Tables) -> str:
    """One sentence for one error of pydantic."""
    path, table = _place(error["loc"], tables)
    parent = ".".join(path.split(".")[:-1])
    named = table.get("name") if isinstance(table, dict) and table is not tables else None
    if named is not None:
        path += f" ('{named}')"
    kind, given = error["type"], error["input"]
    if kind in {"missing", "missing_argument"}:
        return f"{path} is missing"
    if kind in {"unexpected_keyword_argument", "extra_forbidden"}:
        return f"{path} is not a key of a robot file. {did_you_mean(str(error['loc'][-1]), _known(error['loc']))}"
    if kind == "union_tag_not_found":
        return f"{parent}: key {error['ctx']['discriminator']} is missing, which says what kind it is"
    if kind == "union_tag_invalid":
        context = error["ctx"]
        key = context["discriminator"].strip("'")
        place = f"{parent}.{key}" if isinstance(table, dict) and key in table else f"{path}.{key}"
        tags = [tag.strip("' ") for tag in context["expected_tags"].split(",")]
        return f"{place}: '{context['tag']}' is not known. {did_you_mean(context['tag'], tags)}"
    if kind in {"quantity", "sentence"}:
        return f"{path} {error['msg']}"
    if kind == "tuple_type":
        wanted = f"a list of tables, [[{path}]]" if path in ARRAYS else "a list"
        return f"{path} must be {wanted}, got {given!r:.60}"
    if kind in {"dataclass_type", "dict_type"}:
        return f"{path} must be a table, got {given!r:.60}"
    return f"{path}: {error['msg'][0].lower()}{error['msg'][1:]}, got {given!r:.80}"


def _known(loc: tuple[Any, ...]) -> list[str]:
    """Keys that the group at a place may have."""
    group: Any = Description
    for step in loc[:-1]:
        group = _step_into(group, step)
    group = next((c for c in (group, *get_args(group)) if is_dataclass(c)), group)
    known = [f.name for f in fields(group)] if is_dataclass(group) else []
    for f in fields(group) if is_dataclass(group) else ():
        if f.metadata.get("flat"):
            known.remove(f.name)
    return known


def _step_into(group: Any, step: Any) -> Any:
    """Type behind one step of a place: a field, an item of a tuple or dict, a kind of a union."""
    if is_dataclass(group) and isinstance(step, str):
        return get_type_hints(group).get(step)
    choices = [c for c in get_args(group) if c is not type(None) and c is not Ellipsis and c is not str]
    for choice in choices:
        if step in (getattr(choice, "law", None), getattr(choice, "kind", None)):
            return choice
    inner = choices[0] if choices else None
    if isinstance(step, int) or (inner is not None and not is_dataclass(inner)):
        return inner if isinstance(step, int) or not get_args(inner) else _step_into(inner, step)
    return _step_into(inner, step) if inner is not None else None
