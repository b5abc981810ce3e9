"""What the page is of: a job, a program or a robot, by its name or file or as the page sent it."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from armtwin.app.job_commands import change_job
from armtwin.app.options import Changes, drop_unset
from armtwin.app.places import is_job
from armtwin.app.studio.controls import Settings
from armtwin.errors import ArmtwinError
from armtwin.files.kinds import KEYS, SUFFIXES
from armtwin.files.reading import read_tables
from armtwin.jobs.from_points import read_quantity
from armtwin.jobs.groups import Deviation
from armtwin.jobs.job import Job
from armtwin.maths.batch import Record
from armtwin.prediction.predict import plan_job, refuse_incomplete
from armtwin.programs.table import find_format
from armtwin.robot.robot import Robot

SENT = "sent:"  # before the name of a file that the page has sent
GROUP = re.compile(r"[a-z0-9]{1,20}")
LARGEST_FILE, LARGEST_ALL = 64 << 20, 512 << 20  # bytes that the page may send
TRIED = ((0.55, 0.25), (0.45, 0.1), (0.65, 0.4), (0.4, 0.5), (0.5, -0.1))  # of the reach: x, z
LINE = 0.35  # length of a trial line over the reach
OF_PROGRAMS = ("robot", "tolerance", "frames", "stretch", "speed")  # that a program is read with
SPEED, TOLERANCE = "100 mm/s", "0.2 mm"  # of a trial line


@dataclass(frozen=True)
class Opening:
    """What is opened: a name or file, and what the command line would change of it."""

    name: str
    changes: Record = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Opened:
    """A job that was opened.

    Attributes:
        source: As what.
        plain: The job as its file has it.
        settings: The job as opened, and its controls.
        python: Python that makes the plain job.
    """

    source: Opening
    plain: Job
    settings: Settings
    python: str

    @property
    def job(self) -> Job:
        """The job as it was opened."""
        return self.settings.job


class SentFiles:
    """Files that the page has sent, in a private folder that goes with the server."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="armtwin-studio-")).resolve()
        self._size = 0

    def remove(self) -> None:
        """Remove them all."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def keep(self, group: str, name: str, content: bytes) -> Record:
        """Keep a file beside those of its group: what it is called then, and what it is."""
        self._size += len(content)
        if self._size > LARGEST_ALL:
            raise ArmtwinError(
                f"'{name}': files of this studio may have {LARGEST_ALL >> 20} MB in all; start it "
                "again, or open the file by its path"
            )
        path = self._place(f"{group}/{name}")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return {"name": f"{SENT}{group}/{name}", "kind": kind_of(path)}

    def _place(self, text: str) -> Path:
        """The place of a sent file; names that lead elsewhere are refused."""
        group, _, name = text.partition("/")
        is_plain = name == Path(name).name and "\\" not in name and "\0" not in name
        if not GROUP.fullmatch(group) or not is_plain or name in ("", ".", ".."):
            raise ArmtwinError(f"'{text[:80]}' is not the name of a file")
        return self.folder / group / name

    def path(self, name: str) -> Path:
        """Where a file is, by its path or as it was sent."""
        if not name.startswith(SENT):
            return Path(name)
        path = self._place(name.removeprefix(SENT))
        if not path.is_file():
            raise ArmtwinError(f"'{path.name}' is not here any more: open it again")
        return path

    def holds(self, path: str) -> bool:
        """Whether a file lies among them."""
        return Path(path).resolve().is_relative_to(self.folder)


def kind_of(path: Path) -> str:
    """What a file is, by its ending and its words: job, program, robot or log; "" for others."""
    if find_format(path) is not None:
        return "program"
    if path.suffix == ".toml":
        keys = set(read_tables(path))
        return next((kind for kind, own in KEYS.items() if keys & own), "")
    return SUFFIXES.get(path.suffix, "log")


def open_source(source: Opening, files: SentFiles) -> Opened:
    """Open a job, a program or a robot."""
    name = str(files.path(source.name))
    unknown = set(source.changes) - set(Changes.__dataclass_fields__)
    if unknown:
        raise ArmtwinError(f"'{min(unknown)}' cannot be changed of {source.name}")
    asked = read_changes(source.changes, files)
    if find_format(Path(name)) is None and not is_job(name):
        plain, python = trial_line(Robot.load(name), asked.tool)
        job = change_job(plain, replace(asked, tool=None))
    else:
        plain = asked.load(name)
        python = f"at.Job.load({name!r})"
        if plain.source is not None:  # read with all of these
            asked = replace(asked, robot=None, tool=None, speed=None)
            python = f"at.Job.from_program({name!r}{_arguments(source.changes)})"
        job = change_job(plain, asked)
    refuse_incomplete(job.robot(), job)
    return Opened(source, plain, Settings(job), python)


def read_changes(given: Mapping[str, object], files: SentFiles) -> Changes:
    """What of a job is another, from the texts of the page or of the command line."""
    read: Record = drop_unset(given)
    if "robot" in read:
        read["robot"] = str(files.path(str(read["robot"])))
    if "frames" in read:
        read["frames"] = files.path(str(read["frames"]))
    if "tolerance" in read:
        read["tolerance"] = read_quantity("tolerance", Deviation, read["tolerance"])
    return Changes(**read)


def _arguments(changes: Record) -> str:
    """Arguments of `Job.from_program` after the file."""
    names = [name for name in OF_PROGRAMS if name in changes]
    return "".join(f", {name}={changes[name]!r}" for name in names)


def trial_line(robot: Robot, tool: str | None) -> tuple[Job, str]:
    """A straight line in front of a robot, the first of some that it can run, and its Python."""
    own = robot.description
    chosen = tool or own.mounted.tool or next(iter(own.tool), "")
    robot = robot.with_tool(chosen or None)
    reach = float(np.abs(robot.forward_kinematics(np.zeros(robot.n))[:3, 3]).sum())
    side = round(0.5 * LINE * reach, 3)
    refused = ""
    for far, high in TRIED:
        x, z = round(reach * far, 3), round(reach * high, 3)
        start, end = (x, -side, z), (x, side, z)
        try:
            job = Job.line(robot, start, end, speed=SPEED, tolerance=TOLERANCE, name="trial line")
            plan_job(job, None, lambda what, share: None)
        except ArmtwinError as error:
            refused = refused or str(error)
            continue
        loaded = f"at.Robot.load({robot.origin!r}).with_tool({chosen or None!r})"
        law = f"speed={SPEED!r}, tolerance={TOLERANCE!r}, name='trial line'"
        return job, f"at.Job.line({loaded}, {start}, {end}, {law})"
    raise ArmtwinError(f"robot '{robot.name}': no line in front of it can be run: {refused}")
