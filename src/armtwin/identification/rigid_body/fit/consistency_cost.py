"""Cost of the physical-consistency constraints on parts that the fit never saw.

Constraints affect more parameters than they concern where these are also regularised towards a file
that is far off; then a smaller weight is tried. The error that remains is the cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.least_squares import LeastSquaresFit, fit
from armtwin.identification.fitting.regularisation import RegularisedFit
from armtwin.identification.rigid_body.data.experiment import IdentificationData
from armtwin.identification.rigid_body.fit.consistency import find_violations, solve_consistent
from armtwin.maths.batch import Floats

COSTLY = 1.01  # times the error without constraints above which a smaller weight is tried
SMALLER = (0.1, 0.01, 1e-3)  # shares of the prior weight that are tried

Solve = Callable[[LeastSquaresFit], Floats]


@dataclass(frozen=True)
class ConsistencyCost:
    """Errors on left-out parts, as root mean squares over those of the fit.

    Attributes:
        drawn: That of the regularised estimate without constraints.
        consistent: That of the regularised estimate with constraints.
        plain: That of plain least squares.
    """

    drawn: float
    consistent: float
    plain: float

    @property
    def share(self) -> float:
        """By how much the constraints raise the error, as a share."""
        return self.consistent / self.drawn - 1


def choose_consistent_weight(
    experiment: IdentificationData, regularised: RegularisedFit
) -> tuple[RegularisedFit, ConsistencyCost | None]:
    """The fit whose weight predicts left-out parts best within the constraints, and their cost.

    None where none is violated, or a part alone cannot be solved.
    """
    recipe, robot = experiment.recipe, experiment.extended
    if recipe.estimator != "consistent" or not find_violations(robot, regularised.parameters):
        return regularised, None

    def solve_within(found: LeastSquaresFit) -> Floats:
        return solve_consistent(robot, found, regularised.free, recipe.mass)

    def solve_freely(found: LeastSquaresFit) -> Floats:
        return regularised.free.parameters(found.z)

    weight = regularised.draw.weight
    try:
        free = _evaluate_left_out(regularised, weight, solve_freely)
        plain = _evaluate_left_out(regularised, 0.0, solve_freely)
        errors = {weight: _evaluate_left_out(regularised, weight, solve_within)}
        if recipe.weight is None and errors[weight] > COSTLY * min(free, plain):
            for share in SMALLER:
                errors[share * weight] = _evaluate_left_out(
                    regularised, share * weight, solve_within
                )
    except ArmtwinError:
        return regularised, None
    best = min(errors, key=errors.__getitem__)
    cost = ConsistencyCost(free, errors[best], plain)
    if best == weight:
        return regularised, cost
    again = fit(regularised.whole, regularised.free, best, regularised.sigma)
    return replace(regularised, fit=again, draw=replace(regularised.draw, weight=best)), cost


def _evaluate_left_out(regularised: RegularisedFit, weight: float, solve: Solve) -> float:
    """Root mean square residual of left-out parts, over the joints' deviations."""
    sigma = regularised.sigma
    squares = np.zeros(len(sigma))
    for left_out, found in regularised.left_out(weight):
        squares += left_out.squares(solve(found))
    rows = np.maximum(regularised.whole.count, 1)
    return float(np.sqrt((squares / (sigma**2 * rows)).mean()))
