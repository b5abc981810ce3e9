"""What the answer of a job, an experiment or a step test depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from armtwin.analysis.scaled_keys import find_differences, scale_together
from armtwin.analysis.sensitivity import Features, Measure, Moved, Sensitivity, sensitivity_of
from armtwin.errors import ArmtwinError
from armtwin.files.writing import to_tables
from armtwin.jobs.experiment import Experiment
from armtwin.jobs.job import Job
from armtwin.jobs.run_experiment import run_experiment
from armtwin.logs.recording import find_stop
from armtwin.maths.batch import OnProgress, Record
from armtwin.prediction.band.quantities import quantities_for
from armtwin.prediction.band.quantity import Variant
from armtwin.prediction.predict import predict
from armtwin.simulation.responses import StepTest

CHANGE = 0.1  # relative change that is tried


def sensitivity(
    what: Job | Experiment | StepTest,
    keys: Sequence[str],
    *,
    by: float = CHANGE,
    features: Sequence[str] | None = None,
    progress: OnProgress | None = None,
) -> Sensitivity:
    """What the path error of a job, the features of an experiment or a step response depend on.

    Args:
        what: A job, an experiment that asks for features, or a step test.
        keys: Key paths of the robot file, or of the bench of an experiment; a list, a group or a
            star moves together, as do paths joined by "+". Of a job also the names of quantities
            varied by its 90 % interval, as "servo.bandwidth", which move all that belongs to it.
        by: Relative change, both ways.
        features: Names of the features, the first of which ranks; by default all.
        progress: Called with the share that is done.
    """
    if not keys:
        raise ArmtwinError("sensitivity needs at least one key path of the robot file")
    moved, measure = _choose_measure(what)
    chosen = measure if features is None else _only(measure, features)
    found = sensitivity_of(moved, keys, by, chosen, progress)
    return replace(found, name=what.robot.name if isinstance(what, StepTest) else what.name)


def _choose_measure(what: Job | Experiment | StepTest) -> tuple[Moved, Measure]:
    """What moves the numbers that may be changed, and what is measured with other ones."""
    if isinstance(what, StepTest):
        return partial(scale_together, to_tables(what.robot.description)), what.measured
    if isinstance(what, Job):
        return scale_in_job(what), _measure_job(what)
    if isinstance(what, Experiment):
        return partial(scale_together, what.numbers()), _measure_experiment(what)
    kind = type(what).__name__
    raise ArmtwinError(f"sensitivity needs a Job, an Experiment or a StepTest, got a {kind}")


def scale_in_job(job: Job) -> Moved:
    """Numbers of a job's robot by key path, or by the quantity that they belong to."""
    robot = job.robot()
    tables = to_tables(robot.description)
    quantities = quantities_for(robot, job)

    def scale_numbers(key: str, factor: float) -> Record:
        chosen = [quantity for quantity in quantities if quantity.name == key]
        chosen = chosen or [quantity for quantity in quantities if key in quantity.names]
        if not chosen:
            return scale_together(tables, key, factor)
        variant = Variant(robot.description)
        for quantity in chosen:
            if not quantity.is_ratio:
                raise ArmtwinError(f"'{key}' is no number of the robot file, so no factor moves it")
            variant = quantity.change(variant, factor)
        return find_differences(tables, to_tables(variant.description))

    return scale_numbers


def _only(measure: Measure, names: Sequence[str]) -> Measure:
    """The measured function with given features only."""

    def some(values: Mapping[str, Any]) -> Features:
        found = measure(values)
        unknown = [name for name in names if name not in found]
        if unknown:
            known = ", ".join(found)
            raise ArmtwinError(f"feature '{unknown[0]}' is not known. Known: {known}.")
        return {name: found[name] for name in names}

    return some


def _measure_experiment(experiment: Experiment) -> Measure:
    """Features that an experiment asks for."""
    if not experiment.description.features:
        raise experiment.refused("features must name what is read off the responses")

    def measure_features(values: Mapping[str, Any]) -> Features:
        return run_experiment(experiment.with_values(values)).measured()

    return measure_features


def _measure_job(job: Job) -> Measure:
    """Largest share of a job's tolerance, and peaks of its path error with the process on [m]."""

    def measure_features(values: Mapping[str, Any]) -> Features:
        override = {**job.description.override, **values}
        changed = Job(replace(job.description, override=override), job.origin)
        prediction = predict(changed)
        stop = find_stop(prediction.log.events)
        if stop is not None:
            raise ArmtwinError(stop.text)
        peaks = prediction.verdict.peaks
        return {
            "error over tolerance": float(prediction.verdict.worst_ratio),
            "lateral peak": peaks["lateral"],
            "vertical peak": peaks["vertical"],
        }

    return measure_features
