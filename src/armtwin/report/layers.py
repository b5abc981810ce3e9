"""Layers of a chart: a curve, points with error bars, a rule; each draws itself on a pane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.report import drawings
from armtwin.report.scales import Axis, Scale

DASHES = ("solid", "dashed", "dotted", "dash-dot", "long", "dash-dot-dot", "fine")
Dash = Literal["solid", "dashed", "dotted", "dash-dot", "long", "dash-dot-dot", "fine"]
Shape = Literal["circle", "square", "triangle", "diamond", "cross", "plus", "down"]


@dataclass(frozen=True)
class Pane:
    """Where layers are drawn: both axes and their scales."""

    x_axis: Axis
    y_axis: Axis
    x: Scale
    y: Scale

    def words(self, x: float, y: float) -> str:
        """A place in words."""
        return f"{self.x_axis.words(x)}, {self.y_axis.words(y)}"


@dataclass(frozen=True, eq=False)
class Curve:
    """A line through samples in the order given; x may fall and return, NaN is a gap.

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
        edges = [edge for edge in (self.low, self.high) if edge is not None]
        return [self.x], [self.y, *edges]

    def lines(self, pane: Pane, number: int) -> Iterator[str]:
        """Band and line as paths of the stretched canvas."""
        x, y = self.reach()
        rows = drawings.kept([*x, *y])
        across = pane.x.share(self.x[rows])
        colour = _colour(self.colour, number)
        if self.low is not None and self.high is not None:
            low, high = pane.y.share(self.low[rows]), pane.y.share(self.high[rows])
            yield drawings.path(drawings.band_path(across, low, high), f"{colour} band")
        line = drawings.line_path(across, pane.y.share(self.y[rows]))
        yield drawings.path(line, f"{colour} line {self._dash(number)}")

    def marks(self, pane: Pane, number: int) -> Iterator[str]:
        """A curve has no marks."""
        return iter(())

    def swatch(self, number: int) -> str:
        """The line as the key shows it."""
        return drawings.path("M0,7H34", f"{_colour(self.colour, number)} line {self._dash(number)}")

    def _dash(self, number: int) -> str:
        return self.dash or DASHES[number % len(DASHES)]


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

    def lines(self, pane: Pane, number: int) -> Iterator[str]:
        """Points have no lines."""
        return iter(())

    def marks(self, pane: Pane, number: int) -> Iterator[str]:
        """Error bars and marks of the points that lie within the pane."""
        colour, shape = _colour(self.colour, number), self._shape(number)
        left, right = _ends(pane.x, self.x, self.x_error)
        bottom, top = _ends(pane.y, self.y, self.y_error)
        across, upright = pane.x.share(self.x), pane.y.share(self.y)
        for k in range(len(self.x)):
            a, b = float(across[k]), float(upright[k])
            if not (0 <= a <= 1 and 0 <= b <= 1):
                continue
            if self.x_error is not None:
                yield drawings.segment((left[k], b), (right[k], b), f"{colour} error")
            if self.y_error is not None:
                yield drawings.segment((a, bottom[k]), (a, top[k]), f"{colour} error")
            name = self.names[k] if self.names else self.label
            place = pane.words(self.x[k], self.y[k])
            hint = f"{name}: {place}" if name else place
            yield drawings.mark((a, b), shape, f"{colour} dot", hint)

    def swatch(self, number: int) -> str:
        """The mark as the key shows it."""
        d = drawings.MARKS[self._shape(number)]
        style = f"{_colour(self.colour, number)} dot"
        return f'<path class="{style}" transform="translate(17,7)" d="{d}"/>'

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
        value = [np.array([self.value])]
        return (value, []) if self.on == "x" else ([], value)

    def lines(self, pane: Pane, number: int) -> Iterator[str]:
        """A rule is no path."""
        return iter(())

    def marks(self, pane: Pane, number: int) -> Iterator[str]:
        """The line, and its label inside the pane; a label on x stands a row lower per layer."""
        scale = pane.x if self.on == "x" else pane.y
        share = float(scale.share(self.value))
        if not 0 <= share <= 1:
            return
        at = drawings.percent(share)
        if self.on == "x":
            yield drawings.segment((share, 0.0), (share, 1.0), "rule cut")
            anchor, shift = ("end", -6) if share > 0.6 else ("start", 6)
            place = f'x="{at}" y="0" dx="{shift}" dy="{1.2 * (number % 4 + 1):.1f}em"'
        else:
            yield drawings.segment((0.0, share), (1.0, share), "rule")
            anchor, shift = "end", -6
            below = "1.2em" if share > 0.9 else "-0.4em"
            place = f'x="100%" y="{drawings.percent(1 - share)}" dx="{shift}" dy="{below}"'
        yield f'<text class="note" {place} text-anchor="{anchor}">{escape(self.label)}</text>'

    def swatch(self, number: int) -> str:
        """A rule carries its label itself, the key does not show it."""
        return ""


Layer = Curve | Points | Rule


def _with_error(values: Floats, error: Floats | None) -> list[Floats]:
    if error is None:
        return [values]
    return [values, values - error, values + error]


def _ends(scale: Scale, values: Floats, error: Floats | None) -> tuple[Floats, Floats]:
    """Where error bars begin and end on an axis, cut off where the axis ends."""
    half = np.zeros(len(values)) if error is None else error
    low = np.nan_to_num(scale.share(values - half), nan=0.0)  # below 0 on a logarithmic axis
    return np.clip(low, 0.0, 1.0), np.clip(scale.share(values + half), 0.0, 1.0)


def _colour(chosen: int | None, number: int) -> str:
    colour = number if chosen is None else chosen
    return f"c{colour % drawings.COLOURS + 1}"
