"""The commands that run jobs: predict, compare, jobs, demo."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import numpy as np
import typer

import armtwin as at
from armtwin.app.options import Force, Json, given_path
from armtwin.app.places import (
    files_of_job,
    files_of_log,
    is_job,
    of_job,
    of_jobs,
    of_log,
    result_folder,
)
from armtwin.app.progress import of, progress_bar
from armtwin.app.robots import mounted
from armtwin.app.showing import REPORT, finish, say, show
from armtwin.errors import ArmtwinError, FileError
from armtwin.files.disk import Content
from armtwin.jobs import files as job_files
from armtwin.jobs.job import Job
from armtwin.logs.csv_files import put_csv, rows_as_text
from armtwin.maths.batch import Floats
from armtwin.prediction.predict import planned
from armtwin.prediction.prediction_report import prediction_report
from armtwin.report.folder import RESULT, ResultFolder

if TYPE_CHECKING:
    from armtwin.analysis.bearing_loads import BearingLoads

DEFAULT_JOB = "rx90b_line"
WITHIN, OUT = 0, 1
LOG, COMPARED, ADVISED = "log.csv", "compared.csv", "advised.toml"
PREDICTED = (RESULT, LOG, REPORT)

JobName = Annotated[str, typer.Argument(help="A shipped job, or a job file (.toml).")]
Method = Annotated[
    Literal["nonlinear", "perturbation"], typer.Option(help="How the arm is simulated.")
]
RobotName = Annotated[str | None, typer.Option("--robot", help="Another robot than the job's.")]
ToolName = Annotated[str | None, typer.Option("--tool", help="Another tool than the job's.")]
ServoName = Annotated[
    str | None,
    typer.Option("--servo", help="Another servo of the robot file than the job's, as fitted."),
]
Speed = Annotated[str | None, typer.Option("--speed", help='Another tool speed, as "100 mm/s".')]
JobNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="JOB",
        help="A shipped job, or a job file (.toml); several are predicted side by side.",
    ),
]
RobotNames = Annotated[
    str | None, typer.Option("--robot", help="Another robot than the job's, or several: A,B.")
]
Speeds = Annotated[
    str | None,
    typer.Option(
        "--speed", help='Another tool speed, as "100 mm/s", or several: "100, 200, 300 mm/s".'
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        parser=given_path,
        metavar="PATH",
        help="Folder for the results; by default armtwin_out/JOB or JOB_OPTION.",
    ),
]
Nominal = Annotated[
    bool, typer.Option("--nominal", help="The nominal run alone: fast, without its band.")
]
Advise = Annotated[
    bool,
    typer.Option(
        "--advise", help="Search what would make the seam surely hold; writes advised.toml."
    ),
]

Loads = Annotated[
    bool,
    typer.Option("--loads", help="Show what bearings and links carry along the motion."),
]


def demo() -> None:
    """Predict the default job and say where the report is."""
    job = Job.load(DEFAULT_JOB)
    source = of_job("predict", job, job, "nonlinear")
    place = result_folder(source, None, PREDICTED, files_of_job(job), force=True)
    _deliver(_answered(job, "nonlinear", banded=True), place, json=False)
    say("Next: armtwin jobs, armtwin predict JOB --advise, armtwin --help")


def predict(
    job: JobNames = None,
    robot: RobotNames = None,
    tool: ToolName = None,
    servo: ServoName = None,
    method: Method = "nonlinear",
    speed: Speeds = None,
    nominal: Nominal = False,
    advise: Advise = False,
    loads: Loads = False,
    out: Out = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Simulate a job in closed loop: errors, verdict, causes, advice; or several side by side.

    Exit code 1: one does not hold, or may not; with --nominal: is out of tolerance.
    """
    asked = [Job.load(name) for name in job or [DEFAULT_JOB]]
    robots = [None] if robot is None else _several(robot, "--robot")
    speeds = [None] if speed is None else listed_speeds(speed)
    chosen = []
    for one, name, value in product(asked, robots, speeds):
        chosen.append(chosen_job(one, name, tool, servo, value))
    if len(chosen) > 1:
        if advise:
            raise ArmtwinError(f"--advise is for one run, got {len(chosen)} side by side")
        if loads:
            raise ArmtwinError(f"--loads is for one run, got {len(chosen)} side by side")
        source = of_jobs(asked, chosen, method)
        inputs = [path for one in chosen for path in files_of_job(one)]
        place = result_folder(source, out, (RESULT, REPORT), inputs, force)
        _predict_several(chosen, method, nominal, place, json)
    source = of_job("predict", asked[0], chosen[0], method)
    names = (*PREDICTED, ADVISED) if advise else PREDICTED
    place = result_folder(source, out, names, files_of_job(chosen[0]), force)
    answer = _answered(chosen[0], method, banded=not nominal, advise=advise)
    if loads:
        answer = replace(answer, loads=_loads(chosen[0]))
    _deliver(answer, place, json)
    raise typer.Exit(WITHIN if answer.holds else OUT)


