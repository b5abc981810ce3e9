"""Logs from CSV files: what is a channel is read, what is not may hold anything.

Plain lines of numbers are read all at once; any other line by itself, so that an error has its
line.
"""

import codecs
import json
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice, takewhile
from pathlib import Path

import numpy as np

from armtwin.errors import ArmtwinError, FileError, shorten
from armtwin.files.opening import BAG, LOG, open_plain_file, read_bytes, unpack_gzip
from armtwin.logs.channels import ALIASES, CHANNELS, LARGEST, channel_kind, is_time
from armtwin.logs.columns import Columns, Delimiter
from armtwin.logs.csv_files import EVENT, JOINTS
from armtwin.logs.formats.signals import convert, convert_unit
from armtwin.logs.recording import Event, Recording, find_repeats, repeats_remark
from armtwin.maths.batch import Floats, Names
from armtwin.maths.decimals import DecimalLayout, table_of

LONGEST_HEADER = 100_000  # bytes
LONGEST_RUN = 1000  # lines looked at for the end of a stretch without numbers
LONGEST_LINE = 1_000_000  # bytes of a line of numbers
# empty lines, and remarks from the start of a line on
_EMPTY = re.compile(rb"(?:[ \t\r\n\f\v]++|(?<![^\n])#[^\n]*+)*+")
_SIGNS = re.compile(rb'[;,"\s]+')  # between two values
_NUMBER = re.compile(rb"[-+]?(?:[0-9.]*[0-9](?:[eE][-+]?[0-9]+)?|nan|inf)", re.IGNORECASE)
# a name and its unit in brackets, of which no unit has more letters; a number in brackets is that
# of a joint
_WITH_UNIT = re.compile(r"(.*?)[\[(]([^\])0-9][^\])]{0,39})[\])]")
DELIMITERS: dict[str, Delimiter] = {";": ";", ",": ",", "\t": "tab"}  # else white space
GZIP = b"\x1f\x8b"  # with which packed files begin
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # as spreadsheets write "Unicode text"
PREAMBLE = 50  # lines above the header that are looked at
POINT = rb"(?<!:[0-9])[0-9]\.[0-9]"  # of a decimal, not of the seconds of a date
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOTHING = "a log needs a header line and at least one line of numbers"


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

    def error(self, at: int, sentence: str) -> FileError:
        """An error in the line that begins at a place."""
        return FileError(self.path, f"line {self.line(at)}: {sentence}")

    def words(self, at: int, end: int) -> list[str]:
        """The values of the line from one place to another."""
        if end - at > LONGEST_LINE:
            raise self.error(at, f"must have at most {LONGEST_LINE} characters")
        try:
            text = decode(self.data[at:end])
        except UnicodeDecodeError:
            raise FileError(self.path, "is not a text file in UTF-8") from None
        return text.strip().split(self.columns.separator)

    def lines(self, at: int) -> Iterator[tuple[int, int]]:
        """Where each line that holds values begins and ends, from a place on."""
        while at < len(self.data):
            at = _EMPTY.match(self.data, at).end()  # type: ignore[union-attr]
            end = _end_of_line(self.data, at)
            if self.data[at:end].strip():
                yield at, end
            at = end + 1


def read_csv(path: Path, columns: Columns) -> Recording:
    """Read a log; a file that is no log is refused with the line."""
    data = unpack_gzip(path, LOG) if _is_packed(path) else read_bytes(path, LOG)
    sheet = _Sheet(path, _as_utf_8(data), columns)
    start, after = _head(sheet)
    columns, remarks = _spelled(columns, bytes(sheet.data[start : after + LONGEST_HEADER]))
    sheet = replace(sheet, columns=columns)
    words = [word.strip().strip('"') for word in sheet.words(start, after)]
    header, units = _header(sheet, start, after, words)
    places = place_columns(path, header)
    if not places:
        known = f"{', '.join(CHANNELS)}, numbered from 1"
        raise FileError(path, f"no column is a known channel; known: {known}")
    wanted = [header.index("time")]
    for row in places.values():
        wanted += row
    table = _table(sheet, after + 1, header, wanted)
    table = _without_repeats(sheet, after + 1, table, remarks)
    unit = columns.unit.get("time", units[wanted[0]])
    time = convert_unit(path, "time", table[:, 0], unit, remarks)
    channels = {}
    done = 1
    for name, row in places.items():
        channels[name] = table[:, done : done + len(row)]
        done += len(row)
        unit = _common_unit(path, name, {units[k] for k in row})
        channels[name] = convert(path, name, channels[name], unit, columns, remarks)
    left = [word for k, word in enumerate(words) if k not in wanted]
    remarks += unread_remark("columns", left)
    above = [sheet.line(at) for at, _ in takewhile(lambda line: line[0] < start, sheet.lines(0))]
    remarks += unread_remark("lines", [str(number) for number in above])
    return Recording(time, channels, _events(sheet), _joint_names(sheet), tuple(remarks))


