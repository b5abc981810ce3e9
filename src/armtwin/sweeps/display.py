"""A sweep drawn in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.report import figures
from armtwin.sweeps.axes import Axis
from armtwin.sweeps.mapping import map_axes
from armtwin.sweeps.sweep import Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS = {"ratio": "largest error over tolerance", "probability": "P that it holds"}


def draw_map(asked: Sweep, measure: str, values: Floats, axes: Axes | None) -> Axes:
    """Runs over the two axes of the map, coloured by values that measure them, (runs,)."""
    chosen = map_axes(asked)
    if chosen is None:
        raise ArmtwinError("a map needs two axes of numbers with several values each")
    x, y = chosen
    places = [asked.axes.index(axis) for axis in chosen]
    points = [[asked.point(k)[p] for p in places] for k in range(len(values))]
    across, upright = np.array(points, dtype=np.float64).T
    known = np.isfinite(values)
    (here,) = figures.chosen_axes(axes, 1)
    drawn = here.scatter(across[known], upright[known], c=values[known], cmap="cividis")
    here.scatter(across[~known], upright[~known], marker="x", color=figures.GREY)
    here.figure.colorbar(drawn, ax=here, label=LABELS[measure])
    here.set_xlabel(_titled(x))
    here.set_ylabel(_titled(y))
    return here


def _titled(axis: Axis) -> str:
    return f"{axis.label} [{axis.unit}]" if axis.unit else axis.label
