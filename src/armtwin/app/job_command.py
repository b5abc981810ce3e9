"""The command that makes a job: from the log of a dry run."""

from pathlib import Path
from typing import Annotated

import armtwin as at
from armtwin.app.export_commands import free_file
from armtwin.app.options import Carried, FileOutput, option, quantity, words_of_list
from armtwin.app.progress import progress_bar
from armtwin.app.showing import describe
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Pair
from armtwin.maths.units import Unit
from armtwin.prediction.job_check import JobCheck


def job(
    from_log: Annotated[
        Path, option("--from-log", "LOG", "A log of a run with the commanded positions q_ref.")
    ],
    robot: Annotated[
        str, option("--robot", "ROBOT", "A shipped robot, or a robot file (.toml, .urdf).")
    ],
    tolerance: Annotated[
        float, quantity("--tolerance", "m", 'Lateral and vertical tolerance, as "0.1 mm".')
    ],
    seams: Annotated[
        str | None,
        option(
            "--seams",
            "TIMES",
            'Where seams are in the log, as "1.2 to 3.5, 4 to 6 s"; by default found by stops and '
            "speed.",
        ),
    ] = None,
    *,
    carried: Carried,
    output: FileOutput,
) -> None:
    """Write a job file of a logged reference, with the controller's own zones and stops."""
    target = free_file(output.out or Path(f"{from_log.stem}.toml"), output, from_log)
    if target.suffix != ".toml":
        raise ArmtwinError(f"--out must be a job file that ends in .toml, got '{target}'")
    times = _read_times(seams or "")
    with progress_bar("log"):
        made = at.Job.from_log(carried.by(robot), from_log, tolerance=tolerance, seams=times)
    made.seen_from(target.parent).save(target)
    describe(JobCheck(at.Job.load(target)), output.json, [target])


def _read_times(text: str) -> tuple[Pair, ...]:
    """Times from and to of seams [s]."""
    found = []
    for word in words_of_list("--seams", text) if text else ():
        start, _, stop = word.removesuffix("s").partition(" to ")
        try:
            pair = Unit("s").read_word(f"{start} s"), Unit("s").read_word(f"{stop} s")
        except ArmtwinError:
            raise ArmtwinError(f'--seams must be as "1.2 to 3.5, 4 to 6 s", got {text!r}') from None
        if not pair[0] < pair[1]:
            raise ArmtwinError(f"--seams must be times from and to, rising, got {text!r}")
        found.append(pair)
    return tuple(found)
