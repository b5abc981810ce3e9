"""Files of jobs: what is shipped, and the text of a job."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from armtwin.errors import ArmtwinError
from armtwin.files.loading import read_description, shipped_files
from armtwin.files.own_units import as_written
from armtwin.files.reading import read_tables
from armtwin.files.schema import Schema
from armtwin.files.writing import read_back, to_tables, to_toml
from armtwin.jobs.description import JobDescription

SCHEMA = Schema(JobDescription, "job file")


def shipped() -> dict[str, Path]:
    """Names and files of the jobs that come with the package."""
    return shipped_files("armtwin.jobs", "library")


def to_text(description: JobDescription) -> str:
    """The text of a job file; what does not read back as it is is refused."""
    what = f"job '{description.name}'"
    read = partial(read_description, schema=SCHEMA, origin=what)
    return read_back(to_tables(description), read, what)


def to_text_like(description: JobDescription, origin: str) -> str:
    """The text of a job file with numbers written as another file has them.

    As `to_text` where that file cannot be read any more.
    """
    try:
        like = read_tables(Path(origin))
    except ArmtwinError:
        return to_text(description)
    return to_toml(as_written(to_tables(description), like))
