"""The noun Log: channels over time, the same from a machine and from a simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.files.whole import write_file
from armtwin.logs import display
from armtwin.maths.batch import Floats
from armtwin.notebook import cards
from armtwin.notebook.dataframes import dataframe, numbered

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

CHANNELS = {
    "q": "joint position [rad]",
    "v": "joint speed [rad/s]",
    "a": "joint acceleration [rad/s²]",
    "tau": "joint torque [N m]",
    "tau_m": "motor torque [N m]",
    "current": "motor current [A]",
    "q_m": "motor position [rad]",
    "q_ref": "reference position [rad]",
    "v_ref": "reference speed [rad/s]",
    "a_ref": "reference acceleration [rad/s²]",
    "q_link": "link-side position [rad]",
    "tau_friction": "friction torque [N m]",
    "temperature": "temperature [K]",
}

LARGEST = 1e20  # magnitude of a number of a log; products of larger ones have no end
SHORTEST_STEP = 1e-12  # of time [s]
TORQUES = ("tau_m", "tau", "current")  # channels that may carry a suffix: current_des is a current


def channel_kind(name: str) -> str | None:
    """The channel that a name means: itself, or for a torque with a suffix the torque; None if it means none."""
    if name in CHANNELS:
        return name
    return next((kind for kind in TORQUES if name.startswith(f"{kind}_")), None)


def channel_label(name: str) -> str:
    """What a channel is, with its unit in brackets."""
    return CHANNELS[channel_kind(name) or name]


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

    @staticmethod
    def of(told: Any) -> Event:
        """The event that a list of time, kind, joint and text tells; else a ValueError."""
        if not isinstance(told, list) or len(told) != 4:
            raise ValueError("no list of four")
        time, *texts = told
        if not isinstance(time, float | int) or not abs(time) <= LARGEST:
            raise ValueError("no time")
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("no texts")
        return Event(float(time), *texts)


@dataclass(frozen=True, eq=False)
class Log:
    """Channels over time, and what happened.

    Attributes:
        time: Times of the samples, (m,) [s].
        channels: Arrays (m, n) by name; `CHANNELS` lists the names.
        events: What happened, in order of time.
        origin: The file it was read from, "" for a log made otherwise.
    """

    time: Floats
    channels: Mapping[str, Floats]
    events: tuple[Event, ...] = field(default=())
    origin: str = ""

    @staticmethod
    def of(time: ArrayLike, events: tuple[Event, ...] = (), **channels: ArrayLike) -> Log:
        """A log from arrays, checked for names and shapes."""
        stamps = np.asarray(time, dtype=np.float64)
        if stamps.ndim != 1 or not np.isfinite(stamps).all():
            raise ArmtwinError(
                f"time of a log must be finite numbers in one row, got shape {stamps.shape}"
            )
        most = np.abs(stamps).max(initial=0.0)
        if most > LARGEST:
            raise ArmtwinError(f"time of a log must be at most {LARGEST:g} s, got {most:g}")
        late = np.flatnonzero(np.diff(stamps) <= 0)
        if len(late):
            k = int(late[0]) + 1
            raise ArmtwinError(
                f"time of a log must increase, got {stamps[k]} after {stamps[k - 1]} at sample {k + 1}"
            )
        arrays = {}
        for name, values in channels.items():
            if channel_kind(name) is None:
                raise ArmtwinError(
                    f"log channel '{name}' is not known. {did_you_mean(name, CHANNELS)}"
                )
            array = np.asarray(values, dtype=np.float64)
            if array.ndim != 2 or len(array) != len(stamps):
                raise ArmtwinError(
                    f"log channel '{name}' must have shape ({len(stamps)}, joints), got {array.shape}"
                )
            bad = np.argwhere(~np.isfinite(array))
            if len(bad):
                place = f"sample {bad[0][0] + 1}, column {bad[0][1] + 1}"
                raise ArmtwinError(
                    f"log channel '{name}' must be finite, got {array[tuple(bad[0])]} at {place}"
                )
            most = np.abs(array).max(initial=0.0)
            if most > LARGEST:
                contract = f"must be at most {LARGEST:g}"
                raise ArmtwinError(f"log channel '{name}' {contract}, got {most:g}")
            arrays[name] = array
        step = np.diff(stamps).min(initial=1.0)
        if step < SHORTEST_STEP:
            contract = f"must have steps of at least {SHORTEST_STEP:g} s"
            raise ArmtwinError(f"time of a log {contract}, got {step:g}")
        return Log(stamps, arrays, events)

    def __getattr__(self, name: str) -> Floats:
        channels = self.__dict__.get("channels", {})
        if name in channels:
            return channels[name]
        if name in CHANNELS:
            raise ArmtwinError(
                f"the log has no channel '{name}' ({CHANNELS[name]}). It has: {', '.join(channels)}."
            )
        raise AttributeError(name)

    def __contains__(self, name: str) -> bool:
        return name in self.channels

    def __repr__(self) -> str:
        samples = cards.counted(len(self.time), "sample")
        length = np.ptp(self.time) if len(self.time) else 0.0
        return cards.line("Log", samples, f"{length:.4g} s", display.named(self.channels))

    def _repr_html_(self) -> str:
        rows = [*display.channel_rows(self.channels, channel_label)]
        rows += [("event", event.text, "", "", "") for event in self.events]
        return cards.table(repr(self), rows, display.HEADS)

    def plot(self, *channels: str, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw channels over time, a line for each column.

        Args:
            channels: Names of channels; without any q, v and tau, as there are.
            axes: One for each channel; new ones where none are given.
        """
        return display.draw_channels(self.time, self.channels, channels, channel_label, axes)

    def to_dataframe(self) -> pandas.DataFrame:
        """Columns as in a file, q1, q2, ..., over time, for pandas."""
        columns: dict[str, Floats] = {}
        for name, values in self.channels.items():
            columns |= numbered(name, values)
        return dataframe(("time", self.time), columns)

    @staticmethod
    def read(path: str | Path, columns: str | Path | None = None) -> Log:
        """A log from a CSV file (also .csv.gz), an NPZ file, or a ROS bag (.bag, .mcap, .db3, with the extra `logs`).

        Args:
            path: The file.
            columns: A columns file; by default the one beside the log, if there is one.
        """
        from armtwin.files.kinds import check_name
        from armtwin.logs.bag_files import is_bag, read_bag
        from armtwin.logs.columns import columns_for
        from armtwin.logs.csv_reading import read_csv
        from armtwin.logs.npz_files import read_npz

        file = Path(path)
        if not file.name:
            raise ArmtwinError(f"log '{path}' must be the name of a file")
        check_name(path, "log")
        names = columns_for(file, None if columns is None else Path(columns))
        read = read_npz if file.suffix == ".npz" else read_bag if is_bag(file) else read_csv
        return replace(read(file, names), origin=str(path))

    def write(self, path: str | Path) -> None:
        """Write the log as a CSV file (also .csv.gz) or an NPZ file from which `read` makes an equal log."""
        from armtwin.logs.csv_files import put_csv, put_packed_csv
        from armtwin.logs.npz_files import put_npz

        target = Path(path)
        put = {".npz": put_npz, ".gz": put_packed_csv}.get(target.suffix, put_csv)
        write_file(target, partial(put, self))
