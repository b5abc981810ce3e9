"""Log: channels over time, the same from a machine and from a simulation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError, blame, did_you_mean
from armtwin.files.atomic import check_file, write_file
from armtwin.files.kinds import check_name
from armtwin.logs import channels as known, display
from armtwin.logs.columns import Columns, columns_for
from armtwin.logs.formats.table import FORMATS, format_of, load
from armtwin.logs.recording import Event, Recording
from armtwin.maths.batch import Floats, NamedArrays, Names
from armtwin.notebook import cards
from armtwin.notebook.dataframes import dataframe, number_columns
from armtwin.notebook.sections import Report
from armtwin.report.result import Result

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

# by the ending of a name
WRITERS = {ending: place for known in reversed(FORMATS) for ending, place in known.write}


@dataclass(frozen=True, eq=False, repr=False)
class Log(Result):
    """Channels over time, and what happened.

    Attributes:
        time: Times of the samples, (m,) [s].
        channels: Arrays (m, n) by name; `CHANNELS` lists the names.
        events: What happened, in order of time.
        origin: The file it was read from, "" for a log made otherwise.
        joint_names: Name of the joint of each column, where the machine wrote them.
        remarks: What of its file was converted, assumed or not read, a sentence each.
        layout: Name of its file's layout, as "RTDE"; "" for a log made otherwise.
    """

    time: Floats
    channels: Mapping[str, Floats]
    events: tuple[Event, ...] = ()
    origin: str = ""
    joint_names: Names = ()
    remarks: Names = ()
    layout: str = ""

    @staticmethod
    def of(
        time: ArrayLike,
        events: tuple[Event, ...] = (),
        joint_names: Iterable[str] = (),
        **channels: ArrayLike,
    ) -> Log:
        """A log from arrays, checked for names and shapes."""
        stamps = _check_time(time)
        arrays = {}
        for name, values in channels.items():
            arrays[name] = _check_channel(name, values, len(stamps))
        _check_steps(stamps)
        names = _check_names(joint_names)
        _check_columns(arrays, names)
        return Log(stamps, arrays, events, joint_names=names)

    def __getattr__(self, name: str) -> Floats:
        channels = self.__dict__.get("channels", {})
        if name in channels:
            return channels[name]
        held = ", ".join(channels)
        if name in known.CHANNELS:
            raise ArmtwinError(
                f"the log has no channel '{name}' ({known.CHANNELS[name]}). It has: {held}."
            )
        raise AttributeError(f"a log has no attribute '{name}'. Its channels: {held or 'none'}.")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.channels]

    def __contains__(self, name: str) -> bool:
        return name in self.channels

    def __repr__(self) -> str:
        samples = cards.format_count(len(self.time), "sample")
        length = np.ptp(self.time) if len(self.time) else 0.0
        return cards.line("Log", samples, f"{length:.4g} s", display.list_names(self.channels))

    def sections(self) -> Report:
        """Channels, rate and events, and what in it cannot be."""
        return display.describe_log(self.recording, self.origin)

    def plot(self, *channels: str, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw channels over time, a line for each column.

        Args:
            channels: Names of channels; without any q, v and tau, as there are.
            axes: One for each channel; new ones where none are given.
        """
        return display.draw_channels(self.time, self.channels, channels, axes)

    def to_dataframe(self, name: str = "") -> pandas.DataFrame:
        """Columns as in a file, q1, q2, ..., over time, for pandas.

        Args:
            name: A channel, by default all.
        """
        columns: NamedArrays = {}
        for channel in [name] if name else self.channels:
            columns |= number_columns(channel, getattr(self, channel))
        return dataframe(("time", self.time), columns)

    @staticmethod
    def from_dataframe(frame: pandas.DataFrame) -> Log:
        """A log of a data frame: columns as in a CSV file, time as a column or the index.

        Args:
            frame: Numbers in columns time, q1, q2, ...; dates or durations may be the time.
        """
        from armtwin.logs.formats.named_arrays import read_named

        columns = {str(name): frame[name] for name in frame.columns}
        columns.setdefault("time", frame.index)
        arrays = {name: np.asarray(column) for name, column in columns.items()}
        wanted = {name: array for name, array in arrays.items() if array.dtype.kind in "fiumM"}
        unread = [name for name in arrays if name not in wanted]
        found = read_named(Path("data frame"), Columns(), wanted, {}, unread)
        log = Log.of(found.time, (), (), **found.channels)
        return replace(log, remarks=found.remarks, layout="data frame")

    def cut(self, first: float | None = None, last: float | None = None) -> Log:
        """The samples and events between two times, both included; by default to the ends.

        Args:
            first: Earliest time [s].
            last: Latest time [s].
        """
        least = -np.inf if first is None else first
        most = np.inf if last is None else last
        kept = (self.time >= least) & (self.time <= most)
        if not kept.any():
            span = f"{self.time[0]:.6g} to {self.time[-1]:.6g} s" if len(self.time) else "no time"
            raise ArmtwinError(
                f"{self.origin or 'log'}: a cut must hold a sample of {span}, got {least:g} to "
                f"{most:g} s"
            )
        channels = {name: values[kept] for name, values in self.channels.items()}
        events = tuple(event for event in self.events if least <= event.time <= most)
        return replace(self, time=self.time[kept], channels=channels, events=events)

    @staticmethod
    def read(path: str | Path, columns: str | Path | None = None) -> Log:
        """A log from a file or folder, whose layout is recognised by what it holds.

        CSV (also packed by gzip), NPZ, RTDE of Universal Robots, Franka's libfranka, KUKA traces
        (a folder, or one of its files) and RSI, MAT; with the extra `logs` ROS bags (a file, or
        the folder of a recording) and HDF5, with the extra `parquet` Parquet.

        Args:
            path: The file or folder.
            columns: A columns file; by default the one beside the log, if there is one.
        """
        file = Path(path)
        if not file.name:
            raise ArmtwinError(f"log '{path}' must be the name of a file")
        check_name(path, "log")
        how = columns_for(file, None if columns is None else Path(columns))
        layout = format_of(file)
        found: Recording = load(layout.read)(file, how)
        with blame(file):
            channels = {name: how.to_si(name, values) for name, values in found.channels.items()}
            log = Log.of(found.time, found.events, found.joint_names, **channels)
        return replace(log, origin=str(path), remarks=found.remarks, layout=layout.name)

    def write(self, path: str | Path) -> None:
        """Write a CSV (also .csv.gz), NPZ or Parquet file; `read` makes an equal log of it.

        Names of joints and events are kept by CSV and NPZ.
        """
        target = Path(path)
        check_file(target)
        for ending, place in WRITERS.items():
            if target.name.endswith(ending):
                write_file(target, partial(load(place), self.recording))
                return
        endings = ", ".join(WRITERS)
        raise ArmtwinError(f"log '{path}' must end in one of {endings} to be written")

    @property
    def is_tool_path(self) -> bool:
        """Whether it is a measured tool path, without positions of joints."""
        return "tool" in self and not {"q", "q_m", "q_link"} & set(self.channels)

    @property
    def recording(self) -> Recording:
        """What a file of the log holds."""
        return Recording(
            self.time, self.channels, self.events, self.joint_names, self.remarks, self.layout
        )


