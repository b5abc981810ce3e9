"""What an identification works on: logs checked and clean, the robot, and what may change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.factors import Factors, factors, together
from armtwin.identification.fitting.free_directions import FreeDirections
from armtwin.identification.fitting.least_squares import fit, scales
from armtwin.identification.fitting.robust import huber_weights
from armtwin.identification.rigid_body.clean_log import CleanLog, clean_log, within_rate
from armtwin.identification.rigid_body.drive_gains import drive_gains, first_gains
from armtwin.identification.rigid_body.free_parameters import free_parameters
from armtwin.identification.rigid_body.identifiable import identifiable
from armtwin.identification.rigid_body.log_checks import check_logs
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.identification.rigid_body.regression import rows
from armtwin.identification.rigid_body.reversals import best_width
from armtwin.identification.rigid_body.suspicion import suspect
from armtwin.logs.averaging import averaged
from armtwin.logs.cleaning import choices
from armtwin.logs.joint_order import in_order_of
from armtwin.logs.log import Log
from armtwin.logs.torque import logged_torque, needs_gains, torque_channel
from armtwin.maths.batch import Flags, Floats
from armtwin.maths.blas import one_blas_thread
from armtwin.robot.assumed_drives import lacks_drives, with_assumed_drives
from armtwin.robot.robot import Robot

PARTS = 6  # into which the logs are cut at least, to be left out in turn
# deviations of the speed's noise within which the sign of friction is first taken to be in doubt
FIRST_WIDTH = 8.0
FIRST_WEIGHT = 1e-3  # of the prior, before the best one is known
GAIN_WEIGHT = 1e-5  # of the prior, while gains are told
STRETCHES = 8000  # samples of all logs on which widths are tried
LEAST_STRETCH = 1000  # the same at least of one


@dataclass(frozen=True, eq=False)
class Robust:
    """What rows are weighted by: their residual with parameters φ over their joint's deviation.

    Attributes:
        phi: Parameters, (p,).
        sigma: Deviations, (n,).
        gains: Factors of the logged torques, (n,).
    """

    phi: Floats
    sigma: Floats
    gains: Floats


@dataclass(frozen=True, eq=False)
class Experiment:
    """What an identification works on.

    Attributes:
        prior: The robot, with assumed drives where its file has none.
        recipe: The choices.
        cutoff: Cut-off, as asked for or common to all logs [Hz].
        source: Channel of the torque.
        free: The directions in which the parameters may change.
        logs: The logs, or their mean.
        clean: The same, clean.
        rest: Speeds below which a joint counts as standing, (n,) [rad/s].
        width: Speeds about a reversal within which the sign of friction is in doubt, (n,) [rad/s].
    """

    prior: Robot
    recipe: Recipe
    cutoff: float
    source: str
    free: FreeDirections
    logs: tuple[Log, ...]
    clean: tuple[CleanLog, ...]
    rest: Floats
    width: Floats

    @property
    def friction(self) -> Flags:
        """Which parameters belong to friction, (p,)."""
        return np.array([p.group == "friction" for p in self.prior.parameter_table])

    @property
    def independent(self) -> float:
        """Share of the rows that are independent, the filter having tied neighbours."""
        shares, counts = [], []
        for log in self.clean:
            how = log.how
            shares.append(min(1.0, 2 * how.cutoff * how.step / how.rate))
            counts.append(len(log.clean.time) / how.step)
        return float(np.average(shares, weights=counts))

    @one_blas_thread()
    def parts(self, robust: Robust | None = None) -> list[Factors]:
        """Factors of parts of the logs, their rows weighted where robust."""
        base = identifiable(self.prior)
        of_each_log = -(-PARTS // len(self.clean))
        found = []
        for log in self.clean:
            whole = rows(self.prior, log, base, self.rest, self.width)
            for part in whole.in_parts(of_each_log):
                if robust is None:
                    found.append(factors(part, base.combination))
                    continue
                scaled = replace(part, target=part.target * robust.gains)
                gap = scaled.target - scaled.predicted(base.combination @ robust.phi)
                weights = huber_weights(gap, robust.sigma)
                found.append(factors(scaled, base.combination, weights))
        return found

    def gains(self, found: Factors) -> Floats | None:
        """Drive gains of the joints [N m/A]; None where the torque is known without."""
        if not needs_gains(self.prior, self.source):
            return None
        gear = self.prior.assembly.gear
        coupled = (np.count_nonzero(gear, axis=1) != 1).any()
        if coupled or len(gear) != self.prior.n:
            raise ArmtwinError(
                f"robot '{self.prior.name}': currents of coupled joints need "
                "motor.torque_constant of every motor"
            )
        first, own = first_gains(found, self.free.start, self.friction)
        return drive_gains(found, self.free, GAIN_WEIGHT, first, own)

    @one_blas_thread()
    def with_width(self) -> Experiment:
        """The same with the widths of doubt that explain a stretch of each log best."""
        samples = max(LEAST_STRETCH, STRETCHES // len(self.clean))
        some = replace(self, clean=tuple(log.first(samples) for log in self.clean))
        whole = together(some.parts())
        if not whole.count.any():  # every joint stands in all stretches
            return self
        gains = some.gains(whole)
        if gains is not None:
            whole = whole.scaled(gains)
        first = fit(whole, self.free, FIRST_WEIGHT, scales(whole, self.free))
        phi = self.free.parameters(first.z)
        width = best_width(self.prior, some.clean, phi, gains, _speed_noise(self.clean))
        return self if width is None else replace(self, width=width)


@one_blas_thread()
def prepared(
    robot: Robot, logs: Sequence[Log], *, torque: str | None, cutoff: float | None, recipe: Recipe
) -> Experiment:
    """The logs checked and clean, with what may change."""
    given = _checked(robot, logs, cutoff)
    prior = with_assumed_drives(robot) if lacks_drives(robot) else robot
    recipe.check(prior)
    ordered = tuple(in_order_of(log, prior.joint_names) for log in given)
    used = (averaged(ordered),) if recipe.average else ordered
    check_logs(prior, used, recipe.position_channel)
    source = torque_channel(used[0], torque)
    common = _common_cutoff(used, recipe) if cutoff is None else cutoff
    clean = []
    for k, log in enumerate(used, 1):
        within = within_rate(log, common) if cutoff is None else cutoff
        try:
            logged = logged_torque(prior, log, torque_channel(log, source))
            clean.append(clean_log(log, within, recipe, logged))
        except ArmtwinError as error:
            raise ArmtwinError(f"{log.origin or f'log {k}'}: {error}") from None
    suspect(prior, clean)
    return Experiment(
        prior=prior,
        recipe=recipe,
        cutoff=common,
        source=source,
        free=free_parameters(prior, recipe),
        logs=used,
        clean=tuple(clean),
        rest=recipe.rest * fastest(clean),
        width=FIRST_WIDTH * _speed_noise(clean),
    )


def _checked(robot: Robot, logs: Sequence[Log], cutoff: float | None) -> tuple[Log, ...]:
    """The logs, or an error that says what was given in place of robot, logs or cut-off."""
    if not isinstance(robot, Robot):
        kind = type(robot).__name__
        raise ArmtwinError(f"identify needs a robot, got a {kind}; load it by at.Robot.load")
    given = () if isinstance(logs, Log) else tuple(logs)
    if not given or not all(isinstance(log, Log) for log in given):
        raise ArmtwinError("identify needs a list of at least one log")
    if isinstance(cutoff, bool) or not isinstance(cutoff, Real | None):
        raise ArmtwinError(f"cutoff must be a number in Hz, got {cutoff!r}")
    return given


def _common_cutoff(logs: Sequence[Log], recipe: Recipe) -> float:
    """One cut-off for all logs: the median of what their spectra ask for [Hz]."""
    wanted = []
    for log in logs:
        q = getattr(log, recipe.position_channel)
        if np.ptp(q, axis=0).any():
            wanted.append(choices(Log.of(log.time, q=q)).cutoff)
    return float(np.median(wanted))


def _speed_noise(logs: Sequence[CleanLog]) -> Floats:
    """Standard deviation of the speeds over all logs, (n,) [rad/s]."""
    power = np.mean([log.noise**2 for log in logs], axis=0)
    return np.asarray(np.sqrt(power))


def fastest(logs: Sequence[CleanLog]) -> Floats:
    """Highest speed of each joint in all logs, (n,) [rad/s]."""
    speeds = [np.abs(log.clean.v).max(axis=0) for log in logs]
    return np.asarray(np.max(speeds, axis=0))
