"""An identification as plain tables for JSON; docs/result.md explains every key."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from armtwin.identification.rigid_body.findings import not_told, reasons
from armtwin.identification.rigid_body.judgement import Identification
from armtwin.report.plain import RESULT_FORMAT, digest_of, plain, versions


def identification_result(result: Identification) -> dict[str, Any]:
    """What result.json holds of an identification."""
    found, errors = result.estimate, result.errors
    joints = []
    for j, name in enumerate(found.prior.joint_names):
        joint = {
            "name": name,
            "nrmse_percent": result.fit.nrmse[j],
            "nrmse_plain_percent": result.plain.nrmse[j],
            "nrmse_prior_percent": result.prior.nrmse[j],
            "nrmse_unseen_percent": None if errors is None else errors[0][j],
            "nrmse_unseen_prior_percent": None if errors is None else errors[1][j],
            "rmse_n_m": result.fit.rmse[j],
            "max_n_m": result.fit.max[j],
            "residual_n_m": found.sigma[j],
            "reversal_rad_s": found.reversal[j],
            "gain_n_m_a": None if found.gains is None else found.gains[j],
        }
        joints.append(joint)
    d = found.decomposition
    return plain(
        {
            "format": RESULT_FORMAT,
            "armtwin": versions()["armtwin"],
            "robot": found.prior.name,
            "tool": found.prior.description.mounted.tool,
            "payload": found.prior.description.mounted.payload,
            "torque": {"source": found.torque_source, "side": found.torque_side},
            "judged_on": _judged_on(result),
            "unjudged": result.unjudged,
            "failed": result.failed,
            "joints": joints,
            "parameters": [asdict(row) for row in found.table],
            "base": list(found.base),
            "decomposition": {
                "rank": d.rank,
                "kept": d.kept,
                "rows": d.rows,
                "deviation": d.deviation,
                "singular_values": d.singular[: d.rank],
                "g": d.g[: d.rank],
            },
            "draw": {
                "weight": found.draw.weight,
                "friction_size": found.draw.family_size,
                "tried": [{"weight": w, "error": e} for w, e in found.draw.errors.items()],
            },
            "broken_by_plain": list(found.broken),
            "not_told": not_told(found),
            "reasons": reasons(found, result.shown, result.fit),
            "recipe": vars(found.recipe),
            "logs": [
                {
                    "file": log.origin,
                    "samples": len(log.time),
                    "sha256": digest_of(log.origin),
                    "cleaning": asdict(how),
                }
                for log, how in zip(found.logs, found.cleaning, strict=True)
            ],
            "provenance": {"inputs_sha256": _inputs(result), "versions": versions()},
        }
    )


def _judged_on(result: Identification) -> str:
    if result.log is not None:
        return result.log.origin or "a log"
    return "left out in turn" if result.left_out is not None else "nothing unseen"


def _inputs(result: Identification) -> dict[str, str | None]:
    """Digests of robot file and validation log."""
    found = {"robot file": digest_of(result.estimate.prior.origin)}
    return (
        found if result.log is None else {**found, "validation log": digest_of(result.log.origin)}
    )
