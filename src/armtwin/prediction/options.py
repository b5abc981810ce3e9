"""Options that make a seam hold, each searched by trials for the smallest change that is enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from armtwin.jobs.groups import Change
from armtwin.jobs.job import Job
from armtwin.maths.batch import Pair
from armtwin.prediction import changes
from armtwin.prediction.predict import Prediction
from armtwin.prediction.trials import Option, Trials, duration_of, highest, narrow, round_digits
from armtwin.prediction.verdict import verdict_on

FACTORS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.25, 1.6, 2.0)  # of the speed that are tried
RADII = (0.1, 0.2, 0.4, 0.7, 1.0, 1.4, 2.0)  # of the job's own
CLOSE_RADIUS = 1.05  # ratio of a radius that fits to one that does not at which the search ends
SHIFTS = (0.25, 0.5, 1.0)  # of the workpiece, over the largest allowed one
DIRECTIONS = 8  # in which it is shifted
CLOSE_SHIFT = 0.04  # of the largest shift, at which the search ends
TENTH_OF_A_MILLIMETRE = 4  # decimals of a metre
ROUNDS = 3  # in which stretches that do not fit are added to those that are slowed down
MOST_SLOWED = 0.5  # of the seam that may be run slower while the job keeps its speed
OTHER_ORIENTATION = 0.5  # size of this change, beside a shift by all that is allowed


@dataclass(frozen=True)
class Speeds:
    """What became of other speeds of the whole job.

    Attributes:
        options: The highest that fits, or that none does.
        tried: All that were tried, each with its largest error over tolerance [m/s].
        monotonic: Whether every speed below one that fits fits too.
    """

    options: tuple[Option, ...] = ()
    tried: tuple[Pair, ...] = ()
    monotonic: bool = True


def speeds(trials: Trials) -> Speeds:
    """The highest speed of the whole job that fits; not beyond its own where it keeps that."""
    job = trials.prediction.job
    own = job.description.speed
    most = own if job.description.advice.keep_speed else np.inf
    values = []
    for factor in FACTORS:
        value = own if factor == 1 else round_digits(own * factor)
        if value <= most:
            values.append(value)
    search = highest(trials, job.with_speed, values, most)
    found = trials.ratios([job.with_speed(x) for x in search.tried])
    ratios = {x: ratio for x, ratio in zip(search.tried, found, strict=True) if not np.isnan(ratio)}
    tried = tuple(ratios.items())
    if not tried:
        return Speeds()
    best = search.value
    if best is None:
        slowest, fastest = 1e3 * min(ratios), 1e3 * max(ratios)
        text = f"no speed from {slowest:g} to {fastest:g} mm/s is slow enough"
        least_bad = min(ratios, key=lambda x: ratios[x])
        option = trials.option("speed", text, job.with_speed(least_bad))
        return Speeds((option,), tried)
    monotonic = all(ratio <= trials.limit for x, ratio in tried if x <= best)
    text = f"run the whole seam at {1e3 * best:g} mm/s"
    changed = job.with_speed(best)
    option = trials.option("speed", text, changed, trials.time_lost(changed))
    return Speeds((option,), tried, monotonic)


def faster(trials: Trials, option: Option) -> Option:
    """An option at the highest speed at which it fits."""
    speed = option.job.description.speed
    values = [speed, *(round_digits(factor * speed) for factor in FACTORS if factor > 1)]
    best = highest(trials, option.job.with_speed, values).value
    if best is None or best <= speed:
        return option
    text = f"{option.text}, and run it at {1e3 * best:g} mm/s"
    return trials.option(option.name, text, option.job.with_speed(best), option.size)


def slower_stretch(trials: Trials) -> list[Option]:
    """Slow down only where the error is too large.

    Stretches where it then is too large are slowed down too.
    """
    job = trials.prediction.job
    speed = job.description.speed
    lower = [round_digits(speed * factor) for factor in FACTORS if factor < 1]
    spans = _beyond(trials.prediction, trials.limit)
    for _ in range(ROUNDS):
        if not spans:
            return []
        divided, slow = changes.divide_lines(job, spans)
        if job.description.advice.keep_speed and _length(divided, slow) > MOST_SLOWED:
            return []
        best = highest(trials, partial(changes.slow_stretches, divided, slow), lower, speed).value
        if best is not None:
            where = changes.stretches_in_words(divided, slow)
            slower = changes.slow_stretches(divided, slow, best)
            text = f"run only {where} at {1e3 * best:g} mm/s"
            return [trials.option("slower stretch", text, slower, trials.time_lost(slower))]
        slowest = trials.seen(changes.slow_stretches(divided, slow, lower[0]))
        if slowest is None:
            return []
        spans += _beyond(slowest, trials.limit)
    return []


def _beyond(p: Prediction, limit: float) -> list[Pair]:
    """Where on the seam an error is larger than a share of its tolerance: from, to [m]."""
    own = p.job.description.tolerance
    angle = None if own.orientation is None else limit * own.orientation
    allowed = replace(
        own, lateral=limit * own.lateral, vertical=limit * own.vertical, orientation=angle
    )
    stricter = Job(replace(p.job.description, tolerance=allowed), p.job.origin)
    return [(span.from_m, span.to_m) for span in verdict_on(stricter, p.path_error).spans]


def _length(job: Job, stretches: list[int]) -> float:
    """Length of stretches over that of the seam."""
    found = 0.0
    for k in stretches:
        stretch = job.seam.path.stretches[k]
        found += stretch.stop - stretch.start
    return found / job.seam.length


def orientation(trials: Trials) -> list[Option]:
    """The tool following the seam where it was fixed, and fixed where it followed."""
    other = changes.other_orientation(trials.prediction.job)
    if other is None:
        return []
    text = "let the tool follow the seam"
    if other.description.orientation.mode == "fixed":
        text = "keep the tool's orientation"
    return [trials.option("orientation", text, other, OTHER_ORIENTATION)]


def shift(trials: Trials) -> list[Option]:
    """The workpiece elsewhere: the nearest place that fits and some further ones, or the best.

    Further ones count where the nearest is too near to a place that does not hold.
    """
    furthest = trials.prediction.job.description.advice.shift
    if furthest <= 0:
        return []
    best_of_each = [_best_direction(trials, share * furthest) for share in SHIFTS]
    fitting = [best for best in best_of_each if best.option.fits]
    if not fitting:
        return [min(best_of_each, key=lambda best: best.option.ratio).option]
    first = fitting[0]
    place = best_of_each.index(first)
    shorter = best_of_each[place - 1].distance if place else 0.0
    found = [_nearest(trials, first, shorter)]
    for further in fitting:
        if further.option.job != found[0].job:
            found.append(further.option)
    return found


@dataclass(frozen=True)
class _ShiftTrial:
    """A shift by a distance [m] in a direction [rad] of the base's x, y plane."""

    distance: float
    angle: float
    option: Option


