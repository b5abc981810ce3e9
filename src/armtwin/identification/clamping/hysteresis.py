"""The clamping curve of a hysteretic transmission: torque over the motor's angle, turn by turn.

    tau = tau_0 + K beyond(q - q_0 - a exp(-t / T)) + f

K and b (in `beyond`) are the transmission's, tau_0 is the difference of forward and backward
friction, a the angle by which a clamp settles at first. Friction f has a state, which follows from
what drives the motor.

    an angle:   f = s F (1 - 2 exp(-x / r))        x = s (q - q_t) >= 0
    a torque:   f = tau - y,   y = the nearest to the former y with |tau - y| <= F

With an angle, s is the direction of the half-cycle and q_t the angle at which it began: after a
reversal friction changes sides while the motor turns by a few r, the pre-sliding distance; a small
r is dry friction, whose curve is upright there. With a torque the motor sticks wherever the torque
swings back, as in waves, and the spring holds y: no direction of the whole half-cycle says that.

Angle and torque both carry noise, and where the curve is steep the angle's counts more. A sample's
distance is therefore taken to first order across the curve, as a torque:

    e = (tau - f(q)) / √(1 + (f'(q) / λ)²)        λ = σ_tau / σ_q

λ is fixed while K is searched: a distance over a function of the searched K vanishes with it.

Ref: [Soder-Hoorn 2015, fig. 3.1, 4.1], [Dahl 1968]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from armtwin.identification.clamping.curves import moving_average
from armtwin.identification.clamping.half_cycles import WINDOW, HalfCycle
from armtwin.maths.batch import Flags, Floats

STIFFNESS, BACKLASH, FRICTION, CENTRE, OFFSET, BENDING, SETTLED, SETTLING = range(8)


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
        time: Time of each sample, (m,) [s].
        by_torque: Whether a torque drives the motor, else an angle.
        angle_noise: Standard deviation of the angle, its encoder's steps included [rad].
    """

    q: Floats
    tau: Floats
    direction: Floats
    since: Floats
    number: NDArray[np.int64]
    rows: NDArray[np.int64]
    time: Floats
    by_torque: bool = False
    angle_noise: float = 0.0

    @property
    def count(self) -> int:
        """Number of half-cycles."""
        return int(self.number[-1]) + 1 if len(self.number) else 0

    def only(self, kept: Flags) -> Turns:
        """The chosen samples, half-cycles renumbered."""
        _, number = np.unique(self.number[kept], return_inverse=True)
        names = ("q", "tau", "direction", "since", "rows", "time")
        chosen = {name: getattr(self, name)[kept] for name in names}
        return replace(self, number=number.astype(np.int64), **chosen)


