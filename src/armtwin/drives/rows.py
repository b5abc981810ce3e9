"""Rows of the coordinates, along which every one-dimensional part acts; springs along them.

x = s · u,   w = s · v,   torques on the coordinates  F s

A spring with damping and backlash, as one step of a simulation:

    torque = T(beyond(x)) + c w        beyond(x) = x - b above b,  x + b below -b,  0 between
    T(y) = k y up to the knee |y| = y_k,   k y_k + K (|y| - y_k) beyond it, with the sign of y

Most springs have no knee, T(y) = K y; gears that stiffen as their teeth come to bear have a smaller
k up to it. Within the gap nothing is transmitted, and a contact never pulls.

Over a step the torque is taken at its middle, x + h w / 2, which conserves the energy of a spring.
A spring stiff enough to vibrate within a tick is not damped by that: under a sampled servo it goes
on from tick to tick with alternating signs. Such a spring gets numerical damping δ between 0 and 1,
by looking further ahead:

    torque = T(beyond(x + (1/2 + δ) h w)) + c w,   slope = c + h T' (1 + 3 δ) / 2

With a = ω h the two roots of a step have the product 1 - δ a² / (1 + a² (1 + 3 δ) / 4): 1 without
δ, and 0 for δ = 1 and a large a; the step is stable for every a and δ.

Ref: [Soder-Hoorn 2015, fig. 3.1]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armtwin.maths.batch import Floats, Pair
from armtwin.maths.choice import both, choose, larger
from armtwin.maths.compiled import inlined
from armtwin.maths.traced_fields import Index, Pattern


class Rows(NamedTuple):
    """Combinations of coordinates, most of them of one or two.

    Attributes:
        weights: s of each row, (rows, N).
        place: Coordinates that have a weight, in their order, (rows, N); the rest is of no use.
        used: How many have one, (rows,).
    """

    weights: Pattern
    place: Index
    used: Index


def pack_rows(weights: Floats, used: Any = None) -> Rows:
    """Rows with the coordinates that each one has, or may come to have."""
    acts = weights != 0 if used is None else used
    first_used = np.argsort(~acts, axis=1, kind="stable")
    return Rows(weights, first_used.astype(np.int64), acts.sum(axis=1).astype(np.int64))


def along(rows: Rows, r: int, x: Floats) -> float:
    """s · x of row r."""
    total = 0.0
    for k in range(rows.used[r]):
        j = rows.place[r, k]
        total += rows.weights[r, j] * x[j]
    return total


def add_along(rows: Rows, r: int, force: float, total: Floats) -> None:
    """Add a torque along row r to those of the coordinates."""
    for k in range(rows.used[r]):
        j = rows.place[r, k]
        total[j] += force * rows.weights[r, j]


QUICK = 1.0  # ω h from which a spring vibrates within a tick and is damped
QUICKEST = 2.0  # ω h from which it is damped fully


class Springs(NamedTuple):
    """Springs of all transmissions, (springs,) each.

    Attributes:
        row: Row of the twist.
        stiffness: K [N m/rad].
        damping: c [N m s/rad].
        gap: Half of the backlash, b [rad].
        soft: Stiffness k up to the knee; that of K where there is none [N m/rad].
        knee: Twist y_k from which the spring is stiff [rad].
        rest: Position of the row at which the spring is slack [rad].
        numerical: Numerical damping δ.
    """

    row: Index
    stiffness: Floats
    damping: Floats
    gap: Floats
    soft: Floats
    knee: Floats
    rest: Floats
    numerical: Floats


@dataclass(frozen=True)
class Spring:
    """One spring with its damper and gap.

    Attributes:
        stiffness: K [N m/rad].
        damping: c [N m s/rad].
        backlash: Play from one flank to the other, 2 b [rad].
        low_stiffness: Stiffness k at low torque [N m/rad]; None where the spring is straight.
        low_torque: Torque up to which it is so [N m].
    """

    stiffness: float
    damping: float = 0.0
    backlash: float = 0.0
    low_stiffness: float | None = None
    low_torque: float = 0.0

    def torque(self, twist: Floats) -> Floats:
        """Torque at rest over a twist, (...) [N m]."""
        gap = 0.5 * self.backlash
        y = twist - np.clip(twist, -gap, gap)
        over = np.maximum(np.abs(y) - self.knee, 0.0)
        return np.sign(y) * (self.soft * (np.abs(y) - over) + self.stiffness * over)

    @property
    def soft(self) -> float:
        """Stiffness up to the knee [N m/rad]."""
        return self.stiffness if self.low_stiffness is None else self.low_stiffness

    @property
    def knee(self) -> float:
        """Bending from which it is stiff [rad]."""
        return 0.0 if self.low_stiffness is None else self.low_torque / self.low_stiffness


def damper(damping: float) -> Spring:
    """A damper without a spring."""
    return Spring(0.0, damping)


def pack_springs(rows: Sequence[int], parts: Sequence[Spring]) -> Springs:
    """Springs along rows, slack at zero, without numerical damping yet.

    Their numbers may be symbols of a tape.
    """
    columns = np.array(
        [(x.stiffness, x.damping, 0.5 * x.backlash, x.soft, x.knee, 0.0, 0.0) for x in parts]
    )
    row = np.array(rows, dtype=np.int64)
    return Springs(row, *columns.reshape(-1, 7).T.copy())


def numerical_damping(stiffness: Floats, mobility: Floats, step: float) -> Floats:
    """δ of springs that vibrate at ω = √(K s M⁻¹ sᵀ): 0 up to ω h = 1, 1 from ω h = 2 on.

    Args:
        stiffness: K of each spring [N m/rad].
        mobility: s M⁻¹ sᵀ of each row [1/(kg m²)].
        step: Time h of a tick [s].
    """
    swing = np.sqrt(stiffness * mobility) * step
    return np.clip((swing - QUICK) / (QUICKEST - QUICK), 0.0, 1.0)


@inlined
def twist_beyond_backlash(x: float, gap: float) -> float:
    """Twist beyond the gap."""
    return choose(x > gap, x - gap, choose(x < -gap, x + gap, 0.0))


@inlined
def deflection_torque(y: float, stiffness: float, soft: float, knee: float) -> Pair:
    """Torque of a spring bent by y, and its slope with y."""
    size = abs(y)
    over = larger(size - knee, 0.0)
    torque = soft * (size - over) + stiffness * over
    return choose(y < 0.0, -torque, torque), choose(size > knee, stiffness, soft)


def deflection_energy(y: Floats, stiffness: Floats, soft: Floats, knee: Floats) -> Floats:
    """Energy of springs bent by y [J]."""
    over = np.maximum(np.abs(y) - knee, 0.0)
    under = np.abs(y) - over
    return 0.5 * soft * under**2 + soft * knee * over + 0.5 * stiffness * over**2


def deflection_from_torque(torque: Floats, stiffness: Floats, soft: Floats, knee: Floats) -> Floats:
    """How far a torque bends springs [rad]."""
    size = np.abs(torque)
    under = np.minimum(size / soft, knee)
    return np.sign(torque) * (under + (size - soft * under) / stiffness)


@inlined
def spring(
    stiffness: float,
    damping: float,
    gap: float,
    soft: float,
    knee: float,
    numerical: float,
    x: float,
    w: float,
    h: float,
) -> Pair:
    """Torque of a spring over a step h from twist x at speed w, and its slope with w."""
    ahead = twist_beyond_backlash(x + (0.5 + numerical) * h * w, gap)
    held, rise = deflection_torque(ahead, stiffness, soft, knee)
    torque = held + damping * w
    slope = damping + 0.5 * h * rise * (1.0 + 3.0 * numerical)
    apart = both(gap > 0.0, torque * ahead <= 0.0)
    return choose(apart, 0.0, torque), choose(apart, 0.0, slope)
