"""One step of the plant: velocity implicit in all that resists, second order.

    (M + h/2 Σ D s sᵀ) δv = h (τ - bias - Σ F s),   u += h (v + δv/2)

F and D are the torque and its slope of every friction element, spring and cylinder along its row s.
M and bias are taken half a tick ahead, at u + h v / 2 and the extrapolated speed.
Before they slide, bristles are springs that oscillate with the arm at thousands of rad/s: such
ticks are taken in several steps with the same M and bias.
Switching friction is a complementarity: each row's impulse lies within - h T and h T and stops the
row if it can.

Ref: [Waiboer 2007, section 5.3], [Moreau 1988]
"""

from typing import Any, NamedTuple

import numpy as np

from armtwin.drives.friction.curves import look_up
from armtwin.drives.friction.presliding import advance_bristle, arctangent, bristle
from armtwin.drives.hydraulics import Cylinders, cylinder
from armtwin.drives.linkage import Levers, in_turn
from armtwin.drives.rows import Rows, Springs, add_along, along, spring
from armtwin.maths.batch import Floats, Pair
from armtwin.maths.choice import choose, larger, smaller
from armtwin.simulation.plant import (
    BRISTLES,
    C0,
    C1,
    HELD,
    HELD_BACK,
    OFFSET,
    SCALE,
    STEEPNESS,
    Balancers,
    Friction,
)

SWEEPS = 40
SWEPT = 1e-12  # largest change, as a share, that ends them
LOWER, UPPER, SHARE = range(3)
AT_REST = 1e-9  # speed [rad/s] below which friction holds what it can
RUNAWAY = 1e4  # speed [rad/s] beyond which a run is called unstable


class StepEquations(NamedTuple):
    """A δv = b of a step: the matrix, of which the lower triangle counts, and the right side.

    Attributes:
        A: (N, N).
        b: (N,).
        h: Length of the step [s].
    """

    A: Any
    b: Any
    h: Any


class Contacts(NamedTuple):
    """What friction does in a step, (e,) each.

    Attributes:
        torque: Torque at the start of the step.
        slope: Its slope with the speed.
        speed: Speed of the element's row.
        change: The speed's change.
    """

    torque: Any
    slope: Any
    speed: Any
    change: Any

    @property
    def half_way(self) -> Any:
        """Torque half way through the step."""
        return self.torque + 0.5 * self.slope * self.change


def make_contacts(friction: Friction, dv: Floats) -> Contacts:
    """Room for what each element does, of numbers or of symbols as the change of speeds is."""
    return Contacts(*(np.zeros(len(friction.row), dtype=dv.dtype) for _ in range(4)))


def begin_step(M: Floats, force: Floats, h: float) -> StepEquations:
    """Equations of a step without what resists: A = M (lower triangle), b = h force."""
    N = len(force)
    A, b = np.zeros((N, N), dtype=M.dtype), np.zeros(N, dtype=M.dtype)
    for i in range(N):
        b[i] = h * force[i]
        for j in range(i + 1):
            A[i, j] = M[i, j]
    return StepEquations(A, b, h)


def resist(rows: Rows, r: int, F: float, D: float, system: StepEquations) -> None:
    """Put a torque F with slope D on row r into the equations of a step."""
    A, b, h = system
    half = 0.5 * h * D
    for k in range(rows.used[r]):
        i = rows.place[r, k]
        b[i] -= h * F * rows.weights[r, i]
        for other in range(k + 1):
            j = rows.place[r, other]
            A[i, j] += half * rows.weights[r, i] * rows.weights[r, j]


def add_balancers(balancers: Balancers, rows: Rows, u: Floats, bias: Floats) -> None:
    """Add the balancers' torques at coordinates u to the bias."""
    for b, r in enumerate(balancers.row):
        torque, _ = in_turn(balancers.table, b, along(rows, r, u))
        add_along(rows, r, torque, bias)


def set_levers(levers: Levers, rows: Rows, u: Floats, weights: Floats) -> None:
    """Weights of rows with levers at coordinates u: times the slope of the length."""
    for e, r in enumerate(levers.row):
        _, slope = in_turn(levers.table, e, along(rows, r, u))
        for k in range(rows.used[r]):
            j = rows.place[r, k]
            weights[r, j] = slope * rows.weights[r, j]


def press_springs(
    springs: Springs, slack: Floats, rows: Rows, u: Floats, v: Floats, system: StepEquations
) -> tuple[list[Any], list[Any]]:
    """Put springs, slack at places (springs,), into the equations of a step: torques and slopes."""
    torques, slopes = [], []
    for e, r in enumerate(springs.row):
        x, w = along(rows, r, u) - slack[e], along(rows, r, v)
        F, D = spring(
            springs.stiffness[e],
            springs.damping[e],
            springs.gap[e],
            springs.soft[e],
            springs.knee[e],
            springs.numerical[e],
            x,
            w,
            system.h,
        )
        resist(rows, r, F, D, system)
        torques.append(F)
        slopes.append(D)
    return torques, slopes


