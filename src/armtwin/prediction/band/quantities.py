"""All quantities of a prediction that are not known exactly."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from armtwin.errors import blame
from armtwin.jobs.job import Job
from armtwin.jobs.uncertainty import Kind, Uncertainty
from armtwin.maths.batch import Floats
from armtwin.prediction.band import quantity
from armtwin.prediction.band.of_drives import (
    elastic_quantities,
    friction_quantities,
    rotor_quantities,
)
from armtwin.prediction.band.of_placement import placement_quantities
from armtwin.prediction.band.of_servo import servo_quantities
from armtwin.prediction.band.rules import Rules
from armtwin.prediction.band.width_settings import WidthSettings
from armtwin.prediction.predict import Prediction
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import Body, Link
from armtwin.simulation.model import Model

INERTIAS = ("xx", "yy", "zz", "xy", "xz", "yz")
Change = Callable[[Body, float], Body]


def link_quantities(robot: Robot, asked: WidthSettings) -> Iterator[quantity.Quantity]:
    """Density and size of the links."""
    links = {link.name: link for link in robot.description.link if link.body is not None}
    inertial = robot.uncertainty.known[robot.layout.all_links]
    if not links or inertial.any():
        return
    mass = ("links.mass", "masses of the links", heavier)
    size = ("links.size", "where the links' masses are", larger)
    for name, words, change in (mass, size):
        scale = partial(quantity.scale_groups, "link", partial(_scale_link, change))
        rules = Rules("links", words, "mass", scale, "identify", name)
        yield from rules.quantities(links, asked)


def tool_quantities(robot: Robot, asked: WidthSettings) -> Iterator[quantity.Quantity]:
    """Mass and size of the mounted tool."""
    name = robot.description.mounted.tool
    tool = robot.description.tool[name] if name else None
    if tool is None or tool.body is None:
        return
    parts: tuple[tuple[Kind, str, Change], ...] = (
        ("tool.mass", "mass", heavier),
        ("tool.size", "com", larger),
    )
    for kind, key, change in parts:
        source, what = quantity.source_kind(tool, key), kind.removeprefix("tool.")
        yield quantity.Quantity(
            name=kind,
            words=f"{what} of the tool",
            kind=kind,
            basis=f"{source} {tool.body.mass:g} kg" if key == "mass" else source,
            width=asked.width(kind, kind, source, tool, key=what),
            change=partial(_with_tool, name, change),
            measured_by="tool",
        )


def heavier(body: Body, factor: float) -> Body:
    """A body of the same shape, denser."""
    denser = quantity.scale_keys(body, factor, "mass", "first_moment")
    return _with_inertias(denser, factor)


def larger(body: Body, factor: float) -> Body:
    """A body of the same mass, larger about its frame."""
    wider = quantity.scale_keys(body, factor, "com", "first_moment")
    return _with_inertias(wider, factor**2)


def _with_inertias(body: Body, factor: float) -> Body:
    if body.inertia is None:
        return body
    return quantity.with_values(body, inertia=quantity.scale_keys(body.inertia, factor, *INERTIAS))


def _scale_link(change: Change, link: Link, factor: float) -> Link:
    return link if link.body is None else quantity.with_values(link, body=change(link.body, factor))


def _with_tool(
    name: str, change: Change, variant: quantity.Variant, factor: float
) -> quantity.Variant:
    tool = variant.description.tool[name]
    assert tool.body is not None
    changed = quantity.with_values(tool, body=change(tool.body, factor))
    return quantity.change_robot(variant, tool={**variant.description.tool, name: changed})


def quantities_of(p: Prediction) -> tuple[quantity.Quantity, ...]:
    """What of robot, servo, tool and placement of a prediction is not known exactly."""
    return quantities_for(p.robot, p.job)


def quantities_for(robot: Robot, job: Job) -> tuple[quantity.Quantity, ...]:
    """What of a robot with its tool, and of the placement of a job, is not known exactly.

    Those of a width of zero are there as well, so that the samples of the others stay the same.
    """
    model = job.description.model
    asked = WidthSettings(job.description.uncertainty)
    found = [
        *servo_quantities(robot, model.servo, asked),
        *friction_quantities(robot, model, asked),
        *elastic_quantities(robot, model, asked),
        *link_quantities(robot, asked),
        *rotor_quantities(robot, asked),
        *tool_quantities(robot, asked),
        *placement_quantities(asked),
    ]
    with blame(job.where):
        asked.check(found)
    return tuple(found)


def spread_parameters(robot: Robot) -> Floats:
    """Directions in which parameters may be off by one standard deviation, (p, k).

    One for each link, rotor and friction element in each quantity that is sampled of them, and
    those of the covariance of what was identified. Parts of one source err each by itself here: the
    torque of its own joint identifies each.
    """
    asked = WidthSettings(Uncertainty())
    found = [
        *friction_quantities(robot, Model(), asked),
        *rotor_quantities(robot, asked),
        *link_quantities(robot, asked),
        *tool_quantities(robot, asked),
    ]
    sizes = robot.layout.sizes
    part = np.repeat(np.arange(len(sizes)), sizes)
    columns = []
    for one in found:
        moved = one.moved(quantity.Variant(robot.description), 1.0).description
        change = robot.with_numbers(moved).parameters - robot.parameters
        columns += [np.where(part == k, change, 0.0) for k in range(len(sizes))]
    values, vectors = np.linalg.eigh(robot.uncertainty.covariance)
    identified = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, values > 0]
    spread = np.column_stack([*columns, identified])
    return spread[:, spread.any(axis=0)]