def turns_of(time: Floats, q: Floats, tau: Floats, found: list[HalfCycle]) -> Turns:
    """Samples from the first turn to the last; before it the state of the friction is unknown.

    A turn is where torque and angle together are farthest, between the middles of two half-cycles,
    or from the middle of the last one on.
    """
    window = max(3, round(WINDOW * len(q)))
    angle = moving_average(q, window)
    torque = moving_average(tau, window)
    together = angle / np.ptp(angle) + torque / np.ptp(torque)
    middles = [(part.start + part.stop) // 2 for part in found] + [len(q) - 1]
    turns = []
    for part, (start, stop) in zip(found, pairwise(middles), strict=True):
        turns.append(start + int(np.argmax(part.direction * together[start : stop + 1])))
    rows = np.arange(turns[0], turns[-1] + 1) if len(turns) > 1 else np.arange(0)
    direction, since = np.zeros(len(rows)), np.zeros(len(rows))
    number = np.zeros(len(rows), dtype=np.int64)
    for k, (former, part) in enumerate(pairwise(found)):
        before = slice(middles[k], middles[k + 1] + 1)
        here = slice(turns[k] - turns[0], turns[k + 1] - turns[0] + 1)
        direction[here] = part.direction
        since[here] = former.direction * float(np.max(former.direction * angle[before]))
        number[here] = k
    return Turns(q[rows], tau[rows], direction, since, number, rows, time[rows])


def follow_torque(tau: Floats, friction: float, first: float) -> Floats:
    """Torque of the spring y behind friction under a torque (m,), from a first one, (m,) [N m]."""
    held = accumulate(
        tau.tolist(),
        lambda y, torque: min(max(y, torque - friction), torque + friction),
        initial=first,
    )
    return np.array(list(held)[1:])


@dataclass(frozen=True, eq=False)
class FrictionState:
    """Friction of each sample and its slopes, (m,) each.

    Attributes:
        torque: f [N m].
        by_level: Its change with F.
        by_bending: Its change with r [N m/rad].
        by_angle: Its change with the angle [N m/rad].
        slopes_by_angle: Changes of `by_angle` with F and r.
    """

    torque: Floats
    by_level: Floats
    by_bending: Floats
    by_angle: Floats
    slopes_by_angle: tuple[Floats, Floats]


def friction_of(theta: Floats, turns: Turns) -> FrictionState:
    """Friction by what drives the motor."""
    F, r, s = float(theta[FRICTION]), float(theta[BENDING]), turns.direction
    none = np.zeros(len(turns.q))
    if turns.by_torque:
        # at its turn the motor has slid the other way
        first = float(turns.tau[0] + s[0] * F)
        torque = turns.tau - follow_torque(turns.tau, F, first)
        slides = np.where(np.abs(torque) >= (1 - 1e-9) * F, np.sign(torque), 0.0)
        slides[0] = slides[0] or -s[0]
        last = np.maximum.accumulate(np.where(slides != 0, np.arange(len(slides)), 0))
        return FrictionState(torque, slides[last], none, none, (none, none))
    x = np.maximum(s * (turns.q - turns.since), 0.0)
    fading = np.exp(-x / r)
    upright = 2 * fading / r
    return FrictionState(
        torque=s * F * (1 - 2 * fading),
        by_level=s * (1 - 2 * fading),
        by_bending=-s * F * upright * x / r,
        by_angle=F * upright,
        slopes_by_angle=(upright, F * upright * (x / r - 1) / r),
    )


def settle(theta: Floats, turns: Turns) -> Floats:
    """Share of its settling that the clamp has still before it, (m,)."""
    return np.exp(-(turns.time - turns.time[0]) / theta[SETTLING])


def beyond_gap(theta: Floats, turns: Turns) -> Floats:
    """Twist of the spring at each sample, zero in the gap, (m,) [rad]."""
    half = 0.5 * theta[BACKLASH]
    twist = turns.q - theta[CENTRE] - theta[SETTLED] * settle(theta, turns)
    return twist - np.clip(twist, -half, half)


def torque_errors(theta: Floats, turns: Turns) -> Floats:
    """Torque of each sample minus that of the curve at its angle, (m,) [N m]."""
    spring = theta[OFFSET] + theta[STIFFNESS] * beyond_gap(theta, turns)
    return turns.tau - spring - friction_of(theta, turns).torque


def distances(theta: Floats, turns: Turns, ratio: float) -> tuple[Floats, Floats]:
    """Distance of each sample from the curve, as a torque, (m,) [N m], and its slopes, (m, 8).

        de = - df / w - (tau - f) f' df' / (λ² w³)        w = √(1 + (f' / λ)²)

    Args:
        theta: The parameters.
        turns: The samples.
        ratio: λ, deviation of the torque over that of the angle [N m/rad].
    """
    K = theta[STIFFNESS]
    pressed = beyond_gap(theta, turns)
    bears = (pressed != 0).astype(np.float64)
    friction = friction_of(theta, turns)
    away = turns.tau - theta[OFFSET] - K * pressed - friction.torque
    steepness = (K * bears + friction.by_angle) / ratio
    across = np.sqrt(1 + steepness**2)
    settling = settle(theta, turns)
    passed = (turns.time - turns.time[0]) / theta[SETTLING] ** 2
    curve = np.zeros((len(turns.q), len(theta)))
    curve[:, STIFFNESS] = pressed
    curve[:, BACKLASH] = -0.5 * K * np.sign(pressed)
    curve[:, FRICTION] = friction.by_level
    curve[:, CENTRE] = -K * bears
    curve[:, OFFSET] = 1.0
    curve[:, BENDING] = friction.by_bending
    curve[:, SETTLED] = -K * bears * settling
    curve[:, SETTLING] = theta[SETTLED] * passed * curve[:, SETTLED]
    steeper = np.zeros_like(curve)
    steeper[:, STIFFNESS] = bears
    steeper[:, FRICTION], steeper[:, BENDING] = friction.slopes_by_angle
    turning = away * steepness / (ratio * across**3)
    return away / across, -curve / across[:, None] - turning[:, None] * steeper
