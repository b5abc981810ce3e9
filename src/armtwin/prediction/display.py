"""How predictions show themselves in Python and notebooks: facts of a verdict, path errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from armtwin.jobs.groups import Tolerance
from armtwin.jobs.job import Job
from armtwin.maths.batch import Flags, Floats
from armtwin.prediction.path_error import PathError
from armtwin.prediction.verdict import DIRECTIONS, Direction, Verdict, process_is_on
from armtwin.report.figures import BLUE, GREY, RED, Panel, chosen_axes, draw_panels, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MM = 1e3
ALONG = "along the seam [mm]"
USUAL = ("lateral", "vertical")  # compared quantities that are drawn where none is chosen
# from the SI unit to the one that is shown
SCALES: dict[Direction, tuple[float, str]] = {
    "lateral": (1e6, "µm"),
    "vertical": (1e6, "µm"),
    "orientation": (180 / np.pi, "°"),
}
# of a compared quantity, by its SI unit
SHOWN = {"m": (1e6, "µm"), "rad": (180e3 / np.pi, "mdeg"), "N m": (1.0, "N m")}


def verdict_facts(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """The verdict, and the largest error in each direction beside what is allowed."""
    yield "verdict", verdict.summary
    for direction in _limited(verdict.tolerance):
        scale, unit = SCALES[direction]
        limit = scale * getattr(verdict.tolerance, direction)
        peak = scale * _largest(verdict, direction)
        yield f"largest {direction} error", f"{peak:.4g} {unit} of ±{limit:.4g} {unit}"
    yield "out of tolerance", f"{MM * verdict.out_of_tolerance_m:.1f} mm of the seam"


def _limited(tolerance: Tolerance) -> list[Direction]:
    """The directions in which something is allowed and more is not."""
    return [x for x in DIRECTIONS if getattr(tolerance, x) is not None]


def _largest(verdict: Verdict, direction: Direction) -> float:
    """Largest error of a direction while the process is on; nan where there is none."""
    key = "orientation_rad" if direction == "orientation" else f"{direction}_peak_m"
    peaks = [getattr(segment, key) for segment in verdict.segments]
    return float(np.fmax.reduce(peaks, initial=np.nan))


def draw_path_error(
    job: Job, error: PathError, verdict: Verdict, axes: Axes | Sequence[Axes] | None = None
) -> list[Axes]:
    """Draw the path error along the seam with what is allowed and where it is not kept.

    Args:
        job: The job.
        error: Its path error.
        verdict: What became of it.
        axes: One for each direction with a tolerance; new ones where none are given.
    """
    directions = _limited(verdict.tolerance)
    chosen = chosen_axes(axes, len(directions))
    place = MM * error.place
    off = ~process_is_on(job, error.s)
    for axis, direction in zip(chosen, directions, strict=True):
        scale, unit = SCALES[direction]
        _shade_process_off(axis, place, off)
        _shade_spans(axis, verdict, direction)
        axis.plot(
            place, scale * getattr(error, direction), color=BLUE, linewidth=1.2, label=direction
        )
        _rule_tolerance(axis, scale * getattr(verdict.tolerance, direction))
        axis.set_ylabel(f"{direction} error [{unit}]")
        axis.grid(alpha=0.3)
        legend(axis)
    chosen[-1].set_xlabel(ALONG)
    return chosen


def _rule_tolerance(axes: Axes, limit: float) -> None:
    axes.axhline(limit, color=GREY, linestyle="--", label="tolerance")
    axes.axhline(-limit, color=GREY, linestyle="--")


def _shade_spans(axes: Axes, verdict: Verdict, direction: Direction) -> None:
    """Hatch the stretches out of tolerance, so that they are seen without colours too."""
    label = "out of tolerance"
    for span in verdict.spans:
        if span.direction != direction:
            continue
        ends = MM * span.from_m, MM * span.to_m
        axes.axvspan(*ends, facecolor=RED, edgecolor=RED, alpha=0.3, hatch="//", label=label)
        label = "_"  # named once


def _shade_process_off(axes: Axes, place: Floats, off: Flags) -> None:
    """Grey where the error is not judged."""
    if not off.any():
        return
    full_height = axes.get_xaxis_transform()
    band = axes.fill_between(place, 0, 1, where=off.tolist(), transform=full_height)
    band.set(color=GREY, alpha=0.2, linewidth=0, label="process off")


def draw_agreement(
    place: Floats,
    pairs: Sequence[tuple[str, str, Floats]],
    tolerance: Tolerance,
    axes: Axes | Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw measured over predicted quantities along the seam.

    Args:
        place: Arc lengths, (m,) [m].
        pairs: Name, SI unit, and measured and predicted values, (2, m), of each quantity.
        tolerance: What is allowed in the directions that it knows.
        axes: One for each quantity; new ones where none are given.
    """
    panels = []
    for name, si_unit, pair in pairs:
        scale, unit = SHOWN[si_unit]
        measured, predicted = scale * pair
        panels.append(Panel(f"{name} [{unit}]", {"measured": measured, "predicted": predicted}))
    drawn = draw_panels(MM * place, ALONG, panels, axes)
    for axis, (name, si_unit, _) in zip(drawn, pairs, strict=True):
        limit = getattr(tolerance, name, None)
        if limit is not None:
            _rule_tolerance(axis, SHOWN[si_unit][0] * limit)
            legend(axis)
    return drawn
