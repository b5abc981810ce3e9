"""A servovalve from its resonance peak, and delays from phases.

    |H|max = 1 / (2 β √(1 - β²)),   f_max = f_0 √(1 - 2 β²),   delay = -phase / (2π f)

Ref: [Machielsen 1983, sections 6.1.2 and 6.1.3]; it takes f_0 = f_max / (1 - 2 β²), 240 Hz, where
the square root gives 201 Hz, and simulates 1443 rad/s, 230 Hz.
"""

from __future__ import annotations

import numpy as np

from armtwin.errors import ArmtwinError


def valve_from_peak(frequency: float, decibels: float) -> tuple[float, float]:
    """Natural frequency [Hz] and relative damping of a valve whose gain peaks.

    Args:
        frequency: Frequency of the peak [Hz].
        decibels: Height of the peak above the gain at low frequencies [dB].
    """
    if not frequency > 0 or not decibels > 0:
        raise ArmtwinError(
            f"a resonance peak must be above 0 Hz and 0 dB, got {frequency:g} Hz, {decibels:g} dB"
        )
    height = 10 ** (decibels / 20)
    damping = float(np.sqrt(0.5 * (1 - np.sqrt(1 - 1 / height**2))))
    return frequency / float(np.sqrt(1 - 2 * damping**2)), damping


def delay_from_phase(frequency: float, degrees: float, *others: float) -> float:
    """Delay of one part of a chain from the phase of the chain [s].

    Args:
        frequency: Where the phases are read [Hz].
        degrees: Phase of the whole chain [deg], less than 0.
        others: Phases of its other parts [deg].
    """
    if not frequency > 0:
        raise ArmtwinError(f"frequency must be greater than 0 Hz, got {frequency:g}")
    delay = -(degrees - sum(others)) / (360 * frequency)
    if delay < 0:
        raise ArmtwinError(
            f"the phase of the parts, {sum(others):g} deg, must not lag more than that of the "
            f"whole, {degrees:g} deg"
        )
    return delay
