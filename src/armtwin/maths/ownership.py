"""Who could have put a file where it lies: what is run unseen must be of nobody else.

Where the system has no owners in this sense (Windows), nothing is refused: a user's own folders
are closed to others there.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

PRIVATE = 0o700  # mode of a folder that is its owner's alone
OTHERS = stat.S_IRWXG | stat.S_IRWXO  # what a mode lets the group and others do


def is_own(found: os.stat_result) -> bool:
    """Whether a file is this user's."""
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def _is_trusted(found: os.stat_result) -> bool:
    """Whether a file is of this user or of who could change everything: root, the owner of /."""
    return is_own(found) or found.st_uid in (0, os.stat("/").st_uid)


def why_unsafe(folder: Path) -> tuple[str, str]:
    """Why others could put files into a folder, and what to do; twice "" where nobody could.

    Args:
        folder: An absolute path without links; what of it does not exist yet is left out.
    """
    if not hasattr(os, "geteuid"):
        return "", ""
    for path in (folder, *folder.parents):
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            continue
        if not _is_trusted(found):
            theirs = f"{path} belongs to another user (number {found.st_uid})"
            return theirs, f"have it given to you, `chown {os.geteuid()} {path}`"
        if _is_open(found):
            mode = stat.S_IMODE(found.st_mode)
            return f"others may write to {path} (mode {mode:o})", f"close it, `chmod go-w {path}`"
    return "", ""


def _is_open(found: os.stat_result) -> bool:
    """Whether others may add, remove and rename what is in a folder."""
    if found.st_mode & stat.S_ISVTX:  # they may add, and touch nothing that is not theirs
        return False
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_private(found.st_gid)


def _is_private(group: int) -> bool:
    """Whether a group is this user's own and has no other member, as many systems give one."""
    try:
        import grp
        import pwd

        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except (ImportError, KeyError):
        return False
    alone = not set(found.gr_mem) - {user.pw_name}
    return user.pw_gid == group and found.gr_name == user.pw_name and alone


def make_private(folder: Path) -> bool:
    """Make a folder and its parents where they are missing, ours alone; whether it was missing."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(PRIVATE, exist_ok=True)
    if hasattr(os, "geteuid") and os.stat(folder).st_mode & OTHERS:
        os.chmod(folder, PRIVATE)
    return bool(missing)


def read_own_file(path: Path) -> bytes | None:
    """What a file holds; None where there is none, or it is no plain file of ours or root's."""
    with suppress(OSError), open(path, "rb", opener=_open_at_once) as file:
        found = os.fstat(file.fileno())
        if stat.S_ISREG(found.st_mode) and _is_trusted(found):
            return file.read()
    return None


def _open_at_once(name: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe, where the system knows how."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
