"""Identify a robot from its logs: one good default, and everything it rests on in the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.consistency import nearest, violations
from armtwin.identification.decomposition import Decomposition, decompose
from armtwin.identification.estimate import Estimate, Row
from armtwin.identification.estimators import (
    Draw,
    Fit,
    best_draw,
    covariance,
    enough,
    fit,
    residuals,
    resolution,
    scales,
)
from armtwin.identification.factors import Factors, together
from armtwin.identification.identifiable import identifiable
from armtwin.identification.problem import Problem, Robust, fastest, gains_of, prepared
from armtwin.identification.recipe import Recipe
from armtwin.identification.regression import Block
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.maths.blas import one_blas_thread
from armtwin.robot.robot import Robot

ROBUST_STEPS = 4
KEPT_BY_HUBER = 0.710  # share of a normal residual's power that Huber's weights leave


def identify(
    robot: Robot,
    logs: Sequence[Log],
    *,
    torque: str | None = None,
    cutoff: float | None = None,
    recipe: Recipe | None = None,
) -> Estimate:
    """Identify the dynamic parameters of a robot from logs.

    The estimate is drawn to the robot file by the weight that predicts best what was left out, and is physically
    consistent: every link a body that can exist, rotor inertias and friction at least zero.

    Args:
        robot: The robot as it was when logged, payload mounted.
        logs: One or more logs, of any lengths and rates.
        torque: Channel of the torque: "tau", "tau_m", "current" or one of these with a suffix, as "current_des"; by
            default the first of these that is there.
        cutoff: Cut-off frequency of the filter; by default from the spectra of the logs [Hz].
        recipe: Other choices.
    """
    problem = prepared(
        robot, logs, torque=torque, cutoff=cutoff, recipe=recipe or Recipe()
    ).with_width()
    return solved(problem, problem.parts())


@one_blas_thread()
def solved(problem: Problem, parts: list[Factors]) -> Estimate:
    """The estimate from the factors of all parts."""
    prior, recipe, free, blocks = problem.prior, problem.recipe, problem.free, problem.blocks
    enough(together(parts), free, prior.joint_names)
    gains = gains_of(problem, together(parts))
    if gains is not None:
        parts = [x.scaled(gains) for x in parts]
    whole = together(parts)
    sigma = scales(whole, free)
    draw = _draw(problem, parts, sigma)
    free = free.scaled(problem.friction, draw.friction)
    found = fit(whole, free, draw.weight, sigma)
    if recipe.robust:
        known = np.ones(prior.n) if gains is None else gains
        for _ in range(ROBUST_STEPS):
            whole = together(problem.parts(Robust(free.parameters(found.z), sigma, known)))
            sigma = scales(whole, free) / np.sqrt(KEPT_BY_HUBER)
            found = fit(whole, free, draw.weight, sigma)
    analysis = decompose(whole, _largest(prior, blocks, gains), problem.free)
    phi = _chosen(replace(problem, free=free), found, analysis)
    plain = free.parameters(fit(whole, free, 0.0, sigma).z)
    identified = _robot(problem, phi, gains)
    if recipe.estimator == "truncated":
        spread, shares = (
            analysis.covariance(recipe.kept, problem.independent()),
            analysis.share(recipe.kept),
        )
    else:
        spread, shares = covariance(found, free, problem.independent()), resolution(found, free)
    groups = identifiable(prior).groups
    table = tuple(
        Row(p.name, p.unit, p.value, float(x), float(s), group, float(share), float(told))
        for p, x, s, group, share, told in zip(
            prior.parameter_table,
            phi,
            np.sqrt(np.diag(spread)),
            groups,
            shares,
            analysis.told,
            strict=True,
        )
    )
    return Estimate(
        robot=identified,
        prior=prior,
        table=table,
        covariance=spread,
        torque_source=blocks[0].source,
        gains=gains,
        draw=draw,
        sigma=residuals(together(parts), phi),
        fastest=fastest(blocks),
        reversal=problem.width,
        cleaning=tuple(b.how for b in blocks),
        plain=plain,
        broken=tuple(violations(prior, plain)),
        decomposition=analysis,
        cutoff=problem.cutoff,
        recipe=recipe,
        logs=problem.logs,
    )


def _draw(problem: Problem, parts: list[Factors], sigma: Floats) -> Draw:
    """How strongly the parameters are drawn to the prior: as the recipe says, else as predicts best."""
    if problem.recipe.weight is not None:
        return Draw(problem.recipe.weight, 1.0, {})
    return best_draw(parts, problem.free, problem.friction, sigma)


def _largest(prior: Robot, blocks: Sequence[Block], gains: Floats | None) -> Floats:
    """Largest torque of each joint, from the file or else from the logs, (n,) [N m]."""
    seen = np.max([np.abs(b.tau).max(axis=0) for b in blocks], axis=0) * (
        1.0 if gains is None else gains
    )
    return np.where(np.isfinite(prior.limits.torque), prior.limits.torque, seen)


def _chosen(problem: Problem, found: Fit, analysis: Decomposition) -> Floats:
    """Parameters by the estimator of the recipe."""
    prior, recipe, free = problem.prior, problem.recipe, problem.free
    phi = free.parameters(found.z)
    if recipe.estimator == "truncated":
        phi = analysis.truncated(recipe.kept)
    broken = violations(prior, phi)
    if recipe.estimator == "consistent" and (broken or recipe.mass):
        phi = nearest(prior, found, free, recipe.mass)
    elif broken:
        raise ArmtwinError(
            f"the {recipe.estimator} estimate is that of no real robot: {'; '.join(broken[:3])}. "
            "Use the consistent estimator"
        )
    return phi


def _robot(problem: Problem, phi: Floats, gains: Floats | None) -> Robot:
    """The identified robot with its provenance."""
    how = problem.blocks[0]
    count, samples = len(problem.logs), sum(len(log.time) for log in problem.logs)
    source = (
        f"identified: {count} log{'s' if count > 1 else ''} with {samples} samples, torque from {how.source}, "
        f"cut-off {how.how.cutoff:.4g} Hz, {problem.recipe.estimator}"
    )
    robot = problem.prior.with_parameters(phi, source)
    if gains is None:
        return robot
    constants = [k / abs(row).max() for k, row in zip(gains, robot.assembly.gear, strict=True)]
    motors = tuple(
        replace(
            m, torque_constant=float(k), source={**_sources(m.source), "torque_constant": source}
        )
        for m, k in zip(robot.description.motor, constants, strict=True)
    )
    return Robot(replace(robot.description, motor=motors), robot.origin)


def _sources(source: str | dict[str, str]) -> dict[str, str]:
    return dict(source) if isinstance(source, dict) else {"rotor_inertia": source}
