"""Traces of KUKA controllers: pairs of a text header (.dat) and doubles (.r64), one for a drive.

The header is DIAdem's: a code and a value a line, a block for each channel. 200 name, 202 unit, 210
IMPLIZIT (offset 240 + k step 241) or EXPLIZIT (file 211, first value 221, values 220). Values of a
channel are one after another, or one of each channel in turn: whatever 213 calls that (BLOCK or
CHANNEL, and writers differ), the places of the first values say which. Drives and interpolator have
rates of their own.
"""

import os
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from armtwin.errors import FileError, shorten
from armtwin.files.opening import LOG, TRACE_HEADER, open_plain_file, read_bytes
from armtwin.logs.channels import LARGEST
from armtwin.logs.columns import Columns
from armtwin.logs.csv_reading import unread_remark
from armtwin.logs.formats.signals import Signal, combine, seconds
from armtwin.logs.recording import Recording
from armtwin.maths.batch import Floats

MARK = b"DIAEXTENDED"
BEGIN, END = "#BEGINCHANNELHEADER", "#ENDCHANNELHEADER"
MOST_FILES = 100  # headers of one trace
# what a name says, in German and English: words in it, the channel, and that of a command
COMMANDED = re.compile(r"soll|command|cmd|set ?point|target|desired|reference|nominal")
KINDS = (
    (r"position|winkel|angle|axispos", "q", "q_ref"),
    (r"temperatur", "temperature", None),
    (r"moment|torque", "tau", "tau_target"),
    (r"strom|current", "current", "current_target"),
    (r"geschwindigkeit|drehzahl|velocity|speed|axisvel", "v", "v_ref"),
)
# differences and Cartesian values are no channels, whatever else their names say
OTHERS = re.compile(r"fehler|error|differen|deviation|kart|cart|tcp|\b[xyzabc]\b", re.I)
MOST_TURNS = 2.0  # of one of the first three axes; motors make more
AXIS = re.compile(r"(?:achse|axis|drive|antrieb|joint|_a)[ _#]*([0-9]{1,2})\b", re.I)


@dataclass(frozen=True)
class _TraceChannel:
    """A channel of a header: its values by their codes."""

    path: Path
    codes: dict[int, str]

    def text(self, code: int, default: str = "") -> str:
        """What a code says."""
        return self.codes.get(code, default)

    def number(self, code: int, default: float) -> float:
        """The number that a code says."""
        text = self.text(code)
        try:
            number = float(text.replace(",", ".")) if text else default
        except ValueError:
            number = np.nan
        if not abs(number) <= LARGEST:
            raise self.error(f"code {code} must be a number, got '{shorten(text, 40)}'")
        return number

    def count(self, code: int) -> int:
        """The whole number from 1 on that a code says."""
        number = self.number(code, np.nan) if self.text(code) else 0.0
        if number < 1 or number != int(number):
            got = self.text(code) or "nothing"
            raise self.error(f"code {code} must be a whole number from 1 on, got {got}")
        return int(number)

    def error(self, sentence: str) -> FileError:
        """An error in this channel."""
        return FileError(self.path, f"channel '{shorten(self.text(200), 60)}': {sentence}")

    @property
    def is_implicit(self) -> bool:
        """Whether its values are even steps."""
        return self.text(210, "EXPLIZIT").upper().startswith("IMPLI")

    @property
    def is_time(self) -> bool:
        """Whether it is the time of its file."""
        return self.text(200).strip().lower() in ("zeit", "time", "t")


def read_trace(path: Path, columns: Columns) -> Recording:
    """Read a trace by its folder, or by any of its files."""
    drives: dict[str, dict[int, Signal]] = defaultdict(dict)
    others: dict[str, dict[int, Signal]] = defaultdict(dict)
    remarks: list[str] = []
    unread: list[str] = []
    for header in headers_of(path):
        found = drives if "#" in header.stem else others
        blocks = _blocks(header)
        values = _all_values(header, blocks)
        times = [k for k, block in enumerate(blocks) if block.is_time]
        if not times:
            raise FileError(header, "needs a channel Zeit or Time")
        clock = blocks[times[0]]
        time = seconds(header, clock.text(200), values[times[0]], Columns(), clock.text(202))
        for k, block in enumerate(blocks):
            channel = _channel(block.text(200))
            if block.is_time:
                continue
            if channel is None:
                unread.append(block.text(200))
                continue
            joint = _joint(block)
            if joint in found[channel]:
                raise block.error(f"{channel} of axis {joint} is there twice")
            if len(values[k]) != len(time):
                raise block.error(f"must have {len(time)} values as time, got {len(values[k])}")
            found[channel][joint] = Signal(values[k][:, None], time, block.text(202))
    unread += _take_motors(drives, remarks)
    unread += [f"{name} of the interpolator" for name in others if name in drives]
    found = {**others, **drives}
    whole = {name: _in_order(path, name, signals) for name, signals in found.items()}
    if "tau" in whole:
        remarks.append("the torque is taken as that of the joint (tau), as the trace has it")
    return combine(
        path, whole, columns, [*remarks, *unread_remark("channels", [*dict.fromkeys(unread)])]
    )


