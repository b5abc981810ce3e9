"""An external FMU as the partner of a simulation: in processes of its own, with a time limit.

An external FMU is third-party code. It is run only where a caller makes a ForeignUnit, never
because a file names it, and confined as far as the system offers it (confinement.py).
"""

from __future__ import annotations

import io
import json
import queue
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from threading import Thread
from types import TracebackType
from typing import Any, TypeGuard

import numpy as np

from armtwin.errors import LONGEST_WORD, ArmtwinError, FileError, did_you_mean, shorten
from armtwin.exchange import confinement
from armtwin.exchange.external_fmu_process import UNIT as UNIT_FOLDER, WORK
from armtwin.files.opening import CHUNK, DAMAGE, MB, UNIT, read_bytes
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot

MOST_MEMBERS = 10_000
ENTRY = b"PK\x01\x02"  # begins the entry of a member in the list at the end of an archive
MOST_ENTRIES = 100 * MOST_MEMBERS  # in it, with those of archives that it holds
LONGEST_NAME = 255  # bytes of a name, the most of usual file systems
DEEPEST = 64  # folders within each other
DESCRIPTION = "modelDescription.xml"


def unpack(path: Path, folder: Path) -> None:
    """Unpack a unit into an empty folder; an archive that leads out of it is refused whole."""
    origin = str(path)
    data = read_bytes(path, UNIT)
    if data.count(ENTRY) > MOST_ENTRIES:  # before their list is made, which would fill the memory
        raise FileError(origin, f"must hold at most {MOST_MEMBERS} members")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except DAMAGE:
        raise FileError(origin, "is no unit: a .fmu file is a zip archive") from None
    with archive:
        members = archive.infolist()
        _check(members, origin)
        left = UNIT.most
        for member in members:
            left -= _write_member(archive, member, folder, left, origin)


def _check(members: list[zipfile.ZipInfo], origin: str) -> None:
    if len(members) > MOST_MEMBERS:
        problem = f"must hold at most {MOST_MEMBERS} members, got {len(members)}"
        raise FileError(origin, problem)
    files: set[PurePosixPath] = set()
    folders: set[PurePosixPath] = set()
    for member in members:
        place = PurePosixPath(_name(member))
        why = _why_refused(member, place)
        if not why and not member.is_dir():
            why = "is there twice" if place in files else ""
            files.add(place)
        if why:
            raise FileError(origin, f"{_described(member)} {why}; nothing of it was unpacked")
        folders.update(place.parents if not member.is_dir() else (place, *place.parents))
    for place in files & folders:
        raise FileError(origin, f"member '{place}' is a file and a folder; nothing was unpacked")
    if DESCRIPTION not in {member.filename for member in members}:
        raise FileError(origin, f"is no unit: it has no {DESCRIPTION}")


def _name(member: zipfile.ZipInfo) -> str:
    return member.filename.replace("\\", "/")


def _described(member: zipfile.ZipInfo) -> str:
    return f"member '{shorten(member.filename, LONGEST_WORD)}'"


def _why_refused(member: zipfile.ZipInfo, place: PurePosixPath) -> str:
    """Why a member is not unpacked; "" for one that is."""
    if not member.filename:
        return "has no name"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "is a link"
    out = ".." in place.parts or place.is_absolute() or ":" in member.filename
    if out or "\0" in member.filename:
        return "leads out of the archive's own folder"
    if len(place.parts) > DEEPEST:
        return f"must be in at most {DEEPEST} folders"
    if any(len(part.encode("utf-8", "surrogatepass")) > LONGEST_NAME for part in place.parts):
        return f"must have names of at most {LONGEST_NAME} bytes"
    return ""


def _write_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, left: int, origin: str
) -> int:
    """Write a member piece by piece; returns its length."""
    target = folder / _name(member)
    length = 0
    try:
        if member.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            return 0
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as packed, target.open("xb") as file:
            while piece := packed.read(CHUNK):
                length += len(piece)
                if length > left:
                    problem = f"must unpack to at most {UNIT.most / MB:g} MB"
                    raise FileError(origin, problem)
                file.write(piece)
    except DAMAGE as error:
        why = "is damaged, packed in an unknown way or cannot be written"
        raise FileError(origin, f"{_described(member)} {why} ({error})") from None
    return length


