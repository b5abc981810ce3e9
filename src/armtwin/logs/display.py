"""What a log shows of itself: its channels as a table, and over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.logs.channels import channel_kind, channel_label
from armtwin.logs.formats.signals import describe_lateness, lateness
from armtwin.logs.recording import Recording
from armtwin.maths.batch import Floats, Record, Sentences
from armtwin.notebook.cards import format_count
from armtwin.notebook.dataframes import number_columns
from armtwin.notebook.numbers import PLAIN, SECONDS, Number
from armtwin.notebook.sections import Blocks, Data, Report, Section, Table, Text, list_columns
from armtwin.report.figures import Panel, draw_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# what a log can be used for: channels that it needs, of each group one
TORQUE = ("tau", "tau_m", "current")
USES = {
    "identify": (("q",), TORQUE),
    "servo": (("q",), ("q_ref",)),
    "transmission": (("q",), ("q_link",)),
    "compare": (("q", "q_link", "q_m", "tool"),),
    "payload": (("q",), TORQUE),
    "warm-up": (("q",), TORQUE),
}
GAP = 10.0  # times the usual step of time from which on samples are missing
LONGEST_STEP = 0.5  # a step of time beyond which is a gap at any rate of more than 5 Hz [s]
LISTED = 3  # gaps that are named
PARTS, OTHER_RATE = 10, 1.5  # of a log whose usual steps differ by this factor: two rates
JITTER = 0.1  # share of a step by which usual steps differ where stamps are those of arrival
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
    layout = f"{log.layout}; " if log.layout else ""
    return Report(title, layout + _rate(log.time), (Section("", _blocks(log)),))


def _rate(time: Floats) -> str:
    steps = np.diff(time)
    if not len(steps):
        return format_count(len(time), "sample")
    step = float(np.median(steps))
    uneven = Number(1e3).text(float(np.abs(steps - step).max()))
    return f"about {1 / step:.6g} Hz, steps uneven by at most {uneven} ms"


def _blocks(log: Recording) -> Blocks:
    from armtwin.logs.plausibility import plausibility_problems

    for sentence in (*plausibility_problems(log), *_gaps(log.time), *_copies(log.channels)):
        yield Text(sentence, "bad")
    for sentence in (*log.remarks, *_jitter(log.time), *_encoders(log)):
        yield Text(f"{_begin(sentence)}.")
    columns = list_columns(
        channel="channel",
        columns=("columns", Number()),
        smallest=("smallest", PLAIN),
        largest=("largest", PLAIN),
    )
    records = [_channel(name, values) for name, values in log.channels.items()]
    yield Table(columns, records, "channels")
    uses = list_columns(use="use", needs="with or lacking")
    yield Table(uses, [_use(name, log.channels) for name in USES], "uses")
    for event in log.events:
        yield Text(f"at {SECONDS.with_unit(event.time)}: {event.text}")
    if not log.events:
        yield Text("No events.")
    if log.layout:
        yield Data({"layout": log.layout})


def _use(name: str, channels: Mapping[str, Floats]) -> Record:
    """Whether a log can be used for something, by which channels, or what is missing."""
    taken, missing = [], []
    for group in USES[name]:
        held = [channel for channel in group if channel in channels]
        if held:
            taken.append(held[0])
        else:
            missing.append(" or ".join(group))
    text = f"lacks {', '.join(missing)}" if missing else f"with {', '.join(taken)}"
    others = [channel for channel in channels if channel_kind(channel) in TORQUE]
    if missing == [" or ".join(TORQUE)] and others:
        text += f"; --torque takes {' or '.join(others)}"
    return {"use": name, "needs": text}


def _gaps(time: Floats) -> Sentences:
    """Sentences on steps of time that are so long that samples are missing."""
    steps = np.diff(time)
    if len(steps) < LISTED:
        return
    usual = float(np.median(steps))
    gaps = np.flatnonzero((steps > GAP * usual) | ((steps > LONGEST_STEP) & (steps > 2.5 * usual)))
    if len(gaps):
        named = [f"{steps[k]:.4g} s at {time[k]:.6g} s" for k in gaps[:LISTED]]
        more = f" and {len(gaps) - LISTED} more" if len(gaps) > LISTED else ""
        yield f"{format_count(len(gaps), 'gap')} in time: {', '.join(named)}{more}; cut it there."


def _jitter(time: Floats) -> Sentences:
    """A sentence on uneven stamps, as those of arrival are."""
    steps = np.diff(time)
    if len(steps) < LISTED:
        return
    parts = [float(np.median(part)) for part in np.array_split(steps, PARTS) if len(part)]
    if max(parts) > OTHER_RATE * min(parts):
        rates = f"{1 / max(parts):.4g} and {1 / min(parts):.4g} Hz"
        yield f"the rate changes between {rates} within the log: put on one even grid where used"
        return
    usual = float(np.median(steps))
    spread = float(np.median(np.abs(steps - usual)))
    if spread > JITTER * usual:
        yield (
            f"steps of time vary by {1e3 * spread:.3g} ms about {1e3 * usual:.3g} ms, as stamps of "
            "arrival do: they are kept, and positions put on an even grid where speeds are taken"
        )


def _encoders(log: Recording) -> Sentences:
    """A sentence on two encoders of the same joints that are not read at the same time."""
    if not {"q", "q_link"} <= set(log.channels):
        return
    link = log.channels["q_link"]
    q = log.channels["q"][:, : link.shape[1]]
    late = lateness(log.time, q, log.time, link, offset=True)
    if late:
        yield f"{describe_lateness('q_link', late, 'q', 'their difference')}: kept as it is"


def _begin(sentence: str) -> str:
    """A sentence with a capital letter, unless it begins with the name of a channel."""
    first = sentence.split(maxsplit=1)[0].rstrip(":,")
    return sentence if channel_kind(first) else f"{sentence[0].upper()}{sentence[1:]}"


def _copies(channels: Mapping[str, Floats]) -> Sentences:
    """A sentence on positions that are the reference to the last bit."""
    if {"q", "q_ref"} <= set(channels) and np.array_equal(channels["q"], channels["q_ref"]):
        yield (
            "q equals q_ref to the last bit: a simulator, or one copied from the other; it shows "
            "no servo."
        )


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
