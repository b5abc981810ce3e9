"""Logs as CSV files: `time`, then `q1..qn` and other channels; events as lines that start with #."""

from __future__ import annotations

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from armtwin.errors import ArmtwinError, FileError
from armtwin.logs.columns import Columns
from armtwin.logs.log import CHANNELS, Event, Log, channel_kind
from armtwin.maths.batch import Floats
from armtwin.maths.decimals import table_of

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


def put_csv(log: Log, file: BinaryIO) -> None:
    """Write a log with all digits into an open file."""
    file.writelines(_lines(log))


def put_packed_csv(log: Log, file: BinaryIO) -> None:
    """Write a log with all digits into an open file, packed by gzip."""
    with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
        put_csv(log, packed)  # type: ignore[arg-type]


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


def _content(path: Path) -> bytes:
    """What the file holds, unpacked."""
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise ArmtwinError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (EOFError, zlib.error):
        raise FileError(str(path), ["the gzip file is cut off or damaged"]) from None


def _numbered(path: Path, data: bytes) -> list[tuple[int, str]]:
    """The lines that hold header and numbers, with their numbers in the file."""
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise FileError(str(path), ["is not a text file in UTF-8"]) from None
    numbered = [(i, line.removesuffix("\r")) for i, line in enumerate(lines, 1)]
    found = [(i, line) for i, line in numbered if line.strip() and not line.startswith("#")]
    if len(found) < 2:
        raise FileError(str(path), ["a log needs a header line and at least one line of numbers"])
    return found


def read_csv(path: Path, columns: Columns) -> Log:
    """Read a log; a file that is no log is refused with the line."""
    data = _content(path)
    line, words, after = _head(path, data, columns)
    try:
        header = columns.canonical(words)
    except ArmtwinError as error:
        raise FileError(str(path), [f"line {line}: {error}"]) from None
    if "time" not in header:
        hint = _hint(_numbered(path, data)[0][1], columns.separator)
        got = f"got {', '.join(words[:8])}{hint}"
        raise FileError(str(path), [f"line {line}: a log needs a column '{columns.time}', {got}"])
    table = _table(path, data, after, header, columns)
    time = table[:, header.index("time")] * columns.factor("time")
    steps = np.diff(time)
    if (steps <= 0).any():
        at = int(np.argmax(steps <= 0)) + 1
        where = f"line {_numbered(path, data)[1 + at][0]}"
        told = f"{time[at]} after {time[at - 1]}" if time[at] < time[at - 1] else f"{time[at]} twice: a doubled sample?"
        raise FileError(str(path), [f"{where}: time must increase, got {told}"])
    try:
        channels = {name: columns.to_si(name, values) for name, values in _channels(path, header, table).items()}
    except ArmtwinError as error:
        raise error if isinstance(error, FileError) else FileError(str(path), [str(error)]) from None
    return Log.of(time, _events(path, data), **channels)


def _head(path: Path, data: bytes, columns: Columns) -> tuple[int, list[str], int]:
    """Number and words of the header line, and where the lines after it begin."""
    at, number = 0, 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        line, number = data[at:end], number + 1
        at = end + 1
        if line.strip() and not line.startswith(b"#"):
            try:
                text = line.decode("utf-8").removesuffix("\r")
            except UnicodeDecodeError:
                break
            return number, [word.strip().strip('"') for word in text.split(columns.separator)], at
    _numbered(path, data)
    raise FileError(str(path), ["is not a text file in UTF-8"])


def _table(path: Path, data: bytes, after: int, header: list[str], columns: Columns) -> Floats:
    """The numbers of all lines after the header, (m, width); what is no number is refused with its line."""
    separator = columns.separator
    if separator is not None:
        table = table_of(data[after:], len(header), separator.encode(), columns.decimal.encode())
        if table is not None and len(table):
            return table
    return _numbers(path, _numbered(path, data)[1:], header, columns)


