"""What leaves the page: files where the user says, and the present state as text to copy."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path

from armtwin.app.correct_command import ENDINGS, points_program, points_text
from armtwin.app.options import drop_unset
from armtwin.app.studio.controls import METHOD
from armtwin.app.studio.opening import Opened, SentFiles
from armtwin.app.studio.workbench import Workbench
from armtwin.errors import ArmtwinError
from armtwin.files.atomic import check_file, write_file
from armtwin.jobs.job import Job
from armtwin.maths.batch import Record
from armtwin.prediction.answer import Answer
from armtwin.prediction.corrected_program import correct_program
from armtwin.prediction.update import RUNS
from armtwin.report.folder import refuse_inputs
from armtwin.report.result import write_report
from armtwin.sweeps.settings import differences

OPTIONS = {"speed": "--speed", "tool": "--tool", "model.servo": "--servo", METHOD: "--method"}
UNITS = {"speed": "mm/s"}  # of controls that have an option


def free_path(text: str, endings: tuple[str, ...], is_replaced: bool, opened: Opened) -> Path:
    """A path to write to, if it may be written; never that of what is opened."""
    path = Path(text.strip()).expanduser()
    if path.suffix.lower() not in endings:
        raise ArmtwinError(f"'{text}': the file must end in {' or '.join(endings)}")
    if not path.parent.is_dir():
        raise ArmtwinError(f"{path.parent}: there is no such folder")
    check_file(path)
    refuse_inputs([path], [Path(opened.job.origin)] if opened.job.origin else [])
    if os.path.lexists(path) and not is_replaced:
        raise ArmtwinError(f"{path}: exists already; choose another name, or replace it")
    return path


def _present(bench: Workbench) -> tuple[Opened, Answer]:
    """What is opened, and what is known of it."""
    if bench.opened is None or bench.answer is None:
        raise ArmtwinError("there is nothing to write: the present state cannot be run")
    return bench.opened, bench.answer


def save_job(bench: Workbench, text: str, is_replaced: bool) -> str:
    """Write the present state as a job file; a sentence that says so."""
    opened, answer = _present(bench)
    path = free_path(text, (".toml",), is_replaced, opened)
    job = Job(answer.prediction.job.description, opened.job.origin)
    _refuse_sent(job, bench.files)
    job.seen_from(path.parent).save(path)
    Job.load(path)
    return f"wrote {path}"


def _refuse_sent(job: Job, files: SentFiles) -> None:
    """Refuse a job that names files that only this studio has."""
    d = job.description
    named = [d.robot, d.reference, *(x.points for x in d.segment), *(x.file for x in d.force)]
    for name in named:
        if name and os.path.isfile(job.beside(name)) and files.holds(str(job.beside(name))):
            raise ArmtwinError(
                f"the job names {Path(name).name}, which only this studio has: open the job by its "
                "path in place of dropping it, then it can be saved"
            )


def save_report(bench: Workbench, text: str, is_replaced: bool) -> str:
    """Write the report of what is known; a sentence that says so."""
    opened, answer = _present(bench)
    path = free_path(text, (".html",), is_replaced, opened)
    write_report(answer, path)
    return f"wrote {path}"


def save_corrected(bench: Workbench, text: str, is_replaced: bool) -> str:
    """Write corrected points or a corrected program; a sentence that says so."""
    opened, answer = _present(bench)
    found = answer.correction
    if found is None:
        raise ArmtwinError("nothing is corrected yet: ask for the correction first")
    program = opened.plain.source
    endings = (".csv", *ENDINGS.values())
    if program is not None:
        endings = (*endings, program.read.path.suffix.lower())
    path = free_path(text, endings, is_replaced, opened)
    if program is not None and path.suffix.lower() == program.read.path.suffix.lower():
        _refuse_other_motion(opened, answer.prediction.job)
        written = correct_program(found, program)
        data = written.text.encode(program.read.encoding)
        write_file(path, lambda file: file.write(data))
        return f"wrote {path}, {written.points} points of it corrected"
    if path.suffix == ".csv":
        write_file(path, points_text(found))
    else:
        dialect = {ending: name for name, ending in ENDINGS.items()}[path.suffix.lower()]
        write_file(path, points_program(found, dialect))
    return f"wrote {path}"


def _refuse_other_motion(opened: Opened, job: Job) -> None:
    """Refuse to write a program again whose motion was changed beside it."""
    kept = {key: getattr(opened.plain.description, key) for key in RUNS}
    changed = differences(opened.plain.description, replace(job.description, **kept))
    if changed:
        keys = ", ".join(dict.fromkeys(str(place[0]) for place in changed))
        raise ArmtwinError(
            f"{keys}: changed here and not in the program, which is therefore not written again; "
            "reset them, or write the points"
        )


def as_command(bench: Workbench) -> str:
    """The command line that predicts the present state."""
    opened, _ = _present(bench)
    source, settings = opened.source, bench.settings
    if bench.files.holds(opened.plain.origin) or not opened.plain.origin:
        raise ArmtwinError("no command line has it: save the job, and predict that file")
    labels = {key: x.label for key, x in opened.settings.controls.items()}
    without = [labels.get(key, key) for key in settings if key not in OPTIONS]
    if without:
        raise ArmtwinError(
            f"no option has {', '.join(without)}: save the job, and predict that file"
        )
    options: Record = {f"--{key}": value for key, value in drop_unset(source.changes).items()}
    for key, value in settings.items():
        options[OPTIONS[key]] = f"{value} {UNITS[key]}" if key in UNITS else value
    words = ["armtwin", "predict", opened.plain.argument]
    for name, value in options.items():
        words += [name, str(value)]
    return shlex.join(words)


def as_python(bench: Workbench) -> str:
    """Python that predicts the present state."""
    opened, answer = _present(bench)
    if bench.files.holds(opened.plain.origin):
        raise ArmtwinError("its file is only in this studio: save the job, and load that file")
    job = answer.prediction.job
    changes = differences(opened.plain.description, job.description)
    lines = ["import armtwin as at"]
    if changes:
        lines.append("from armtwin.sweeps.settings import change_job")
    lines += ["", f"job = {opened.python}"]
    if changes:
        rows = [f"    {place!r}: {value!r},\n" for place, value in changes.items()]
        lines.append(f"job = change_job(job, {{\n{''.join(rows)}}})")
    method = answer.prediction.method
    lines.append(f"run = at.predict(job, method={method!r})")
    lines.append("print(run)")
    return "\n".join(lines) + "\n"


SAVES = {"job": save_job, "report": save_report, "corrected": save_corrected}
COPIES = {"command": as_command, "python": as_python}
