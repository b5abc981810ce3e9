"""A folder of results: what may be written where, so that nothing of a user's is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from armtwin.errors import ArmtwinError
from armtwin.files import opening
from armtwin.files.atomic import check_file, try_folder, write_folder
from armtwin.files.staging import MARK, Contents, naming_file, plain_name, real, recover
from armtwin.maths.batch import Record

RESULT = "result.json"


@dataclass(frozen=True)
class ResultFolder:
    """Where the result of a run goes.

    Attributes:
        folder: The folder.
        run: What makes a result this run's own: command, file and options; kept in result.json.
        names: Files that the run may write.
        inputs: Files that the run reads, which are never removed nor replaced.
        force: Whether a folder that holds other things may be written.
    """

    folder: Path
    run: Record
    names: Collection[str]
    inputs: Collection[Path]
    force: bool = False

    def path(self, name: str) -> Path:
        """Where a part of the result is written."""
        return self.folder / name

    def check(self) -> None:
        """Refuse a folder that must not or cannot be written, before any work is done."""
        folder = self.folder
        with naming_file(folder):
            if folder.is_symlink() and not folder.exists():
                raise ArmtwinError(f"{folder}: is a link to nowhere")
            if folder.exists() and not folder.is_dir():
                raise ArmtwinError(f"{folder}: is a file; choose another folder with --out")
            for parent in folder.absolute().parents:
                if parent.exists() and not parent.is_dir():
                    raise ArmtwinError(f"{folder}: cannot be written, {parent} is a file")
            recover(real(folder))
            self._claim()
            try_folder(folder)

    def write(self, result: Record, contents: Contents) -> Record:
        """Write result.json with the list of its files, and those; returns what result.json holds.

        What the folder holds of an older result is replaced, files of others are not touched.
        Whatever goes wrong on the way leaves the folder as it was.
        """
        complete = {**result, "run": self.run, "files": sorted([RESULT, *contents])}
        text = json.dumps(complete, allow_nan=False, indent=1)
        write_folder(self.folder, {RESULT: text, **contents}, self._claim)
        return complete

    def _claim(self) -> set[str]:
        """Names of the files of an older result, which may go; raises to refuse the folder."""
        if not self.folder.is_dir():
            return set()
        older = read_result(self.folder)
        files = None if older is None else list_result_files(older)
        gone = files or set()
        refuse_inputs((self.folder / name for name in {*gone, *self.names}), self.inputs)
        if not self.force:
            self._refuse_others(older, files)
        return gone

    def _refuse_others(self, older: Record | None, files: set[str] | None) -> None:
        """Refuse a folder that holds anything but a result of this very run and files beside it."""
        if older is None:
            if any(not path.name.startswith(MARK) for path in self.folder.iterdir()):
                raise ArmtwinError(
                    f"{self.folder}: holds files that are no result of armtwin; "
                    "choose another folder with --out, or use --force to add the results there"
                )
        elif files is None:
            raise ArmtwinError(
                f"{self.folder}: holds a {RESULT} that does not list its `files`, so what may be "
                "replaced is not known; choose another folder with --out, or use --force to write "
                "over files of the same names"
            )
        elif older.get("run") != self.run:
            raise ArmtwinError(
                f"{self.folder}: holds the result of another run ({_in_words(older.get('run'))}); "
                "choose another folder with --out, or use --force to replace it"
            )


def refuse_written(paths: Sequence[Path], inputs: Iterable[Path], *, force: bool) -> None:
    """Refuse files that cannot be written, that the run reads, or that exist, unless by force."""
    for path in paths:
        check_file(path)
        if os.path.lexists(path) and not force:
            raise ArmtwinError(
                f"{path}: exists already; use --force to replace it, or --out to choose another "
                "name"
            )
    refuse_inputs(paths, inputs)


def refuse_inputs(written: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse to remove or replace a file that the run reads."""
    read = [path for path in inputs if os.path.exists(path)]
    for target in written:
        if target.exists() and any(os.path.samefile(target, path) for path in read):
            raise ArmtwinError(
                f"{target}: is an input of this run and would be replaced; "
                "choose another place with --out"
            )


def read_result(folder: Path) -> Record | None:
    """What result.json of a folder holds, None if it holds no result of armtwin."""
    try:
        result = json.loads(opening.read_text(folder / RESULT, opening.RESULT))
    except (ArmtwinError, ValueError, RecursionError):
        return None
    ours = isinstance(result, dict) and "armtwin" in result and "format" in result
    return result if ours else None


def list_result_files(result: Record) -> set[str] | None:
    """Names of the files of a result, None if it does not list them."""
    names = result.get("files")
    if not isinstance(names, list) or not all(isinstance(x, str) for x in names):
        return None
    try:
        return {plain_name(name) for name in names}
    except ValueError:
        return None


def result_around(file: Path) -> Path | None:
    """The folder of the result that a file is part of, None if it is part of none."""
    folder = real(file).parent
    files = list_result_files(read_result(folder) or {})
    return folder if files is not None and file.name in files else None


def seen_from(folder: Path, file: str) -> str:
    """A file as seen from a folder, so that both can be moved together."""
    try:
        return Path(os.path.relpath(os.path.realpath(file), os.path.realpath(folder))).as_posix()
    except ValueError:  # another drive
        return Path(os.path.realpath(file)).as_posix()


def _in_words(run: object) -> str:
    if not isinstance(run, dict):
        return "unknown"
    words = [str(run.get("command")), str(run.get("file"))]
    options = run.get("options")
    if isinstance(options, dict):
        words += [f"{key} {value}" for key, value in options.items()]
    return " ".join(words)[:200]
