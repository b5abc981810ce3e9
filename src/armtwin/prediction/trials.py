"""Trials of changed jobs: each simulated once, several at a time, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.writing import to_tables, to_toml
from armtwin.jobs.job import Job
from armtwin.maths.batch import thread_count
from armtwin.maths.lanes import LANES
from armtwin.prediction.predict import Prediction, predict_all

CLOSE = 1.02  # ratio of a speed that fails to one that holds at which the search ends
MARGIN = 1.03  # at this much more speed the advice must fail
MORE_STEPS = 10
TOGETHER = 2 * LANES  # jobs that are predicted at once on each thread: what they keep in memory


@dataclass(frozen=True)
class Option:
    """One way to make the seam hold, or that it does not.

    Attributes:
        name: "speed", "slower stretch", "orientation", "shift", "radius".
        text: What it does, as a sentence.
        holds: Whether the seam holds then.
        ratio: Largest error over its tolerance then.
        duration: Time of the job then [s].
        job: The changed job.
    """

    name: str
    text: str
    holds: bool
    ratio: float
    duration: float
    job: Job


@dataclass(frozen=True)
class _Outcome:
    """What became of a job: largest error over tolerance, and the run where it could be run."""

    ratio: float
    prediction: Prediction | None


@dataclass
class Trials:
    """Simulates jobs as a prediction was, each once; counts them."""

    prediction: Prediction
    budget: int
    progress: Callable[[float], None] | None
    known: dict[str, _Outcome] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many jobs were simulated."""
        return len(self.known)

    def ratios(self, jobs: Sequence[Job]) -> list[float]:
        """Largest error over tolerance of each job.

        inf where it cannot be run or stops, NaN where the budget did not suffice to try it.
        """
        keys = [_key(job) for job in jobs]
        self._simulate(dict(zip(keys, jobs, strict=True)))
        untried = _Outcome(np.nan, None)
        return [self.known.get(key, untried).ratio for key in keys]

    def _simulate(self, jobs: dict[str, Job]) -> None:
        """Simulate those of the jobs that are new, as far as the budget reaches."""
        fresh = [(key, job) for key, job in jobs.items() if key not in self.known]
        fresh = fresh[: self.budget - self.count]
        most = TOGETHER * thread_count()
        for first in range(0, len(fresh), most):
            some = fresh[first : first + most]
            found = _outcomes(self.prediction, [job for _, job in some])
            for (key, _), outcome in zip(some, found, strict=True):
                self.known[key] = outcome
            if self.progress is not None:
                self.progress(self.count / self.budget)

    def seen(self, job: Job) -> Prediction | None:
        """The run of a job that was tried."""
        outcome = self.known.get(_key(job))
        return None if outcome is None else outcome.prediction

    def holds(self, job: Job) -> bool:
        """Whether the seam of a job holds."""
        return self.ratios([job])[0] <= 1

    def option(self, name: str, text: str, job: Job) -> Option:
        """A changed job with what became of it."""
        ratio = self.ratios([job])[0]
        if np.isnan(ratio):
            ratio = np.inf
        return Option(name, text, ratio <= 1, ratio, duration_of(job), job)


def _key(job: Job) -> str:
    return to_toml(to_tables(job.description))


def _outcomes(like: Prediction, jobs: Sequence[Job]) -> list[_Outcome]:
    """Jobs predicted as another one was."""
    found = []
    for prediction in predict_all(like.given, jobs, method=like.method):
        # out of reach or beyond limits: an answer like any other
        ratio = np.inf if prediction is None else prediction.verdict.worst_ratio
        found.append(_Outcome(ratio, prediction))
    return found


def duration_of(job: Job) -> float:
    """Time of a job's motion, inf where it has none [s]."""
    try:
        return job.seam.profile.duration
    except ArmtwinError:
        return float("inf")


def rounded(speed: float) -> float:
    """A speed or length in three digits of mm/s or mm."""
    return float(f"{1e3 * speed:.3g}") / 1e3


@dataclass(frozen=True)
class Highest:
    """The outcome of a search: the highest value that holds, None if none does.

    All that were tried.
    """

    value: float | None
    tried: list[float]


def highest(trials: Trials, make: Callable[[float], Job], values: Sequence[float]) -> Highest:
    """The highest value that holds just below one that fails, by a coarse look and bisection."""
    tried = sorted(values)
    ratios = trials.ratios([make(value) for value in tried])
    passing = [value for value, ratio in zip(tried, ratios, strict=True) if ratio <= 1]
    if not passing:
        return Highest(None, tried)
    low = max(passing)
    high = min((value for value in tried if value > low), default=low * CLOSE)
    while high / low > CLOSE:
        middle = rounded(float(np.sqrt(low * high)))
        if middle in (low, high):
            break
        tried.append(middle)
        if trials.holds(make(middle)):
            low = middle
        else:
            high = middle
    for _ in range(MORE_STEPS):  # where the error is not monotonic, a little more may hold again
        more = rounded(MARGIN * low)
        tried.append(more)
        if not trials.holds(make(more)):
            break
        low = more
    return Highest(low, sorted(set(tried)))
