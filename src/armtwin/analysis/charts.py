"""Charts of an analysis: curves along a motion, bars at one posture."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Bars, Chart, Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.scales import Axis

TIME = Axis("time", "s")


def chart_values(
    title: str, y: Axis, values: Mapping[str, Floats], places: Floats, x: Axis = TIME
) -> Chart | Bars:
    """Values by name over the places of a motion, (m,) each; bars where there is one place."""
    if len(places) > 1:
        curves = [Curve(name, places, column) for name, column in values.items()]
        return Chart(title, x, y, tuple(curves))
    only = np.array([column[0] for column in values.values()])
    return Bars(title, y, list(values), np.zeros(len(only)), only)


def arrange(charts: Sequence[Chart | Bars], title: str) -> Iterator[Multiples | Bars]:
    """Curves side by side under a title, bars one after another."""
    curves = tuple(chart for chart in charts if isinstance(chart, Chart))
    if curves:
        yield Multiples(curves, columns=2, shared="x", title=title)
    for chart in charts:
        if isinstance(chart, Bars):
            yield chart
