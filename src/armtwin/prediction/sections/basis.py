"""The back of a prediction's report: joints, limits, and what the numbers assume."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from armtwin.files.digests import digest, digest_of
from armtwin.files.versions import versions
from armtwin.files.writing import to_tables, to_toml
from armtwin.jobs.job import Job
from armtwin.maths.batch import Floats, NamedArrays, NamedTexts, Record
from armtwin.motion.feasibility import Clearance
from armtwin.notebook.numbers import FINE_PERCENT, MILLIDEGREES, MILLIMETRES, PERCENT, Number
from armtwin.notebook.sections import Blocks, Column, Data, Table, Text, list_columns
from armtwin.prediction.predict import Prediction
from armtwin.prediction.sections.causes import SHOWN
from armtwin.prediction.sections.plots import joint_plots, reversals
from armtwin.robot.robot import Robot


def inputs_sha256(job: Job, robot: Robot) -> NamedTexts:
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


LIMITS = ("velocity", "acceleration", "torque")
GROUPS_NAMED = 5  # groups of assumed numbers in one sentence

DISTANCE = Number(digits=2)
UNCHECKED = (
    "Not checked: the thickness of links and tool (their lines have none), hoses and cables, what "
    "the cell does not name, self-collision, the approach to the seam and the way back."
)


def joint_blocks(p: Prediction, times: Floats, series: NamedArrays) -> Blocks:
    """Errors, torques and speeds of the joints."""
    columns = list_columns(
        name="joint",
        error_peak_rad=("largest error", MILLIDEGREES),
        torque_peak_share=("torque", FINE_PERCENT),
        velocity_share=("speed", FINE_PERCENT),
        reversals=("reversals", Number()),
    )
    yield Table(columns, list(_joints(p)), "joints")
    yield Text("Torque and speed are shares of the limits of the robot file.", "soft")
    yield from joint_plots(p, times, series)


def _joints(p: Prediction) -> Iterator[Record]:
    limits = p.robot.limits.torque
    torque = np.abs(p.log.tau).max(axis=0)
    deviation = np.abs(p.log.q - p.log.q_ref).max(axis=0)
    for j, name in enumerate(p.robot.joint_names):
        yield {
            "name": name,
            "error_peak_rad": deviation[j],
            "torque_peak_share": torque[j] / limits[j] if np.isfinite(limits[j]) else None,
            "velocity_share": p.feasibility.shares["velocity"][j],
            "reversals": len(reversals(p, j)),
        }


def limit_blocks(p: Prediction) -> Blocks:
    """Use of the robot's limits, and the limits that are exceeded."""
    found = p.feasibility
    if found.violations:
        yield Text("Limits that the commanded motion exceeds (reported, as the job asks):", "bad")
    records = [asdict(violation) for violation in found.violations]
    columns = list_columns(text="what")
    yield Table(columns, records, "feasibility.violations", most=SHOWN)
    yield Text(_describe_limits(p))
    yield Table(
        (Column("name", "largest use of limits"), *(Column(key, key, PERCENT) for key in LIMITS)),
        list(_uses(p)),
        folded="Use of limits by the commanded motion",
    )
    yield Text(_singularity(p))
    yield from _cell(p)
    nearest = {"distance": found.distance, "at_m": found.distance_at_m}
    yield Data({"feasibility.singularity": nearest})


def _cell(p: Prediction) -> Blocks:
    """What around the robot was checked, how near it comes, and what was not checked."""
    columns = list_columns(
        obstacle="in the cell",
        part="nearest",
        distance=("distance", MILLIMETRES),
        at_m=("at", MILLIMETRES),
    )
    found = p.feasibility.clearances
    yield Text(_describe_clearances(found))
    yield Table(columns, [asdict(clearance) for clearance in found], "feasibility.cell")
    yield Text(UNCHECKED)


def _describe_clearances(found: Sequence[Clearance]) -> str:
    """Clearances that were checked, and those that were not."""
    if not found:
        return (
            "Nothing around the robot was checked: the job has no [cell], and a base that is not "
            "upright has no known floor."
        )
    whole = [x.obstacle for x in found if x.with_tool]
    arm = [x.obstacle for x in found if not x.with_tool]
    sentences = []
    if whole:
        sentences.append(f"Arm centre lines and the tool stay clear of {', '.join(whole)}.")
    if arm:
        sentences.append(
            f"No floor given: {', '.join(arm)} is used. Arm centre lines stay above it; the tool "
            "was not checked."
        )
    return " ".join(sentences)


