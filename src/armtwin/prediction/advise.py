"""What to change so that the seam holds with 95 % confidence.

Changed jobs are searched by simulating their nominal runs, a bounded number of them. Of a seam
whose largest error over its tolerance is r in the nominal run, and log-normal with a standard
deviation σ of its logarithm among such robots, 95 % hold where

    r <= exp(-1.645 σ)

so this is the limit of the search, with the σ of the verdict's own variants. What is then called
best is verified by sampled variants of its own; where these refute it, they give the limit for the
next search.

Corrected points fit the nominal twin that they are learned on, so only variants decide on them.
"""

from __future__ import annotations

import math
from dataclasses import replace

from armtwin.errors import ArmtwinError
from armtwin.jobs.groups import Advising, Change
from armtwin.jobs.job import Job
from armtwin.maths.batch import OnProgress
from armtwin.prediction.advice import Advice, Measuring
from armtwin.prediction.band.along import LIKELY
from armtwin.prediction.band.band import Band, assess
from armtwin.prediction.band.measured import MeasuredFirst, measure_first
from armtwin.prediction.band.widths import Z_90
from armtwin.prediction.options import SEARCHES, Speeds, faster, speeds
from armtwin.prediction.predict import Prediction
from armtwin.prediction.trials import MARGIN, Option, Trials

PROOFS = 5  # options verified by sampled variants before the search is given up
PROOFS_OF_SPEED = 3  # and speeds, where the job keeps its own


def advise(
    prediction: Prediction,
    band: Band | None = None,
    *,
    nominal: bool = False,
    budget: int = 120,
    progress: OnProgress | None = None,
) -> Advice:
    """Search changes with which a seam holds with 95 % confidence, as `[advice]` allows.

    Args:
        prediction: A predicted job.
        band: Its 90 % interval; computed where it is not given.
        nominal: Whether nominal runs alone decide, by the plain tolerance: fast, and no more
            certain than the nominal verdict.
        budget: Most nominal simulations to run.
        progress: Called with the share of the budget that is used.
    """
    _check(prediction, band, budget)
    if nominal:
        band = None
    elif band is None and prediction.verdict.stopped is None:
        band = assess(prediction)
    wanted = prediction.job.description.advice
    trials = Trials(prediction, budget, progress, _limit(prediction, band, nominal))
    enough = _is_enough(prediction, band)
    search = _Search(trials, nominal, failing=not enough)
    if enough and wanted.keep_speed:
        return search.advice(band, needed=False)
    best = search.best(_eligible(wanted, nominal), PROOFS)
    slower = None
    if best is None and wanted.keep_speed and "speed" in wanted.options:
        slower = search.best(("speed",), PROOFS_OF_SPEED)
    return search.advice(band, best=best, slower=slower)


def _check(prediction: Prediction, band: Band | None, budget: int) -> None:
    """Refuse what no advice can be given on."""
    if band is not None and band.prediction is not prediction:
        raise ArmtwinError("advise needs the interval of this prediction, got that of another one")
    if budget < 1:
        raise ArmtwinError(f"budget must be at least 1 simulation, got {budget}")


def _limit(p: Prediction, band: Band | None, nominal: bool) -> float:
    """Largest error over tolerance of a nominal run that is expected to hold at 95 %."""
    if nominal:
        return p.job.description.advice.share
    if band is None or not math.isfinite(band.spread):
        return 1.0
    limit = math.exp(-Z_90 * band.spread)
    ratio = p.verdict.worst_ratio
    if ratio <= limit and not _is_enough(p, band):
        return _narrower(ratio, band)
    return limit


def _narrower(ratio: float, band: Band) -> float:
    """The limit that follows from variants which refute a nominal run whose ratio fitted."""
    return ratio / max(MARGIN, band.ratio[2])  # some only stop


def _is_enough(p: Prediction, band: Band | None) -> bool:
    """Whether a job holds at 95 % as it is; without variants, with the margin that it must."""
    if band is not None:
        return band.probability >= LIKELY
    return p.verdict.within and p.verdict.worst_ratio <= p.job.description.advice.share


def _eligible(wanted: Advising, nominal: bool) -> tuple[Change, ...]:
    """What may be called best: another radius is another seam, and another speed must be asked.

    By nominal runs alone corrected points are not, for they fit the nominal twin.
    """
    left_out = {"radius"}
    if wanted.keep_speed:
        left_out.add("speed")
    if nominal:
        left_out.add("correction")
    return tuple(name for name in wanted.options if name not in left_out)


