"""Loading and saving jobs: shipped ones by name, TOML by path."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import resources
from pathlib import Path

from armtwin.errors import ArmtwinError, FileError, did_you_mean
from armtwin.files.kinds import check_name, check_tables
from armtwin.files.own_units import as_written
from armtwin.files.reading import checked_format, read_tables
from armtwin.files.schema import Schema
from armtwin.files.shape import Tables
from armtwin.files.writing import read_back, to_tables, to_toml
from armtwin.jobs.description import JobDescription

SCHEMA = Schema(JobDescription, "job file")


def shipped() -> dict[str, Path]:
    """Names and files of the jobs that come with the package."""
    folder = Path(str(resources.files("armtwin.jobs") / "library"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def load(name_or_path: str | Path) -> tuple[JobDescription, str]:
    """Description of a shipped job or of a file, and where it came from."""
    path, known = Path(name_or_path), shipped()
    if str(name_or_path) in known:
        path = known[str(name_or_path)]
    else:
        check_name(name_or_path, "job")
    if path.suffix != ".toml":
        hint = did_you_mean(str(name_or_path), known)
        raise ArmtwinError(f"job '{name_or_path}' is neither shipped nor a .toml file. {hint}")
    tables = read_tables(path)
    check_tables(tables, "job", str(path))
    description = _read(tables, str(path))
    return (description if description.name else replace(description, name=path.stem)), str(path)


def _read(tables: Tables, origin: str) -> JobDescription:
    """Description of the tables of a job file."""
    tables = checked_format(tables, origin, JobDescription.format_number)
    try:
        description: JobDescription = SCHEMA.read(tables, origin)
    except FileError:
        raise
    except ArmtwinError as error:  # what a group refuses when it is made
        raise FileError(origin, [str(error)]) from None
    return description


def to_text(description: JobDescription) -> str:
    """The text of a job file; what does not read back as it is is refused."""
    what = f"job '{description.name}'"
    return read_back(to_tables(description), partial(_read, origin=what), what)


def to_text_like(description: JobDescription, origin: str) -> str:
    """The text of a job file with numbers written as another file has them.

    As `to_text` where that file cannot be read any more.
    """
    try:
        like = read_tables(Path(origin))
    except ArmtwinError:
        return to_text(description)
    return to_toml(as_written(to_tables(description), like))
