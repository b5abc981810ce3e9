"""What a result was made of: digests of the files that went in."""

from __future__ import annotations

import hashlib
from pathlib import Path

from armtwin.files.writing import to_tables, to_toml
from armtwin.jobs.job import Job
from armtwin.robot.robot import Robot


def digest(data: bytes) -> str:
    """Digest of bytes."""
    return hashlib.sha256(data).hexdigest()


def digest_of(path: str) -> str | None:
    """Digest of a file, None where there is none."""
    if not path or not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:  # piece by piece, as logs may be long
        return hashlib.file_digest(file, "sha256").hexdigest()


def inputs_sha256(job: Job, robot: Robot) -> dict[str, str]:
    """Digests of the files that went in, and of job and robot as they were used."""
    files = {"job file": job.origin, "robot file": robot.origin}
    for segment in job.description.segment:
        if segment.points is not None:
            path = Path(job.origin).parent / segment.points
            files[f"points file {segment.points}"] = str(path)
    for force in job.description.force:
        if force.file is not None:
            files[f"force file {force.file}"] = str(job.beside(force.file))
    digests = {name: digest_of(path) for name, path in files.items()}
    found = {name: value for name, value in digests.items() if value is not None}
    for name, used in (("job", job.description), ("robot", robot.description)):
        found[f"{name} as used"] = digest(to_toml(to_tables(used)).encode())
    return found


def file_name(path: str, otherwise: str) -> str:
    """The name of a file without its folders, in the style of any system."""
    return path.replace("\\", "/").rpartition("/")[2] or otherwise
