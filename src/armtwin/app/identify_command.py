"""The command that identifies a robot from its logs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import armtwin as at
from armtwin.app import options as opt
from armtwin.app.progress import Say, of, progress_bar
from armtwin.app.run import inputs_of, robot_run
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import OnProgress, Record
from armtwin.maths.units import whole_number

if TYPE_CHECKING:
    from armtwin.identification.rigid_body.recipe import RecipeFile

RECIPE = "recipe.toml"


def identify(
    robot: opt.RobotFile,
    logs: opt.LogFiles,
    validate: opt.Validate = None,
    torque: opt.Torque = None,
    cutoff: opt.Cutoff = None,
    columns: opt.Columns = None,
    gravity: opt.Gravity = None,
    mounting: opt.Mounting = None,
    estimator: Literal["consistent", "ridge", "truncated"] | None = opt.option(
        "How parameters are estimated; consistent by default."
    ),
    motion: Literal["measured", "reference", "simulated"] | None = opt.option(
        "Motion of the regressor: measured, reference, or simulated in loop."
    ),
    period: opt.Period = None,
    periods: str | None = opt.option("RANGE", 'First and last period used, as "2-3".'),
    average: bool = opt.flag("--average", "The logs repeat one motion: use their mean."),
    robust: bool = opt.flag("--robust", "Rows with a large residual count less."),
    friction_only: bool = opt.flag("--friction-only", "Keep inertias, renew friction."),
    trust: bool = opt.flag("--trust", "Go on where a check doubts the torque."),
    recipe_file: Path | None = opt.option(
        "--recipe", "FILE", "Choices from a recipe file (.toml)."
    ),
    against: list[Path] | None = opt.option("ROBOT", "Another model to show beside."),
    *,
    carried: opt.Carried,
    output: opt.Output,
) -> None:
    """Dynamic parameters from logs, with the robot file as prior: identified robot file and report.

    Exit code 1: the validation failed.
    """
    options = {
        "estimator": estimator,
        "motion": motion,
        "period": period,
        "periods": None if periods is None else _periods(periods),
        "average": average or None,
        "robust": robust or None,
        "only": "friction" if friction_only else None,
        "trust": trust or None,
    }
    beside = {"torque": torque, "cutoff": cutoff, **vars(carried)}
    chosen = _read_choices(recipe_file, beside, options)
    prior = _prior(robot, chosen, gravity, mounting)
    models = against or []
    inputs = inputs_of(robot, [*logs, validate], columns) + models
    if recipe_file is not None:
        inputs.append(recipe_file)
    run = robot_run("identify", prior, output, inputs, [RECIPE])
    with progress_bar("logs") as progress:
        read = _read(logs, columns, progress)
        unseen = None if validate is None else at.Log.read(validate, columns)
        others = _models(models, chosen)
        found = _run_identification(prior, read, chosen, of(progress, "fit"))
        held_out = of(progress, "left out")
        result = at.judge(prior, found, unseen, others=others or None, progress=held_out)
    from armtwin.identification.rigid_body.recipe import recipe_text

    recipe = recipe_text(_describe_choices(at.Robot.load(robot), prior, found))
    run.finish(result, {RECIPE: recipe}, robot=found.robot, passed=not result.failed)


def _run_identification(
    prior: at.Robot, logs: list[at.Log], chosen: RecipeFile, progress: OnProgress | None
) -> at.Estimate:
    """The estimate, by the motion that the recipe says."""
    options: Record = {"torque": chosen.torque, "cutoff": chosen.cutoff}
    if chosen.recipe.motion == "simulated":
        return at.identify_in_loop(prior, logs, recipe=chosen.recipe, **options).fit
    return at.identify(prior, logs, recipe=chosen.recipe, progress=progress, **options)


def _read_choices(file: Path | None, beside: Record, options: Record) -> RecipeFile:
    """The choices of a recipe file, with those that options give in their place."""
    from armtwin.identification.rigid_body.recipe import RecipeFile, read_recipe

    found = RecipeFile(at.Recipe()) if file is None else read_recipe(file)
    recipe = replace(found.recipe, **opt.drop_unset(options))
    return replace(found, recipe=recipe, **opt.drop_unset(beside))


def _prior(robot: str, chosen: RecipeFile, gravity: str | None, mounting: str | None) -> at.Robot:
    """The robot as it was when logged: what it carried, and how it is mounted."""
    prior = opt.Carried(chosen.tool, chosen.payload).by(robot)
    if chosen.gravity is not None:
        prior = prior.with_gravity(chosen.gravity, "measured: as given to identify")
    return opt.on_base(prior, gravity, mounting, "identify")


def _models(paths: list[Path], chosen: RecipeFile) -> dict[str, at.Robot]:
    """Other models of the same arm, carrying the same."""
    carried = opt.Carried(chosen.tool, chosen.payload)
    return {path.as_posix(): carried.by(path) for path in paths}


def _describe_choices(file: at.Robot, prior: at.Robot, found: at.Estimate) -> RecipeFile:
    """What must be said to identify the same again from the same robot file."""
    from armtwin.identification.rigid_body.recipe import RecipeFile

    cutoffs = {how.cutoff for how in found.cleaning}
    what = prior.description
    is_given = what.gravity != file.description.gravity
    return RecipeFile(
        found.recipe,
        torque=found.torque_source,
        # logs of other rates may need others, which are chosen again
        cutoff=cutoffs.pop() if len(cutoffs) == 1 else None,
        tool=what.mounted.tool or None,
        payload=what.mounted.payload or None,
        gravity=what.gravity if is_given else None,
    )


def _read(logs: list[Path], columns: Path | None, progress: Say | None) -> list[at.Log]:
    found = []
    for number, path in enumerate(logs):
        if progress is not None:
            progress("logs", number / len(logs))
        found.append(at.Log.read(path, columns))
    return found


def _periods(text: str) -> tuple[int, int]:
    """First period (0 is the first) and number of periods, from "2-3" or "2"."""
    words = text.split("-")
    first = whole_number(words[0].strip())
    last = whole_number(words[-1].strip())
    if not first or last is None or len(words) > 2:
        raise ArmtwinError(
            f'--periods must be a number or two as "2-3", counted from 1, got {text}'
        )
    if last < first:
        raise ArmtwinError(f"--periods must not run backwards, got {text}")
    return first - 1, last - first + 1
