"""The clamping curve of a hysteretic transmission: torque over the motor's angle, turn by turn.

    tau = tau_0 + K beyond(q - q_0) + s F (1 - 2 exp(-x / r))        x = s (q - q_t) >= 0

s is the direction of the half-cycle and q_t the angle at which it began: after a reversal friction
changes sides while the motor turns by a few r, the pre-sliding distance; a small r is dry friction,
whose curve is upright there. K, b (in `beyond`) and F are the transmission's, tau_0 is the
difference of forward and backward friction.

Angle and torque both carry noise, and where the curve is steep the angle's counts more. A sample's
distance is therefore taken to first order across the curve, as a torque on its straight part:

    e = (tau - f(q)) / √((1 + (f'(q) / K)²) / 2)

Ref: [Soder-Hoorn 2015, fig. 3.1, 4.1], [Dahl 1968]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from armtwin.identification.clamping.curves import moving_average
from armtwin.identification.clamping.half_cycles import WINDOW, HalfCycle
from armtwin.maths.batch import Flags, Floats

STIFFNESS, BACKLASH, FRICTION, CENTRE, OFFSET, BENDING = range(6)


@dataclass(frozen=True, eq=False)
class Turns:
    """The samples of a clamping curve by the turn they follow.

    Attributes:
        q: Motor angle, (m,) [rad].
        tau: Motor torque, (m,) [N m].
        direction: s of each sample, (m,).
        since: Angle q_t at the turn before each sample, (m,) [rad].
        number: Number of its half-cycle, (m,).
        rows: Which samples of the record these are, (m,).
    """

    q: Floats
    tau: Floats
    direction: Floats
    since: Floats
    number: NDArray[np.int64]
    rows: NDArray[np.int64]

    @property
    def count(self) -> int:
        """Number of half-cycles."""
        return int(self.number[-1]) + 1 if len(self.number) else 0

    def only(self, kept: Flags) -> Turns:
        """The chosen samples, half-cycles renumbered."""
        _, number = np.unique(self.number[kept], return_inverse=True)
        chosen = Turns(*(values[kept] for values in vars(self).values()))
        return replace(chosen, number=number.astype(np.int64))


def turns_of(q: Floats, tau: Floats, found: list[HalfCycle]) -> Turns:
    """Samples from the first turn on; before it the state of the friction is unknown.

    A turn is where torque and angle together are farthest, between the middles of two half-cycles.
    """
    window = max(3, round(WINDOW * len(q)))
    angle = moving_average(q, window)
    torque = moving_average(tau, window)
    together = angle / np.ptp(angle) + torque / np.ptp(torque)
    first = len(q)
    splits = []
    direction, since = np.zeros(len(q)), np.zeros(len(q))
    number = np.zeros(len(q), dtype=np.int64)
    for k, (one, other) in enumerate(pairwise(found)):
        start = (one.start + one.stop) // 2
        stop = (other.start + other.stop) // 2 + 1
        away = one.direction * together[start:stop]
        turn = start + int(np.argmax(away))
        farthest = one.direction * float(np.max(one.direction * angle[start:stop]))
        splits.append(turn)
        # up to the next turn, which writes over the rest
        direction[turn:] = other.direction
        since[turn:] = farthest
        number[turn:] = k
    if splits:
        first = splits[0]
    rows = np.arange(first, len(q))
    return Turns(q[rows], tau[rows], direction[rows], since[rows], number[rows], rows)


@dataclass(frozen=True, eq=False)
class _Parts:
    """Terms of the curve and its slopes, (m,) each.

    Attributes:
        pressed: Twist beyond the gap [rad].
        bears: 1 where the spring bears, 0 in the gap.
        way: Travel since the turn, x [rad].
        fading: exp(-x / r).
        away: Torque residual of the curve [N m].
        steepness: Slope of the curve over K.
        across: √((1 + steepness²) / 2).
    """

    pressed: Floats
    bears: Floats
    way: Floats
    fading: Floats
    away: Floats
    steepness: Floats
    across: Floats


def _parts(theta: Floats, turns: Turns) -> _Parts:
    K, b, F, centre, offset, bending = theta
    half = 0.5 * b
    twist = turns.q - centre
    pressed = twist - np.clip(twist, -half, half)
    bears = (pressed != 0).astype(np.float64)
    travel = np.maximum(turns.direction * (turns.q - turns.since), 0.0)
    fading = np.exp(-travel / bending)
    torque = offset + K * pressed + turns.direction * F * (1 - 2 * fading)
    steepness = bears + 2 * F / (bending * K) * fading
    across = np.sqrt(0.5 * (1 + steepness**2))
    return _Parts(pressed, bears, travel, fading, turns.tau - torque, steepness, across)


def torque_of(theta: Floats, turns: Turns) -> Floats:
    """Torque of the curve at the angle of each sample, (m,) [N m]."""
    return turns.tau - _parts(theta, turns).away


def distances(theta: Floats, turns: Turns) -> Floats:
    """Distance of each sample from the curve, as a torque on its straight part, (m,) [N m]."""
    parts = _parts(theta, turns)
    return parts.away / parts.across


def slopes_of_distances(theta: Floats, turns: Turns) -> Floats:
    """Change of each sample's distance with each parameter, (m, 6).

    de = - df / w - (tau - f) g dg / (2 w³)        g = f' / K,  w = √((1 + g²) / 2)
    """
    K, _, F, _, _, bending = theta
    p, s = _parts(theta, turns), turns.direction
    curve = np.zeros((len(turns.q), 6))
    curve[:, STIFFNESS] = p.pressed
    curve[:, BACKLASH] = -0.5 * K * np.sign(p.pressed)
    curve[:, FRICTION] = s * (1 - 2 * p.fading)
    curve[:, CENTRE] = -K * p.bears
    curve[:, OFFSET] = 1.0
    curve[:, BENDING] = -2 * s * F * p.fading * p.way / bending**2
    steepness = np.zeros_like(curve)
    upright = 2 * p.fading / (bending * K)
    steepness[:, STIFFNESS] = -F * upright / K
    steepness[:, FRICTION] = upright
    steepness[:, BENDING] = F * upright * (p.way / bending - 1) / bending
    turning = 0.5 * p.away * p.steepness / p.across**3
    return -curve / p.across[:, None] - turning[:, None] * steepness