class _Search:
    """Options searched by nominal runs, and verified by variants, until one holds at 95 %."""

    def __init__(self, trials: Trials, nominal: bool, failing: bool) -> None:
        self.trials, self.nominal, self.failing = trials, nominal, failing
        self.wanted = trials.prediction.job.description.advice
        self.limits = dict.fromkeys(self.wanted.options, trials.limit)
        self.speeds = Speeds()
        self.found: dict[Change, list[Option]] = {}
        self.proved: list[Option] = []
        self.refuted: list[tuple[Change, Job]] = []
        self.corrected: Band | None = None
        self.draws = 0

    def best(self, names: tuple[Change, ...], proofs: int) -> Option | None:
        """The best option of some kinds that holds; each that is refuted narrows its kind."""
        for _ in range(proofs):
            self._look()
            option = self._first(names)
            if option is None:
                return None
            proved = self._verify(option)
            if proved.holds:
                return proved
            if proved.probability is not None and proved.probability >= LIKELY:
                return None  # a verdict that is capped never holds at 95 %
        return None

    def _look(self) -> None:
        """Search all kinds, each by its limit; what was simulated before is not again."""
        for name in self.wanted.options:
            trials = self.trials.within(self.limits[name])
            options: list[Option] = []
            if name == "speed":
                self.speeds = speeds(trials)
                options = list(self.speeds.options)
            elif name == "radius" or (self.failing and not (self.nominal and name == "correction")):
                options = SEARCHES[name](trials)
            # what fitted a wider limit stays open: its own variants may still verify it
            known = self.found.setdefault(name, [])
            known += [option for option in options if option not in known]

    def _first(self, names: tuple[Change, ...]) -> Option | None:
        """The option to prove next: the smallest change, or the shortest motion."""
        open_ones = []
        for name in names:
            for option in self.found.get(name, ()):
                if option.fits and (option.name, option.job) not in self.refuted:
                    open_ones.append(option)
        if self.wanted.keep_speed:
            return min(open_ones, key=lambda x: (x.size, x.ratio), default=None)
        best = min(open_ones, key=lambda x: (x.duration, x.ratio), default=None)
        if best is not None and best.name in ("orientation", "shift"):
            sped_up = faster(self.trials.within(self.limits[best.name]), best)
            return best if (sped_up.name, sped_up.job) in self.refuted else sped_up
        return best

    def _verify(self, option: Option) -> Option:
        """An option with the probability by its own variants."""
        if self.nominal:
            return replace(option, holds=True)
        prediction = option.corrected or self.trials.seen(option.job)
        assert prediction is not None  # it fits, so it was run to its end
        band = assess(prediction)
        self.draws += len(band.ensemble)
        if option.corrected is not None:
            self.corrected = band
        proved = replace(option, probability=band.probability, holds=band.outcome == "holds")
        self.proved.append(proved)
        if not proved.holds:
            self.refuted.append((option.name, option.job))
            narrower = _narrower(option.ratio, band)
            self.limits[option.name] = min(self.limits[option.name], narrower)
        return proved

    def advice(
        self,
        band: Band | None,
        *,
        needed: bool = True,
        best: Option | None = None,
        slower: Option | None = None,
    ) -> Advice:
        """What was found, the proofs in place of what was proved."""
        measuring: tuple[Measuring, ...] = ()
        first: tuple[MeasuredFirst, ...] = ()
        nearest = None
        if needed and best is None:
            nearest = max(self.proved, key=lambda x: x.probability or 0.0, default=None)
            measuring = self._measuring(band)
            first = () if self.corrected is None else measure_first(self.corrected)
        return Advice(
            needed=needed,
            best=best,
            nearest=nearest,
            slower=slower,
            options=tuple(self._all_options()),
            speeds=self.speeds,
            limit=self.trials.limit,
            measuring=measuring,
            measured_first=first,
            simulations=self.trials.count,
            draws=self.draws,
            band=band,
        )

    def _all_options(self) -> list[Option]:
        """One of each kind: the most probable, else the smallest that fits, else the best.

        Those that hold come first, then those that fit, each the smallest change first.
        """
        found = []
        for name in self.wanted.options:
            proved = [option for option in self.proved if option.name == name]
            others = self.found.get(name, [])
            if proved:
                found.append(max(proved, key=lambda x: (x.holds, x.probability or 0.0)))
            elif others:
                best = min(others, key=lambda x: (not x.fits, x.size if x.fits else x.ratio))
                found.append(replace(best, holds=self.nominal and best.fits))
        return sorted(found, key=lambda x: (not x.holds, not x.fits, x.size))

    def _measuring(self, band: Band | None) -> tuple[Measuring, ...]:
        """What each measurement that is worth reporting would allow."""
        if band is None or not math.isfinite(band.spread):
            return ()
        found = []
        for saving in band.savings:
            limit = math.exp(-Z_90 * band.spread * math.sqrt(saving.left))
            found.append(Measuring(saving.way, limit, self._find_allowed(limit)))
        return tuple(found)

    def _find_allowed(self, limit: float) -> str:
        """What would hold at 95 % with another limit, by nominal runs: the smallest change."""
        trials = self.trials.within(limit)
        if trials.fits(trials.prediction.job):
            return "the job as it is"
        fitting = []
        for name in _eligible(self.wanted, nominal=True):
            if name in SEARCHES:
                fitting += [option for option in SEARCHES[name](trials) if option.fits]
        if fitting:
            return min(fitting, key=lambda x: (x.size, x.ratio)).text
        if "speed" in self.wanted.options:
            for option in speeds(trials).options:
                if option.fits:
                    return option.text
        return ""
