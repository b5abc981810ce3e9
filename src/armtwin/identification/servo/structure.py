"""The structure of a servo: the filtered terms whose sum is its error.

    e = H [θ_I ∫τ + θ_q q_ref + θ_v v_ref + θ_a a_ref + θ_s tanh(v_ref / v_s) + θ_t τ] + θ_d v_ref
        - F twist,          H = s² / D,   F = (p₁ s + p₀) / D,   D = λ s³ + s² + p₁ s + p₀

A stiff velocity servo with a position gain has p₀ = λ = 0, p₁ = K_p; a torque loop with gains
k_p, k_i, k_v on a felt inertia J has p₁ = k_p/k_v, p₀ = k_i/k_v, λ = J/k_v, θ_I = 1/k_v. F acts
where the position loop closes on the link encoder. All columns are computed from the reference, so
that linear least squares has no closed-loop bias.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from armtwin.maths.batch import Floats, Integers, Values

TERMS = ("load", "speed", "reference", "acceleration", "sign", "torque", "delay")
LOAD, SPEED, REFERENCE, ACCELERATION, SIGN, TORQUE, DELAY = range(7)
NO_POLE = 1e-9  # [1/s]; a slower one does not decay in any log


@dataclass(frozen=True)
class Poles:
    """The denominator D.

    Attributes:
        p1: Damping, or the position gain of a velocity servo [1/s].
        p0: Stiffness of an integrating loop, 0 where there is none [1/s²].
        lag: Lag λ of the felt inertia [s].
    """

    p1: float
    p0: float = 0.0
    lag: float = 0.0

    @property
    def order(self) -> int:
        """Number of poles that are fitted."""
        return 2 if self.p0 > 0 else 1


@lru_cache(2000)
def _discrete(numerator: Values, denominator: Values, step: float) -> Any:
    """Coefficients of a filter that is exact for inputs which are linear between samples."""
    from scipy.signal import cont2discrete

    b, a, _ = cont2discrete((numerator, denominator), step, method="foh")
    return np.atleast_1d(np.squeeze(b)), a


def _response(poles: Poles, numerator: Values, x: Floats, rate: float) -> Floats:
    """Response of a numerator over D, of signals (m, ...); without p0 both have s in common."""
    from scipy.signal import lfilter

    denominator: Values = (1.0, poles.p1, poles.p0)
    if poles.p0 == 0:
        numerator, denominator = numerator[:-1], denominator[:-1]
    if poles.lag > 0:
        denominator = (poles.lag, *denominator)
    b, a = _discrete(numerator, denominator, 1 / rate)
    return lfilter(b, a, x, axis=0)


def respond_to_encoder(poles: Poles, x: Floats, rate: float) -> Floats:
    """F x: response of a position loop to an additive signal of its encoder, (m,)."""
    if poles.p0 == 0 and poles.p1 < NO_POLE:
        return np.zeros_like(x)
    return _response(poles, (poles.p1, poles.p0), x, rate)


@dataclass(frozen=True, eq=False)
class DriveSignals:
    """Signals of one drive in one log, (m,) each, their rate [Hz], and the parts of the log."""

    rate: float
    time: Floats
    q: Floats
    v: Floats
    a: Floats
    torque: Floats
    error: Floats
    twist: Floats
    parts: Integers


def columns(drive: DriveSignals, poles: Poles, sign_speed: float, late: float = 0.0) -> Floats:
    """Columns of all TERMS, (m, 7), for a drive that was at rest before the log.

    A speed that is late differs by θ_v (a - θ_v da/dt / 2): its second order follows from the
    lateness θ_v known so far.
    """
    rate = drive.rate
    speed = drive.v - 0.5 * late * drive.a
    torque = drive.torque - drive.torque[0]
    smooth_sign = np.tanh(drive.v / sign_speed)
    given = np.stack([speed, drive.q, drive.a, smooth_sign, torque], axis=1)
    filtered = _response(poles, (1.0, 0.0, 0.0), given - given[0], rate)  # H x
    load = _response(poles, (1.0, 0.0), torque, rate)  # H ∫τ
    return np.column_stack([load, filtered, drive.v])


def free_columns(time: Floats, poles: Poles) -> Floats:
    """Free response: an encoder's zero, and initial errors of the loop, (m, 2 or 3).

    Without position feedback an unknown zero of the torque lets the error drift.
    """
    one = np.ones_like(time)
    if poles.p0 == 0:
        if poles.p1 < NO_POLE:
            return np.stack([one, time], axis=1)
        return np.stack([one, -np.expm1(-poles.p1 * time) / poles.p1], axis=1)
    middle, apart = -0.5 * poles.p1, 0.25 * poles.p1**2 - poles.p0
    if apart < 0:
        decay, phase = np.exp(middle * time), np.sqrt(-apart) * time
        return np.stack([one, decay * np.cos(phase), decay * np.sin(phase)], axis=1)
    fast = middle - np.sqrt(apart)
    slow = poles.p0 / fast
    return np.stack([one, np.exp(fast * time), np.exp(slow * time)], axis=1)
