"""Trials of changed jobs: several simulated at a time, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.writing import to_tables, to_toml
from armtwin.jobs.groups import Change
from armtwin.jobs.job import Job
from armtwin.maths.batch import OnProgress, thread_count
from armtwin.maths.lanes import LANES
from armtwin.prediction.changes import round_digits
from armtwin.prediction.correct import ROUNDS, SPACINGS, correct_prediction
from armtwin.prediction.predict import Prediction, predict_all

CLOSE = 1.02  # ratio of a speed that fails to one that fits at which the search ends
MARGIN = 1.03  # at this much more speed the advice must not fit any more; least that is narrowed
MORE_STEPS = 10
RUNS_OF_A_CORRECTION = ROUNDS + SPACINGS + 2  # at most
# what is predicted at once, and kept in memory: jobs on each thread, and time of all motions [s]
TOGETHER, TIME_TOGETHER = 2 * LANES, 400.0


@dataclass(frozen=True)
class Option:
    """A change that may make the seam hold.

    Attributes:
        name: What is changed.
        text: What it does, as a sentence.
        fits: Whether its nominal run is within the margin that was asked for.
        ratio: Largest error over its tolerance in its nominal run.
        duration: Time of the job then [s].
        job: The changed job.
        size: How large the change is: a shift over the largest allowed one, time that is lost over
            that of the job's motion; another orientation is half of such a change, corrected points
            are none: speed, place and orientation stay.
        probability: How likely such a robot's seam holds then, by variants of its own; None where
            none were simulated.
        holds: Whether it holds with 95 % confidence; in nominal advice, in its nominal run.
        corrected: The job by corrected points of its program, where that is the change.
    """

    name: Change
    text: str
    fits: bool
    ratio: float
    duration: float
    job: Job
    size: float = 0.0
    probability: float | None = None
    holds: bool = False
    corrected: Prediction | None = field(default=None, compare=False)


@dataclass
class Trials:
    """Simulates jobs as a prediction was, and keeps their ratios alone; counts them.

    Attributes:
        prediction: How they are simulated; its own job needs no trial.
        budget: Most trials.
        progress: Called with the share of the budget that is used.
        limit: Largest error over tolerance up to which a nominal run fits.
        known: Largest error over tolerance of those that were tried, inf where one cannot be run.
        corrections: The job by corrected points once it was tried, None where it cannot be.
    """

    prediction: Prediction
    budget: int
    progress: OnProgress | None
    limit: float = 1.0
    known: dict[str, float] = field(default_factory=dict)
    corrections: list[Prediction | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        own = self.prediction
        self.known.setdefault(_key(own.job), own.verdict.worst_ratio)

    @property
    def count(self) -> int:
        """How many nominal runs were simulated, those of a correction at most."""
        return len(self.known) - 1 + RUNS_OF_A_CORRECTION * len(self.corrections)

    def within(self, limit: float) -> Trials:
        """The same trials with another limit."""
        return replace(self, limit=limit)

    def ratios(self, jobs: Sequence[Job]) -> list[float]:
        """Largest error over tolerance of each job.

        inf where it cannot be run or stops, NaN where the budget did not suffice to try it.
        """
        keys = [_key(job) for job in jobs]
        self._simulate(dict(zip(keys, jobs, strict=True)))
        return [self.known.get(key, np.nan) for key in keys]

    def _simulate(self, jobs: dict[str, Job]) -> None:
        """Simulate those of the jobs that are new, as far as the budget reaches."""
        fresh = [(key, job) for key, job in jobs.items() if key not in self.known]
        fresh = fresh[: self.budget - self.count]
        lasting = [x for x in (duration_of(job) for _, job in fresh) if np.isfinite(x)]
        at_once = int(TIME_TOGETHER / max(lasting, default=TIME_TOGETHER))
        most = max(1, min(TOGETHER * thread_count(), at_once))
        for first in range(0, len(fresh), most):
            some = fresh[first : first + most]
            found = _find_ratios(self.prediction, [job for _, job in some])
            for (key, _), ratio in zip(some, found, strict=True):
                self.known[key] = ratio
            if self.progress is not None:
                self.progress(self.count / self.budget)

    def seen(self, job: Job) -> Prediction | None:
        """The run of a job that was tried, simulated again; None where it cannot be run."""
        own, key = self.prediction, _key(job)
        if key == _key(own.job):
            return own
        return predict_all([job], own.given, method=own.method)[0] if key in self.known else None

    def corrected(self) -> Prediction | None:
        """The job by points of its program that are corrected on the nominal twin.

        None where that cannot be run, or the budget does not suffice.
        """
        if not self.corrections and self.count + RUNS_OF_A_CORRECTION <= self.budget:
            self.corrections.append(_correct(self.prediction))
        return self.corrections[0] if self.corrections else None

    def fits(self, job: Job) -> bool:
        """Whether the nominal run of a job is within the limit."""
        return self.ratios([job])[0] <= self.limit

    def option(self, name: Change, text: str, job: Job, size: float = 0.0) -> Option:
        """A changed job with what became of it."""
        ratio = self.ratios([job])[0]
        if np.isnan(ratio):
            ratio = np.inf
        return Option(name, text, ratio <= self.limit, ratio, duration_of(job), job, size)

    def time_lost(self, job: Job) -> float:
        """How much longer a job takes, over the time of the predicted one."""
        return max(0.0, duration_of(job) / duration_of(self.prediction.job) - 1)


def _key(job: Job) -> str:
    return to_toml(to_tables(job.description))


def _find_ratios(like: Prediction, jobs: Sequence[Job]) -> list[float]:
    """Largest errors over tolerance of jobs predicted as another one was."""
    found = []
    for prediction in predict_all(jobs, like.given, method=like.method):
        # out of reach or beyond limits: an answer like any other
        found.append(np.inf if prediction is None else prediction.verdict.worst_ratio)
    return found


def _correct(p: Prediction) -> Prediction | None:
    try:
        return correct_prediction(p).points.prediction
    except ArmtwinError:  # it stops, or shifted points are beyond limits
        return None


def duration_of(job: Job) -> float:
    """Time of a job's motion, inf where it has none [s]."""
    try:
        return job.seam.profile.duration
    except ArmtwinError:
        return float("inf")


