"""The 90 % interval of a verdict: probability, what it depends on, what measuring would gain."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.jobs.uncertainty import draws_problem
from armtwin.maths.batch import Floats, Names, OnProgress, Pair
from armtwin.prediction.band.along import LIKELY, AlongSeam, along_seam
from armtwin.prediction.band.distribution import (
    HIGH,
    LOW,
    MIDDLE,
    Distribution,
    Regression,
    log_normal_bounds,
    regression,
)
from armtwin.prediction.band.draws import normal_draws
from armtwin.prediction.band.ensemble import Ensemble, run_variants
from armtwin.prediction.band.identified import parameter_draws
from armtwin.prediction.band.measuring import Saving, savings
from armtwin.prediction.band.quantities import quantities_of
from armtwin.prediction.band.quantity import Quantity, Variant, sample_variant
from armtwin.prediction.band.residual import read_servo_residual, residuals
from armtwin.prediction.predict import Prediction
from armtwin.prediction.verdict import Direction
from armtwin.report.result import Result

Outcome = Literal["holds", "may hold", "does not hold"]
UNLIKELY = 0.05  # probability up to which a seam does not hold
NEAR = 0.03  # of these, within which as many variants again are simulated
LEAST_SHARE = 0.03  # of the spread that is reported


@dataclass(frozen=True)
class Share:
    """What a quantity makes of the spread.

    Attributes:
        quantity: The quantity.
        share: Of the variance of the logarithm of the ratio.
        elasticity: Relative change of the error per relative change of the quantity; of one that
            is no ratio, per unit of it.
    """

    quantity: Quantity
    share: float
    elasticity: float


@dataclass(frozen=True, eq=False, repr=False)
class Band(Result):
    """The 90 % interval of a prediction, by the numbers that are not known exactly.

    Attributes:
        prediction: The nominal prediction.
        quantities: What is not known exactly.
        deviations: The sampled variants in standard deviations, (variants, quantities).
        ensemble: What became of them.
        seed: Seed of the sampled variants.
    """

    prediction: Prediction
    quantities: tuple[Quantity, ...]
    deviations: Floats
    ensemble: Ensemble
    seed: int

    described_by = "armtwin.prediction.sections.interval:describe_band"

    @cached_property
    def distribution(self) -> Distribution:
        """Peaks of the variants that were run to their end."""
        return Distribution(self.ensemble.peaks[self.ensemble.finished])

    @cached_property
    def bounds(self) -> Floats:
        """Peaks of which 5, 50 and 95 % stay below, (directions, 3)."""
        return log_normal_bounds(self.ensemble.peaks[self.ensemble.finished])

    @cached_property
    def along(self) -> AlongSeam:
        """The 90 % interval along the seam, and where it holds."""
        return along_seam(self.ensemble, self.tolerances, self.bounds, self.probability)

    @cached_property
    def tolerances(self) -> Floats:
        """What is allowed in each direction, (directions,)."""
        tolerance = self.prediction.job.description.tolerance
        return np.array([getattr(tolerance, x) for x in self.ensemble.directions])

    @property
    def worst_of_each(self) -> Floats:
        """Largest error over its tolerance of each variant, (variants,); NaN of one not run."""
        return (self.ensemble.peaks / self.tolerances).max(axis=1)

    @cached_property
    def ratios(self) -> Floats:
        """Largest error over its tolerance at points of the fitted distribution."""
        return self.distribution.ratios(self.tolerances)

    @cached_property
    def probability(self) -> float:
        """How likely such a robot's seam holds."""
        if not self.ensemble.finished.any():
            return 0.0
        kept = float((self.ratios <= 1).mean())
        return kept * float((~self.ensemble.failed).mean())

    @property
    def failures(self) -> int:
        """Variants that stopped, could not be run, or were outside a process window."""
        return int(self.ensemble.failed.sum())

    @property
    def outcome(self) -> Outcome:
        """What can be said of the seam."""
        if self.probability <= UNLIKELY:
            return "does not hold"
        if self.probability >= LIKELY and not self.prediction.capped_by:
            return "holds"
        return "may hold"

    @cached_property
    def ratio(self) -> tuple[float, float, float]:
        """Ratios of largest error to tolerance at the quantiles 5, 50 and 95 %."""
        low, middle, high = np.percentile(self.ratios, (LOW, MIDDLE, HIGH))
        return float(low), float(middle), float(high)

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the logarithm of the largest error over its tolerance."""
        return float(np.log(self.ratios).std())

    @property
    def direction(self) -> Direction:
        """The direction that uses most of its tolerance in the nominal run."""
        return self.ensemble.directions[self._worst]

    @cached_property
    def _worst(self) -> int:
        return int((self.nominal / self.tolerances).argmax())

    @cached_property
    def nominal(self) -> Floats:
        """Peaks of the nominal run, (directions,)."""
        peaks = self.prediction.verdict.peaks
        return np.array([peaks[direction] for direction in self.ensemble.directions])

    @property
    def peak(self) -> Pair:
        """The 90 % interval of the peak in the direction that decides [m; rad]."""
        low, _, high = self.ratio
        return low * self.allowed, high * self.allowed

    @property
    def allowed(self) -> float:
        """The tolerance in the direction that decides [m; rad]."""
        return float(self.tolerances[self._worst])

    @cached_property
    def regression(self) -> Regression:
        """How the largest error over its tolerance depends on each quantity.

        Not of a corrected command: its error grows with how far numbers are off, to either side
        alike, which no slope shows; `measure_first` simulates what measuring would gain.
        """
        run = self.ensemble.finished
        worst = self.worst_of_each[run]
        if self.prediction.shift is not None:
            return Regression(np.zeros(len(self.quantities)), float(np.log(worst).var()))
        moving = [quantity.spread > 0 for quantity in self.quantities]
        z = self.deviations[run] * np.array(moving, dtype=float)
        return regression(z, np.log(np.maximum(worst, 1e-12)))

    @cached_property
    def shares(self) -> tuple[Share, ...]:
        """Share of each quantity in the spread, the largest first; small ones are left out."""
        large = [share for share in self.all_shares if share.share >= LEAST_SHARE]
        large.sort(key=lambda x: -x.share)
        return tuple(large)

    @cached_property
    def all_shares(self) -> tuple[Share, ...]:
        """What each quantity makes of the spread, in the order of the quantities."""
        found = []
        slopes, shares = self.regression.slopes, self.regression.shares
        for quantity, slope, share in zip(self.quantities, slopes, shares, strict=True):
            per = quantity.spread
            elasticity = float(slope / per) if per > 0 else 0.0
            found.append(Share(quantity, float(share), elasticity))
        return tuple(found)

    @cached_property
    def beside_quantities(self) -> Names:
        """What else was varied, in words: the rest of the spread."""
        found = []
        if read_servo_residual(self.prediction) is not None:
            found.append("the residual of the servo's fit")
        if self.prediction.robot.uncertainty.known.any():
            found.append("the uncertainty of identified parameters")
        return tuple(found)

    @cached_property
    def savings(self) -> tuple[Saving, ...]:
        """What measuring would gain."""
        return savings(self.quantities, self.regression.shares)


def assess(
    prediction: Prediction,
    *,
    draws: int | None = None,
    seed: int | None = None,
    progress: OnProgress | None = None,
) -> Band:
    """How likely the seam of a prediction holds, with the numbers that are not known exactly.

    Args:
        prediction: The nominal prediction.
        draws: Variants to sample, a power of two; by default the job's, and as many again where the
            outcome is near to another.
        seed: Seed of the sampled variants; by default the job's.
        progress: Called with the share that is done.
    """
    (band,) = assess_alike((prediction,), draws=draws, seed=seed, progress=progress)
    return band


def assess_alike(
    predictions: Sequence[Prediction],
    *,
    draws: int | None = None,
    seed: int | None = None,
    measured: Collection[str] = (),
    progress: OnProgress | None = None,
) -> tuple[Band, ...]:
    """As `assess` for several commands of one job: variant k is the same robot in each of them.

    Args:
        predictions: Nominal predictions of one job on one robot.
        draws: As of `assess`; as many again for all of them, where one is near another outcome.
        seed: As of `assess`.
        measured: What counts as measured, keys of `MEASUREMENTS`: the same variants, nearer to the
            nominal robot.
        progress: As of `assess`.
    """
    for prediction in predictions:
        _check(prediction)
    asked = predictions[0].job.description.uncertainty
    count = asked.draws if draws is None else draws
    problem = draws_problem(count)
    if problem:
        raise ArmtwinError(problem)
    chosen = asked.seed if seed is None else seed
    if chosen < 0:
        raise ArmtwinError(f"seed must be 0 or greater, got {chosen}")
    samples = [_Samples(prediction, count, chosen, measured) for prediction in predictions]
    first = []
    for k, sample in enumerate(samples):
        first.append(sample.run(slice(count), _part(progress, k, len(samples))))
    bands = tuple(sample.band(found) for sample, found in zip(samples, first, strict=True))
    odds = np.array([band.probability for band in bands])
    apart = np.abs(np.stack([odds - LIKELY, odds - UNLIKELY]))
    if draws is not None or not (apart < NEAR).any():
        return bands
    bands = ()
    for k, (sample, found) in enumerate(zip(samples, first, strict=True)):
        more = sample.run(slice(count, None), _part(progress, k, len(samples)))
        bands += (sample.band(found.join(more)),)
    return bands


def _check(prediction: Prediction) -> None:
    """Refuse what has no interval."""
    if prediction.verdict.stopped is not None:
        raise ArmtwinError(
            f"the nominal run of '{prediction.job.name}' stops: it has no 90 % interval"
        )


def _part(progress: OnProgress | None, k: int, parts: int) -> OnProgress | None:
    """Progress of part k of several."""
    return None if progress is None else lambda share: progress((k + share) / parts)


class _Samples:
    """Variants of a prediction: twice as many as are asked for, to be run as they are needed."""

    def __init__(
        self, prediction: Prediction, count: int, seed: int, measured: Collection[str]
    ) -> None:
        self.prediction, self.seed = prediction, seed
        self.quantities = quantities_of(prediction)
        self.deviations = normal_draws(2 * count, len(self.quantities), seed)
        for k, quantity in enumerate(self.quantities):
            if quantity.measured_by in measured and quantity.spread > 0:
                self.deviations[:, k] *= quantity.spread_if_measured / quantity.spread
        self._residuals = residuals(prediction, 2 * count, seed)
        self._errors = parameter_draws(prediction.robot, 2 * count, seed)

    def run(self, some: slice, progress: OnProgress | None) -> Ensemble:
        """What becomes of some of the variants."""
        nominal = Variant(self.prediction.robot.description)
        variants = []
        rows = zip(self.deviations[some], self._residuals[some], self._errors[some], strict=True)
        for z, knots, error in rows:
            variant = sample_variant(nominal, self.quantities, z)
            variants.append(replace(variant, residual=knots, error=error))
        return run_variants(self.prediction, variants, progress)

    def band(self, found: Ensemble) -> Band:
        """The interval by the first variants, as many as were run."""
        deviations = self.deviations[: len(found)]
        return Band(self.prediction, self.quantities, deviations, found, self.seed)


def assess_run(prediction: Prediction) -> Band | None:
    """The 90 % interval of a prediction; None where its run stops."""
    return None if prediction.verdict.stopped is not None else assess(prediction)