def _predict_several(
    jobs: list[Job],
    method: Literal["nonlinear", "perturbation"],
    nominal: bool,
    place: ResultFolder,
    json: bool,
) -> NoReturn:
    """Runs side by side: one table, one report, all of them in result.json."""
    from armtwin.prediction.side_by_side_report import side_by_side_report

    with progress_bar("runs") as progress:
        runs = at.side_by_side(jobs, nominal=nominal, method=method, progress=of(progress, "runs"))
    finish(side_by_side_report(runs), place, {}, json)
    raise typer.Exit(WITHIN if runs.hold else OUT)


def _several(text: str, option: str) -> list[str]:
    """The words of an option that may name several, separated by commas."""
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise ArmtwinError(f"{option} must name one, or several separated by commas, got '{text}'")
    return words


def listed_speeds(text: str) -> list[str]:
    """The speeds of a text as "100,200,300 mm/s": one without a unit has that of the next.

    Two numbers that may be one with a decimal comma, as "1,5 m/s", are refused.
    """
    first, _, second = text.partition(",")
    short = len(first.strip()) == 1 or not second[:2].isdigit()  # as of no two speeds in a list
    if _is_bare(first) and short and second[:1].isdigit() and "," not in second:
        raise ArmtwinError(
            "--speed must be a number with a decimal point or a quantity such as '1.5 m/s', got "
            f"'{text}'. For two speeds write '{first}, {second}'."
        )
    unit = ""
    found = []
    for word in reversed(_several(text, "--speed")):
        if _is_bare(word) and unit:
            found.append(f"{word} {unit}")
            continue
        unit = word.lstrip("+-.0123456789").strip()
        found.append(word)
    return found[::-1]


def _is_bare(word: str) -> bool:
    """Whether a word is a number without a unit."""
    return word.strip().replace(".", "", 1).isdigit()


