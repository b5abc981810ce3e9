"""Names and digests of the files that a result was made of."""

import hashlib
import os
from pathlib import Path

from armtwin.files.opening import INPUT, open_plain_file


def digest(data: bytes) -> str:
    """Digest of bytes."""
    return hashlib.sha256(data).hexdigest()


def digest_of(path: str) -> str | None:
    """Digest of a file, None where there is none."""
    if not path or not os.path.isfile(path):
        return None
    with open_plain_file(Path(path), INPUT) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def file_name(path: str, otherwise: str) -> str:
    """The name of a file without its folders, in the style of any system."""
    return path.replace("\\", "/").rpartition("/")[2] or otherwise
