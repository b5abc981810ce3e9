"""Logs as CSV files: `time`, then `q1..qn` and other channels; events as lines that start with #."""

from __future__ import annotations

import codecs
import gzip
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from armtwin.errors import ArmtwinError, FileError, shortened
from armtwin.files.opening import LOG, read_bytes, unpacked
from armtwin.logs.columns import Columns
from armtwin.logs.log import CHANNELS, LARGEST, Event, Log, channel_kind
from armtwin.maths.batch import Floats
from armtwin.maths.decimals import Layout, table_of

ALIASES = {
    "dq": "v",
    "ddq": "a",
    "taum": "tau_m",
    "qm": "q_m",
    "qs": "q_link",
    "qref": "q_ref",
    "dqref": "v_ref",
    "ddqref": "a_ref",
}
_EVENT = "# event "
BLOCK = 2000  # lines written at a time
LONGEST_HEADER = 100_000  # bytes
LONGEST_RUN = 1000  # lines looked at for the end of a stretch without numbers
LONGEST_LINE = 1_000_000  # bytes of a line of numbers
_EMPTY = re.compile(rb"(?:[ \t\r\n\f\v]++|(?<![^\n])#[^\n]*+)*+")  # empty lines, and remarks from a line's start on


def write_csv(log: Log, path: Path) -> None:
    """Write a log with all digits, whole or not at all."""
    beside = path.with_name(f".{path.name}.part")
    try:
        with beside.open("wb") as file:
            if path.suffix == ".gz":
                with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
                    packed.writelines(_lines(log))
            else:
                file.writelines(_lines(log))
        beside.replace(path)
    except OSError as error:
        raise ArmtwinError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        beside.unlink(missing_ok=True)


def _lines(log: Log) -> Iterator[bytes]:
    """The file in blocks of lines, so that long logs take no more memory than short ones."""
    names = ["time", *(f"{name}{j + 1}" for name, values in log.channels.items() for j in range(values.shape[1]))]
    yield (",".join(names) + "\n").encode()
    row_of = ",".join(["%r"] * len(names)) + "\n"
    for start in range(0, len(log.time), BLOCK):
        rows = slice(start, start + BLOCK)
        table = np.column_stack([log.time[rows], *(values[rows] for values in log.channels.values())])
        yield "".join([row_of % tuple(row) for row in table.tolist()]).encode()
    for event in log.events:
        yield (_EVENT + json.dumps([float(event.time), event.kind, event.joint, event.text]) + "\n").encode()


@dataclass(frozen=True)
class _Sheet:
    """The text of a log.

    Attributes:
        path: Its file.
        data: What the file holds, unpacked.
        columns: How it is written.
    """

    path: Path
    data: bytes | bytearray
    columns: Columns

    def line(self, at: int) -> int:
        """Number of the line that begins at a place."""
        return self.data.count(b"\n", 0, at) + 1

    def error(self, where: str, sentence: str) -> FileError:
        """An error at a place of the file."""
        return FileError(str(self.path), [f"{where}: {sentence}"])

    def words(self, at: int, end: int) -> list[str]:
        """The values of the line from one place to another."""
        if end - at > LONGEST_LINE:
            raise self.error(f"line {self.line(at)}", f"must have at most {LONGEST_LINE} characters")
        try:
            text = self.data[at:end].decode("utf-8").strip()
        except UnicodeDecodeError:
            raise FileError(str(self.path), ["is not a text file in UTF-8"]) from None
        return text.split(self.columns.separator)

    def lines(self, at: int) -> Iterator[tuple[int, int]]:
        """Where each line that holds values begins and ends, from a place on."""
        while at < len(self.data):
            at = _EMPTY.match(self.data, at).end()  # type: ignore[union-attr]
            end = self.data.find(b"\n", at)
            end = len(self.data) if end < 0 else end
            if self.data[at:end].strip():
                yield at, end
            at = end + 1