def _best_direction(trials: Trials, distance: float) -> _ShiftTrial:
    """The best of some directions to shift the workpiece in."""
    job = trials.prediction.job
    angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    places = [_place(distance, angle) for angle in angles]
    trials.ratios([changes.shift_workpiece(job, *place) for place in places])  # all at once
    shifts = [_try_shift(trials, distance, angle) for angle in angles]
    return min(shifts, key=lambda x: x.option.ratio)


def _nearest(trials: Trials, first: _ShiftTrial, low: float) -> Option:
    """The smallest shift in a direction that fits, between one that does not and one that does."""
    furthest = trials.prediction.job.description.advice.shift
    best, high = first.option, first.distance
    while high - low > CLOSE_SHIFT * furthest:
        middle = _try_shift(trials, 0.5 * (low + high), first.angle)
        if middle.option.fits:
            best, high = middle.option, middle.distance
        else:
            low = middle.distance
    return best


def _try_shift(trials: Trials, distance: float, angle: float) -> _ShiftTrial:
    """The workpiece shifted in a direction."""
    job = trials.prediction.job
    dx, dy = _place(distance, angle)
    text = f"shift the workpiece by ({1e3 * dx:g}, {1e3 * dy:g}) mm in x, y of the base"
    size = distance / job.description.advice.shift
    option = trials.option("shift", text, changes.shift_workpiece(job, dx, dy), size)
    return _ShiftTrial(distance, angle, option)


def _place(distance: float, angle: float) -> Pair:
    """A shift in x and y [m]."""
    dx = round(distance * float(np.cos(angle)), TENTH_OF_A_MILLIMETRE)
    dy = round(distance * float(np.sin(angle)), TENTH_OF_A_MILLIMETRE)
    return dx + 0.0, dy + 0.0  # no -0


def radius(trials: Trials) -> list[Option]:
    """The smallest radius of the rounded corners, all alike, that fits at the job's speed."""
    job = trials.prediction.job
    radii = [segment.blend for segment in job.description.segment if segment.blend is not None]
    if not radii:
        return []
    own = max(radii)

    def with_size(size: float) -> Job:
        return changes.with_radius(job, size / own)

    sizes = [round_digits(own * factor) for factor in RADII]
    ratios = trials.ratios([with_size(size) for size in sizes])
    if np.isnan(ratios).any():
        return []
    good = [size for size, ratio in zip(sizes, ratios, strict=True) if ratio <= trials.limit]
    if not good:
        return _no_radius(job, sizes, ratios)
    high = min(good)
    low = max((size for size in sizes if size < high), default=high)
    best, _ = narrow(trials, with_size, high, low, CLOSE_RADIUS)
    text = f"the smallest radius that is large enough at this speed is {1e3 * best:g} mm"
    return [trials.option("radius", text, with_size(best))]


def _no_radius(job: Job, sizes: list[float], ratios: list[float]) -> list[Option]:
    """That no radius fits, where the job could be run at all."""
    ratio = min(ratios)
    if not np.isfinite(ratio):
        return []
    bounds = f"from {1e3 * sizes[0]:g} to {1e3 * sizes[-1]:g} mm"
    text = f"no radius {bounds} is large enough at this speed"
    return [Option("radius", text, False, ratio, duration_of(job), job)]


SEARCHES: dict[Change, Callable[[Trials], list[Option]]] = {
    "slower stretch": slower_stretch,
    "orientation": orientation,
    "shift": shift,
    "radius": radius,
}
