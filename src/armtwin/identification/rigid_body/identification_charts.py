"""Pictures of an identification: friction over speed, masses and centres, weight of the file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from armtwin.identification.fitting.draw import Draw
from armtwin.identification.rigid_body.estimate import Estimate
from armtwin.identification.rigid_body.judgement import Identification
from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve, Points, Rule
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Block, Column, Record, Table
from armtwin.robot.robot import Robot

BINS = 40  # of a joint's speeds, each with as many samples
LEAST_IN_BIN = 5
CURVE = 201  # speeds at which a friction law is drawn
CENTRE = Number(1e3, "mm")


def friction_charts(result: Identification) -> Multiples:
    """Friction torque of each joint over its speed: what the log shows, the fit, the robot file."""
    found = result.estimate
    v, torque = found.friction_in(result.fitted)
    charts = []
    for j, name in enumerate(found.prior.joint_names):
        speeds = np.linspace(v[:, j].min(), v[:, j].max(), CURVE)
        seen = _binned(v[:, j], torque[:, j])
        layers = (
            Points("log", seen[:, 0], seen[:, 1], y_error=seen[:, 2], shape="circle", colour=6),
            Curve("identified", speeds, _alone(found.robot, j, speeds), colour=0, dash="solid"),
            Curve("robot file", speeds, _alone(found.prior, j, speeds), colour=3, dash="dashed"),
        )
        charts.append(Chart(name, Axis("speed", "rad/s"), Axis("friction", "N m"), layers))
    return Multiples(
        tuple(charts),
        columns=3,
        shared="",
        title="Friction over speed",
        caption=(
            "Points: torque of the first fitted log less the identified rigid body's, mean and "
            "standard deviation of samples of like speed. Curves: the friction of the joint moving "
            "alone; where friction acts on several joints together, points need not lie on them."
        ),
    )


def _binned(v: Floats, torque: Floats) -> Floats:
    """Mean speed, mean torque and its deviation in bins of as many samples each, (bins, 3)."""
    order = np.argsort(v, kind="stable")
    rows = []
    for some in np.array_split(order, BINS):
        if len(some) >= LEAST_IN_BIN:
            rows.append((v[some].mean(), torque[some].mean(), torque[some].std()))
    return np.array(rows).reshape(-1, 3)


def _alone(robot: Robot, j: int, speeds: Floats) -> Floats:
    """Friction torque of a joint that moves alone."""
    v = np.zeros((len(speeds), robot.n))
    v[:, j] = speeds
    return robot.friction_torque(v, np.zeros_like(v))[:, j]


def link_blocks(found: Estimate) -> Iterator[Block]:
    """Mass and centre of each link before and after."""
    records = list(_links(found))
    numbers = np.arange(1.0, len(records) + 1)
    names = [str(record["link"]) for record in records]
    prior = np.array([record["mass_prior_kg"] for record in records])
    mass = np.array([record["mass_kg"] for record in records])
    std = np.array([record["mass_std_kg"] for record in records])
    heaviest = 1.15 * float(max(prior.max(), mass.max()))
    yield Chart(
        "Mass of each link",
        Axis("link"),
        Axis("mass", "kg", span=(0.0, heaviest)),
        (
            Points("robot file", numbers - 0.08, prior, shape="square", colour=3, names=names),
            Points("identified", numbers + 0.08, mass, y_error=std, colour=0, names=names),
        ),
        "With the standard deviation; what logs do not tell stays as in the robot file.",
    )
    columns = [
        Column("link", "link"),
        Column("mass_prior_kg", "mass before kg", PLAIN),
        Column("mass_kg", "after kg", PLAIN),
    ]
    for axis in "xyz":
        columns.append(Column(f"{axis}_prior_m", f"centre {axis} before", CENTRE))
        columns.append(Column(f"{axis}_m", "after", CENTRE))
    yield Table(tuple(columns), records, "links", folded="Mass and centre before and after")


def _links(found: Estimate) -> Iterator[Record]:
    for k, joint in enumerate(found.prior.assembly.tree.joints):
        rows = found.table[found.prior.layout.link(k)]
        record: dict[str, object] = {
            "link": joint.child,
            "mass_prior_kg": rows[0].prior,
            "mass_kg": rows[0].value,
            "mass_std_kg": rows[0].std,
        }
        for axis, moment in zip("xyz", rows[1:4], strict=True):
            record[f"{axis}_prior_m"] = _ratio(moment.prior, rows[0].prior)
            record[f"{axis}_m"] = _ratio(moment.value, rows[0].value)
        yield record


def _ratio(moment: float, mass: float) -> float | None:
    return moment / mass if mass else None


def weight_chart(draw: Draw) -> Chart:
    """Error of what was left out over the weight of the robot file."""
    weights = np.array(list(draw.errors))
    errors = np.array(list(draw.errors.values()))
    layers = (
        Curve("", weights, errors, colour=0, dash="solid"),
        Points("error of what was left out", weights, errors, colour=0),
        Rule(draw.weight, "chosen", on="x"),
    )
    return Chart(
        "Weight of the robot file",
        Axis("weight", logarithmic=True),
        Axis("error", logarithmic=True),
        layers,
        "Squared error of left-out parts over that of a fit to all; the lowest is taken.",
    )
