"""Options that make a seam hold, each searched by trials for the smallest change that is enough."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from armtwin.jobs.groups import Change
from armtwin.jobs.job import Job
from armtwin.maths.batch import Pair
from armtwin.motion.path import Stretch
from armtwin.prediction import changes
from armtwin.prediction.changes import round_digits
from armtwin.prediction.predict import Prediction
from armtwin.prediction.trials import Option, Trials, duration_of, highest, narrow
from armtwin.prediction.verdict import verdict_on

ALLOWED = 0.2  # of a speed by which it may change where no window is given, as processes allow
STEP = 1.25  # largest ratio of neighbouring speeds that are tried first
PROBES = (0.6, 3.0)  # of the speed, tried to see whether it matters at all; never advised
LEVER = 0.8  # of the error to which some speed must bring it, else speed is no lever
RADII = (0.1, 0.2, 0.4, 0.7, 1.0, 1.4, 2.0)  # of the job's own
CLOSE_RADIUS = 1.05  # ratio of a radius that fits to one that does not at which the search ends
SHIFTS = (0.25, 0.5, 1.0)  # of the workpiece, over the largest allowed one
DIRECTIONS = 8  # in which it is shifted
CLOSE_SHIFT = 0.04  # of the largest shift, at which the search ends
TENTH_OF_A_MILLIMETRE = 4  # decimals of a metre
ROUNDS = 3  # in which stretches that do not fit are added to those that are slowed down
MOST_SLOWED = 0.5  # of the seam that may be run slower while the job keeps its speed
OTHER_ORIENTATION = 0.5  # size of this change, beside a shift by all that is allowed


def correction(trials: Trials) -> list[Option]:
    """The commanded points corrected on the twin: speed, place and orientation stay.

    They fit the nominal twin that they are learned on: only variants decide, no margin.
    """
    corrected = trials.corrected()
    if corrected is None:
        return []
    job, ratio = trials.prediction.job, corrected.verdict.worst_ratio
    text = "correct the points of the program on the twin (armtwin correct)"
    duration = duration_of(job)
    return [Option("correction", text, ratio <= 1, ratio, duration, job, corrected=corrected)]


@dataclass(frozen=True)
class Speeds:
    """What became of other speeds of the whole job.

    Attributes:
        options: The highest that fits, or that none does.
        tried: All that were tried, each with its largest error over tolerance [m/s].
        monotonic: Whether every speed below one that fits fits too.
        window: Lowest and highest speed that may be advised [m/s]; None where none was searched.
        is_lever: Whether some speed fits, or makes the error clearly smaller.
    """

    options: tuple[Option, ...] = ()
    tried: tuple[Pair, ...] = ()
    monotonic: bool = True
    window: Pair | None = None
    is_lever: bool = True


def speed_window(job: Job, stretches: Sequence[Stretch]) -> Pair:
    """Lowest and highest speed of a job at which stretches stay in their window [m/s].

    All of them run at the same share of their own speed.
    """
    least, most = 0.0, np.inf
    for stretch in stretches:
        own = job.speed_of(stretch)
        low, high = _window_of(job, stretch, own)
        least, most = max(least, low / own), min(most, high / own)
    return job.description.speed * least, job.description.speed * most


def _window_of(job: Job, stretch: Stretch, own: float) -> Pair:
    """Tool speeds that a stretch may have: those of its process, and that advice may give."""
    d = job.description
    window, asked = d.segment[stretch.move].window, d.advice.speed_window
    low, high = (1 - ALLOWED) * own, (1 + ALLOWED) * own
    if window is not None:
        around = [x for x in window.speeds(d.process.power) if x[0] <= own <= x[1]]
        low, high = around[0] if around else (own, own)
    if asked is None:
        return low, high
    return asked if window is None else (max(low, asked[0]), min(high, asked[1]))


def _between(low: float, high: float) -> list[float]:
    """Speeds from one to another, in few digits, for a coarse look; none where there are none."""
    if not low < high:
        return [low] if low == high else []
    count = max(2, int(np.ceil(np.log(high / low) / np.log(STEP)))) + 1
    inner = [round_digits(x) for x in np.geomspace(low, high, count)[1:-1]]
    return [low, *(x for x in inner if low < x < high), high]


def speeds(trials: Trials) -> Speeds:
    """The highest speed of the whole job that fits; not beyond its own where it keeps that."""
    job = trials.prediction.job
    own = job.description.speed
    lowest, most = speed_window(job, job.seam.path.stretches)
    if job.description.advice.keep_speed:
        most = min(own, most)
    values = sorted({*_between(lowest, min(own, most)), *_between(max(own, lowest), most)})
    if not values:
        return Speeds()
    search = highest(trials, job.with_speed, values, most)
    asked = sorted({*search.tried, *(round_digits(own * share) for share in PROBES)})
    found = trials.ratios([job.with_speed(x) for x in asked])
    ratios = {x: ratio for x, ratio in zip(asked, found, strict=True) if not np.isnan(ratio)}
    tried = tuple(ratios.items())
    window = lowest, most
    inside = [x for x in ratios if lowest <= x <= most]
    if not inside:
        return Speeds()
    best = search.value
    if best is None:
        text = f"no speed from {1e3 * min(inside):g} to {1e3 * max(inside):g} mm/s is slow enough"
        least_bad = min(inside, key=lambda x: ratios[x])
        option = trials.option("speed", text, job.with_speed(least_bad))
        is_lever = min(ratios.values()) <= LEVER * trials.prediction.verdict.worst_ratio
        return Speeds((option,), tried, window=window, is_lever=is_lever)
    monotonic = all(ratio <= trials.limit for x, ratio in tried if x <= best)
    text = f"run the whole seam at {1e3 * best:g} mm/s"
    changed = job.with_speed(best)
    option = trials.option("speed", text, changed, trials.time_lost(changed))
    return Speeds((option,), tried, monotonic, window)


def faster(trials: Trials, option: Option) -> Option:
    """An option at the highest speed at which it fits."""
    job = option.job
    speed = job.description.speed
    _, most = speed_window(job, job.seam.path.stretches)
    best = highest(trials, job.with_speed, _between(speed, most), most).value
    if best is None or best <= speed:
        return option
    text = f"{option.text}, and run it at {1e3 * best:g} mm/s"
    return trials.option(option.name, text, job.with_speed(best), option.size)


def slower_stretch(trials: Trials) -> list[Option]:
    """Slow down only where the error is too large, as far as the process allows.

    Stretches where it then is too large are slowed down too.
    """
    job = trials.prediction.job
    spans = _beyond(trials.prediction, trials.limit)
    for _ in range(ROUNDS):
        if not spans:
            return []
        divided, slow = changes.divide_lines(job, spans)
        if job.description.advice.keep_speed and _length(divided, slow) > MOST_SLOWED:
            return []
        slowed = _Slowed(divided, slow)
        if not slowed.lower:
            return []
        best = highest(trials, slowed.at, slowed.lower, slowed.most).value
        if best is not None:
            slower = slowed.at(best)
            size = trials.time_lost(slower)
            return [trials.option("slower stretch", slowed.text(best), slower, size)]
        slowest = trials.seen(slowed.at(slowed.lower[0]))
        if slowest is None:
            return []
        spans += _beyond(slowest, trials.limit)
    return []


@dataclass(frozen=True)
class _Slowed:
    """Stretches of a job that are run slower, by the speed that the whole job would have."""

    job: Job
    stretches: list[int]

    @cached_property
    def _window(self) -> Pair:
        return speed_window(self.job, [self.job.seam.path.stretches[k] for k in self.stretches])

    @property
    def most(self) -> float:
        """The highest speed that is in their window and not above the job's [m/s]."""
        return min(self.job.description.speed, self._window[1])

    @property
    def lower(self) -> list[float]:
        """Speeds below the job's in their window, for a coarse look [m/s]."""
        looked = _between(self._window[0], self.most)
        return [x for x in looked if x < self.job.description.speed]

    def at(self, speed: float) -> Job:
        """The job with the stretches slower."""
        share = speed / self.job.description.speed
        return changes.slow_stretches(self.job, self.stretches, share)

    def text(self, speed: float) -> str:
        """What it does, as a sentence."""
        where = changes.stretches_in_words(self.job, self.stretches)
        own = {self.job.speed_of(self.job.seam.path.stretches[k]) for k in self.stretches}
        if own == {self.job.description.speed}:
            return f"run only {where} at {1e3 * speed:g} mm/s"
        return (
            f"run only {where} at {100 * speed / self.job.description.speed:.0f} % of their speed"
        )


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
    "correction": correction,
    "slower stretch": slower_stretch,
    "orientation": orientation,
    "shift": shift,
    "radius": radius,
}
