"""Periodic joint motion as a finite Fourier series that starts and ends at rest.

    q(t) = q₀ + Σ_l (a_l sin(l ω t) - b_l cos(l ω t)) / (l ω)
    v(t) = Σ_l a_l cos(l ω t) + b_l sin(l ω t)
    a(t) = Σ_l l ω (-a_l sin(l ω t) + b_l cos(l ω t))

At rest at t = 0, and so after each period:  Σ_l a_l = 0  and  Σ_l l b_l = 0. Both are linear in the
coefficients, which are therefore taken from the null space of the two.

Ref: [Waiboer 2007, eq. 4.75], [Memar-Esfahani 2015, eq. 18-20]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.motion.trajectory import Trajectory

LEAST_HARMONICS = 3  # of one or two nothing is left that is at rest at the ends


class Shapes(NamedTuple):
    """What each coefficient adds to q, v and a at some times, (m, k) each."""

    q: Floats
    v: Floats
    a: Floats


@dataclass(frozen=True)
class Harmonics:
    """Harmonics of a period that together start and end at rest.

    Attributes:
        period: Length of a period [s].
        count: Number of harmonics.
    """

    period: float
    count: int

    def __post_init__(self) -> None:
        if not (np.isfinite(self.period) and self.period > 0):
            raise ArmtwinError(f"period must be above 0 s, got {self.period:g} s")
        if self.count < LEAST_HARMONICS:
            raise ArmtwinError(
                f"harmonics must be at least {LEAST_HARMONICS}, so that a motion can start and end "
                f"at rest, got {self.count}"
            )

    @property
    def omega(self) -> float:
        """Basic pulsation [rad/s]."""
        return float(2 * np.pi / self.period)

    @cached_property
    def at_rest(self) -> Floats:
        """Coefficients q₀, a, b of motions at rest at t = 0, an orthonormal basis, (1 + 2 h, k)."""
        h = self.count
        order = np.arange(1, h + 1)
        contracts = np.zeros((2, 1 + 2 * h))
        contracts[0, 1 : 1 + h] = 1.0
        contracts[1, 1 + h :] = order
        _, _, Vt = np.linalg.svd(contracts)
        return _centre_first(Vt[2:].T)

    def shapes(self, times: Floats) -> Shapes:
        """What each free coefficient adds at times (m,)."""
        rates = self.omega * np.arange(1, self.count + 1)
        angle = np.multiply.outer(times, rates)
        sine, cosine = np.sin(angle), np.cos(angle)
        one, none = np.ones((len(times), 1)), np.zeros((len(times), 1))
        q = np.hstack([one, sine / rates, -cosine / rates])
        v = np.hstack([none, cosine, sine])
        a = np.hstack([none, -sine * rates, cosine * rates])
        return Shapes(q @ self.at_rest, v @ self.at_rest, a @ self.at_rest)

    def grid(self, samples: int) -> Floats:
        """So many times of a period in even steps, none of them where the motion rests, (m,)."""
        return np.asarray((np.arange(samples) + 0.5) * (self.period / samples))


def _centre_first(basis: Floats) -> Floats:
    """The same space with the centre q₀ as the first direction alone."""
    centre = np.zeros((len(basis), 1))
    centre[0] = 1.0
    others = basis - centre @ (centre.T @ basis)
    U, s, _ = np.linalg.svd(others, full_matrices=False)
    return np.hstack([centre, U[:, s > 1e-9]])


@dataclass(frozen=True, eq=False)
class FourierSeries:
    """A periodic motion of the joints.

    Attributes:
        harmonics: Its period and harmonics.
        free: Free coefficients of each joint, the first its centre q₀, (k, n).
    """

    harmonics: Harmonics
    free: Floats

    @property
    def centre(self) -> Floats:
        """q₀, (n,)."""
        return self.free[0]

    @property
    def coefficients(self) -> Floats:
        """q₀, then a, then b of each joint, (1 + 2 h, n)."""
        return self.harmonics.at_rest @ self.free

    def at(self, times: Floats) -> Shapes:
        """Positions, speeds and accelerations at times, (m, n) each."""
        shapes = self.harmonics.shapes(times)
        return Shapes(shapes.q @ self.free, shapes.v @ self.free, shapes.a @ self.free)

    def scale_amplitudes(self, share: float | Floats) -> FourierSeries:
        """The same about the same centre with a share of its amplitudes, of each joint (n,)."""
        free = self.free * share
        free[0] = self.centre
        return FourierSeries(self.harmonics, free)

    def trajectory(self, rate: float, periods: int = 1) -> Trajectory:
        """Whole periods, with both their ends, at a rate [Hz]."""
        samples = round(periods * self.harmonics.period * rate)
        times = np.arange(samples + 1) / rate
        q, v, a = self.at(times)
        for ends in (v, a):  # at rest but for rounding
            ends[0] = ends[-1] = 0.0
        return Trajectory.sampled(rate, q, v, a)