def _events(path: Path, data: bytes) -> tuple[Event, ...]:
    """Events from the lines that hold one."""
    if _EVENT.encode() not in data:
        return ()
    lines = data.decode("utf-8", errors="replace").split("\n")
    return tuple(_event(path, i, x.removesuffix("\r")) for i, x in enumerate(lines, 1) if x.startswith(_EVENT))


def _hint(line: str, separator: str | None) -> str:
    """What else may separate the values of a line."""
    for sign, name in ((";", ";"), ("\t", "tab")):
        if separator != sign and line.count(sign) > 0:
            return f'; are values separated by {name}? Say delimiter = "{name}" in a columns file'
    return ""


def _event(path: Path, i: int, line: str) -> Event:
    """An event from its line."""
    try:
        time, kind, joint, text = json.loads(line[len(_EVENT) :])
        if isinstance(time, float | int) and all(isinstance(x, str) for x in (kind, joint, text)):
            return Event(float(time), kind, joint, text)
    except (ValueError, TypeError, RecursionError):
        pass
    raise FileError(str(path), [f"line {i}: an event must be a list of time, kind, joint and text, got '{line[:60]}'"])


def _numbers(path: Path, numbered: list[tuple[int, str]], header: list[str], columns: Columns) -> Floats:
    """The numbers of all lines, (m, width), word by word."""
    separator, width = columns.separator, len(header)
    if columns.decimal == ",":
        numbered = [(i, line.replace(",", ".")) for i, line in numbered]
    rows = [line.split(separator) for _, line in numbered]
    try:
        table = np.array(rows, dtype=np.float64)
        if table.shape[1] == width and np.isfinite(table).all():
            return table
    except ValueError:
        pass
    for (i, _), words in zip(numbered, rows, strict=True):
        if len(words) != width:
            raise FileError(str(path), [f"line {i}: must have {width} values as the header, got {len(words)}"])
        k = next((k for k, word in enumerate(words) if not _finite(word)), None)
        if k is not None:
            comma = re.fullmatch(r"\s*-?\d+,\d+\s*", words[k]) is not None
            hint = '; say decimal = "," in a columns file' if comma else ""
            where = _run(numbered, rows, i, k)
            told = f"{where}: value {k + 1} ({header[k]}) must be a finite number, got '{words[k].strip()}'{hint}"
            raise FileError(str(path), [told])
    raise FileError(str(path), ["could not be read as numbers"])


def _finite(word: str) -> bool:
    try:
        return bool(np.isfinite(float(word)))
    except ValueError:
        return False


def _run(numbered: list[tuple[int, str]], rows: list[list[str]], line: int, column: int) -> str:
    """The lines from one on in which a value is no number, in words."""
    last = line
    for (i, _), words in zip(numbered, rows, strict=True):
        if i > line:
            if column < len(words) and _finite(words[column]):
                break
            last = i
    return f"line {line}" if last == line else f"lines {line} to {last}"


def _channels(path: Path, header: list[str], table: Floats) -> dict[str, Floats]:
    """Columns gathered into channels; joints are numbered from 1 without a gap."""
    found: dict[str, dict[int, int]] = {}
    for column, word in enumerate(header):
        match = re.fullmatch(r"([A-Za-z_]+?)_?(\d{1,3})", word)
        if match is None:
            continue
        name = ALIASES.get(match[1], match[1])
        if channel_kind(name) is not None:
            places, joint = found.setdefault(name, {}), int(match[2])
            if joint in places:
                raise FileError(str(path), [f"columns '{header[places[joint]]}' and '{word}' mean the same"])
            places[joint] = column
    channels = {}
    for name, places in found.items():
        joints = sorted(places)
        if joints != list(range(1, len(joints) + 1)):
            raise FileError(str(path), [f"columns of '{name}' must be numbered 1, 2, .. without a gap, got {joints}"])
        channels[name] = np.ascontiguousarray(table[:, [places[j] for j in joints]])
    if not channels:
        raise FileError(str(path), [f"no column is a known channel; known: {', '.join(CHANNELS)}, numbered from 1"])
    return channels
