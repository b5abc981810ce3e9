"""What a result was made of: digests of the files that went in."""

from __future__ import annotations

from pathlib import Path

from armtwin.files.digests import digest, digest_of
from armtwin.files.writing import to_tables, to_toml
from armtwin.jobs.job import Job
from armtwin.robot.robot import Robot


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
