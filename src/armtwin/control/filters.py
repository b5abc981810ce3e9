"""Digital filters of the velocity loop, at most of second order.

    y_k = b0 x_k + b1 x_k-1 + b2 x_k-2 - a1 y_k-1 - a2 y_k-2

They are given by a kind and a frequency, or by their coefficients.
"""

from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Values
from armtwin.maths.compiled import compiled, inlined
from armtwin.robot.schema.servo import Filter, for_each

PASS = (1.0, 0.0, 0.0, 0.0, 0.0)  # coefficients of a filter that lets everything through
DEFAULT_DAMPING = float(np.sqrt(0.5))


def coefficients(spec: Filter | None, rate: float, drives: int) -> Floats:
    """b0, b1, b2, a1, a2 for each drive, (drives, 5); no filter passes everything.

    A first-order low-pass has its pole at exp(-2π f / rate); second-order kinds are bilinear
    transforms with their frequency kept.
    """
    if spec is None:
        return np.tile(PASS, (drives, 1))
    if spec.b is not None and spec.a is not None:
        numerators = _for_each(spec.b, drives, "lists of b")
        denominators = _for_each(spec.a, drives, "lists of a")
        return np.array([_of_lists(b, a) for b, a in zip(numerators, denominators, strict=True)])
    frequencies = _for_each(spec.frequency or (), drives, "frequencies")
    dampings = _for_each(spec.damping or (DEFAULT_DAMPING,), drives, "dampings")
    each = []
    for frequency, damping in zip(frequencies, dampings, strict=True):
        each.append(_of_kind(spec.kind, float(frequency), float(damping), rate))
    return np.array(each)


def _for_each(values: tuple[Any, ...], drives: int, what: str) -> tuple[Any, ...]:
    if len(values) not in (1, drives):
        raise ArmtwinError(f"a servo filter must have 1 or {drives} {what}, got {len(values)}")
    return for_each(values, drives)


def _of_lists(b: Values, a: Values) -> Floats:
    if max(len(b), len(a)) > 3:
        raise ArmtwinError(
            f"a servo filter must have at most 3 coefficients a side, got b = {b}, a = {a}"
        )
    five = np.zeros(5)
    five[: len(b)] = b
    five[3 : 2 + len(a)] = a[1:]
    return five / a[0]


def _of_kind(kind: str | None, frequency: float, damping: float, rate: float) -> Values:
    if frequency >= rate / 2:
        raise ArmtwinError(
            f"a servo filter at {frequency:g} Hz must be below half the loop's rate, "
            f"{rate / 2:g} Hz"
        )
    if kind == "low_pass":
        pole = float(np.exp(-2 * np.pi * frequency / rate))
        return 1 - pole, 0.0, 0.0, -pole, 0.0
    t = np.tan(np.pi * frequency / rate)
    below = 1 + 2 * damping * t + t * t
    a1 = 2 * (t * t - 1) / below
    a2 = (1 - 2 * damping * t + t * t) / below
    if kind == "notch":
        b0 = (1 + t * t) / below
        return b0, a1, b0, a1, a2
    b0 = t * t / below
    return b0, 2 * b0, b0, a1, a2


def integrator_coefficients(reset: Floats, tick: float) -> Floats:
    """Coefficients of y = x + reset ∫x, summed over ticks, for each drive, (drives, 5)."""
    c = np.tile(PASS, (len(reset), 1))
    acts = reset > 0
    c[:, 0] += reset * tick
    c[acts, 1] = -1.0
    c[acts, 3] = -1.0
    return c


def steady_gain(c: Floats, m: int, which: int) -> float:
    """Output of a filter per steady input; inf where it integrates."""
    over = float(np.sum(c[m, which, :3]))
    under = float(1 + np.sum(c[m, which, 3:]))
    return np.inf if under == 0 else over / under


@inlined
def five(c: Floats, m: int, which: int) -> tuple[float, float, float, float, float]:
    """b0, b1, b2, a1, a2 of a filter of motor m."""
    return (c[m, which, 0], c[m, which, 1], c[m, which, 2], c[m, which, 3], c[m, which, 4])


@inlined
def apply_filter(c: Floats, s: Floats, m: int, which: int, x: float) -> float:
    """Output of a filter of motor m for input x; c (motors, filters, 5), s (motors, filters, 2).

    Written without branches: an array that is last used inside one is counted in and out in every
    tick.
    """
    b0, b1, b2, a1, a2 = five(c, m, which)
    y = b0 * x + s[m, which, 0]
    s[m, which, 0] = b1 * x - a1 * y + s[m, which, 1]
    s[m, which, 1] = b2 * x - a2 * y
    return y


@compiled
def settle(c: Floats, s: Floats, m: int, which: int, x: float) -> float:
    """State of a filter that has had input x for ever; returns its output."""
    b0, b1, b2, a1, a2 = five(c, m, which)
    y = (b0 + b1 + b2) / (1.0 + a1 + a2) * x
    s[m, which, 1] = b2 * x - a2 * y
    s[m, which, 0] = b1 * x - a1 * y + s[m, which, 1]
    return y
