"""Charts of a report and of a notebook: layers over two axes, small multiples, and bars.

A chart is drawn when the page is written: it needs no script, prints, and has an x of its own that
may decrease or return. Plots that follow the chosen sample are `sections.Plot`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

import numpy as np

from armtwin.maths.batch import Floats, Pair
from armtwin.notebook import drawings
from armtwin.notebook.cells import Cells
from armtwin.notebook.layers import Curve, Layer
from armtwin.notebook.markup import element, join_markup, percent, words
from armtwin.notebook.scales import Axis, Scale

X_TICKS, Y_TICKS, BAR_TICKS = 8, 5, 6  # ticks of an axis, about
MOST_COLUMNS = 4  # of small multiples side by side


@dataclass(frozen=True, eq=False)
class Chart:
    """Layers over two axes.

    Attributes:
        title: Its title.
        x: The level axis.
        y: The upright axis.
        layers: What is drawn, the first lowest.
        caption: What is seen.
        tall: Whether it is about as high as it is wide: a map.
    """

    title: str
    x: Axis
    y: Axis
    layers: tuple[Layer, ...]
    caption: str = ""
    tall: bool = False

    def html(self) -> str:
        """The chart as a figure of a page that has the style sheet."""
        return _figure(self, *_scales((self,)), _chart_key(self))

    def _repr_html_(self) -> str:
        return _alone(self.html())


@dataclass(frozen=True, eq=False)
class Multiples:
    """Small charts side by side or above each other, on the same axes where they are shared.

    A frequency response is two of them in one column: magnitude and phase over the same x.

    Attributes:
        charts: The charts.
        columns: Charts beside each other, 1 to 4; a narrow page has one column.
        shared: Axes that have the same range in all charts.
        title: Title of all.
        caption: What is seen.
    """

    charts: tuple[Chart, ...]
    columns: int = 2
    shared: Literal["", "x", "y", "xy"] = "x"
    title: str = ""
    caption: str = ""

    def html(self) -> str:
        """The charts as a figure of a page that has the style sheet."""
        shared_x, shared_y = _scales(self.charts)
        keys = [_chart_key(chart) for chart in self.charts]
        same_key = len(set(keys)) == 1
        parts = []
        for chart, key in zip(self.charts, keys, strict=True):
            x, y = _scales((chart,))
            if "x" in self.shared:
                x = shared_x
            if "y" in self.shared:
                y = shared_y
            parts.append(_figure(chart, x, y, "" if same_key else key))
        columns = min(max(self.columns, 1), MOST_COLUMNS)
        grid = element("div", f"multiples columns-{columns}", join_markup(parts))
        above = _heading(self.title, self.caption)
        if same_key:
            above += keys[0]
        return element("figure", "charts", above + grid)

    def _repr_html_(self) -> str:
        return _alone(self.html())


@dataclass(frozen=True, eq=False)
class Bars:
    """Level bars from a centre to a lower and an upper case, a tornado; or from 0 to a value.

    Attributes:
        title: Its title.
        axis: The axis along the bars.
        labels: A label for each bar.
        low: Value in the lower case, (m,); the centre where there is none.
        high: Value in the upper case, (m,).
        centre: Value from which the bars start, of all or of each.
        limit: Value of a dashed line across all bars, or None.
        cases: What the lower and the upper case are, for the key.
        caption: What is seen.
    """

    title: str
    axis: Axis
    labels: Sequence[str]
    low: Floats
    high: Floats
    centre: float | Floats = 0.0
    limit: float | None = None
    cases: tuple[str, str] = ("low", "high")
    caption: str = ""

    def html(self) -> str:
        """The bars as a figure of a page that has the style sheet."""
        centres = np.broadcast_to(self.centre, np.shape(self.low))
        limit = [] if self.limit is None else [np.array([self.limit])]
        scale = self.axis.scale([self.low, self.high, centres, *limit])
        rows = []
        for label, low, centre, high in zip(self.labels, self.low, centres, self.high, strict=True):
            rows.append(element("span", inside=words(label)))
            rows.append(self._bar(scale, label, (float(low), float(centre), float(high))))
        rows.append(element("span"))
        axis = drawings.level_axis(scale, BAR_TICKS)
        rows.append(element("svg", "bar-axis", join_markup(axis)))
        parts = [
            _heading(self.title, self.caption),
            self._key(),
            element("div", "bars", join_markup(rows)),
            element("p", "axis level", words(self.axis.title(scale))),
        ]
        return element("figure", "chart", join_markup(parts))

    def _bar(self, scale: Scale, label: str, places: tuple[float, float, float]) -> str:
        """Both cases of a bar; they share its height where they lie on the same side."""
        low, middle, high = places
        first, second = self.cases
        hint = f"{label}: {first} {low:.4g}, {second} {high:.4g} {self.axis.unit}".strip()
        same_side = (low - middle) * (high - middle) > 0
        upper, lower, whole = (12, 38), (50, 38), (12, 76)
        centre = scale.place(middle)
        parts = [
            element("title", inside=words(hint)),
            self._case("low", scale, (middle, low), upper if same_side else whole),
            self._case("high", scale, (middle, high), lower if same_side else whole),
            drawings.segment((centre, 0.0), (centre, 1.0), "centre"),
        ]
        if self.limit is not None:
            limit = scale.place(self.limit)
            parts.append(drawings.segment((limit, 0.0), (limit, 1.0), "rule"))
        return element("svg", "bar", join_markup(parts), role="img", aria_label=hint)

    def _case(self, case: str, scale: Scale, ends: Pair, lane: tuple[int, int]) -> str:
        """A box from the centre to a value, in a lane: its top and height in percent of the bar."""
        centre, end = (scale.place(x) for x in ends)
        if not np.isfinite(end):
            return ""
        top, height = lane
        return element(
            "rect",
            f"case {case}",
            x=percent(min(centre, end)),
            width=percent(abs(end - centre)),
            y=f"{top}%",
            height=f"{height}%",
        )

    def _key(self) -> str:
        if np.all(self.low == self.centre):
            return ""
        items = []
        for case, label in zip(("low", "high"), self.cases, strict=True):
            swatch = element("rect", f"case {case}", x=1, y=3, width=26, height=8)
            items.append((swatch, label))
        return _key(items)

    def _repr_html_(self) -> str:
        return _alone(self.html())


def chart_channels(
    names: Sequence[str], axes: tuple[Axis, Axis], x: Floats, curves: Mapping[str, Floats]
) -> Multiples:
    """Curves of each channel over the same x, as measured and as fitted.

    Args:
        names: Names of the channels.
        axes: Level and upright axis of all.
        x: Places on the level axis, (m,).
        curves: Values of all channels by their labels, (m, n) each.
    """
    charts = []
    for j, name in enumerate(names):
        layers = [Curve(label, x, values[:, j]) for label, values in curves.items()]
        charts.append(Chart(name, *axes, tuple(layers)))
    return Multiples(tuple(charts))


def _scales(charts: Sequence[Chart]) -> tuple[Scale, Scale]:
    """Scales on which every layer of several charts is seen; the first chart says of what kind."""
    across: list[Floats] = []
    upright: list[Floats] = []
    for chart in charts:
        for layer in chart.layers:
            x, y = layer.reach()
            across += x
            upright += y
    first = charts[0]
    return first.x.scale(across), first.y.scale(upright)


def _figure(chart: Chart, x: Scale, y: Scale, key: str) -> str:
    """A chart on given scales, with its words around it."""
    pane = drawings.Pane(chart.x, chart.y, x, y)
    canvas = [*drawings.upright_axis(y, Y_TICKS)]
    if chart.x.ticked:
        canvas += drawings.level_axis(x, X_TICKS)
    for number, layer in enumerate(chart.layers):
        canvas += layer.marks(pane, number)
    parts = [
        _heading(chart.title, chart.caption),
        key,
        element("p", "axis", words(chart.y.title(y))),
        drawings.pane(canvas, _description(chart)),
        element("p", "axis level", words(chart.x.title(x))),
    ]
    return element("figure", "chart tall" if chart.tall else "chart", join_markup(parts))


def _description(chart: Chart) -> str:
    """What is seen, for those who cannot see it."""
    parts = [f"{chart.y.label} over {chart.x.label}"]
    if chart.title:
        parts.insert(0, chart.title)
    for layer in chart.layers:
        if layer.label:
            parts.append(layer.label)
    return "; ".join(parts)


def _heading(title: str, caption: str) -> str:
    parts = []
    if title:
        stop = "." if caption else ""
        parts.append(element("strong", inside=words(f"{title}{stop}")))
    if caption:
        parts.append(words(caption))
    return element("figcaption", inside=" ".join(parts)) if parts else ""


def _chart_key(chart: Chart) -> str:
    items = []
    for number, layer in enumerate(chart.layers):
        if isinstance(layer, Cells):
            items += layer.key_items()
        else:
            items.append((layer.swatch(number), layer.label))
    return _key(items)


def _key(items: Sequence[tuple[str, str]]) -> str:
    """The key: what is drawn and its label; what has neither is left out."""
    parts = []
    for swatch, label in items:
        if swatch and label:
            symbol = element("svg", "swatch", swatch)
            parts.append(element("li", inside=symbol + words(label)))
    return element("ul", "key", join_markup(parts)) if parts else ""


@cache
def _style() -> str:
    return (resources.files("armtwin.report") / "bundle" / "chart.css").read_text(encoding="utf-8")


def _alone(figure: str) -> str:
    """A figure with the style it needs outside of a report, as in a notebook."""
    return element("style", inside=_style()) + element("div", "armtwin alone", figure)
