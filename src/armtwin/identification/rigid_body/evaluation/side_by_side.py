"""Robots side by side: parameters of several models of one arm, and how each predicts a log.

Ref: [Waiboer 2007, figures 4.9 to 4.15: M_F of the factory, M_1 and M_2 of two motions, M_b of a
second robot]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.rigid_body.evaluation.estimate import Estimate
from armtwin.identification.rigid_body.evaluation.validation import Validation
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, Names
from armtwin.notebook.charts import Chart
from armtwin.notebook.layers import Points
from armtwin.notebook.numbers import Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Blocks, Column, Table, list_columns, tabulate
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
        values.append(_in_order(found.prior, robot))
        validation.append(found.validate(log, robot=robot))
    return ModelsSideBySide(
        names=tuple(models),
        parameters=found.prior.parameter_names,
        scaled=np.array(values) / found.decomposition.free.sizes,
        told=np.array([parameter.told for parameter in found.table]),
        validation=tuple(validation),
    )


def _in_order(prior: Robot, robot: Robot) -> Floats:
    """A model's parameters in the order of the prior's, zero where it lacks a term, (p,)."""
    values = dict(zip(robot.parameter_names, robot.parameters, strict=True))
    return np.array([values.get(name, 0.0) for name in prior.parameter_names])


def _check_parameters(found: Estimate, name: str, robot: Robot) -> None:
    """Refuse a model that has other parameters than the robot file."""
    of_file = found.model.robot
    if set(of_file.parameter_names) <= set(robot.parameter_names):
        return
    wrong = next(x for x in of_file.parameter_names if x not in robot.parameter_names)
    raise ArmtwinError(
        f"model '{name}' must have the parameters of '{of_file.name}'; it differs in {wrong}"
    )


def model_blocks(models: ModelsSideBySide, joints: Sequence[str]) -> Blocks:
    """Errors of the models joint by joint, and their parameters."""
    errors = np.array([validation.nrmse for validation in models.validation])
    means = {"mean": np.nanmean(errors, axis=1)}
    by_joint = dict(zip(joints, errors.T, strict=True)) | means
    columns = list_columns(model="NRMSE %") + Column.alike(Number(places=1), *by_joint)
    yield Table(columns, tabulate(model=models.names, **by_joint))
    by_model = dict(zip(models.names, models.scaled, strict=True))
    number = np.arange(1.0, len(models.parameters) + 1)
    layers = tuple(Points(x, number, y, names=models.parameters) for x, y in by_model.items())
    yield Chart("Parameters of all models", Axis("parameter"), Axis("value over size"), layers)
    columns = list_columns(parameter="parameter over its size in the prior")
    columns += Column.alike(Number(places=3), *models.names)
    columns += list_columns(identified=("identified", Number(places=2)))
    records = tabulate(parameter=models.parameters, **by_model, identified=models.told)
    yield Table(columns, records, folded="Parameters of all models")
