"""What of friction, rotors and transmissions is not known exactly."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from armtwin.drives.friction.curves import at_level, at_viscosity, breakaway, split
from armtwin.drives.friction.laws import Law
from armtwin.jobs.uncertainty import Kind
from armtwin.prediction.band.identified import is_identified
from armtwin.prediction.band.quantity import (
    Quantity,
    Variant,
    change_each,
    least_trusted,
    scale_keys,
    source_kind,
)
from armtwin.prediction.band.width_settings import WidthSettings
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import FrictionElement, Transmission
from armtwin.simulation.model import Model

DRY = ("level", "asperity", "static", "torques", "scale")  # keys of what rubs
LOGGED = "identify"
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
            change=partial(_with_level, element.name),
            measured_by=LOGGED,
        )
    guessed = [x for x in elements if not is_identified(known, f"{x.name}.")]
    if guessed:
        words = "viscosity of all friction"
        yield _of_all("friction.viscosity", words, "viscous", _with_viscosity, guessed, asked)
    bristles = [element for element in elements if element.presliding is not None]
    if model.friction == "lugre" and bristles:
        words = "pre-sliding stiffness"
        yield _of_all("friction.bristles", words, "presliding", _with_bristles, bristles, asked)


def _of_all(
    kind: Kind,
    words: str,
    key: str,
    change: Callable[[Variant, float], Variant],
    groups: Sequence[Any],
    asked: WidthSettings,
) -> Quantity:
    """What moves in all groups together, as viscosity does with the oil's temperature."""
    source = least_trusted(source_kind(group, key) for group in groups)
    own = kind.partition(".")[2]
    width = max(asked.width(kind, kind, source, group, key=own) for group in groups)
    return Quantity(kind, words, kind, source, width, change, LOGGED)


def rotor_quantities(robot: Robot, asked: WidthSettings) -> Iterator[Quantity]:
    """The inertia of all rotors."""
    motors = robot.description.motor
    if not motors or is_identified(robot.uncertainty, "Jm"):
        return
    words = "inertia of the rotors"
    yield _of_all("rotors", words, "rotor_inertia", _with_rotors, motors, asked)


def elastic_quantities(robot: Robot, model: Model, asked: WidthSettings) -> Iterator[Quantity]:
    """The stiffness of all gears, where they are elastic."""
    gears = [gear for gear in robot.description.transmission if gear.stiffness is not None]
    if model.joints != "elastic" or not gears:
        return
    words = "stiffness of the gears"
    found = _of_all("gears", words, "stiffness", _with_stiffness, gears, asked)
    yield replace(found, measured_by="transmission")


def _with_level(name: str, variant: Variant, factor: float) -> Variant:
    """One friction element with dry, viscous and pre-sliding torques scaled together."""

    def change(element: FrictionElement) -> FrictionElement:
        return _scale_level(element, factor) if element.name == name else element

    return change_each(variant, "friction", change)


def _scale_level(element: FrictionElement, factor: float) -> FrictionElement:
    negative = None if element.negative is None else at_level(element.negative, factor)
    stiffer = _with_stiffer_bristles(element, factor)
    bristle = element.presliding
    if bristle is not None and bristle.radius is not None:
        stiffer = element  # the level over the pre-sliding distance grows by itself
    shifted = scale_keys(stiffer, factor, "offset")
    return replace(shifted, law=at_level(element.law, factor), negative=negative)


def _with_stiffer_bristles(element: FrictionElement, factor: float) -> FrictionElement:
    """Pre-sliding stiffness scaled by a factor; a pre-sliding distance divided by it."""
    bristle = element.presliding
    if bristle is None:
        return element
    radius = None if bristle.radius is None else bristle.radius / factor
    stiffer = scale_keys(bristle, factor, "stiffness", "damping")
    return replace(element, presliding=replace(stiffer, radius=radius))


def _with_viscosity(variant: Variant, factor: float) -> Variant:
    def change(element: FrictionElement) -> FrictionElement:
        negative = None if element.negative is None else at_viscosity(element.negative, factor)
        return replace(element, law=at_viscosity(element.law, factor), negative=negative)

    return change_each(variant, "friction", change)


def _with_bristles(variant: Variant, factor: float) -> Variant:
    return change_each(variant, "friction", lambda x: _with_stiffer_bristles(x, factor))


def _with_rotors(variant: Variant, factor: float) -> Variant:
    return change_each(variant, "motor", lambda x: scale_keys(x, factor, "rotor_inertia"))


def _with_stiffness(variant: Variant, factor: float) -> Variant:
    def change(gear: Transmission) -> Transmission:
        if gear.stiffness is None:
            return gear
        return scale_keys(gear, factor, "stiffness", "low_stiffness")

    return change_each(variant, "transmission", change)


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
