"""What it costs that an estimate must be a real robot's, on parts that the fit never saw.

Contracts hold more parameters than they concern where these are also drawn to a file that is far
off; then they are drawn less. What is left is the price of being a robot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.draw import DrawnFit
from armtwin.identification.fitting.least_squares import LeastSquaresFit, fit
from armtwin.identification.rigid_body.data.experiment import IdentificationData
from armtwin.identification.rigid_body.fit.consistency import nearest, violations
from armtwin.maths.batch import Floats

DEAR = 1.01  # times the error without contracts from which on a smaller draw is tried
SMALLER = (0.1, 0.01, 1e-3)  # shares of the draw that are tried

Solve = Callable[[LeastSquaresFit], Floats]


@dataclass(frozen=True)
class Price:
    """What contracts cost on left-out parts, as root mean squares over those of the fit.

    Attributes:
        drawn: Error of the estimate drawn to the file, without contracts.
        consistent: The same with contracts.
        plain: That of plain least squares.
    """

    drawn: float
    consistent: float
    plain: float

    @property
    def share(self) -> float:
        """How much more is missed for the contracts, as a share."""
        return self.consistent / self.drawn - 1


def affordable(experiment: IdentificationData, drawn: DrawnFit) -> tuple[DrawnFit, Price | None]:
    """The fit drawn so that with its contracts it predicts left-out parts best, and their price.

    None where nothing is broken, or a part alone cannot be solved.
    """
    recipe, robot = experiment.recipe, experiment.extended
    if recipe.estimator != "consistent" or not violations(robot, drawn.parameters):
        return drawn, None

    def real(found: LeastSquaresFit) -> Floats:
        return nearest(robot, found, drawn.free, recipe.mass)

    def any_robot(found: LeastSquaresFit) -> Floats:
        return drawn.free.parameters(found.z)

    weight = drawn.draw.weight
    try:
        free, plain = _missed(drawn, weight, any_robot), _missed(drawn, 0.0, any_robot)
        errors = {weight: _missed(drawn, weight, real)}
        if recipe.weight is None and errors[weight] > DEAR * min(free, plain):
            for share in SMALLER:
                errors[share * weight] = _missed(drawn, share * weight, real)
    except ArmtwinError:
        return drawn, None
    best = min(errors, key=errors.__getitem__)
    price = Price(free, errors[best], plain)
    if best == weight:
        return drawn, price
    refitted = fit(drawn.whole, drawn.free, best, drawn.sigma)
    return replace(drawn, fit=refitted, draw=replace(drawn.draw, weight=best)), price


def _missed(drawn: DrawnFit, weight: float, solve: Solve) -> float:
    """Root mean square of what fits miss of parts left out, over the joints' deviations."""
    sigma = drawn.sigma
    missed = np.zeros(len(sigma))
    for left, rest in zip(drawn.parts, drawn.others, strict=True):
        if not rest.count.any():
            continue
        missed += left.squares(solve(fit(rest, drawn.free, weight, sigma)))
    rows = np.maximum(drawn.whole.count, 1)
    return float(np.sqrt((missed / (sigma**2 * rows)).mean()))
