"""The command that designs an excitation."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import armtwin as at
from armtwin.app.options import Force, Json, given_path
from armtwin.app.places import Source, result_folder
from armtwin.app.progress import of, progress_bar
from armtwin.app.robots import mounted
from armtwin.app.showing import REPORT, finish
from armtwin.errors import ArmtwinError
from armtwin.files.disk import Content
from armtwin.logs.csv_files import put_csv
from armtwin.maths.units import Unit
from armtwin.report.folder import RESULT

if TYPE_CHECKING:
    from armtwin.identification.excitation.excitation_report import Twin
    from armtwin.identification.excitation.plan import ExcitationPlan

UNITS = {
    "period": Unit("s", above=0),
    "rate": Unit("Hz", above=0),
    "clearance": Unit("m", plausible=20, hint="mm"),
    "noise": Unit("1", above=0),
    "speed": Unit("1", above=0),
    "acceleration": Unit("1", above=0),
    "torque": Unit("1", above=0),
}


def excite(
    robot: Annotated[str, typer.Argument(help="A shipped robot, or a robot file.")],
    criterion: Annotated[
        str | None,
        typer.Option("--criterion", help="log_det (usual), sigma_min, condition or weighted."),
    ] = None,
    scaling: Annotated[
        str | None,
        typer.Option("--scaling", help="Columns scaled by parameters (usual) or by columns."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option("--weights", help='Of condition and 1/sigma_min: "1, 1".')
    ] = None,
    search: Annotated[
        str | None, typer.Option("--search", help="optimised (usual), or the best random.")
    ] = None,
    starts: Annotated[int | None, typer.Option("--starts", help="Random motions tried.")] = None,
    period: Annotated[
        str | None, typer.Option("--period", help='Length of a period; usually "8 s".')
    ] = None,
    harmonics: Annotated[
        int | None, typer.Option("--harmonics", help="Harmonics of a period.")
    ] = None,
    periods: Annotated[int | None, typer.Option("--periods", help="Periods to run.")] = None,
    rate: Annotated[
        str | None, typer.Option("--rate", help="Set-points a second; by default the servo's.")
    ] = None,
    speed: Annotated[
        str | None, typer.Option("--speed", help='Share of the highest speeds, as "80 %".')
    ] = None,
    acceleration: Annotated[
        str | None, typer.Option("--acceleration", help="Share of the largest accelerations.")
    ] = None,
    torque: Annotated[
        str | None, typer.Option("--torque", help="Share of the largest torques.")
    ] = None,
    cell: Annotated[
        Path | None,
        typer.Option("--cell", help="File with a [cell] table: floor, planes, boxes."),
    ] = None,
    clearance: Annotated[
        str | None, typer.Option("--clearance", help='Distance to the cell, as "100 mm".')
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option("--noise", help='Noise of the torque, of the largest, as "1 %".'),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of the random starts.")] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Tool to mount.")] = None,
    payload: Annotated[str | None, typer.Option("--payload", help="Payload to mount.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", parser=given_path, metavar="PATH", help="Folder for the results."),
    ] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Design a motion that tells the parameters of a robot well: trajectory and report."""
    from armtwin.identification.excitation.excitation_report import TRAJECTORY, excitation_report
    from armtwin.motion.cell_file import read_cell

    found = mounted(robot, tool, payload)
    words: dict[str, Any] = {"period": period, "rate": rate, "clearance": clearance}
    words |= {"noise": noise, "speed": speed, "acceleration": acceleration, "torque": torque}
    numbers = {key: _number(key, word) for key, word in words.items() if word is not None}
    plan = _plan(
        criterion=criterion,
        scaling=scaling,
        weights=None if weights is None else _weights(weights),
        search=search,
        starts=starts,
        harmonics=harmonics,
        periods=periods,
        seed=seed,
        **numbers,
    )
    around = None if cell is None else read_cell(cell)
    options = _options(plan) | _given(tool=tool, payload=payload)
    inputs = [Path(robot)]
    if cell is not None:
        options["cell"] = str(cell)
        inputs.append(cell)
    short = {key: value for key, value in options.items() if key in ("tool", "payload")}
    name_words = tuple(str(value) for value in short.values())
    source = Source("excite", found.name, found.origin, options, name_words)
    place = result_folder(source, out, (RESULT, REPORT, TRAJECTORY), inputs, force)
    with progress_bar("search") as progress:
        result = at.design_excitation(found, plan, around, progress=of(progress, "search"))
    motion = result.trajectory
    log = at.Log.of(motion.time, joint_names=found.joint_names, q=motion.q, v=motion.v, a=motion.a)
    written: dict[str, Content] = {TRAJECTORY: partial(put_csv, log.recording)}
    finish(excitation_report(result, _twin(found, motion)), place, written, json)


def _twin(robot: at.Robot, motion: at.Trajectory) -> Twin | None:
    """What the robot's own simulated loop makes of a motion; None where it cannot be simulated."""
    from armtwin.identification.excitation.excitation_report import Twin
    from armtwin.prediction.compare_reference import usual_model

    try:
        run = at.simulate(robot, motion, usual_model(robot))
    except ArmtwinError:  # the file lacks what a simulation needs, which `armtwin check` says
        return None
    end = float(run.log.time[-1])
    if end > motion.duration - 2 / motion.rate:
        return Twin(True, "The twin runs it to its end under its servo.")
    why = run.log.events[-1].text if run.log.events else "The robot stops."
    return Twin(
        False,
        f"The twin does not run it: at {end:.3g} s {why} Use less of --torque or --speed, or a "
        "longer --period.",
    )


def _plan(**choices: Any) -> ExcitationPlan:
    """The plan of the options that are given; what it refuses is said of the option."""
    given = {name: choice for name, choice in choices.items() if choice is not None}
    try:
        return at.ExcitationPlan(**given)
    except ArmtwinError as error:
        raise ArmtwinError(str(error).replace("excitation: ", "--", 1)) from None


def _number(option: str, text: str) -> float:
    try:
        return UNITS[option].read_word(text)
    except ArmtwinError as error:
        raise ArmtwinError(f"--{option} {error}") from None


def _weights(text: str) -> tuple[float, ...]:
    found = []
    for word in text.split(","):
        try:
            found.append(Unit("1").read_word(word.strip()))
        except ArmtwinError as error:
            raise ArmtwinError(f"--weights {error}") from None
    return tuple(found)


def _options(plan: ExcitationPlan) -> dict[str, Any]:
    """What a plan has otherwise than by default."""
    found = {}
    usual = vars(at.ExcitationPlan())
    for key, value in vars(plan).items():
        if value != usual[key]:
            found[key] = list(value) if isinstance(value, tuple) else value
    return found


def _given(**options: str | None) -> dict[str, str]:
    return {name: value for name, value in options.items() if value is not None}
