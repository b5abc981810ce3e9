"""Charts and lines drawn with matplotlib, which is imported when something is drawn.

Nothing is ever shown or closed here: a notebook shows what was drawn by itself, a script calls
matplotlib's `show` or `savefig`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError, printable
from armtwin.maths.batch import Floats, Record
from armtwin.notebook import sections as show
from armtwin.notebook.cells import Cells
from armtwin.notebook.layers import DASHES as NAMED_DASHES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which colour-blind eyes distinguish, without the pale yellow. No two of
# the first 28 lines share both colour and dashes.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
DASHES = ("-", "--", "-.", ":")
MATPLOTLIB_DASHES = dict(zip(NAMED_DASHES, ("-", "--", ":", "-.", "--", "-.", ":"), strict=True))
MARKERS = ("o", "s", "^", "D", "x", "+", "v")
BLUE, RED, *_ = COLOURS
GREY = "#888888"
WIDTH, HEIGHT = 9.0, 2.4  # of a panel [inch]
LEAST_HEIGHT = 4.5  # of a figure [inch]
SPACE = (7.0, 6.0)  # size of a figure in three dimensions [inch]
LEAST_EXTENT = 0.4  # share of the largest extent that a flat or straight figure in space is given
TICKS = 5  # of an axis in space at most


@dataclass(frozen=True, eq=False)
class Panel:
    """Lines that share an axis.

    Attributes:
        label: What is drawn, with its unit in brackets.
        lines: The lines by name, (m,) each.
    """

    label: str
    lines: Mapping[str, ArrayLike]


def draw_panels(
    x: ArrayLike, x_label: str, panels: Sequence[Panel], axes: Axes | Sequence[Axes] | None = None
) -> list[Axes]:
    """Draw panels under each other over a common x.

    Args:
        x: Common to all lines, (m,).
        x_label: What it is, with its unit in brackets.
        panels: What is drawn.
        axes: One for each panel; new ones where none are given.
    """
    chosen = _chosen_axes(axes, len(panels))
    for axis, panel in zip(chosen, panels, strict=True):
        for k, (name, values) in enumerate(panel.lines.items()):
            axis.plot(x, values, label=plain(name), **style(k))
        axis.set_ylabel(plain(panel.label))
        axis.grid(alpha=0.3)
        legend(axis)
    chosen[-1].set_xlabel(x_label)
    return chosen


def draw_report(report: show.Report, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
    """Draw every chart of a report, one under another.

    Args:
        report: The report.
        axes: One for each chart; new ones where none are given.
    """
    charts = list(_charts(report))
    if not charts:
        raise ArmtwinError(f"'{report.title}' has no chart to draw")
    chosen = _chosen_axes(axes, len(charts), sharex=False)
    for axis, chart in zip(chosen, charts, strict=True):
        match chart:
            case show.Chart():
                _draw_chart(axis, chart)
            case show.Bars():
                _draw_bars(axis, chart)
            case show.Plot():
                _draw_plot(axis, chart, report.series)
        legend(axis)
    return chosen


def _charts(report: show.Report) -> Iterator[show.Chart | show.Bars | show.Plot]:
    """Charts of a report in their order, small multiples one by one."""
    for block in report.blocks:
        if isinstance(block, show.Multiples):
            yield from block.charts
        elif isinstance(block, show.Chart | show.Bars | show.Plot):
            yield block


def _draw_chart(axis: Axes, chart: show.Chart) -> None:
    """Layers over two axes."""
    for k, layer in enumerate(chart.layers):
        match layer:
            case show.Curve():
                _draw_curve(axis, layer, k)
            case show.Points():
                axis.errorbar(
                    layer.x,
                    layer.y,
                    yerr=layer.y_error,
                    xerr=layer.x_error,
                    fmt=MARKERS[k % len(MARKERS)],
                    color=_colour(layer.colour, k),
                    label=_label(layer.label),
                )
            case show.Rule():
                draw = axis.axvline if layer.on == "x" else axis.axhline
                draw(layer.value, color=GREY, linestyle="--", label=_label(layer.label))
            case Cells():
                _draw_cells(axis, layer)
    _set_axis(axis, "x", chart.x)
    _set_axis(axis, "y", chart.y)
    axis.set_title(plain(chart.title), fontsize="medium")
    axis.grid(alpha=0.3)


def _draw_curve(axis: Axes, curve: show.Curve, k: int) -> None:
    """A line, and the band about it."""
    colour = _colour(curve.colour, k)
    dashes = MATPLOTLIB_DASHES[curve.dash] if curve.dash else DASHES[k % len(DASHES)]
    axis.plot(curve.x, curve.y, dashes, color=colour, linewidth=1.2, label=_label(curve.label))
    if curve.low is not None and curve.high is not None:
        axis.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.2)


def _draw_cells(axis: Axes, cells: Cells) -> None:
    """The cells of a map, those without a run left white."""
    values = np.ma.masked_less(cells.colours, 0)
    axis.pcolormesh(cells.x, cells.y, values, cmap="viridis_r")


def _draw_bars(axis: Axes, bars: show.Bars) -> None:
    """Level bars, the first on top."""
    place = np.arange(len(bars.labels))[::-1]
    centre = np.broadcast_to(bars.centre, np.shape(bars.low))
    if not np.array_equal(bars.low, centre):
        axis.barh(
            place, bars.low - centre, left=centre, color="none", edgecolor=BLUE, label=bars.cases[0]
        )
    axis.barh(place, bars.high - centre, left=centre, color=BLUE, label=bars.cases[1])
    if bars.limit is not None:
        axis.axvline(bars.limit, color=GREY, linestyle="--")
    axis.set_yticks(place, [plain(label) for label in bars.labels])
    _set_axis(axis, "x", bars.axis)
    axis.set_title(plain(bars.title), fontsize="medium")


def _draw_plot(axis: Axes, plot: show.Plot, series: Mapping[str, Floats]) -> None:
    """Lines over a series of the report."""
    part = slice(plot.first, plot.last)
    x = series[plot.x][part]
    for line in plot.lines:
        dashes = "--" if line.dashed else "-"
        y = series[line.series][part]
        axis.plot(
            x, y, dashes, color=_colour(line.colour, 0), linewidth=1.2, label=plain(line.label)
        )
    for first, last in plot.shaded:
        axis.axvspan(first, last, color=GREY, alpha=0.15)
    for value in plot.rules:
        axis.axhline(value, color=GREY, linestyle="--", linewidth=0.8)
    _set_axis(axis, "x", show.Axis(plot.x_label))
    _set_axis(axis, "y", show.Axis(plot.y_label, plot.unit))
    axis.grid(alpha=0.3)


def _set_axis(axes: Axes, side: Literal["x", "y"], axis: show.Axis) -> None:
    """Label, scale and ticks of one axis."""
    label = plain(f"{axis.label} [{axis.unit}]" if axis.unit else axis.label)
    settings: Record = {f"{side}label": label}
    if axis.logarithmic:
        settings[f"{side}scale"] = "log"
    if not axis.ticked:
        settings[f"{side}ticks"] = []
    axes.set(**settings)


def _colour(chosen: int | None, number: int) -> str:
    return COLOURS[(number if chosen is None else chosen) % len(COLOURS)]


def _label(label: str) -> str | None:
    return plain(label) if label else None


def _chosen_axes(
    axes: Axes | Sequence[Axes] | None, count: int, *, sharex: bool = True
) -> list[Axes]:
    """The given axes, which must be n, or n new ones under each other."""
    if axes is None:
        figure, made = _pyplot().subplots(count, squeeze=False, sharex=sharex, layout="constrained")
        figure.set_size_inches(WIDTH, max(HEIGHT * count, LEAST_HEIGHT))
        return list(made[:, 0])
    given = list(np.atleast_1d(np.asarray(axes, dtype=object)).ravel())
    if len(given) != count:
        raise ArmtwinError(f"axes must be {count}, one for each panel, got {len(given)}")
    return given


def axes_in_space(axes: Any = None) -> Any:
    """The given axes, which must have three dimensions, or new ones; lengths in mm."""
    if axes is None:
        figure = _pyplot().figure(figsize=SPACE, layout="constrained")
        axes = figure.add_subplot(projection="3d")
    elif getattr(axes, "name", "") != "3d":
        raise ArmtwinError("axes must be one with three dimensions: add_subplot(projection='3d')")
    axes.set_xlabel("x [mm]")
    axes.set_ylabel("y [mm]")
    axes.set_zlabel("z [mm]")
    return axes


def equal_lengths(axes: Any) -> None:
    """Give axes in space one scale; what is flat or straight gets room across."""
    limits = np.array([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()])
    extent, middle = np.ptp(limits, axis=1), limits.mean(axis=1)
    half = np.maximum(extent, LEAST_EXTENT * extent.max()) / 2
    for name, low, high in zip("xyz", middle - half, middle + half, strict=True):
        axes.set(**{f"{name}lim": (low, high)})
    axes.set_aspect("equal")
    axes.locator_params(nbins=TICKS)


def legend(axes: Axes) -> None:
    """Names of the lines beside the axes, where they hide nothing."""
    if not axes.get_legend_handles_labels()[1]:
        return
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small", frameon=False)


def style(k: int) -> Record:
    """Colour and dashes of the line with a number."""
    return {
        "color": COLOURS[k % len(COLOURS)],
        "linestyle": DASHES[k % len(DASHES)],
        "linewidth": 1.2,
    }


def plain(text: str) -> str:
    """A text as matplotlib draws it letter by letter: dollars begin no formula."""
    return printable(text).replace("$", r"\$")


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise ArmtwinError("plotting needs matplotlib: pip install 'armtwin[plot]'") from None
    return pyplot
