"""Cost of the physical-consistency constraints on parts that the fit never saw.

Constraints affect more parameters than they concern where these are also regularised towards a file
that is far off; then a smaller weight is tried. The error that remains is the cost.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.least_squares import LeastSquaresFit, fit
from armtwin.identification.fitting.regularisation import RegularisedFit
from armtwin.identification.rigid_body.data.experiment import IdentificationData
from armtwin.identification.rigid_body.fit.consistency import (
    ParameterBounds,
    find_violations,
    solve_consistent,
)
from armtwin.logs.channels import channel_kind
from armtwin.maths.batch import Floats

COSTLY = 1.01  # times the error without constraints above which a smaller weight is tried
SMALLER = (0.1, 0.01, 1e-3)  # shares of the prior weight that are tried
ROTOR_SHARE = 0.1  # of its prior that a rotor inertia keeps

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
) -> tuple[RegularisedFit, ConsistencyCost | None, ParameterBounds]:
    """The fit whose weight predicts left-out parts best within bounds, their cost, and the bounds.

    There is no cost where no bound is violated, or a part alone cannot be solved.
    """
    recipe, robot = experiment.recipe, experiment.extended
    bounds = ParameterBounds(recipe.mass, ROTOR_SHARE)
    consistent = recipe.estimator == "consistent"
    if not consistent or not find_violations(robot, regularised.parameters, bounds):
        return regularised, None, bounds

    def evaluate(weight: float, within: ParameterBounds | None) -> float:
        def solve(found: LeastSquaresFit) -> Floats:
            if within is None:
                return regularised.free.parameters(found.z)
            return solve_consistent(robot, found, regularised.free, within)

        return _evaluate_left_out(regularised, weight, solve)

    weight = regularised.draw.weight
    try:
        free, plain = evaluate(weight, None), evaluate(0.0, None)
        bounds, error = _choose_bounds(experiment, bounds, partial(evaluate, weight))
        errors = {weight: error}
        if recipe.weight is None and error > COSTLY * min(free, plain):
            for share in SMALLER:
                errors[share * weight] = evaluate(share * weight, bounds)
    except ArmtwinError:
        return regularised, None, bounds
    best = min(errors, key=errors.__getitem__)
    cost = ConsistencyCost(free, errors[best], plain)
    if best == weight:
        return regularised, cost, bounds
    again = fit(regularised.whole, regularised.free, best, regularised.sigma)
    draw = replace(regularised.draw, weight=best)
    return replace(regularised, fit=again, draw=draw), cost, bounds


def _choose_bounds(
    experiment: IdentificationData,
    bounds: ParameterBounds,
    evaluate: Callable[[ParameterBounds], float],
) -> tuple[ParameterBounds, float]:
    """The bounds, without that of rotors where these do not show, and the error on left-out parts.

    A current and a torque at the motor accelerate the rotor; a torque at the joint may be that of a
    sensor behind the gear, which the rotor's bound then spoils.
    """
    error = evaluate(bounds)
    if channel_kind(experiment.source) != "tau":
        return bounds, error
    without = bounds._replace(rotor=0.0)
    error_without = evaluate(without)
    if error > COSTLY * error_without:
        return without, error_without
    return bounds, error


def _evaluate_left_out(regularised: RegularisedFit, weight: float, solve: Solve) -> float:
    """Root mean square residual of left-out parts, over the joints' deviations."""
    sigma = regularised.sigma
    squares = np.zeros(len(sigma))
    for left_out, found in regularised.left_out(weight):
        squares += left_out.squares(solve(found))
    rows = np.maximum(regularised.whole.count, 1)
    return float(np.sqrt((squares / (sigma**2 * rows)).mean()))
