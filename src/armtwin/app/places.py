"""Where results go: the folder asked for, or one named after the run's file and options."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from armtwin.app.options import HowSimulated, Output
from armtwin.files.names import safe_name
from armtwin.files.opening import PROGRAM, read_bytes
from armtwin.files.reading import read_tables
from armtwin.files.staging import Contents
from armtwin.jobs import experiment, files as job_files
from armtwin.jobs.job import Job, ProgramSource
from armtwin.logs.columns import columns_beside
from armtwin.maths.batch import Names, Record
from armtwin.prediction.compare_interval import Offsets
from armtwin.report.folder import ResultFolder, result_around, seen_from
from armtwin.robot import files as robot_files
from armtwin.robot.robot import Robot

ROOT = Path("armtwin_out")
ROBOT_ENDINGS = (".urdf", ".xacro", ".xml")
ROBOT_KEYS = {"joint", "link"}  # that a robot file has and a job file has not
EXPERIMENT_KEYS = {"setup", "setpoint"}  # that only an experiment's file has
SWEEP_KEYS = {"axis", "jobs"}  # that only a sweep's file has
# what the folder's name of a command ends in, where that is not the command's last word
SUFFIXES = {
    "predict": "",
    "compare": "_compared",
    "identify": "_identified",
    "complete": "_completed",
    "analyse": "_analysed",
    "correct": "_corrected",
    "simulate": "_simulated",
    "excite": "_excitation",
    "clamp": "_clamped",
    "sweep": "_swept",
    "friction curves": "_friction",
    "friction shapes": "_friction_shapes",
    "friction load": "_friction_load",
}


@dataclass(frozen=True)
class Source:
    """What a run is of: a command, a file with its name, options that are not the file's.

    Attributes:
        command: The command.
        name: Name of the job or robot.
        file: Its file.
        options: What the command line changes, for result.json.
        words: The same in words for the name of a folder.
    """

    command: str
    name: str
    file: str
    options: Record = field(default_factory=dict)
    words: Names = ()

    def folder(self, suffix: str) -> Path:
        """The folder of its own; a file that is part of a result has another than that result."""
        around = result_around(Path(self.file)) if self.file else None
        name = self.name if around is None else f"{around.name}_{Path(self.file).stem}"
        words = "_".join([name, *self.words])
        return ROOT / (safe_name(words, self.command) + suffix)

    def run_in(self, folder: Path) -> Record:
        """What result.json keeps of it, the same for the same file wherever one stands."""
        options = {}
        for key, value in self.options.items():
            if isinstance(value, list):
                options[key] = [_from_folder(item, folder) for item in value]
            else:
                options[key] = _from_folder(value, folder)
        file = _name_if_shipped(self.file) or seen_from(folder, self.file)
        return {"command": self.command, "file": file, "options": options}


def _name_if_shipped(file: str) -> str:
    """The name of a file that comes with the package; "" for any other."""
    known = (
        *job_files.list_shipped().values(),
        *robot_files.list_shipped().values(),
        *experiment.list_shipped().values(),
    )
    return Path(file).stem if Path(file) in known else ""


def _from_folder(value: object, folder: Path) -> Any:
    """The value of an option; a file as seen from a folder, or by its shipped name."""
    if not isinstance(value, str) or not Path(value).is_file():
        return value
    return _name_if_shipped(value) or seen_from(folder, value)


def words_of(options: Record) -> Names:
    """Options in words for the name of a folder, so that other options have another folder."""
    words = []
    for key, value in options.items():
        text = f"{value:.10g}" if isinstance(value, float) else str(value)
        is_file = Path(text).suffix in (".toml", ".csv", ".gz", ".npz")
        words += [key, " ".join(Path(text).parts[-2:]) if is_file else text]
    return tuple(words)


def of_job(command: str, asked: Job, chosen: Job, method: str) -> Source:
    """The source of a job's run, with what differs from the job's file."""
    had, has = asked.description, chosen.description
    servo = has.model.servo
    options: Record = {}
    words = []
    for key, before, now, word in (
        ("speed_m_s", had.speed, has.speed, f"{1e3 * has.speed:.10g}mm_s"),
        ("robot", had.robot, has.robot, Path(has.robot).stem),
        ("tool", had.tool, has.tool, has.tool or "no_tool"),
        ("servo", had.model.servo, servo, servo),
        ("method", "nonlinear", method, method),
    ):
        if now != before:
            options[key] = now
            words.append(word)
    return Source(command, asked.name, asked.origin, options, tuple(words))


def of_jobs(asked: Sequence[Job], chosen: Sequence[Job], method: str) -> Source:
    """The source of several runs side by side."""
    files = [job.origin for job in asked]
    speeds = list(dict.fromkeys(job.description.speed for job in chosen))
    robots = list(dict.fromkeys(job.description.robot for job in chosen))
    first = chosen[0].description
    options: Record = {"jobs": files, "speeds_m_s": speeds, "robots": robots}
    options |= {"tool": first.tool, "servo": first.model.servo, "method": method}
    words = [job.name for job in asked[1:]]
    if len(robots) > 1:
        words += [Path(robot).stem for robot in robots]
    if len(speeds) > 1:
        words += [f"{1e3 * speed:.10g}" for speed in speeds]
        words[-1] += "mm_s"
    words.append("side_by_side")
    return Source("predict", asked[0].name, asked[0].origin, options, tuple(words))


class ReferenceOptions(NamedTuple):
    """How a twin is run on a log's own reference."""

    servo: str | None
    offsets: Offsets
    method: HowSimulated


