"""Identify a robot from its logs: one good default, and all data and choices in the result.

Gear ratios: torque at the joint over that at the motor, where a robot file has no gears.

A rotor of inertia J on a joint is one of J / N² on a motor that turns N times as fast. Nothing else
changes, so that all factors of rows serve as they are, with other base parameters,

    C φ = C D⁻¹ (D φ)        D = 1 / N² for rotors, 1 for all others
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting import regularisation as regularising
from armtwin.identification.fitting.decomposition import (
    Decomposition,
    FittedParameter,
    decompose,
)
from armtwin.identification.fitting.estimate import jackknife
from armtwin.identification.fitting.factors import Factors, FreeDirections, merge_factors
from armtwin.identification.rigid_body.data.experiment import (
    IdentificationData,
    Robust,
    find_highest_speeds,
)
from armtwin.identification.rigid_body.data.preparation import (
    Preparation,
    Say,
    prepare_identification,
)
from armtwin.identification.rigid_body.evaluation.estimate import Estimate
from armtwin.identification.rigid_body.fit import consistency
from armtwin.identification.rigid_body.friction.terms import set_own_stiffness, with_terms
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.channels import channel_kind
from armtwin.logs.log import Log
from armtwin.maths.batch import Flags, Floats, TwoArrays
from armtwin.maths.blas import one_blas_thread
from armtwin.robot.parameters import with_values
from armtwin.robot.robot import Robot
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.drive_groups import Motor
from armtwin.robot.uncertainty import standard_deviations


def put_on_gears(
    ready: Preparation, parts: Sequence[Factors], ratios: Floats
) -> tuple[Preparation, list[Factors]]:
    """Data and factors of a robot that has motors on its joints as those of one with gears.

    Args:
        ready: The data.
        parts: Factors of their parts.
        ratios: Gear ratios, (n,).
    """
    experiment = ready.experiment
    D = np.ones(len(experiment.free.start))
    D[experiment.prior.layout.rotors] = ratios**-2.0
    free = experiment.free
    geared = replace(
        experiment,
        prior=_with_ratios(experiment.prior, ratios),
        free=FreeDirections(D * free.start, D * free.sizes, free.basis),
    )
    data = replace(ready, given=_with_ratios(ready.given, ratios), experiment=geared)
    return data, [replace(part, C=part.C / D) for part in parts]


def _with_ratios(robot: Robot, ratios: Floats) -> Robot:
    """The robot with gears of these ratios (n,), the inertia of its rotors on its joints kept."""
    description = robot.description
    assert description.gear is not None  # motors on the joints
    N = np.array(description.gear.matrix) * ratios[:, None]
    motors = []
    for motor, ratio in zip(description.motor, ratios.tolist(), strict=True):
        motors.append(replace(motor, rotor_inertia=motor.rotor_inertia / ratio**2))
    gear = replace(description.gear, matrix=tuple(map(tuple, N.tolist())))
    return robot.with_description(replace(description, motor=tuple(motors), gear=gear))


def gain_spread(
    experiment: IdentificationData, regularised: regularising.RegularisedFit, gains: Floats
) -> Floats:
    """Covariance of the parameters by that of their gains, (p, p)."""
    apart = _gains_of_others(experiment, regularised, gains)
    slope = _slopes(regularised, len(gains)) / gains
    return slope @ jackknife(apart) @ slope.T


def _gains_of_others(
    experiment: IdentificationData, regularised: regularising.RegularisedFit, gains: Floats
) -> Floats:
    """Gains with each part left out, (parts, n), where they are identifiable."""
    found = []
    for rest in regularised.others:
        try:
            found.append(experiment.estimate_gains(rest.scaled(1 / gains)))
        except ArmtwinError:
            continue
    return np.array(found).reshape(-1, len(gains))


def _slopes(regularised: regularising.RegularisedFit, joints: int) -> Floats:
    """Change of the parameters when each joint's gain is doubled, (p, n)."""
    start = regularised.parameters
    columns = []
    for j in range(joints):
        doubled = regularised.whole.scaled(1.0 + np.eye(joints)[j])
        there = regularising.fit(
            doubled, regularised.free, regularised.draw.weight, regularised.sigma
        )
        columns.append(regularised.free.parameters(there.z) - start)
    return np.stack(columns, axis=1)