def _uses(p: Prediction) -> Iterator[Record]:
    for j, name in enumerate(p.robot.joint_names):
        shares = {key: p.feasibility.shares[key][j] for key in LIMITS}
        yield {"name": name, **shares}


def _describe_limits(p: Prediction) -> str:
    """Which limits were checked; those that the file does not have are named as such."""
    given = {
        "position": np.isfinite(p.robot.position_limits).any(),
        "velocity": np.isfinite(p.robot.limits.velocity).any(),
        "acceleration": np.isfinite(p.robot.limits.acceleration).any(),
        "torque": np.isfinite(p.robot.limits.torque).any(),
        "motor current": np.isfinite(p.robot.limits.motor_torque).any(),
    }
    checked = ["reach", *(name for name, known in given.items() if known)]
    absent = [name for name, known in given.items() if not known]
    unknown = f" The robot file has no limits of {' and '.join(absent)}." if absent else ""
    if p.feasibility.violations:
        return f"Checked: {', '.join(checked)}.{unknown}"
    return f"The commanded motion is within the limits of {', '.join(checked)}.{unknown}"


def _singularity(p: Prediction) -> str:
    """How near the motion comes to a singularity, and what that means."""
    distance = p.feasibility.distance
    place = MILLIMETRES.with_unit(p.feasibility.distance_at_m)
    if not distance > 0:
        return f"The motion passes a singularity at {place}."
    return (
        f"Nearest to a singularity at {place}: distance {DISTANCE.text(distance)}, so that 1 mm or "
        f"1 mrad of the tool needs up to {DISTANCE.text(1 / distance)} mrad of the joints there."
    )


def basis_blocks(p: Prediction, seed: int | None) -> Blocks:
    """Sources of the robot's numbers, inputs, versions, seed of the sampled variants."""
    yield Text(_describe_assumed(p))
    counts = [f"{count} {kind}" for kind, count in p.robot.provenance.counts().items()]
    yield Text(f"Sources of the numbers of '{p.robot.name}': {', '.join(counts)}.", "soft")
    yield Table(
        list_columns(key="key", source="assumed"),
        [{"key": origin.path, "source": origin.text} for origin in p.assumed],
        key="provenance.assumed",
        folded="Assumed numbers in use",
    )
    yield from _overrides(p)
    yield from _inputs(p, seed)
    if p.robot.provenance.not_given:
        yield Table(
            list_columns(text="missing in the robot file"),
            [{"text": text} for text in p.robot.provenance.not_given],
            folded="What the robot file does not say",
        )


def _describe_assumed(p: Prediction) -> str:
    """The assumed numbers behind a verdict, by group."""
    groups = Counter(origin.path.partition(".")[0] for origin in p.assumed)
    if not groups:
        return "No number of the robot file in use here is assumed."
    named = ", ".join(f"{group} {count}" for group, count in groups.most_common(GROUPS_NAMED))
    more = " and others" if len(groups) > GROUPS_NAMED else ""
    robot = p.job.description.robot
    return (
        f"It depends on {groups.total()} assumed numbers of the robot file ({named}{more}): "
        f"see armtwin check {robot}."
    )


def _overrides(p: Prediction) -> Blocks:
    overrides = dict(p.job.description.override)
    yield Data({"provenance.overrides": overrides})
    if overrides:
        columns = list_columns(key="overridden by the job", value="value")
        yield Table(columns, [{"key": key, "value": x} for key, x in overrides.items()])


def _inputs(p: Prediction, seed: int | None) -> Blocks:
    digests = inputs_sha256(p.job, p.robot)
    shown = "none: nothing here is random" if seed is None else str(seed)
    found = {**digests, **versions(), "seed of the variants": shown}
    yield Table(
        list_columns(what="input or version", text="sha-256 or number"),
        [{"what": what, "text": text} for what, text in found.items()],
        folded="Inputs and versions",
    )
    yield Data(
        {
            "provenance.inputs_sha256": digests,
            "provenance.versions": versions(),
            "provenance.seed": seed,
        }
    )
