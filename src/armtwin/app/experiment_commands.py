"""The commands of experiments: simulate, clamp, transmission, frequency."""

from functools import partial

import armtwin as at
from armtwin.app import options as opt
from armtwin.app.places import Source, files_of_log, words_of
from armtwin.app.progress import of, progress_bar
from armtwin.app.run import LOG, folder_run, inputs_of, read_logs, robot_run
from armtwin.app.showing import describe
from armtwin.logs.csv_files import put_csv
from armtwin.maths.units import Unit


def simulate(
    experiment: str = opt.argument(
        "EXPERIMENT", "A shipped experiment, or an experiment file (.toml)."
    ),
    foreign: bool = opt.flag("--foreign", "Run the external FMU it names: third-party code."),
    *,
    output: opt.Output,
) -> None:
    """Run an experiment on a bench or a robot: log, report, features.

    Exit code 1: it ended early.
    """
    asked = at.Experiment.load(experiment)
    source = Source("simulate", asked.description.name, asked.origin)
    run = folder_run(source, output, asked.files, [LOG])
    with progress_bar("experiment") as progress:
        found = at.run_experiment(asked, foreign=foreign, progress=of(progress, "experiment"))
    log = {LOG: partial(put_csv, found.log.recording)}
    run.finish(found, log, passed=not found.ended_early)


def experiments(name: opt.ShippedName = None, json: opt.Json = False) -> None:
    """List the shipped experiments, or show one of them; nothing is simulated."""
    from armtwin.jobs.shipped import experiments as list_experiments

    describe(list_experiments() if name is None else at.Experiment.load(name), json)


def clamp(
    log: opt.LogFile,
    gear_ratio: float | None = opt.quantity(
        "--gear-ratio", Unit("1"), "Motor angle per joint angle, for joint units."
    ),
    joint: opt.Joint = None,
    robot: str | None = opt.option(
        "--robot", "ROBOT", "Whose joint it is, for its gear and motor."
    ),
    columns: opt.Columns = None,
    *,
    output: opt.Output,
) -> None:
    """Stiffness, backlash and friction of a transmission from the log of its clamped joint.

    The log has time, q_m1 (or q1), tau_m1 and so on. Exit code 1: no number is headlined.
    """
    from armtwin.jobs.recreation import recreate

    given = {"gear_ratio": gear_ratio, "joint": joint, "robot": robot}
    options = opt.drop_unset(given)
    name = log.name.partition(".")[0]
    source = Source("clamp", name, str(log), options, words_of(options))
    run = folder_run(source, output, files_of_log(log, columns))
    with progress_bar("curve") as progress:
        read = at.Log.read(log, columns)
        own = None if robot is None else at.Robot.load(robot)
        found = at.clamp(read, gear_ratio=gear_ratio, joint=joint, robot=own)
        if progress is not None:
            progress("recreate", 0.5)
        recreation = recreate(found)
    run.finish(recreation, passed=not found.headline.doubts)


def transmission(
    robot: opt.RobotFile,
    logs: opt.LogFiles,
    validate: opt.Validate = None,
    columns: opt.Columns = None,
    *,
    carried: opt.Carried,
    output: opt.Output,
) -> None:
    """Stiffness, lost motion and side of friction from logs of two encoders, q and q_link.

    Exit code 1: no stiffness is identifiable.
    """
    prior = carried.by(robot)
    run = robot_run("transmission", prior, output, inputs_of(robot, [*logs, validate], columns))
    with progress_bar("logs"):
        unseen = None if validate is None else at.Log.read(validate, columns)
        found = at.identify_transmission(prior, read_logs(logs, columns), validate=unseen)
    run.finish(found, robot=found.robot, passed=found.told)


def frequency(
    log: opt.LogFile,
    given: str = opt.option("--input", "CHANNEL", "Channel of the input.", default="q_ref"),
    answer: str = opt.option("--output", "CHANNEL", "Channel of the output.", default="q"),
    joint: opt.Joint = None,
    window: float | None = opt.quantity("--window", "s", 'Length of a window, as "0.5 s".'),
    columns: opt.Columns = None,
    *,
    output: opt.Output,
) -> None:
    """Frequency response with coherence from one channel of a log to another."""
    options = {"input": given, "output": answer, "joint": joint, "window_s": window}
    words = []
    if (given, answer) != ("q_ref", "q"):
        words.append(f"{given} to {answer}")
    if joint is not None:
        words.append(f"joint {joint}")
    if window is not None:
        words.append(f"{window:g} s")
    source = Source("frequency", log.name.partition(".")[0], str(log), options, tuple(words))
    run = folder_run(source, output, files_of_log(log, columns))
    with progress_bar("response"):
        read = at.Log.read(log, columns)
        found = at.log_response(read, given, answer, window=window, joint=joint)
    run.finish(found)
