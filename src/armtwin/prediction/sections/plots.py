"""Series and plots of a predicted run, and of a logged one over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from armtwin.maths.batch import Floats, NamedArrays, Pair
from armtwin.notebook.sampling import at_times, extremes
from armtwin.notebook.sections import Line, Mark, Plot
from armtwin.prediction.causes import Explanation
from armtwin.prediction.path_error import PathError
from armtwin.prediction.predict import Prediction
from armtwin.prediction.sections.headline import number_of
from armtwin.prediction.verdict import DIRECTIONS

if TYPE_CHECKING:
    from armtwin.prediction.answer import Answer
    from armtwin.prediction.comparison import Comparison

T = TypeVar("T")
GRID = 1400  # samples evenly in time
BUCKETS = 300  # stretches of time in each of which the extremes of the path error are kept
JOINT_BUCKETS = 20  # and those of each joint
UM, MM, MILLIDEGREES = 1e6, 1e3, 180e3 / np.pi  # a metre, a radian in these
LAG, MEASURED, CORRECTED, SPEED = 2, 3, 2, 5  # colours
COLOURS = {"lateral": 0, "vertical": 1, "orientation": 4}
ALONG = "along the seam [mm]"


def once_per_run(compute: Callable[[Prediction], T]) -> Callable[[Prediction], T]:
    """What is computed of a run is the same however it is judged, and computed once."""
    known: WeakKeyDictionary[PathError, T] = WeakKeyDictionary()

    @wraps(compute)
    def find(p: Prediction) -> T:
        if p.path_error not in known:
            known[p.path_error] = compute(p)
        return known[p.path_error]

    return find


@once_per_run
def select_times(p: Prediction) -> Floats:
    """Times of the samples that are shown: an even grid, the extremes of errors and torques."""
    error, log = p.path_error, p.log
    times = [np.linspace(log.time[0], error.time[-1], GRID)]
    for values in (error.lateral, error.vertical):
        while_moving = np.where(error.speed_ref > 0, values, 0.0)
        times.append(extremes(error.time, values, BUCKETS))
        times.append(extremes(error.time, while_moving, 1))
    for j in range(p.robot.n):
        times.append(extremes(log.time, log.q[:, j] - log.q_ref[:, j], JOINT_BUCKETS))
        times.append(extremes(log.time, log.tau[:, j], JOINT_BUCKETS))
    return np.unique(np.concatenate(times))


def series_of(answer: Answer, times: Floats) -> NamedArrays:
    """All series at the times of the samples, in the units of the plots."""
    series = dict(_series_of_run(answer.prediction))
    if answer.comparison is not None:
        series |= _read_measured(answer.comparison, times)
    if answer.correction is not None:
        corrected = _path_series(answer.correction.decisive.prediction, times)
        series |= {f"corrected {name}": corrected[name] for name in DIRECTIONS}
    return series


@once_per_run
def _series_of_run(p: Prediction) -> NamedArrays:
    """Series of the predicted run alone, at the samples that are selected of it."""
    times = select_times(p)
    return _path_series(p, times) | _joint_series(p, times)


def _path_series(p: Prediction, times: Floats) -> NamedArrays:
    error = p.path_error
    place = at_times(times, error.time, error.s)
    series = {"time": times, "place": np.maximum.accumulate(MM * place)}
    for name in (*DIRECTIONS, "lag"):
        values = at_times(times, error.time, getattr(error, name))
        series[name] = number_of(name).scale * values
    series["speed"] = MM * at_times(times, error.time, error.speed)
    return series


def _joint_series(p: Prediction, times: Floats) -> NamedArrays:
    log = p.log
    limits = p.robot.limits.torque
    largest = np.where(np.isfinite(limits), limits, np.abs(log.tau).max(axis=0))
    series = {}
    for j in range(p.robot.n):
        deviation = log.q[:, j] - log.q_ref[:, j]
        torque = log.tau[:, j] / largest[j]
        series[f"q{j + 1}"] = at_times(times, p.run.trace_time, p.run.link_side[:, j])
        series[f"error{j + 1}"] = MILLIDEGREES * at_times(times, log.time, deviation)
        series[f"torque{j + 1}"] = 100 * at_times(times, log.time, torque)
        series[f"v{j + 1}"] = np.degrees(at_times(times, log.time, log.v[:, j]))
    return series


def _read_measured(c: Comparison, times: Floats) -> NamedArrays:
    """Series of the logged run; outside of the log there is none."""

    def read_channel(name: str) -> Floats:
        return np.interp(times, c.time, c.channels[name][0], left=np.nan, right=np.nan)

    limits = c.prediction.robot.limits.torque
    series = {}
    for j, name in enumerate(c.prediction.robot.joint_names):
        series[f"measured error{j + 1}"] = MILLIDEGREES * read_channel(f"{name} error")
        if c.torque_source and np.isfinite(limits[j]):
            series[f"measured torque{j + 1}"] = 100 * read_channel(f"{name} torque") / limits[j]
    for name in ("lateral", "vertical"):
        series[f"measured {name}"] = UM * read_channel(name)
    return series


def path_plots(
    p: Prediction,
    explanations: tuple[Explanation, ...],
    times: Floats,
    series: Mapping[str, Floats],
) -> Iterator[Plot]:
    """Errors and speed along the seam."""
    first, last = _moving(p, times)
    off = _process_off(p)
    for name, colour in COLOURS.items():
        allowed = getattr(p.verdict.tolerance, name)
        if allowed is None:
            continue
        number = number_of(name)
        limit = number.scale * allowed
        lines = [Line(f"{name}, predicted", name, colour)]
        if f"measured {name}" in series:
            lines.append(Line(f"{name}, measured", f"measured {name}", MEASURED, dashed=True))
        if f"corrected {name}" in series:
            lines.append(Line("with corrected points", f"corrected {name}", CORRECTED))
        yield Plot(
            x="place",
            x_label=ALONG,
            y_label=f"{name} error",
            unit=number.unit,
            lines=tuple(lines),
            first=first,
            last=last,
            shaded=off,
            rules=(limit, -limit),
            marks=tuple(_marks(explanations, name)),
            caption=(
                f"{name.capitalize()} error along the seam; dashed: the tolerance, "
                "grey: the process is off."
            ),
        )
    for label, unit, line, caption in (
        ("lag", "µm", Line("lag", "lag", LAG), "Lag along the path."),
        ("tool speed", "mm/s", Line("tool speed", "speed", SPEED), "Speed along the seam."),
    ):
        yield Plot("place", ALONG, label, unit, (line,), first, last, off, caption=caption)


def _moving(p: Prediction, times: Floats) -> tuple[int, int]:
    """First sample of the commanded motion, and one after its last."""
    moving = np.flatnonzero(p.job.seam.command(times).speed > 0)
    return int(moving[0]), int(min(moving[-1] + 1, len(times)))


def _process_off(p: Prediction) -> tuple[Pair, ...]:
    """Stretches of the seam on which the process is off [mm]."""
    edges = [0.0]
    for start, stop in p.job.process_on():
        edges += [start, stop]
    edges.append(p.job.seam.length)
    stretches = zip(edges[::2], edges[1::2], strict=True)
    return tuple((MM * start, MM * stop) for start, stop in stretches if stop > start)


def _marks(explanations: tuple[Explanation, ...], direction: str) -> Iterator[Mark]:
    """Flags with the largest cause at each explained peak of a direction."""
    for x in explanations:
        if x.span.direction != direction or not x.causes:
            continue
        cause = x.causes[0]
        text = f"{cause.cause}, {cause.joint}" if cause.joint else cause.cause
        yield Mark(MM * x.span.peak_at_m, text, bad=not x.within)


def joint_plots(p: Prediction, times: Floats, series: Mapping[str, Floats]) -> Iterator[Plot]:
    """Errors, torques and speeds of the joints over time."""
    for key, label, unit, caption in (
        ("error", "joint error", "mdeg", "Actual minus commanded position."),
        ("torque", "joint torque", "%", "Motor torque on the joints, of the largest torque."),
        ("v", "joint speed", "deg/s", "Joint speeds; flags: where which joint is to reverse."),
    ):
        lines = [Line(name, f"{key}{j + 1}", j) for j, name in enumerate(p.robot.joint_names)]
        for j, name in enumerate(p.robot.joint_names):
            if f"measured {key}{j + 1}" in series:
                lines.append(Line(f"{name}, measured", f"measured {key}{j + 1}", j, dashed=True))
        yield Plot(
            x="time",
            x_label="time [s]",
            y_label=label,
            unit=unit,
            lines=tuple(lines),
            first=0,
            last=len(times),
            marks=tuple(_reversal_marks(p)) if key == "v" else (),
            caption=caption,
        )


def _reversal_marks(p: Prediction) -> Iterator[Mark]:
    """Flags with the joint's number where it is to reverse, the first ones of each."""
    for j in range(p.robot.n):
        for time in reversals(p, j)[:6]:
            yield Mark(time, f"{j + 1}")


def reversals(p: Prediction, j: int) -> list[float]:
    """Times at which a joint is commanded to reverse [s]."""
    motion = p.motion.trajectory
    moving = np.flatnonzero(np.abs(motion.v[:, j]) > 1e-6)
    flips = np.flatnonzero(np.diff(np.sign(motion.v[moving, j])))
    return [float(motion.time[moving[k]]) for k in flips]
