"""Friction of the motion that follows from a reference, not of the reference itself.

A loop that lags reverses late and may be at rest while its reference moves on: near reversals the
friction of the reference has the wrong sign. With e = e_free + e_F, where e_free is the error by
the laws without friction, and s_e the rows of the friction elements on the drives,

    (λ s² + s + p₁ + p₀/s) e_F = θ_I τ_F,    τ_F = Σ_e s_e F_e(r_e),    r_e = s_e · (v_ref - ė)

Steps are implicit. The sliding speed of each row follows from a scalar equation without pre-sliding
stiffness: r + μ F(r) = r_free, where μ is the speed lost per unit of torque. The row is at rest
where |r_free| ≤ μ F(0).

Ref: [Moreau 1988]
"""

from dataclasses import dataclass

import numpy as np

from armtwin.drives.friction.curves import INTERVALS, breakaway, look_up, scale_of, tabulate
from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled
from armtwin.robot.robot import Robot

STEP = 2e-3  # longest step [s]: friction changes sign within few of them
SWEEPS = 3  # over elements that act on the same drives
HALVINGS = 20  # of the interval in which a sliding speed lies


@dataclass(frozen=True, eq=False)
class LoopFriction:
    """The friction elements of a robot, on its drives.

    Attributes:
        rows: Speed of each element per speed of the drives, (elements, drives).
        curves: Dry and viscous friction over speed, both directions, (elements, 2, intervals, 8).
        scales: Scale of the speeds of each table, (elements,).
        held: Torque held at rest, forward and backward, (elements, 2) [N m].
        offset: Constant torque of each element, (elements,) [N m].
    """

    rows: Floats
    curves: Floats
    scales: Floats
    held: Floats
    offset: Floats


def loop_friction(robot: Robot, fastest: Floats) -> LoopFriction:
    """The friction of a robot, in tables up to the fastest speeds of its joints, (n,) [rad/s]."""
    elements = robot.assembly.friction
    inverse = robot.assembly.motor_inverse
    count = len(elements)
    rows = np.zeros((count, inverse.shape[1]))
    curves = np.empty((count, 2, INTERVALS, 8))
    scales, offset = np.empty(count), np.empty(count)
    held = np.empty((count, 2))
    for e, (element, row) in enumerate(elements):
        largest = float(np.abs(row.weights) @ fastest)
        laws = (element.law, element.negative or element.law)
        rows[e] = row.weights @ inverse
        scales[e] = scale_of(largest)
        offset[e] = element.offset or 0.0
        for side, law in enumerate(laws):
            curves[e, side] = tabulate(law, largest)
            held[e, side] = breakaway(law)
    return LoopFriction(rows, curves, scales, held, offset)


def friction_of_motion(friction: LoopFriction, loops: Floats, speed: Floats, rate: float) -> Floats:
    """Friction on the drives while they follow, (m, drives) [N m].

    Args:
        friction: The friction elements.
        loops: Lag λ, p1, p0 and θ_I, speed per torque, of the torque loops, (4, drives).
        speed: Speeds v_ref - d(e_free)/dt, (m, drives) [rad/s].
        rate: Samples in a second [Hz].
    """
    steps = max(1, int(np.ceil(1 / (rate * STEP))))
    between = np.zeros((len(speed) - 1, speed.shape[1]))
    parts = friction.rows, friction.curves, friction.scales, friction.held
    motion = np.ascontiguousarray(loops), np.ascontiguousarray(speed)
    _follow(*parts, *motion, 1 / rate, steps, between)
    # a mean of both sides lies at the time of its sample
    inner = 0.5 * (between[:-1] + between[1:])
    torque = np.concatenate([between[:1], inner, between[-1:]])
    return torque + friction.offset @ friction.rows


@compiled
def _follow(
    rows: Floats,
    curves: Floats,
    scales: Floats,
    held: Floats,
    loops: Floats,
    speed: Floats,
    sample: float,
    steps: int,
    torque: Floats,
) -> None:
    """Fill torque (m - 1, drives) with the mean friction between samples."""
    elements, drives = rows.shape
    h = sample / steps
    w, e, i = np.zeros(drives), np.zeros(drives), np.zeros(drives)
    give, remaining, free = np.zeros(drives), np.zeros(drives), np.zeros(drives)
    F = np.zeros(elements)
    for k in range(drives):
        lag, p1, p0 = loops[0, k], loops[1, k], loops[2, k]
        give[k] = loops[3, k] / (lag / h + 1.0 + h * (p1 + h * p0))
    for n in range(torque.shape[0]):
        for step in range(steps):
            part = (step + 1) / steps
            for k in range(drives):
                lag, p1, p0 = loops[0, k], loops[1, k], loops[2, k]
                free[k] = speed[n, k] + part * (speed[n + 1, k] - speed[n, k])
                pull = lag / h * w[k] - p1 * e[k] - p0 * (i[k] + h * e[k])
                remaining[k] = free[k] - give[k] / loops[3, k] * pull
            for _ in range(SWEEPS):
                for r in range(elements):
                    F[r] = _torque(rows, curves, scales, held, give, remaining, F, r)
            for k in range(drives):
                taken = 0.0
                for r in range(elements):
                    taken += rows[r, k] * F[r]
                w[k] = free[k] - remaining[k] + give[k] * taken
                e[k] += h * w[k]
                i[k] += h * e[k]
                torque[n, k] += taken / steps


@compiled
def _torque(
    rows: Floats,
    curves: Floats,
    scales: Floats,
    held: Floats,
    give: Floats,
    remaining: Floats,
    F: Floats,
    r: int,
) -> float:
    """Torque of element r with which r + μ F(r) = r_free, the others as they are."""
    free, mu = 0.0, 0.0
    for k in range(rows.shape[1]):
        if rows[r, k] == 0.0:
            continue
        others = 0.0
        for other in range(rows.shape[0]):
            if other != r:
                others += rows[other, k] * F[other]
        free += rows[r, k] * (remaining[k] - give[k] * others)
        mu += rows[r, k] * rows[r, k] * give[k]
    side = 0 if free >= 0.0 else 1
    sign = 1.0 if free >= 0.0 else -1.0
    asked = abs(free)
    if asked <= mu * held[r, side]:
        return free / mu
    low, high, sliding = 0.0, asked, 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        g, _, f, _ = look_up(curves, r, side, scales[r], middle)
        sliding = g + f
        if middle + mu * sliding > asked:
            high = middle
        else:
            low = middle
    return sign * sliding
