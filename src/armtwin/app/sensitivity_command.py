"""The command that shows what the answer of a job or an experiment depends on."""

import armtwin as at
from armtwin.app.options import Output, argument, option, quantity
from armtwin.app.places import Source, files_of_job, is_experiment
from armtwin.app.progress import of, progress_bar
from armtwin.app.run import folder_run
from armtwin.errors import ArmtwinError
from armtwin.jobs.experiment import Experiment
from armtwin.jobs.job import Job
from armtwin.maths.batch import Record

CHANGE = 0.1  # relative change of a number, where --by gives no other


def sensitivity(
    what: str = argument("JOB|EXPERIMENT", "A job or an experiment, shipped or a file (.toml)."),
    keys: list[str] = argument(
        "KEY",
        'Key paths of the robot file or the bench, as "friction.*.viscous", '
        '"motor + gear", or quantities that a verdict depends on, as servo.bandwidth.',
    ),
    by: float = quantity("--by", "1", 'Relative change, + and -, as "10 %".', default=CHANGE),
    features: list[str] | None = option(
        "--feature",
        "NAME",
        'What is looked at, as "overshoot" or "period"; the first ranks. By default all.',
    ),
    *,
    output: Output,
) -> None:
    """Change numbers up and down: effect on a job's path error or an experiment's features."""
    asked = Experiment.load(what) if is_experiment(what) else Job.load(what)
    if by >= 1:
        raise ArmtwinError(f"--by must be less than 100 %, got {100 * by:g} %")
    chosen = None if not features else [name.replace("_", " ") for name in features]
    options: Record = {"keys": keys, "by": by}
    words = [*keys] if by == CHANGE else [*keys, f"{100 * by:g} %"]
    if chosen is not None:
        options["features"] = chosen
        words += chosen
    source = Source("sensitivity", asked.name, asked.origin, options, tuple(words))
    files = asked.files if isinstance(asked, Experiment) else files_of_job(asked)
    run = folder_run(source, output, files)
    with progress_bar("runs") as progress:
        share = of(progress, "runs")
        found = at.sensitivity(asked, keys, by=by, features=chosen, progress=share)
    run.finish(found)
