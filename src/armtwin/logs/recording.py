"""What a file of a log holds, as it stands there: the readers' result and the writers' input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError
from armtwin.logs.channels import LARGEST
from armtwin.maths.batch import Floats, Names, Record

STOPS = ("following_error", "unstable")  # kinds of events that end a run


@dataclass(frozen=True)
class Event:
    """Something that happened in a run.

    Attributes:
        time: When [s].
        kind: "following_error", "current_limit", "unstable", ...
        joint: Name of the joint or motor, or "".
        text: A sentence with the numbers.
    """

    time: float
    kind: str
    joint: str
    text: str

    @property
    def record(self) -> Record:
        """It as plain values."""
        return {"time_s": self.time, "kind": self.kind, "joint": self.joint, "text": self.text}

    @staticmethod
    def of(given: object) -> Event:
        """The event of a list of time, kind, joint and text."""
        time, *texts = given if isinstance(given, list) and len(given) == 4 else (np.nan,)
        is_time = isinstance(time, float | int) and abs(time) <= LARGEST
        if not is_time or not all(isinstance(text, str) for text in texts):
            raise ArmtwinError("an event must be a list of time, kind, joint and text")
        return Event(float(time), *texts)

    def to_list(self) -> list[float | str]:
        """The list that `of` reads."""
        return [float(self.time), self.kind, self.joint, self.text]


def find_stop(events: Iterable[Event]) -> Event | None:
    """The first event that ended a run early."""
    return next((event for event in events if event.kind in STOPS), None)


def find_repeats(time: Floats, values: Floats) -> NDArray[np.bool_]:
    """Samples that have the time and the values of the one before, (m,): read twice."""
    repeated = np.zeros(len(time), dtype=bool)
    same = np.flatnonzero(np.diff(time) == 0) + 1
    repeated[same] = (values[same] == values[same - 1]).all(axis=1)
    return repeated


def repeats_remark(time: Floats, repeated: NDArray[np.bool_]) -> Names:
    """A sentence on samples that were read twice; none where there are none."""
    if not repeated.any():
        return ()
    first = f"the first at {time[np.argmax(repeated)]:.9g}"
    return (
        f"{repeated.sum()} samples repeat time and values of the one before, {first}: left out",
    )


class Sampled(Protocol):
    """Channels over time: a log, or what a file of one holds."""

    @property
    def time(self) -> Floats:
        """Times of the samples, (m,) [s]."""

    @property
    def channels(self) -> Mapping[str, Floats]:
        """Arrays (m, n) by name."""


@dataclass(frozen=True, eq=False)
class Recording:
    """The arrays of a file, by the names of channels.

    Attributes:
        time: Times of the samples, (m,) [s].
        channels: Arrays (m, n) by name; just read, in the machine's units and signs.
        events: What happened.
        joint_names: Name of the joint of each column, where the file has them.
        remarks: What of the file was converted, assumed or not read, a sentence each.
        layout: Name of the file's layout, "" for a log made otherwise.
    """

    time: Floats
    channels: Mapping[str, Floats]
    events: tuple[Event, ...] = ()
    joint_names: Names = ()
    remarks: Names = ()
    layout: str = ""
