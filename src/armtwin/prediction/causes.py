"""Causes of the path error.

Each effect is taken out of the simulation, and what then is gone was its share.

    share = 1 - ‖e without the cause‖ / ‖e‖   over the span

Effects act on each other through the servo, so shares need not sum to one. The runs cover only the
time around a span: long enough before it for the servo to forget how they began.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from armtwin.maths.batch import Flags, Floats, OnProgress
from armtwin.motion.trajectory import Trajectory
from armtwin.notebook.sampling import thin_out
from armtwin.prediction import effects as without
from armtwin.prediction.path_error import PathError
from armtwin.prediction.predict import Prediction
from armtwin.prediction.verdict import Direction, Span, process_is_on

LEAD = 1.5  # time before a span that is simulated with it [s]
GROWTH = 1.5  # by which runs of one place may get longer so that they serve another place too
LEAST_SHARE = 0.1  # of an error that a named cause explains
MOST_CAUSES = 4  # named for one stretch
MOST_SPANS, PEAKS = 8, 3  # stretches, or else peaks, that are explained
LAST = 0.1  # time before a stop that is explained [s]
LEAST_PEAK = 0.3  # share of the largest error from which a peak within tolerance is explained
MOST_SAMPLES = 400  # of a span that are evaluated
SAME_PASS = 5.0  # times this near the peak belong to the same pass of a seam that returns [s]
APART = 0.3  # time between peaks that count as two [s]
# what grows with joint speeds and accelerations
GROWING = ("inertia", "coupling", "speed feed-forward")
AROUND = 0.02  # a singularity explains a peak this near on the seam [m]
NEAR_SINGULAR = 0.5  # share of the usual distance to a singularity below which it is near


@dataclass(frozen=True)
class Cause:
    """One reason for an error.

    Attributes:
        cause: "friction reversal", "friction", "inertia", "coupling", "gravity", "speed feed-
            forward", "torque limit", "quantisation", "singularity", "elasticity", "backlash",
            "ripple", "deviation", "process force".
        joint: Joint or friction element it sits in, or "".
        share: 1 - ‖e without it‖ / ‖e‖ over the span.
    """

    cause: str
    joint: str
    share: float


@dataclass(frozen=True)
class Explanation:
    """A span of the seam, or a peak within tolerance, with its causes.

    Attributes:
        span: Where, in which direction, how large.
        time: When its peak is [s].
        within: Whether it is within tolerance.
        causes: What explains it, the largest share first.
    """

    span: Span
    time: float
    within: bool
    causes: tuple[Cause, ...] = ()


def explain(prediction: Prediction, progress: OnProgress | None = None) -> tuple[Explanation, ...]:
    """Causes of every span out of tolerance (the largest ones), and of the largest peaks within.

    Args:
        prediction: A predicted job.
        progress: Called with the share that is done.
    """
    places = [*_worst_spans(prediction), *_stop(prediction), *_peaks(prediction)]
    times = [_times_of(prediction.path_error, place.span) for place in places]
    explanations: dict[int, Explanation] = {}
    for part in _parts(prediction.motion.trajectory, times):
        window = without.TimeWindow(prediction, slice(part.start, part.stop))
        for k in part.places:
            span = places[k].span
            stretch = without.SimulatedStretch(window, span.direction, times[k])
            explanations[k] = replace(places[k], causes=tuple(_causes(stretch, span)))
            if progress is not None:
                progress(len(explanations) / len(places))
    return tuple(explanations[k] for k in range(len(places)))


def find_worst(explanations: Sequence[Explanation]) -> Explanation | None:
    """What explains the largest error; None where nothing is explained."""
    return max(explanations, key=lambda x: abs(x.span.peak_m), default=None)


def _worst_spans(p: Prediction) -> list[Explanation]:
    """The spans out of tolerance that are furthest out, in order of place."""
    tolerance = {"lateral": p.verdict.tolerance.lateral, "vertical": p.verdict.tolerance.vertical}
    spans = [span for span in p.verdict.spans if span.direction in tolerance]
    spans.sort(key=lambda span: -abs(span.peak_m) / tolerance[span.direction])
    worst = sorted(spans[:MOST_SPANS], key=lambda span: span.from_m)
    return [Explanation(span, _time_at(p.path_error, span), False) for span in worst]


def _stop(p: Prediction) -> Iterator[Explanation]:
    """The last moments of a run that ended early."""
    if p.verdict.stopped is None:
        return
    error, tolerance = p.path_error, p.verdict.tolerance
    last = error.time > error.time[-1] - LAST
    lateral = np.abs(error.lateral[last]).max() / tolerance.lateral
    vertical = np.abs(error.vertical[last]).max() / tolerance.vertical
    direction: Direction = "lateral" if lateral >= vertical else "vertical"
    values = np.where(last, getattr(error, direction), 0.0)
    k = int(np.abs(values).argmax())
    places = error.place[last]
    span = Span(
        from_m=float(places.min()),
        to_m=float(places.max()),
        peak_m=float(values[k]),
        peak_at_m=float(error.place[k]),
        direction=direction,
    )
    yield Explanation(span, float(error.time[k]), False)


def _time_at(error: PathError, span: Span) -> float:
    values = getattr(error, span.direction)
    near = np.flatnonzero(values == span.peak_m)
    return float(error.time[near[0]])


def _peaks(p: Prediction) -> Iterator[Explanation]:
    """The largest peaks within tolerance with the process on, in either direction."""
    error = p.path_error
    relative = _relative_errors(p)
    least = LEAST_PEAK * max(float(values.max()) for values in relative.values())
    for values in relative.values():
        _forget_beyond(values, error.time)
    for _ in range(PEAKS):
        direction = max(relative, key=lambda name: float(relative[name].max()))
        left = relative[direction]
        k = int(left.argmax())
        if left[k] <= 0 or left[k] < least:
            return
        near = np.abs(error.time - error.time[k]) < APART
        yield Explanation(_half_height(error, direction, k, near), float(error.time[k]), True)
        left[near] = 0.0


def _relative_errors(p: Prediction) -> dict[Direction, Floats]:
    """Errors over their tolerance with the process on, 0 elsewhere."""
    error, tolerance = p.path_error, p.verdict.tolerance
    on = process_is_on(p.job, error.s)
    return {
        "lateral": np.where(on, np.abs(error.lateral) / tolerance.lateral, 0.0),
        "vertical": np.where(on, np.abs(error.vertical) / tolerance.vertical, 0.0),
    }


def _forget_beyond(relative: Floats, time: Floats) -> None:
    """Set to 0 what is out of tolerance and what is beside it: it belongs to a span."""
    out = np.flatnonzero(relative > 1)
    for k in thin_out(out, 200):
        relative[np.abs(time - time[k]) < APART] = 0.0


def _half_height(error: PathError, direction: Direction, k: int, near: Flags) -> Span:
    """The span about a peak on which the error is at least half as large."""
    values = getattr(error, direction)
    low = (np.abs(values) < 0.5 * abs(values[k])) | ~near
    before, after = np.flatnonzero(low[:k]), np.flatnonzero(low[k:])
    first = int(before[-1]) + 1 if len(before) else 0
    last = k + int(after[0]) - 1 if len(after) else len(values) - 1
    start, stop = sorted((float(error.place[first]), float(error.place[last])))
    return Span(start, stop, float(values[k]), float(error.place[k]), direction)


def _times_of(error: PathError, span: Span) -> Floats:
    """The times at which the error of a span is evaluated."""
    peak = _time_at(error, span)
    inside = (error.place >= span.from_m) & (error.place <= span.to_m)
    inside &= np.abs(error.time - peak) < SAME_PASS
    times = error.time[inside] if inside.any() else np.array([peak])
    return thin_out(times, MOST_SAMPLES)


@dataclass
class _Part:
    """Samples of the motion that are simulated to explain places.

    Attributes:
        start: The first.
        stop: One after the last.
        most: How many they may be.
        places: Numbers of the places.
    """

    start: int
    stop: int
    most: float
    places: list[int] = field(default_factory=list)

    def takes(self, start: int, stop: int) -> bool:
        """Whether other samples are taken in too, which makes it at most so long."""
        both = min(start, self.start), max(stop, self.stop)
        if both[1] - both[0] > self.most:
            return False
        self.start, self.stop = both
        return True


def _parts(motion: Trajectory, times: Sequence[Floats]) -> list[_Part]:
    """The motion about places, from before them until their end; near ones share a part.

    A corner that is left sideways and upwards is two places, and their runs are the same.
    """
    parts: list[_Part] = []
    for k, at in enumerate(times):
        start = max(0, int((at[0] - LEAD) * motion.rate))
        stop = min(len(motion.q), int(at[-1] * motion.rate) + 3)
        for part in parts:
            if part.takes(start, stop):
                part.places.append(k)
                break
        else:
            parts.append(_Part(start, stop, GROWTH * (stop - start), [k]))
    return parts


def _causes(stretch: without.SimulatedStretch, span: Span) -> list[Cause]:
    """What explains the error of a span, the largest share first."""
    singles = list(without.single_effects(stretch))
    torques = [without.torque_effect(stretch, x, None) for x in stretch.torques]
    size, *left = _sizes(stretch, [without.nothing(stretch), *singles, *torques])
    if not size > 0:
        return []
    found = _shares(size, singles, left[: len(singles)])
    large = []
    for torque in _shares(size, torques, left[len(singles) :]):
        if torque.share >= LEAST_SHARE:
            large.append(torque.cause)
    found += _largest_joints(stretch, size, large)
    found += _singularity(stretch.prediction, span, found)
    kept = [cause for cause in found if cause.share >= LEAST_SHARE]
    kept.sort(key=lambda cause: -cause.share)
    if not kept and stretch.model.friction != "off":  # single elements may compensate each other
        together = [without.all_friction(stretch)]
        shares = _shares(size, together, _sizes(stretch, together))
        kept = [cause for cause in shares if cause.share >= LEAST_SHARE]
    return kept[:MOST_CAUSES]


def _sizes(stretch: without.SimulatedStretch, effects: list[without.Effect]) -> list[float]:
    """The size of the error that is left without each effect, over the span."""
    runs = stretch.window.runs(effects)
    return [float(np.linalg.norm(stretch.error(run))) for run in runs]


def _shares(size: float, effects: list[without.Effect], left: list[float]) -> list[Cause]:
    """The share of an error of some size that each effect explains, by what is left without it."""
    found = []
    for effect, rest in zip(effects, left, strict=True):
        found.append(Cause(effect.cause, effect.joint, 1 - rest / size))
    return found


def _largest_joints(
    stretch: without.SimulatedStretch, size: float, causes: list[str]
) -> Iterator[Cause]:
    """For each kind of missing torque the joint whose torque explains most."""
    joints = range(stretch.prediction.robot.n)
    effects = [without.torque_effect(stretch, cause, j) for cause in causes for j in joints]
    found = _shares(size, effects, _sizes(stretch, effects))
    for cause in causes:
        yield max((x for x in found if x.cause == cause), key=lambda x: x.share)


def _singularity(p: Prediction, span: Span, found: list[Cause]) -> Iterator[Cause]:
    """The wrist or arm near a singularity: small motions of the tool need large ones of joints.

    Joint speeds and accelerations grow as one over the distance: without it the error would be
    smaller by that ratio.
    """
    if not any(x.cause in GROWING and x.share >= LEAST_SHARE for x in found):
        return
    place, distance = p.motion.command.s, p.motion.distance
    moving = p.motion.command.speed > 0
    near = moving & (np.abs(place - span.peak_at_m) < AROUND)
    if not near.any():
        return
    usual = float(np.median(distance[moving]))
    here = float(distance[near].min())
    if here < NEAR_SINGULAR * usual:
        row = int(np.flatnonzero(near)[distance[near].argmin()])
        inverse = np.linalg.pinv(p.robot.jacobian(p.motion.trajectory.q[row]))
        joint = p.robot.joint_names[int(np.linalg.norm(inverse, axis=1).argmax())]
        yield Cause("singularity", joint, 1 - here / usual)
