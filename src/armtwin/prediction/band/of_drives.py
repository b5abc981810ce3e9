"""What of friction, rotors and transmissions is not known exactly."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from armtwin.drives.friction.curves import at_level, at_viscosity, breakaway, split
from armtwin.drives.friction.laws import Law
from armtwin.jobs.uncertainty import Kind
from armtwin.prediction.band.identified import is_identified
from armtwin.prediction.band.quantity import (
    Quantity,
    least_trusted,
    name_of,
    scale_groups,
    scale_keys,
    source_kind,
    with_values,
)
from armtwin.prediction.band.rules import Rules
from armtwin.prediction.band.width_settings import WidthSettings
from armtwin.prediction.band.widths import EACH
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import FrictionElement, Motor, Transmission
from armtwin.simulation.model import Model

DRY = ("level", "first", "asperity", "static", "torques", "scale")  # keys of what rubs
LOGGED, ENCODERS = "identify", "transmission"
TOGETHER = ("derived", "assumed")  # sources that are a rule for several gears
SLOW = np.logspace(-4, -1, 16)  # speeds at which friction is mostly dry [rad/s]


def friction_quantities(robot: Robot, model: Model, asked: WidthSettings) -> Iterator[Quantity]:
    """The level of each friction element; viscosity and pre-sliding stiffness of all together."""
    elements = [element for element, _ in robot.assembly.friction]
    if model.friction == "off" or not elements:
        return
    known = robot.uncertainty
    for element in elements:
        if is_identified(known, f"{element.name}."):
            continue  # varied with all that was identified
        source = _dry_source(element)
        name = f"friction.{element.name}"
        yield Quantity(
            name=name,
            words=f"friction of {element.name}",
            kind="friction.level",
            basis=f"{source} {dry_level(element.law):.3g} N m",
            width=asked.width("friction.level", name, source, element, key="level"),
            change=partial(scale_groups, "friction", _scale_level, (element.name,)),
            measured_by=LOGGED,
        )
    guessed = [x for x in elements if not is_identified(known, f"{x.name}.")]
    if guessed:
        yield _viscosity(guessed, asked)
    bristles = [element for element in elements if element.presliding is not None]
    if model.friction == "lugre" and bristles:
        named = {element.name: element for element in bristles}
        words = "pre-sliding stiffness"
        stiffer = partial(scale_groups, "friction", _with_stiffer_bristles)
        rules = Rules("friction.bristles", words, "presliding", stiffer, LOGGED)
        yield from rules.quantities(named, asked)


def _viscosity(elements: Sequence[FrictionElement], asked: WidthSettings) -> Quantity:
    """Viscosity of all elements together: it follows the oil's temperature."""
    kind: Kind = "friction.viscosity"
    source = least_trusted(source_kind(element, "viscous") for element in elements)
    width = max(asked.width(kind, kind, source, x, key="viscosity") for x in elements)
    words = "viscosity of all friction"
    change = partial(scale_groups, "friction", _scale_viscosity, None)
    return Quantity(kind, words, kind, source, width, change, LOGGED)


def rotor_quantities(robot: Robot, asked: WidthSettings) -> Iterator[Quantity]:
    """The inertia of all rotors."""
    motors = robot.description.motor
    if not motors or is_identified(robot.uncertainty, "Jm"):
        return
    named = {motor.name: motor for motor in motors}
    change = partial(scale_groups, "motor", _scale_rotor)
    rules = Rules("rotors", "inertia of the rotors", "rotor_inertia", change, LOGGED)
    yield from rules.quantities(named, asked)


def elastic_quantities(robot: Robot, model: Model, asked: WidthSettings) -> Iterator[Quantity]:
    """The stiffness of each gear, where they are elastic.

    What one rule gave errs together, each of its gears beside the others by a third of that. What
    was measured, or printed for each, errs alone.
    """
    if model.joints != "elastic":
        return
    gears = {name_of(x): x for x in robot.description.transmission if x.stiffness is not None}
    change = partial(scale_groups, "transmission", _scale_stiffness)
    rules = Rules("gears", "stiffness of the gears", "stiffness", change, ENCODERS)
    for quantity in rules.quantities(gears, asked):
        own = 1.0
        if quantity.source in TOGETHER and len(quantity.of) > 1:
            yield with_values(quantity, then=0.0)
            own = EACH
        for name in quantity.of:
            yield _of_gear(name, gears[name], own, asked)


def _of_gear(name: str, gear: Transmission, share: float, asked: WidthSettings) -> Quantity:
    """The stiffness of one gear, with a share of the usual width."""
    source = source_kind(gear, "stiffness")
    width = asked.job.first(f"gears.{name}")
    if width is None:
        width = share * asked.width("gears", "gears", source, gear)
    return Quantity(
        name=f"gears.{name}",
        words=f"stiffness of the gear of {name}",
        kind="gears",
        basis=f"{source} {1e-6 * (gear.stiffness or 0.0):.3g} MN m/rad",
        width=width,
        change=partial(scale_groups, "transmission", _scale_stiffness, (name,)),
        measured_by=ENCODERS,
        of=(name,),
    )


def _scale_level(element: FrictionElement, factor: float) -> FrictionElement:
    """A friction element with dry, viscous and pre-sliding torques scaled together."""
    negative = None if element.negative is None else at_level(element.negative, factor)
    stiffer = _with_stiffer_bristles(element, factor)
    bristle = element.presliding
    if bristle is not None and bristle.radius is not None:
        stiffer = element  # the level over the pre-sliding distance grows by itself
    shifted = scale_keys(stiffer, factor, "offset")
    return with_values(shifted, law=at_level(element.law, factor), negative=negative)


def _with_stiffer_bristles(element: FrictionElement, factor: float) -> FrictionElement:
    """Pre-sliding stiffness scaled by a factor; a pre-sliding distance divided by it."""
    bristle = element.presliding
    if bristle is None:
        return element
    radius = None if bristle.radius is None else bristle.radius / factor
    stiffer = scale_keys(bristle, factor, "stiffness", "damping")
    return with_values(element, presliding=with_values(stiffer, radius=radius))


def _scale_viscosity(element: FrictionElement, factor: float) -> FrictionElement:
    negative = None if element.negative is None else at_viscosity(element.negative, factor)
    return with_values(element, law=at_viscosity(element.law, factor), negative=negative)


def _scale_rotor(motor: Motor, factor: float) -> Motor:
    return scale_keys(motor, factor, "rotor_inertia")


def _scale_stiffness(gear: Transmission, factor: float) -> Transmission:
    return scale_keys(gear, factor, "stiffness", "low_stiffness")


def dry_level(law: Law) -> float:
    """Largest dry torque at rest or in slow sliding; a smooth law holds nothing at rest [N m]."""
    return max(breakaway(law), float(split(law, SLOW)[0].max()))


def _dry_source(element: FrictionElement) -> str:
    """Kind of the source of what rubs."""
    if isinstance(element.source, dict):
        for key in DRY:
            if key in element.source:
                return source_kind(element, key)
    return source_kind(element)
