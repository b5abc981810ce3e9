"""Names and digests of the files that a result was made of."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digest(data: bytes) -> str:
    """Digest of bytes."""
    return hashlib.sha256(data).hexdigest()


def digest_of(path: str) -> str | None:
    """Digest of a file, None where there is none."""
    if not path or not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:  # piece by piece, as logs may be long
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_name(path: str, otherwise: str) -> str:
    """The name of a file without its folders, in the style of any system."""
    return path.replace("\\", "/").rpartition("/")[2] or otherwise