ROBUST_STEPS = 4
NO_ROTOR = 1e-6  # of its prior below which a rotor inertia is none
DETERMINED_SHARE = 0.5  # share of a value above which the logs determine it


def identify(
    robot: Robot,
    logs: Log | Sequence[Log],
    *,
    torque: str | None = None,
    cutoff: float | None = None,
    recipe: Recipe | None = None,
    progress: Say | None = None,
) -> Estimate:
    """Identify a robot's parameters from logs.

    The estimate is regularised towards the robot file by the weight that predicts best what was
    left out, and is physically consistent: pseudo-inertias positive definite, rotor inertias and
    friction at least zero.

    Args:
        robot: The robot as it was when logged, payload mounted.
        logs: One or more logs, of any lengths and rates.
        torque: Channel of the torque: "tau", "tau_m", "current" or one of these with a suffix, as
            "current_des"; by default the first of these that is there.
        cutoff: Cut-off frequency of the filter; by default the one with which parts left out of the
            logs are predicted best [Hz].
        recipe: Other choices.
        progress: Called with the share of the work that is done.
    """
    chosen = recipe or Recipe()
    if chosen.motion == "simulated":
        raise ArmtwinError("recipe: a simulated motion needs the loop; use at.identify_in_loop")
    ready = prepare_identification(
        robot, logs, torque=torque, cutoff=cutoff, recipe=chosen, progress=progress
    )
    return solve_identification(ready, ready.experiment.parts())


@one_blas_thread()
def solve_identification(ready: Preparation, parts: list[Factors]) -> Estimate:
    """Solve for the estimate from the factors of all parts."""
    whole = merge_factors(parts)
    _refuse_too_few(ready.experiment, whole)
    gains = ready.experiment.gains(whole)
    if gains is not None:
        parts = [part.scaled(gains) for part in parts]
        if ready.experiment.needs_gears:
            ready, parts = put_on_gears(ready, parts, gains)
    experiment = ready.experiment
    prior, recipe = with_terms(ready.given, experiment.terms), experiment.recipe
    regularised = regularising.fit_regularised(
        parts, experiment.free, experiment.friction, recipe.weight
    )
    regularised, cost, bounds = consistency.choose_consistent_weight(experiment, regularised)
    whole = regularised.whole
    if recipe.robust:
        regularised = _fit_robustly(experiment, regularised, gains)
    analysis = decompose(regularised.whole, _largest_torques(experiment, gains), experiment.free)
    phi = _choose_parameters(experiment, regularised, analysis, bounds)
    plain = regularised.fit_without_prior()
    spread, shares = _certainty(experiment, regularised, analysis)
    rotors = experiment.extended.layout.rotors
    least = np.maximum(bounds.rotor, NO_ROTOR) * experiment.extended.parameters[rotors]
    shares[rotors] *= phi[rotors] > least  # of one at its bound the logs show no more than that
    parts_apart = regularising.estimate_scatter(regularised)
    inflation = parts_apart.inflation(np.sqrt(np.diag(spread)), shares > DETERMINED_SHARE)
    certain = inflation**2 * spread
    spread = certain
    if gains is not None:
        spread = certain + gain_spread(experiment, regularised, gains)
    return Estimate(
        robot=_build_robot(ready, phi, gains, spread, shares > DETERMINED_SHARE),
        prior=prior,
        table=_table(experiment, phi, spread, shares, analysis),
        covariance=spread,
        covariance_at_gains=certain,
        torque_source=experiment.source,
        gains=gains,
        draw=regularised.draw,
        sigma=regularising.residuals(whole, phi),
        fastest=find_highest_speeds(experiment.clean),
        reversal=experiment.width,
        cleaning=tuple(log.how for log in experiment.clean),
        plain=plain,
        broken=tuple(consistency.find_violations(prior, plain)),
        decomposition=analysis,
        cutoff=experiment.cutoff,
        recipe=recipe,
        logs=experiment.logs,
        model=experiment.model,
        tried=ready.cutoff,
        friction=ready.friction,
        consistency_cost=cost,
        inflation=inflation,
        missed=experiment.estimate_left_out_error(
            parts_apart.without, gains if experiment.needs_gains else None
        ),
        doubt=ready.doubt,
        fall=ready.fall,
        left_open=regularising.estimate_prior_error(regularised, experiment.free),
    )


