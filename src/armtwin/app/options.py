"""What options of several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from armtwin.errors import ArmtwinError
from armtwin.maths.units import Unit

Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
Gravity = Annotated[
    str | None,
    typer.Option("--gravity", help='Free fall in the base frame, as "0 0 -9.81" (m/s²).'),
]
Mounting = Annotated[
    str | None,
    typer.Option(
        "--mounting",
        help='floor, wall, ceiling, or an angle about the base\'s y axis, as "30 deg", or about '
        'another, as "30 deg about x".',
    ),
]


@dataclass(frozen=True)
class Output:
    """What is asked of the results of a command.

    Attributes:
        out: The file or folder asked for.
        json: Whether they are printed as JSON.
        force: Whether existing files may be replaced.
    """

    out: Path | None
    json: bool
    force: bool


def given_path(text: str) -> Path:
    """The path that --out gives."""
    if not text.strip():
        raise ArmtwinError("--out must name a file or folder, got nothing")
    if "\0" in text:
        raise ArmtwinError("--out must be a path without null characters")
    return Path(text)


def optional_quantity(option: str, text: str | None, unit: str) -> float | None:
    """A quantity above 0, where one is given."""
    if text is None:
        return None
    try:
        return Unit(unit, above=0).read_word(text)
    except ArmtwinError as error:
        raise ArmtwinError(f"{option} {error}") from None