def _take_motors(drives: dict[str, dict[int, Signal]], remarks: list[str]) -> list[str]:
    """Take positions that no axis reaches as those of motors; the channels that are then lost."""
    reached = 0.0
    for joint, signal in drives.get("q", {}).items():
        if joint <= 3 and signal.unit.strip().lower() not in ("rad", "radian"):
            reached = max(reached, float(np.abs(signal.values).max()))
    if reached <= 360 * MOST_TURNS:
        return []
    remarks.append(
        f"positions of the drives reach {reached:.4g}°, more than an axis turns: taken as those of "
        "motors (q_m), torques as tau_m"
    )
    for name, of_motor in (("q", "q_m"), ("tau", "tau_m")):
        if name in drives:
            drives[of_motor] = drives.pop(name)
    lost = [name for name in ("q_ref", "v", "v_ref") if drives.pop(name, None)]
    return [f"{name} of the motors" for name in lost]


def headers_of(path: Path) -> list[Path]:
    """The headers of the trace that a folder holds, or that a file belongs to."""
    folder = path if os.path.isdir(path) else path.parent
    names = sorted(name for name in os.listdir(folder or ".") if name.lower().endswith(".dat"))
    traces: dict[str, list[Path]] = defaultdict(list)
    for name in names[: 10 * MOST_FILES]:
        if is_header(folder / name):
            traces[trace_name(name)].append(folder / name)
    if not os.path.isdir(path):
        own = path.name if path.suffix.lower() == ".dat" else f"{path.stem}.dat"
        if not os.path.isfile(folder / own):
            raise FileError(path, f"needs its header {own} beside it")
        traces = {own: traces[trace_name(own)] or [folder / own]}
    if len(traces) != 1:
        held = shorten(", ".join(traces), 120)
        raise FileError(path, f"holds {len(traces)} traces ({held}); give a file of one of them")
    (found,) = traces.values()
    if len(found) > MOST_FILES:
        raise FileError(path, f"a trace must have at most {MOST_FILES} headers, got {len(found)}")
    return found


def trace_name(name: str) -> str:
    """The name of the trace that a file belongs to: what is before its source, as _KRCIpo."""
    return re.split(r"_(?=[^_]*$)", Path(name).stem)[0]


def is_header(path: Path) -> bool:
    """Whether a file is the header of a trace."""
    if not os.path.isfile(path):
        return False
    with open_plain_file(path, LOG) as file:
        head = file.read(4096)
    return head.lstrip().startswith(MARK) or BEGIN.encode() in head


def _blocks(path: Path) -> list[_TraceChannel]:
    """The channels of a header; a text in UTF-8 or in the controller's Latin letters."""
    text = read_bytes(path, TRACE_HEADER).decode("latin-1")
    if "Ã" in text or "Â" in text:
        text = text.encode("latin-1").decode("utf-8", errors="replace")
    blocks: list[_TraceChannel] = []
    codes: dict[int, str] | None = None
    for line in text.splitlines():
        word = line.strip()
        if word.startswith(BEGIN):
            codes = {}
        elif word.startswith(END):
            if codes is not None:
                blocks.append(_TraceChannel(path, codes))
            codes = None
        elif codes is not None:
            code, _, value = word.partition(",")
            if re.fullmatch("[0-9]{1,4}", code):
                codes[int(code)] = value.strip()
    if not blocks:
        raise FileError(path, "is no header of a trace: it has no channel")
    return blocks


