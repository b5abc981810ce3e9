"""How a log shows itself in Python and notebooks: its channels as a table, and over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.maths.batch import Floats
from armtwin.notebook.dataframes import numbered
from armtwin.report.figures import Panel, draw_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEADS = ("channel", "what it is", "columns", "smallest", "largest")
USUAL = ("q", "v", "tau")  # drawn where nothing is chosen
NAMED = 5  # channels that a line names
Label = Callable[[str], str]  # what a channel is, with its unit in brackets


def named(channels: Mapping[str, Floats]) -> str:
    """The first names of channels."""
    names = list(channels)
    more = ["…"] if len(names) > NAMED else []
    return " ".join([*names[:NAMED], *more])


def channel_rows(channels: Mapping[str, Floats], label: Label) -> Iterator[tuple[str, ...]]:
    """What each channel holds."""
    for name, values in channels.items():
        columns = str(values.shape[1])
        smallest = largest = "-"
        if values.size:
            smallest = f"{values.min():.4g}"
            largest = f"{values.max():.4g}"
        yield name, label(name), columns, smallest, largest


def draw_channels(
    time: Floats,
    channels: Mapping[str, Floats],
    names: Sequence[str],
    label: Label,
    axes: Axes | Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw channels over time, a panel for each and a line for each column.

    Args:
        time: Times of the samples, (m,) [s].
        channels: Arrays (m, n) by name.
        names: Channels to draw; without any q, v and tau, or the first that there are.
        label: What a channel is.
        axes: One for each channel; new ones where none are given.
    """
    if not channels:
        raise ArmtwinError("the log has no channel, so there is nothing to draw")
    panels = []
    for name in names or _usual(channels):
        if name not in channels:
            hint = did_you_mean(name, channels)
            raise ArmtwinError(f"the log has no channel '{name}'. {hint}")
        panels.append(Panel(label(name), numbered(name, channels[name])))
    return draw_panels(time, "time [s]", panels, axes)


def _usual(channels: Mapping[str, Floats]) -> list[str]:
    """Channels that are drawn where nothing is chosen."""
    found = [name for name in USUAL if name in channels]
    return found or list(channels)[: len(USUAL)]
