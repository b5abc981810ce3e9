"""Why the tool leaves its seam: each effect is taken out of the simulation, and what then is gone was its share.

    share = 1 - ‖e without the cause‖ / ‖e‖   over the span

Effects act on each other through the servo, so shares need not sum to one. The runs cover only the time around a
span: long enough before it for the servo to forget how they began.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import thread_count
from armtwin.prediction.effects import (
    Effect,
    Stretch,
    Variants,
    all_friction,
    single_effects,
    torque_effect,
)
from armtwin.prediction.path_error import PathError
from armtwin.prediction.predict import Prediction
from armtwin.prediction.verdict import Direction, Span, judged

LEAD = 1.5  # time before a span that is simulated with it [s]
LEAST_SHARE = 0.1
MOST_CAUSES = 4
MOST_SPANS, PEAKS = 8, 3
LAST = 0.1  # time before a stop that is explained [s]
LEAST_PEAK = 0.3  # share of the largest error from which a peak within tolerance is explained
MOST_SAMPLES = 400  # of a span that are looked at
APART = 0.3  # time between peaks that are told apart [s]
GROWING = (
    "inertia",
    "coupling",
    "speed feed-forward",
)  # what grows with joint speeds and accelerations
AROUND = 0.02  # a singularity explains a peak this near on the seam [m]
NEAR_SINGULAR = 0.5  # share of the usual distance to a singularity below which it is near


@dataclass(frozen=True)
class Cause:
    """One reason for an error.

    Attributes:
        cause: "friction reversal", "friction", "inertia", "coupling", "gravity", "speed feed-forward", "torque limit",
            "quantisation", "singularity".
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
    causes: tuple[Cause, ...]


def explain(
    prediction: Prediction, progress: Callable[[float], None] | None = None
) -> tuple[Explanation, ...]:
    """Causes of every span out of tolerance (the largest ones), and of the largest peaks within."""
    if not isinstance(prediction, Prediction):
        raise ArmtwinError(
            f"explain needs a prediction, as at.predict gives, got a {type(prediction).__name__}"
        )
    chosen = [*_worst_spans(prediction), *_stop(prediction), *_peaks(prediction)]
    told, variants = [], Variants(prediction.robot)
    for k, (span, time, within) in enumerate(chosen):
        told.append(Explanation(span, time, within, tuple(_causes(prediction, span, variants))))
        if progress is not None:
            progress((k + 1) / len(chosen))
    return tuple(told)


def _worst_spans(p: Prediction) -> list[tuple[Span, float, bool]]:
    sizes = {"lateral": p.verdict.tolerance.lateral, "vertical": p.verdict.tolerance.vertical}
    spans = [x for x in p.verdict.spans if x.direction in sizes]
    spans.sort(key=lambda x: -abs(x.peak_m) / sizes[x.direction])
    return [
        (x, _time_at(p.path_error, x), False)
        for x in sorted(spans[:MOST_SPANS], key=lambda x: x.from_m)
    ]


def _stop(p: Prediction) -> Iterator[tuple[Span, float, bool]]:
    """The last moments of a run that ended early."""
    if p.verdict.stopped is None:
        return
    error, tolerance = p.path_error, p.verdict.tolerance
    last = error.time > error.time[-1] - LAST
    sides = np.abs(error.lateral[last]).max() / tolerance.lateral
    direction: Direction = (
        "lateral"
        if sides >= np.abs(error.vertical[last]).max() / tolerance.vertical
        else "vertical"
    )
    values, places = np.where(last, getattr(error, direction), 0.0), error.place[last]
    k = int(np.abs(values).argmax())
    ends = float(places.min()), float(places.max())
    yield (
        Span(ends[0], ends[1], float(values[k]), float(error.place[k]), direction),
        float(error.time[k]),
        False,
    )


def _time_at(error: PathError, span: Span) -> float:
    values = getattr(error, span.direction)
    near = np.flatnonzero(values == span.peak_m)
    return float(error.time[near[0]])


