"""Charts of a report and of a notebook: layers over two axes, small multiples, and bars.

A chart is drawn when the page is written: it needs no script, prints, and has an x of its own that
may fall or return. Plots that follow the chosen sample are `sections.Plot`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib import resources
from typing import Literal

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.report import drawings
from armtwin.report.layers import Layer, Pane
from armtwin.report.scales import Axis, Scale

X_TICKS, Y_TICKS, BAR_TICKS = 8, 5, 6
MOST_COLUMNS = 4


@dataclass(frozen=True, eq=False)
class Chart:
    """Layers over two axes.

    Attributes:
        title: Its title.
        x: The level axis.
        y: The upright axis.
        layers: What is drawn, the first lowest.
        caption: What is seen.
    """

    title: str
    x: Axis
    y: Axis
    layers: tuple[Layer, ...]
    caption: str = ""
    kind: Literal["chart"] = field(default="chart", init=False)

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
    kind: Literal["chart"] = field(default="chart", init=False)

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
        grid = f'<div class="multiples columns-{columns}">{"".join(parts)}</div>'
        above = _heading(self.title, self.caption) + (keys[0] if same_key else "")
        return f'<figure class="charts">{above}{grid}</figure>'

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
        centre: Value from which the bars start.
        cases: What the lower and the upper case are, for the key.
        caption: What is seen.
    """

    title: str
    axis: Axis
    labels: Sequence[str]
    low: Floats
    high: Floats
    centre: float = 0.0
    cases: tuple[str, str] = ("low", "high")
    caption: str = ""
    kind: Literal["chart"] = field(default="chart", init=False)

    def html(self) -> str:
        """The bars as a figure of a page that has the style sheet."""
        scale = self.axis.scale([self.low, self.high, np.array([self.centre])])
        parts = [_heading(self.title, self.caption), self._key(), '<div class="bars">']
        for label, low, high in zip(self.labels, self.low, self.high, strict=True):
            bar = "".join(self._bar(scale, float(low), float(high)))
            cases = f"{self.cases[0]} {low:.4g}, {self.cases[1]} {high:.4g} {self.axis.unit}"
            hint = escape(f"{label}: {cases}".strip(), quote=True)
            title = f"<title>{hint}</title>"
            parts.append(f"<span>{escape(label)}</span>")
            parts.append(f'<svg class="bar" role="img" aria-label="{hint}">{title}{bar}</svg>')
        parts.append(f'<span></span><svg class="bar-axis">{_level(scale, BAR_TICKS)}</svg></div>')
        parts.append(f'<p class="axis level">{escape(self.axis.title(scale))}</p>')
        return f'<figure class="chart">{"".join(parts)}</figure>'

    def _bar(self, scale: Scale, low: float, high: float) -> Iterator[str]:
        """Both cases of a bar; they share its height where they lie on the same side."""
        centre = float(scale.share(self.centre))
        same_side = (low - self.centre) * (high - self.centre) > 0
        height = 38 if same_side else 76
        second = 50 if same_side else 12
        for case, value, top in (("low", low, 12), ("high", high, second)):
            end = float(scale.share(value))
            if np.isfinite(end):
                x, width = drawings.percent(min(centre, end)), drawings.percent(abs(end - centre))
                place = f'x="{x}" width="{width}" y="{top}%" height="{height}%"'
                yield f'<rect class="case {case}" {place}/>'
        yield drawings.segment((centre, 0.0), (centre, 1.0), "centre")

    def _key(self) -> str:
        if np.all(np.asarray(self.low) == self.centre):
            return ""
        items = []
        for case, words in zip(("low", "high"), self.cases, strict=True):
            swatch = f'<rect class="case {case}" x="1" y="3" width="26" height="8"/>'
            items.append((swatch, words))
        return _key(items)

    def _repr_html_(self) -> str:
        return _alone(self.html())


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
    pane = Pane(chart.x, chart.y, x, y)
    paths: list[str] = []
    marks: list[str] = []
    for number, layer in enumerate(chart.layers):
        paths += layer.lines(pane, number)
        marks += layer.marks(pane, number)
    upright = y.ticks(Y_TICKS)
    grid = "".join(drawings.upright_axis(upright, y.share([tick.value for tick in upright])))
    drawn = [grid, _level(x, X_TICKS), drawings.curves(paths), *marks]
    parts = [
        _heading(chart.title, chart.caption),
        key,
        f'<p class="axis">{escape(chart.y.title(y))}</p>',
        drawings.pane(drawn, _description(chart)),
        f'<p class="axis level">{escape(chart.x.title(x))}</p>',
    ]
    return f'<figure class="chart">{"".join(parts)}</figure>'


def _level(scale: Scale, most: int) -> str:
    ticks = scale.ticks(most)
    return "".join(drawings.level_axis(ticks, scale.share([tick.value for tick in ticks])))


def _description(chart: Chart) -> str:
    """What is seen, for those who cannot see it."""
    layers = [layer.label for layer in chart.layers if layer.label]
    words = [chart.title, f"{chart.y.label} over {chart.x.label}", ", ".join(layers)]
    return ". ".join(filter(None, words))


def _heading(title: str, caption: str) -> str:
    parts = []
    if title:
        parts.append(f"<strong>{escape(title)}.</strong>")
    if caption:
        parts.append(escape(caption))
    return f"<figcaption>{' '.join(parts)}</figcaption>" if parts else ""


def _chart_key(chart: Chart) -> str:
    return _key([(layer.swatch(k), layer.label) for k, layer in enumerate(chart.layers)])


def _key(items: Sequence[tuple[str, str]]) -> str:
    """The key: what is drawn and its label; what has neither is left out."""
    parts = []
    for swatch, label in items:
        if swatch and label:
            parts.append(f'<li><svg class="swatch">{swatch}</svg>{escape(label)}</li>')
    return f'<ul class="key">{"".join(parts)}</ul>' if parts else ""


@cache
def _style() -> str:
    return (resources.files("armtwin.report") / "bundle" / "chart.css").read_text(encoding="utf-8")


def _alone(figure: str) -> str:
    """A figure with the style it needs outside of a report, as in a notebook."""
    return f'<style>{_style()}</style><div class="armtwin alone">{figure}</div>'