def _common_unit(path: Path, name: str, units: set[str]) -> str:
    """The unit of the columns of a channel."""
    if len(units) > 1:
        got = shorten(", ".join(sorted(units)), 80)
        raise FileError(path, f"columns of {name} must have one unit, got {got}")
    return units.pop()


def split_header(line: str) -> list[str]:
    """The words of a header line."""
    delimiter = delimiter_of(line)
    words = line.split(None if delimiter == "space" else delimiter.replace("tab", "\t"))
    return [word.strip().strip('"') for word in words]


def delimiter_of(line: str) -> Delimiter:
    """What separates the words of a header line."""
    return next((name for sign, name in DELIMITERS.items() if sign in line), "space")


def split_unit(word: str) -> tuple[str, str]:
    """A word of a header, and the unit in brackets behind it or ""."""
    match = _WITH_UNIT.fullmatch(word)
    return (word, "") if match is None else (match[1].rstrip(), match[2].strip())


def decode(text: bytes | bytearray) -> str:
    """A line as text: in UTF-8, else in the Latin letters of Windows."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("cp1252")


def unread_remark(kind: str, names: Sequence[str]) -> Names:
    """A sentence on what of a file was not read; none where all was."""
    listed = shorten(", ".join(filter(None, names)), 300)
    return (f"not read: {kind} {listed}",) if listed else ()


def _is_packed(path: Path) -> bool:
    with open_plain_file(path, LOG) as file:
        return path.suffix == ".gz" or file.read(len(GZIP)) == GZIP


def read_head(path: Path) -> bytes:
    """The first bytes of a file, unpacked where it is packed by gzip."""
    with open_plain_file(path, BAG) as file:
        head = file.read(LONGEST_HEADER)
    if head.startswith(GZIP):
        with suppress(zlib.error):
            head = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, LONGEST_HEADER)
    return head


def _as_utf_8(data: bytes | bytearray) -> bytes | bytearray:
    """Text in UTF-8 without a mark of its order of bytes."""
    if data.startswith(UTF_16):
        return data.decode("utf-16", errors="replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def header_line(head: bytes) -> str:
    """The header in the head of a file."""
    plain = _as_utf_8(head)
    start, after = place_header(plain)
    return plain[start:after].decode("utf-8", errors="replace").strip()


def place_header(data: bytes | bytearray) -> tuple[int, int]:
    """Where the header begins and ends: the first line with a time, as tables of controllers may
    have others above it, else the first one, or the remark above one of numbers.
    """
    start = _EMPTY.match(data).end()  # type: ignore[union-attr]
    after = _end_of_line(data, start)
    at, end = start, after
    for _ in range(PREAMBLE):
        if _names_time(bytes(data[at : min(end, at + LONGEST_HEADER)])):
            return at, end
        at = _EMPTY.match(data, end).end()  # type: ignore[union-attr]
        end = _end_of_line(data, at)
    above = data.rfind(b"#", 0, start)
    line = bytes(data[start : min(after, start + LONGEST_HEADER)])
    if above >= 0 and all(_NUMBER.fullmatch(word) for word in _SIGNS.split(line.strip())):
        start = data.rfind(b"\n", 0, above) + 2
        after = _end_of_line(data, start)
    return start, after


def _names_time(line: bytes) -> bool:
    words = split_header(line.decode("utf-8", errors="replace"))
    return len(words) > 1 and any(is_time(split_unit(word)[0]) for word in words)


def _end_of_line(data: bytes | bytearray, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end


def _head(sheet: _Sheet) -> tuple[int, int]:
    """Where the header line begins and ends, after which there must be lines."""
    start, after = place_header(sheet.data)
    if next(sheet.lines(after), None) is None:
        raise FileError(sheet.path, NOTHING)
    if after - start > LONGEST_HEADER:
        raise sheet.error(start, f"a header must have at most {LONGEST_HEADER} characters")
    return start, after


def _spelled(columns: Columns, text: bytes) -> tuple[Columns, list[str]]:
    """How values are written, where another delimiter than the one expected is in the header."""
    header, _, lines = text.partition(b"\n")
    line = header.decode("utf-8", errors="replace")
    if (columns.separator or " ") in line.strip():
        return columns, []
    columns = replace(columns, delimiter=delimiter_of(line))
    commas = re.search(rb"[0-9],[0-9]", lines) and not re.search(POINT, lines)
    if not commas or columns.delimiter == ",":
        return columns, []
    return replace(columns, decimal=","), ["decimals are written with a comma"]


def _header(sheet: _Sheet, start: int, after: int, words: list[str]) -> tuple[list[str], list[str]]:
    """The header in the names of channels, and the unit behind each word."""
    columns = sheet.columns
    if not _holds_numbers(sheet, after + 1):
        wanted = f"a column '{columns.time}' and lines of numbers"
        raise sheet.error(start, f"a log needs {wanted}; the file has no line of numbers there")
    try:
        header = columns.canonical(words)
    except ArmtwinError as error:
        raise sheet.error(start, str(error)) from None
    units = [""] * len(words)
    for k, word in enumerate(words):
        name, units[k] = split_unit(word)
        if header[k] == word:
            header[k] = name
    times = [k for k, word in enumerate(header) if is_time(word)]
    if "time" not in header and times:
        header[times[0]] = "time"
    if "time" not in header:
        got = shorten(", ".join(words[:8]), 80)
        raise sheet.error(start, f"a log needs a column '{columns.time}', got {got}")
    return header, units


def _holds_numbers(sheet: _Sheet, after: int) -> bool:
    """Whether the line after the header has any number; what is no table is not repeated."""
    at, end = next(sheet.lines(after))
    line = bytes(sheet.data[at : min(end, at + LONGEST_HEADER)])
    return any(_NUMBER.fullmatch(word) for word in _SIGNS.split(line))


def _table(sheet: _Sheet, after: int, header: list[str], wanted: list[int]) -> Floats:
    """The wanted columns of all lines after the header, (m, columns)."""
    columns = sheet.columns
    places = np.full(len(header), -1, dtype=np.int64)
    places[wanted] = np.arange(len(wanted))
    layout = DecimalLayout((columns.separator or "").encode(), columns.decimal.encode(), places)
    table = table_of(sheet.data, layout, _Otherwise(sheet, header, wanted), after)
    if not len(table):
        raise FileError(sheet.path, NOTHING)
    large = np.argwhere(np.abs(table) > LARGEST)
    if len(large):
        row, k = large[0]
        column = wanted[k]
        value = f"value {column + 1} ({header[column]})"
        sentence = f"{value} must be at most {LARGEST:g}, got {table[row, k]:g}"
        raise sheet.error(_where(sheet, after, int(row)), sentence)
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
        words = self.sheet.words(at, end)
        width = len(self.header)
        if len(words) != width:
            sentence = f"must have {width} values as the header, got {len(words)}"
            raise self.sheet.error(at, sentence)
        numbers = []
        for column in self.wanted:
            word = words[column].strip().strip('"')
            number = self.number(word)
            if self.header[column] == "time" and not math.isfinite(number):
                number = _seconds_of_date(word)
            if not math.isfinite(number):
                raise self.refusal(at, words[column], column)
            numbers.append(number)
        return numbers

    def number(self, word: str) -> float:
        """The number that a word means; NaN for any other word."""
        if self.sheet.columns.decimal == ",":
            word = word.replace(",", ".")
        try:
            return float(word)
        except ValueError:
            return math.nan

    def refusal(self, at: int, word: str, column: int) -> FileError:
        """The error for a word that is no number, with the lines after it where that goes on."""
        plain = word.strip()
        comma = re.fullmatch(r"-?[0-9]+,[0-9]+", plain) is not None
        hint = '; say decimal = "," in a columns file' if comma else ""
        first = self.sheet.line(at)
        last = first
        for begin, end in islice(self.sheet.lines(at), LONGEST_RUN):
            words = self.sheet.words(begin, end)
            if column < len(words) and math.isfinite(self.number(words[column])):
                break
            last = self.sheet.line(begin)
        where = f"line {first}" if last == first else f"lines {first} to {last}"
        value = f"value {column + 1} ({self.header[column]})"
        got = f"'{shorten(plain, 40)}'{hint}"
        return FileError(self.sheet.path, f"{where}: {value} must be a finite number, got {got}")


def _seconds_of_date(word: str) -> float:
    """Seconds since 1970 of a date with a time of the day; NaN of any other word."""
    try:
        date = datetime.fromisoformat(word)
    except ValueError:
        return math.nan
    return ((date if date.tzinfo else date.replace(tzinfo=UTC)) - EPOCH).total_seconds()


def _where(sheet: _Sheet, after: int, row: int) -> int:
    """Where the line of a row of the table begins."""
    at, _ = next(islice(sheet.lines(after), row, None))
    return at


def _without_repeats(sheet: _Sheet, after: int, table: Floats, remarks: list[str]) -> Floats:
    """The rows without those that repeat the one before; refuse time that does not increase."""
    time = table[:, 0]
    repeated = find_repeats(time, table)
    late = (np.diff(time) <= 0) & ~repeated[1:]
    if late.any():
        at = int(np.argmax(late)) + 1
        here, before = time[at], time[at - 1]
        got = f"{here} after {before}" if here < before else f"{here} twice: a doubled sample?"
        raise sheet.error(_where(sheet, after, at), f"time must increase, got {got}")
    remarks += repeats_remark(time, repeated)
    return table[~repeated] if repeated.any() else table


def _remarks(sheet: _Sheet, mark: str) -> Iterator[tuple[int, str]]:
    """Place of each line that starts with a mark, and what follows the mark."""
    sign = mark.encode()
    at = 0
    while (at := sheet.data.find(sign[:1], at)) >= 0:  # a single sign is found ten times sooner
        end = _end_of_line(sheet.data, at)
        begins = at == 0 or sheet.data[at - 1] == ord("\n")
        if begins and sheet.data.startswith(sign, at):
            yield at, sheet.data[at + len(sign) : end].decode("utf-8", errors="replace")
        at = end


def _events(sheet: _Sheet) -> tuple[Event, ...]:
    """Events from the lines that hold one."""
    found = []
    for at, text in _remarks(sheet, EVENT):
        try:
            found.append(Event.of(json.loads(text)))
        except (ArmtwinError, ValueError, RecursionError):
            sentence = "an event must be a list of time, kind, joint and text"
            raise sheet.error(at, sentence) from None
    return tuple(found)


def _joint_names(sheet: _Sheet) -> Names:
    """Names of the joints from the line that holds them; none without it."""
    at, text = next(_remarks(sheet, JOINTS), (0, "[]"))
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise sheet.error(at, "joints must be a list of their names")
    return tuple(names)


def place_columns(path: Path, header: list[str]) -> dict[str, list[int]]:
    """For each channel the columns of its joints, which are numbered from 1 without a gap."""
    places = {}
    for name, columns in _number_columns(path, header).items():
        joints = sorted(columns)
        if joints != list(range(min(joints[0], 1), min(joints[0], 1) + len(joints))):
            contract = "must be numbered 1, 2, .. without a gap"
            sentence = f"columns of '{name}' {contract}, got {shorten(str(joints), 80)}"
            raise FileError(path, sentence)
        places[name] = [columns[joint] for joint in joints]
    return places


def _number_columns(path: Path, header: list[str]) -> dict[str, dict[int, int]]:
    """For each channel the column of each number that a word of the header gives it."""
    found: dict[str, dict[int, int]] = {}
    for column, word in enumerate(header):
        match = re.fullmatch(r"([A-Za-z_]+?)_?\[?([0-9]{1,3})\]?", word)
        if match is None:
            continue
        name = ALIASES.get(match[1], match[1])
        if channel_kind(name) is None:
            continue
        columns = found.setdefault(name, {})
        joint = int(match[2])
        if joint in columns:
            sentence = f"columns '{header[columns[joint]]}' and '{word}' mean the same"
            raise FileError(path, sentence)
        columns[joint] = column
    return found
