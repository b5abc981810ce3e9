"""The command `armtwin`: reads arguments, prints, and turns errors into exit codes."""

import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import armtwin as at
from armtwin import ArmtwinError, Job, Log, Robot, __version__
from armtwin.app import options as opt
from armtwin.app.export_commands import free
from armtwin.app.places import is_experiment, is_sweep
from armtwin.app.robots import on_base
from armtwin.app.run import FAILED
from armtwin.app.showing import describe, print_json
from armtwin.app.streams import patient_streams, readable_streams
from armtwin.files.reading import read_tables
from armtwin.jobs import files as job_files
from armtwin.jobs.experiment import Experiment
from armtwin.logs.formats.table import FORMATS, find_format
from armtwin.maths.batch import Names
from armtwin.maths.compiled import before_compiling, take_remark
from armtwin.prediction.job_check import JobCheck
from armtwin.prediction.predict import refuse_incomplete
from armtwin.report.result import Result

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # brackets in help texts are brackets
    context_settings={"max_content_width": 110},
    help="The dynamic twin of an industrial robot arm.",
)
# The commands, and groups of them, as MODULE.NAME of this package, in the order of the help.
COMMANDS = (
    "export_commands.export",
    "export_commands.log",
    "actuator_commands.actuator",
    "friction_commands.friction",
    "job_commands.demo",
    "job_commands.predict",
    "job_commands.compare",
    "job_commands.jobs",
    "job_command.job",
    "identify_command.identify",
    "complete_command.complete",
    "servo_command.servo",
    "analyse_command.analyse",
    "correct_command.correct",
    "excite_command.excite",
    "payload_command.payload",
    "experiment_commands.simulate",
    "experiment_commands.experiments",
    "experiment_commands.clamp",
    "experiment_commands.transmission",
    "calibrate_command.calibrate",
    "frequency_command.frequency",
    "sensitivity_command.sensitivity",
    "sweep_command.sweep",
    "friction_commands.warmup",
)
for place in COMMANDS:
    module, _, name = place.partition(".")
    command = getattr(import_module(f"armtwin.app.{module}"), name)
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        opt.command_of(app)(command)

BAD_INPUT, UNEXPECTED, INTERRUPTED = 2, 3, 130  # exit codes; 130 is that of a shell after Ctrl-C
STOPS = {"SIGTERM": 143, "SIGHUP": 129}  # signals that stop a command, and those of a shell then
WrongUse: Any = typer.BadParameter.__base__  # every error of arguments and options


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"armtwin {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""


@opt.command_of(app)
def robots(name: opt.ShippedName = None, json: opt.Json = False) -> None:
    """List the shipped robots, or show one of them."""
    if name is None:
        describe(at.robots(), json)
    else:
        describe(Robot.load(name).sections(sources=False), json)


@opt.command_of(app)
def check(
    file: Annotated[
        str,
        opt.argument(
            "FILE",
            "A robot (.toml, .urdf, shipped), job or experiment (.toml, shipped), sweep, log "
            "or bag.",
        ),
    ],
    robot: Annotated[
        str | None,
        opt.option(
            "--robot", "ROBOT", "Of a log: the robot whose limits and weight it should fit."
        ),
    ] = None,
    columns: opt.Columns = None,
    json: opt.Json = False,
) -> None:
    """Say what is in a file, what is measured, public, assumed, missing; nothing is run.

    Exit code 1: a mistake would explain what a robot, a job or a log of --robot says.
    """
    found = _contents(file, robot, columns)
    describe(found, json)
    _end(getattr(found, "cautions", ()))


def _end(cautions: Names) -> None:
    """End a command that had something to caution of by exit code 1."""
    if cautions:
        raise typer.Exit(FAILED)


def _contents(file: str, robot: str | None, columns: Path | None) -> Result:
    """What is in a file, of a log beside a robot where one is named."""
    from armtwin.identification.plausibility.log_check import LogCheck
    from armtwin.sweeps.sweep import Sweep

    if _is_log(file):
        log = _read_log(file, columns)
        return log if robot is None else LogCheck(log, Robot.load(robot))
    if robot is not None or columns is not None:
        given = "--columns" if robot is None else "--robot"
        raise ArmtwinError(f"{given} is for a log, but '{file}' is none")
    if is_sweep(file):
        return Sweep.load(file)
    if is_experiment(file):
        return Experiment.load(file)
    keys = set(read_tables(Path(file))) if file.endswith(".toml") else set()
    if file in job_files.list_shipped() or keys & {"segment", "robot", "speed"}:
        job = Job.load(file)
        _refuse_unknown_servo(job)
        return JobCheck(job)
    return Robot.load(file)


def _is_log(file: str) -> bool:
    """Whether a name is that of a log: all that is there and is no robot, job or table of TOML."""
    if file.endswith((".toml", ".urdf", ".xacro")):
        return False
    if os.path.isfile(file) and not file.endswith(".xml"):
        return True
    return find_format(Path(file)) is not None


