"""What to change so that the seam holds: found by simulating changed jobs, a bounded number of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.writing import to_tables, to_toml
from armtwin.jobs.job import Job
from armtwin.maths.batch import thread_count
from armtwin.prediction import changes
from armtwin.prediction.predict import Prediction, predict
from armtwin.prediction.sensitivity import Sensitivity, sensitivities

FACTORS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.25, 1.6, 2.0)
CLOSE = 1.02  # ratio of a speed that fails to one that holds at which the search ends
MARGIN = 1.03  # at this much more speed the advice must fail
SHIFTS = (0.08, 0.16)  # of the workpiece [m]


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
class Advice:
    """What was tried, and what is best.

    Attributes:
        best: The option that holds in the shortest time; None if none does.
        options: All options.
        tried: Tool speeds of the whole job that were tried, each with whether it held [m/s].
        monotonic: Whether every speed below one that holds holds too.
        sensitivities: The assumed numbers that change the largest error most.
        simulations: How many runs it took.
    """

    best: Option | None
    options: tuple[Option, ...]
    tried: tuple[tuple[float, bool], ...]
    monotonic: bool
    sensitivities: tuple[Sensitivity, ...]
    simulations: int


@dataclass
class _Bench:
    """Simulates jobs as a prediction was, two at a time, each once; counts them."""

    prediction: Prediction
    budget: int
    progress: Callable[[float], None] | None
    known: dict[str, tuple[float, Prediction | None]] = field(default_factory=dict)

    def ratios(self, jobs: Sequence[Job]) -> list[float]:
        """Largest error over tolerance of each job; inf where it cannot be run or stops, NaN where it was not tried."""
        keys = [_key(job) for job in jobs]
        fresh = {key: job for key, job in zip(keys, jobs, strict=True) if key not in self.known}
        room = dict(list(fresh.items())[: self.budget - len(self.known)])
        with ThreadPoolExecutor(thread_count()) as pool:
            outcome = partial(_outcome, self.prediction)
            for key, found in zip(room, pool.map(outcome, room.values()), strict=True):
                self.known[key] = found
                if self.progress is not None:
                    self.progress(len(self.known) / self.budget)
        return [self.known.get(key, (np.nan, None))[0] for key in keys]

    def seen(self, job: Job) -> Prediction | None:
        return self.known.get(_key(job), (np.inf, None))[1]

    def holds(self, job: Job) -> bool:
        return self.ratios([job])[0] <= 1

    def option(self, name: str, text: str, job: Job) -> Option:
        tried = self.ratios([job])[0]
        ratio = np.inf if np.isnan(tried) else tried
        return Option(name, text, ratio <= 1, ratio, _duration(job), job)


def _key(job: Job) -> str:
    return to_toml(to_tables(job.description))


def _outcome(like: Prediction, job: Job) -> tuple[float, Prediction | None]:
    try:
        prediction = predict(like.given, job, method=like.method)
    except ArmtwinError:  # out of reach or beyond limits: an answer like any other
        return np.inf, None
    return prediction.verdict.worst_ratio, prediction


def _duration(job: Job) -> float:
    try:
        return job.seam.profile.duration
    except ArmtwinError:
        return float("inf")


def advise(
    prediction: Prediction, *, budget: int = 120, progress: Callable[[float], None] | None = None
) -> Advice:
    """What would make the seam of a prediction hold, or how much faster it could be.

    Args:
        prediction: A predicted job.
        budget: Most simulations to run.
        progress: Called with the share of the budget that is used.
    """
    if not isinstance(prediction, Prediction):
        raise ArmtwinError(
            f"advise needs a prediction, as at.predict gives, got a {type(prediction).__name__}"
        )
    if budget < 1:
        raise ArmtwinError(f"budget must be at least 1 simulation, got {budget}")
    job, bench = prediction.job, _Bench(prediction, budget, progress)
    ranked = sensitivities(prediction, lambda jobs: bench.ratios(jobs))
    options, tried, monotonic = _speeds(bench, job)
    if not prediction.verdict.within:
        options += _slower_stretch(bench, prediction)
        options += _orientation(bench, job)
        options += _shift(bench, job)
    options += _radius(bench, job)
    good = [x for x in options if x.holds and x.name != "radius"]
    best = min(good, key=lambda x: (x.duration, x.ratio), default=None)
    if best is not None and best.name in ("orientation", "shift"):
        best = _faster(bench, best)
    return Advice(best, tuple(options), tried, monotonic, ranked, len(bench.known))


def _faster(bench: _Bench, option: Option) -> Option:
    """An option at the highest speed at which it holds."""
    speed = option.job.description.speed
    best, _ = _highest(
        bench, option.job.with_speed, [speed, *(_rounded(f * speed) for f in FACTORS if f > 1)]
    )
    if best is None or best <= speed:
        return option
    return bench.option(
        option.name,
        f"{option.text}, and run it at {1e3 * best:g} mm/s",
        option.job.with_speed(best),
    )


def _rounded(speed: float) -> float:
    """A speed in three digits of mm/s."""
    return float(f"{1e3 * speed:.3g}") / 1e3


def _highest(
    bench: _Bench, make: Callable[[float], Job], values: Sequence[float]
) -> tuple[float | None, list[float]]:
    """The highest value that holds just below one that fails, by a coarse look and bisection; and what was tried."""
    tried = sorted(values)
    held = dict(zip(tried, (r <= 1 for r in bench.ratios([make(x) for x in tried])), strict=True))
    passing = [x for x in tried if held[x]]
    if not passing:
        return None, tried
    low = max(passing)
    high = min((x for x in tried if x > low), default=low * CLOSE)
    while high / low > CLOSE:
        middle = _rounded(float(np.sqrt(low * high)))
        if middle in (low, high):
            break
        tried.append(middle)
        low, high = (middle, high) if bench.holds(make(middle)) else (low, middle)
    for _ in range(10):  # where the error is not monotonic, a little more may hold again
        more = _rounded(MARGIN * low)
        tried.append(more)
        if not bench.holds(make(more)):
            break
        low = more
    return low, sorted(set(tried))


def _speeds(bench: _Bench, job: Job) -> tuple[list[Option], tuple[tuple[float, bool], ...], bool]:
    """The highest speed of the whole job that holds."""
    speed = job.description.speed
    best, tried = _highest(
        bench, lambda x: job.with_speed(x), [_rounded(speed * f) for f in FACTORS]
    )
    ratios = dict(zip(tried, bench.ratios([job.with_speed(x) for x in tried]), strict=True))
    tried = [x for x in tried if not np.isnan(ratios[x])]
    held = tuple((x, ratios[x] <= 1) for x in tried)
    if not tried:
        return [], (), True
    if best is None:
        text = f"no speed from {1e3 * tried[0]:g} to {1e3 * tried[-1]:g} mm/s holds"
        slow = job.with_speed(min(tried, key=lambda x: ratios[x]))
        return [bench.option("speed", text, slow)], held, True
    monotonic = all(ok for x, ok in held if x <= best)
    text = f"run the whole seam at {1e3 * best:g} mm/s"
    return [bench.option("speed", text, job.with_speed(best))], held, monotonic


def _slower_stretch(bench: _Bench, prediction: Prediction) -> list[Option]:
    """Slow down only where the tolerance is left; stretches that then leave it are slowed down too."""
    job = prediction.job
    spans = [(x.from_m, x.to_m) for x in prediction.verdict.spans]
    for _ in range(3):
        if not spans:
            return []
        divided, slow = changes.divided(job, spans)
        best, _ = _highest(
            bench, partial(changes.slowed, divided, slow), _lower(job.description.speed)
        )
        if best is not None:
            names = ", ".join(divided.seam.path.stretches[k].name for k in slow)
            text = f"run only {names} at {1e3 * best:g} mm/s"
            return [bench.option("slower stretch", text, changes.slowed(divided, slow, best))]
        gentle = bench.seen(changes.slowed(divided, slow, _lower(job.description.speed)[0]))
        if gentle is None:
            return []
        spans = [*spans, *((x.from_m, x.to_m) for x in gentle.verdict.spans)]
    return []


def _lower(speed: float) -> list[float]:
    return [_rounded(speed * f) for f in FACTORS if f < 1]


def _orientation(bench: _Bench, job: Job) -> list[Option]:
    """The tool following the seam where it was fixed, and fixed where it followed."""
    other = changes.other_orientation(job)
    if other is None:
        return []
    text = (
        "keep the tool's orientation"
        if other.description.orientation.mode == "fixed"
        else "let the tool follow the seam"
    )
    return [bench.option("orientation", text, other)]


def _shift(bench: _Bench, job: Job) -> list[Option]:
    """The workpiece elsewhere: the nearest place of a small grid that holds, or the best one."""
    found: list[Option] = []
    for step in SHIFTS:
        steps = [(dx * step, dy * step) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]
        jobs = [changes.shifted(job, dx, dy) for dx, dy in steps]
        ratios = [np.inf if np.isnan(r) else r for r in bench.ratios(jobs)]
        k = int(np.argmin(ratios))
        if np.isfinite(ratios[k]):
            text = f"shift the workpiece by ({1e3 * steps[k][0]:g}, {1e3 * steps[k][1]:g}) mm in x, y of the base"
            found.append(bench.option("shift", text, jobs[k]))
        if ratios[k] <= 1:
            break
    return [min(found, key=lambda x: x.ratio)] if found else []


def _radius(bench: _Bench, job: Job) -> list[Option]:
    """The smallest radius of the seam's rounded corners that holds at the job's speed, all changed alike."""
    radius = max((s.blend for s in job.description.segment if s.blend is not None), default=None)
    if radius is None:
        return []
    sizes = [_rounded(radius * f) for f in (0.1, 0.2, 0.4, 0.7, 1.0, 1.4, 2.0)]
    ratios = bench.ratios([changes.with_radius(job, x / radius) for x in sizes])
    if np.isnan(ratios).any():
        return []
    good = [x for x, r in zip(sizes, ratios, strict=True) if r <= 1]
    if not good:
        k = int(np.argmin(ratios))
        text = f"no radius from {1e3 * sizes[0]:g} to {1e3 * sizes[-1]:g} mm holds at this speed"
        return (
            [Option("radius", text, False, ratios[k], _duration(job), job)]
            if np.isfinite(ratios[k])
            else []
        )
    high = min(good)
    low = max((x for x in sizes if x < high), default=high)
    while high / low > 1.05:
        middle = _rounded(float(np.sqrt(low * high)))
        if middle in (low, high):
            break
        low, high = (
            (low, middle)
            if bench.holds(changes.with_radius(job, middle / radius))
            else (middle, high)
        )
    text = f"the smallest radius that holds at this speed is {1e3 * high:g} mm"
    return [bench.option("radius", text, changes.with_radius(job, high / radius))]