def read_csv(path: Path, columns: Columns) -> Log:
    """Read a log; a file that is no log is refused with the line."""
    data = unpacked(path, LOG) if path.suffix == ".gz" else read_bytes(path, LOG)
    sheet = _Sheet(path, data.removeprefix(codecs.BOM_UTF8), columns)
    start, after = _head(sheet)
    words = [word.strip().strip('"') for word in sheet.words(start, after)]
    header = _header(sheet, start, after, words)
    places = _places(path, header)
    table = _table(sheet, after + 1, header, [header.index("time"), *(k for row in places.values() for k in row)])
    time = table[:, 0] * columns.factor("time")
    _check_time(sheet, after + 1, time)
    channels, done = {}, 1
    try:
        for name, row in places.items():
            channels[name] = columns.to_si(name, table[:, done : done + len(row)])
            done += len(row)
        return Log.of(time, _events(sheet), **channels)
    except FileError:
        raise
    except ArmtwinError as error:
        raise FileError(str(path), [str(error)]) from None


def _head(sheet: _Sheet) -> tuple[int, int]:
    """Where the header line begins and ends."""
    lines = sheet.lines(0)
    start, after = next(lines, (0, 0))
    if next(lines, None) is None:
        raise FileError(str(sheet.path), ["a log needs a header line and at least one line of numbers"])
    if after - start > LONGEST_HEADER:
        raise sheet.error(f"line {sheet.line(start)}", f"a header must have at most {LONGEST_HEADER} characters")
    return start, after


def _header(sheet: _Sheet, start: int, after: int, words: list[str]) -> list[str]:
    """The header in the names of channels."""
    where, columns = f"line {sheet.line(start)}", sheet.columns
    if not _holds_numbers(sheet, after + 1):
        raise sheet.error(where, f"a log needs a column '{columns.time}' and lines of numbers; the file has neither")
    try:
        header = columns.canonical(words)
    except ArmtwinError as error:
        raise sheet.error(where, str(error)) from None
    if "time" not in header:
        hint = _hint(sheet.data[start:after].decode("utf-8"), columns.separator)
        got = shortened(", ".join(words[:8]), 80)
        raise sheet.error(where, f"a log needs a column '{columns.time}', got {got}{hint}")
    return header


def _holds_numbers(sheet: _Sheet, after: int) -> bool:
    """Whether the first line after the header has any number; what is no table is not repeated in an error."""
    at, end = next(sheet.lines(after))
    words = re.split(rb"[;,\s]+", bytes(sheet.data[at : min(end, at + LONGEST_HEADER)]))
    return any(re.fullmatch(rb"[-+]?[0-9.]*[0-9](?:[eE][-+]?[0-9]+)?|[-+]?nan|[-+]?inf", word, re.I) for word in words)


def _table(sheet: _Sheet, after: int, header: list[str], wanted: list[int]) -> Floats:
    """The wanted columns of all lines after the header, (m, columns); what is no number is refused with its line."""
    columns = sheet.columns
    places = np.full(len(header), -1, dtype=np.int64)
    places[wanted] = np.arange(len(wanted))
    layout = Layout((columns.separator or "").encode(), columns.decimal.encode(), places)
    table = table_of(sheet.data, layout, _Otherwise(sheet, header, wanted), after)
    if not len(table):
        raise FileError(str(sheet.path), ["a log needs a header line and at least one line of numbers"])
    large = np.abs(table) > LARGEST
    if large.any():
        row, k = (int(x) for x in np.argwhere(large)[0])
        told = f"value {wanted[k] + 1} ({header[wanted[k]]}) must be at most {LARGEST:g}, got {table[row, k]:g}"
        raise sheet.error(_where(sheet, after, row), told)
    return table


