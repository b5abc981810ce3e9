"""The back of a report: joints, limits, and what the numbers rest on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.prediction.predict import Prediction
from armtwin.report.plain import versions
from armtwin.report.results import inputs_sha256
from armtwin.report.sections import Block, Line, Mark, Plot, Table, Text


def joints(p: Prediction, times: Floats, series: dict[str, Floats]) -> Iterator[Block]:
    """Errors, torques and speeds of the joints."""
    turns = [_reversals(p, j) for j in range(p.robot.n)]
    marks = tuple(Mark(t, f"{j + 1}", j % 6) for j, found in enumerate(turns) for t in found[:6])
    for key, label, unit, caption in (
        ("error", "joint error", "mdeg", "Actual minus commanded position."),
        (
            "torque",
            "joint torque",
            "%",
            "Motor torque on the joints, as a share of the largest torque.",
        ),
        (
            "v",
            "joint speed",
            "deg/s",
            "Joint speeds; a flag with the joint's number where it is to reverse.",
        ),
    ):
        lines = [Line(name, f"{key}{j + 1}", j) for j, name in enumerate(p.robot.joint_names)]
        lines += [
            Line(f"{name}, measured", f"measured {key}{j + 1}", j, dashed=True)
            for j, name in enumerate(p.robot.joint_names)
            if f"measured {key}{j + 1}" in series
        ]
        flags = marks if key == "v" else ()
        yield Plot(
            "time",
            "time [s]",
            label,
            unit,
            tuple(lines),
            0,
            len(times),
            marks=flags,
            caption=caption,
        )


def _reversals(p: Prediction, j: int) -> list[float]:
    motion = p.motion.trajectory
    moving = np.flatnonzero(np.abs(motion.v[:, j]) > 1e-6)
    flips = np.flatnonzero(np.diff(np.sign(motion.v[moving, j])))
    return [float(motion.time[moving[k]]) for k in flips]


def limits(p: Prediction) -> Iterator[Block]:
    """What the motion uses of the robot's limits, and what it breaks."""
    f = p.feasibility
    if f.violations:
        yield Text("Limits that the commanded motion breaks:", "bad")
        yield Table(("what",), [[x.text] for x in f.violations], words=True)
    else:
        which = "reach, position, speed, acceleration, torque"
        yield Text(f"The commanded motion keeps every limit of the robot file: {which}.")
    keys = ("velocity", "acceleration", "torque")
    rows = [
        [
            name,
            *("-" if np.isnan(f.shares[k][j]) else f"{100 * f.shares[k][j]:.0f} %" for k in keys),
        ]
        for j, name in enumerate(p.robot.joint_names)
    ]
    yield Table(("largest use of limits", *keys), rows)
    yield Text(f"Nearest singularity: distance {f.distance:.3f} at {1e3 * f.distance_at_m:.1f} mm.")
    yield Text("Collisions are not checked.")


def provenance(p: Prediction) -> Iterator[Block]:
    """Sources of the robot's numbers, inputs, versions."""
    counts = ", ".join(f"{count} {kind}" for kind, count in p.robot.provenance.counts().items())
    yield Text(f"Sources of the numbers of '{p.robot.name}': {counts}.")
    yield Text(f"This verdict uses {len(p.assumed)} assumed ones.")
    yield Table(
        ("key", "assumed"),
        [[x.path, x.text] for x in p.assumed],
        words=True,
        folded="Assumed numbers in use",
    )
    if p.job.description.override:
        rows = [[key, str(value)] for key, value in p.job.description.override.items()]
        yield Table(("overridden by the job", "value"), rows, words=True)
    rows = [[name, digest] for name, digest in inputs_sha256(p.job, p.robot).items()]
    rows += [[name, text] for name, text in versions().items()]
    rows.append(["seed", "none: nothing here is random"])
    yield Table(
        ("input or version", "sha-256 or number"), rows, words=True, folded="Inputs and versions"
    )
    if p.robot.provenance.not_given:
        rows = [[text] for text in p.robot.provenance.not_given]
        yield Table(
            ("missing in the robot file",),
            rows,
            words=True,
            folded="What the robot file does not say",
        )