def _refuse_too_few(experiment: IdentificationData, whole: Factors) -> None:
    """Refuse fewer rows than unknown parameters."""
    unknown = experiment.free.count
    count = int(whole.count.sum())
    if count < unknown:
        raise ArmtwinError(
            f"the logs have {count} usable rows for {unknown} parameters; log longer, or fix some "
            "of them"
        )
    if not whole.count.all():
        joint = experiment.prior.joint_names[np.argmin(whole.count)]
        raise ArmtwinError(
            f"{joint} never moves fast enough to be distinguished from rest, so its parameters are "
            "not identifiable"
        )


def _fit_robustly(
    experiment: IdentificationData, regularised: regularising.RegularisedFit, gains: Floats | None
) -> regularising.RegularisedFit:
    """The fit repeated with weights by the residuals of the one before."""
    known = np.ones(experiment.prior.n) if gains is None else gains
    for _ in range(ROBUST_STEPS):
        weighted = experiment.parts(Robust(regularised.parameters, regularised.sigma, known))
        regularised = regularising.refit_robustly(regularised, merge_factors(weighted))
    return regularised


def _largest_torques(experiment: IdentificationData, gains: Floats | None) -> Floats:
    """Largest torque of each joint, from the file or else from the logs, (n,) [N m]."""
    torques = [np.abs(log.clean.tau).max(axis=0) for log in experiment.clean]
    seen = np.max(torques, axis=0)
    if gains is not None:
        seen = seen * gains
    limit = experiment.prior.limits.torque
    return np.where(np.isfinite(limit), limit, seen)


TRUNCATED = "a truncated estimate: only combinations of its numbers are identified"


def _choose_parameters(
    experiment: IdentificationData,
    regularised: regularising.RegularisedFit,
    analysis: Decomposition,
    bounds: consistency.ParameterBounds,
) -> Floats:
    """Parameters by the estimator of the recipe, (p,)."""
    prior, recipe = experiment.extended, experiment.recipe
    if recipe.estimator == "truncated":
        # a resistance below zero is one that the directions kept do not hold
        return consistency.clip_to_zero(
            prior, analysis.truncate(recipe.kept), analysis.free, np.inf
        )
    phi = consistency.clip_to_zero(prior, regularised.parameters, regularised.free)
    if recipe.estimator == "consistent":
        if consistency.find_violations(prior, phi, bounds) or recipe.mass:
            return consistency.solve_consistent(prior, regularised.fit, regularised.free, bounds)
        return phi
    broken = consistency.find_violations(prior, phi)
    if broken:
        laws = ", or the friction laws of the file alone" if experiment.terms else ""
        raise ArmtwinError(
            f"the {recipe.estimator} estimate is not physically consistent: "
            f"{'; '.join(broken[:3])}. Use the consistent estimator{laws}"
        )
    return phi


def _certainty(
    experiment: IdentificationData,
    regularised: regularising.RegularisedFit,
    analysis: Decomposition,
) -> TwoArrays:
    """Covariance of the parameters (p, p), and the share of each that the logs determine (p,)."""
    recipe, independent = experiment.recipe, experiment.independent
    if recipe.estimator == "truncated":
        return analysis.covariance(recipe.kept, independent), analysis.share(recipe.kept)
    return regularising.covariance(
        regularised.fit, regularised.free, independent
    ), regularising.resolution(regularised.fit, regularised.free)