AXES = ("x", "y", "z")
BENCH_JOINT = "joint"
STARTING = 30.0  # further time for loading Python and the unit [s]
LONGEST_TIMEOUT = 86_400.0  # a day [s]
LONGEST_ANSWER = MB  # bytes


class ForeignUnit:
    """A Functional Mock-up Unit (2.0 or 3.0, co-simulation) that acts on a robot or a bench.

    Used in a `with` statement, it is the partner of a simulation: at each set-point it gets the
    signals of its inputs and gives the forces of its outputs, until the next one.

    Args:
        path: The .fmu file.
        robot: The robot that it acts on; None for a bench, which has one joint, "joint".
        inputs: The signal of each of its inputs: "q.JOINT" or "v.JOINT" (position or speed
            of a link), and of a robot "tool.x", "tool.y", "tool.z" (the tool point in the base
            frame).
        outputs: Where each of its outputs acts: "JOINT" (a torque on it), and of a robot
            "force.x" .. "force.z", "moment.x" .. "moment.z" (on the tool point, base axes).
        start: Values of its parameters.
        timeout: Longest time that it may take for an answer [s].
    """

    def __init__(
        self,
        path: str | Path,
        robot: Robot | None,
        *,
        inputs: Mapping[str, str],
        outputs: Mapping[str, str],
        start: Mapping[str, float] | None = None,
        timeout: float = 10.0,
    ) -> None:
        if not outputs:
            raise ArmtwinError(f"{path}: an external FMU must have an output that acts, got none")
        if not 0 < timeout <= LONGEST_TIMEOUT:
            contract = f"timeout must be greater than 0 s and at most {LONGEST_TIMEOUT:g} s"
            raise ArmtwinError(f"{path}: {contract}, got {timeout:g}")
        self.path, self.robot, self.timeout = Path(path), robot, float(timeout)
        self.joints = [BENCH_JOINT] if robot is None else list(robot.joint_names)
        self.inputs, self.outputs = dict(inputs), dict(outputs)
        self.start = {name: float(value) for name, value in (start or {}).items()}
        self._check_names()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._lifeline = -1
        self._questions: queue.Queue[bytes | None] = queue.Queue()
        self._answers: queue.Queue[bytes] = queue.Queue()

    def _check_names(self) -> None:
        signals = [f"q.{joint}" for joint in self.joints] + [f"v.{joint}" for joint in self.joints]
        pushed = list(self.joints)
        if self.robot is not None:
            signals += [f"tool.{axis}" for axis in AXES]
            pushed += [f"force.{axis}" for axis in AXES] + [f"moment.{axis}" for axis in AXES]
        for words, known in ((self.inputs, signals), (self.outputs, pushed)):
            for name, word in words.items():
                if word not in known:
                    hint = did_you_mean(word, known)
                    raise ArmtwinError(f"{self.path}: '{name}' cannot be '{word}'. {hint}")

    def __enter__(self) -> ForeignUnit:
        self._folder = tempfile.TemporaryDirectory(prefix="armtwin-foreign-")
        try:
            unit, work = Path(self._folder.name, UNIT_FOLDER), Path(self._folder.name, WORK)
            unit.mkdir()
            work.mkdir()
            unpack(self.path, unit)
            self._begin()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def __call__(self, time: float, q: Floats, v: Floats) -> Floats:
        """Torques on the joints, (n,), at a time from positions and speeds of the links."""
        if self._process is None:
            raise ArmtwinError(f"{self.path}: an external FMU must be opened with a with statement")
        values = [self._told(word, q, v) for word in self.inputs.values()]
        words = f"its step to {time:.6g} s"
        found = self._answer({"time": time, "inputs": values}, words).get("outputs")
        if not _are_numbers(found, len(self.outputs)):
            raise self._refuse(f"{words} gave no {len(self.outputs)} numbers, but {found!s:.80}")
        if not np.all(np.isfinite(found)):
            raise self._refuse(f"{words} gave {found}, which are not all finite")
        return self._compute_torques(q, found)

    def _told(self, word: str, q: Floats, v: Floats) -> float:
        what, _, which = word.partition(".")
        if what == "tool" and self.robot is not None:
            return float(self.robot.forward_kinematics(q)[AXES.index(which), 3])
        return float((q if what == "q" else v)[self.joints.index(which)])

    def _compute_torques(self, q: Floats, values: list[float]) -> Floats:
        torque, wrench = np.zeros(len(self.joints)), np.zeros(6)
        for word, value in zip(self.outputs.values(), values, strict=True):
            what, _, axis = word.partition(".")
            if word in self.joints:
                torque[self.joints.index(word)] += value
            else:
                wrench[AXES.index(axis) + (3 if what == "moment" else 0)] += value
        if self.robot is not None and wrench.any():
            torque += self.robot.jacobian(q).T @ wrench
        return torque

    def _begin(self) -> None:
        """Start the process and have it load the unit."""
        assert self._folder is not None
        command = [sys.executable, "-m", "armtwin.exchange.external_fmu_process"]
        self._questions, self._answers = queue.Queue(), queue.Queue()
        self._process, self._lifeline = confinement.start(command)
        talk = (self._process, self._questions, self._answers)
        Thread(target=_talk, args=talk, daemon=True).start()
        first = {
            "folder": self._folder.name,
            "start": self.start,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
        }
        self._answer(first, "its start", further=STARTING)

    def _answer(self, asked: dict[str, Any], what: str, further: float = 0.0) -> dict[str, Any]:
        """The answer to a question, within its time; a process that gives none is ended."""
        limit = self.timeout + further
        self._questions.put(json.dumps(asked).encode() + b"\n")
        try:
            line = self._answers.get(timeout=limit)
        except queue.Empty:
            raise self._refuse(f"{what} did not return within {limit:g} s; it was ended") from None
        if not line:
            raise self._refuse(f"{what} ended its process ({self._wait_for_end()})")
        try:
            answer = json.loads(line, parse_int=float)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            got = f"{line[:80]!r} ({len(line)} bytes)"
            raise self._refuse(f"{what} was answered by {got} in place of numbers; it was ended")
        if "problem" in answer:
            raise self._refuse(f"{what} failed: {answer['problem']!s:.500}")
        return answer

    def _wait_for_end(self) -> str:
        """How the process ended, which has closed its output."""
        assert self._process is not None
        with suppress(subprocess.TimeoutExpired):
            return confinement.describe_end(self._process.wait(confinement.GRACE))
        return "its output is closed"

    def _refuse(self, problem: str) -> ArmtwinError:
        """End the process, and the error that says why."""
        self._end()
        return ArmtwinError(f"{self.path}: {problem}")

    def _end(self) -> None:
        """End the process with all that it started, whatever they do, and forget its files."""
        if self._process is not None:
            self._questions.put(None)
            confinement.end(self._process, self._lifeline)
            self._process = None
        if self._folder is not None:
            removal = Thread(target=_remove, args=(self._folder,))
            removal.start()
            removal.join(confinement.GRACE)  # a unit may have written more than goes at once
            self._folder = None


def _talk(
    process: subprocess.Popen[bytes],
    questions: queue.Queue[bytes | None],
    answers: queue.Queue[bytes],
) -> None:
    """Write questions and read an answer to each; b"" when the process has ended.

    Whoever waits for an answer waits for a limited time; here it may take for ever.
    """
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        while (asked := questions.get()) is not None:
            process.stdin.write(asked)
            process.stdin.flush()
            answers.put(process.stdout.readline(LONGEST_ANSWER))
    except OSError:
        answers.put(b"")
    finally:
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):  # what was not read any more
                stream.close()


def _are_numbers(found: object, count: int) -> TypeGuard[list[float]]:
    """Whether an answer holds the numbers of that many outputs."""
    if not isinstance(found, list) or len(found) != count:
        return False
    return all(isinstance(x, float) for x in found)


def _remove(folder: tempfile.TemporaryDirectory[str]) -> None:
    """Remove a folder, however deep a unit has made it: Python's own way calls itself."""
    if sys.platform != "win32":
        subprocess.run(["rm", "-rf", "--", folder.name], check=False, capture_output=True)
    with suppress(OSError, RecursionError):  # with what nobody was allowed to remove
        folder.cleanup()
