"""Several files change in a folder of others: a journal says beforehand what moves where.

From the moment it is there the set counts as written, and whoever finds it after a kill does the
rest.
"""

import json
import os
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from armtwin.errors import ArmtwinError
from armtwin.files.disk import fill, plain_name, sync
from armtwin.files.locks import lock_folder

JOURNAL = "journal"


def move_in(stage: Path, target: Path, names: Collection[str], gone: Collection[str]) -> None:
    """Move staged files into a folder, and others out of it."""
    if len(names) == 1 and not gone:
        [name] = names
        os.replace(stage / "new" / name, target / name)
        sync(target)
        return
    for name in (*gone, *names):
        if (target / name).is_dir():
            raise ArmtwinError(f"{target / name}: is a folder where a file must be written")
    (stage / "old").mkdir()
    _write_journal(stage, target, names, gone)
    try:
        for name in (*gone, *names):
            if os.path.lexists(target / name):
                os.replace(target / name, stage / "old" / name)
            if name in names:
                os.replace(stage / "new" / name, target / name)
        sync(target)
    except BaseException:
        _undo(stage, target, names)
        raise
    (stage / JOURNAL).unlink()


def _write_journal(
    stage: Path, target: Path, names: Collection[str], gone: Collection[str]
) -> None:
    into = "." if target == stage.parent else target.name
    plan = {"into": into, "names": sorted(names), "gone": sorted(gone)}
    fill(stage, {f"{JOURNAL}.part": json.dumps(plan)})
    os.rename(stage / f"{JOURNAL}.part", stage / JOURNAL)
    sync(stage)


def _undo(stage: Path, target: Path, names: Collection[str]) -> None:
    """Put everything back as it was before the journal."""
    for name in names:
        if not os.path.lexists(stage / "new" / name):
            os.replace(target / name, stage / "new" / name)
    for path in (stage / "old").iterdir():
        os.replace(path, target / path.name)
    (stage / JOURNAL).unlink()


def roll_forward(stage: Path, plan: dict[str, Any]) -> None:
    """Do what is left of a journal."""
    with ExitStack() as locks:
        target = stage.parent
        if plan["into"] != ".":
            target = target / plain_name(plan["into"])
            locks.enter_context(lock_folder(target))
        for name in map(plain_name, plan["names"]):
            if os.path.lexists(stage / "new" / name):
                os.replace(stage / "new" / name, target / name)
        for name in map(plain_name, plan["gone"]):
            if not os.path.lexists(stage / "old" / name):
                (target / name).unlink(missing_ok=True)