def _table(
    experiment: IdentificationData,
    phi: Floats,
    spread: Floats,
    shares: Floats,
    analysis: Decomposition,
) -> tuple[FittedParameter, ...]:
    """Every parameter of the robot with how well it is identified."""
    robot, groups = experiment.extended, experiment.model.structure.groups
    columns = robot.parameters, phi, np.sqrt(np.diag(spread)), shares, analysis.told
    found = []
    for k, numbers in enumerate(np.array(columns).T.tolist()):
        parameter, (prior, value, std, from_logs, told) = robot.parameter_table[k], numbers
        name, unit = robot.parameter_names[k], parameter.unit
        found.append(FittedParameter(name, unit, prior, value, std, groups[k], from_logs, told))
    return tuple(found)


def _build_robot(
    ready: Preparation, phi: Floats, gains: Floats | None, spread: Floats, identified: Flags
) -> Robot:
    """The identified robot with its provenance, and how well it is known.

    Args:
        ready: The data that were fitted.
        phi: The parameters, (p,).
        gains: Drive gains or gear ratios, None where none had to be identified, (n,).
        spread: Covariance of the parameters, (p, p).
        identified: Which of them the logs determine, (p,); the others keep their source.
    """
    experiment = ready.experiment
    count = len(experiment.logs)
    logs = "1 log" if count == 1 else f"{count} logs"
    samples = sum(len(log.time) for log in experiment.logs)
    cutoff = experiment.clean[0].how.cutoff
    source = (
        f"identified: {logs} with {samples} samples, torque from {experiment.source}, "
        f"cut-off {cutoff:.4g} Hz, {experiment.recipe.estimator}"
    )
    found = with_values(_with_term_sources(experiment, source), phi, source, identified)
    found = replace(found, friction=set_own_stiffness(found.friction, experiment.terms))
    names = experiment.extended.parameter_names
    deviation = standard_deviations(names, spread, experiment.free.is_free, source)
    if ready.fall is not None and ready.fall.base_is_tilted:
        sources = {**found.source, "gravity": f"{source}; {ready.fall.tilt_phrase}"}
        found = replace(found, gravity=ready.fall.logs, source=sources)
        deviation = replace(deviation, gravity=ready.fall.deviation)
    found = replace(found, standard_deviation=deviation)
    gear = found.gear
    if gear is not None and channel_kind(experiment.source) == "tau_m" and gains is not None:
        found = replace(found, gear=replace(gear, source=source))
    elif gains is not None:
        constants = gains / np.abs(experiment.prior.assembly.gear).max(axis=1)
        motors = map(partial(_with_torque_constant, source), found.motor, constants.tolist())
        found = replace(found, motor=tuple(motors))
    found = _flag_torque_model(experiment, found, phi)
    return experiment.prior.with_description(found, "as identified")


def _flag_torque_model(
    experiment: IdentificationData, found: Description, phi: Floats
) -> Description:
    """The description, flagged where it has bodies that cannot exist: it gives torques alone."""
    broken = {
        text.partition(":")[0] for text in consistency.find_violations(experiment.extended, phi)
    }
    links = []
    for link in found.link:
        reason = "" if link.unphysical == TRUNCATED else link.unphysical
        links.append(replace(link, unphysical=TRUNCATED if link.name in broken else reason))
    found = replace(found, link=tuple(links), torques_only="")
    if not broken:
        return found
    why = (
        f"a truncated estimate, whose {', '.join(sorted(broken))} cannot exist: it gives torques, "
        "but accelerations do not follow from them; identify with the consistent estimator"
    )
    return replace(found, torques_only=why)


def _with_term_sources(experiment: IdentificationData, source: str) -> Description:
    """The robot with the logs as source of every number of its added terms."""
    description = experiment.extended.description
    added = {term.element.name for term in experiment.terms}
    elements = (
        replace(element, source=source) if element.name in added else element
        for element in description.friction
    )
    return replace(description, friction=tuple(elements))


def _with_torque_constant(source: str, motor: Motor, constant: float) -> Motor:
    """The motor with an identified torque constant; its largest torque stays."""
    known = motor.source if isinstance(motor.source, dict) else {"rotor_inertia": motor.source}
    limit = motor.current_limit
    if limit is not None and motor.torque_constant is not None:
        limit *= motor.torque_constant / constant
    sources = {**known, "torque_constant": source}
    return replace(motor, torque_constant=constant, current_limit=limit, source=sources)
