"""Where layers of a chart are drawn."""

from dataclasses import dataclass

from armtwin.notebook import drawings
from armtwin.notebook.scales import Axis, Scale


@dataclass(frozen=True)
class Pane:
    """Where layers are drawn: both axes and their scales."""

    x_axis: Axis
    y_axis: Axis
    x: Scale
    y: Scale

    def holds(self, place: drawings.Place) -> bool:
        """Whether a place, as shares of the pane, lies within it."""
        across, upright = place
        return 0 <= across <= 1 and 0 <= upright <= 1

    def words(self, x: float, y: float) -> str:
        """A place in words."""
        return f"{self.x_axis.words(x)}, {self.y_axis.words(y)}"