def as_logs(logs: Log | Iterable[Log], call: str, *, least: int = 1) -> tuple[Log, ...]:
    """One log or several, as a call that takes logs was given them; what is no log is refused.

    Args:
        logs: What was given.
        call: Name of the call.
        least: How many logs it needs.
    """
    given = tuple(logs) if isinstance(logs, Iterable) else (logs,)
    for log in given:
        if not isinstance(log, Log):
            raise ArmtwinError(
                f"{call} needs logs, as at.Log.read gives, got a {type(log).__name__}"
            )
    if len(given) < least:
        raise ArmtwinError(f"{call} needs at least one log")
    return given


def _check_time(time: ArrayLike) -> Floats:
    """Time stamps that are finite and increase, (m,) [s]."""
    stamps = np.asarray(time, dtype=np.float64)
    if stamps.ndim != 1 or not np.isfinite(stamps).all():
        raise ArmtwinError(
            f"time of a log must be finite numbers in one row, got shape {stamps.shape}"
        )
    most = np.abs(stamps).max(initial=0.0)
    if most > known.LARGEST:
        raise ArmtwinError(f"time of a log must be at most {known.LARGEST:g} s, got {most:g}")
    late = np.flatnonzero(np.diff(stamps) <= 0)
    if len(late):
        k = int(late[0]) + 1
        place = f"{stamps[k]} after {stamps[k - 1]} at sample {k + 1}"
        raise ArmtwinError(f"time of a log must increase, got {place}")
    return stamps


def _check_channel(name: str, values: ArrayLike, samples: int) -> Floats:
    """A channel of a known name with finite numbers, (m, n)."""
    if known.channel_kind(name) is None:
        raise ArmtwinError(
            f"log channel '{name}' is not known. {did_you_mean(name, known.CHANNELS)}"
        )
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or len(array) != samples:
        contract = f"must have shape ({samples}, joints)"
        raise ArmtwinError(f"log channel '{name}' {contract}, got {array.shape}")
    finite = np.isfinite(array)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        place = f"sample {row + 1}, column {column + 1}"
        raise ArmtwinError(
            f"log channel '{name}' must be finite, got {array[row, column]} at {place}"
        )
    most = np.abs(array).max(initial=0.0)
    if most > known.LARGEST:
        raise ArmtwinError(f"log channel '{name}' must be at most {known.LARGEST:g}, got {most:g}")
    return array


def _check_steps(stamps: Floats) -> None:
    """Refuse steps of time so short that rates have no end."""
    step = np.diff(stamps).min(initial=1.0)
    if step < known.SHORTEST_STEP:
        contract = f"must have steps of at least {known.SHORTEST_STEP:g} s"
        raise ArmtwinError(f"time of a log {contract}, got {step:g}")


def _check_columns(channels: NamedArrays, names: Names) -> None:
    """Refuse channels that are of other numbers of joints, or of drives."""
    sides: dict[bool, tuple[str, int]] = {}
    if names:
        sides[False] = ("joint_names", len(names))
    for name, values in channels.items():
        if known.channel_kind(name) in known.SINGLE:
            continue
        other, count = sides.setdefault(
            known.channel_kind(name) in known.OF_DRIVES, (name, values.shape[1])
        )
        if values.shape[1] != count:
            contract = f"must have as many columns as '{other}', {count}"
            raise ArmtwinError(f"log channel '{name}' {contract}, got {values.shape[1]}")


def _check_names(names: Iterable[str]) -> Names:
    """Names of joints that differ."""
    given = tuple(names)
    for k, name in enumerate(given):
        if name in given[:k]:
            raise ArmtwinError(f"joint names of a log must differ, got '{name}' twice")
    return given
