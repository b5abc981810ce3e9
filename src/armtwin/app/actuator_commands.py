"""The commands of an actuator's identification: resonances, noise, valve, flow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import armtwin as at
from armtwin.app.options import Force, Json, Output, given_path
from armtwin.app.places import Source, result_folder
from armtwin.app.progress import progress_bar
from armtwin.app.robot_run import inputs_of, robot_run
from armtwin.app.showing import REPORT, finish
from armtwin.errors import ArmtwinError
from armtwin.maths.units import Unit
from armtwin.notebook.sections import Report
from armtwin.report.folder import RESULT

actuator = typer.Typer(no_args_is_help=True, help="Identify a hydraulic actuator from its tests.")

SetUp = Annotated[
    str, typer.Argument(metavar="ROBOT", help="The test set-up: one cylinder, shipped or a file.")
]
TestLog = Annotated[Path, typer.Argument(metavar="LOG", help="Its log: time, q_ref1, q1, v1 ...")]
ColumnsFile = Annotated[Path | None, typer.Option("--columns", help="Columns file of the logs.")]
OutRobot = Annotated[
    Path | None,
    typer.Option("--out", parser=given_path, metavar="PATH", help="The robot file (.toml)."),
]


@actuator.command()
def resonances(
    table: Annotated[
        Path, typer.Argument(metavar="CSV", help="A table: mass, frequency, damping.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", parser=given_path, metavar="PATH", help="Folder for the results."),
    ] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Oil compliance, leakage and viscous friction from resonances with several weights."""
    source = Source("actuator resonances", table.name.partition(".")[0], str(table))
    place = result_folder(source, out, (RESULT, REPORT), [table], force)
    finish(_report(at.fit_oil(table)), place, {}, json)


@actuator.command()
def noise(
    robot: SetUp,
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG...", help="Logs of noise, one for each weight.")
    ],
    weights: Annotated[
        str, typer.Option("--weights", help='The weight of each log, as "2.7, 5.1, 9 kg".')
    ],
    columns: ColumnsFile = None,
    out: OutRobot = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Oil, valve and delay from logs of noise with several weights."""
    prior = at.Robot.load(robot)
    masses = _masses(weights, len(logs))
    inputs = inputs_of(robot, logs, columns)
    run = robot_run("actuator noise", prior, inputs, Output(out, json, force))
    with progress_bar("logs"):
        read = [at.Log.read(path, columns) for path in logs]
        found = at.identify_actuator(prior, read, masses)
    run.finish(_report(found), found.robot)


@actuator.command()
def valve(
    robot: SetUp,
    log: TestLog,
    columns: ColumnsFile = None,
    out: OutRobot = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Frequency, damping and delay of the valve from a log of noise on a bare piston."""
    prior = at.Robot.load(robot)
    inputs = inputs_of(robot, [log], columns)
    run = robot_run("actuator valve", prior, inputs, Output(out, json, force))
    found = at.identify_valve(prior, at.Log.read(log, columns))
    run.finish(_report(found), found.robot)


@actuator.command()
def flow(
    robot: SetUp,
    log: TestLog,
    columns: ColumnsFile = None,
    out: OutRobot = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """No-load flow of the valve from a log of triangular set-points."""
    prior = at.Robot.load(robot)
    inputs = inputs_of(robot, [log], columns)
    run = robot_run("actuator flow", prior, inputs, Output(out, json, force))
    found = at.identify_flow(prior, at.Log.read(log, columns))
    run.finish(_report(found), found.robot)


def _masses(text: str, count: int) -> list[float]:
    """A weight for each log; a unit after the last holds for those without one."""
    words = [word.strip() for word in text.split(",")]
    if len(words) != count:
        raise ArmtwinError(f"--weights must have a weight for each of {count} logs, got '{text}'")
    common = words[-1].lstrip("+-.0123456789eE").strip()
    masses = []
    for word in words:
        bare = not word.lstrip("+-.0123456789eE").strip()
        try:
            masses.append(Unit("kg", above=0).read_word(f"{word} {common}" if bare else word))
        except ArmtwinError as error:
            raise ArmtwinError(f"--weights {error}") from None
    return masses


def _report(found: Any) -> Report:
    """The report of a result; the room of reports is asked for by those who use it."""
    from armtwin.report.writing import to_report

    return to_report(found)