@dataclass(frozen=True)
class _Otherwise:
    """Reads a line that is no row of plain numbers, word by word."""

    sheet: _Sheet
    header: list[str]
    wanted: list[int]

    def __call__(self, at: int, end: int) -> list[float] | None:
        if self.sheet.data.startswith(b"#", at) or not self.sheet.data[at:end].strip():
            return None
        words, width = self.sheet.words(at, end), len(self.header)
        if len(words) != width:
            where = f"line {self.sheet.line(at)}"
            raise self.sheet.error(where, f"must have {width} values as the header, got {len(words)}")
        numbers = [self.number(words[k]) for k in self.wanted]
        wrong = next((k for k, x in zip(self.wanted, numbers, strict=True) if not math.isfinite(x)), None)
        if wrong is not None:
            raise self.refusal(at, words[wrong], wrong)
        return numbers

    def number(self, word: str) -> float:
        """The number that a word stands for; NaN for any other word."""
        try:
            return float(word.replace(",", ".") if self.sheet.columns.decimal == "," else word)
        except ValueError:
            return math.nan

    def refusal(self, at: int, word: str, column: int) -> FileError:
        """The error for a word that is no number, with the lines after it where that goes on."""
        comma = re.fullmatch(r"-?[0-9]+,[0-9]+", word.strip()) is not None
        hint = '; say decimal = "," in a columns file' if comma else ""
        first = self.sheet.line(at)
        last = first
        for begin, end in islice(self.sheet.lines(at), LONGEST_RUN):
            words = self.sheet.words(begin, end)
            if column < len(words) and math.isfinite(self.number(words[column])):
                break
            last = self.sheet.line(begin)
        where = f"line {first}" if last == first else f"lines {first} to {last}"
        got = f"must be a finite number, got '{shortened(word.strip(), 40)}'{hint}"
        return self.sheet.error(where, f"value {column + 1} ({self.header[column]}) {got}")


def _where(sheet: _Sheet, after: int, row: int) -> str:
    """The line of a row of the table."""
    at, _ = next(islice(sheet.lines(after), row, None))
    return f"line {sheet.line(at)}"


def _check_time(sheet: _Sheet, after: int, time: Floats) -> None:
    """Refuse time that does not increase, with the line."""
    late = np.diff(time) <= 0
    if late.any():
        at = int(np.argmax(late)) + 1
        told = f"{time[at]} after {time[at - 1]}" if time[at] < time[at - 1] else f"{time[at]} twice: a doubled sample?"
        raise sheet.error(_where(sheet, after, at), f"time must increase, got {told}")


def _events(sheet: _Sheet) -> tuple[Event, ...]:
    """Events from the lines that hold one."""
    mark, found, at = _EVENT.encode(), [], 0
    while (at := sheet.data.find(mark, at)) >= 0:
        end = sheet.data.find(b"\n", at)
        end = len(sheet.data) if end < 0 else end
        if at == 0 or sheet.data[at - 1] == ord("\n"):
            found.append(_event(sheet, at, sheet.data[at + len(mark) : end]))
        at = end
    return tuple(found)


def _hint(line: str, separator: str | None) -> str:
    """What else may separate the values of a line."""
    for sign, name in ((";", ";"), ("\t", "tab")):
        if separator != sign and line.count(sign) > 0:
            return f'; are values separated by {name}? Say delimiter = "{name}" in a columns file'
    return ""


def _event(sheet: _Sheet, at: int, told: bytes | bytearray) -> Event:
    """An event from its line."""
    try:
        return Event.of(json.loads(told.decode("utf-8", errors="replace")))
    except (ValueError, RecursionError):
        sentence = "an event must be a list of time, kind, joint and text"
        raise sheet.error(f"line {sheet.line(at)}", sentence) from None


def _places(path: Path, header: list[str]) -> dict[str, list[int]]:
    """For each channel the columns of its joints, which are numbered from 1 without a gap."""
    found: dict[str, dict[int, int]] = {}
    for column, word in enumerate(header):
        match = re.fullmatch(r"([A-Za-z_]+?)_?([0-9]{1,3})", word)
        name = "" if match is None else ALIASES.get(match[1], match[1])
        if match is None or channel_kind(name) is None:
            continue
        places, joint = found.setdefault(name, {}), int(match[2])
        if joint in places:
            raise FileError(str(path), [f"columns '{header[places[joint]]}' and '{word}' mean the same"])
        places[joint] = column
    for name, places in found.items():
        joints = sorted(places)
        if joints != list(range(1, len(joints) + 1)):
            got = shortened(str(joints), 80)
            raise FileError(str(path), [f"columns of '{name}' must be numbered 1, 2, .. without a gap, got {got}"])
    if not found:
        raise FileError(str(path), [f"no column is a known channel; known: {', '.join(CHANNELS)}, numbered from 1"])
    return {name: [places[joint] for joint in sorted(places)] for name, places in found.items()}
