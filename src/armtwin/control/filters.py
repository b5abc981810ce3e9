"""Digital filters of the velocity loop, at most second order, from a kind and a frequency or as coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled, inlined
from armtwin.robot.servo import Filter
from armtwin.robot.servo_rule import for_each

PASS = (1.0, 0.0, 0.0, 0.0, 0.0)
DEFAULT_DAMPING = float(np.sqrt(0.5))


def coefficients(spec: Filter | None, rate: float, drives: int) -> Floats:
    """b0, b1, b2, a1, a2 for each drive, (drives, 5); no filter passes everything.

    A first-order low-pass has its pole at exp(-2π f / rate); second-order kinds are bilinear transforms with
    their frequency kept.
    """
    if spec is None:
        return np.tile(PASS, (drives, 1))
    if spec.b is not None and spec.a is not None:
        numerators = _for_each(spec.b, drives, "lists of b")
        denominators = _for_each(spec.a, drives, "lists of a")
        return np.array([_of_lists(b, a) for b, a in zip(numerators, denominators, strict=True)])
    frequencies = _for_each(spec.frequency or (), drives, "frequencies")
    dampings = _for_each(spec.damping or (DEFAULT_DAMPING,), drives, "dampings")
    each = zip(frequencies, dampings, strict=True)
    return np.array([_of_kind(spec.kind, float(f), float(damping), rate) for f, damping in each])


def _for_each(values: tuple[Any, ...], drives: int, what: str) -> tuple[Any, ...]:
    if len(values) not in (1, drives):
        raise ArmtwinError(f"a servo filter must have 1 or {drives} {what}, got {len(values)}")
    return for_each(values, drives)


def _of_lists(b: tuple[float, ...], a: tuple[float, ...]) -> Floats:
    if max(len(b), len(a)) > 3:
        raise ArmtwinError(
            f"a servo filter must have at most 3 coefficients a side, got b = {b}, a = {a}"
        )
    over, under = np.zeros(3), np.zeros(3)
    over[: len(b)], under[: len(a)] = b, a
    return np.concatenate([over, under[1:]]) / a[0]


def _of_kind(kind: str | None, frequency: float, damping: float, rate: float) -> tuple[float, ...]:
    if frequency >= rate / 2:
        raise ArmtwinError(
            f"a servo filter at {frequency:g} Hz must be below half the loop's rate, {rate / 2:g} Hz"
        )
    if kind == "low_pass":
        pole = float(np.exp(-2 * np.pi * frequency / rate))
        return 1 - pole, 0.0, 0.0, -pole, 0.0
    t = np.tan(np.pi * frequency / rate)
    below = 1 + 2 * damping * t + t * t
    a1, a2 = 2 * (t * t - 1) / below, (1 - 2 * damping * t + t * t) / below
    if kind == "notch":
        return (1 + t * t) / below, a1, (1 + t * t) / below, a1, a2
    return t * t / below, 2 * t * t / below, t * t / below, a1, a2


def integrating(reset: Floats, tick: float) -> Floats:
    """Coefficients of y = x + reset ∫x for each drive, (drives, 5): the integral of a PI loop, summed over ticks."""
    c = np.tile(PASS, (len(reset), 1))
    acts = reset > 0
    c[:, 0] += reset * tick
    c[acts, 1] = -1.0
    c[acts, 3] = -1.0
    return c


def steady_gain(c: Floats, m: int, which: int) -> float:
    """Output of a filter per steady input; inf where it integrates."""
    over, under = float(np.sum(c[m, which, :3])), float(1 + np.sum(c[m, which, 3:]))
    return np.inf if under == 0 else over / under


@inlined
def filtered(c: Any, s: Any, m: int, which: int, x: float) -> float:
    """Output of filter `which` of motor m for input x; c (motors, filters, 5), state s (motors, filters, 2).

    Written without branches: an array that is last used inside one is counted in and out in every tick.
    """
    y = c[m, which, 0] * x + s[m, which, 0]
    s[m, which, 0] = c[m, which, 1] * x - c[m, which, 3] * y + s[m, which, 1]
    s[m, which, 1] = c[m, which, 2] * x - c[m, which, 4] * y
    return y


@compiled
def settle(c: Any, s: Any, m: int, which: int, x: float) -> float:
    """State of a filter that has had input x for ever; returns its output."""
    gain = (c[m, which, 0] + c[m, which, 1] + c[m, which, 2]) / (
        1.0 + c[m, which, 3] + c[m, which, 4]
    )
    y = gain * x
    s[m, which, 1] = c[m, which, 2] * x - c[m, which, 4] * y
    s[m, which, 0] = c[m, which, 1] * x - c[m, which, 3] * y + s[m, which, 1]
    return y
