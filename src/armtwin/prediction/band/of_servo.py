"""What of a servo is not known exactly: never single gains, always what belongs together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from armtwin.prediction.band.asked import Asked
from armtwin.prediction.band.quantity import Quantity, Variant, source_kind, uncertain
from armtwin.prediction.band.widths import EACH, NINE_OF_TEN, Kind
from armtwin.robot.robot import Robot
from armtwin.robot.servo import Cascade, Proportional, Servo, VelocityLaw
from armtwin.robot.servo_changes import (
    has_filters,
    with_acceleration_feedforward,
    with_bandwidth,
    with_damping,
    with_filters,
    with_friction_feedforward,
    with_integrator,
)

LOGGED = "servo"  # how a servo is measured
SHARED: tuple[tuple[Kind, str, str, Callable[[Servo, float], Servo]], ...] = (
    ("damping", "the servo's damping", "damping", with_damping),
    ("integrator", "the servo's integrator", "integrator", with_integrator),
    (
        "acceleration_feedforward",
        "the acceleration that is fed forward",
        "acceleration_feedforward",
        with_acceleration_feedforward,
    ),
    (
        "friction_feedforward",
        "the friction that is fed forward",
        "friction_feedforward",
        with_friction_feedforward,
    ),
)


def servo_quantities(robot: Robot, name: str, asked: Asked) -> Iterator[Quantity]:
    """Quantities of a servo of a robot file: bandwidth of all drives and of each, and the rest."""
    servo = robot.description.servo[name]
    fit = getattr(servo, "fit", None)
    if fit is not None:
        yield from _fitted(robot, name, servo, asked)
        return
    yield from _bandwidths(robot, name, servo, asked)
    if isinstance(servo, Proportional):
        return
    group = _group_of_gains(servo)
    for kind, words, key, change in SHARED:
        if not _has(servo, kind):
            continue
        source = source_kind(group, key)
        width = asked.width(kind, source, group, key)
        yield _shared(name, kind, words, source, width, change)
    if has_filters(servo):
        source = _filter_source(servo)
        width = asked.width("filters", source, servo, "filters")
        words = "the servo's filters"
        yield _shared(name, "filters", words, source, width, with_filters)


def _shared(
    name: str,
    kind: Kind,
    words: str,
    source: str,
    width: float,
    change: Callable[[Servo, float], Servo],
) -> Quantity:
    """A quantity that all drives share."""
    moved = partial(_with_servo, name, change)
    return uncertain(kind, words, source, width, moved, LOGGED)


def _bandwidths(robot: Robot, name: str, servo: Servo, asked: Asked) -> Iterator[Quantity]:
    """The bandwidth of all drives together, and of each beside the others."""
    group = _group_of_gains(servo)
    source = source_kind(group, "bandwidth")
    width = asked.width("bandwidth", source, group, "bandwidth")
    basis = f"{source} {_frequency_of(robot, servo)}".strip()
    yield uncertain(
        "bandwidth",
        "the servo's bandwidth",
        basis,
        width,
        partial(_with_servo, name, lambda own, factor: with_bandwidth(own, (factor,))),
        LOGGED,
    )
    drives = [drive.name for drive, _ in robot.assembly.drives]
    for k, drive in enumerate(drives):
        yield uncertain(
            "bandwidth",
            f"the bandwidth of {drive}",
            source,
            EACH * width,
            partial(_with_servo, name, partial(_one_bandwidth, k, len(drives))),
            LOGGED,
        )


def _one_bandwidth(drive: int, drives: int, servo: Servo, factor: float) -> Servo:
    """A servo with the bandwidth of one drive scaled."""
    factors = [1.0] * drives
    factors[drive] = factor
    return with_bandwidth(servo, tuple(factors))


def _fitted(robot: Robot, name: str, servo: Any, asked: Asked) -> Iterator[Quantity]:
    """A fitted servo: each drive's bandwidth by the interval of its position gain."""
    interval = servo.fit.interval.get("kp", ())
    drives = [drive.name for drive, _ in robot.assembly.drives]
    power = 1 if isinstance(servo, VelocityLaw) else 2
    if len(interval) != 2 * len(drives):
        yield from _bandwidths(robot, name, servo, asked)
        return
    for k, drive in enumerate(drives):
        low, high = interval[k], interval[k + len(drives)]
        if not 0 < low < high:
            continue  # the logs do not tell it from none: it hardly acts
        spread = math.log(high / low) / (2 * NINE_OF_TEN * power)
        yield Quantity(
            name=f"the bandwidth of {drive}",
            basis="identified",
            width=f"to {100 * math.expm1(NINE_OF_TEN * spread):.2g} %",
            spread=spread,
            change=partial(_with_servo, name, partial(_one_bandwidth, k, len(drives))),
            kind="bandwidth",
            measured_by=LOGGED,
        )


def _with_servo(
    name: str, change: Callable[[Servo, float], Servo], variant: Variant, factor: float
) -> Variant:
    """A variant with a changed servo."""
    d = variant.description
    servos = {**d.servo, name: change(d.servo[name], factor)}
    return replace(variant, description=replace(d, servo=servos))


def _group_of_gains(servo: Any) -> Any:
    """The group that holds a servo's gains: its rule, or itself."""
    return getattr(servo, "rule", None) or servo


def _frequency_of(robot: Robot, servo: Any) -> str:
    """The bandwidth in words; empty where the file gives gains."""
    rule = getattr(servo, "rule", None)
    if rule is None:
        return ""
    low, high = min(rule.bandwidth), max(rule.bandwidth)
    return f"{low:g} Hz" if low == high else f"{low:g} to {high:g} Hz"


def _has(servo: Servo, kind: Kind) -> bool:
    """Whether a servo has a part that is not zero."""
    changes = {name: change for name, _, _, change in SHARED}
    return changes[kind](servo, 2.0) != servo


def _filter_source(servo: Servo) -> str:
    """Kind of the source of a servo's filters: the least trusted."""
    if isinstance(servo, Cascade) and isinstance(servo.source, dict):
        texts = {key: text for key, text in servo.source.items() if key.endswith("_filter")}
        if texts:
            return source_kind(replace(servo, source=texts))
    return source_kind(servo)
