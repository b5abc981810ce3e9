"""Digital filters of the velocity loop, at most second order, from a kind and a frequency or as coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled, inlined
from armtwin.robot.servo import Filter

PASS = (1.0, 0.0, 0.0, 0.0, 0.0)
DEFAULT_DAMPING = float(np.sqrt(0.5))


def coefficients(spec: Filter | None, rate: float, motors: int) -> Floats:
    """b0, b1, b2, a1, a2 for each motor, (motors, 5); no filter passes everything.

    A first-order low-pass has its pole at exp(-2π f / rate); second-order kinds are bilinear transforms with
    their frequency kept.
    """
    if spec is None:
        return np.tile(PASS, (motors, 1))
    if spec.b is not None and spec.a is not None:
        if max(len(spec.b), len(spec.a)) > 3:
            raise ArmtwinError(
                f"a servo filter must have at most 3 coefficients a side, got b = {spec.b}, a = {spec.a}"
            )
        b = np.pad(spec.b, (0, 3 - len(spec.b))) / spec.a[0]
        a = np.pad(spec.a, (0, 3 - len(spec.a))) / spec.a[0]
        return np.tile([*b, *a[1:]], (motors, 1))
    given = spec.frequency or ()
    if len(given) not in (1, motors):
        raise ArmtwinError(f"a servo filter must have 1 or {motors} frequencies, got {len(given)}")
    frequencies = np.broadcast_to(np.array(given), (motors,))
    return np.array([_of_kind(spec, float(f), rate) for f in frequencies])


def _of_kind(spec: Filter, frequency: float, rate: float) -> tuple[float, ...]:
    if frequency >= rate / 2:
        raise ArmtwinError(f"a servo filter at {frequency:g} Hz must be below half the loop's rate, {rate / 2:g} Hz")
    if spec.kind == "low_pass":
        pole = float(np.exp(-2 * np.pi * frequency / rate))
        return 1 - pole, 0.0, 0.0, -pole, 0.0
    damping = spec.damping if spec.damping is not None else DEFAULT_DAMPING
    t = np.tan(np.pi * frequency / rate)
    below = 1 + 2 * damping * t + t * t
    a1, a2 = 2 * (t * t - 1) / below, (1 - 2 * damping * t + t * t) / below
    if spec.kind == "notch":
        return (1 + t * t) / below, a1, (1 + t * t) / below, a1, a2
    return t * t / below, 2 * t * t / below, t * t / below, a1, a2


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
    gain = (c[m, which, 0] + c[m, which, 1] + c[m, which, 2]) / (1.0 + c[m, which, 3] + c[m, which, 4])
    y = gain * x
    s[m, which, 1] = c[m, which, 2] * x - c[m, which, 4] * y
    s[m, which, 0] = c[m, which, 1] * x - c[m, which, 3] * y + s[m, which, 1]
    return y
