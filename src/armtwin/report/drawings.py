"""Drawings for a report as SVG: the parts of a chart, and a matrix as coloured squares.

Colours, dashes and margins are classes of the style sheet, so that a drawing follows light, dark
and paper. Places in a chart are shares of its pane: it takes any width without shrinking its words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Floats
from armtwin.report.scales import Tick

CANVAS = 1000  # width and height of the canvas that curves are drawn on, stretched over the pane
MOST_SAMPLES = 3000  # samples of a curve from which on it is thinned
COLOURS = 7
MARKS = {
    "circle": "M0,-4a4,4 0 1 0 0.01,0z",
    "square": "M-3.5,-3.5h7v7h-7z",
    "triangle": "M0,-4.5l4.5,8h-9z",
    "diamond": "M0,-5l4.5,5l-4.5,5l-4.5,-5z",
    "cross": "M-4,-4L4,4M-4,4L4,-4",
    "plus": "M0,-5V5M-5,0H5",
    "down": "M0,4.5l4.5,-8h-9z",
}


def kept(columns: Sequence[Floats], most: int = MOST_SAMPLES) -> NDArray[np.intp]:
    """Samples that are drawn: all, or in each of many stretches the extremes of every column.

    Args:
        columns: Series of equal length, x among them, so that a loop keeps its ends.
        most: Number of samples up to which all are kept, and about as many are left of more.
    """
    count = len(columns[0])
    if count <= most:
        return np.arange(count)
    stretches = max(1, most // (2 * len(columns)))
    edges = np.linspace(0, count, stretches + 1).astype(int)
    found = [0, count - 1]
    for first, after in pairwise(edges):
        for column in columns:
            found += _extremes(column[first:after], int(first))
    return np.unique(found)


def _extremes(values: Floats, first: int) -> list[int]:
    """Numbers of the smallest and the largest value, and of one that is not finite: the gap."""
    holes = np.flatnonzero(~np.isfinite(values))
    if len(holes) == len(values):
        return [first]
    found = [first + int(np.nanargmin(values)), first + int(np.nanargmax(values))]
    if len(holes):
        found.append(first + int(holes[0]))
    return found


def line_path(x: Floats, y: Floats) -> str:
    """A line through shares of the pane in the order given; a sample without a place is a gap."""
    parts = []
    for piece in _pieces(np.isfinite(x) & np.isfinite(y)):
        points = [_point(a, b) for a, b in zip(x[piece], y[piece], strict=True)]
        # a sample between two gaps is a dot: a line of no length with a round end
        parts.append("M" + "L".join(points) + ("h0" if len(points) == 1 else ""))
    return "".join(parts)


def band_path(x: Floats, low: Floats, high: Floats) -> str:
    """The area between two lines over the same x, out along one and back along the other."""
    parts = []
    for piece in _pieces(np.isfinite(x) & np.isfinite(low) & np.isfinite(high)):
        there = [_point(a, b) for a, b in zip(x[piece], low[piece], strict=True)]
        back = [_point(a, b) for a, b in zip(x[piece], high[piece], strict=True)]
        parts.append("M" + "L".join(there + back[::-1]) + "z")
    return "".join(parts)


def _pieces(whole: NDArray[np.bool_]) -> Iterator[slice]:
    """Unbroken stretches of samples that have a place."""
    steps = np.flatnonzero(np.diff(np.concatenate(([False], whole, [False])).astype(int)))
    for first, after in zip(steps[::2], steps[1::2], strict=True):
        yield slice(int(first), int(after))


def _point(x: float, y: float) -> str:
    """A place on the stretched canvas; its y points down."""
    across = CANVAS * float(np.clip(x, -10, 10))
    down = CANVAS * (1 - float(np.clip(y, -10, 10)))
    return f"{across:.1f},{down:.1f}"


def curves(paths: Sequence[str]) -> str:
    """Paths on a canvas that is stretched over the pane."""
    box = f'viewBox="0 0 {CANVAS} {CANVAS}" preserveAspectRatio="none" width="100%" height="100%"'
    return f'<svg class="curves" {box}>{"".join(paths)}</svg>'


def path(d: str, style: str) -> str:
    """A path of the stretched canvas."""
    return f'<path class="{style}" d="{d}"/>'


def percent(share: float) -> str:
    """A share of the pane's width or height."""
    return f"{100 * share:.2f}%"


