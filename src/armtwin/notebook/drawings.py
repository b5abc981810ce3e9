"""Drawings for a report as SVG: the parts of a chart, and a matrix as coloured squares.

Colours, dashes and margins are classes of the style sheet, so that a drawing follows light, dark
and paper. Places in a chart are shares of its pane: it takes any width without shrinking its words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, pairwise

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Flags, Floats, Sentences, runs_of
from armtwin.notebook.markup import element, join_markup, percent, words
from armtwin.notebook.scales import Axis, Scale

CANVAS = 1000  # width and height of the canvas that curves are drawn on, stretched over the pane
FAR = 10.0  # shares of the pane beyond which a curve is not followed
MOST_SAMPLES = 3000  # samples of a curve from which on it is thinned
COLOURS = 7  # after which colours repeat
MARKS = {
    "circle": "M0,-4a4,4 0 1 0 0.01,0z",
    "square": "M-3.5,-3.5h7v7h-7z",
    "triangle": "M0,-4.5l4.5,8h-9z",
    "diamond": "M0,-5l4.5,5l-4.5,5l-4.5,-5z",
    "cross": "M-4,-4L4,4M-4,4L4,-4",
    "plus": "M0,-5V5M-5,0H5",
    "down": "M0,4.5l4.5,-8h-9z",
}
SIDE = 11  # of a square of a matrix
LEFT, TOP = 110, 22  # room for the labels of a matrix

Place = tuple[float, float]


@dataclass(frozen=True)
class Pane:
    """Where layers are drawn: both axes and their scales."""

    x_axis: Axis
    y_axis: Axis
    x: Scale
    y: Scale

    def holds(self, place: Place) -> bool:
        """Whether a place, as shares of the pane, lies within it."""
        across, upright = place
        return 0 <= across <= 1 and 0 <= upright <= 1

    def words(self, x: float, y: float) -> str:
        """A place in words."""
        return f"{self.x_axis.words(x)}, {self.y_axis.words(y)}"


def decimate(columns: Sequence[Floats], most: int = MOST_SAMPLES) -> NDArray[np.intp]:
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
    smallest = int(np.nanargmin(values))
    largest = int(np.nanargmax(values))
    found = [first + smallest, first + largest]
    if len(holes):
        found.append(first + int(holes[0]))
    return found


def line_path(x: Floats, y: Floats) -> str:
    """A line through shares of the pane in the order given; a sample without a place is a gap."""
    parts = []
    for piece in _pieces(np.isfinite(x) & np.isfinite(y)):
        points = _points(x[piece], y[piece])
        parts.append("M" + "L".join(points))
        if len(points) == 1:
            parts.append("h0")  # a dot: a line of no length with a round end
    return join_markup(parts)


def band_path(x: Floats, low: Floats, high: Floats) -> str:
    """The area between two lines over the same x, out along one and back along the other."""
    whole = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
    parts = []
    for piece in _pieces(whole):
        there = _points(x[piece], low[piece])
        back = _points(x[piece], high[piece])
        back.reverse()
        parts.append("M" + "L".join(there + back) + "z")
    return join_markup(parts)


def _pieces(whole: Flags) -> list[slice]:
    """Unbroken stretches of samples that have a place."""
    return [slice(first, after) for first, after in runs_of(whole)]


def _points(x: Floats, y: Floats) -> list[str]:
    """Places on the stretched canvas, whose y points down."""
    across = CANVAS * np.clip(x, -FAR, FAR)
    down = CANVAS * (1 - np.clip(y, -FAR, FAR))
    return [f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True)]


def curves(paths: Sequence[str]) -> str:
    """Paths on a canvas that is stretched over the pane."""
    return element(
        "svg",
        "curves",
        join_markup(paths),
        viewBox=f"0 0 {CANVAS} {CANVAS}",
        preserveAspectRatio="none",
        width="100%",
        height="100%",
    )


def segment(start: Place, end: Place, style: str) -> str:
    """A straight line between two places, shares of the pane from its lower left corner."""
    x1, y1 = start
    x2, y2 = end
    return element(
        "line", style, x1=percent(x1), y1=percent(1 - y1), x2=percent(x2), y2=percent(1 - y2)
    )


def mark(place: Place, shape: str, style: str, hint: str) -> str:
    """A mark at a place of the pane, with a hint for the pointer."""
    x = percent(place[0])
    y = percent(1 - place[1])
    title = element("title", inside=words(hint))
    if shape == "circle":
        return element("circle", style, title, cx=x, cy=y, r=4)
    symbol = element("path", style, title, d=MARKS[shape])
    return element("svg", "at", symbol, x=x, y=y)


def upright_axis(scale: Scale, most: int) -> Sentences:
    """Grid lines and labels of the y axis, at most about `most` of them."""
    for tick in scale.ticks(most):
        y = scale.place(tick.value)
        yield segment((0.0, y), (1.0, y), "grid" if tick.text else "grid minor")
        where = {"x": "0", "y": percent(1 - y), "dx": "-7", "dy": "0.35em"}
        yield _label(tick.text, "tick", "end", where)


def level_axis(scale: Scale, most: int) -> Sentences:
    """Grid lines and labels of the x axis; every second label is spare where room is short."""
    styles = cycle(("tick", "tick spare"))
    for tick in scale.ticks(most):
        x = scale.place(tick.value)
        yield segment((x, 0.0), (x, 1.0), "grid" if tick.text else "grid minor")
        where = {"x": percent(x), "y": "100%", "dy": "1.35em"}
        yield _label(tick.text, next(styles) if tick.text else "", "middle", where)


def _label(text: str, style: str, anchor: str, where: dict[str, str]) -> str:
    return element("text", style, words(text), text_anchor=anchor, **where) if text else ""


def pane(parts: Sequence[str], description: str) -> str:
    """The pane of a chart; labels of its axes stand in the margin that the style leaves around."""
    frame = element("rect", "frame", width="100%", height="100%")
    return element("svg", "pane", frame + join_markup(parts), role="img", aria_label=description)


def matrix(values: Floats, labels: Sequence[str], threshold: float, description: str) -> str:
    """A matrix as squares: above the threshold, below minus it; what lies between is left empty.

    Args:
        values: The matrix, (rows, columns).
        labels: Labels of its rows.
        threshold: Size from which on a value is drawn.
        description: What is seen, for those who cannot see it.
    """
    down, across = values.shape
    parts = []
    for i, label in enumerate(labels):
        parts.append(_small(label, LEFT - 6, TOP + SIDE * i + 9, "end"))
    for j in range(4, across, 5):
        parts.append(_small(str(j + 1), LEFT + SIDE * (j + 0.5), TOP - 6, "middle"))
    parts.append(_rectangle("frame", (LEFT, TOP), (SIDE * across, SIDE * down)))
    for i, j in np.argwhere(np.abs(values) >= threshold):
        kind = "plus" if values[i, j] > 0 else "minus"
        corner = (LEFT + SIDE * j, TOP + SIDE * i)
        parts.append(_rectangle(kind, corner, (SIDE - 1, SIDE - 1)))
    width = LEFT + SIDE * across + 8
    height = TOP + SIDE * down + 8
    box = f"0 0 {width} {height}"
    return element(
        "svg", "matrix", join_markup(parts), viewBox=box, role="img", aria_label=description
    )


def _rectangle(style: str, corner: Place, size: Place) -> str:
    x, y = corner
    width, height = size
    return element("rect", style, x=x, y=y, width=width, height=height)


def _small(text: str, x: float, y: float, anchor: str) -> str:
    return element("text", "small", words(text), x=x, y=y, text_anchor=anchor)
