"""What a command writes and how it ends: the one path to a result, and the one writer of robots."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

import armtwin as at
from armtwin.app.options import Output
from armtwin.app.places import Source, files_of_log, result_folder
from armtwin.app.showing import Place, Shown, report_of, show_result
from armtwin.app.streams import print_json
from armtwin.errors import ArmtwinError
from armtwin.files.atomic import try_folder, write_files
from armtwin.files.staging import Content, Contents
from armtwin.maths.batch import Names, Record
from armtwin.report.folder import RESULT, refuse_written
from armtwin.report.page import to_html
from armtwin.report.result_file import to_result
from armtwin.robot.files import contents as robot_contents


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
        refuse_written(paths, self.inputs, force=self.force)

    def write(self, result: Record, contents: Contents) -> Record:
        """Write the result and its contents; returns what the result file holds."""
        files = [self.path(name).name for name in (RESULT, *contents)]
        complete = {**result, "files": sorted(files)}
        text = json.dumps(complete, allow_nan=False, indent=1)
        named: Contents = {self.path(RESULT).name: text}
        for name, content in contents.items():
            named[self.path(name).name] = content
        self._refuse_existing()  # files may have come while the work was done
        write_files(self.out.parent, named)
        return complete


REPORT, SHEET, LOG = "report.html", "sheet.html", "log.csv"
ROBOT = "robot.toml"
COVARIANCE = "robot.covariance.npz"  # of what ROBOT holds
FAILED = 1  # exit code of a result that did not come out well


def end_with_cautions(cautions: Names) -> None:
    """End a command that had something to caution of by exit code 1."""
    if cautions:
        raise typer.Exit(FAILED)


@dataclass(frozen=True)
class CommandRun:
    """A run of a command.

    Attributes:
        place: Where its results go.
        output: What is asked of them.
    """

    place: Place
    output: Output

    def finish(
        self,
        result: Shown,
        contents: Mapping[str, Content] | None = None,
        *,
        robot: at.Robot | None = None,
        passed: bool = True,
        before: Sequence[Path] = (),
    ) -> None:
        """Write the result, show it, and end the command.

        Args:
            result: The result.
            contents: Files that lie beside its report, by name.
            robot: The robot that was made of another; its covariance goes with it.
            passed: Whether it came out well; else the command ends with 1.
            before: Files that the command wrote before.
        """
        report = report_of(result)
        written = dict(contents or {})
        if robot is not None:
            written = robot_contents(robot.description, ROBOT) | written
        written[REPORT] = to_html(report)
        if self.output.sheet:
            written[SHEET] = to_html(report, sheet=True)
        kept = self.place.write(to_result(report), written)
        if self.output.json:
            print_json(kept)
        else:
            files = [self.place.path(name) for name in written if name != LOG]
            show_result(report, [*before, *files], self.output.full)
        if not passed:
            raise typer.Exit(FAILED)


def folder_run(
    source: Source, output: Output, inputs: Collection[Path], writes: Iterable[str] = ()
) -> CommandRun:
    """A run that writes a folder, which is checked before any work is done.

    Args:
        source: What it is a run of.
        output: What is asked of its results.
        inputs: Files that it reads.
        writes: Names of files beside result and report.
    """
    names = (RESULT, REPORT, SHEET, *writes)
    return CommandRun(result_folder(source, output, inputs, names), output)


def robot_run(
    command: str,
    prior: at.Robot,
    output: Output,
    inputs: Collection[Path],
    writes: Iterable[str] = (),
) -> CommandRun:
    """A run that makes a robot of another; its place is checked before any work is done.

    Args:
        command: The command.
        prior: The robot that it begins with.
        output: What is asked of its results.
        inputs: Files that it reads.
        writes: Names of files beside robot, result and report.
    """
    names = (ROBOT, COVARIANCE, *writes)
    if output.out is None:
        return folder_run(Source(command, prior.name, prior.origin), output, inputs, names)
    place = ResultBeside(output.out, ROBOT, (*names, RESULT, REPORT, SHEET), inputs, output.force)
    place.check()
    return CommandRun(place, output)


def inputs_of(robot: str, logs: Iterable[Path | None], columns: Path | None) -> list[Path]:
    """The files of a run: the robot's own, those of its logs, and their columns files."""
    inputs = [Path(robot)]
    for log in logs:
        if log is not None:
            inputs += files_of_log(log, columns)
    return inputs


def read_logs(paths: Iterable[Path], columns: Path | None) -> list[at.Log]:
    """Logs of files."""
    return [at.Log.read(path, columns) for path in paths]
