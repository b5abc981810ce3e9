"""The commands that run jobs: predict, compare, jobs, demo."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import typer

import armtwin as at
from armtwin.app import options as opt, places
from armtwin.app.progress import of, progress_bar
from armtwin.app.run import LOG, CommandRun, folder_run, inputs_of
from armtwin.app.showing import describe
from armtwin.errors import ArmtwinError, FileError
from armtwin.files.staging import Contents
from armtwin.jobs.job import Job
from armtwin.logs.csv_files import estimate_size, put_csv, rows_as_text
from armtwin.maths.batch import Floats, NamedArrays, OnProgress
from armtwin.maths.heap import return_freed_memory
from armtwin.maths.units import Unit
from armtwin.prediction.compare_interval import Offsets
from armtwin.prediction.corrected_program import slow_program
from armtwin.prediction.correction import LONGEST_TRIAL
from armtwin.prediction.predict import plan_motion
from armtwin.prediction.registration_file import read_registration, registration_text

if TYPE_CHECKING:
    from armtwin.analysis.bearing_loads import BearingLoads

DEFAULT_JOB = "rx90b_probed"
LARGEST_LOG = 200.0  # MB that are written unasked: what a spreadsheet or an editor still opens
COMPARED, ADVISED, REGISTERED = "compared.csv", "advised.toml", "registration.toml"
ZONE = Unit("m", at_least=0, plausible=1, hint="mm")


def demo(json: opt.Json = False) -> None:
    """Predict the default job, correct it on the twin, and say where the report is."""
    job = Job.load(DEFAULT_JOB)
    source = places.of_job("predict", job, job, "nonlinear")
    run = folder_run(source, opt.Output(None, json, force=True), places.files_of_job(job), [LOG])
    with progress_bar("correction") as progress:
        found = at.correct(job, progress=of(progress, "correction"))
        causes = at.explain(found.prediction, of(progress, "causes"))
    answer = at.Answer(found.prediction, causes, band=found.band, correction=found)
    _deliver(answer, run, passed=True)


def predict(
    job: list[str] | None = opt.argument(
        "JOB",
        "A shipped job, a job file (.toml), or a robot program; several are predicted side by "
        "side.",
        default=None,
    ),
    method: opt.Method = "nonlinear",
    nominal: bool = opt.flag("--nominal", "The nominal run alone: fast, without its interval."),
    advise: bool = opt.flag(
        "--advise", "Search what would make the seam hold; writes advised.toml."
    ),
    loads: bool = opt.flag("--loads", "Show what bearings and links carry along the motion."),
    sweep_zone: str | None = opt.option(
        "QUANTITIES",
        'Cycle time and error with other zones at the corners of a program, as "0,1,5 mm".',
    ),
    whole_log: bool = opt.flag("--whole-log", "Write log.csv even if it is larger than 200 MB."),
    *,
    changes: opt.Changes,
    output: opt.Output,
) -> None:
    """Simulate a job in closed loop: errors, verdict, causes, advice; or several side by side.

    Exit code 1: one does not hold, or may not; with --nominal: is out of tolerance.
    """
    asked = [changes.load(name) for name in job or [DEFAULT_JOB]]
    robot, speed = changes.robot, changes.speed
    robots = [None] if robot is None else opt.words_of_list("--robot", robot)
    speeds = [None] if speed is None else parse_speeds(speed)
    chosen = []
    for one, name, value in product(asked, robots, speeds):
        chosen.append(change_job(one, replace(changes, robot=name, speed=value)))
    if len(chosen) > 1:
        if advise or loads:
            option = "--advise" if advise else "--loads"
            raise ArmtwinError(f"{option} is for one run, got {len(chosen)} side by side")
        inputs = [path for one in chosen for path in places.files_of_job(one)]
        run = folder_run(places.of_jobs(asked, chosen, method), output, inputs)
        with progress_bar("runs") as progress:
            share = of(progress, "runs")
            runs = at.side_by_side(chosen, nominal=nominal, method=method, progress=share)
        run.finish(runs, passed=runs.hold)
        return
    source = places.of_job("predict", asked[0], chosen[0], method)
    if sweep_zone is not None:
        zones = [opt.read_quantity("--sweep-zone", x, ZONE) for x in parse_list(sweep_zone)]
        run = folder_run(source, output, places.files_of_job(chosen[0]))
        with progress_bar("zones"):
            found = at.sweep_zone(chosen[0], zones, method=method)
        run.finish(found, passed=any(record["within"] for record in found.records))
        return
    program = asked[0].source if advise else None
    writes = [LOG, ADVISED, *places.written_files(program, "advised", "")] if advise else [LOG]
    run = folder_run(source, output, places.files_of_job(chosen[0]), writes)
    answer = _answer(chosen[0], method, banded=not nominal, advise=advise)
    contents: Contents = {}
    advised = None if answer.advice is None else answer.advice.best or answer.advice.slower
    if program and answer.advice and advised and advised.name in ("speed", "slower stretch"):
        written = slow_program(advised.job, program, answer.prediction)
        answer = replace(answer, advice=replace(answer.advice, written=written))
        contents = places.written_files(program, "advised", written.text)
    if loads:
        answer = replace(answer, loads=_loads(chosen[0]))
    _deliver(answer, run, answer.holds, whole_log=whole_log, more=contents)


def parse_speeds(text: str) -> list[str]:
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
    return parse_list(text, "--speed")


def parse_list(text: str, option: str = "--sweep-zone") -> list[str]:
    """The quantities of a text as "100,200,300 mm/s": one without a unit has that of the next."""
    unit = ""
    found = []
    for word in reversed(opt.words_of_list(option, text)):
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
    job: str = opt.argument(
        "JOB|PROGRAM|ROBOT",
        "A job (shipped, .toml), a robot program, or a robot (shipped, .toml, .urdf).",
    ),
    logs: list[Path] = opt.argument(
        "LOG", "A logged run; of measured tool paths several runs, the instrument fixed."
    ),
    registration: Path | None = opt.option(
        "FILE", "Of a tool path: its frame, point or clock, if known."
    ),
    payload: opt.Payload = None,
    method: opt.Method = "nonlinear",
    columns: opt.Columns = None,
    offsets: Offsets = opt.option(
        "Offset of the log that is taken off: mean, at the start, or none.", default="mean"
    ),
    *,
    changes: opt.Changes,
    output: opt.Output,
) -> None:
    """Show a logged run over the predicted one: of a job, or of a robot on the log's reference.

    A log of x, y, z over time is a measured tool path of a job, registered to the robot.
    Exit code 1: the logged run of a job was out of tolerance.
    """
    if places.is_job(job):
        if payload is not None:
            raise ArmtwinError("--payload is for a robot; a job says it in its file")
        asked = changes.load(job)
        chosen = change_job(asked, changes)
        source = places.of_job("compare", asked, chosen, method)
        inputs = places.files_of_job(chosen)
        for log in logs:
            inputs += places.files_of_log(log, columns)
        read = [at.Log.read(log, columns) for log in logs]
        if read[0].is_tool_path:
            names = [COMPARED, REGISTERED]
            inputs += [] if registration is None else [registration]
            run = folder_run(source, output, inputs, names)
            _compare_tool_path(chosen, read, registration, run)
            return
        log = _only(logs, registration)
        run = folder_run(source, output, inputs, [LOG, COMPARED])
        _compare_job(chosen, read[0], method, run)
        return
    log = _only(logs, registration)
    if changes.robot is not None or changes.speed is not None:
        option = "--speed" if changes.robot is None else "--robot"
        raise ArmtwinError(f"{option} is for a job, but '{job}' is a robot")
    twin = opt.Carried(changes.tool, payload).by(job)
    asked_of = places.ReferenceOptions(changes.servo, offsets, method)
    source = places.of_log(twin, log, asked_of)
    run = folder_run(source, output, inputs_of(job, [log], columns), [LOG, COMPARED])
    _compare_reference(twin, at.Log.read(log, columns), asked_of, run)


def _only(logs: list[Path], registration: Path | None) -> Path:
    """The one log of a comparison of joints."""
    if len(logs) > 1 or registration is not None:
        what = "--registration is" if registration is not None else "several logs are"
        raise ArmtwinError(f"{what} for measured tool paths (x, y, z over time), not for joints")
    return logs[0]


def _compare_tool_path(
    job: Job, logs: list[at.Log], registration: Path | None, run: CommandRun
) -> None:
    """Measured tool paths of a job over its prediction and its interval."""
    given = None if registration is None else read_registration(registration)
    with progress_bar("path") as progress:
        found = at.compare_tool_path(job, logs, given=given, interval=False, progress=progress)
        if found.prediction.verdict.stopped is None:
            band = at.assess(found.prediction, progress=of(progress, "variants"))
            found = replace(found, band=band)
    contents: Contents = {
        COMPARED: _comparison_csv(found.time, found.channels),
        REGISTERED: registration_text(found.registration),
    }
    run.finish(found, contents, passed=not found.exceeded)


def _compare_job(job: Job, log: at.Log, method: opt.HowSimulated, run: CommandRun) -> None:
    """A logged run of a job over its prediction."""
    with progress_bar("path") as progress:
        comparison = at.compare(job, log, method=method, progress=progress)
        causes = at.explain(comparison.prediction, of(progress, "causes"))
    answer = at.Answer(comparison.prediction, causes, comparison=comparison)
    _deliver(answer, run, passed=comparison.verdict.within)


def _compare_reference(
    robot: at.Robot, log: at.Log, asked: places.ReferenceOptions, run: CommandRun
) -> None:
    """A logged run over the twin's run on the log's own reference."""
    model = None if asked.servo is None else at.Model(servo=asked.servo)
    with progress_bar("simulation") as progress:
        comparison = at.compare(
            robot, log, model=model, offsets=asked.offsets, method=asked.method, progress=progress
        )
    contents: Contents = {
        LOG: partial(put_csv, comparison.run.log.recording),
        COMPARED: _comparison_csv(comparison.time, comparison.channels),
    }
    run.finish(comparison, contents)


def jobs(name: opt.ShippedName = None, json: opt.Json = False) -> None:
    """List the shipped jobs, or show one of them; nothing is simulated."""
    from armtwin.prediction.job_check import JobCheck

    describe(at.jobs() if name is None else JobCheck(Job.load(name)), json)


def change_job(job: Job, changes: opt.Changes) -> Job:
    """A job with what the command line changes."""
    if changes.robot is not None or changes.tool is not None:
        job = _with_robot(job, changes.robot, changes.tool)
    if changes.servo is not None:
        job = job.with_servo(changes.servo)
    if changes.speed is not None:
        try:
            job = job.with_speed(changes.speed)
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


def _answer(job: Job, method: opt.HowSimulated, *, banded: bool, advise: bool = False) -> at.Answer:
    with progress_bar("path") as progress:
        prediction = at.predict(job, method=method, progress=progress)
        band = None
        if banded and prediction.verdict.stopped is None:
            band = at.assess(prediction, progress=of(progress, "variants"))
            return_freed_memory()
        causes = at.explain(prediction, of(progress, "causes"))
        advice = None
        if advise:
            advice = at.advise(
                prediction, band, nominal=not banded, progress=of(progress, "advice")
            )
        correction = None
        lasts = prediction.motion.trajectory.duration
        if band is not None and band.outcome != "holds" and lasts <= LONGEST_TRIAL:
            correction = _try_correction(prediction, of(progress, "correction"))
    return at.Answer(prediction, causes, advice, band=band, correction=correction)


def _try_correction(prediction: at.Prediction, progress: OnProgress | None) -> at.Correction | None:
    """What corrected set-points reach on the nominal twin; None where they cannot be run."""
    from armtwin.prediction.correct import correct_prediction

    try:
        return correct_prediction(prediction, progress=progress)
    except ArmtwinError:  # the shifted path asks for more than the robot can do
        return None


def _loads(job: Job) -> BearingLoads:
    """What bearings and links carry along the commanded motion of a job."""
    from armtwin.analysis.bearing_loads import bearing_loads
    from armtwin.analysis.states import along

    robot = job.robot()
    return bearing_loads(robot, along(robot, plan_motion(robot, job).trajectory))


def _deliver(
    answer: at.Answer,
    run: CommandRun,
    passed: bool,
    *,
    whole_log: bool = False,
    more: Contents | None = None,
) -> None:
    """Write and show an answer with its log, its comparison, its advised job and other files.

    A log that is very large is only written where it is asked for.
    """
    contents: Contents = dict(more or {})
    recording = answer.prediction.log.recording
    size = 0.0 if whole_log else estimate_size(recording)
    if size <= LARGEST_LOG:
        contents[LOG] = partial(put_csv, recording)
    else:
        typer.echo(
            f"{LOG} is not written: it would have about {size:.0f} MB, more than "
            f"{LARGEST_LOG:.0f} MB. armtwin predict --whole-log writes it.",
            err=True,
        )
    if answer.comparison is not None:
        comparison = answer.comparison
        contents[COMPARED] = _comparison_csv(comparison.time, comparison.channels)
    best = None if answer.advice is None else answer.advice.best
    if best is not None and best.corrected is None:  # no job file has corrected points
        folder = run.place.path(ADVISED).parent
        contents[ADVISED] = best.job.seen_from(folder).to_toml_as_written()
    run.finish(answer, contents, passed=passed)


def _comparison_csv(time: Floats, channels: NamedArrays) -> str:
    """Measured and predicted series side by side, as CSV."""
    names = ["time"]
    columns = [time]
    for name, pair in channels.items():
        for which, values in zip(("measured", "predicted"), pair, strict=True):
            names.append(f"{name.replace(' ', '_')}_{which}")
            columns.append(values)
    return f"{','.join(names)}\n{rows_as_text(np.column_stack(columns)).decode()}"