def _peaks(p: Prediction) -> Iterator[tuple[Span, float, bool]]:
    """The largest peaks within tolerance while the process is on, in each direction, as spans of half their height."""
    error, tolerance = p.path_error, p.verdict.tolerance
    on = judged(p.job, error.s)
    directions: tuple[tuple[Direction, float], ...] = (
        ("lateral", tolerance.lateral),
        ("vertical", tolerance.vertical),
    )
    relative = {k: np.where(on, np.abs(getattr(error, k)) / limit, 0.0) for k, limit in directions}
    least = LEAST_PEAK * max(float(x.max()) for x in relative.values())
    for left in relative.values():
        out = np.flatnonzero(left > 1)
        for k in out[:: max(1, len(out) // 200)]:  # what is beside a span belongs to it
            left[np.abs(error.time - error.time[k]) < APART] = 0.0
    for _ in range(PEAKS):
        direction = max(relative, key=lambda x: float(relative[x].max()))
        left, values = relative[direction], getattr(error, direction)
        k = int(left.argmax())
        if left[k] <= 0 or left[k] < least:
            return
        near = np.abs(error.time - error.time[k]) < APART
        low = (np.abs(values) < 0.5 * abs(values[k])) | ~near
        first = int(np.flatnonzero(low[:k])[-1]) + 1 if low[:k].any() else 0
        last = k + int(np.flatnonzero(low[k:])[0]) - 1 if low[k:].any() else len(values) - 1
        ends = sorted((float(error.place[first]), float(error.place[last])))
        yield (
            Span(ends[0], ends[1], float(values[k]), float(error.place[k]), direction),
            float(error.time[k]),
            True,
        )
        left[near] = 0.0


def _causes(p: Prediction, span: Span, variants: Variants) -> list[Cause]:
    error = p.path_error
    peak = _time_at(error, span)
    inside = (
        (error.place >= span.from_m)
        & (error.place <= span.to_m)
        & (np.abs(error.time - peak) < 5.0)
    )
    times = error.time[inside] if inside.any() else np.array([peak])
    times = times[:: max(1, len(times) // MOST_SAMPLES)]
    rate = p.motion.trajectory.rate
    start = max(0, int((times[0] - LEAD) * rate))
    stop = min(len(p.motion.trajectory.q), int(times[-1] * rate) + 3)
    stretch = Stretch(p, variants, slice(start, stop), span.direction, times)
    whole = stretch.error(stretch.positions())
    size = float(np.linalg.norm(whole))
    if not size > 0:
        return []

    def shares(effects: list[Effect]) -> list[Cause]:
        with ThreadPoolExecutor(thread_count()) as pool:
            left = list(
                pool.map(lambda effect: float(np.linalg.norm(stretch.error(effect.run()))), effects)
            )
        return [Cause(e.cause, e.joint, 1 - x / size) for e, x in zip(effects, left, strict=True)]

    found = shares(list(single_effects(stretch)))
    for cause in shares([torque_effect(stretch, name, None) for name in stretch.torques]):
        if cause.share >= LEAST_SHARE:
            joints = range(p.robot.n)
            found.append(
                max(
                    shares([torque_effect(stretch, cause.cause, j) for j in joints]),
                    key=lambda x: x.share,
                )
            )
    found += _singularity(p, span, found)
    kept = sorted((x for x in found if x.share >= LEAST_SHARE), key=lambda x: -x.share)
    if not kept and stretch.model.friction != "off":  # single elements may make up for each other
        kept = [x for x in shares([all_friction(stretch)]) if x.share >= LEAST_SHARE]
    return kept[:MOST_CAUSES]


def _singularity(p: Prediction, span: Span, found: list[Cause]) -> Iterator[Cause]:
    """The wrist or arm near a singularity, where a small motion of the tool needs large ones of the joints.

    Joint speeds and accelerations grow as one over the distance: without it the error would be smaller by that ratio.
    """
    if not any(x.cause in GROWING and x.share >= LEAST_SHARE for x in found):
        return
    place, distance = p.motion.command.s, p.motion.distance
    moving = p.motion.command.speed > 0
    near = moving & (np.abs(place - span.peak_at_m) < AROUND)
    if not near.any():
        return
    usual, here = float(np.median(distance[moving])), float(distance[near].min())
    if here < NEAR_SINGULAR * usual:
        row = int(np.flatnonzero(near)[distance[near].argmin()])
        inverse = np.linalg.pinv(p.robot.jacobian(p.motion.trajectory.q[row]))
        joint = p.robot.joint_names[int(np.linalg.norm(inverse, axis=1).argmax())]
        yield Cause("singularity", joint, 1 - here / usual)
