"""Streams of KUKA's Robot Sensor Interface: an element <Rob> for each cycle.

AIPos and ASPos are measured and commanded axis angles [deg], MACur motor currents, IPOC the
controller's clock [ms].
"""

import re
from array import array
from pathlib import Path
from typing import Any

import numpy as np

from armtwin.errors import FileError, shorten
from armtwin.files.opening import CHUNK, LOG, open_plain_file
from armtwin.logs.channels import LARGEST
from armtwin.logs.columns import Columns
from armtwin.logs.csv_reading import unread_remark
from armtwin.logs.formats.signals import Signal, combine
from armtwin.logs.recording import Recording

CHANNELS = {"AIPos": ("q", "deg"), "ASPos": ("q_ref", "deg"), "MACur": ("current", "A")}
CURRENT = "MACur is taken as amperes; RSI does not say its unit"
DEEPEST = 20  # elements within one another
LARGEST_LIST = 50  # names of elements that are not read
PROLOG = re.compile(rb"<\?xml[^>]*\?>")  # of every cycle, where each was a document of its own


class _Cycles:
    """Collects what the parser finds: numbers of each cycle, one after another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.values: dict[str, array[float]] = {}
        self.axes: dict[str, tuple[str, ...]] = {}
        self.clock: array[float] = array("d")
        self.unread: dict[str, None] = {}
        self.depth = 0
        self.cycles = 0
        self.in_cycle = self.in_clock = False  # answers <Sen> have a clock too
        self.text = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take an element's numbers."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(f"elements must not be nested deeper than {DEEPEST}")
        if tag in CHANNELS:
            self.take(tag, attributes)
        elif tag == "IPOC":
            self.in_clock, self.text = self.in_cycle, ""
        elif tag == "Rob":
            self.cycles += 1
            self.in_cycle = True
        elif self.depth > 1 and len(self.unread) < LARGEST_LIST:
            self.unread[tag] = None

    def take(self, tag: str, attributes: dict[str, str]) -> None:
        """Keep the numbers of the axes A1, A2, ..."""
        names = self.axes.get(tag)
        if names is None:
            numbers = sorted(int(name[1:]) for name in attributes if re.fullmatch("A[0-9]", name))
            if numbers != list(range(1, len(numbers) + 1)) or not numbers:
                raise self.error(f"{tag} must have the axes A1, A2, .. without a gap")
            names = self.axes[tag] = tuple(f"A{number}" for number in numbers)
            self.values[tag] = array("d")
        try:
            self.values[tag].extend([float(attributes[name]) for name in names])
        except KeyError as name:
            raise self.error(f"{tag} has no axis {name}") from None
        except ValueError:
            got = shorten(str(attributes), 80)
            raise self.error(f"{tag} must hold numbers, got {got}") from None

    def data(self, text: str) -> None:
        """Keep the text of the clock."""
        if self.in_clock:
            self.text += text

    def end(self, tag: str) -> None:
        """Take the clock at its end, and see at a cycle's end that it is whole."""
        self.depth -= 1
        if self.in_clock and tag == "IPOC":
            self.in_clock = False
            try:
                self.clock.append(float(self.text))
            except ValueError:
                got = shorten(self.text.strip(), 40)
                raise self.error(f"IPOC must be a number of ms, got '{got}'") from None
        elif tag == "Rob":
            self.in_cycle = False
            self.check_cycle()

    def check_cycle(self) -> None:
        """Refuse a cycle that lacks the clock or a channel that others have."""
        if len(self.clock) != self.cycles:
            raise self.error("a cycle needs one IPOC")
        for tag, names in self.axes.items():
            if len(self.values[tag]) != self.cycles * len(names):
                raise self.error(f"a cycle needs one {tag}, as the others have")

    def error(self, sentence: str) -> FileError:
        """An error in the cycle that is read."""
        return FileError(self.path, f"cycle {self.cycles}: {sentence}")


def read_rsi(path: Path, columns: Columns) -> Recording:
    """Read a stream piece by piece."""
    cycles = _Cycles(path)
    _parse(path, cycles)
    if cycles.cycles < 2:
        raise FileError(path, f"holds {cycles.cycles} cycles <Rob>; a log needs two")
    for tag, numbers in {"IPOC": cycles.clock, **cycles.values}.items():
        if not (np.abs(np.frombuffer(numbers)) <= LARGEST).all():
            raise FileError(path, f"{tag} must be finite and at most {LARGEST:g}")
    clock = np.frombuffer(cycles.clock)
    time = 1e-3 * (clock - clock[0])
    found = {}
    for tag, names in cycles.axes.items():
        values = np.frombuffer(cycles.values[tag]).reshape(-1, len(names))
        channel, unit = CHANNELS[tag]
        found[channel] = [Signal(values, time, unit)]
    remarks = ["IPOC is in ms: converted to s"]
    if "current" in found:
        remarks.append(CURRENT)
    return combine(path, found, columns, [*remarks, *unread_remark("elements", [*cycles.unread])])


def _parse(path: Path, cycles: _Cycles) -> None:
    """Feed the file to a parser that knows no entities and no document types."""
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    parser: Any = DefusedXMLParser(target=cycles, forbid_dtd=True)
    with open_plain_file(path, LOG) as file:
        try:
            parser.feed(b"<log>")
            while piece := file.read(CHUNK):
                parser.feed(PROLOG.sub(b"", piece))
            parser.feed(b"</log>")
        except DefusedXmlException:
            raise FileError(path, "must have no document type and no entities") from None
        except (ParseError, UnicodeError, ValueError) as error:
            sentence = f"is no XML that can be read ({shorten(str(error), 80)}): cut off?"
            raise FileError(path, f"cycle {cycles.cycles}: {sentence}") from None
