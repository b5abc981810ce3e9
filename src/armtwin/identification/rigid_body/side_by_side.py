"""Robots side by side: parameters of several models of one arm, and how each predicts a log.

Ref: [Waiboer 2007, figures 4.9 to 4.15: M_F of the factory, M_1 and M_2 of two motions, M_b of a
second robot]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.rigid_body.estimate import Estimate
from armtwin.identification.rigid_body.validation import Validation
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Models compared.

    Attributes:
        names: Names of the models; the first is the prior, the second the estimate.
        parameters: Names of the parameters.
        scaled: Parameters over the sizes of the prior's, (models, p).
        told: Share of each parameter that the estimate's logs tell, (p,).
        validation: Each model's prediction of the log.
    """

    names: tuple[str, ...]
    parameters: tuple[str, ...]
    scaled: Floats
    told: Floats
    validation: tuple[Validation, ...]


def side_by_side(found: Estimate, others: Mapping[str, Robot], log: Log) -> SideBySide:
    """The prior, an estimate and other models of the same arm, on one log."""
    models = {"prior": found.prior, "estimate": found.robot}
    for name, robot in others.items():
        if name in models:
            raise ArmtwinError(f"another model must not be called '{name}'")
        _check_parameters(found.prior, name, robot)
    models |= others
    values, validation = [], []
    for robot in models.values():
        values.append(robot.parameters)
        validation.append(found.validate(log, robot=robot))
    return SideBySide(
        names=tuple(models),
        parameters=found.prior.parameter_names,
        scaled=np.array(values) / found.decomposition.free.sizes,
        told=np.array([parameter.told for parameter in found.table]),
        validation=tuple(validation),
    )


def _check_parameters(prior: Robot, name: str, robot: Robot) -> None:
    """Refuse a model that has other parameters than the prior."""
    if robot.parameter_names == prior.parameter_names:
        return
    differing = set(robot.parameter_names) ^ set(prior.parameter_names)
    wrong = next(iter(differing), "their order")
    raise ArmtwinError(
        f"model '{name}' must have the parameters of '{prior.name}'; it differs in {wrong}"
    )