def _read_log(file: str, columns: Path | None) -> Log:
    """The log of a file; what no format recognises is said to be no log that can be read."""
    known = find_format(Path(file))
    try:
        return Log.read(file, columns)
    except ArmtwinError as error:
        if known is not None:
            raise
        names = ", ".join(one.name for one in FORMATS)
        sentence = f"is a log that cannot be read: it is none of {names}"
        raise ArmtwinError(f"{file}: {sentence}. As CSV: {error}") from None


def _refuse_unknown_servo(job: Job) -> None:
    """Refuse a job that names another servo than its robot has, as a prediction would."""
    robot = job.robot()
    if robot.description.servo and job.description.model.servo not in robot.description.servo:
        refuse_incomplete(robot, job)


@opt.command_of(app, "import")
def import_robot(
    file: Annotated[
        Path, opt.argument("FILE", "A URDF file, or a Denavit-Hartenberg table (.csv).")
    ],
    kind: Annotated[
        Literal["urdf", "dh"] | None,
        opt.flag("--as", "What the file is; by default what its ending says."),
    ] = None,
    convention: Annotated[
        Literal["standard", "modified"], typer.Option(help="Of a Denavit-Hartenberg table.")
    ] = "standard",
    allow_unphysical: Annotated[
        bool, opt.flag("--allow-unphysical", "Keep bodies that cannot exist, marked so.")
    ] = False,
    tip: Annotated[
        str,
        opt.option(
            "--tip", "LINK", "Of a URDF: last link of the chain that is wanted, as of one arm."
        ),
    ] = "",
    gravity: opt.Gravity = None,
    mounting: opt.Mounting = None,
    *,
    output: opt.FileOutput,
) -> None:
    """Make a robot file from a URDF file or a Denavit-Hartenberg table.

    Exit code 1: done, but a mistake would explain what the file says.
    """
    if kind is None:
        kind = "dh" if file.suffix == ".csv" else "urdf"
    if kind == "dh" and tip:
        raise ArmtwinError("--tip chooses a chain of a URDF; a table has one")
    if kind == "dh":
        found = Robot.from_dh(file, convention)
    elif file.suffix in {".urdf", ".xml", ".xacro"}:
        found = Robot.load(file, allow_unphysical=allow_unphysical, tip=tip)
    else:
        raise ArmtwinError(f"{file}: import reads URDF files (.urdf) and, --as dh, tables (.csv)")
    robot = on_base(found, gravity, mounting, "import")
    target = free(robot, ".toml", output, file)
    robot.save(target)
    describe(robot.sections(sources=False), output.json, [target])
    _end(robot.cautions)


def main() -> None:
    """Run the command line: 0 or 1 done, 2 bad input with one clear message, 3 an error of ours."""
    readable_streams()
    with patient_streams(), _stopping_in_order():
        remark = take_remark()
        if remark and sys.stderr is not None:
            print(f"armtwin: {remark}", file=sys.stderr)
        if sys.stderr is not None and sys.stderr.isatty():
            before_compiling(_say_that_it_compiles)
        code = _code()
    raise SystemExit(code)


@contextmanager
def _stopping_in_order() -> Iterator[None]:
    """Within it a signal to stop ends a command as Ctrl-C does: what it began is removed."""

    def stop(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        raise SystemExit(STOPS[signal.Signals(number).name])

    taken = []
    if threading.current_thread() is threading.main_thread():  # others take no signals
        for name in STOPS:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, stop)
                taken.append(number)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _say_that_it_compiles() -> None:
    print("armtwin: compiling kernels, once; this takes up to half a minute", file=sys.stderr)


def _code() -> Any:
    """The exit code of the command that was asked for."""
    try:
        code = _run()
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except ArmtwinError as error:
        return _fail(str(error), BAD_INPUT)
    except WrongUse as error:
        error.show()
        return _fail(error.format_message(), error.exit_code, is_said=True)
    except Exception as error:  # the one net: whatever it is, it must not look like a verdict
        return _fail(_describe_crash(error), UNEXPECTED)


def _run() -> Any:
    try:
        code = app(standalone_mode=False)
    except SystemExit as done:
        code = done.code
    return _fail("stopped", code) if code in (INTERRUPTED, *STOPS.values()) else code


def _fail(sentence: str, code: int, is_said: bool = False) -> int:
    """Say why a command failed, and as a JSON object where one was asked for."""
    if not is_said:
        print(f"armtwin: {sentence}", file=sys.stderr)
    if "--json" in sys.argv:
        with suppress(ArmtwinError):  # an output that cannot be written was the reason
            print_json({"error": sentence, "exit": code})
    return code


def _describe_crash(error: Exception) -> str:
    """A sentence on an error that is ours, and where its traceback is."""
    head = f"an unexpected error of armtwin ({type(error).__name__}), not of your input"
    text = "".join(traceback.format_exception(error))
    try:
        handle, name = tempfile.mkstemp(prefix="armtwin-error-", suffix=".txt")
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"armtwin {__version__}, {' '.join(sys.argv[1:])}\n{text}")
    except OSError as full:
        return f"{head}; its traceback could not be written ({full.strerror})"
    return f"{head}; its traceback is in {name}"
