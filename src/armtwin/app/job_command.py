"""The command that makes a job: from a robot program, or from the log of a dry run."""

from pathlib import Path

import armtwin as at
from armtwin.app import options as opt
from armtwin.app.export_commands import free_file
from armtwin.app.progress import progress_bar
from armtwin.app.showing import describe
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Pair
from armtwin.maths.units import Unit
from armtwin.prediction.job_check import JobCheck


def job(
    program: Path | None = opt.argument(
        "FILE", "A robot program: KRL, RAPID, Fanuc LS, URScript, G-code, or points.", default=None
    ),
    from_log: Path | None = opt.option("LOG", "A log of a run with the commanded positions q_ref."),
    seams: str | None = opt.option(
        "TIMES",
        'Where seams are in the log, as "1.2 to 3.5, 4 to 6 s"; by default found by stops and '
        "speed.",
    ),
    *,
    changes: opt.Changes,
    payload: opt.Payload = None,
    output: opt.FileOutput,
) -> None:
    """Write a job file of a robot program, or of a logged reference with the controller's zones."""
    source = from_log or program
    if source is None or (from_log is not None and program is not None):
        raise ArmtwinError("job needs a robot program, or a log by --from-log, and not both")
    for key in ("robot", "tolerance"):
        if getattr(changes, key) is None:
            raise ArmtwinError(f"{source}: a job needs --{key}")
    target = free_file(output.out or Path(f"{source.stem}.toml"), output, source)
    if target.suffix != ".toml":
        raise ArmtwinError(f"--out must be a job file that ends in .toml, got '{target}'")
    if from_log is None:
        if seams is not None:
            raise ArmtwinError("--seams is for a log; a program has --stretch")
        made = changes.load(str(source))
    else:
        carrying = opt.Carried(changes.tool, payload).by(changes.robot or "")
        times = _read_times(seams or "")
        with progress_bar("log"):
            made = at.Job.from_log(
                carrying, from_log, tolerance=changes.tolerance or 0.0, seams=times
            )
    made.seen_from(target.parent).save(target)
    describe(JobCheck(at.Job.load(target)), output.json, [target])


def _read_times(text: str) -> tuple[Pair, ...]:
    """Times from and to of seams [s]."""
    found = []
    for word in opt.words_of_list("--seams", text) if text else ():
        start, _, stop = word.removesuffix("s").partition(" to ")
        try:
            pair = Unit("s").read_word(f"{start} s"), Unit("s").read_word(f"{stop} s")
        except ArmtwinError:
            raise ArmtwinError(f'--seams must be as "1.2 to 3.5, 4 to 6 s", got {text!r}') from None
        if not pair[0] < pair[1]:
            raise ArmtwinError(f"--seams must be times from and to, rising, got {text!r}")
        found.append(pair)
    return tuple(found)
