"""Each log, or each part of a single one, predicted from the others by a fit that never saw it.

Robots side by side: parameters of several models of one arm, and how each predicts a log.

Ref: [Waiboer 2007, figures 4.9 to 4.15: M_F of the factory, M_1 and M_2 of two motions, M_b of a
second robot]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.resampling import rate_of
from armtwin.identification.rigid_body.data.clean_log import cut, cut_middle
from armtwin.identification.rigid_body.evaluation.estimate import Estimate, Validation, pool_nrmse
from armtwin.identification.rigid_body.identify import identify
from armtwin.logs.averaging import select_periods
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, Names, OnProgress
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import Number
from armtwin.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class ModelsSideBySide:
    """Models compared.

    Attributes:
        names: Names of the models; the first is the prior, the second the estimate.
        parameters: Names of the parameters.
        scaled: Parameters over the sizes of the prior's, (models, p).
        told: Share of each parameter that the estimate's logs identify, (p,).
        validation: Each model's prediction of the log.
    """

    names: Names
    parameters: Names
    scaled: Floats
    told: Floats
    validation: tuple[Validation, ...]


def side_by_side(found: Estimate, others: Mapping[str, Robot], log: Log) -> ModelsSideBySide:
    """The prior, an estimate and other models of the same arm, on one log."""
    models = {"prior": found.prior, "estimate": found.robot}
    for name, robot in others.items():
        if name in models:
            raise ArmtwinError(f"another model must not be called '{name}'")
        _check_parameters(found, name, robot)
    models |= others
    values, validation = [], []
    for robot in models.values():
        known = dict(zip(robot.parameter_names, robot.parameters, strict=True))  # 0 without a term
        values.append([known.get(name, 0.0) for name in found.prior.parameter_names])
        validation.append(found.validate(log, robot=robot))
    return ModelsSideBySide(
        names=tuple(models),
        parameters=found.prior.parameter_names,
        scaled=np.array(values) / found.decomposition.free.sizes,
        told=np.array([parameter.told for parameter in found.table]),
        validation=tuple(validation),
    )


def _check_parameters(found: Estimate, name: str, robot: Robot) -> None:
    """Refuse a model that has other parameters than the robot file."""
    of_file = found.model.robot
    if set(of_file.parameter_names) <= set(robot.parameter_names):
        return
    wrong = next(x for x in of_file.parameter_names if x not in robot.parameter_names)
    raise ArmtwinError(
        f"model '{name}' must have the parameters of '{of_file.name}'; it differs in {wrong}"
    )


def model_blocks(models: ModelsSideBySide, joints: Sequence[str]) -> show.Blocks:
    """Errors of the models joint by joint, and their parameters."""
    errors = np.array([validation.nrmse for validation in models.validation])
    means = {"mean": np.nanmean(errors, axis=1)}
    by_joint = dict(zip(joints, errors.T, strict=True)) | means
    columns = show.list_columns(model="NRMSE %") + show.Column.alike(Number(places=1), *by_joint)
    yield show.Table(columns, show.tabulate(model=models.names, **by_joint))
    by_model = dict(zip(models.names, models.scaled, strict=True))
    number = np.arange(1.0, len(models.parameters) + 1)
    layers = tuple(show.Points(x, number, y, names=models.parameters) for x, y in by_model.items())
    yield show.Chart(
        "Parameters of all models", show.Axis("parameter"), show.Axis("value over size"), layers
    )
    columns = show.list_columns(parameter="parameter over its size in the prior")
    columns += show.Column.alike(Number(places=3), *models.names)
    columns += show.list_columns(identified=("identified", Number(places=2)))
    records = show.tabulate(parameter=models.parameters, **by_model, identified=models.told)
    yield show.Table(columns, records, folded="Parameters of all models")


PARTS = 4  # of a single log
SHORTEST = 200  # samples of a part
SAMPLES = 100_000  # of the others from which a part is predicted, at most


@dataclass(frozen=True, eq=False)
class LeftOutPredictions:
    """Predictions of each part by a fit that never saw it.

    Attributes:
        names: Names of the parts.
        parts: Predicted against measured torque of each.
        prior: Predictions of each by the robot as it was before.
        share: Share of the samples of the others that each fit was made from.
    """

    names: Names
    parts: tuple[Validation, ...]
    prior: tuple[Validation, ...]
    share: float = 1.0

    @property
    def nrmse(self) -> Floats:
        """NRMSE of each joint over all parts, (n,) [%]."""
        return pool_nrmse(self.parts)


def leave_one_out(
    robot: Robot, found: Estimate, progress: OnProgress | None = None
) -> LeftOutPredictions:
    """Predict each log of an estimate from the others, of long ones from their middle.

    Args:
        robot: The robot that the estimate started from.
        found: The estimate, whose choices are kept.
        progress: Called with the share of the work that is done.
    """
    logs, names = _parts(found)
    # the logs were checked as a whole, of which a part shows less
    recipe = replace(found.recipe, average=False, periods=None, trust=True)
    if recipe.motion == "simulated":  # the logs of the estimate hold the simulated motion
        recipe = replace(recipe, motion="measured")
    source, cutoff = found.torque_source, found.cutoff
    parts, prior = [], []
    samples = sum(len(log.time) for log in logs) * (1 - 1 / len(logs))
    share = 1.0 if recipe.period is not None else min(1.0, SAMPLES / samples)
    middles = [log if share == 1 else cut_middle(log, share) for log in logs]
    for k, log in enumerate(logs):
        others = [*middles[:k], *middles[k + 1 :]]
        fit = identify(robot, others, torque=source, cutoff=cutoff, recipe=recipe)
        parts.append(fit.validate(log))
        prior.append(fit.validate(log, robot=fit.prior))
        if progress is not None:
            progress((k + 1) / len(logs))
    return LeftOutPredictions(names, tuple(parts), tuple(prior), share)


def _parts(found: Estimate) -> tuple[list[Log], Names]:
    """The logs, or a single one cut into parts, and their names."""
    period, periods = found.recipe.period, found.recipe.periods
    logs = list(found.logs)
    if period is not None and periods is not None:
        logs = [select_periods(log, period, *periods) for log in logs]
    if len(logs) > 1:
        return logs, tuple(log.origin or f"log {k}" for k, log in enumerate(logs, 1))
    (log,) = logs
    parts = _stretches(log) if period is None else _single_periods(log, period)
    names = []
    for part in parts:
        first, last = part.time[0], part.time[-1]
        names.append(f"{first:.4g} to {last:.4g} s")
    return parts, tuple(names)


def _single_periods(log: Log, period: float) -> list[Log]:
    """The periods of a log, one by one."""
    count = int((len(log.time) + 0.5) / (period * rate_of(log.time)))
    if count < 2:
        raise ArmtwinError("a log of one period leaves nothing to fit when it is left out")
    return [select_periods(log, period, k, 1) for k in range(count)]


def _stretches(log: Log) -> list[Log]:
    """A log cut into a few parts of equal length."""
    samples = len(log.time)
    if samples < PARTS * SHORTEST:
        raise ArmtwinError(f"a log of {samples} samples is too short to leave a part out")
    return [cut(log, rows) for rows in np.array_split(np.arange(samples), PARTS)]
