"""Robots side by side: the parameters of several models of one arm, and how well each predicts a log.

Ref: [Waiboer 2007, figures 4.9 to 4.15: M_F of the factory, M_1 and M_2 of two motions, M_b of a second robot]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.estimate import Estimate, Validation
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
    taken = next((name for name in others if name in models), None)
    if taken is not None:
        raise ArmtwinError(f"another model must not be called '{taken}'")
    models |= others
    expected = found.prior.parameter_names
    for name, robot in others.items():
        if robot.parameter_names != expected:
            wrong = next(iter(set(robot.parameter_names) ^ set(expected)), "their order")
            raise ArmtwinError(
                f"model '{name}' must have the parameters of '{found.prior.name}'; it differs in {wrong}"
            )
    scaled = (
        np.array([robot.parameters for robot in models.values()]) / found.decomposition.free.sizes
    )
    told = np.array([row.told for row in found.table])
    validation = tuple(found.validate(log, robot=robot) for robot in models.values())
    return SideBySide(tuple(models), expected, scaled, told, validation)
