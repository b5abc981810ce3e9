"""Pictures of a sweep: maps over two axes, limits along a third, small multiples, coordinates."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Floats
from armtwin.notebook.cells import COLOURS, NO_VALUE, Cells, edges_of
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve, Layer, Points, Rule, Shape
from armtwin.notebook.sampling import thin_out
from armtwin.notebook.scales import Axis as ChartAxis
from armtwin.notebook.sections import Blocks, Text
from armtwin.sweeps import axes as sweep_axes
from armtwin.sweeps.pivot import Pivot, limit_axis, map_axes, pivot_of, sort_values
from armtwin.sweeps.result import SweepResult

Numbers = NDArray[np.int_]
MOST_MAPS = 12  # small ones
MOST_LINES = 300  # of parallel coordinates
PROBABILITIES = np.array([0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0])
MEASURES = {
    "ratio": ("largest error", "% of tolerance", 100.0),
    "probability": ("P that it holds", "%", 100.0),
}


def map_blocks(result: SweepResult) -> Blocks:
    """All pictures of a sweep."""
    pivot = pivot_of(result)
    if pivot is not None:
        yield from _grid_maps(pivot)
    else:
        yield from _scatter_runs(result)
    if len(result.sweep.axes) > 2:
        yield from _coordinates(result)


def _grid_maps(pivot: Pivot) -> Blocks:
    """The map of the best runs, the limit along a third axis, one map for each of the others."""
    label, unit, _ = MEASURES[pivot.result.measure]
    others = ", ".join(axis.label for axis in pivot.others)
    caption = "Bright is good; outlined: the runs that hold."
    if others:
        caption = f"In each cell the best run, whatever {others} is. {caption}"
    bins = _bins(pivot.result, pivot.result.numbers[pivot.result.measure])
    yield _map(pivot, f"{label.capitalize()}, {unit}", caption, pivot.best(), bins)
    limit = limit_axis(pivot.result.sweep)
    if limit is not None and limit in pivot.others:
        if np.isfinite(pivot.limit(limit)).any():
            yield _limit_map(pivot, limit)
        else:
            yield Text(f"No {limit.label} that was tried holds anywhere on the map.", "soft")
    if not pivot.others:
        return
    combinations = list(pivot.combinations())
    if len(combinations) > MOST_MAPS:
        return
    small = []
    for words, runs in combinations:
        chart = _map(pivot, words, "", runs, bins)
        small.append(replace(chart, tall=False))
    title = f"{label.capitalize()}, {unit}, for each {others}"
    yield Multiples(tuple(small), columns=3, shared="xy", title=title)


def _map(
    pivot: Pivot, title: str, caption: str, runs: Numbers, bins: tuple[Floats, float, str]
) -> Chart:
    """A map of runs, (k, m), by what they are measured by."""
    result = pivot.result
    edges, scale, unit = bins
    falling = result.measure == "ratio"  # a small error is good, a small probability is not
    values = scale * result.numbers[result.measure][runs]
    held = np.isin(runs, [k for k, row in enumerate(result.rows) if row.holds])
    hints = [[_hint(result, int(run)) for run in line] for line in runs]
    cells = Cells(
        x=edges_of(sort_values(pivot.x)),
        y=edges_of(sort_values(pivot.y)),
        colours=_colours(values, edges, falling),
        held=held,
        hints=hints,
        keys=_keys(edges, unit, falling),
        without="stops or cannot be run",
    )
    return _chart(pivot, title, caption, (cells,))


def _chart(pivot: Pivot, title: str, caption: str, layers: tuple[Layer, ...]) -> Chart:
    x, y = pivot.x, pivot.y
    across = edges_of(sort_values(x))
    upright = edges_of(sort_values(y))
    level = ChartAxis(x.label, x.unit, span=(float(across[0]), float(across[-1])))
    up = ChartAxis(y.label, y.unit, span=(float(upright[0]), float(upright[-1])))
    return Chart(title, level, up, layers, caption, tall=True)


def _hint(result: SweepResult, run: int) -> str:
    """Tooltip of a run."""
    parts = []
    for axis, value in zip(result.sweep.axes, result.sweep.point(run), strict=True):
        parts.append(axis.named(value))
    return f"run {run + 1}: {', '.join(parts)}: {result.rows[run].words}"


def _limit_map(pivot: Pivot, axis: sweep_axes.SweepAxis) -> Chart:
    """The highest value of an axis up to which every one holds."""
    values = pivot.limit(axis)
    known = sort_values(axis)
    runs = pivot.best()
    if len(known) <= COLOURS:
        edges = np.concatenate([edges_of(known)[:-1], [np.inf]])
        colours = _spread(np.arange(len(known)), len(known))
        keys = [(int(k), f"{x:g} {axis.unit}") for k, x in zip(colours, known, strict=True)]
    else:
        edges = _round_edges(float(known[0]), float(known[-1]))
        keys = _keys(edges, axis.unit)
    hints = []
    for line, numbers in zip(values, runs, strict=True):
        row = []
        for value, run in zip(line, numbers, strict=True):
            where = _where(pivot, int(run))
            hint = f"none of the {axis.label}s holds"
            if np.isfinite(value):
                hint = f"holds up to {axis.label} {value:g} {axis.unit}".strip()
            row.append(f"{where}: {hint}")
        hints.append(row)
    cells = Cells(
        x=edges_of(sort_values(pivot.x)),
        y=edges_of(sort_values(pivot.y)),
        colours=_colours(values, edges),
        held=np.isfinite(values),
        hints=hints,
        keys=keys,
        without=f"no {axis.label} that was tried holds",
        region="at least one holds",
    )
    title = f"Highest {axis.label} that holds, {axis.unit}".rstrip(", ")
    caption = f"Up to which every {axis.label} that was tried holds."
    return _chart(pivot, title, caption, (cells,))


def _where(pivot: Pivot, run: int) -> str:
    """Where on the map a run is, in words."""
    asked = pivot.result.sweep
    point = asked.point(run)
    words = []
    for axis in (pivot.x, pivot.y):
        words.append(axis.named(point[asked.axes.index(axis)]))
    return ", ".join(words)


def _bins(result: SweepResult, values: Floats) -> tuple[Floats, float, str]:
    """Edges of the colours over all runs, the scale of the values, and their unit."""
    _, unit, scale = MEASURES[result.measure]
    if result.measure == "probability":
        return scale * PROBABILITIES, scale, unit
    known = scale * values[np.isfinite(values)]
    if not len(known):
        return np.array([0.0, 1.0]), scale, unit
    return _round_edges(float(known.min()), float(known.max())), scale, unit


def _round_edges(low: float, high: float) -> Floats:
    """Round numbers from below the lowest to above the highest, one more than colours at most."""
    wide = max(high - low, 1e-9 * max(abs(high), 1.0))
    for exponent in range(-12, 13):
        for step in (1.0, 2.0, 2.5, 5.0):
            size = step * 10.0**exponent
            first = np.floor(low / size)
            count = int(np.floor(high / size) - first) + 1
            if wide / size < 2 * COLOURS and count <= COLOURS:
                return np.array([(first + k) * size for k in range(count + 1)])
    return np.array([low, high])


def _colours(values: Floats, edges: Floats, falling: bool = False) -> Numbers:
    """Numbers of the colours of values, the bright ones for large values unless they are falling.

    Few colours are spread over all that there are.
    """
    found = np.full(values.shape, NO_VALUE)
    known = np.isfinite(values)
    place = np.clip(np.searchsorted(edges, values[known], side="right") - 1, 0, len(edges) - 2)
    found[known] = _spread(place, len(edges) - 1, falling)
    return found


def _spread(places: Numbers, count: int, falling: bool = False) -> Numbers:
    rising = np.round(places * (COLOURS - 1) / max(count - 1, 1)).astype(int)
    return COLOURS - 1 - rising if falling else rising


def _keys(edges: Floats, unit: str, falling: bool = False) -> list[tuple[int, str]]:
    """Legend of the colours."""
    count = len(edges) - 1
    found = []
    for k in range(count):
        colour = int(_spread(np.array([k]), count, falling)[0])
        found.append((colour, f"{edges[k]:g} to {edges[k + 1]:g} {unit}"))
    return found


def _scatter_runs(result: SweepResult) -> Blocks:
    """Runs that are no grid as points over two axes: those that hold, and those that do not."""
    chosen = map_axes(result.sweep)
    if chosen is None:
        yield from _along(result)
        return
    x, y = chosen
    places = [result.sweep.axes.index(axis) for axis in (x, y)]
    points = np.array([[result.sweep.point(k)[p] for p in places] for k in _all(result)], float)
    layers: list[Layer] = []
    for label, rows, colour, shape in _groups(result):
        if rows:
            some = points[rows]
            hints = [_hint(result, k) for k in rows]
            x_y = some[:, 0], some[:, 1]
            layers.append(Points(label, *x_y, None, None, shape, colour, hints))
    axes = ChartAxis(x.label, x.unit), ChartAxis(y.label, y.unit)
    yield Chart("Runs", *axes, tuple(layers), "A mark for each run.", tall=True)


def _all(result: SweepResult) -> range:
    return range(len(result.rows))


def _groups(result: SweepResult) -> list[tuple[str, list[int], int, Shape]]:
    """Runs that hold, that do not, and that have no answer: label, numbers, colour, shape."""
    held, fails, none = [], [], []
    for k, row in enumerate(result.rows):
        if row.holds:
            held.append(k)
        elif row.ratio is None:
            none.append(k)
        else:
            fails.append(k)
    return [
        ("may not or does not hold", fails, 1, "cross"),
        ("stops or cannot be run", none, 6, "plus"),
        ("holds", held, 0, "circle"),
    ]


def _along(result: SweepResult) -> Blocks:
    """The measure over the only axis of numbers, where there is one."""
    numbers = [axis for axis in result.sweep.axes if axis.is_number and axis.varies]
    if not numbers:
        return
    axis = numbers[0]
    label, unit, scale = MEASURES[result.measure]
    place = result.sweep.axes.index(axis)
    x = np.array([float(result.sweep.point(k)[place]) for k in _all(result)])
    y = scale * result.numbers[result.measure]
    layers: list[Layer] = []
    for name, rows, colour, shape in _groups(result):
        some = [k for k in rows if np.isfinite(y[k])]
        if some:
            hints = [_hint(result, k) for k in some]
            layers.append(Points(name, x[some], y[some], colour=colour, shape=shape, names=hints))
    if result.measure == "ratio":
        layers.append(Rule(scale, "tolerance"))
    if layers:
        yield Chart("Runs", ChartAxis(axis.label, axis.unit), ChartAxis(label, unit), tuple(layers))


def _coordinates(result: SweepResult) -> Blocks:
    """Parallel coordinates: a line for each run through its values, those that hold above."""
    shown = [axis for axis in result.sweep.axes if axis.varies]
    label, unit, scale = MEASURES[result.measure]
    table, heads = _shares(result, shown)
    values = scale * result.numbers[result.measure]
    known = values[np.isfinite(values)]
    if not len(known) or len(shown) < 2:
        return
    low, high = float(known.min()), float(known.max())
    last = (values - low) / (high - low or 1.0)
    table = np.column_stack([table, last])
    heads.append(f"{label} {low:.3g} to {high:.3g} {unit}")
    layers: list[Layer] = []
    for name, rows, colour, _ in _groups(result):
        some = [k for k in rows if np.isfinite(last[k])]
        if some:
            thin = thin_out(some, MOST_LINES)
            layers.append(_lines(name, table[thin], colour))
    for k, head in enumerate(heads):
        layers.append(Rule(float(k), head, on="x"))
    x = ChartAxis("", span=(-0.1, len(heads) - 0.9), ticked=False)
    y = ChartAxis("share of each range", span=(-0.05, 1.3))
    caption = "A line for each run, from lowest (0) to highest (1) of each axis."
    yield Chart("All axes at once", x, y, tuple(layers), caption)


def _shares(result: SweepResult, shown: Sequence[sweep_axes.SweepAxis]) -> tuple[Floats, list[str]]:
    """Where each run lies on each axis, 0 to 1, and what the axes are called."""
    heads = []
    for axis in shown:
        ends = axis.ends
        if axis.is_number:
            low, high = sort_values(axis)[[0, -1]].tolist()
            ends = f"{axis.words(low)} to {axis.words(high)}"
        heads.append(f"{axis.label} {ends}")
    table = np.zeros((len(result.rows), len(shown)))
    for k in _all(result):
        point = result.sweep.point(k)
        for j, axis in enumerate(shown):
            table[k, j] = _share(axis, point[result.sweep.axes.index(axis)])
    return table, heads


def _share(axis: sweep_axes.SweepAxis, value: float | str) -> float:
    if not axis.is_number:
        return axis.values.index(value) / (len(axis.values) - 1)
    low, high = sort_values(axis)[[0, -1]].tolist()
    return (float(value) - low) / (high - low or 1.0)


def _lines(name: str, table: Floats, colour: int) -> Curve:
    """Lines through rows of a table as one curve with gaps."""
    count, width = table.shape
    gap = np.full((count, 1), np.nan)
    x = np.hstack([np.tile(np.arange(width, dtype=np.float64), (count, 1)), gap])
    y = np.hstack([table, gap])
    return Curve(name, x.ravel(), y.ravel(), colour=colour, dash="solid")
