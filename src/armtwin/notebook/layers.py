"""Layers of a chart: a curve, points with error bars, a rule; each draws itself on a pane.

The cells of a map are a layer of their own file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from armtwin.maths.batch import Floats, Pair, Sentences
from armtwin.notebook import drawings
from armtwin.notebook.cells import Cells
from armtwin.notebook.markup import element, percent, words
from armtwin.notebook.scales import Scale

ROWS = 4  # rows of labels of rules on x
DASHES = ("solid", "dashed", "dotted", "dash-dot", "long", "dash-dot-dot", "fine")
Dash = Literal["solid", "dashed", "dotted", "dash-dot", "long", "dash-dot-dot", "fine"]
Shape = Literal["circle", "square", "triangle", "diamond", "cross", "plus", "down"]


@dataclass(frozen=True, eq=False)
class Curve:
    """A line through samples in the order given; x may decrease and return, NaN is a gap.

    Attributes:
        label: Its name in the key, or "" for none.
        x: Places on the x axis, (m,).
        y: Values, (m,).
        colour: Number of its colour from 0 on, or None for that of its number in the chart.
        dash: Its dash, or None for that of its number in the chart.
        low: Lower edge of a shaded band over the same x, (m,), or None.
        high: Upper edge of the band, (m,), or None.
    """

    label: str
    x: Floats
    y: Floats
    colour: int | None = None
    dash: Dash | None = None
    low: Floats | None = None
    high: Floats | None = None

    def reach(self) -> tuple[list[Floats], list[Floats]]:
        """Values that the x and the y axis must show."""
        upright = [self.y]
        if self.low is not None:
            upright.append(self.low)
        if self.high is not None:
            upright.append(self.high)
        return [self.x], upright

    def marks(self, pane: drawings.Pane, number: int) -> Sentences:
        """Band and line, on a canvas that is stretched over the pane."""
        x, y = self.reach()
        rows = drawings.decimate([*x, *y])
        across, paths = pane.x.share(self.x[rows]), []
        if self.low is not None and self.high is not None:
            low = pane.y.share(self.low[rows])
            high = pane.y.share(self.high[rows])
            area = drawings.band_path(across, low, high)
            paths.append(element("path", f"{_colour(self.colour, number)} band", d=area))
        line = drawings.line_path(across, pane.y.share(self.y[rows]))
        yield drawings.curves([*paths, element("path", self._style(number), d=line)])

    def swatch(self, number: int) -> str:
        """The line as the key shows it."""
        return element("path", self._style(number), d="M0,7H34")

    def _style(self, number: int) -> str:
        dash = self.dash or DASHES[number % len(DASHES)]
        return f"{_colour(self.colour, number)} line {dash}"


@dataclass(frozen=True, eq=False)
class Points:
    """Marks at samples, with error bars.

    Attributes:
        label: Its name in the key, or "" for none.
        x: Places on the x axis, (m,).
        y: Values, (m,).
        x_error: Half length of the bar along x, (m,), or None.
        y_error: Half length of the bar along y, (m,), or None.
        shape: Shape of the marks, or None for that of its number in the chart.
        colour: Number of its colour from 0 on, or None for that of its number in the chart.
        names: A name for each point, shown with its values under the pointer.
    """

    label: str
    x: Floats
    y: Floats
    x_error: Floats | None = None
    y_error: Floats | None = None
    shape: Shape | None = None
    colour: int | None = None
    names: Sequence[str] = ()

    def reach(self) -> tuple[list[Floats], list[Floats]]:
        """Values that the x and the y axis must show."""
        return _with_error(self.x, self.x_error), _with_error(self.y, self.y_error)

    def marks(self, pane: drawings.Pane, number: int) -> Sentences:
        """Marks of the points within the pane, and error bars, cut off where the axes end."""
        colour = _colour(self.colour, number)
        shape = self._shape(number)
        for k, (x, y) in enumerate(zip(self.x.tolist(), self.y.tolist(), strict=True)):
            place = (pane.x.place(x), pane.y.place(y))
            if not pane.holds(place):
                continue
            if self.x_error is not None:
                left, right = _ends(pane.x, x, self.x_error[k])
                yield drawings.segment((left, place[1]), (right, place[1]), f"{colour} error")
            if self.y_error is not None:
                bottom, top = _ends(pane.y, y, self.y_error[k])
                yield drawings.segment((place[0], bottom), (place[0], top), f"{colour} error")
            name = self.names[k] if self.names else self.label
            hint = pane.words(x, y)
            if name:
                hint = f"{name}: {hint}"
            yield drawings.mark(place, shape, f"{colour} dot", hint)

    def swatch(self, number: int) -> str:
        """The mark as the key shows it."""
        shape = drawings.MARKS[self._shape(number)]
        style = f"{_colour(self.colour, number)} dot"
        return element("path", style, transform="translate(17,7)", d=shape)

    def _shape(self, number: int) -> str:
        shapes = list(drawings.MARKS)
        return self.shape or shapes[number % len(shapes)]


@dataclass(frozen=True)
class Rule:
    """A dashed line across the chart at a value of one axis: a limit, a tolerance, a cut."""

    value: float
    label: str = ""
    on: Literal["x", "y"] = "y"

    def reach(self) -> tuple[list[Floats], list[Floats]]:
        """Values that the x and the y axis must show."""
        value = np.array([self.value])
        if self.on == "x":
            return [value], []
        return [], [value]

    def marks(self, pane: drawings.Pane, number: int) -> Sentences:
        """The line with its label inside the pane."""
        scale = pane.x if self.on == "x" else pane.y
        share = scale.place(self.value)
        if not 0 <= share <= 1:
            return
        if self.on == "x":
            yield drawings.segment((share, 0.0), (share, 1.0), "rule cut")
            yield self._label_on_x(share, number)
        else:
            yield drawings.segment((0.0, share), (1.0, share), "rule")
            yield self._label_on_y(share)

    def _label_on_x(self, share: float, number: int) -> str:
        """Beside the line, on its side with more room; each layer has a row of its own."""
        anchor, shift = "start", "6"
        if share > 0.6:
            anchor, shift = "end", "-6"
        row = number % ROWS + 1
        down = f"{1.2 * row:.1f}em"
        where = {"x": percent(share), "y": "0", "dx": shift, "dy": down}
        return element("text", "note", words(self.label), text_anchor=anchor, **where)

    def _label_on_y(self, share: float) -> str:
        """Above the line at its right end, below it where that would be outside."""
        shift = "1.2em" if share > 0.9 else "-0.4em"
        where = {"x": "100%", "y": percent(1 - share), "dx": "-6", "dy": shift}
        return element("text", "note", words(self.label), text_anchor="end", **where)

    def swatch(self, number: int) -> str:
        """A rule carries its label itself, the key does not show it."""
        return ""


Layer = Curve | Points | Rule | Cells


def _with_error(values: Floats, error: Floats | None) -> list[Floats]:
    if error is None:
        return [values]
    return [values, values - error, values + error]


def _ends(scale: Scale, value: float, error: float) -> Pair:
    """Where an error bar begins and ends, within the axis."""
    low = scale.place(value - error)
    high = scale.place(value + error)
    if np.isnan(low):  # below 0 on a logarithmic axis
        low = 0.0
    return max(low, 0.0), min(high, 1.0)


def _colour(chosen: int | None, number: int) -> str:
    colour = number if chosen is None else chosen
    return f"c{colour % drawings.COLOURS + 1}"