def press_cylinders(
    cylinders: Cylinders, rows: Rows, oil: Floats, Q: Floats, v: Floats, system: StepEquations
) -> None:
    """Put the cylinders, with forces `oil` and flows Q, into the equations of a step."""
    for c, r in enumerate(cylinders.row):
        w = along(rows, r, v)
        F, D = cylinder(cylinders.compliance[c], cylinders.leakage[c], oil[c], Q[c], w, system.h)
        resist(rows, r, F, D, system)


def compute_friction(
    friction: Friction, e: int, level: float, w: float, z: float, h: float
) -> Pair:
    """Torque of friction element e over a step h at speed w, and its slope with w.

    Bristles with deflection z or the arctangent, level being the factor of dry friction; a step of
    no length gives the torque now.
    """
    curves, numbers = friction.curves, friction.numbers
    scale = numbers[e, SCALE]
    if friction.kind == BRISTLES:
        F, D = bristle(curves, e, scale, level, numbers[e, C0], numbers[e, C1], w, z, h)
    else:
        F, D = arctangent(curves, e, scale, level, STEEPNESS, w)
    return F + numbers[e, OFFSET], D


def press_friction(
    friction: Friction, level: Floats, rows: Rows, v: Floats, z: Floats, system: StepEquations
) -> Contacts:
    """Put smooth friction into the equations of a step; the change of speeds is not known yet."""
    found = make_contacts(friction, system.b)
    for k, r in enumerate(friction.row):
        w = along(rows, r, v)
        F, D = compute_friction(friction, k, level[k], w, z[k], system.h)
        found.torque[k], found.slope[k], found.speed[k] = F, D, w
        resist(rows, r, F, D, system)
    return found


def release_friction(
    friction: Friction,
    level: Floats,
    rows: Rows,
    contacts: Contacts,
    z: Floats,
    system: StepEquations,
) -> None:
    """The change of the elements' speeds in a solved step, and new deflections of bristles."""
    dv, h = system.b, system.h
    for k, r in enumerate(friction.row):
        contacts.change[k] = along(rows, r, dv)
    if friction.kind != BRISTLES:
        return
    numbers = friction.numbers
    for k in range(len(friction.row)):
        w = contacts.speed[k] + 0.5 * contacts.change[k]
        z[k] = advance_bristle(
            friction.curves, k, numbers[k, SCALE], level[k], numbers[k, C0], w, z[k], h
        )


def bound_impulses(
    friction: Friction, level: Floats, rows: Rows, v: Floats, h: float, bounds: Floats
) -> None:
    """Least and largest impulse of each element of switching friction, in (e, 3)."""
    numbers = friction.numbers
    for k, r in enumerate(friction.row):
        w = along(rows, r, v)
        rests = abs(w) < AT_REST
        for side, held, bound, sign in ((0, HELD, UPPER, h), (1, HELD_BACK, LOWER, -h)):
            g, _, f, _ = look_up(friction.curves, k, side, numbers[k, SCALE], abs(w))
            at_rest = choose(rests, level[k] * numbers[k, held], 0.0)
            bounds[k, bound] = sign * larger(level[k] * g + f, at_rest)


def sweep(
    friction: Friction, rows: Rows, v: Floats, dv: Floats, impulse: Floats, sweeps: Any
) -> float:
    """Have each element stop its row if it can; returns the largest change, as a share."""
    answers, bounds = sweeps.answers, sweeps.bounds
    largest = 0.0
    for k, r in enumerate(friction.row):
        lower, upper = bounds[k, LOWER], bounds[k, UPPER]
        w = along(rows, r, v) + along(rows, r, dv)
        new = smaller(larger(impulse[k] + w / bounds[k, SHARE], lower), upper)
        change = new - impulse[k]
        impulse[k] = new
        largest = larger(largest, abs(change) / (upper - lower + 1e-300))
        for j in range(len(dv)):
            dv[j] -= answers[k, j] * change
    return largest


def advance(u: Floats, v: Floats, dv: Floats, h: float) -> int:
    """Take the step; returns a coordinate that runs away (or is not a number), or -1."""
    lost = -1
    for j in range(len(u)):
        u[j] += h * (v[j] + 0.5 * dv[j])
        v[j] += dv[j]
        lost = choose(abs(v[j]) < RUNAWAY, lost, j)
    return lost
