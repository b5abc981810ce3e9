"""What is shown of a log: channels, rate and events, and what in it cannot be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from armtwin.logs.channels import CHANNELS, channel_kind
from armtwin.logs.log import Log
from armtwin.logs.plausibility import doubts
from armtwin.notebook.numbers import PLAIN, SECONDS, Number
from armtwin.notebook.sections import Block, Column, Record, Report, Section, Table, Text


def log_report(log: Log, name: str) -> Report:
    """Channels, rate and events of a log."""
    length = Number(digits=6).text(log.time[-1] - log.time[0])
    title = f"{name}: a log of {len(log.time)} samples, {length} s"
    return Report(title, _rate(log), (Section("", tuple(_blocks(log))),))


def _rate(log: Log) -> str:
    steps = np.diff(log.time)
    if not len(steps):
        return "one sample"
    step = float(np.median(steps))
    uneven = Number(1e3).text(float(np.abs(steps - step).max()))
    return f"about {1 / step:.6g} Hz, steps uneven by at most {uneven} ms"


def _blocks(log: Log) -> Iterator[Block]:
    for sentence in doubts(log):
        yield Text(sentence, "bad")
    columns = (
        Column("channel", "channel"),
        Column("columns", "columns", Number()),
        Column("smallest", "smallest", PLAIN),
        Column("largest", "largest", PLAIN),
    )
    yield Table(columns, [_channel(log, name) for name in log.channels], "channels")
    for event in log.events:
        yield Text(f"at {SECONDS.with_unit(event.time)}: {event.text}")
    if not log.events:
        yield Text("No events.")


def _channel(log: Log, name: str) -> Record:
    values = log.channels[name]
    return {
        "channel": f"{name}: {CHANNELS[channel_kind(name) or name]}",
        "columns": values.shape[1],
        "smallest": float(values.min()),
        "largest": float(values.max()),
    }
