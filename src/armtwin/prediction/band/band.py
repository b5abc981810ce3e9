"""The 90 % interval of a verdict: probability, what it depends on, what measuring would gain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.jobs.uncertainty import draws_problem
from armtwin.maths.batch import Flags, Floats, Names, OnProgress, Pair
from armtwin.prediction.band.distribution import (
    HIGH,
    LOW,
    MIDDLE,
    Distribution,
    Regression,
    regression,
)
from armtwin.prediction.band.draws import normal_draws
from armtwin.prediction.band.ensemble import Ensemble, run_variants
from armtwin.prediction.band.identified import parameter_draws
from armtwin.prediction.band.measuring import Saving, savings
from armtwin.prediction.band.quantities import quantities_of
from armtwin.prediction.band.quantity import Quantity, Variant, sample_variant
from armtwin.prediction.band.residual import read_servo_residual, residuals
from armtwin.prediction.predict import Prediction, check_prediction
from armtwin.prediction.verdict import Direction
from armtwin.report.result import Result

Outcome = Literal["holds", "may hold", "does not hold"]
LIKELY, UNLIKELY = 0.95, 0.05  # from and up to which a seam holds and does not
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
        return Distribution(self.ensemble.peaks[~self._not_run])

    @property
    def _not_run(self) -> Flags:
        return np.asarray(np.isnan(self.ensemble.peaks).any(axis=1))

    @property
    def errors(self) -> Floats:
        """Errors along the seam of the variants run to their end, (run, directions, k)."""
        return self.ensemble.errors[~self._not_run]

    @property
    def out_of_tolerance(self) -> Floats:
        """Share of the variants that are out of tolerance at the places of the ensemble, (k,)."""
        relative = np.abs(self.errors) / self.tolerances[:, None]
        return (relative.max(axis=1) > 1).mean(axis=0)

    @cached_property
    def tolerances(self) -> Floats:
        """What is allowed in each direction, (directions,)."""
        tolerance = self.prediction.job.description.tolerance
        return np.array([getattr(tolerance, x) for x in self.ensemble.directions])

    @cached_property
    def ratios(self) -> Floats:
        """Largest error over its tolerance at points of the fitted distribution."""
        return self.distribution.ratios(self.tolerances)

    @cached_property
    def probability(self) -> float:
        """How likely such a robot's seam holds."""
        if self._not_run.all():
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
        if self.probability >= LIKELY and not self.is_guessed:
            return "holds"
        return "may hold"

    @property
    def is_guessed(self) -> bool:
        """Whether the servo's structure itself is a guess, so that no interval covers it."""
        servo = self.prediction.servo
        return servo.structure != "known" and servo.basis != "fitted"

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
        allowed = float(self.tolerances[self._worst])
        low, _, high = self.ratio
        return low * allowed, high * allowed

    @cached_property
    def regression(self) -> Regression:
        """How the largest error over its tolerance depends on each quantity."""
        run = ~self._not_run
        worst = (self.ensemble.peaks[run] / self.tolerances).max(axis=1)
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
    check_prediction("assess", prediction)
    asked = prediction.job.description.uncertainty
    count = asked.draws if draws is None else draws
    problem = draws_problem(count)
    if problem:
        raise ArmtwinError(problem)
    if prediction.verdict.stopped is not None:
        raise ArmtwinError(
            f"the nominal run of '{prediction.job.name}' stops: it has no 90 % interval"
        )
    quantities = quantities_of(prediction)
    chosen = asked.seed if seed is None else seed
    deviations = normal_draws(2 * count, len(quantities), chosen)
    nominal = Variant(prediction.robot.description)
    left = residuals(prediction, 2 * count, chosen)
    errors = parameter_draws(prediction.robot, 2 * count, chosen)

    def variants(some: slice) -> list[Variant]:
        found = []
        for z, knots, error in zip(deviations[some], left[some], errors[some], strict=True):
            variant = sample_variant(nominal, quantities, z)
            found.append(replace(variant, residual=knots, error=error))
        return found

    first = run_variants(prediction, variants(slice(count)), progress)
    band = Band(prediction, quantities, deviations[:count], first, chosen)
    if draws is not None or not _is_near(band.probability):
        return band
    more = run_variants(prediction, variants(slice(count, None)), progress)
    return Band(prediction, quantities, deviations, first.join(more), chosen)


def assess_run(prediction: Prediction) -> Band | None:
    """The 90 % interval of a prediction; None where its run stops."""
    return None if prediction.verdict.stopped is not None else assess(prediction)


def _is_near(probability: float) -> bool:
    """Whether a probability is near to where another outcome begins."""
    return min(abs(probability - LIKELY), abs(probability - UNLIKELY)) < NEAR
