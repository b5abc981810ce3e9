"""Names of files and folders made from names that a user chose."""

import hashlib
import re
from pathlib import Path

LONGEST = 100  # bytes, so that suffixes fit into what file systems allow
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # by Windows


def folder_of(origin: str) -> Path:
    """The folder of a file, in which files that it names lie; where one stands, without a file."""
    return Path(origin).parent if origin else Path()


def safe_name(text: str, otherwise: str) -> str:
    """A name that any file system takes: letters, digits, . - and _, not too long."""
    name = re.sub(r"[^\w.-]+", "_", text).replace("..", "_").strip("_.") or otherwise
    if RESERVED.fullmatch(name):
        name += "_"
    encoded = name.encode("utf-8", "replace")
    if len(encoded) <= LONGEST:
        return name
    mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{encoded[:LONGEST].decode('utf-8', 'ignore')}_{mark}"
