"""What a log shows of itself: its channels as a table, and over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.logs.channels import channel_label
from armtwin.logs.recording import Recording
from armtwin.maths.batch import Floats, Record
from armtwin.notebook.cards import format_count
from armtwin.notebook.dataframes import number_columns
from armtwin.notebook.numbers import PLAIN, SECONDS, Number
from armtwin.notebook.sections import Blocks, Report, Section, Table, Text, list_columns
from armtwin.report.figures import Panel, draw_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USUAL = ("q", "v", "tau")  # drawn where nothing is chosen
NAMED = 5  # channels that a line names


def list_names(channels: Mapping[str, Floats]) -> str:
    """The first names of channels."""
    names = list(channels)
    more = ["…"] if len(names) > NAMED else []
    return " ".join([*names[:NAMED], *more])


def describe_log(log: Recording, origin: str) -> Report:
    """Channels, rate and events of a log, and what in it cannot be.

    Args:
        log: What it holds.
        origin: The file it was read from, or "".
    """
    name = Path(origin).name or "log"
    length = Number(digits=6).text(np.ptp(log.time) if len(log.time) else 0.0)
    title = f"{name}: a log of {len(log.time)} samples, {length} s"
    return Report(title, _rate(log.time), (Section("", _blocks(log)),))


def _rate(time: Floats) -> str:
    steps = np.diff(time)
    if not len(steps):
        return format_count(len(time), "sample")
    step = float(np.median(steps))
    uneven = Number(1e3).text(float(np.abs(steps - step).max()))
    return f"about {1 / step:.6g} Hz, steps uneven by at most {uneven} ms"


def _blocks(log: Recording) -> Blocks:
    from armtwin.logs.plausibility import plausibility_problems

    for sentence in plausibility_problems(log):
        yield Text(sentence, "bad")
    columns = list_columns(
        channel="channel",
        columns=("columns", Number()),
        smallest=("smallest", PLAIN),
        largest=("largest", PLAIN),
    )
    records = [_channel(name, values) for name, values in log.channels.items()]
    yield Table(columns, records, "channels")
    for event in log.events:
        yield Text(f"at {SECONDS.with_unit(event.time)}: {event.text}")
    if not log.events:
        yield Text("No events.")


def _channel(name: str, values: Floats) -> Record:
    record: dict[str, Any] = {
        "channel": f"{name}: {channel_label(name)}",
        "columns": values.shape[1],
    }
    if values.size:
        record |= {"smallest": float(values.min()), "largest": float(values.max())}
    return record


def draw_channels(
    time: Floats,
    channels: Mapping[str, Floats],
    names: Sequence[str],
    axes: Axes | Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw channels over time, a panel for each and a line for each column.

    Args:
        time: Times of the samples, (m,) [s].
        channels: Arrays (m, n) by name.
        names: Channels to draw; without any q, v and tau, or the first that there are.
        axes: One for each channel; new ones where none are given.
    """
    if not channels:
        raise ArmtwinError("the log has no channel, so there is nothing to draw")
    panels = []
    for name in names or _usual(channels):
        if name not in channels:
            hint = did_you_mean(name, channels)
            raise ArmtwinError(f"the log has no channel '{name}'. {hint}")
        panels.append(Panel(channel_label(name), number_columns(name, channels[name])))
    return draw_panels(time, "time [s]", panels, axes)


def _usual(channels: Mapping[str, Floats]) -> list[str]:
    """Channels that are drawn where nothing is chosen."""
    found = [name for name in USUAL if name in channels]
    return found or list(channels)[: len(USUAL)]
