"""The commands of experiments on transmissions: simulate, clamp, transmission."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import armtwin as at
from armtwin.app.options import Force, Json, Output, given_path
from armtwin.app.places import Source, files_of_log, result_folder, words_of
from armtwin.app.progress import of, progress_bar
from armtwin.app.robot_run import inputs_of, robot_run
from armtwin.app.robots import mounted
from armtwin.app.showing import REPORT, finish, show
from armtwin.errors import ArmtwinError
from armtwin.jobs.experiment import shipped
from armtwin.logs.csv_files import put_csv
from armtwin.maths.units import Unit
from armtwin.report.folder import RESULT

LOG = "log.csv"
DONE, NOT_TOLD = 0, 1

Out = Annotated[
    Path | None,
    typer.Option("--out", parser=given_path, metavar="PATH", help="Folder for the results."),
]
OutRobot = Annotated[
    Path | None,
    typer.Option("--out", parser=given_path, metavar="PATH", help="The robot file (.toml)."),
]
ColumnsFile = Annotated[Path | None, typer.Option("--columns", help="Columns file of the logs.")]


def simulate(
    experiment: Annotated[
        str, typer.Argument(help="A shipped experiment, or an experiment file (.toml).")
    ],
    foreign: Annotated[
        bool,
        typer.Option("--foreign", help="Run the unit (.fmu) it names: machine code of others."),
    ] = False,
    out: Out = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Run an experiment on a bench or a robot: log, report, features.

    Exit code 1: it ended early.
    """
    from armtwin.jobs.experiment_report import experiment_report

    asked = at.Experiment.load(experiment)
    source = Source("simulate", asked.description.name, asked.origin)
    place = result_folder(source, out, (RESULT, LOG, REPORT), asked.files, force)
    with progress_bar("experiment") as progress:
        run = at.run_experiment(asked, foreign=foreign, progress=of(progress, "experiment"))
        report = experiment_report(run)
    finish(report, place, {LOG: partial(put_csv, run.log.recording)}, json)
    raise typer.Exit(NOT_TOLD if run.ended_early else DONE)


def experiments(
    name: Annotated[
        str | None, typer.Argument(help="A shipped experiment, or an experiment file (.toml).")
    ] = None,
) -> None:
    """List the shipped experiments, or show one of them; nothing is simulated."""
    from armtwin.jobs.experiment_shelf import described_experiment, experiment_shelf

    if name is None:
        show(experiment_shelf(at.Experiment.load(known) for known in shipped()))
    else:
        show(described_experiment(at.Experiment.load(name)))


def clamp(
    log: Annotated[Path, typer.Argument(help="A clamping log: time, q_m1 (or q1), tau_m1 ...")],
    gear_ratio: Annotated[
        str | None,
        typer.Option("--gear-ratio", help="Motor angle per joint angle, for joint units."),
    ] = None,
    joint: Annotated[
        int | None, typer.Option("--joint", help="Which joint was moved, where there are several.")
    ] = None,
    columns: ColumnsFile = None,
    out: Out = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Stiffness, backlash and friction of a transmission from the log of its clamped joint."""
    from armtwin.identification.clamping.clamping_report import clamping_report
    from armtwin.jobs.recreation import recreate

    ratio = None if gear_ratio is None else _number("--gear-ratio", gear_ratio)
    name = log.name.partition(".")[0]
    options = _given(gear_ratio=ratio, joint=joint)
    source = Source("clamp", name, str(log), options, words_of(options))
    place = result_folder(source, out, (RESULT, REPORT), files_of_log(log, columns), force)
    with progress_bar("curve") as progress:
        read = at.Log.read(log, columns)
        found = at.clamp(read, gear_ratio=ratio, joint=joint)
        if progress is not None:
            progress("recreate", 0.5)
        recreation = recreate(found)
    finish(clamping_report(found, recreation), place, {}, json)


def transmission(
    robot: Annotated[str, typer.Argument(help="A shipped robot, or a robot file (.toml).")],
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG...", help="Logs with q, q_link and a torque.")
    ],
    validate: Annotated[
        Path | None, typer.Option("--validate", help="A log that the fit does not see.")
    ] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Tool mounted while logging.")] = None,
    payload: Annotated[
        str | None, typer.Option("--payload", help="Payload mounted while logging.")
    ] = None,
    columns: ColumnsFile = None,
    out: OutRobot = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Stiffness, lost motion and side of friction from logs of two encoders.

    Exit code 1: no stiffness is told.
    """
    from armtwin.identification.transmission.transmission_report import transmission_report

    prior = mounted(robot, tool, payload)
    inputs = inputs_of(robot, [*logs, validate], columns)
    run = robot_run("transmission", prior, inputs, Output(out, json, force))
    with progress_bar("logs"):
        read = [at.Log.read(path, columns) for path in logs]
        unseen = None if validate is None else at.Log.read(validate, columns)
        found = at.identify_transmission(prior, read, validate=unseen)
    run.finish(transmission_report(found), found.robot)
    raise typer.Exit(DONE if found.told else NOT_TOLD)


def _number(option: str, text: str) -> float:
    try:
        return Unit("1").read_word(text)
    except ArmtwinError as error:
        raise ArmtwinError(f"{option} {error}") from None


def _given(**options: float | None) -> dict[str, float]:
    return {name: value for name, value in options.items() if value is not None}
