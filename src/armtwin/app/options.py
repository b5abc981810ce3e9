"""What options of several commands share."""

from __future__ import annotations

from pathlib import Path

from armtwin.errors import ArmtwinError


def given_path(text: str) -> Path:
    """The path that --out gives."""
    if not text.strip():
        raise ArmtwinError("--out must name a file or folder, got nothing")
    if "\0" in text:
        raise ArmtwinError("--out must be a path without null characters")
    return Path(text)
