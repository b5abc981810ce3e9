"""Units that wish no good: archives that are none, and code that hangs, forks, writes and lies.

Each is run as a partner of a robot within a time limit; what came of it is a sentence or numbers,
and the time that it took beyond its limit.
"""

import os
import time
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import armtwin as at
from armtwin.exchange import external_fmu
from armtwin.exchange.export import binary_place
from tests.exchange.units import compiled

NAMES = ("torque", "angle", "speed", "stiffness", "damping", "constant")
LIMIT = 2.0  # time that a step may take [s]
START = 10.0  # and the start, with Python and fmpy, on a machine with other work [s]
REMOVAL = 20.0  # and what it wrote must be removed [s]
RUNS = "runs"  # in place of a sentence: it answers with a number
MARK = "HOSTILE_MARK"  # variable of the environment by which processes are found
# what code of a unit wishes to do, and what a user reads
WISHES = {
    "loop": "did not return within 2 s",
    "sleep": "did not return within 2 s",
    "sleep at the start": "its start did not return within",
    "crash at the start": "its start ended its process .signal SIGABRT",
    "daemon at the start, then sleep": "its start did not return within",
    "abort": "ended its process .signal SIGABRT",
    "fault": "ended its process .signal SIGSEGV",
    "exit 0": "ended its process .code 0",
    "exit 7": "ended its process .code 7",
    "terminate itself": "ended its process .signal SIGTERM",
    "kill itself": "ended its process .signal SIGKILL",
    "stop itself": "did not return within 2 s",
    "kill its parent": "did not return|ended its process",
    "stop its parent": "did not return within 2 s",
    "kill its group": "ended its process",
    "child": RUNS,
    "child, then sleep": "did not return within 2 s",
    "child, then exit": "ended its process .code 0",
    "daemon": RUNS,
    "daemon that keeps our files": RUNS,
    "daemon, then exit": "ended its process .code 0",
    "a hundred daemons, then sleep": "did not return within 2 s",
    "relay, then sleep": "did not return within 2 s",
    "relay, then exit": "ended its process .code 0",
    "daemon, and kill its parent": RUNS,
    "print much": RUNS,
    "answer by no JSON": "was answered by b'no JSON",
    "answer by no UTF-8": "was answered by b'.xff",
    "answer by a list": "was answered by b'.1.0",
    "answer by an empty object": "gave no 1 numbers, but None",
    "answer by words": "gave no 1 numbers, but ..one",
    "answer by null": "gave no 1 numbers, but None",
    "answer by truth": "gave no 1 numbers, but .True",
    "answer by too many": "gave no 1 numbers, but .1.0, 2.0",
    "answer by a huge number": "gave .inf., which are not all finite|was answered by",
    "answer by a deep list": "was answered by b'....",
    "answer without end": "was answered by b'xxx",
    "answer by one letter and another": "did not return within 2 s",
    "a problem of many words": "failed: xxx",
    "close all files": "ended its process|was answered by",
    "read our questions": "did not return within 2 s",
    "not a number": "which are not all finite",
    "infinite": "which are not all finite",
    "write without end": "ended its process .signal SIGXFSZ|runs",
    "fill its folder": RUNS,
    "deep folders": RUNS,
    "locked folder": RUNS,
    "write elsewhere": RUNS,
    "take memory": RUNS,
    "open files": RUNS,
    "threads": RUNS,
}


