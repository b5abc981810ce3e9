"""TOML files within bounds that people keep: their tables, and the descriptions they hold."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from armtwin.errors import ArmtwinError, FileError, blame, did_you_mean, shorten
from armtwin.files import kinds
from armtwin.files.fields import own_problems
from armtwin.files.opening import TOML, Kind, read_text
from armtwin.files.schema import Schema
from armtwin.files.shape import Tables, items_of

DEEPEST = 16  # tables and lists within each other
LARGEST_INTEGER = 2**63  # TOML's own
# A key of more parts than tables may be nested; no part is tried twice, so that no text takes long.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_DEEP_KEY = re.compile(rf"""(?<![\w"'-])(?:{_PART}){{{DEEPEST}}}""")


def read_tables(path: Path, kind: Kind = TOML) -> Tables:
    """Tables of a TOML file as they are."""
    text = read_text(path, kind)
    too_deep = FileError(path, f"must not nest tables and lists deeper than {DEEPEST}")
    if _DEEP_KEY.search(text):
        raise too_deep
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise too_deep from None
    except ValueError as error:  # not TOML, or a number of thousands of digits
        raise FileError(path, f"is not valid TOML: {error!s:.200}") from None
    if _depth(tables) > DEEPEST:
        raise too_deep
    place = _endless_integer(tables)
    if place is not None:
        raise FileError(path, f"{place} must be a whole number of at most 64 bits")
    return tables


def _depth(tables: Tables) -> int:
    """How deep tables and lists are nested, one level after the other."""
    depth = 0
    level: list[Any] = [tables]
    while level:
        depth += 1
        below = []
        for value in level:
            for _, item in items_of(value):
                if isinstance(item, dict | list):
                    below.append(item)
        level = below
    return depth


def _endless_integer(value: object, path: str = "") -> str | None:
    """Key path of the first integer that no machine number holds."""
    for key, item in items_of(value):
        place = f"{path}.{shorten(key, 60)}".lstrip(".")
        if isinstance(item, int) and not -LARGEST_INTEGER <= item < LARGEST_INTEGER:
            return place
        found = _endless_integer(item, place)
        if found is not None:
            return found
    return None


def check_format(tables: Tables, origin: str, wanted: int) -> Tables:
    """The tables without their format number, if it is the wanted one."""
    rest = dict(tables)
    found = rest.pop("format", None)
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        got = "is missing" if found is None else f"must be {wanted}, got {found!r:.60}"
        raise FileError(origin, f"format {got}; write format = {wanted} on its first line")
    if found > wanted:
        newer = f"format {found} is newer than this armtwin reads ({wanted})"
        raise FileError(origin, f"{newer}; update armtwin")
    return rest


def refuse_problems(description: object, origin: str) -> None:
    """Refuse what groups of a file find wrong with themselves."""
    found = list(own_problems(description))
    if found:
        raise FileError(origin, found)


def list_shipped_files(package: str, folder: str) -> dict[str, Path]:
    """Files of a folder that comes with a package, by name."""
    found = Path(str(resources.files(package) / folder)).glob("*.toml")
    return {path.stem: path for path in sorted(found)}


def load_description(
    name_or_path: str | Path, kind: kinds.Kind, schema: Schema, known: Mapping[str, Path]
) -> tuple[Any, str]:
    """Description of a shipped thing or of a file, and where it came from.

    Args:
        name_or_path: Name or path.
        kind: What it is.
        schema: What its file is read into; it has a name, by default the file's.
        known: What is shipped, by name.
    """
    name = str(name_or_path)
    path = known.get(name, Path(name_or_path))
    if name not in known:
        kinds.check_name(name_or_path, kind)
    if path.suffix != ".toml":
        contract = "is neither shipped nor" if known else "is not"
        hint = did_you_mean(name, known)
        raise ArmtwinError(f"{kind} '{name}' {contract} a .toml file. {hint}".strip())
    tables = read_tables(path)
    kinds.check_tables(tables, kind, str(path))
    description = read_description(tables, schema, str(path))
    return (description if description.name else replace(description, name=path.stem)), str(path)


def read_description(tables: Tables, schema: Schema, origin: str) -> Any:
    """Description of the tables of a file."""
    tables = check_format(tables, origin, schema.kind.format_number)
    with blame(origin):  # for what a group refuses when it is made
        return schema.read(tables, origin)
