"""The options of the command line, each declared once, and groups of them that belong together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer
from typer.models import ParameterInfo

import armtwin as at
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Record
from armtwin.maths.units import Unit
from armtwin.programs.table import find_format
from armtwin.robot.schema.mounting import gravity_of, read_gravity

USUAL = "usual"  # where an option keeps its default
BARE = "+-.0123456789eE"  # characters of a number without a unit


# how the text of an option is read


def output_path(text: str) -> Path:
    """The path that --out gives."""
    if not text.strip():
        raise ArmtwinError("--out must name a file or folder, got nothing")
    if "\0" in text:
        raise ArmtwinError("--out must be a path without null characters")
    return Path(text)


def read_quantity(option: str, text: str, unit: Unit) -> float:
    """The quantity that an option gives, which is to blame for it."""
    try:
        return unit.read_word(text)
    except ArmtwinError as error:
        raise ArmtwinError(f"{option} {error}") from None


def read_quantities(option: str, text: str, units: Sequence[Unit]) -> list[float]:
    """A quantity for each unit; a unit after the last holds for those without one."""
    words = [word.strip() for word in text.split(",")]
    if len(words) != len(units):
        raise ArmtwinError(f"{option} must have {len(units)} numbers, got {len(words)}: {text}")
    common = words[-1].lstrip(BARE).strip()
    values = []
    for word, unit in zip(words, units, strict=True):
        bare = not word.lstrip(BARE).strip()
        values.append(read_quantity(option, f"{word} {common}" if bare else word, unit))
    return values


def _with_default(info: ParameterInfo, default: object) -> Any:
    """An argument or option with the value that it has where it is not given."""
    vars(info)[USUAL] = default
    return info


def argument(metavar: str, about: str, default: object = ...) -> Any:
    """What a command is of, by its place; it must be given where it has no default."""
    return _with_default(typer.Argument(metavar=metavar, help=about), default)


def option(*words: str, default: object = None) -> Any:
    """An option that takes a value.

    Args:
        *words: What it is called, where it is not called as its parameter; the word for its value,
            where that is not one of a few; and what it does.
        default: Its value where it is not given; an ellipsis where it must be.
    """
    *names, about = words
    metavar = names.pop() if names else None
    return _with_default(typer.Option(*names, metavar=metavar, help=about), default)


def flag(name: str, about: str, default: object = False) -> Any:
    """An option that is given or not, or that lists what it takes."""
    return _with_default(typer.Option(name, help=about), default)


def output_place(about: str) -> Any:
    """The option --out, which takes a path."""
    return typer.Option("--out", parser=output_path, metavar="PATH", help=about)


def quantity(name: str, unit: str | Unit, about: str, default: float | None = None) -> Any:
    """An option that takes a number with a unit, by default one above 0."""
    kind = Unit(unit, above=0) if isinstance(unit, str) else unit

    def read(text: str | float) -> float:
        return text if isinstance(text, float) else read_quantity(name, text, kind)

    return _with_default(typer.Option(name, parser=read, metavar="QUANTITY", help=about), default)


def words_of_list(option: str, text: str) -> list[str]:
    """The words of an option that may name several, separated by commas."""
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise ArmtwinError(f"{option} must name one, or several separated by commas, got '{text}'")
    return words


# what is read

RobotFile = Annotated[str, argument("ROBOT", "A shipped robot, or a robot file (.toml, .urdf).")]
JobFile = Annotated[str, argument("JOB", "A shipped job, a job file (.toml), or a robot program.")]
LogFile = Annotated[Path, argument("LOG", "A log, in any layout that check names.")]
LogFiles = Annotated[list[Path], argument("LOG", "Logs, in any layout that check names.")]
ShippedName = Annotated[str | None, argument("NAME", "One of them, or a file of that kind.")]
Columns = Annotated[Path | None, option("--columns", "FILE", "Columns file of the logs.")]
Validate = Annotated[Path | None, option("--validate", "LOG", "A log that the fit does not see.")]
Torque = Annotated[
    str | None, option("--torque", "COLUMN", "Column of the torque, as tau_m or current.")
]
Cutoff = Annotated[float | None, quantity("--cutoff", "Hz", 'Cut-off of the filter, as "60 Hz".')]
Period = Annotated[float | None, quantity("--period", "s", 'Period of the motion, as "8 s".')]
Joint = Annotated[int | None, option("--joint", "NUMBER", "One joint, where the log has several.")]

# how the robot is mounted, and what it carries

Gravity = Annotated[
    str | None, option("--gravity", "VECTOR", 'Gravity in the base frame, as "0 0 -9.81" (m/s²).')
]
Mounting = Annotated[
    str | None,
    option(
        "--mounting",
        "HOW",
        'floor, wall, ceiling, or an angle about the base\'s y axis, as "30 deg", or about '
        'another, as "30 deg about x".',
    ),
]
Tool = Annotated[str | None, option("--tool", "NAME", "Tool of the robot's file that it carries.")]
Payload = Annotated[
    str | None, option("--payload", "NAME", "Payload of the robot's file that it carries.")
]

# what of a job is another

OtherRobot = Annotated[
    str | None,
    option("--robot", "ROBOT", "Another robot than the job's; predict takes several, A,B."),
]
OtherTool = Annotated[str | None, option("--tool", "NAME", "Another tool than the job's.")]
OtherServo = Annotated[
    str | None,
    option("--servo", "NAME", "Another servo than the job's, or than the robot's fitted one."),
]
OtherSpeed = Annotated[
    str | None,
    option(
        "--speed",
        "QUANTITY",
        'Another tool speed, as "100 mm/s"; predict takes several, "100, 200, 300 mm/s".',
    ),
]
Tolerance = Annotated[
    float | None,
    quantity("--tolerance", "m", 'Of a robot program: lateral and vertical, as "0.1 mm".'),
]
Frames = Annotated[
    Path | None,
    option("--frames", "FILE", "Of a robot program: frames, tools and values that it has not."),
]
Stretch = Annotated[
    int | None, option("--stretch", "NUMBER", "Of a robot program: which, as check lists them.")
]
HowSimulated = Literal["nonlinear", "perturbation"]
Method = Annotated[HowSimulated, typer.Option(help="How the arm is simulated.")]

# where results go

Out = Annotated[
    Path | None,
    output_place(
        "Folder for the results, by default in armtwin_out; of a command that writes a robot, its "
        "file (.toml)."
    ),
]
OutFile = Annotated[
    Path | None,
    output_place("File to write; by default one in this folder, named after the robot."),
]
Json = Annotated[bool, flag("--json", "Print the result as one JSON object.")]
Force = Annotated[bool, flag("--force", "Replace existing files.")]
Full = Annotated[bool, flag("--full", "Print all tables, not the answer alone.")]
Sheet = Annotated[bool, flag("--sheet", "Also write sheet.html: one page to print and sign.")]


def on_base(robot: at.Robot, gravity: str | None, mounting: str | None, command: str) -> at.Robot:
    """A robot mounted as a command is given it, else as its file says."""
    if gravity is not None and mounting is not None:
        raise ArmtwinError("--gravity and --mounting say the same; give one of them")
    source = f"measured: as given to {command}"
    try:
        if gravity is not None:
            return robot.with_gravity(read_gravity(gravity), source)
        if mounting is not None:
            return robot.with_gravity(gravity_of(mounting), source)
    except ArmtwinError as error:
        raise ArmtwinError(f"--{error}") from None
    return robot


@dataclass(frozen=True)
class Output:
    """What is asked of the results of a command.

    Attributes:
        out: The folder, or the robot file, asked for.
        json: Whether they are printed as JSON.
        force: Whether existing files may be replaced.
        full: Whether all tables are printed.
        sheet: Whether the answer is written as one page to sign.
    """

    out: Out = None
    json: Json = False
    force: Force = False
    full: Full = False
    sheet: Sheet = False


@dataclass(frozen=True)
class FileOutput:
    """What is asked of the one file that a command writes."""

    out: OutFile = None
    json: Json = False
    force: Force = False


@dataclass(frozen=True)
class Carried:
    """What a robot carries; "" takes it off."""

    tool: Tool = None
    payload: Payload = None

    def by(self, robot: at.Robot | str | Path) -> at.Robot:
        """The robot with it, as its file has it where nothing is asked for."""
        if not isinstance(robot, at.Robot):
            robot = at.Robot.load(robot)
        if self.tool is not None:
            robot = robot.with_tool(self.tool or None)
        if self.payload is not None:
            robot = robot.with_payload(self.payload or None)
        return robot


@dataclass(frozen=True)
class Installation:
    """How a robot stands, and what it carries."""

    mounting: Mounting = None
    tool: Tool = None
    payload: Payload = None

    def by(self, robot: str, command: str) -> at.Robot:
        """The robot of a file so, as a command is given it."""
        carrying = Carried(self.tool, self.payload).by(robot)
        return on_base(carrying, None, self.mounting, command)


@dataclass(frozen=True)
class Changes:
    """What the command line changes of a job."""

    robot: OtherRobot = None
    tool: OtherTool = None
    servo: OtherServo = None
    speed: OtherSpeed = None
    tolerance: Tolerance = None
    frames: Frames = None
    stretch: Stretch = None

    def load(self, name: str) -> at.Job:
        """A job by its name or file, or of a robot program with what is given for it."""
        if find_format(Path(name)) is None:
            for key in ("tolerance", "frames", "stretch"):
                if getattr(self, key) is not None:
                    raise ArmtwinError(f"--{key} is for a robot program, but '{name}' is none")
            return at.Job.load(name)
        for key in ("robot", "tolerance"):
            if getattr(self, key) is None:
                raise ArmtwinError(f"{name}: a robot program needs --{key}")
        robot = Carried(self.tool).by(words_of_list("--robot", self.robot or "")[0])
        return at.Job.from_program(
            name,
            robot,
            tolerance=self.tolerance,
            frames=self.frames,
            stretch=self.stretch,
            speed=self.speed,
        )


def drop_unset(options: Mapping[str, Any]) -> Record:
    """The options that were given."""
    return {key: value for key, value in options.items() if value is not None}


Command = Callable[..., None]


def command_of(group: typer.Typer, name: str | None = None) -> Callable[[Command], Command]:
    """Make a function a command of a group; its first line is the help in the group's list."""

    def add(command: Command) -> Command:
        line = (command.__doc__ or "").partition("\n")[0]
        group.command(name, short_help=line)(_ungroup_options(command))
        return command

    return add


def _ungroup_options(command: Command) -> Command:
    """The command as the command line has it: each group of options one by one."""
    groups: Record = {}
    parameters = []
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in signature(command).parameters.items():
        kind = hints[name]
        if not is_dataclass(kind):
            parameters.append(_option(name, parameter.default, kind))
            continue
        groups[name] = kind
        own = get_type_hints(kind, include_extras=True)
        parameters += [_option(f.name, f.default, own[f.name]) for f in fields(kind)]

    @wraps(command)
    def run(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{f.name: given.pop(f.name) for f in fields(kind)})
        command(**given)

    vars(run).pop("__wrapped__")
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    vars(run)["__signature__"] = Signature(parameters)
    return run


def _option(name: str, default: object, annotation: Any) -> Parameter:
    if isinstance(default, ParameterInfo):
        annotation, default = Annotated[annotation, default], vars(default)[USUAL]
        default = Parameter.empty if default is ... else default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
