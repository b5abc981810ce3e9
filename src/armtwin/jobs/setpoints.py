"""Set-points of an experiment: ramps, steps, a triangle, a sine, noise, or a column of a log.

Every kind gives its value and rate of change at given times; levels are read in the unit of what
they drive, an angle, a length or a torque.
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.comma_table import comma_table
from armtwin.files.fields import Read
from armtwin.files.opening import SETPOINTS, read_text
from armtwin.jobs.uncertainty import Whole
from armtwin.logs.channels import CHANNELS
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, TwoArrays, Values
from armtwin.maths.quantities import Frequency, Positive, Time
from armtwin.maths.units import Unit
from armtwin.robot.schema.groups import TurnCoordinate

Duration = Annotated[float, Unit("s", above=0)]


def _level(value: object) -> float | str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ArmtwinError(f"must be a number in SI or a quantity as text, got {value!r:.60}")
    return value


Level = Annotated[float | str, Read(_level)]


@dataclass(frozen=True)
class Drive:
    """What a set-point drives, and where files that it names lie.

    Attributes:
        unit: Unit of its levels.
        folder: Folder of the experiment's file.
    """

    unit: str
    folder: Path

    def read(self, level: float | str) -> float:
        """A level in SI."""
        return Unit(self.unit).read(level)


@dataclass(frozen=True)
class Ramps:
    """Straight from point to point; before the first and after the last it holds.

    Attributes:
        on: What it drives.
        times: Times of the points, rising [s].
        values: Levels at these times.
    """

    on: str
    times: tuple[Time, ...]
    values: tuple[Level, ...]
    kind: Literal["ramps"] = "ramps"

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        return _points_problem(self.times, self.values)

    def samples(self, time: Floats, drive: Drive) -> TwoArrays:
        """Values and rates at times (m,)."""
        levels = np.array([drive.read(value) for value in self.values])
        value = np.interp(time, self.times, levels)
        slopes = np.concatenate([[0.0], np.diff(levels) / np.diff(self.times), [0.0]])
        return value, slopes[np.searchsorted(self.times, time, side="right")]


@dataclass(frozen=True)
class Steps:
    """Levels that hold from their time on; the first holds before it too.

    Attributes:
        on: What it drives.
        times: Times of the steps, rising [s].
        values: Levels from these times on.
    """

    on: str
    times: tuple[Time, ...]
    values: tuple[Level, ...]
    kind: Literal["steps"] = "steps"

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        return _points_problem(self.times, self.values)

    def samples(self, time: Floats, drive: Drive) -> TwoArrays:
        """Values and rates at times (m,); a step has no rate."""
        levels = np.array([drive.read(value) for value in self.values])
        place = np.searchsorted(self.times, time + 1e-9, side="right") - 1
        return levels[np.maximum(place, 0)], np.zeros_like(time)


@dataclass(frozen=True)
class TriangleWave:
    """Up and down around a centre, beginning at it upwards.

    Attributes:
        on: What it drives.
        amplitude: Height above the centre.
        period: Time of one cycle [s].
        centre: Level around which it goes.
        start: When it begins [s].
        cycles: How many cycles; without it to the end.
    """

    on: str
    amplitude: Level
    period: Duration
    centre: Level = 0.0
    start: Time = 0.0
    cycles: Positive | None = None
    kind: Literal["triangle"] = "triangle"

    def samples(self, time: Floats, drive: Drive) -> TwoArrays:
        """Values and rates at times (m,)."""
        height, centre = drive.read(self.amplitude), drive.read(self.centre)
        turns = (time - self.start) / self.period
        active = turns >= 0
        if self.cycles is not None:
            active &= turns < self.cycles
        share = np.mod(turns + 0.25, 1.0)
        shape = 1 - 4 * np.abs(share - 0.5)
        slope = np.where(share < 0.5, 4.0, -4.0) / self.period
        return centre + height * shape * active, height * slope * active


@dataclass(frozen=True)
class SineWave:
    """A sine around a centre; two of them a quarter of a turn apart are a circle.

    It begins slowly: its phase rises to the full speed within the first period.

    Attributes:
        on: What it drives.
        amplitude: Height above the centre.
        period: Time of one cycle [s].
        phase: Phase at the start [rad].
        centre: Level around which it goes.
        start: When it begins [s].
    """

    on: str
    amplitude: Level
    period: Duration
    phase: TurnCoordinate = 0.0
    centre: Level = 0.0
    start: Time = 0.0
    kind: Literal["sine"] = "sine"

    def samples(self, time: Floats, drive: Drive) -> TwoArrays:
        """Values and rates at times (m,)."""
        height, centre = drive.read(self.amplitude), drive.read(self.centre)
        share = np.maximum((time - self.start) / self.period, 0.0)
        speed = np.minimum(share, 1.0)
        turns = np.where(share < 1, 0.5 * share**2, share - 0.5)
        angle = self.phase + 2 * np.pi * turns
        rate = 2 * np.pi * speed / self.period
        return centre + height * np.sin(angle), height * rate * np.cos(angle)


@dataclass(frozen=True)
class Noise:
    """Gaussian noise in a band of frequencies.

    Attributes:
        on: What it drives.
        rms: Its root mean square.
        highest: Highest frequency [Hz].
        lowest: Lowest frequency [Hz].
        centre: Level around which it goes.
        seed: Seed of the random numbers.
    """

    on: str
    rms: Level
    highest: Frequency
    lowest: Frequency | None = None
    centre: Level = 0.0
    seed: Whole = 1
    kind: Literal["noise"] = "noise"

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if self.lowest is not None and self.lowest >= self.highest:
            return f"lowest must be below highest, got {self.lowest:g} and {self.highest:g} Hz"
        return ""

    def samples(self, time: Floats, drive: Drive) -> TwoArrays:
        """Values and rates at times (m,), which must be even."""
        step = float(time[1] - time[0])
        random = np.random.default_rng(int(self.seed)).standard_normal(len(time))
        frequency = np.fft.rfftfreq(len(time), step)
        inside = (frequency <= self.highest) & (frequency >= (self.lowest or 0.0))
        spectrum = np.fft.rfft(random) * inside
        spectrum[0] = 0.0
        wave = np.fft.irfft(spectrum, len(time))
        power = float(np.sqrt(np.mean(wave**2)))
        if power == 0:
            raise ArmtwinError(
                f"noise up to {self.highest:g} Hz needs a run longer than a period of it, got "
                f"{time[-1] - time[0]:g} s"
            )
        value = drive.read(self.centre) + drive.read(self.rms) / power * wave
        return value, np.gradient(value, step)


@dataclass(frozen=True)
class FromFile:
    """A column of a log or a table, linear between its samples; before and after them it holds.

    Attributes:
        on: What it drives.
        file: The log, or a table (.csv) with a column time, beside the experiment's file.
        column: Its column: of a log as tau_m1; of a table any, in SI.
    """

    on: str
    file: str
    column: str
    kind: Literal["file"] = "file"

    def log_column(self, drive: Drive) -> TwoArrays:
        """Times and values of the column."""
        channel = self.column.rstrip("0123456789")
        if channel not in CHANNELS:
            return self._table_column(drive)
        log = Log.read(drive.folder / self.file)
        number = self.column[len(channel) :]
        if channel not in log or not number or int(number) < 1:
            held = ", ".join(f"{name}1" for name in log.channels)
            raise ArmtwinError(f"{self.file}: has no column '{self.column}'. It has: {held} ...")
        values = log.channels[channel]
        if int(number) > values.shape[1]:
            raise ArmtwinError(
                f"{self.file}: {channel} has {values.shape[1]} columns, not {number}"
            )
        return log.time, values[:, int(number) - 1]

    def _table_column(self, drive: Drive) -> TwoArrays:
        """Times and values of a column that no log has."""
        text = read_text(drive.folder / self.file, SETPOINTS)
        rows = comma_table(text, "a row for each time", self.file)
        columns = []
        for name, unit in (("time", "s"), (self.column, drive.unit)):
            if name not in rows[0]:
                held = ", ".join(rows[0])
                raise ArmtwinError(f"{self.file}: has no column '{name}'. It has: {held}.")
            columns.append(np.array([Unit(unit).read(row.get(name, "")) for row in rows]))
        time, values = columns
        if not np.all(np.diff(time) > 0):
            raise ArmtwinError(f"{self.file}: time must rise from row to row")
        return time, values

    def samples(self, time: Floats, drive: Drive) -> TwoArrays:
        """Values and rates at times (m,)."""
        logged, values = self.log_column(drive)
        value = np.interp(time, logged - logged[0], values)
        return value, np.gradient(value, time)


Setpoint = Ramps | Steps | TriangleWave | SineWave | Noise | FromFile


def _points_problem(times: Values, values: tuple[Any, ...]) -> str:
    if not times or len(times) != len(values):
        return f"needs as many times as values, got {len(times)} and {len(values)}"
    if any(b <= a for a, b in pairwise(times)):
        return f"times must rise, got {list(times)}"
    return ""
