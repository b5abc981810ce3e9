"""Identify a robot from its logs: one good default, and everything it rests on in the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.consistency import nearest, violations
from armtwin.identification.decomposition import Decomposition, decompose
from armtwin.identification.estimate import Estimate, Row
from armtwin.identification.estimators import Draw, Fit, best_draw, covariance, enough, fit, resolution, scales
from armtwin.identification.factors import Factors, factors, split, together
from armtwin.identification.freedom import Freedom, freedom
from armtwin.identification.gains import drive_gains, first_gains
from armtwin.identification.identifiable import identifiable
from armtwin.identification.recipe import Recipe
from armtwin.identification.regression import Block, block, mean_friction_columns, near_reversal, rows
from armtwin.identification.suspicion import check_logs, suspect
from armtwin.logs.averaging import averaged
from armtwin.logs.log import Log
from armtwin.logs.torque import needs_gains
from armtwin.maths.batch import Flags, Floats
from armtwin.maths.blas import one_blas_thread
from armtwin.robot.assumed_drives import lacks_drives, with_assumed_drives
from armtwin.robot.robot import Robot

PARTS = 6  # into which the logs are cut at least, to be left out in turn
FIRST_WIDTH = 8.0  # deviations of the speed's noise within which the sign of friction is first taken to be in doubt
WIDTHS = 2.0 ** np.arange(-1, 8)
FIRST_WEIGHT = 1e-3  # of the prior, before the best one is known
GAIN_WEIGHT = 1e-5  # of the prior, while gains are told
STRETCHES, LEAST_STRETCH = 8000, 1000  # samples of all logs, and at least of one, on which widths are tried
REVERSALS = 1500  # of these, about reversals, that are compared
HUBER = 1.345
ROBUST_STEPS = 4


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
        cutoff: Cut-off frequency of the filter; by default from the spectrum of each log [Hz].
        recipe: Other choices.
    """
    problem = prepared(robot, logs, torque=torque, cutoff=cutoff, recipe=recipe or Recipe()).with_width()
    return solved(problem, problem.parts())


@one_blas_thread()
def prepared(robot: Robot, logs: Sequence[Log], *, torque: str | None, cutoff: float | None, recipe: Recipe) -> Problem:
    """The logs checked and clean, with what is free to change."""
    if not logs or any(not isinstance(log, Log) for log in logs):
        raise ArmtwinError("identify needs a list of at least one log")
    prior = with_assumed_drives(robot) if lacks_drives(robot) else robot
    recipe.check(prior)
    used = (averaged(logs),) if recipe.average else tuple(logs)
    check_logs(prior, used, "q" if recipe.motion == "measured" else "q_ref")
    blocks = [block(prior, log, cutoff, torque, recipe) for log in used]
    suspect(prior, blocks)
    noise = np.sqrt(np.mean([b.noise**2 for b in blocks], axis=0))
    return Problem(
        prior, recipe, freedom(prior, recipe), used, blocks, recipe.rest * _fastest(blocks), FIRST_WIDTH * noise
    )


