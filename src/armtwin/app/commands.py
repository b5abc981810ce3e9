"""The command `armtwin`: reads arguments, prints, and turns errors into exit codes."""

from __future__ import annotations

import sys
import tempfile
import traceback
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from armtwin import ArmtwinError, Job, Log, Robot, __version__
from armtwin.app import (
    analyse_command,
    complete_command,
    correct_command,
    excite_command,
    experiment_commands,
    frequency_command,
    friction_commands,
    identify_command,
    job_commands,
    payload_command,
    sensitivity_command,
    servo_command,
    sweep_command,
)
from armtwin.app.actuator_commands import actuator
from armtwin.app.export_commands import export, file_name, free
from armtwin.app.options import Force, Gravity, Mounting, given_path
from armtwin.app.places import is_experiment, is_sweep
from armtwin.app.robots import on_base
from armtwin.app.showing import say, show
from armtwin.app.streams import patient_streams, readable_streams
from armtwin.files.reading import read_tables
from armtwin.jobs import files as job_files
from armtwin.jobs.experiment import Experiment
from armtwin.logs.bag_files import is_bag
from armtwin.maths.compiled import before_compiling
from armtwin.prediction.predict import refuse_incomplete
from armtwin.robot.files import shipped

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="The dynamic twin of an industrial robot arm.",
)
app.add_typer(export, name="export")
app.add_typer(actuator, name="actuator")

app.command()(job_commands.demo)
app.command()(job_commands.predict)
app.command()(job_commands.compare)
app.command()(job_commands.jobs)
app.command()(identify_command.identify)
app.command()(complete_command.complete)
app.command()(servo_command.servo)
app.command()(analyse_command.analyse)
app.command()(correct_command.correct)
app.command()(excite_command.excite)
app.command()(payload_command.payload)
app.command()(experiment_commands.simulate)
app.command()(experiment_commands.experiments)
app.command()(experiment_commands.clamp)
app.command()(experiment_commands.transmission)
app.command()(frequency_command.frequency)
app.command()(sensitivity_command.sensitivity)
app.command()(sweep_command.sweep)
app.command()(friction_commands.friction)
app.command()(friction_commands.warmup)

BAD_INPUT, UNEXPECTED, INTERRUPTED = 2, 3, 130


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


@app.command()
def robots(
    name: Annotated[
        str | None, typer.Argument(help="A shipped robot, or a .toml or .urdf file.")
    ] = None,
) -> None:
    """List the shipped robots, or show one of them."""
    from armtwin.robot.robot_report import robot_report, robot_shelf

    if name is None:
        show(robot_shelf(Robot.load(known) for known in shipped()))
    else:
        show(robot_report(Robot.load(name)))


@app.command()
def check(
    file: Annotated[
        str,
        typer.Argument(
            help="A robot (.toml, .urdf, shipped), job or experiment (.toml, shipped), sweep, log "
            "or bag."
        ),
    ],
) -> None:
    """Say what is in a file, what is measured, public, assumed, missing; nothing is run."""
    from armtwin.jobs.experiment_shelf import described_experiment
    from armtwin.logs.log_report import log_report
    from armtwin.prediction.job_report import job_report
    from armtwin.robot.robot_report import robot_report
    from armtwin.sweeps.sweep import Sweep
    from armtwin.sweeps.sweep_estimate import described_sweep

    if file.endswith((".csv", ".csv.gz", ".npz")) or is_bag(Path(file)):
        show(log_report(Log.read(file), Path(file).name))
        return
    if is_sweep(file):
        show(described_sweep(Sweep.load(file)))
        return
    if is_experiment(file):
        show(described_experiment(Experiment.load(file)))
        return
    keys = set(read_tables(Path(file))) if file.endswith(".toml") else set()
    if file in job_files.shipped() or keys & {"segment", "robot", "speed"}:
        job = Job.load(file)
        _refuse_unknown_servo(job)
        show(job_report(job))
        return
    show(robot_report(Robot.load(file), sources=True))


def _refuse_unknown_servo(job: Job) -> None:
    """Refuse a job that names another servo than its robot has, as a prediction would."""
    robot = job.robot()
    if robot.description.servo and job.description.model.servo not in robot.description.servo:
        refuse_incomplete(robot, job)


@app.command(name="import")
def import_robot(
    file: Annotated[
        Path, typer.Argument(help="A URDF file, or a Denavit-Hartenberg table (.csv).")
    ],
    kind: Annotated[
        Literal["urdf", "dh"] | None,
        typer.Option("--as", help="What the file is; by default what its ending says."),
    ] = None,
    convention: Annotated[
        Literal["standard", "modified"], typer.Option(help="Of a Denavit-Hartenberg table.")
    ] = "standard",
    out: Annotated[
        Path | None,
        typer.Option(
            parser=given_path,
            metavar="PATH",
            help="Robot file to write; by default NAME.toml in this folder.",
        ),
    ] = None,
    allow_unphysical: Annotated[
        bool, typer.Option(help="Keep bodies that cannot exist, marked so.")
    ] = False,
    gravity: Gravity = None,
    mounting: Mounting = None,
    force: Force = False,
) -> None:
    """Make a robot file from a URDF file or a Denavit-Hartenberg table."""
    from armtwin.robot.robot_report import robot_report

    if kind is None:
        kind = "dh" if file.suffix == ".csv" else "urdf"
    if kind == "dh":
        found = Robot.from_dh(file, convention)
    elif file.suffix in {".urdf", ".xml", ".xacro"}:
        found = Robot.load(file, allow_unphysical=allow_unphysical)
    else:
        raise ArmtwinError(f"{file}: import reads URDF files (.urdf) and, --as dh, tables (.csv)")
    robot = on_base(found, gravity, mounting, "import")
    target = free(out or file_name(robot, ".toml"), force, file)
    robot.save(target)
    show(robot_report(robot))
    say(f"wrote {target}")


def main() -> None:
    """Run the command line: 0 or 1 done, 2 bad input with one clear message, 3 an error of ours."""
    readable_streams()
    with patient_streams():
        if sys.stderr is not None and sys.stderr.isatty():
            before_compiling(_say_that_it_compiles)
        code = _code()
    raise SystemExit(code)


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
        print(f"armtwin: {error}", file=sys.stderr)
        return BAD_INPUT
    except Exception as error:  # the one net: whatever it is, it must not look like a verdict
        print(f"armtwin: {_unexpected(error)}", file=sys.stderr)
        return UNEXPECTED


def _run() -> Any:
    try:
        app()
    except SystemExit as done:
        if done.code == INTERRUPTED:
            print("armtwin: stopped", file=sys.stderr)
        return done.code
    return 0


def _unexpected(error: Exception) -> str:
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