def compare(
    job: Annotated[
        str,
        typer.Argument(
            metavar="JOB|ROBOT", help="A job (shipped, .toml), or a robot (shipped, .toml, .urdf)."
        ),
    ],
    log: Annotated[Path, typer.Argument(help="A logged run (.csv, .csv.gz, .npz).")],
    robot: RobotName = None,
    tool: ToolName = None,
    payload: Annotated[
        str | None, typer.Option("--payload", help="Payload that a robot carried.")
    ] = None,
    servo: Annotated[
        str | None,
        typer.Option("--servo", help="Another servo than the job's, or than a robot's fitted one."),
    ] = None,
    method: Method = "nonlinear",
    speed: Speed = None,
    columns: Annotated[
        Path | None, typer.Option("--columns", help="Columns file of the log.")
    ] = None,
    out: Out = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Show a logged run over the predicted one: of a job, or of a robot on the log's reference.

    Exit code 1: the logged run of a job was out of tolerance.
    """
    if is_job(job):
        if payload is not None:
            raise ArmtwinError("--payload is for a robot; a job says it in its file")
        asked = Job.load(job)
        chosen = chosen_job(asked, robot, tool, servo, speed)
        source = of_job("compare", asked, chosen, method)
        inputs = [*files_of_job(chosen), *files_of_log(log, columns)]
        place = result_folder(source, out, (*PREDICTED, COMPARED), inputs, force)
        _compare_job(chosen, at.Log.read(log, columns), method, place, json)
        return
    if robot is not None or speed is not None:
        option = "--speed" if robot is None else "--robot"
        raise ArmtwinError(f"{option} is for a job, but '{job}' is a robot")
    twin = mounted(job, tool, payload)
    inputs = [Path(job), *files_of_log(log, columns)]
    source = of_log(twin, log, servo, method)
    place = result_folder(source, out, (*PREDICTED, COMPARED), inputs, force)
    _compare_reference(twin, at.Log.read(log, columns), servo, method, place, json)


def _compare_job(
    job: Job,
    log: at.Log,
    method: Literal["nonlinear", "perturbation"],
    place: ResultFolder,
    json: bool,
) -> None:
    """A logged run of a job over its prediction."""
    with progress_bar("path") as progress:
        comparison = at.compare(job, log, method=method, progress=progress)
        causes = at.explain(comparison.prediction, of(progress, "causes"))
    answer = at.Answer(comparison.prediction, causes, comparison=comparison)
    _deliver(answer, place, json)
    raise typer.Exit(WITHIN if comparison.verdict.within else OUT)


def _compare_reference(
    robot: at.Robot,
    log: at.Log,
    servo: str | None,
    method: Literal["nonlinear", "perturbation"],
    place: ResultFolder,
    json: bool,
) -> None:
    """A logged run over the twin's run on the log's own reference."""
    model = None if servo is None else at.Model(servo=servo)
    with progress_bar("simulation") as progress:
        comparison = at.compare(robot, log, model=model, method=method, progress=progress)
    from armtwin.prediction.reference_report import reference_report

    contents: dict[str, Content] = {
        LOG: partial(put_csv, comparison.run.log.recording),
        COMPARED: _compared(comparison.time, comparison.channels),
    }
    finish(reference_report(comparison), place, contents, json)


def jobs(
    name: Annotated[
        str | None, typer.Argument(help="A shipped job, or a job file (.toml).")
    ] = None,
) -> None:
    """List the shipped jobs, or show one of them; nothing is simulated."""
    from armtwin.prediction.job_report import job_report, job_shelf

    if name is None:
        show(job_shelf(Job.load(known) for known in job_files.shipped()))
    else:
        show(job_report(Job.load(name)))


def chosen_job(
    job: Job, robot: str | None, tool: str | None, servo: str | None, speed: str | None
) -> Job:
    """A job with what the command line changes."""
    if robot is not None or tool is not None:
        job = _with_robot(job, robot, tool)
    if servo is not None:
        job = job.with_servo(servo)
    if speed is not None:
        try:
            job = job.with_speed(speed)
        except FileError:
            raise
        except ArmtwinError as error:  # it begins with the word speed
            raise ArmtwinError(f"--{error}") from None
    return job


def _with_robot(job: Job, robot: str | None, tool: str | None) -> Job:
    """A job with the robot and the tool of the command line, which are to blame if they fail."""
    changed = job.with_robot(robot or job.description.robot, tool)
    try:
        changed.robot()
    except ArmtwinError as error:
        blamed = f"{job.where}: "
        if not str(error).startswith(blamed):
            raise
        given = "--tool" if robot is None else "--robot"
        raise ArmtwinError(f"{given}: {str(error).removeprefix(blamed)}") from None
    return changed


def _answered(
    job: Job,
    method: Literal["nonlinear", "perturbation"],
    *,
    banded: bool,
    advise: bool = False,
) -> at.Answer:
    with progress_bar("path") as progress:
        prediction = at.predict(None, job, method=method, progress=progress)
        band = None
        if banded and prediction.verdict.stopped is None:
            band = at.assess(prediction, progress=of(progress, "draws"))
        causes = at.explain(prediction, of(progress, "causes"))
        advice = None
        if advise:
            advice = at.advise(
                prediction, band, nominal=not banded, progress=of(progress, "advice")
            )
    return at.Answer(prediction, causes, advice, band=band)


def _loads(job: Job) -> BearingLoads:
    """What bearings and links carry along the commanded motion of a job."""
    from armtwin.analysis.bearing_loads import bearing_loads
    from armtwin.analysis.states import along

    robot = job.robot()
    return bearing_loads(robot, along(robot, planned(robot, job).trajectory))


def _deliver(answer: at.Answer, place: ResultFolder, json: bool) -> None:
    """Write and show an answer with its log, its comparison and its advised job."""
    contents: dict[str, Content] = {LOG: partial(put_csv, answer.prediction.log.recording)}
    if answer.comparison is not None:
        comparison = answer.comparison
        contents[COMPARED] = _compared(comparison.time, comparison.channels)
    best = None if answer.advice is None else answer.advice.best
    if best is not None:
        contents[ADVISED] = best.job.seen_from(place.folder).to_toml_as_written()
    finish(prediction_report(answer), place, contents, json)


def _compared(time: Floats, channels: dict[str, Floats]) -> str:
    """Measured and predicted series side by side, as CSV."""
    names = ["time"]
    columns = [time]
    for name, pair in channels.items():
        for which, values in zip(("measured", "predicted"), pair, strict=True):
            names.append(f"{name.replace(' ', '_')}_{which}")
            columns.append(values)
    return f"{','.join(names)}\n{rows_as_text(np.column_stack(columns)).decode()}"
