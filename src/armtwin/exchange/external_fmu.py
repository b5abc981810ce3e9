"""An external FMU as the partner of a simulation: in a process of its own, with a time limit.

An external FMU is third-party code. It is run only where a caller makes a ForeignUnit, never
because a file names it.
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
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from threading import Thread
from types import TracebackType
from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError, FileError, did_you_mean
from armtwin.files.opening import CHUNK, MB, UNIT, read_bytes
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot

MOST_MEMBERS = 10_000
DESCRIPTION = "modelDescription.xml"


def unpack(path: Path, folder: Path) -> None:
    """Unpack a unit into an empty folder; an archive that leads out of it is refused whole."""
    origin = str(path)
    try:
        archive = zipfile.ZipFile(io.BytesIO(read_bytes(path, UNIT)))
    except zipfile.BadZipFile:
        raise FileError(origin, ["is no unit: a .fmu file is a zip archive"]) from None
    with archive:
        members = archive.infolist()
        _check(members, origin)
        left = UNIT.most
        for member in members:
            left -= _write_member(archive, member, folder, left, origin)


def _check(members: list[zipfile.ZipInfo], origin: str) -> None:
    if len(members) > MOST_MEMBERS:
        problem = f"must hold at most {MOST_MEMBERS} members, got {len(members)}"
        raise FileError(origin, [problem])
    for member in members:
        place = PurePosixPath(member.filename.replace("\\", "/"))
        out = ".." in place.parts or place.is_absolute() or ":" in member.filename
        link = stat.S_ISLNK(member.external_attr >> 16)
        if out or link or "\0" in member.filename:
            why = "is a link" if link else "leads out of the archive's own folder"
            problem = f"member '{member.filename}' {why}; nothing of it was unpacked"
            raise FileError(origin, [problem])
    if DESCRIPTION not in {member.filename for member in members}:
        raise FileError(origin, [f"is no unit: it has no {DESCRIPTION}"])


def _write_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, left: int, origin: str
) -> int:
    """Write a member piece by piece; returns its length."""
    target = folder / member.filename.replace("\\", "/")
    if member.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return 0
    target.parent.mkdir(parents=True, exist_ok=True)
    length = 0
    try:
        with archive.open(member) as packed, target.open("wb") as file:
            while piece := packed.read(CHUNK):
                length += len(piece)
                if length > left:
                    problem = f"must unpack to at most {UNIT.most / MB:g} MB"
                    raise FileError(origin, [problem])
                file.write(piece)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        problem = f"member '{member.filename}' is damaged or packed in an unknown way ({error})"
        raise FileError(origin, [problem]) from None
    return length


AXES = ("x", "y", "z")
BENCH_JOINT = "joint"
STARTING = 30.0  # further time for loading Python and the unit [s]


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
        if not timeout > 0:
            raise ArmtwinError(f"{path}: timeout must be greater than 0 s, got {timeout:g}")
        self.path, self.robot, self.timeout = Path(path), robot, float(timeout)
        self.joints = [BENCH_JOINT] if robot is None else list(robot.joint_names)
        self.inputs, self.outputs = dict(inputs), dict(outputs)
        self.start = {name: float(value) for name, value in (start or {}).items()}
        self._check_names()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()

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
            unpack(self.path, Path(self._folder.name))
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
        found = self._answer({"time": time, "inputs": values}, words)["outputs"]
        if not np.all(np.isfinite(found)):
            raise ArmtwinError(f"{self.path}: {words} gave {found}, which are not all finite")
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
        self._process = subprocess.Popen(
            [sys.executable, "-m", "armtwin.exchange.external_fmu_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        Thread(target=self._read, args=(self._process,), daemon=True).start()
        first = {
            "folder": self._folder.name,
            "start": self.start,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
        }
        self._answer(first, "its start", further=STARTING)

    def _read(self, process: subprocess.Popen[str]) -> None:
        """Hand on what the process says, and at last that it has ended."""
        assert process.stdout is not None
        for line in process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def _answer(self, asked: dict[str, Any], what: str, further: float = 0.0) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            line = self._answers.get(timeout=self.timeout + further)
        except queue.Empty:
            limit = self.timeout + further
            problem = f"{what} did not return within {limit:g} s; it was ended"
            raise ArmtwinError(f"{self.path}: {problem}") from None
        except OSError:
            line = ""
        if not line:
            code = self._process.wait()
            raise ArmtwinError(f"{self.path}: {what} ended its process (code {code})")
        answer: dict[str, Any] = json.loads(line)
        if "problem" in answer:
            raise ArmtwinError(f"{self.path}: {what} failed: {answer['problem']}")
        return answer

    def _end(self) -> None:
        """End the process, whatever it does, and forget its files."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    with suppress(OSError):  # what was not read any more
                        stream.close()
            self._process = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
