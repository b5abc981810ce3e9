"""Data of an identification: checked and clean logs, the robot, and the free parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting import factors
from armtwin.identification.fitting.regularisation import estimate_scales, fit, huber_weights
from armtwin.identification.fitting.squares import Squares, compute_squares
from armtwin.identification.rigid_body.data import clean_log as cleaning
from armtwin.identification.rigid_body.data.reversals import choose_width
from armtwin.identification.rigid_body.fit import drive_gains, regression
from armtwin.identification.rigid_body.fit.free_parameters import free_parameters, term_directions
from armtwin.identification.rigid_body.friction.presliding import has_presliding
from armtwin.identification.rigid_body.friction.terms import Terms, elements_of, with_terms
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.channels import channel_kind
from armtwin.logs.joints import needs_gains, torque_channel, torque_or_current
from armtwin.logs.log import Log
from armtwin.maths.batch import Flags, Floats, TwoArrays
from armtwin.maths.blas import one_blas_thread
from armtwin.maths.narrow import largest
from armtwin.robot.dynamics.load_friction import has_loads, is_turned
from armtwin.robot.robot import Robot

PARTS = 6  # into which the logs are cut at least, to be left out in turn
# deviations of the speed's noise within which the sign of friction is first taken as uncertain
FIRST_WIDTH = 8.0
FIRST_WEIGHT = 1e-3  # of the prior, before the best one is known
GAIN_WEIGHT = 1e-5  # of the prior, while gains are identified
STRETCHES = 4000  # samples of all logs on which widths are tried
JUDGED = 6_000  # rows at most on which the torque of left-out parts is judged
BLOCK = 8_000  # samples whose columns are held at a time, fewer with many terms
LEAST_STRETCH = 500  # samples of one log at least


@dataclass(frozen=True, eq=False)
class Robust:
    """Weighting of rows by their residual with parameters φ over their joint's deviation.

    Attributes:
        phi: Parameters, (p,).
        sigma: Deviations, (n,).
        gains: Factors of the logged torques, (n,).
    """

    phi: Floats
    sigma: Floats
    gains: Floats


@dataclass(frozen=True)
class LowPassFilter:
    """How logs are cleaned.

    Attributes:
        cutoff: Cut-off frequency [Hz].
        asked: Whether it was given; a chosen one is lowered where a log's rate needs it.
        recipe: The other choices.
    """

    cutoff: float
    asked: bool
    recipe: Recipe


@dataclass(frozen=True, eq=False)
class IdentificationData:
    """Data of an identification.

    Attributes:
        prior: The robot, with assumed drives where its file has none.
        recipe: The choices.
        cutoff: Cut-off, as given or common to all logs [Hz].
        source: Channel of the torque.
        free: The directions in which the parameters may change.
        logs: The logs, or their mean.
        clean: The clean logs.
        rest: Speeds below which a joint counts as at rest, (n,) [rad/s].
        width: Speeds about a reversal within which the sign of friction is uncertain, (n,)
            [rad/s].
        terms: Friction terms added to those of the robot, their parameters last.
        carried: Parameters of what lies beyond the gears, for terms that follow loads, (p,); None
            where they are not known yet.
    """

    prior: Robot
    recipe: Recipe
    cutoff: float
    source: str
    free: factors.FreeDirections
    logs: tuple[Log, ...]
    clean: tuple[cleaning.CleanLog, ...]
    rest: Floats
    width: Floats
    terms: Terms = ()
    carried: Floats | None = None

    @cached_property
    def model(self) -> regression.RegressionModel:
        """Contribution of each parameter to the torque."""
        return regression.RegressionModel(self.prior, self.width, self.terms, self.carried)

    @cached_property
    def extended(self) -> Robot:
        """The robot with the added terms."""
        return with_terms(self.prior, self.terms)

    @property
    def friction(self) -> Flags:
        """Which parameters belong to friction, (p,)."""
        own = [p.group == "friction" for p in self.prior.parameter_table]
        return np.array(own + [True] * len(self.terms))

    @property
    def has_presliding(self) -> bool:
        """Whether any friction element, of the robot or added, has pre-sliding hysteresis."""
        elements = [*self.prior.assembly.friction, *elements_of(self.terms)]
        return any(has_presliding(element) for element, _ in elements)

    def with_all_rows(self) -> IdentificationData:
        """These data with the rows of joints at rest, where pre-sliding friction has a sign."""
        return replace(self, rest=np.zeros_like(self.rest))

    def with_terms(self, terms: Terms) -> IdentificationData:
        """These data with friction terms beside the robot's own, free to change."""
        free = term_directions(self.prior, self.free, terms)
        return replace(self, terms=terms, free=free)

    @property
    def independent(self) -> float:
        """Share of the rows that are independent, as the filter correlates neighbours."""
        shares, counts = [], []
        for log in self.clean:
            how = log.how
            shares.append(min(1.0, 2 * how.cutoff * how.step / how.rate))
            counts.append(len(log.clean.time) / how.step)
        return float(np.average(shares, weights=counts))

    @one_blas_thread()
    def parts(self, robust: Robust | None = None) -> list[factors.Factors]:
        """Factors of parts of the logs, their rows weighted where robust."""
        pieces: list[list[factors.Factors]] = [[] for _ in range(self._count(PARTS))]
        for part, some in self._pieces(PARTS):
            pieces[part].append(self._factors(some, robust))
        return [factors.merge_factors(some) for some in pieces]

    @one_blas_thread()
    def squares(self, count: int = PARTS) -> Squares:
        """Squares of at least `count` parts of the logs."""
        return self._squares(self._pieces(count), count)

    def _squares(self, pieces: Iterator[tuple[int, factors.RegressionRows]], count: int) -> Squares:
        model = self.model
        return compute_squares(pieces, self._count(count), model.busy, model.combination)

    def _count(self, least: int) -> int:
        """Number of parts: at least this many, and equally many of each log."""
        logs = len(self.clean)
        return -(-least // logs) * logs

    def _pieces(self, least: int) -> Iterator[tuple[int, factors.RegressionRows]]:
        """Rows of the logs, a few at a time, and the number of the part that they belong to."""
        of_each_log = self._count(least) // len(self.clean)
        for k, log in enumerate(self.clean):
            for part, some in self._pieces_of(log, of_each_log):
                yield k * of_each_log + part, some

    def _pieces_of(
        self, log: cleaning.CleanLog, count: int
    ) -> Iterator[tuple[int, factors.RegressionRows]]:
        """Rows of one log, a few at a time, with their part of `count` parts."""
        kept = regression.select_rows(log)
        length = max(1, self.model.fewer(BLOCK) // log.how.step)
        deflections = self.model.bends(log.motion)
        settled = first_of(regression.find_settled_rows(log, deflections, kept))
        begins = min(settled, max(0, len(kept) - count))  # a row of each part at least
        edges = np.linspace(begins, len(kept), count + 1).astype(int).tolist()
        for first in range(0, len(kept), length):
            last = min(first + length, len(kept))
            block = regression.rows(self.model, log, deflections, self.rest, kept[first:last])
            for part in range(count):
                start, end = max(first, edges[part]), min(last, edges[part + 1])
                if start < end or last - first == len(kept):  # a part of few rows may have none
                    yield part, block.between(start - first, end - first)

    def _factors(self, some: factors.RegressionRows, robust: Robust | None) -> factors.Factors:
        """Factors of rows, weighted by their residuals where robust."""
        combination = self.model.combination
        if robust is None:
            return factors.factorise(some, combination)
        scaled = replace(some, target=some.target * robust.gains)
        gap = scaled.target - scaled.predicted(combination @ robust.phi)
        return factors.factorise(scaled, combination, huber_weights(gap, robust.sigma))

    @one_blas_thread()
    def raw_squares(self, most: int) -> Squares:
        """Squares of the same parts with the torque as measured, of at most `most` rows."""
        return self._squares(self._raw_pieces(most), PARTS)

    def _raw_pieces(self, most: int) -> Iterator[tuple[int, factors.RegressionRows]]:
        """Rows with the torque as measured, and the number of the part that they belong to."""
        for k, (whole, _) in enumerate(self._raw_rows(most)):
            yield from self._in_parts(k, whole, first_of(whole.used))

    def _raw_rows(self, most: int) -> Iterator[tuple[factors.RegressionRows, Floats]]:
        """Rows of each log with its torque as measured, and the speeds there, (k, n)."""
        step = -(-sum(len(log.time) for log in self.logs) // most)
        for log, cleaned in zip(self.logs, self.clean, strict=True):
            torque = without_loads(self.prior, log, self.source, self.cutoff, self.recipe)
            motion = cleaned.motion_at(log.time)
            whole = regression.raw_rows(self.model, motion, torque, step)
            some = slice(step // 2, None, step)
            first, last = cleaned.clean.time[[0, -1]]
            chosen = (log.time[some] >= first) & (log.time[some] <= last)  # of whole periods
            yield replace(whole, used=whole.used & chosen[:, None]), motion.v[some]

    def _in_parts(
        self, k: int, whole: factors.RegressionRows, begins: int
    ) -> Iterator[tuple[int, factors.RegressionRows]]:
        """Rows of a log from a first one on, and the number of the part that they belong to."""
        of_each_log = self._count(PARTS) // len(self.clean)
        yield from enumerate(whole.in_parts(of_each_log, begins), k * of_each_log)

    @one_blas_thread()
    def estimate_left_out_error(self, fits: Sequence[Floats], gains: Floats | None) -> TwoArrays:
        """Root mean square of the measured torque less that of fits without each part, (n,) each.

        Of joints in motion, and at rest at least as much: what a contact then bears differs from
        one rest to the next, and so do the offsets of torques.

        Args:
            fits: Parameters of the fit without each part, (p,) each.
            gains: Factors of logged currents, None where torques are known without, (n,).
        """
        slowest = self.recipe.rest * find_highest_speeds(self.clean)
        squares, count = np.zeros((2, 2, self.prior.n))
        for k, (whole, v) in enumerate(self._raw_rows(JUDGED)):
            scaled = whole if gains is None else replace(whole, target=gains * whole.target)
            moves, begins = np.abs(v) >= slowest, first_of(whole.used)
            for kind, counted in enumerate((whole.used & moves, whole.used & ~moves)):
                for part, some in self._in_parts(k, replace(scaled, used=counted), begins):
                    gap = some.target - some.predicted(self.model.combination @ fits[part])
                    squares[kind] += (gap**2 * some.used).sum(axis=0)
                    count[kind] += some.used.sum(axis=0)
        moving, at_rest = np.sqrt(squares / np.maximum(count, 1))
        return moving, np.maximum(at_rest, moving)

    @property
    def needs_gains(self) -> bool:
        """Whether gains that make what was logged a torque are identified with the parameters."""
        return needs_gains(self.prior, self.source)

    @property
    def needs_gears(self) -> bool:
        """Whether these gains are gear ratios, as motor torques were logged."""
        return self.needs_gains and channel_kind(self.source) == "tau_m"

    def gains(self, found: factors.Factors) -> Floats | None:
        """Gains of the joints [N m/A, or 1]; None where the torque is known without."""
        return self.estimate_gains(found) if self.needs_gains else None

    def estimate_gains(self, found: factors.Factors) -> Floats:
        """Gains of the joints, (n,): of currents [N m/A], of motor torques gear ratios."""
        gear = self.prior.assembly.gear
        coupled = (np.count_nonzero(gear, axis=1) != 1).any()
        if coupled or len(gear) != self.prior.n:
            raise ArmtwinError(
                f"robot '{self.prior.name}': currents of coupled joints need "
                "motor.torque_constant of every motor"
            )
        first, own = drive_gains.estimate_first_gains(found, self.free.start, self.friction)
        return drive_gains.estimate_drive_gains(found, self.free, GAIN_WEIGHT, first, own)

    @one_blas_thread()
    def with_width(self) -> IdentificationData:
        """These data with the speed uncertainty that explains a stretch of each log best.

        The fit that determines it determines the load on the gears, too.
        """
        samples = max(LEAST_STRETCH, STRETCHES // len(self.clean))
        some = replace(self, clean=tuple(log.first(samples) for log in self.clean))
        whole = some.squares().whole()
        if not whole.count.any():  # every joint is at rest in all stretches
            return self
        gains = some.gains(whole)
        if gains is not None:
            whole = whole.scaled(gains)
        first = fit(whole, self.free, FIRST_WEIGHT, estimate_scales(whole, self.free))
        phi = self.free.parameters(first.z)
        width = choose_width(self.prior, some.clean, phi, gains, _speed_noise(self.clean))
        return replace(
            self,
            width=self.width if width is None else width,
            carried=beyond_gears(self.prior, phi),
        )


@one_blas_thread()
def prepare_data(
    prior: Robot, logs: tuple[Log, ...], source: str, how: LowPassFilter
) -> IdentificationData:
    """Clean checked logs and find the free parameters.

    Args:
        prior: The robot, with drives.
        logs: Its logs, in the order of its joints.
        source: Channel of the torque.
        how: The filter and the other choices.
    """
    recipe = how.recipe
    clean = []
    for k, log in enumerate(logs, 1):
        within = how.cutoff if how.asked else cleaning.limit_to_rate(log, how.cutoff)
        try:
            logged = without_loads(prior, log, source, within, recipe)
            clean.append(cleaning.clean_log(log, within, recipe, logged))
        except ArmtwinError as error:
            raise ArmtwinError(f"{log.origin or f'log {k}'}: {error}") from None
    return IdentificationData(
        prior=prior,
        recipe=recipe,
        cutoff=how.cutoff,
        source=source,
        free=free_parameters(prior, recipe),
        logs=logs,
        clean=tuple(clean),
        rest=recipe.rest * find_highest_speeds(clean),
        width=FIRST_WIDTH * _speed_noise(clean),
    )


def first_of(flags: Flags) -> int:
    """Number of the first row (m, n) with any flag."""
    return int(flags.any(axis=1).argmax()) if len(flags) else 0


def without_loads(robot: Robot, log: Log, source: str, cutoff: float, recipe: Recipe) -> Floats:
    """Logged torques without the friction that follows loads, as the robot file has it, (m, n)."""
    channel = torque_channel(log, source)
    torque = torque_or_current(robot, log, channel)
    if not has_loads(robot.assembly) or needs_gains(robot, channel):
        return torque
    return torque - robot.load_dependent_friction(*cleaning.filter_motion(log, cutoff, recipe))


def beyond_gears(robot: Robot, phi: Floats) -> Floats:
    """Those of a robot's parameters φ that act beyond the gears, the others zero, (p,)."""
    parts = robot.assembly
    kept = phi.copy()
    kept[robot.layout.rotors] = 0.0
    first = robot.layout.friction.start
    for (_, row), count in zip(parts.friction, robot.layout.frictions, strict=True):
        if row.linkage is not None or is_turned(parts, row):
            kept[first : first + count] = 0.0
        first += count
    return kept


def _speed_noise(logs: Sequence[cleaning.CleanLog]) -> Floats:
    """Standard deviation of the speeds over all logs, (n,) [rad/s]."""
    power = np.mean([log.noise**2 for log in logs], axis=0)
    return np.sqrt(power)


def find_highest_speeds(logs: Sequence[cleaning.CleanLog]) -> Floats:
    """Highest speed of each joint in all logs, (n,) [rad/s]."""
    speeds = [largest(log.clean.v) for log in logs]
    return np.max(speeds, axis=0)
