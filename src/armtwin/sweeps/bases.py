"""What a sweep starts from: each job with each robot, as files that a worker anywhere can read."""

import hashlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from armtwin.errors import shorten
from armtwin.files.covariance import beside
from armtwin.files.opening import COVARIANCE, POINTS, TOML, URDF, read_bytes
from armtwin.files.writing import to_tables, to_toml
from armtwin.jobs.description import JobDescription
from armtwin.jobs.groups import Force, Segment
from armtwin.jobs.job import Job
from armtwin.maths.batch import Record
from armtwin.robot.robot import Robot
from armtwin.sweeps.settings import content

LONGEST = 500  # characters of a sentence that are kept
Group = TypeVar("Group", Segment, Force)  # what of a job names a file
LONG_AGO = 1e9  # time that unpacked files carry, so that what is made of them is cached


@dataclass(frozen=True, eq=False)
class Base:
    """A job with a robot, and the files that it is read from.

    Attributes:
        job: The job as the user named it.
        robot: Name of its robot.
        description: The job with plain names of the files that it needs.
        files: Those files by plain name.
        digest: Digest of the content of all of it.
    """

    job: Job
    robot: str
    description: JobDescription
    files: dict[str, bytes]
    digest: str


def base_of(job: Job) -> Base:
    """A job ready to be sent."""
    files: dict[str, bytes] = {}
    d = job.description
    robot = job.bare_robot()
    segments = _take_files(job, d.segment, "points", "points", files)
    forces = _take_files(job, d.force, "file", "force", files)
    digest = _digest_of(robot, replace(d, segment=segments, force=forces), files)
    sent = d.robot
    if not _is_shipped(job):
        sent = f"robot{Path(robot.origin).suffix}"
        kind = TOML if Path(sent).suffix == ".toml" else URDF
        files[sent] = read_bytes(Path(robot.origin), kind)
        known = beside(Path(robot.origin))
        if os.path.isfile(known):
            files[beside(Path(sent)).name] = read_bytes(known, COVARIANCE)
    description = replace(d, robot=sent, segment=segments, force=forces)
    return Base(job, robot.name, description, files, digest)


def _take_files(
    job: Job, groups: tuple[Group, ...], key: str, plain: str, files: dict[str, bytes]
) -> tuple[Group, ...]:
    """Groups of a job with plain names of the files under a key; their contents go to `files`."""
    taken = []
    for k, group in enumerate(groups):
        path = getattr(group, key)
        if path is not None:
            name = f"{plain}_{k + 1}{Path(path).suffix}"
            files[name] = read_bytes(job.beside(path), POINTS)
            change: Record = {key: name}
            group = replace(group, **change)
        taken.append(group)
    return tuple(taken)


def _is_shipped(job: Job) -> bool:
    from armtwin.robot.files import list_shipped

    name = job.description.robot
    return name in list_shipped() and not (Path(name).suffix and job.beside(name).exists())


def _digest_of(robot: Robot, job: JobDescription, files: dict[str, bytes]) -> str:
    """Digest of what a job's runs depend on, wherever its files lie."""
    digest = hashlib.sha256(content(job).encode())
    digest.update(to_toml(to_tables(robot.description)).encode())
    known = robot.description.standard_deviation
    if known is not None and known.covariance is not None:
        digest.update(known.covariance.values.tobytes())
    for name in sorted(files):
        digest.update(hashlib.sha256(files[name]).digest())
    return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Parcel:
    """All that a worker needs, sent to it once.

    Attributes:
        jobs: Each job with plain names of its files, its own name and its files.
        band: Whether each run gets its 90 % interval.
        method: How the arm is simulated.
        version: Version of armtwin that sends it.
    """

    jobs: tuple[tuple[JobDescription, str, dict[str, bytes]], ...]
    band: bool
    method: str
    version: str

    @cached_property
    def digest(self) -> str:
        """What the parcel is known by."""
        found = hashlib.sha256(f"{self.band} {self.method} {self.version}".encode())
        for description, name, files in self.jobs:
            found.update(f"{name} {description!r}".encode())
            for file in sorted(files):
                found.update(file.encode() + hashlib.sha256(files[file]).digest())
        return found.hexdigest()


def parcel_of(bases: Sequence[Base], band: bool, method: str, version: str) -> Parcel:
    """The parcel of a sweep's jobs."""
    jobs = tuple((base.description, base.job.name, base.files) for base in bases)
    return Parcel(jobs, band, method, version)


@dataclass(frozen=True, eq=False)
class Unpacked:
    """A parcel on the machine where it is worked on.

    Attributes:
        jobs: The jobs.
        folder: Folder of their files; None where they need none.
        parcel: The parcel.
    """

    jobs: tuple[Job, ...]
    folder: tempfile.TemporaryDirectory[str] | None
    parcel: Parcel = field(repr=False)

    def told(self, error: Exception) -> str:
        """An error in words that are the same wherever it happens."""
        text = str(error)
        if self.folder is not None:
            for k, (_, name, _) in enumerate(self.parcel.jobs):
                place = Path(self.folder.name) / str(k)
                text = text.replace(str(place / "job.toml"), f"job '{name}'")
                text = text.replace(f"{place}{os.sep}", "")
        return shorten(text, LONGEST)


def unpack(parcel: Parcel) -> Unpacked:
    """The jobs of a parcel, their files in a folder that is removed when it is no longer needed."""
    folder = None
    if any(files for _, _, files in parcel.jobs):
        folder = tempfile.TemporaryDirectory(prefix="armtwin-sweep-")
    jobs = []
    for k, (description, _, files) in enumerate(parcel.jobs):
        origin = ""
        if folder is not None:
            place = Path(folder.name) / str(k)
            place.mkdir()
            origin = str(place / "job.toml")
            for name, data in files.items():
                (place / name).write_bytes(data)
                os.utime(place / name, (LONG_AGO, LONG_AGO))
        jobs.append(Job(description, origin))
    return Unpacked(tuple(jobs), folder, parcel)
