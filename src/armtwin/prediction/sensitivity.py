"""What the answer of a job, an experiment or a step test depends on; which assumed number most."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armtwin.analysis.scaled_keys import scaled
from armtwin.analysis.sensitivity import Features, Measure, Sensitivity, sensitivity_of
from armtwin.errors import ArmtwinError
from armtwin.files.shape import Tables
from armtwin.files.writing import to_tables
from armtwin.jobs.experiment import Experiment
from armtwin.jobs.experiment_run import run_experiment
from armtwin.jobs.job import Job
from armtwin.prediction.predict import Prediction, predict
from armtwin.simulation.responses import StepTest

CHANGE = 0.1  # relative change that is tried
IDLE = ("limits", "rate", "name")  # words of keys that do not act in a run
STOPS = ("following_error", "unstable")  # events that end a run


def sensitivity(
    what: Job | Experiment | StepTest,
    keys: Sequence[str],
    *,
    by: float = CHANGE,
    features: Sequence[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Sensitivity:
    """What the path error of a job, the features of an experiment or a step response depend on.

    Args:
        what: A job, an experiment that asks for features, or a step test.
        keys: Key paths of the robot file, or of the bench of an experiment; a list, a group or a
            star moves together, as do paths joined by "+".
        by: Relative change, both ways.
        features: Names of the features, the first of which ranks; by default all.
        progress: Called with the share that is done.
    """
    if not keys:
        raise ArmtwinError("sensitivity needs at least one key path of the robot file")
    tables, measure = _measured(what)
    chosen = measure if features is None else _only(measure, features)
    return sensitivity_of(tables, keys, by, chosen, progress)


def _measured(what: Job | Experiment | StepTest) -> tuple[Tables, Measure]:
    """The numbers that may be changed, and what is measured with other ones."""
    if isinstance(what, StepTest):
        return to_tables(what.robot.description), what.measured
    if isinstance(what, Job):
        return to_tables(what.robot().description), _measured_job(what)
    if isinstance(what, Experiment):
        return what.tables(), _measured_experiment(what)
    kind = type(what).__name__
    raise ArmtwinError(f"sensitivity needs a Job, an Experiment or a StepTest, got a {kind}")


def _only(measure: Measure, names: Sequence[str]) -> Measure:
    """The measured function with some of its features."""

    def some(values: Mapping[str, Any]) -> Features:
        found = measure(values)
        unknown = [name for name in names if name not in found]
        if unknown:
            known = ", ".join(found)
            raise ArmtwinError(f"feature '{unknown[0]}' is not known. Known: {known}.")
        return {name: found[name] for name in names}

    return some


def _measured_experiment(experiment: Experiment) -> Measure:
    """Features that an experiment asks for."""
    if not experiment.description.features:
        raise experiment.refused("features must name what is read off the responses")

    def measured(values: Mapping[str, Any]) -> Features:
        return run_experiment(experiment.with_values(values)).measured()

    return measured


def _measured_job(job: Job) -> Measure:
    """Largest share of a job's tolerance, and peaks of its path error over the whole run [m]."""

    def measured(values: Mapping[str, Any]) -> Features:
        override = {**job.description.override, **values}
        changed = Job(replace(job.description, override=override), job.origin)
        prediction = predict(None, changed)
        stops = [event.text for event in prediction.log.events if event.kind in STOPS]
        if stops:
            raise ArmtwinError(stops[0])
        error = prediction.path_error
        return {
            "error over tolerance": float(prediction.verdict.worst_ratio),
            "lateral peak": float(np.abs(error.lateral).max()),
            "vertical peak": float(np.abs(error.vertical).max()),
        }

    return measured


@dataclass(frozen=True)
class AssumedEffect:
    """What a change of an assumed number does.

    Attributes:
        key: Key path in the robot file.
        change: Relative change that was tried, both ways.
        effect: Relative change of the largest error over its tolerance when the number is larger;
            inf where the run then stops.
        effect_less: The same when it is smaller.
        source: Where the number comes from.
    """

    key: str
    change: float
    effect: float
    effect_less: float
    source: str

    @property
    def strength(self) -> float:
        """The larger of both effects."""
        return max(abs(self.effect), abs(self.effect_less))


def sensitivities(
    prediction: Prediction, ratios: Callable[[Sequence[Job]], Sequence[float]], most: int = 5
) -> tuple[AssumedEffect, ...]:
    """The assumed numbers that change the largest error most, each by a tenth both ways.

    Args:
        prediction: What is changed.
        ratios: Gives the largest error over its tolerance of each of several jobs; inf where it
            stops, NaN where it was not tried.
        most: How many to tell.
    """
    base = ratios([prediction.job])[0]
    if not np.isfinite(base):
        return ()
    tables = to_tables(prediction.robot.description)
    origins, jobs = [], []
    for origin in prediction.assumed:
        if any(word in origin.path for word in IDLE):
            continue
        pair = []
        for factor in (1 + CHANGE, 1 - CHANGE):
            changed = _with_values(prediction, scaled(tables, origin.path, factor))
            if changed is not None:
                pair.append(changed)
        if len(pair) == 2:
            origins.append(origin)
            jobs += pair
    measured = ratios(jobs)
    found = []
    for k, origin in enumerate(origins):
        more, less = measured[2 * k], measured[2 * k + 1]
        if not np.isnan([more, less]).any():
            effects = more / base - 1, less / base - 1
            found.append(AssumedEffect(origin.path, CHANGE, *effects, origin.text))
    found.sort(key=lambda effect: -effect.strength)
    return tuple(found[:most])


def _with_values(prediction: Prediction, values: dict[str, Any]) -> Job | None:
    """The job with other numbers; None where there are none or the robot cannot have them."""
    if not values:
        return None
    job = prediction.job
    override = {**job.description.override, **values}
    changed = Job(replace(job.description, override=override), job.origin)
    try:
        changed.robot(prediction.given)
    except ArmtwinError:  # a body that cannot exist, a rate that does not divide
        return None
    return changed
