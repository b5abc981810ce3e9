"""The columns file: how a machine's headers, units, signs and decimal commas become the channels of a Log.

    q = sign · angle + offset      and v, a, tau of that joint take the sign

It stands beside the log, as run.columns.toml for run.csv, or as columns.toml for a whole folder.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from armtwin.errors import ArmtwinError, FileError, did_you_mean
from armtwin.files.fields import Flag
from armtwin.files.kinds import check_tables
from armtwin.files.opening import COLUMNS
from armtwin.files.reading import checked_format, read_tables
from armtwin.files.schema import Schema
from armtwin.logs.log import CHANNELS, TORQUES, channel_kind
from armtwin.maths.batch import Floats
from armtwin.maths.quantities import Number
from armtwin.maths.units import parse_quantity
from armtwin.robot.groups import TurnCoordinate

ANGLES = ("q", "q_ref", "q_link")
TURNED = (
    *ANGLES,
    "v",
    "a",
    "tau",
    "v_ref",
    "a_ref",
    "tau_friction",
)  # channels that take a joint's sign
COLUMNS_FORMAT = 1
_UNITS = {
    name: text.partition("[")[2].rstrip("]").replace("²", "^2") for name, text in CHANNELS.items()
}
_UNITS["time"] = "s"


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
        columns: For each channel its headers, one for each joint, or one text with {} for the number of the joint.
        unit: Unit of a channel, or of time, where it is not SI.
        sign: For each joint +1, or -1 where the machine counts the other way.
        torque_sign: For each joint or motor +1, or -1 where its torque or current alone is counted the other way.
        offset: For each joint the angle at the machine's zero [rad].
        unwrap: Whether angles that jump by whole turns are joined.
    """

    time: str = "time"
    delimiter: Literal[",", ";", "tab", "space"] = ","
    decimal: Literal[".", ","] = "."
    columns: dict[str, tuple[str, ...] | str] = field(default_factory=dict)
    unit: dict[str, str] = field(default_factory=dict)
    sign: tuple[Number, ...] | None = None
    torque_sign: tuple[Number, ...] | None = None
    offset: tuple[TurnCoordinate, ...] | None = None
    unwrap: Flag = False

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if self.delimiter == self.decimal == ",":
            return 'decimal "," needs another delimiter than ","'
        for key, table in (("columns", self.columns), ("unit", self.unit)):
            known = [*CHANNELS, "time"] if key == "unit" else list(CHANNELS)
            wrong = next((name for name in table if _kind(name) not in known), None)
            if wrong is not None:
                return f"{key}.{wrong} is no channel. {did_you_mean(wrong, known)}"
        for channel, unit in self.unit.items():
            try:
                self.factor(channel)
            except ArmtwinError as error:
                return f"unit.{channel} {error}"
            if unit in ("degC", "°C") and channel != "temperature":
                return f"unit.{channel} must be in {_UNITS[_kind(channel)]}, got '{unit}'"
        for key, signs in (("sign", self.sign), ("torque_sign", self.torque_sign)):
            if signs is not None and any(x not in (1.0, -1.0) for x in signs):
                return f"{key} must be 1 or -1 for each joint, got {list(signs)}"
        return ""

    def factor(self, channel: str) -> float:
        """What a logged number is multiplied by to be SI."""
        unit = self.unit.get(channel, self.unit.get(_kind(channel)))
        if unit is None or unit in ("degC", "°C"):
            return 1.0
        return parse_quantity(f"1 {unit}", _UNITS[_kind(channel)])

    @property
    def separator(self) -> str | None:
        """The text between two values; None for any white space."""
        return {"tab": "\t", "space": None}.get(self.delimiter, self.delimiter)

    def canonical(self, header: list[str]) -> list[str]:
        """The header with the machine's names replaced by those of channels."""
        names = {self.time: "time"}
        for channel, given in self.columns.items():
            if isinstance(given, str):
                names |= {given.replace("{}", str(j)): f"{channel}{j}" for j in range(1, 100)}
            else:
                names |= {word: f"{channel}{j}" for j, word in enumerate(given, 1)}
        missing = [
            w
            for given in self.columns.values()
            if not isinstance(given, str)
            for w in given
            if w not in header
        ]
        if self.time not in header and self.time != "time":
            missing.append(self.time)
        if missing:
            told = ", ".join(header)[:120]
            raise ArmtwinError(
                f"column '{missing[0]}' of the columns file is not in the header: {told}"
            )
        return [names.get(word, word) for word in header]

    def to_si(self, channel: str, values: Floats) -> Floats:
        """A channel in SI, with the signs and zeros of the joints."""
        values = values * self.factor(channel)
        if self.unit.get(channel) in ("degC", "°C"):
            values = values + 273.15
        if _kind(channel) in TURNED and self.sign is not None:
            values = values * self._each("sign", self.sign, values)
        if _kind(channel) in TORQUES and self.torque_sign is not None:
            values = values * self._each("torque_sign", self.torque_sign, values)
        if channel in ANGLES and self.offset is not None:
            values = values + self._each("offset", self.offset, values)
        if channel in ANGLES and self.unwrap:
            values = np.unwrap(values, axis=0)
        return values

    def _each(self, key: str, numbers: tuple[float, ...], values: Floats) -> Floats:
        if len(numbers) < values.shape[1]:
            raise ArmtwinError(
                f"{key} of the columns file must have {values.shape[1]} numbers, got {len(numbers)}"
            )
        return np.array(numbers[: values.shape[1]])


def columns_beside(path: Path) -> list[Path]:
    """Where the columns file of a log may stand, the first that is there counts."""
    stem = path.name.removesuffix(".gz").rpartition(".")[0]
    return [path.parent / f"{stem}.columns.toml", path.parent / "columns.toml"]


def columns_for(path: Path, given: Path | None) -> Columns:
    """The columns file of a log: the one given, the one beside it, or none."""
    beside = next((p for p in columns_beside(path) if os.path.isfile(p)), None)
    found = beside if given is None else given
    if found is None:
        return Columns()
    tables = read_tables(found, COLUMNS)
    check_tables(tables, "columns file", str(found))
    tables = checked_format(tables, str(found), COLUMNS_FORMAT)
    columns: Columns = Schema(Columns, "columns file").read(tables, str(found))
    if columns.problem():
        raise FileError(str(found), [columns.problem()])
    return columns
