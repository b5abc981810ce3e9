"""What of a servo is not known exactly: never single gains, always what belongs together."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from typing import Any

from armtwin.jobs.uncertainty import Kind
from armtwin.maths.batch import Names, Record, Values
from armtwin.prediction.band.quantity import (
    Quantity,
    Variant,
    scale_keys,
    source_kind,
    with_values,
)
from armtwin.prediction.band.width_settings import WidthSettings
from armtwin.prediction.band.widths import EACH
from armtwin.robot.kinematics.strokes import drive_names
from armtwin.robot.robot import Robot
from armtwin.robot.schema.servo import Cascade, Filter, Proportional, Servo, VelocityLaw, for_each

POWERS = {"kp": 2, "ki": 3, "kv": 1, "kd": 1, "kvf": 1}
POWERS_OF_VELOCITY_LAW = {"kp": 1, "ki": 2, "kv": 1, "kiv": 1}


def with_bandwidth(servo: Servo, factors: Values) -> Servo:
    """The servo with its bandwidth scaled, a factor for each drive."""
    if isinstance(servo, Proportional):
        return with_values(servo, gain=_scale_values(servo.gain, factors))
    if isinstance(servo, VelocityLaw):
        return _with_powers(servo, POWERS_OF_VELOCITY_LAW, factors)
    if servo.rule is None:
        return _with_powers(servo, POWERS, factors)
    bandwidth = _scale_values(servo.rule.bandwidth, factors)
    return with_values(servo, rule=with_values(servo.rule, bandwidth=bandwidth))


def with_filters(servo: Servo, factor: float) -> Servo:
    """The servo with the frequencies of its filters scaled."""
    changes: Record = {}
    for f in fields(servo):
        own = getattr(servo, f.name)
        if isinstance(own, Filter) and own.frequency is not None:
            changes[f.name] = scale_keys(own, factor, "frequency")
    return with_values(servo, **changes)


def with_key(key: str, gains: Names, servo: Servo, factor: float) -> Any:
    """A servo with a key of its rule scaled; without a rule, with the gains that it has."""
    rule = getattr(servo, "rule", None)
    if rule is not None and any(getattr(rule, key)):
        return with_values(servo, rule=scale_keys(rule, factor, key))
    if isinstance(servo, VelocityLaw) and key == "damping":
        gains = ("kv",)
    return _with_powers(servo, dict.fromkeys(gains, 1), (factor,))


def _with_powers(servo: Servo, powers: dict[str, int], factors: Values) -> Any:
    """A servo with gains scaled by powers of factors; gains that it has not are left out."""
    changes: dict[str, Any] = {}
    for name, power in powers.items():
        gain = getattr(servo, name, None)
        if gain is not None:
            changes[name] = _scale_values(gain, tuple(x**power for x in factors))
    return with_values(servo, **changes)


def _scale_values(values: Values, factors: Values) -> Values:
    """Values for all drives or for each, times factors for all or for each."""
    count = max(len(values), len(factors))
    pairs = zip(for_each(values, count), for_each(factors, count), strict=True)
    return tuple(value * factor for value, factor in pairs)


LOGGED = "servo"  # how a servo is measured
SHARED: tuple[tuple[Kind, str, Names], ...] = (  # with the gains of a servo without a rule
    ("servo.damping", "the servo's damping", ("kv", "kvf", "kd")),
    ("servo.integrator", "the servo's integrator", ("ki", "kiv")),
    (
        "servo.acceleration_feedforward",
        "the acceleration that is fed forward",
        ("kafv", "kafc", "kaf"),
    ),
    (
        "servo.friction_feedforward",
        "the friction that is fed forward",
        ("coulomb", "viscous"),
    ),
)
BANDWIDTH: Kind = "servo.bandwidth"


def servo_quantities(robot: Robot, name: str, asked: WidthSettings) -> Iterator[Quantity]:
    """Quantities of a servo of a robot file: bandwidth of all drives and of each, and the rest."""
    servo = robot.description.servo[name]
    fit = getattr(servo, "fit", None)
    if fit is not None:
        yield from _list_fitted(robot, name, servo, fit.interval.get("kp", ()), asked)
        return
    yield from _bandwidths(robot, name, servo, asked)
    if isinstance(servo, Proportional):
        return
    group = _group_of_gains(servo)
    for kind, words, gains in SHARED:
        key = kind.removeprefix("servo.")
        change = partial(with_key, key, gains)
        if change(servo, 2.0) == servo:
            continue  # it has none
        source = source_kind(group, key)
        width = asked.width(kind, kind, source, group, servo, key=key)
        yield _make_shared(name, kind, words, source, width, change)
    if with_filters(servo, 2.0) != servo:
        source = _filter_source(servo)
        width = asked.width("servo.filters", "servo.filters", source, servo, key="filters")
        yield _make_shared(
            name, "servo.filters", "the servo's filters", source, width, with_filters
        )


def _make_shared(
    servo: str,
    kind: Kind,
    words: str,
    source: str,
    width: float,
    change: Callable[[Servo, float], Servo],
) -> Quantity:
    """A quantity that all drives share."""
    moved = partial(_with_servo, servo, change)
    return Quantity(kind, words, kind, source, width, moved, LOGGED)


def _bandwidths(robot: Robot, name: str, servo: Servo, asked: WidthSettings) -> Iterator[Quantity]:
    """The bandwidth of all drives together, and of each beside the others."""
    group = _group_of_gains(servo)
    source = source_kind(group, "bandwidth")
    width = asked.width(BANDWIDTH, BANDWIDTH, source, group, servo, key="bandwidth")
    yield Quantity(
        name=BANDWIDTH,
        words="the servo bandwidth",
        kind=BANDWIDTH,
        basis=f"{source} {_frequency_of(robot, servo)}".strip(),
        width=width,
        change=partial(_with_servo, name, lambda own, factor: with_bandwidth(own, (factor,))),
        measured_by=LOGGED,
    )
    drives = drive_names(robot)
    for k, drive in enumerate(drives):
        own = asked.job.first(f"{BANDWIDTH}.{drive}")
        yield _of_drive(name, drives, k, source, EACH * width if own is None else own)


def _of_drive(servo: str, drives: Names, k: int, source: str, width: float) -> Quantity:
    """The bandwidth of one drive."""
    return Quantity(
        name=f"{BANDWIDTH}.{drives[k]}",
        words=f"the bandwidth of {drives[k]}",
        kind=BANDWIDTH,
        basis=source,
        width=width,
        change=partial(_with_servo, servo, partial(_one_bandwidth, k, len(drives))),
        measured_by=LOGGED,
    )


def _one_bandwidth(drive: int, drives: int, servo: Servo, factor: float) -> Servo:
    """A servo with the bandwidth of one drive scaled."""
    factors = [1.0] * drives
    factors[drive] = factor
    return with_bandwidth(servo, tuple(factors))


def _list_fitted(
    robot: Robot, name: str, servo: Servo, interval: Values, asked: WidthSettings
) -> Iterator[Quantity]:
    """A fitted servo: each drive's bandwidth by the interval of its position gain."""
    drives = drive_names(robot)
    power = 1 if isinstance(servo, VelocityLaw) else 2
    if len(interval) != 2 * len(drives):
        yield from _bandwidths(robot, name, servo, asked)
        return
    for k, drive in enumerate(drives):
        own = asked.job.first(f"{BANDWIDTH}.{drive}", BANDWIDTH)
        low, high = interval[k], interval[k + len(drives)]
        if own is not None:
            yield _of_drive(name, drives, k, "identified", own)
        elif 0 < low < high:
            width = (high / low) ** (0.5 / power) - 1
            yield _of_drive(name, drives, k, "identified", width)
        # else the logs do not distinguish it from none: it hardly acts


def _with_servo(
    name: str, change: Callable[[Servo, float], Servo], variant: Variant, factor: float
) -> Variant:
    """A variant with a changed servo."""
    d = variant.description
    servos = {**d.servo, name: change(d.servo[name], factor)}
    return with_values(variant, description=with_values(d, servo=servos))


def _group_of_gains(servo: Servo) -> Any:
    """The group that holds a servo's gains: its rule, or itself."""
    return getattr(servo, "rule", None) or servo


def _frequency_of(robot: Robot, servo: Servo) -> str:
    """The bandwidth in words; empty where the file gives gains."""
    rule = getattr(servo, "rule", None)
    if rule is None:
        return ""
    low, high = min(rule.bandwidth), max(rule.bandwidth)
    return f"{low:g} Hz" if low == high else f"{low:g} to {high:g} Hz"


def _filter_source(servo: Servo) -> str:
    """Kind of the source of a servo's filters: the least trusted."""
    if isinstance(servo, Cascade) and isinstance(servo.source, dict):
        texts = {key: text for key, text in servo.source.items() if key.endswith("_filter")}
        if texts:
            return source_kind(with_values(servo, source=texts))
    return source_kind(servo)
