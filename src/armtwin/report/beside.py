"""Results beside a file that was asked for: NAME.toml, NAME.report.html, NAME.result.json."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from armtwin.errors import ArmtwinError
from armtwin.files.atomic import check_file, try_folder, write_files
from armtwin.files.disk import Content
from armtwin.notebook.sections import Record
from armtwin.report.folder import RESULT, refuse_inputs


@dataclass(frozen=True)
class ResultBeside:
    """Where the result of a run goes when its main file is named.

    Attributes:
        out: The file that was asked for.
        main: Its name among the contents of the result.
        names: Names of all contents.
        inputs: Files that the run reads, which are never replaced.
        force: Whether files that exist may be replaced.
    """

    out: Path
    main: str
    names: Collection[str]
    inputs: Collection[Path]
    force: bool = False

    def path(self, name: str) -> Path:
        """Where a part of the result is written."""
        if name == self.main:
            return self.out
        # what is named after the main file is named after it wherever it goes
        ending = name.removeprefix(f"{Path(self.main).stem}.")
        return self.out.with_name(f"{self.out.stem}.{ending}")

    def check(self) -> None:
        """Refuse what must not be replaced or cannot be written, before any work is done."""
        if self.out.suffix != Path(self.main).suffix:
            kind = "robot file" if self.main == "robot.toml" else "file"
            ending = Path(self.main).suffix
            raise ArmtwinError(f"--out must be a {kind} that ends in {ending}, got {self.out}")
        if not self.out.parent.is_dir():
            raise ArmtwinError(f"{self.out.parent}: there is no such folder")
        self._refuse_existing()
        try_folder(self.out.parent)

    def _refuse_existing(self) -> None:
        paths = [self.path(name) for name in self.names]
        for path in paths:
            check_file(path)
            if os.path.lexists(path) and not self.force:
                raise ArmtwinError(
                    f"{path} exists already; use --force to replace it, "
                    "or --out to choose another name"
                )
        refuse_inputs(paths, self.inputs)

    def write(self, result: Record, contents: dict[str, Content]) -> Record:
        """Write the result and its contents; returns what the result file holds."""
        files = [self.path(name).name for name in (RESULT, *contents)]
        complete = {**result, "files": sorted(files)}
        text = json.dumps(complete, allow_nan=False, indent=1)
        named: dict[str, Content] = {self.path(RESULT).name: text}
        for name, content in contents.items():
            named[self.path(name).name] = content
        self._refuse_existing()  # files may have come while the work was done
        write_files(self.out.parent, named)
        return complete
