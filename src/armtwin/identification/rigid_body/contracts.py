"""What it costs that an estimate must be a real robot's, on parts that the fit never saw.

Contracts hold more parameters than they concern where these are also drawn to a file that is far
off; then they are drawn less. What is left is the price of being a robot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.draw import DrawnFit
from armtwin.identification.fitting.factors import Factors, together
from armtwin.identification.fitting.least_squares import Fit, fit
from armtwin.identification.rigid_body.consistency import nearest, violations
from armtwin.identification.rigid_body.experiment import Experiment
from armtwin.maths.batch import Floats

DEAR = 1.01  # times the error without contracts from which on a smaller draw is tried
SMALLER = (0.1, 0.01, 1e-3)  # shares of the draw that are tried

Solve = Callable[[Fit], Floats]


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


def affordable(
    experiment: Experiment, parts: Sequence[Factors], drawn: DrawnFit
) -> tuple[DrawnFit, Price | None]:
    """The fit drawn so that with its contracts it predicts left-out parts best, and their price.

    None where nothing is broken, or a part alone cannot be solved.
    """
    recipe, robot = experiment.recipe, experiment.extended
    if recipe.estimator != "consistent" or not violations(robot, drawn.parameters):
        return drawn, None
    others = _others(parts)

    def real(found: Fit) -> Floats:
        return nearest(robot, found, drawn.free, recipe.mass)

    def any_robot(found: Fit) -> Floats:
        return drawn.free.parameters(found.z)

    left = LeftOut(parts, others, drawn)
    weight = drawn.draw.weight
    try:
        free, plain = left.error(weight, any_robot), left.error(0.0, any_robot)
        errors = {weight: left.error(weight, real)}
        if recipe.weight is None and errors[weight] > DEAR * min(free, plain):
            for share in SMALLER:
                errors[share * weight] = left.error(share * weight, real)
    except ArmtwinError:
        return drawn, None
    best = min(errors, key=errors.__getitem__)
    price = Price(free, errors[best], plain)
    if best == weight:
        return drawn, price
    refitted = fit(drawn.whole, drawn.free, best, drawn.sigma)
    return replace(drawn, fit=refitted, draw=replace(drawn.draw, weight=best)), price


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Parts, for each all the others, and the fit whose scales they are judged by."""

    parts: Sequence[Factors]
    others: Sequence[Factors]
    drawn: DrawnFit

    def error(self, weight: float, solve: Solve) -> float:
        """Root mean square of what fits to the others miss, over the joints' deviations."""
        sigma = self.drawn.sigma
        missed = np.zeros(len(sigma))
        for left, rest in zip(self.parts, self.others, strict=True):
            found = fit(rest, self.drawn.free, weight, sigma)
            missed += left.squares(solve(found))
        rows = np.maximum(self.drawn.whole.count, 1)
        return float(np.sqrt((missed / (sigma**2 * rows)).mean()))


def _others(parts: Sequence[Factors]) -> list[Factors]:
    """For each part all the others as one."""
    return [together([*parts[:k], *parts[k + 1 :]]) for k in range(len(parts))]