def segment(start: tuple[float, float], end: tuple[float, float], style: str) -> str:
    """A straight line between two places, shares of the pane from its lower left corner."""
    x1, y1 = percent(start[0]), percent(1 - start[1])
    x2, y2 = percent(end[0]), percent(1 - end[1])
    return f'<line class="{style}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def mark(place: tuple[float, float], shape: str, style: str, hint: str) -> str:
    """A mark at a place of the pane, with a hint for the pointer."""
    x, y = percent(place[0]), percent(1 - place[1])
    inside = f"<title>{escape(hint)}</title>"
    if shape == "circle":
        return f'<circle class="{style}" cx="{x}" cy="{y}" r="4">{inside}</circle>'
    drawn = f'<path class="{style}" d="{MARKS[shape]}">{inside}</path>'
    return f'<svg class="at" x="{x}" y="{y}">{drawn}</svg>'


def upright_axis(ticks: Sequence[Tick], shares: Floats) -> Iterator[str]:
    """Grid lines and labels of the y axis."""
    for tick, y in zip(ticks, shares, strict=True):
        style = "grid" if tick.text else "grid minor"
        yield segment((0.0, y), (1.0, y), style)
        if tick.text:
            place = f'x="0" y="{percent(1 - y)}" dx="-7" dy="0.35em"'
            yield f'<text class="tick" {place} text-anchor="end">{escape(tick.text)}</text>'


def level_axis(ticks: Sequence[Tick], shares: Floats) -> Iterator[str]:
    """Grid lines and labels of the x axis; every second label is spare where room is short."""
    labelled = 0
    for tick, x in zip(ticks, shares, strict=True):
        style = "grid" if tick.text else "grid minor"
        yield segment((x, 0.0), (x, 1.0), style)
        if tick.text:
            spare = " spare" if labelled % 2 else ""
            place = f'x="{percent(x)}" y="100%" dy="1.35em" text-anchor="middle"'
            yield f'<text class="tick{spare}" {place}>{escape(tick.text)}</text>'
            labelled += 1


def pane(parts: Sequence[str], description: str) -> str:
    """The pane of a chart; labels of its axes stand in the margin that the style leaves around."""
    label = escape(description, quote=True)
    frame = '<rect class="frame" width="100%" height="100%"/>'
    return f'<svg class="pane" role="img" aria-label="{label}">{frame}{"".join(parts)}</svg>'


def matrix(values: Floats, rows: Sequence[str], threshold: float, description: str) -> str:
    """A matrix as squares: above the threshold, below minus it; what lies between is left empty.

    Args:
        values: The matrix, (rows, columns).
        rows: Labels of the rows.
        threshold: Size from which on a value is drawn.
        description: What is seen, for those who cannot see it.
    """
    side, left, top = 11, 110, 22
    wide, high = side * values.shape[1], side * len(rows)
    parts = []
    for i, label in enumerate(rows):
        parts.append(_small_text(left - 6, top + side * i + 9, label, "end"))
    for j in range(4, values.shape[1], 5):
        parts.append(_small_text(left + side * j + side / 2, top - 6, str(j + 1), "middle"))
    parts.append(_rectangle("frame", (left, top), (wide, high)))
    for i, j in np.argwhere(np.abs(values) >= threshold):
        kind = "plus" if values[i, j] > 0 else "minus"
        parts.append(_rectangle(kind, (left + side * j, top + side * i), (side - 1, side - 1)))
    box = f'viewBox="0 0 {left + wide + 8} {top + high + 8}"'
    label = escape(description, quote=True)
    return f'<svg class="matrix" {box} role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _rectangle(style: str, corner: tuple[float, float], size: tuple[float, float]) -> str:
    (x, y), (width, height) = corner, size
    return f'<rect class="{style}" x="{x}" y="{y}" width="{width}" height="{height}"/>'


def _small_text(x: float, y: float, text: str, anchor: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="small" {place}>{escape(text)}</text>'