def of_log(robot: Robot, log: Path, asked: ReferenceOptions) -> Source:
    """The source of a robot's run on a log's own reference."""
    mounted = robot.description.mounted
    options: Record = {"log": str(log)}
    words = [log.name.partition(".")[0]]
    chosen = {"tool": mounted.tool, "payload": mounted.payload, "servo": asked.servo or ""}
    for key, name in chosen.items():
        if name:
            options[key] = name
            words.append(name)
    usual = {"offsets": "mean", "method": "nonlinear"}
    for key, default in usual.items():
        value = getattr(asked, key)
        if value != default:
            options[key] = value
            words.append(value)
    return Source("compare", robot.name, robot.origin, options, tuple(words))


def is_job(name: str) -> bool:
    """Whether a name on the command line is a job's, shipped or a file; else it is a robot's."""
    if name in job_files.list_shipped():
        return True
    if name in robot_files.list_shipped() or name.endswith(ROBOT_ENDINGS):
        return False
    # a name that is neither is refused as a job
    return not name.endswith(".toml") or not set(read_tables(Path(name))) & ROBOT_KEYS


def is_experiment(name: str) -> bool:
    """Whether a name on the command line is an experiment's, shipped or a file."""
    return name in experiment.list_shipped() or _has_keys(name, EXPERIMENT_KEYS)


def is_sweep(name: str) -> bool:
    """Whether a name is a sweep file."""
    return _has_keys(name, SWEEP_KEYS)


def _has_keys(name: str, keys: set[str]) -> bool:
    """Whether a name is that of a TOML file with one of some keys."""
    if not name.endswith(".toml") or not Path(name).is_file():
        return False
    return bool(set(read_tables(Path(name))) & keys)


def result_folder(
    source: Source, output: Output, inputs: Collection[Path], names: Collection[str]
) -> ResultFolder:
    """The folder of a run, checked before any work is done."""
    suffix = SUFFIXES.get(source.command, f"_{source.command.split()[-1]}")
    folder = source.folder(suffix) if output.out is None else output.out
    place = ResultFolder(folder, source.run_in(folder), names, inputs, output.force)
    place.check()
    return place


def written_files(program: ProgramSource | None, how: str, text: str) -> Contents:
    """A program as it is written again, named after its own, and the data file beside it."""
    if program is None:
        return {}
    path = program.read.path
    found: Contents = {f"{path.stem}_{how}{path.suffix}": text.encode(program.read.encoding)}
    data = path.with_suffix(".dat")
    if data != path and data.is_file():
        found[f"{path.stem}_{how}.dat"] = read_bytes(data, PROGRAM)
    return found


def files_of_job(job: Job) -> list[Path]:
    """The files that a job is read from: its own, and those it names."""
    beside = Path(job.origin).parent
    named = job_files.list_named(job.description)
    return [Path(job.origin), Path(named[0]), *(beside / name for name in named)]


def files_of_log(log: Path, columns: Path | None) -> list[Path]:
    """The files that a log is read from: its own, and its columns file."""
    return [log, *(columns_beside(log) if columns is None else [columns])]
