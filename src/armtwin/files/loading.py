"""Descriptions of jobs, experiments and sweeps: shipped ones by name, others by path."""

from collections.abc import Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from armtwin.errors import ArmtwinError, blame, did_you_mean
from armtwin.files.kinds import Kind, check_name, check_tables
from armtwin.files.reading import check_format, read_tables
from armtwin.files.schema import Schema
from armtwin.files.shape import Tables


def list_shipped_files(package: str, folder: str) -> dict[str, Path]:
    """Files of a folder that comes with a package, by name."""
    found = Path(str(resources.files(package) / folder)).glob("*.toml")
    return {path.stem: path for path in sorted(found)}


def load_description(
    name_or_path: str | Path, kind: Kind, schema: Schema, known: Mapping[str, Path]
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
        check_name(name_or_path, kind)
    if path.suffix != ".toml":
        contract = "is neither shipped nor" if known else "is not"
        hint = did_you_mean(name, known)
        raise ArmtwinError(f"{kind} '{name}' {contract} a .toml file. {hint}".strip())
    tables = read_tables(path)
    check_tables(tables, kind, str(path))
    description = read_description(tables, schema, str(path))
    return (description if description.name else replace(description, name=path.stem)), str(path)


def read_description(tables: Tables, schema: Schema, origin: str) -> Any:
    """Description of the tables of a file."""
    tables = check_format(tables, origin, schema.kind.format_number)
    with blame(origin):  # for what a group refuses when it is made
        return schema.read(tables, origin)
