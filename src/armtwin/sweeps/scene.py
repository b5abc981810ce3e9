"""The best run of a sweep in 3-D, among the places of the workpiece that were tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armtwin.maths.batch import Floats, NamedArrays
from armtwin.notebook.sampling import encode_series
from armtwin.notebook.sections import Scene
from armtwin.prediction.predict import Prediction
from armtwin.prediction.sections.plots import select_times, series_of
from armtwin.prediction.sections.scene import figure
from armtwin.sweeps.result import SweepResult

POSITION = "workpiece.position."
COLOURS = {"holds": 0.25, "may hold": 0.75, "does not hold": 1.0}  # ratios of the viewer's colours


@dataclass(frozen=True, eq=False)
class BestPlacement:
    """The best run of a sweep that moves the workpiece, predicted again when it is shown."""

    result: SweepResult

    @cached_property
    def prediction(self) -> Prediction | None:
        """The best run; None where none was run to its end, or nothing is moved."""
        best = self.result.best(1)
        moved = any(len(axis.values) > 1 for axis in self.result.sweep.axes if _moves(axis.key))
        return self.result.prediction(best[0]) if best and moved else None

    def series(self) -> NamedArrays:
        """Series of the best run, for the player."""
        if self.prediction is None:
            return {}
        return series_of(self.prediction, None, select_times(self.prediction))

    def blocks(self) -> Iterator[Scene]:
        """The best run, with a tile for each place of the workpiece that was tried."""
        if self.prediction is None:
            return
        tiles = _tiles(self.result)
        model = figure(self.prediction, select_times(self.prediction))
        points = np.array(list(tiles), dtype=np.float64)
        ratios = np.array(list(tiles.values()), dtype=np.float64)
        model["map"] = {
            "points": encode_series(points.ravel()),
            "ratio": encode_series(ratios),
            "tile": _tile_size(points),
        }
        others = any(not _moves(axis.key) for axis in self.result.sweep.axes)
        what = "the best run there" if others else "its run"
        caption = (
            f"The robot on the best placement, run {self.result.best(1)[0] + 1}; each tile is a "
            f"place of the workpiece's frame, coloured by {what}; grey where it cannot be run."
        )
        yield Scene(model, caption)


def _moves(key: str) -> bool:
    """Whether a key moves the workpiece."""
    return key.startswith(POSITION)


def _tiles(result: SweepResult) -> dict[tuple[float, ...], float]:
    """Places of the workpiece with the ratio of the best run there, -1 where none can be run."""
    found: dict[tuple[float, ...], float] = {}
    ranked = result.best(len(result.rows))
    rest = sorted(set(range(len(result.rows))) - set(ranked))
    for number in [*ranked, *rest]:
        row = result.rows[number]
        place = list(result.sweep.base(number).job.description.workpiece.position)
        for key, value in result.sweep.inputs(number).items():
            if _moves(key):
                place[int(key.removeprefix(POSITION)) - 1] = float(value)
        ratio = -1.0 if row.ratio is None else row.ratio
        if row.probability is not None:
            ratio = COLOURS[row.outcome]
        found.setdefault(tuple(place), ratio)
    return found


def _tile_size(points: Floats) -> list[float]:
    """Width and depth of a tile: nearly the distance to the next one."""
    found = []
    for values in points.T[:2]:
        steps = np.diff(np.unique(np.round(values, 9)))
        found.append(0.92 * float(steps.min()) if len(steps) else 0.05)
    return found
