"""The commands of an actuator's identification: resonances, noise, valve, flow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import armtwin as at
from armtwin.app import options as opt
from armtwin.app.places import Source
from armtwin.app.progress import progress_bar
from armtwin.app.run import folder_run, inputs_of, read_logs, robot_run
from armtwin.errors import ArmtwinError
from armtwin.maths.units import Unit

if TYPE_CHECKING:
    from armtwin.identification.actuator.result import FlowIdentification, ValveIdentification

actuator = typer.Typer(no_args_is_help=True, help="Identify a hydraulic actuator from its tests.")


@opt.command_of(actuator)
def resonances(
    table: Path = opt.argument("CSV", "A table: mass, frequency, damping."),
    *,
    output: opt.Output,
) -> None:
    """Oil compliance, leakage and viscous friction from resonances with several weights."""
    source = Source("actuator resonances", table.name.partition(".")[0], str(table))
    run = folder_run(source, output, [table])
    run.finish(at.fit_oil(table))


@opt.command_of(actuator)
def noise(
    robot: opt.RobotFile,
    logs: opt.LogFiles,
    weights: str = opt.option("LIST", 'The weight of each log, as "2.7, 5.1, 9 kg".', default=...),
    columns: opt.Columns = None,
    *,
    output: opt.Output,
) -> None:
    """Oil, valve and delay from logs of noise with several weights."""
    prior = at.Robot.load(robot)
    count = len(logs)
    if weights.count(",") + 1 != count:
        contract = f"--weights must have a weight for each of {count} logs"
        raise ArmtwinError(f"{contract}, got '{weights}'")
    masses = opt.read_quantities("--weights", weights, [Unit("kg", above=0)] * count)
    run = robot_run("actuator noise", prior, output, inputs_of(robot, logs, columns))
    with progress_bar("logs"):
        found = at.identify_actuator(prior, read_logs(logs, columns), masses)
    run.finish(found, robot=found.robot)


@opt.command_of(actuator)
def valve(
    robot: opt.RobotFile, log: opt.LogFile, columns: opt.Columns = None, *, output: opt.Output
) -> None:
    """Frequency, damping and delay of the valve from a log of noise on a bare piston."""
    _identify_from_log(at.identify_valve, "valve", robot, log, columns, output)


@opt.command_of(actuator)
def flow(
    robot: opt.RobotFile, log: opt.LogFile, columns: opt.Columns = None, *, output: opt.Output
) -> None:
    """No-load flow of the valve from a log of triangular set-points."""
    _identify_from_log(at.identify_flow, "flow", robot, log, columns, output)


def _identify_from_log(
    identify: Callable[[at.Robot, at.Log], ValveIdentification | FlowIdentification],
    what: str,
    robot: str,
    log: Path,
    columns: Path | None,
    output: opt.Output,
) -> None:
    """Identify what of an actuator one log shows."""
    prior = at.Robot.load(robot)
    run = robot_run(f"actuator {what}", prior, output, inputs_of(robot, [log], columns))
    with progress_bar("fit"):
        found = identify(prior, at.Log.read(log, columns))
    run.finish(found, robot=found.robot)