def description(guid="x", names=NAMES):
    """A description of six numbers, the first an output."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<fmiModelDescription fmiVersion="2.0" modelName="foreign" guid="{guid}">')
    lines.append('<CoSimulation modelIdentifier="foreign"/><ModelVariables>')
    for k, name in enumerate(names):
        kind = "output" if k == 0 else "input" if k < 3 else "parameter"
        start = "" if k == 0 else ' start="0.0"'
        variability = "fixed" if kind == "parameter" else "continuous"
        lines.append(f'<ScalarVariable name="{name}" valueReference="{k}" causality="{kind}"')
        lines.append(f' variability="{variability}"><Real{start}/></ScalarVariable>')
    lines.append("</ModelVariables><ModelStructure><Outputs><Unknown index='1'/></Outputs>")
    lines.append("</ModelStructure></fmiModelDescription>")
    return "".join(lines)


def library(folder):
    """The code of all wishes, compiled once."""
    return compiled(folder, "foreign", "-fPIC", "-shared", "-DHOSTILE", "-pthread")


def wishing(folder, code, wish):
    """A unit with a wish."""
    path = Path(folder) / f"{wish}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description(wish))
        archive.write(code, binary_place("foreign", 2))
    return path


# archives that are none, or lie


def _with_members(*members, text=None, method=zipfile.ZIP_STORED):
    def write(path):
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("modelDescription.xml", description() if text is None else text)
            for name, content in members:
                entry = zipfile.ZipInfo("x")
                entry.filename = name
                entry.compress_type = method
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # that a name is there twice
                    archive.writestr(entry, content)

    return write


def _changed(write, change):
    def write_changed(path):
        write(path)
        path.write_bytes(change(bytearray(path.read_bytes())))

    return write_changed


def _overwrite(data, place, text):
    data[place : place + len(text)] = text
    return data


def _damage_member(data):
    """Other bytes in the middle of the second member, which is packed."""
    return _overwrite(data, data.index(b"PK\x03\x04", 4) + 80, b"\xff\x00\xff\x00")


def _encrypt(data):
    place = data.rindex(b"PK\x01\x02")
    return _overwrite(data, place + 8, b"\x01")


def _link(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description())
        entry = zipfile.ZipInfo("binaries")
        entry.external_attr = 0o120777 << 16
        archive.writestr(entry, "/etc")


def _sparse(path):
    with path.open("wb") as file:
        file.truncate(600 << 20)


def _many_entries(path):
    entry = b"PK\x01\x02" + bytes(42)
    count = 1_100_000
    end = b"PK\x05\x06" + bytes(4) + b"\xff\xff\xff\xff" + (46 * count).to_bytes(4, "little")
    path.write_bytes(entry * count + end + bytes(6))


LONG = "x" * 300
BOMB_SIZE = 8 << 20  # bytes that a unit may unpack to where this bomb is tried
BOMB = """<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">
<!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;"><!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;">
<!ENTITY g "&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;"><!ENTITY h "&g;&g;&g;&g;&g;&g;&g;&g;&g;&g;">]>
<fmiModelDescription fmiVersion="2.0" modelName="&h;" guid="x"/>"""
REPEATED = np.random.default_rng(0).integers(0, 9, 5000).astype(np.uint8).tobytes()
# those that are refused before any process is started
ARCHIVES = {
    "no archive": (lambda path: path.write_bytes(b"no archive"), "a .fmu file is a zip archive"),
    "nothing": (lambda path: path.write_bytes(b""), "a .fmu file is a zip archive"),
    "a folder": (lambda path: path.mkdir(), "must be a plain file, but is a folder"),
    "a pipe": (os.mkfifo, "must be a plain file, but is a pipe"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "but is a device"),
    "too large": (_sparse, "must be at most 512 MB"),
    "too many entries": (_many_entries, "must hold at most 10000 members"),
    "a member without a name": (_with_members(("", "x")), "member '' has no name"),
    "too many members": (
        _with_members(*((f"m{k}", "") for k in range(10_001))),
        "must hold at most 10000 members, got 10002",
    ),
    "cut off": (
        _changed(_with_members(("a", REPEATED)), lambda data: data[: len(data) // 2]),
        "a .fmu file is a zip archive",
    ),
    "no description": (
        lambda path: zipfile.ZipFile(path, "w").close(),
        "it has no modelDescription.xml",
    ),
    "out": (_with_members(("../out", "x")), "leads out of the archive's own folder"),
    "absolute": (_with_members(("/out", "x")), "leads out of the archive's own folder"),
    "drive": (_with_members(("C:\\out", "x")), "leads out of the archive's own folder"),
    "link": (_link, "is a link"),
    "a file and a folder": (_with_members(("a", "x"), ("a/b", "y")), "'a' is a file and a folder"),
    "a folder and a file": (_with_members(("a/b", "x"), ("a", "y")), "'a' is a file and a folder"),
    "twice": (_with_members(("a", "x"), ("a", "y")), "'a' is there twice"),
    "twice in two spellings": (_with_members(("a/b", "x"), ("a\\b", "y")), "is there twice"),
    "a long name": (_with_members((LONG, "x")), "must have names of at most 255 bytes"),
    "a deep place": (_with_members(("d/" * 3000 + "x", "x")), "must be in at most 64 folders"),
    "damaged deflate": (
        _changed(_with_members(("a", REPEATED), method=zipfile.ZIP_DEFLATED), _damage_member),
        "'a' is damaged",
    ),
    "damaged lzma": (
        _changed(_with_members(("a", REPEATED), method=zipfile.ZIP_LZMA), _damage_member),
        "'a' is damaged",
    ),
    "damaged bzip2": (
        _changed(_with_members(("a", REPEATED), method=zipfile.ZIP_BZIP2), _damage_member),
        "'a' is damaged",
    ),
    "encrypted": (_changed(_with_members(("a", "x")), _encrypt), "encrypted"),
    "bomb": (
        _with_members(("a", bytes(BOMB_SIZE + 1)), method=zipfile.ZIP_DEFLATED),
        f"must unpack to at most {BOMB_SIZE >> 20} MB",
    ),
}
# those that only the process of the unit can refuse
UNITS = {
    "no XML": (_with_members(text="no XML"), "its start failed"),
    "entities without end": (_with_members(text=BOMB), "its start failed"),
    "FMI 1.0": (
        _with_members(text=description().replace('"2.0"', '"1.0"')),
        "its start failed",
    ),
    "no binary": (_with_members(), "its start failed"),
    "a text as binary": (
        _with_members((binary_place("foreign", 2), "no library")),
        "its start failed",
    ),
    "a name of megabytes": (
        _with_members(text=description(names=("n" * 5_000_000, *NAMES[1:]))),
        "has no number 'torque'",
    ),
}


@dataclass(frozen=True)
class Outcome:
    """What came of a unit.

    Attributes:
        sentence: The error, or "runs".
        value: The largest number that it gave.
        late: How much longer it took than it may, its end included [s].
    """

    sentence: str
    value: float
    late: float


def run_unit(path, robot):
    """A start and two steps of a unit."""
    joint = robot.joint_names[0]
    sentence, value = RUNS, np.nan
    still = np.zeros(robot.n)
    begin = time.perf_counter()
    limit = 0.0
    try:
        unit = at.ForeignUnit(
            path, robot, inputs={"angle": f"q.{joint}"}, outputs={"torque": joint}, timeout=LIMIT
        )
        limit = LIMIT + external_fmu.STARTING
        with unit:
            for now in (0.0, 0.004, 0.008):
                begin, limit = time.perf_counter(), LIMIT
                value = np.fmax(value, unit(now, still, still)[0])
            begin, limit = time.perf_counter(), 0.0
    except at.ArmtwinError as error:
        sentence = str(error)
    late = time.perf_counter() - begin - limit
    return Outcome(sentence, float(value), late)


def processes_marked(mark):
    """Processes that were started with a text in their environment, or forked by one of those."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                if mark.encode() in (place / "environ").read_bytes():
                    found.append(int(place.name))
            except OSError:
                continue
    return found


def wait_until(holds, limit):
    """Whether something holds within a time [s]."""
    end = time.monotonic() + limit
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def run_all(units, robot, at_once):
    """Outcomes of units by name, several at once."""
    with ThreadPoolExecutor(at_once) as pool:
        runs = {name: pool.submit(run_unit, path, robot) for name, path in units.items()}
    return {name: run.result() for name, run in runs.items()}


def can_confine_writes():
    """Whether this system can forbid a program to write (Landlock): asked by its own call."""
    import ctypes

    return ctypes.CDLL(None, use_errno=True).syscall(444, None, 0, 1) >= 1
