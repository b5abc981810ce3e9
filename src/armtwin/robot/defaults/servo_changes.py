"""A servo with what belongs together moved together: its bandwidth, damping, filters.

By its rule, or by gains that move as the rule would have them:

    bandwidth by b   k_p b², k_i b³, k_v b, k_vf b, k_d b
                     (of a velocity law k_p b, k_i b², k_v b, k_iv b)
    damping by d     k_v d, k_vf d, k_d d
    integrator by i  k_i i
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from armtwin.robot.schema.servo import Filter, Proportional, Servo, VelocityLaw
from armtwin.robot.schema.servo_rule import for_each

POWERS = {"kp": 2, "ki": 3, "kv": 1, "kd": 1, "kvf": 1}
POWERS_OF_VELOCITY_LAW = {"kp": 1, "ki": 2, "kv": 1, "kiv": 1}
DAMPING = ("kv", "kvf", "kd")


def with_bandwidth(servo: Servo, factors: tuple[float, ...]) -> Servo:
    """The servo with its bandwidth scaled, a factor for each drive."""
    if isinstance(servo, Proportional):
        return replace(servo, gain=_scaled(servo.gain, factors))
    if isinstance(servo, VelocityLaw):
        return _with_powers(servo, POWERS_OF_VELOCITY_LAW, factors)
    if servo.rule is None:
        return _with_powers(servo, POWERS, factors)
    bandwidth = _scaled(servo.rule.bandwidth, factors)
    return replace(servo, rule=replace(servo.rule, bandwidth=bandwidth))


def with_damping(servo: Servo, factor: float) -> Servo:
    """The servo with its damping scaled."""
    if isinstance(servo, Proportional):
        return servo
    rule = getattr(servo, "rule", None)
    if rule is not None:
        changed = replace(rule, damping=tuple(factor * x for x in rule.damping))
        return replace(servo, rule=changed)
    names = ("kv",) if isinstance(servo, VelocityLaw) else DAMPING
    return _with_powers(servo, dict.fromkeys(names, 1), (factor,))


def with_integrator(servo: Servo, factor: float) -> Servo:
    """The servo with its integrator scaled."""
    if isinstance(servo, Proportional):
        return servo
    rule = getattr(servo, "rule", None)
    if rule is not None:
        changed = replace(rule, integrator=tuple(factor * x for x in rule.integrator))
        return replace(servo, rule=changed)
    names = ("ki", "kiv") if isinstance(servo, VelocityLaw) else ("ki",)
    return _with_powers(servo, dict.fromkeys(names, 1), (factor,))


def with_filters(servo: Servo, factor: float) -> Servo:
    """The servo with the frequencies of its filters scaled."""
    changes: dict[str, Any] = {}
    for f in fields(servo):
        own = getattr(servo, f.name)
        if isinstance(own, Filter) and own.frequency is not None:
            frequency = tuple(factor * x for x in own.frequency)
            changes[f.name] = replace(own, frequency=frequency)
    return replace(servo, **changes)


def has_filters(servo: Servo) -> bool:
    """Whether a servo has filters that are given by their frequencies."""
    own = [getattr(servo, f.name) for f in fields(servo)]
    return any(isinstance(x, Filter) and x.frequency is not None for x in own)


def with_acceleration_feedforward(servo: Servo, factor: float) -> Servo:
    """The servo with its feed-forward of the acceleration scaled."""
    rule = getattr(servo, "rule", None)
    if rule is not None:
        own = tuple(factor * x for x in rule.acceleration_feedforward)
        return replace(servo, rule=replace(rule, acceleration_feedforward=own))
    return _with_powers(servo, dict.fromkeys(("kafv", "kafc", "kaf"), 1), (factor,))


def with_friction_feedforward(servo: Servo, factor: float) -> Servo:
    """The servo with what it feeds forward against friction scaled."""
    rule = getattr(servo, "rule", None)
    if rule is not None and any(rule.friction_feedforward):
        own = tuple(factor * x for x in rule.friction_feedforward)
        return replace(servo, rule=replace(rule, friction_feedforward=own))
    return _with_powers(servo, dict.fromkeys(("coulomb", "viscous"), 1), (factor,))


def _with_powers(servo: Any, powers: dict[str, int], factors: tuple[float, ...]) -> Any:
    """A servo with gains scaled by powers of factors; gains that it has not are left out."""
    changes = {}
    for name, power in powers.items():
        gain = getattr(servo, name, None)
        if gain is not None:
            changes[name] = _scaled(gain, tuple(x**power for x in factors))
    return replace(servo, **changes)


def _scaled(values: tuple[float, ...], factors: tuple[float, ...]) -> tuple[float, ...]:
    """Values for all drives or for each, times factors for all or for each."""
    count = max(len(values), len(factors))
    pairs = zip(for_each(values, count), for_each(factors, count), strict=True)
    return tuple(value * factor for value, factor in pairs)