@dataclass(frozen=True)
class Highest:
    """The outcome of a search: the highest value that fits, None if none does.

    All that were tried.
    """

    value: float | None
    tried: list[float]


def highest(
    trials: Trials, make: Callable[[float], Job], values: Sequence[float], most: float = np.inf
) -> Highest:
    """The highest value that fits just below one that does not, by a coarse look and bisection.

    Args:
        trials: Where the values are tried.
        make: The job with a value.
        values: The coarse look.
        most: No value beyond it is tried.
    """
    tried = sorted(values)
    ratios = trials.ratios([make(value) for value in tried])
    passing = [x for x, ratio in zip(tried, ratios, strict=True) if ratio <= trials.limit]
    if not passing:
        return Highest(None, tried)
    low = max(passing)
    high = min((value for value in tried if value > low), default=low * CLOSE)
    low, between = narrow(trials, make, low, high, CLOSE)
    tried += between
    more = _a_little_more(trials, make, low, most)
    best = max([low, *(x for x in more if trials.fits(make(x)))])
    return Highest(best, sorted({*tried, *more}))


def narrow(
    trials: Trials, make: Callable[[float], Job], fitting: float, failing: float, close: float
) -> tuple[float, list[float]]:
    """The value that fits next to one that does not, by bisection until their ratio is close.

    Returns also what was tried.
    """
    tried = []
    while max(fitting, failing) / min(fitting, failing) > close:
        middle = round_digits(float(np.sqrt(fitting * failing)))
        if middle in (fitting, failing):
            break
        tried.append(middle)
        if trials.fits(make(middle)):
            fitting = middle
        else:
            failing = middle
    return fitting, tried


def _a_little_more(
    trials: Trials, make: Callable[[float], Job], low: float, most: float
) -> list[float]:
    """Values a little above one that fits, up to the first that does not.

    Where the error is not monotonic, a little more may fit again.
    """
    tried: list[float] = []
    for _ in range(MORE_STEPS):
        low = round_digits(MARGIN * low)
        if low > most:
            break
        tried.append(low)
        if not trials.fits(make(low)):
            break
    return tried
