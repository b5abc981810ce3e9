"""What an identification works on: the logs checked and clean, the robot, and what is free to change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.estimators import fit, scales
from armtwin.identification.factors import Factors, factors, split, together
from armtwin.identification.freedom import Freedom, freedom
from armtwin.identification.gains import drive_gains, first_gains
from armtwin.identification.identifiable import identifiable
from armtwin.identification.recipe import Recipe
from armtwin.identification.regression import (
    Block,
    block,
    mean_friction_columns,
    near_reversal,
    rows,
    within_rate,
)
from armtwin.identification.suspicion import check_logs, suspect
from armtwin.logs.averaging import averaged
from armtwin.logs.cleaning import choices
from armtwin.logs.joint_order import in_order_of
from armtwin.logs.log import Log
from armtwin.logs.torque import needs_gains, torque_channel
from armtwin.maths.batch import Flags, Floats
from armtwin.maths.blas import one_blas_thread
from armtwin.robot.assumed_drives import lacks_drives, with_assumed_drives
from armtwin.robot.robot import Robot

PARTS = 6  # into which the logs are cut at least, to be left out in turn
FIRST_WIDTH = 8.0  # deviations of the speed's noise within which the sign of friction is first taken to be in doubt
WIDTHS = 2.0 ** np.arange(-1, 8)
FIRST_WEIGHT = 1e-3  # of the prior, before the best one is known
GAIN_WEIGHT = 1e-5  # of the prior, while gains are told
STRETCHES, LEAST_STRETCH = (
    8000,
    1000,
)  # samples of all logs, and at least of one, on which widths are tried
REVERSALS = 1500  # of these, about reversals, that are compared
HUBER = 1.345  # deviations from which on a row counts less


@one_blas_thread()
def prepared(
    robot: Robot, logs: Sequence[Log], *, torque: str | None, cutoff: float | None, recipe: Recipe
) -> Problem:
    """The logs checked and clean, with what is free to change."""
    if not isinstance(robot, Robot):
        raise ArmtwinError(
            f"identify needs a robot, got a {type(robot).__name__}; load it by at.Robot.load"
        )
    given = [] if isinstance(logs, Log) else list(logs)
    if not given or any(not isinstance(log, Log) for log in given):
        raise ArmtwinError("identify needs a list of at least one log")
    if cutoff is not None and (isinstance(cutoff, bool) or not isinstance(cutoff, Real)):
        raise ArmtwinError(f"cutoff must be a number in Hz, got {cutoff!r}")
    prior = with_assumed_drives(robot) if lacks_drives(robot) else robot
    recipe.check(prior)
    given = [in_order_of(log, prior.joint_names) for log in given]
    used = (averaged(given),) if recipe.average else tuple(given)
    check_logs(prior, used, "q" if recipe.motion == "measured" else "q_ref")
    source = torque_channel(used[0], torque)
    blocks, common = [], cutoff if cutoff is not None else _common_cutoff(used, recipe)
    for k, log in enumerate(used, 1):
        try:
            within = common if cutoff is not None else within_rate(log, common)
            blocks.append(block(prior, log, within, source, recipe))
        except ArmtwinError as error:
            raise ArmtwinError(f"{log.origin or f'log {k}'}: {error}") from None
    suspect(prior, blocks)
    free, rest = freedom(prior, recipe), recipe.rest * fastest(blocks)
    return Problem(prior, recipe, common, free, used, blocks, rest, FIRST_WIDTH * _noise(blocks))


@dataclass(frozen=True, eq=False)
class Robust:
    """What rows are weighted by: their residual with parameters φ over the deviation of their joint.

    Attributes:
        phi: Parameters, (p,).
        sigma: Deviations, (n,).
        gains: Factors of the logged torques, (n,).
    """

    phi: Floats
    sigma: Floats
    gains: Floats


@dataclass(frozen=True, eq=False)
class Problem:
    """What an identification works on."""

    prior: Robot
    recipe: Recipe
    cutoff: float  # as asked for, or common to all logs [Hz]
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
    def parts(self, robust: Robust | None = None) -> list[Factors]:
        """Factors of parts of the logs, their rows weighted where robust."""
        base = identifiable(self.prior)

        def of_log(b: Block) -> list[Factors]:
            found = rows(self.prior, b, base, self.rest, self.width)
            pieces = split(found, -(-PARTS // len(self.blocks)))
            if robust is None:
                return [factors(x, base.combination) for x in pieces]
            pieces = [replace(x, tau=x.tau * robust.gains) for x in pieces]
            gaps = (x.tau - x.torque(base.combination @ robust.phi) for x in pieces)
            return [
                factors(x, base.combination, _huber(g, robust.sigma))
                for x, g in zip(pieces, gaps, strict=True)
            ]

        return [part for b in self.blocks for part in of_log(b)]

    def independent(self) -> float:
        """Share of the rows that are independent of each other, the filter having tied neighbours."""
        shares = [min(1.0, 2 * b.how.cutoff * b.how.step / b.how.rate) for b in self.blocks]
        return float(np.average(shares, weights=[len(b.time) / b.how.step for b in self.blocks]))

    @one_blas_thread()
    def with_width(self) -> Problem:
        """The problem with the widths of doubt that explain its logs best, tried on a stretch of each."""
        samples = max(LEAST_STRETCH, STRETCHES // len(self.blocks))
        some = replace(self, blocks=[b.first(samples) for b in self.blocks])
        parts = some.parts()
        if not together(parts).count.any():  # every joint stands in all stretches
            return self
        gains = gains_of(some, together(parts))
        whole = together(parts) if gains is None else together(parts).scaled(gains)
        found = fit(whole, self.free, FIRST_WEIGHT, scales(whole, self.free))
        phi = self.free.parameters(found.z)
        return replace(self, width=_reversal(some, phi, gains, _noise(self.blocks)))


def _huber(residual: Floats, sigma: Floats) -> Floats:
    """Weights of rows that fall with their residual beyond a few deviations."""
    size = np.abs(residual) / (HUBER * sigma)
    return np.asarray(1 / np.maximum(size, 1.0))


def _common_cutoff(logs: Sequence[Log], recipe: Recipe) -> float:
    """One cut-off for all logs: the median of what their spectra ask for [Hz]."""
    positions = (log.q if recipe.motion == "measured" else log.q_ref for log in logs)
    bare = [Log.of(log.time, q=q) for log, q in zip(logs, positions, strict=True)]
    moving = [x for x in bare if np.ptp(x.q, axis=0).any()]
    return float(np.median([choices(x).cutoff for x in moving]))


def _noise(blocks: Sequence[Block]) -> Floats:
    """Standard deviation of the speeds over all logs, (n,)."""
    return np.asarray(np.sqrt(np.mean([b.noise**2 for b in blocks], axis=0)))


def fastest(blocks: Sequence[Block]) -> Floats:
    """Highest speed of each joint in all logs, (n,)."""
    return np.asarray(np.max([np.abs(b.v).max(axis=0) for b in blocks], axis=0))


def gains_of(problem: Problem, found: Factors) -> Floats | None:
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
    of_friction = robot.layout.friction
    without = phi.copy()
    without[of_friction] = 0.0
    rest = (torque if gains is None else torque * gains) - Y @ without
    for k in WIDTHS:
        told = mean_friction_columns(robot, (q, v, a), k * noise) @ phi[of_friction]
        errors.append(((rest - told) ** 2).sum(axis=0))
    return np.asarray(WIDTHS[np.argmin(errors, axis=0)] * noise)
