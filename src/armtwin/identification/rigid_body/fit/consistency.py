"""Physically consistent estimates: one conic problem, solved by Clarabel.

    min ‖R z - d‖²   with the pseudo-inertia of every link positive definite,
                     rotor inertias >= a share of the prior's, friction and stiffness >= 0

The residual itself is in the problem, not its normal equations.

Ref: [Wensing-Kim-Slotine 2018]

Cost of the physical-consistency constraints on parts that the fit never saw.

Constraints affect more parameters than they concern where these are also regularised towards a file
that is far off; then a smaller weight is tried. The error that remains is the cost.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.factors import FreeDirections
from armtwin.identification.fitting.regularisation import LeastSquaresFit, RegularisedFit, fit
from armtwin.identification.rigid_body.data.experiment import IdentificationData
from armtwin.logs.channels import channel_kind
from armtwin.maths.batch import Flags, Floats, Pair
from armtwin.mechanics.inertia import pseudo_inertia
from armtwin.robot.dynamics.bodies import lump_mounted_load
from armtwin.robot.robot import Robot

MARGIN = 1e-6  # of the prior's pseudo-inertia that every link keeps
ROUNDING = 1e-6  # of a parameter's size by which a fit may violate a bound of 0
SLACK = 1e-3  # of a parameter's size by which a solver may violate a bound of 0


class ParameterBounds(NamedTuple):
    """What is known of parameters beside their signs.

    Attributes:
        mass: Lower and upper bound of links' masses without what is mounted on them [kg].
        rotor: Share of its prior that a rotor inertia keeps at least: no drive is without a rotor,
            and logs that do not show it, or friction that takes its part, must not take it away.
    """

    mass: Mapping[str, Pair] = MappingProxyType({})
    rotor: float = 0.0

    def least(self, robot: Robot) -> Floats:
        """Least value of each parameter that is never negative, (p,)."""
        least = np.zeros(len(robot.parameters))
        rotors = robot.layout.rotors
        least[rotors] = self.rotor * robot.parameters[rotors]
        return least


SIGNS = ParameterBounds()


def find_violations(robot: Robot, phi: Floats, bounds: ParameterBounds = SIGNS) -> list[str]:
    """Links, rotors and friction elements that are not physically consistent, as phrases."""
    found = []
    loads = _find_mounted_loads(robot)
    for k, joint in enumerate(robot.assembly.tree.joints):
        body = pseudo_inertia(phi[robot.layout.link(k)] - loads[k])
        if not np.linalg.eigvalsh(body)[0] > 0:
            found.append(f"{joint.child}: its mass and inertia are not physically consistent")
    signed, least = _at_least_zero(robot), bounds.least(robot)
    for k, parameter in enumerate(robot.parameter_table):
        if signed[k] and phi[k] < least[k]:
            unit = "" if parameter.unit == "1" else f" {parameter.unit}"
            contract = f"must be at least {least[k]:.4g}{unit}"
            found.append(f"{parameter.name} {contract}, got {phi[k]:.4g}")
    return found


def _find_mounted_loads(robot: Robot) -> Floats:
    """Ten parameters of what is mounted on each link, (links, 10).

    The link itself is the rest.
    """
    loads = np.zeros((len(robot.assembly.tree.joints), 10))
    flange = robot.description.flange
    if flange is not None:
        loads[robot.assembly.tree.body(flange.link)] = lump_mounted_load(robot.description)
    return loads


def _at_least_zero(robot: Robot) -> Flags:
    """Which parameters are never negative, (p,)."""
    return np.array([parameter.resists for parameter in robot.parameter_table])


def clip_to_zero(
    robot: Robot, phi: Floats, free: FreeDirections, share: float = ROUNDING
) -> Floats:
    """The parameters (p,), those below zero by less than a share of their size set to zero.

    Friction that differs from zero by rounding alone is set to zero as well.
    """
    signed = _at_least_zero(robot)
    below = signed & (phi < 0) & (phi > -share * free.sizes)
    friction = np.array([parameter.group == "friction" for parameter in robot.parameter_table])
    rounding = signed & friction & (np.abs(phi) < ROUNDING * free.sizes)
    return np.where(below | rounding, 0.0, phi)


def solve_consistent(
    robot: Robot, found: LeastSquaresFit, free: FreeDirections, bounds: ParameterBounds = SIGNS
) -> Floats:
    """Physical parameters φ within bounds that minimise ‖R z - d‖ of a fit, (p,)."""
    constraints = [
        *_signs(robot, free, bounds),
        *_mass_bounds(robot, free, bounds.mass),
        *_bodies(robot, free),
    ]
    phi = free.parameters(_least_within(found, constraints))
    clipped = clip_to_zero(robot, phi, free, SLACK)
    kept = (bounds.least(robot) > 0) & free.is_free
    return np.where(kept, np.maximum(clipped, bounds.least(robot)), clipped)


class Constraint(NamedTuple):
    """A physical-consistency constraint: s in a cone, with G z + s = h."""

    cone: Any
    G: Floats
    h: Floats


def _signs(robot: Robot, free: FreeDirections, bounds: ParameterBounds) -> Iterator[Constraint]:
    """Rotor inertias, friction and stiffness that are free to change keep their least values."""
    import clarabel

    slope = free.map
    signed = np.flatnonzero(_at_least_zero(robot) & slope.any(axis=1))
    springs = np.array([p.group == "balancer" for p in robot.parameter_table])[signed]
    if len(signed):
        cone = clarabel.NonnegativeConeT(len(signed))
        start = free.start[signed]
        least = bounds.least(robot)[signed]
        least = np.where(springs, MARGIN * np.abs(start), least)  # one without stiffness is none
        yield Constraint(cone, -slope[signed], start - least)


def _mass_bounds(
    robot: Robot, free: FreeDirections, mass: Mapping[str, Pair]
) -> Iterator[Constraint]:
    """Masses of links, without what is mounted on them, stay within their bounds."""
    import clarabel

    slope, loads = free.map, _find_mounted_loads(robot)
    for link, (low, high) in mass.items():
        k = robot.assembly.tree.body(link)
        of_mass = [robot.layout.link(k).start]
        own = free.start[of_mass] - loads[k][0]
        if low == high:
            yield Constraint(clarabel.ZeroConeT(1), -slope[of_mass], own - low)
        else:
            yield Constraint(clarabel.NonnegativeConeT(1), -slope[of_mass], own - low)
            yield Constraint(clarabel.NonnegativeConeT(1), slope[of_mass], high - own)


def _bodies(robot: Robot, free: FreeDirections) -> Iterator[Constraint]:
    """Every link that is free to change is physically consistent."""
    import clarabel

    slope, loads = free.map, _find_mounted_loads(robot)
    for k in range(len(robot.assembly.tree.joints)):
        ten = robot.layout.link(k)
        if not slope[ten].any():
            continue
        here = pseudo_inertia(free.start[ten] - loads[k])
        smallest = max(0.0, float(np.linalg.eigvalsh(here)[0]))
        margin = min(MARGIN * np.trace(here) / 4, 0.5 * smallest)
        inside = _triangle(here - margin * np.eye(4))
        yield Constraint(clarabel.PSDTriangleConeT(4), -_BASIS @ slope[ten], inside)


def _least_within(found: LeastSquaresFit, constraints: list[Constraint]) -> Floats:
    """Free coordinates z with the least ‖R z - d‖ within all constraints, (f,)."""
    import clarabel
    from scipy import sparse

    # unknowns (z, r): r = R z - d, objective |r|² / 2
    f = len(found.z)
    equations = [sparse.hstack([sparse.csc_matrix(found.R), -sparse.identity(f)])]
    right = [found.d]
    cones = [clarabel.ZeroConeT(f)]
    for cone, G, h in constraints:
        equations.append(sparse.csc_matrix(np.hstack([G, np.zeros((len(G), f))])))
        right.append(h)
        cones.append(cone)
    A = sparse.vstack(equations).tocsc()
    b = np.concatenate(right)
    P = sparse.block_diag([sparse.csc_matrix((f, f)), sparse.identity(f)]).tocsc()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(P, np.zeros(2 * f), A, b, cones, settings).solve()
    if "Solved" not in str(solution.status):
        raise ArmtwinError(
            f"no physically consistent parameters were found ({solution.status}); "
            "check signs and units of the logs, and the bounds of masses"
        )
    return np.array(solution.x[:f])


def _triangle(S: Floats) -> Floats:
    """Upper triangle of a symmetric matrix column by column, off-diagonals times √2."""
    column, row = np.tril_indices(4)
    return S[row, column] * np.where(row == column, 1.0, np.sqrt(2.0))


# (10 of the triangle, 10 parameters)
_BASIS = np.array([_triangle(pseudo_inertia(e)) for e in np.eye(10)]).T


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