@dataclass(frozen=True, eq=False)
class Problem:
    """What an identification works on."""

    prior: Robot
    recipe: Recipe
    free: Freedom
    logs: tuple[Log, ...]
    blocks: Sequence[Block]
    rest: Floats  # speeds below which a joint counts as standing, (n,)
    width: Floats  # speeds about a reversal within which the sign of friction is in doubt, (n,)

    @property
    def friction(self) -> Flags:
        """Which parameters belong to friction, (p,)."""
        return np.array([p.group == "friction" for p in self.prior.parameter_table])

    @one_blas_thread()
    def parts(self, robust: tuple[Floats, Floats] | None = None) -> list[Factors]:
        """Factors of parts of the logs; robust: parameters and residuals that weigh the rows."""
        base = identifiable(self.prior)

        def of_log(b: Block) -> list[Factors]:
            found = rows(self.prior, b, base, self.rest, self.width)
            pieces = split(found, -(-PARTS // len(self.blocks)))
            if robust is None:
                return [factors(x, base.combination) for x in pieces]
            phi, sigma = robust
            weights = (_huber(x.tau - x.torque(base.combination @ phi), sigma) for x in pieces)
            return [factors(x, base.combination, w) for x, w in zip(pieces, weights, strict=True)]

        return [part for b in self.blocks for part in of_log(b)]

    @one_blas_thread()
    def with_width(self) -> Problem:
        """The problem with the widths of doubt that explain its logs best, tried on a stretch of each."""
        samples = max(LEAST_STRETCH, STRETCHES // len(self.blocks))
        some = replace(self, blocks=[b.first(samples) for b in self.blocks])
        parts = some.parts()
        gains = _gains(some, together(parts))
        whole = together(parts) if gains is None else together(parts).scaled(gains)
        found = fit(whole, self.free, FIRST_WEIGHT, scales(whole, self.free))
        phi = self.free.parameters(found.z)
        noise = np.sqrt(np.mean([b.noise**2 for b in self.blocks], axis=0))
        return replace(self, width=_reversal(some, phi, gains, noise))


def _huber(residual: Floats, sigma: Floats) -> Floats:
    """Weights of rows that fall with their residual beyond a few deviations."""
    size = np.abs(residual) / (HUBER * sigma)
    return np.asarray(1 / np.maximum(size, 1.0))


@one_blas_thread()
def solved(problem: Problem, parts: list[Factors]) -> Estimate:
    """The estimate from the factors of all parts."""
    prior, recipe, free, blocks = problem.prior, problem.recipe, problem.free, problem.blocks
    enough(together(parts), free, prior.joint_names)
    gains = _gains(problem, together(parts))
    if gains is not None:
        parts = [x.scaled(gains) for x in parts]
    whole = together(parts)
    sigma = scales(whole, free)
    draw = _draw(problem, parts, sigma)
    free = free.scaled(problem.friction, draw.friction)
    found = fit(whole, free, draw.weight, sigma)
    if recipe.robust:
        for _ in range(ROBUST_STEPS):
            whole = together(problem.parts((free.parameters(found.z), sigma)))
            sigma = scales(whole, free)
            found = fit(whole, free, draw.weight, sigma)
    analysis = decompose(whole, _largest(prior, blocks, gains), problem.free)
    phi = _chosen(replace(problem, free=free), found, analysis)
    plain = free.parameters(fit(whole, free, 0.0, sigma).z)
    identified = _robot(problem, phi, gains, len(problem.logs))
    independent = min(1.0, 2 * blocks[0].how.cutoff * blocks[0].how.step / blocks[0].how.rate)
    spread = covariance(found, free, independent)
    groups = identifiable(prior).groups
    table = tuple(
        Row(p.name, p.unit, p.value, float(x), float(s), group, float(share), float(told))
        for p, x, s, group, share, told in zip(
            prior.parameter_table,
            phi,
            np.sqrt(np.diag(spread)),
            groups,
            resolution(found, free),
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
        sigma=found.sigma,
        fastest=_fastest(blocks),
        reversal=problem.width,
        cleaning=tuple(b.how for b in blocks),
        plain=plain,
        broken=tuple(violations(prior, plain)),
        decomposition=analysis,
        recipe=recipe,
        logs=problem.logs,
    )


def _fastest(blocks: Sequence[Block]) -> Floats:
    """Highest speed of each joint in all logs, (n,)."""
    return np.asarray(np.max([np.abs(b.v).max(axis=0) for b in blocks], axis=0))


def _draw(problem: Problem, parts: list[Factors], sigma: Floats) -> Draw:
    """How strongly the parameters are drawn to the prior: as the recipe says, else as predicts best."""
    if problem.recipe.weight is not None:
        return Draw(problem.recipe.weight, 1.0, {})
    return best_draw(parts, problem.free, problem.friction, sigma)


def _gains(problem: Problem, found: Factors) -> Floats | None:
    """Drive gains of the joints [N m/A]; None where the torque is known without."""
    if not needs_gains(problem.prior, problem.blocks[0].source):
        return None
    gear = problem.prior.assembly.gear
    if (np.count_nonzero(gear, axis=1) != 1).any() or len(gear) != problem.prior.n:
        raise ArmtwinError(
            f"robot '{problem.prior.name}': currents of coupled joints need motor.torque_constant of every motor"
        )
    first = first_gains(found, problem.free.start, problem.friction)
    return drive_gains(found, problem.free, GAIN_WEIGHT, *first)


def _largest(prior: Robot, blocks: Sequence[Block], gains: Floats | None) -> Floats:
    """Largest torque of each joint, from the file or else from the logs, (n,) [N m]."""
    seen = np.max([np.abs(b.tau).max(axis=0) for b in blocks], axis=0) * (1.0 if gains is None else gains)
    return np.where(np.isfinite(prior.limits.torque), prior.limits.torque, seen)


def _chosen(problem: Problem, found: Fit, analysis: Decomposition) -> Floats:
    """Parameters by the estimator of the recipe."""
    prior, recipe, free = problem.prior, problem.recipe, problem.free
    phi = free.parameters(found.z)
    if recipe.estimator == "truncated":
        phi = analysis.truncated(recipe.kept)
    broken = violations(prior, phi)
    if recipe.estimator == "consistent" and (broken or recipe.mass):
        phi = free.parameters(nearest(prior, found, free, recipe.mass))
    elif broken:
        raise ArmtwinError(
            f"the {recipe.estimator} estimate is that of no real robot: {'; '.join(broken[:3])}. "
            "Use the consistent estimator"
        )
    return phi


def _robot(problem: Problem, phi: Floats, gains: Floats | None, logs: int) -> Robot:
    """The identified robot with its provenance."""
    how = problem.blocks[0]
    samples = sum(len(b.time) for b in problem.blocks)
    source = (
        f"identified: {logs} logs with {samples} samples, torque from {how.source}, "
        f"cut-off {how.how.cutoff:.4g} Hz, {problem.recipe.estimator}"
    )
    robot = problem.prior.with_parameters(phi, source)
    if gains is None:
        return robot
    constants = [k / abs(row).max() for k, row in zip(gains, robot.assembly.gear, strict=True)]
    motors = tuple(
        replace(m, torque_constant=float(k), source={**_sources(m.source), "torque_constant": source})
        for m, k in zip(robot.description.motor, constants, strict=True)
    )
    return Robot(replace(robot.description, motor=motors), robot.origin)


def _sources(source: str | dict[str, str]) -> dict[str, str]:
    return dict(source) if isinstance(source, dict) else {"rotor_inertia": source}


def _reversal(problem: Problem, phi: Floats, gains: Floats | None, noise: Floats) -> Floats:
    """For each joint the width of doubt about a reversal that explains the logged torque best, (n,) [rad/s]."""
    robot, samples = problem.prior, []
    for b in problem.blocks:
        near = np.flatnonzero(near_reversal(robot, b.v, WIDTHS[-1] * noise))
        some = near[:: max(1, len(near) * len(problem.blocks) // REVERSALS)]
        samples.append((b.q[some], b.v[some], b.a[some], b.raw[some]))
    q, v, a, torque = (np.concatenate(x) for x in zip(*samples, strict=True))
    if not len(q):
        return problem.width
    Y, errors = robot.regressor(q, v, a), []
    f = Y.shape[2] - robot.friction_regressor(v[:1]).shape[2]
    rest = (torque if gains is None else torque * gains) - Y[:, :, :f] @ phi[:f]
    for k in WIDTHS:
        told = mean_friction_columns(robot, v, a, k * noise) @ phi[f:]
        errors.append(((rest - told) ** 2).sum(axis=0))
    return np.asarray(WIDTHS[np.argmin(errors, axis=0)] * noise)
