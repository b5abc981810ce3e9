"""The cells of a map: a value over two axes as colours, and the region that holds as an outline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Flags, Floats, Sentences
from armtwin.notebook import drawings
from armtwin.notebook.markup import element, percent, words

COLOURS = 9  # of the style sheet, from little to much
NO_RUN, NO_VALUE = -2, -1  # cells that were not asked for, and runs that have no value


@dataclass(frozen=True, eq=False)
class Cells:
    """Coloured cells over two axes.

    Attributes:
        x: Edges of the columns, (m + 1,).
        y: Edges of the rows, (k + 1,).
        colours: Number of the colour of each cell, NO_VALUE or NO_RUN, (k, m).
        held: Cells of the region that is outlined, (k, m).
        hints: Tooltip of each cell, row by row.
        keys: What each colour means, by its number.
        without: What a run without a value is, for the key.
        region: What the outlined region is, for the key.
    """

    x: Floats
    y: Floats
    colours: NDArray[np.int_]
    held: Flags
    hints: Sequence[Sequence[str]]
    keys: Sequence[tuple[int, str]]
    without: str = "cannot be run"
    region: str = "holds"

    label = ""

    def reach(self) -> tuple[list[Floats], list[Floats]]:
        """Values that the x and the y axis must show."""
        return [self.x], [self.y]

    def marks(self, pane: drawings.Pane, number: int) -> Sentences:
        """The cells, and the outline of the region."""
        across = pane.x.share(self.x)
        upright = pane.y.share(self.y)
        for i, j in np.argwhere(self.colours > NO_RUN):
            title = element("title", inside=words(self.hints[i][j]))
            yield element(
                "rect",
                _style(int(self.colours[i, j])),
                title,
                x=percent(float(across[j])),
                width=percent(float(across[j + 1] - across[j])),
                y=percent(float(1 - upright[i + 1])),
                height=percent(float(upright[i + 1] - upright[i])),
            )
        for start, end in self._outline():
            first = float(across[start[1]]), float(upright[start[0]])
            last = float(across[end[1]]), float(upright[end[0]])
            yield drawings.segment(first, last, "region")

    def _outline(self) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Sides between a cell of the region and one that is not, as places of corners."""
        rows, columns = self.held.shape
        walled = np.zeros((rows + 2, columns + 2), dtype=bool)
        walled[1:-1, 1:-1] = self.held
        for i, j in np.argwhere(walled[1:, 1:-1] != walled[:-1, 1:-1]):
            yield (int(i), int(j)), (int(i), int(j) + 1)
        for i, j in np.argwhere(walled[1:-1, 1:] != walled[1:-1, :-1]):
            yield (int(i), int(j)), (int(i) + 1, int(j))

    def swatch(self, number: int) -> str:
        """A map has a key for each colour, `key_items`."""
        return ""

    def key_items(self) -> list[tuple[str, str]]:
        """What each colour and the outline mean."""
        items = [(_swatch(_style(colour)), label) for colour, label in self.keys]
        items.append((_swatch(_style(NO_VALUE)), self.without))
        items.append((_swatch("region box"), self.region))
        return items


def _style(colour: int) -> str:
    return "cell none" if colour == NO_VALUE else f"cell h{colour}"


def _swatch(style: str) -> str:
    return element("rect", style, x=1, y=2, width=30, height=10)


def edges_of(values: Floats) -> Floats:
    """Edges of cells about rising values: half way between neighbours."""
    if len(values) == 1:
        half = 0.5 * abs(float(values[0])) or 0.5
        return np.array([values[0] - half, values[0] + half])
    middles = (values[1:] + values[:-1]) / 2
    first = values[0] - (middles[0] - values[0])
    last = values[-1] + (values[-1] - middles[-1])
    return np.concatenate([[first], middles, [last]])
