"""What to change so that the seam holds.

Found by simulating changed jobs, a bounded number of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.jobs.job import Job
from armtwin.notebook import cards
from armtwin.prediction import changes
from armtwin.prediction.predict import Prediction
from armtwin.prediction.sensitivity import AssumedEffect, sensitivities
from armtwin.prediction.trials import Option, Trials, duration_of, highest, rounded

FACTORS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.25, 1.6, 2.0)
RADII = (0.1, 0.2, 0.4, 0.7, 1.0, 1.4, 2.0)  # of the job's own
CLOSE_RADIUS = 1.05  # ratio of a radius that holds to one that fails at which the search ends
SHIFTS = (0.08, 0.16)  # of the workpiece [m]
ROUNDS = 3  # in which stretches that leave the tolerance are added to those that are slowed down


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
    sensitivities: tuple[AssumedEffect, ...]
    simulations: int

    def __repr__(self) -> str:
        best = "nothing holds" if self.best is None else f"best: {self.best.text}"
        return cards.line("Advice", cards.counted(self.simulations, "simulation"), best)

    def _repr_html_(self) -> str:
        rows = []
        for option in self.options:
            holds = "holds" if option.holds else "does not hold"
            used = f"{100 * option.ratio:.0f} %" if np.isfinite(option.ratio) else "-"
            rows.append((option.text, holds, used, f"{option.duration:.2f} s"))
        return cards.table(repr(self), rows, ("option", "seam", "of tolerance", "time"))


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
    job = prediction.job
    trials = Trials(prediction, budget, progress)
    ranked = sensitivities(prediction, trials.ratios)
    speeds = _speeds(trials, job)
    options = list(speeds.options)
    if not prediction.verdict.within:
        options += _slower_stretch(trials, prediction)
        options += _orientation(trials, job)
        options += _shift(trials, job)
    options += _radius(trials, job)
    best = _best(trials, options)
    return Advice(
        best=best,
        options=tuple(options),
        tried=speeds.tried,
        monotonic=speeds.monotonic,
        sensitivities=ranked,
        simulations=trials.count,
    )


def _best(trials: Trials, options: list[Option]) -> Option | None:
    """The option that holds in the shortest time; another radius is another seam, and no option."""
    good = [option for option in options if option.holds and option.name != "radius"]
    best = min(good, key=lambda option: (option.duration, option.ratio), default=None)
    if best is not None and best.name in ("orientation", "shift"):
        return _faster(trials, best)
    return best


def _faster(trials: Trials, option: Option) -> Option:
    """An option at the highest speed at which it holds."""
    speed = option.job.description.speed
    speeds = [speed, *(rounded(factor * speed) for factor in FACTORS if factor > 1)]
    best = highest(trials, option.job.with_speed, speeds).value
    if best is None or best <= speed:
        return option
    text = f"{option.text}, and run it at {1e3 * best:g} mm/s"
    return trials.option(option.name, text, option.job.with_speed(best))


@dataclass(frozen=True)
class _Speeds:
    """What became of other speeds of the whole job."""

    options: tuple[Option, ...]
    tried: tuple[tuple[float, bool], ...]
    monotonic: bool


def _speeds(trials: Trials, job: Job) -> _Speeds:
    """The highest speed of the whole job that holds."""
    speed = job.description.speed
    search = highest(trials, job.with_speed, [rounded(speed * factor) for factor in FACTORS])
    found = trials.ratios([job.with_speed(x) for x in search.tried])
    ratios = {x: ratio for x, ratio in zip(search.tried, found, strict=True) if not np.isnan(ratio)}
    tried = tuple((x, ratio <= 1) for x, ratio in ratios.items())
    if not tried:
        return _Speeds((), (), True)
    best = search.value
    if best is None:
        slowest, fastest = 1e3 * min(ratios), 1e3 * max(ratios)
        text = f"no speed from {slowest:g} to {fastest:g} mm/s holds"
        least_bad = min(ratios, key=lambda x: ratios[x])
        option = trials.option("speed", text, job.with_speed(least_bad))
        return _Speeds((option,), tried, True)
    monotonic = all(holds for x, holds in tried if x <= best)
    text = f"run the whole seam at {1e3 * best:g} mm/s"
    option = trials.option("speed", text, job.with_speed(best))
    return _Speeds((option,), tried, monotonic)


def _slower_stretch(trials: Trials, prediction: Prediction) -> list[Option]:
    """Slow down only where the tolerance is left.

    Stretches that then leave it are slowed down too.
    """
    job = prediction.job
    speed = job.description.speed
    lower = [rounded(speed * factor) for factor in FACTORS if factor < 1]
    spans = [(span.from_m, span.to_m) for span in prediction.verdict.spans]
    for _ in range(ROUNDS):
        if not spans:
            return []
        divided, slow = changes.divided(job, spans)
        best = highest(trials, partial(changes.slowed, divided, slow), lower).value
        if best is not None:
            names = ", ".join(divided.seam.path.stretches[k].name for k in slow)
            text = f"run only {names} at {1e3 * best:g} mm/s"
            slower = changes.slowed(divided, slow, best)
            return [trials.option("slower stretch", text, slower)]
        slowest = trials.seen(changes.slowed(divided, slow, lower[0]))
        if slowest is None:
            return []
        spans += [(span.from_m, span.to_m) for span in slowest.verdict.spans]
    return []


def _orientation(trials: Trials, job: Job) -> list[Option]:
    """The tool following the seam where it was fixed, and fixed where it followed."""
    other = changes.other_orientation(job)
    if other is None:
        return []
    text = "let the tool follow the seam"
    if other.description.orientation.mode == "fixed":
        text = "keep the tool's orientation"
    return [trials.option("orientation", text, other)]


def _shift(trials: Trials, job: Job) -> list[Option]:
    """The workpiece elsewhere: the nearest place of a small grid that holds, or the best one."""
    found: list[Option] = []
    for size in SHIFTS:
        steps = [(dx * size, dy * size) for dx, dy in product((-1, 0, 1), repeat=2) if dx or dy]
        jobs = [changes.shifted(job, dx, dy) for dx, dy in steps]
        ratios = np.nan_to_num(trials.ratios(jobs), nan=np.inf, posinf=np.inf)
        k = int(np.argmin(ratios))
        if np.isfinite(ratios[k]):
            dx, dy = 1e3 * np.array(steps[k])
            text = f"shift the workpiece by ({dx:g}, {dy:g}) mm in x, y of the base"
            found.append(trials.option("shift", text, jobs[k]))
        if ratios[k] <= 1:
            break
    return [min(found, key=lambda option: option.ratio)] if found else []


def _radius(trials: Trials, job: Job) -> list[Option]:
    """The smallest radius of the rounded corners, all alike, that holds at the job's speed."""
    radii = [segment.blend for segment in job.description.segment if segment.blend is not None]
    if not radii:
        return []
    own = max(radii)
    sizes = [rounded(own * factor) for factor in RADII]
    ratios = trials.ratios([changes.with_radius(job, size / own) for size in sizes])
    if np.isnan(ratios).any():
        return []
    good = [size for size, ratio in zip(sizes, ratios, strict=True) if ratio <= 1]
    if not good:
        return _no_radius(job, sizes, ratios)
    high = min(good)
    low = max((size for size in sizes if size < high), default=high)
    while high / low > CLOSE_RADIUS:
        middle = rounded(float(np.sqrt(low * high)))
        if middle in (low, high):
            break
        if trials.holds(changes.with_radius(job, middle / own)):
            high = middle
        else:
            low = middle
    text = f"the smallest radius that holds at this speed is {1e3 * high:g} mm"
    return [trials.option("radius", text, changes.with_radius(job, high / own))]


def _no_radius(job: Job, sizes: list[float], ratios: list[float]) -> list[Option]:
    """That no radius holds, where the job could be run at all."""
    ratio = min(ratios)
    if not np.isfinite(ratio):
        return []
    text = f"no radius from {1e3 * sizes[0]:g} to {1e3 * sizes[-1]:g} mm holds at this speed"
    return [Option("radius", text, False, ratio, duration_of(job), job)]
