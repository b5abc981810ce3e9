"""The command that runs many predictions, keeps them, and shows them as a map."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import armtwin as at
from armtwin.app.options import Output, argument, flag, option
from armtwin.app.places import Source, result_folder
from armtwin.app.progress import progress_bar
from armtwin.app.run import REPORT, SHEET, CommandRun
from armtwin.app.showing import describe
from armtwin.errors import ArmtwinError
from armtwin.files.staging import Contents
from armtwin.maths.units import whole_number
from armtwin.prediction.answer import Answer
from armtwin.prediction.band.band import assess_run
from armtwin.report.folder import RESULT, ResultFolder

if TYPE_CHECKING:
    from armtwin.sweeps.cluster import Cluster
    from armtwin.sweeps.result import SweepResult
    from armtwin.sweeps.running import Progress
    from armtwin.sweeps.sweep import Sweep

TABLE, CSV, PARQUET, JOB = "results.sqlite", "results.csv", "results.parquet", "job.toml"


def sweep(
    file: str = argument("SWEEP", "A sweep file (.toml)."),
    workers: int | None = option("NUMBER", "Processes on this machine, in place of threads."),
    cluster: str | None = option(
        "ADDRESS", "Scheduler of dask distributed, as tcp://HOST:8786; local:N."
    ),
    tls_ca: Path | None = option(
        "FILE", "Of a tls:// cluster: certificate of its authority (PEM)."
    ),
    tls_certificate: Path | None = option("FILE", "Certificate of this machine."),
    tls_key: Path | None = option("FILE", "Key of this machine."),
    dry_run: bool = flag("--dry-run", "Say how many runs, how long, how large; nothing is kept."),
    report: list[int] | None = option("RUN", "Make the report of a run, by its number."),
    csv: bool = flag("--csv", "Write the table as results.csv too."),
    parquet: bool = flag("--parquet", "Write the table as results.parquet too."),
    *,
    output: Output,
) -> None:
    """Run many predictions over values of a job or robot; a stopped sweep goes on where it was.

    Exit code 1: none of the runs holds.
    """
    from armtwin.sweeps.export import check_parquet

    if parquet:
        check_parquet()
    scheduler = _scheduler(cluster, tls_ca, tls_certificate, tls_key)
    asked = at.Sweep.load(file)
    len(asked)  # refuses what cannot be run
    for number in report or []:
        if not 1 <= number <= len(asked):
            raise ArmtwinError(f"--report must be a run from 1 to {len(asked)}, got {number}")
    source = Source("sweep", asked.name, asked.origin)
    names = [RESULT, REPORT, SHEET]
    names += [CSV] if csv else []
    names += [PARQUET] if parquet else []
    place = result_folder(source, output, asked.files, names)
    if dry_run:
        _estimate(asked, place, (workers, scheduler), output.json)
        return
    found = _run(asked, place, workers, scheduler)
    made = [_report_run(found, number - 1, place, output.force) for number in report or []]
    contents: Contents = {}
    if csv:
        contents[CSV] = found.csv()
    if parquet:
        contents[PARQUET] = found.parquet()
    reports = _list_run_reports(found, place.path(RESULT).parent)
    shown = replace(found, reports=reports)
    run = CommandRun(place, output)
    run.finish(shown, contents, passed=bool(found.held), before=[place.path(TABLE), *made])


def _scheduler(address: str | None, *files: Path | None) -> Cluster | None:
    """The cluster that is asked for."""
    if address is not None:
        return at.Cluster(address, *files)
    if any(file is not None for file in files):
        raise ArmtwinError("--tls-ca, --tls-certificate and --tls-key need --cluster tls://HOST")
    return None


def _estimate(
    asked: Sweep, place: ResultFolder, where: tuple[int | None, Cluster | None], json: bool
) -> None:
    """Say what the sweep would take."""
    from armtwin.sweeps.cluster import LOCAL
    from armtwin.sweeps.estimate import estimate
    from armtwin.sweeps.running import check_place

    workers, cluster = where
    check_place(workers, cluster)
    width = workers
    if cluster is not None:
        given = cluster.address.removeprefix(LOCAL)
        width = int(given) if given.isdigit() else None
    with progress_bar("timing"):
        found = estimate(asked, place.path(TABLE), width)
    describe(found, json)


def _run(
    asked: Sweep, place: ResultFolder, workers: int | None, cluster: Cluster | None
) -> SweepResult:
    """Run what is missing; the folder is ours from the first moment on, so that it can go on."""
    from armtwin.sweeps.running import check_place
    from armtwin.sweeps.words import time_in_words

    check_place(workers, cluster)
    table = place.path(TABLE)
    if not table.exists():
        begun = {"format": 1, "armtwin": at.__version__, "sweep": asked.name, "runs": len(asked)}
        place.write(begun, {})
    with progress_bar("runs") as bar:

        def watch(now: Progress) -> None:
            if bar is not None:
                left = "" if now.left_s is None else f", {time_in_words(now.left_s)} left"
                bar(f"{now.done} of {now.total} runs{left}", now.done / now.total)

        return at.sweep(asked, table, workers=workers, cluster=cluster, progress=watch)


def _list_run_reports(found: SweepResult, folder: Path) -> dict[int, str]:
    """Reports of single runs that were made, by the run's number, as seen from the sweep's."""
    made = {}
    for path in folder.glob(f"run_*/{REPORT}"):
        number = whole_number(path.parent.name.removeprefix("run_"))
        if number is not None and number <= len(found.rows):
            made[number - 1] = f"{path.parent.name}/{REPORT}"
    return made


def _report_run(found: SweepResult, number: int, place: ResultFolder, force: bool) -> Path:
    """The report of one run with its causes, and its job, in a folder of the sweep's."""
    from armtwin.report.page import to_html
    from armtwin.report.result_file import to_result

    folder = place.path(f"run_{number + 1}")
    run = {**place.run, "options": {"run": number + 1}}
    single = ResultFolder(folder, run, (RESULT, REPORT, JOB), found.sweep.files, force)
    single.check()
    with progress_bar("report"):
        prediction = found.prediction(number)
        band = assess_run(prediction) if found.sweep.description.band else None
        answer = Answer(prediction, at.explain(prediction), band=band)
        report = answer.sections()
    job = found.job(number).seen_from(folder)
    single.write(to_result(report), {REPORT: to_html(report), JOB: job.to_toml()})
    return single.path(REPORT)