def _all_values(path: Path, blocks: list[_TraceChannel]) -> list[Floats]:
    """The values of each channel."""
    groups: dict[str, list[_TraceChannel]] = defaultdict(list)
    for block in blocks:
        if not block.is_implicit:
            groups[block.text(211)].append(block)
    read: dict[int, Floats] = {}
    for name, members in groups.items():
        data = _doubles(path, name)
        for block in members:
            read[id(block)] = _explicit(block, data, members)
    values = []
    for block in blocks:
        if block.is_implicit:
            count = block.count(220)
            if count > LOG.most // 8:
                raise block.error(f"code 220 must be at most {LOG.most // 8}, got {count}")
            raw = np.arange(count, dtype=np.float64)
        else:
            raw = read[id(block)]
        values.append(block.number(240, 0.0) + block.number(241, 1.0) * raw)
    return values


def _doubles(path: Path, name: str) -> Floats:
    """The doubles of the file that a header names, which is beside it."""
    if not name or Path(name.replace("\\", "/")).name != name:
        sentence = f"code 211 must name a file beside the header, got '{shorten(name, 60)}'"
        raise FileError(path, sentence)
    file = path.parent / name
    if not os.path.isfile(file):
        raise FileError(path, f"its values {name} are not beside it")
    data = read_bytes(file, LOG)
    if len(data) % 8:
        raise FileError(file, f"must hold whole doubles of 8 bytes, got {len(data)}: cut off?")
    return np.frombuffer(data, dtype="<f8").astype(np.float64)


def _explicit(block: _TraceChannel, data: Floats, members: list[_TraceChannel]) -> Floats:
    """Values of a channel, by where its header says that they are."""
    kind = block.text(214, "REAL64").upper()
    if kind != "REAL64":
        raise block.error(f"code 214 must be REAL64, got '{shorten(kind, 40)}'")
    method = block.text(213, "BLOCK").upper()
    if method not in ("BLOCK", "CHANNEL"):
        raise block.error(f"code 213 must be BLOCK or CHANNEL, got '{shorten(method, 40)}'")
    count, first = block.count(220), block.count(221) - 1
    starts = sorted(other.count(221) - 1 for other in members)
    if len(set(starts)) < len(starts):
        raise block.error("code 221 must differ between the channels of a file")
    in_turn = starts == list(range(len(members)))
    step = len(members) if in_turn else 1
    last = first + (count - 1) * step
    if last >= len(data):
        held = f"the file {block.text(211)} holds {len(data)}"
        sentence = f"{count} values ({method}, first {first + 1}) end at {last + 1}, but {held}"
        raise block.error(f"{sentence}: cut off, or a wrong length in the header (code 220)")
    if not in_turn and any(first < start <= last for start in starts):
        raise block.error(f"its {count} values run into those of another channel (codes 220, 221)")
    said = sum(other.count(220) for other in members)
    if said != len(data):
        sentence = f"the channels of {block.text(211)} have {said} values by code 220"
        raise block.error(f"{sentence}, but it holds {len(data)}")
    values = data[first : last + 1 : step]
    if not (np.abs(values) <= LARGEST).all():
        raise block.error(f"values must be finite and at most {LARGEST:g}")
    return values


def _channel(name: str) -> str | None:
    """The channel that a name means; None where it means none."""
    plain = name.replace("_", " ").lower()
    if OTHERS.search(plain):
        return None
    for words, measured, commanded in KINDS:
        if re.search(words, plain):
            return commanded if COMMANDED.search(plain) else measured
    return None


def _joint(block: _TraceChannel) -> int:
    """The axis of a channel, by its name or that of its file."""
    name = block.text(200)
    match = AXIS.search(name) or re.search("#([0-9]{1,2})", block.path.stem)
    match = match or re.search("([0-9]{1,2})$", name)
    if match is None:
        raise block.error("neither its name nor its file's says the axis")
    return int(match[1])


def _in_order(path: Path, name: str, signals: dict[int, Signal]) -> list[Signal]:
    """The signals of axes 1 to n, none of which may be missing."""
    joints = sorted(signals)
    missing = sorted(set(range(1, joints[-1] + 1)) - set(joints))
    if missing:
        held = ", ".join(map(str, joints))
        absent = ", ".join(map(str, missing))
        sentence = f"{name} is there for the axes {held}, but not for {absent}"
        raise FileError(path, f"{sentence}: copy the files of all drives")
    units = {signal.unit for signal in signals.values()}
    if len(units) > 1:
        raise FileError(path, f"{name} must have one unit, got {', '.join(sorted(units))}")
    return [signals[joint] for joint in joints]
