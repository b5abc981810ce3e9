"""The columns file: how a machine's headers, units, signs and commas become channels of a Log.

    q = sign · angle + offset      and v, a, tau of that joint take the sign

It stands beside the log, as run.columns.toml for run.csv, or as columns.toml for a whole folder.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from armtwin.errors import ArmtwinError, FileError, did_you_mean
from armtwin.files.fields import Flag
from armtwin.files.kinds import check_tables
from armtwin.files.opening import COLUMNS
from armtwin.files.reading import check_format, read_tables
from armtwin.files.schema import Schema
from armtwin.logs.channels import CHANNELS, TORQUES, channel_kind, channel_unit
from armtwin.maths.batch import Floats, NamedTexts, Names, Values
from armtwin.maths.quantities import Number
from armtwin.maths.units import CELSIUS, parse_quantity
from armtwin.robot.schema.groups import TurnCoordinate

ANGLES = ("q", "q_ref", "q_link")
# channels that take a joint's sign
TURNED = (*ANGLES, "v", "a", "tau", "tau_ff", "v_ref", "a_ref", "tau_friction")
COLUMNS_FORMAT = 1
Delimiter = Literal[",", ";", "tab", "space"]
MOST_JOINTS = 99  # that a text with {} numbers
ZERO_CELSIUS = 273.15  # [K]


def _kind(channel: str) -> str:
    """The channel whose unit and sign a name takes."""
    return channel_kind(channel) or channel


@dataclass(frozen=True)
class Columns:
    """A columns file.

    Attributes:
        time: Header of the time column.
        delimiter: What separates values: ",", ";", "tab" or "space".
        decimal: "." or ",".
        columns: For each channel its headers, one for each joint, or one text with {} for the
            number of the joint.
        unit: Unit of a channel, or of time, where it is not SI.
        sign: For each joint +1, or -1 where the machine counts the other way.
        torque_sign: For each joint or motor +1, or -1 where its torque or current alone is
            counted the other way.
        offset: For each joint the angle at the machine's zero [rad].
        unwrap: Whether angles that jump by whole turns are joined.
    """

    time: str = "time"
    delimiter: Delimiter = ","
    decimal: Literal[".", ","] = "."
    columns: dict[str, Names | str] = field(default_factory=dict)
    unit: NamedTexts = field(default_factory=dict)
    sign: tuple[Number, ...] | None = None
    torque_sign: tuple[Number, ...] | None = None
    offset: tuple[TurnCoordinate, ...] | None = None
    unwrap: Flag = False

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if self.delimiter == self.decimal == ",":
            return 'decimal "," needs another delimiter than ","'
        return (
            _unknown_channel("columns", self.columns, list(CHANNELS))
            or _unknown_channel("unit", self.unit, [*CHANNELS, "time"])
            or self._wrong_unit()
            or _wrong_sign("sign", self.sign)
            or _wrong_sign("torque_sign", self.torque_sign)
        )

    def _wrong_unit(self) -> str:
        for channel, unit in self.unit.items():
            try:
                self.factor(channel)
            except ArmtwinError as error:
                return f"unit.{channel} {error}"
            if unit in CELSIUS and channel != "temperature":
                return f"unit.{channel} must be in {channel_unit(channel)}, got '{unit}'"
        return ""

    def factor(self, channel: str) -> float:
        """What a logged number is multiplied by to be SI."""
        unit = self.unit.get(channel, self.unit.get(_kind(channel)))
        if unit is None or unit in CELSIUS:
            return 1.0
        return parse_quantity(f"1 {unit}", channel_unit(channel))

    @property
    def separator(self) -> str | None:
        """The text between two values; None for any white space."""
        return {"tab": "\t", "space": None}.get(self.delimiter, self.delimiter)

    def canonical(self, header: list[str]) -> list[str]:
        """The header with the machine's names replaced by those of channels."""
        self._check_header(header)
        names = {self.time: "time"}
        for channel, given in self.columns.items():
            words = given
            if isinstance(given, str):
                words = tuple(given.replace("{}", str(j)) for j in range(1, MOST_JOINTS + 1))
            for j, word in enumerate(words, 1):
                names[word] = f"{channel}{j}"
        return [names.get(word, word) for word in header]

    def _check_header(self, header: list[str]) -> None:
        """Refuse a header that lacks a column which is named one by one."""
        wanted: list[str] = []
        for given in self.columns.values():
            if not isinstance(given, str):
                wanted += given
        if self.time != "time":
            wanted.append(self.time)
        for word in wanted:
            if word not in header:
                held = ", ".join(header)[:120]
                raise ArmtwinError(
                    f"column '{word}' of the columns file is not in the header: {held}"
                )

    def to_si(self, channel: str, values: Floats) -> Floats:
        """A channel in SI, with the signs and zeros of the joints."""
        values = values * self.factor(channel)
        if self.unit.get(channel) in CELSIUS:
            values = values + ZERO_CELSIUS
        if _kind(channel) in TURNED and self.sign is not None:
            values = values * self._each("sign", self.sign, values)
        if _kind(channel) in TORQUES and self.torque_sign is not None:
            values = values * self._each("torque_sign", self.torque_sign, values)
        if channel in ANGLES and self.offset is not None:
            values = values + self._each("offset", self.offset, values)
        if channel in ANGLES and self.unwrap:
            values = np.unwrap(values, axis=0)
        return values

    def _each(self, key: str, numbers: Values, values: Floats) -> Floats:
        """One number for each column of values, (n,)."""
        count = values.shape[1]
        if len(numbers) < count:
            raise ArmtwinError(
                f"{key} of the columns file must have {count} numbers, got {len(numbers)}"
            )
        return np.array(numbers[:count])


def _unknown_channel(key: str, table: Iterable[str], known: list[str]) -> str:
    for name in table:
        if _kind(name) not in known:
            return f"{key}.{name} is no channel. {did_you_mean(name, known)}"
    return ""


def _wrong_sign(key: str, signs: Values | None) -> str:
    if signs is None or set(signs) <= {1.0, -1.0}:
        return ""
    return f"{key} must be 1 or -1 for each joint, got {list(signs)}"


def columns_beside(path: Path) -> list[Path]:
    """Where the columns file of a log may be, the first that is there counts."""
    stem = path.name.removesuffix(".gz").rpartition(".")[0]
    return [path.parent / f"{stem}.columns.toml", path.parent / "columns.toml"]


def columns_for(path: Path, given: Path | None) -> Columns:
    """The columns file of a log: the one given, the one beside it, or none."""
    found = given
    if given is None:
        found = next((p for p in columns_beside(path) if os.path.isfile(p)), None)
    if found is None:
        return Columns()
    tables = read_tables(found, COLUMNS)
    check_tables(tables, "columns file", str(found))
    tables = check_format(tables, str(found), COLUMNS_FORMAT)
    columns: Columns = Schema(Columns, "columns file").read(tables, str(found))
    if columns.problem():
        raise FileError(found, columns.problem())
    return columns
