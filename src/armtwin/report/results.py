"""Results as plain tables for JSON: SI numbers, the unit in the key; docs/result.md explains every key."""

from __future__ import annotations

from dataclasses import asdict
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np

from armtwin.identification.judged import Identification
from armtwin.jobs.job import Job
from armtwin.logs.recording import Event
from armtwin.prediction.advice import Advice, Option
from armtwin.prediction.answer import Answer
from armtwin.prediction.compare import Comparison
from armtwin.prediction.predict import Prediction
from armtwin.prediction.verdict import Verdict
from armtwin.report.identification_result import identification_result
from armtwin.report.plain import RESULT_FORMAT, digest, plain, versions
from armtwin.robot.robot import Robot
from armtwin.robot.writing import to_tables, to_toml


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
    head = {"format": RESULT_FORMAT, "armtwin": versions()["armtwin"], **_of_job(p)}
    return plain(
        {
            **head,
            **_of_verdict(p.verdict),
            "joints": joints,
            **_of_run(p),
            "provenance": _provenance(p),
        }
    )


@to_result.register
def _of_identification(result: Identification) -> dict[str, Any]:
    return identification_result(result)


@to_result.register
def _of_answer(answer: Answer) -> dict[str, Any]:
    result = to_result(answer.prediction)
    for told in answer.explanations:
        causes = [asdict(cause) for cause in told.causes]
        if told.within:
            result["peaks"].append(
                {**asdict(told.span), "time_s": told.time, "causes": plain(causes)}
            )
            continue
        for span, known in zip(result["spans"], answer.prediction.verdict.spans, strict=True):
            if known == told.span:
                span["causes"] = plain(causes)
    if answer.advice is not None:
        result["advice"] = plain(_of_advice(answer.advice))
    if answer.comparison is not None:
        result["comparison"] = _of_comparison(answer.comparison)
    return result


def _of_advice(advice: Advice) -> dict[str, Any]:
    def told(option: Option) -> dict[str, Any]:
        return {key: getattr(option, key) for key in ("name", "text", "holds", "ratio")} | {
            "duration_s": option.duration
        }

    return {
        "best": None if advice.best is None else told(advice.best),
        "options": [told(option) for option in advice.options],
        "speeds_tried": [{"speed_m_s": speed, "holds": holds} for speed, holds in advice.tried],
        "monotonic": advice.monotonic,
        "sensitivities": [asdict(x) for x in advice.sensitivities],
        "simulations": advice.simulations,
    }


def _of_comparison(c: Comparison) -> Any:
    comparison = {
        "shift_s": c.shift,
        "positions": c.side,
        "torque": c.torque_source,
        "samples": len(c.time),
        "covered_share": c.covered,
        "rows": [asdict(row) for row in c.rows],
        "measured": _of_verdict(c.verdict),
    }
    return plain(comparison)


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
        "peaks": [],
        "outside_window": [asdict(x) for x in verdict.outside_window],
    }


def _of_run(p: Prediction) -> dict[str, Any]:
    violations = [asdict(x) for x in p.feasibility.violations]
    nearest = {"distance": p.feasibility.distance, "at_m": p.feasibility.distance_at_m}
    events = [_event(event, None) for event in p.log.events]
    return {
        "feasibility": {"violations": violations, "singularity": nearest},
        "events": events,
        "advice": None,
    }


def _event(event: Event | None, place: float | None) -> dict[str, Any] | None:
    if event is None:
        return None
    told = {"time_s": event.time, "kind": event.kind, "joint": event.joint, "text": event.text}
    return told if place is None else {**told, "at_m": place}


def _provenance(p: Prediction) -> dict[str, Any]:
    return {
        "inputs_sha256": inputs_sha256(p.job, p.robot),
        "versions": versions(),
        "seed": None,
        "overrides": dict(p.job.description.override),
        "assumed": [{"key": x.path, "source": x.text} for x in p.assumed],
    }


def inputs_sha256(job: Job, robot: Robot) -> dict[str, str]:
    """Digests of the files that went in, and of job and robot as they were used."""
    files = {"job file": job.origin, "robot file": robot.origin}
    named = [s.points for s in job.description.segment if s.points is not None]
    files |= {f"points file {name}": str(Path(job.origin).parent / name) for name in named}
    found = {
        name: digest(Path(path).read_bytes())
        for name, path in files.items()
        if path and Path(path).is_file()
    }
    used = {"job as used": job.description, "robot as used": robot.description}
    return found | {name: digest(to_toml(to_tables(x)).encode()) for name, x in used.items()}
