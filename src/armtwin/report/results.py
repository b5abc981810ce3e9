"""Results as plain tables for JSON: SI numbers, the unit in the key; docs/result.md explains every key."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import asdict
from functools import singledispatch
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from armtwin.jobs.job import Job
from armtwin.logs.log import Event
from armtwin.prediction.compare import Comparison
from armtwin.prediction.predict import Prediction
from armtwin.prediction.verdict import Verdict
from armtwin.robot.description import FORMAT
from armtwin.robot.robot import Robot
from armtwin.robot.writing import to_tables, to_toml

PACKAGES = ("armtwin", "numpy", "scipy", "numba")


@singledispatch
def to_result(result: Any) -> dict[str, Any]:
    """A result as tables that JSON can hold; numbers that do not exist are null."""
    raise TypeError(f"there is no result.json of a {type(result).__name__}")


@to_result.register
def _of_prediction(p: Prediction) -> dict[str, Any]:
    torque = np.abs(p.log.tau).max(axis=0) / p.robot.limits.torque
    deviation = np.abs(p.log.q - p.log.q_ref).max(axis=0)
    joints = [
        {
            "name": name,
            "error_peak_rad": deviation[j],
            "torque_peak_share": torque[j] if np.isfinite(p.robot.limits.torque[j]) else None,
            "velocity_share": p.feasibility.shares["velocity"][j],
        }
        for j, name in enumerate(p.robot.joint_names)
    ]
    head = {"format": FORMAT, "armtwin": _versions()["armtwin"], **_of_job(p)}
    return _plain({**head, **_of_verdict(p.verdict), "joints": joints, **_of_run(p), "provenance": _provenance(p)})


@to_result.register
def _of_comparison(c: Comparison) -> dict[str, Any]:
    predicted = to_result(c.prediction)
    comparison = {
        "shift_s": c.shift,
        "positions": c.side,
        "torque": c.torque_source,
        "samples": len(c.time),
        "rows": [asdict(row) for row in c.rows],
        "measured": _of_verdict(c.verdict),
    }
    return {**predicted, "comparison": _plain(comparison)}


def _of_job(p: Prediction) -> dict[str, Any]:
    d = p.job.description
    return {
        "job": p.job.name,
        "robot": p.robot.name,
        "tool": p.robot.description.mounted.tool,
        "method": p.method,
        "model": asdict(d.model),
        "speed_m_s": d.speed,
        "length_m": p.job.seam.length,
        "duration_s": p.job.seam.duration,
        "process_on_m": p.job.process_on(),
    }


def _of_verdict(verdict: Verdict) -> dict[str, Any]:
    tolerance = verdict.tolerance
    return {
        "verdict": {
            "within": verdict.within,
            "tolerance_m": {"lateral": tolerance.lateral, "vertical": tolerance.vertical},
            "tolerance_orientation_rad": tolerance.orientation,
            "stopped": _event(verdict.stopped, verdict.stopped_at_m),
        },
        "segments": [asdict(x) for x in verdict.segments],
        "spans": [{**asdict(x), "causes": []} for x in verdict.spans],
        "outside_window": [asdict(x) for x in verdict.outside_window],
    }


def _of_run(p: Prediction) -> dict[str, Any]:
    violations = [asdict(x) for x in p.feasibility.violations]
    nearest = {"distance": p.feasibility.distance, "at_m": p.feasibility.distance_at_m}
    events = [_event(event, None) for event in p.log.events]
    return {"feasibility": {"violations": violations, "singularity": nearest}, "events": events, "advice": None}


def _event(event: Event | None, place: float | None) -> dict[str, Any] | None:
    if event is None:
        return None
    told = {"time_s": event.time, "kind": event.kind, "joint": event.joint, "text": event.text}
    return told if place is None else {**told, "at_m": place}


def _provenance(p: Prediction) -> dict[str, Any]:
    return {
        "inputs_sha256": inputs_sha256(p.job, p.robot),
        "versions": _versions(),
        "seed": None,
        "overrides": dict(p.job.description.override),
        "assumed": [{"key": x.path, "source": x.text} for x in p.assumed],
    }


def inputs_sha256(job: Job, robot: Robot) -> dict[str, str]:
    """Digests of the files that went in, and of job and robot as they were used."""
    files = [Path(x) for x in (job.origin, robot.origin) if x]
    files += [Path(job.origin).parent / s.points for s in job.description.segment if s.points is not None]
    found = {path.name: _digest(path.read_bytes()) for path in files if path.is_file()}
    used = {"job as used": job.description, "robot as used": robot.description}
    return found | {name: _digest(to_toml(to_tables(x)).encode()) for name, x in used.items()}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
