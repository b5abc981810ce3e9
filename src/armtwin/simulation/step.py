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

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.drives.friction.curves import look_up
from armtwin.drives.friction.presliding import advance_bristle, arctangent, bristle
from armtwin.drives.hydraulics import cylinder
from armtwin.drives.linkage import in_turn
from armtwin.drives.springs import spring
from armtwin.maths.batch import Pair
from armtwin.maths.choice import choose, larger, smaller
from armtwin.maths.compiled import compiled, inlined
from armtwin.simulation.plant import C0, C1, HELD, HELD_BACK, OFFSET, SCALE, STEEPNESS
from armtwin.simulation.solve import solve

SWEEPS = 40
SWEPT = 1e-12  # largest change, as a share, that ends them
LOWER, UPPER, SHARE = range(3)


@inlined
def along(rows: Any, place: Any, count: Any, r: int, x: Any) -> float:
    """s · x of row r."""
    total = 0.0
    for k in range(count[r]):
        j = place[r, k]
        total += rows[r, j] * x[j]
    return total


@inlined
def resist(
    rows: Any, place: Any, count: Any, r: int, F: float, D: float, h: float, A: Any, dv: Any
) -> None:
    """Put a torque F with slope D on row r into the equations of a step."""
    half = 0.5 * h * D
    for k in range(count[r]):
        i = place[r, k]
        dv[i] -= h * F * rows[r, i]
        for other in range(k + 1):
            j = place[r, other]
            A[i, j] += half * rows[r, i] * rows[r, j]


@inlined
def add_balancers(
    rows: Any, place: Any, count: Any, balancer_row: Any, tables: Any, u: Any, bias: Any
) -> None:
    """Add the balancers' torques at coordinates u to the bias."""
    for b in range(balancer_row.shape[0]):
        r = balancer_row[b]
        torque, _ = in_turn(tables, b, along(rows, place, count, r, u))
        for k in range(count[r]):
            j = place[r, k]
            bias[j] += torque * rows[r, j]


@compiled
def set_levers(
    weights: Any, place: Any, count: Any, lever_row: Any, tables: Any, u: Any, rows: Any
) -> None:
    """Rows with levers at coordinates u: the weights times the slope of the length."""
    for e in range(lever_row.shape[0]):
        r = lever_row[e]
        _, slope = in_turn(tables, e, along(weights, place, count, r, u))
        for k in range(count[r]):
            j = place[r, k]
            rows[r, j] = slope * weights[r, j]


@compiled
def press_springs(
    rows: Any,
    place: Any,
    count: Any,
    spring_row: Any,
    stiffness: Any,
    damping: Any,
    gap: Any,
    soft: Any,
    knee: Any,
    rest: Any,
    numerical: Any,
    u: Any,
    v: Any,
    h: float,
    A: Any,
    dv: Any,
    force: Any,
) -> None:
    """Put the springs into the equations of a step; force, (springs, 2), keeps torque and slope."""
    for e in range(spring_row.shape[0]):
        r = spring_row[e]
        x, w = along(rows, place, count, r, u) - rest[e], along(rows, place, count, r, v)
        F, D = spring(stiffness[e], damping[e], gap[e], soft[e], knee[e], numerical[e], x, w, h)
        resist(rows, place, count, r, F, D, h, A, dv)
        force[e, 0], force[e, 1] = F, D


@compiled
def press_cylinders(
    rows: Any,
    place: Any,
    count: Any,
    cylinder_row: Any,
    compliance: Any,
    leakage: Any,
    oil: Any,
    Q: Any,
    v: Any,
    h: float,
    A: Any,
    dv: Any,
) -> None:
    """Put the cylinders, with forces `oil` and flows Q, into the equations of a step."""
    for c in range(cylinder_row.shape[0]):
        r = cylinder_row[c]
        F, D = cylinder(compliance[c], leakage[c], oil[c], Q[c], along(rows, place, count, r, v), h)
        resist(rows, place, count, r, F, D, h, A, dv)


@inlined
def compute_friction(
    curves: Any, e: int, numbers: Any, level: float, kind: int, w: float, z: float, h: float
) -> Pair:
    """Torque of friction element e over a step h at speed w, and its slope with w.

    Bristles (kind 1, deflection z) or the arctangent, level being the factor of dry friction; a
    step of no length gives the torque now.
    """
    scale = numbers[e, SCALE]
    if kind == 1:
        F, D = bristle(curves, e, scale, level, numbers[e, C0], numbers[e, C1], w, z, h)
    else:
        F, D = arctangent(curves, e, scale, level, STEEPNESS, w)
    return F + numbers[e, OFFSET], D


@inlined
def smooth_step(
    size: Any,
    every: Any,
    tied: Any,
    tie_count: Any,
    rows: Any,
    place: Any,
    count: Any,
    friction_row: Any,
    curves: Any,
    numbers: Any,
    level: Any,
    kind: int,
    A: Any,
    v: Any,
    z: Any,
    h: float,
    dv: Any,
    F: Any,
    D: Any,
    G: Any,
) -> bool:
    """Speed change dv over a step, with bristle (1), arctangent (2) or no friction (0).

    dv comes as h times the torque that is left for friction and acceleration, A as the matrix of
    the other parts, level as factors of dry friction. Writes torque F and slope D of each element,
    and in G, (e, 2), its speed and the speed's change; A is overwritten.
    """
    for e in range(friction_row.shape[0]):
        r = friction_row[e]
        w = along(rows, place, count, r, v)
        F[e], D[e] = compute_friction(curves, e, numbers, level[e], kind, w, z[e], h)
        G[e, 0] = w
        resist(rows, place, count, r, F[e], D[e], h, A, dv)
    solved = solve(size, every, tied, tie_count, A, dv)
    for e in range(friction_row.shape[0]):
        G[e, 1] = along(rows, place, count, friction_row[e], dv)
    if kind == 1:
        for e in range(friction_row.shape[0]):
            w = G[e, 0] + 0.5 * G[e, 1]
            z[e] = advance_bristle(
                curves, e, numbers[e, SCALE], level[e], numbers[e, C0], w, z[e], h
            )
    return solved


@inlined
def _copy(every: Any, M: Any, A: Any) -> None:
    for i in range(len(every)):
        for j in range(i + 1):
            A[i, j] = M[i, j]


@inlined
def before_sweeps(
    size: Any,
    every: Any,
    tied: Any,
    tie_count: Any,
    rows: Any,
    place: Any,
    count: Any,
    friction_row: Any,
    curves: Any,
    numbers: Any,
    level: Any,
    M: Any,
    v: Any,
    impulse: Any,
    h: float,
    dv: Any,
    A: Any,
    answer: Any,
    W: Any,
    bounds: Any,
) -> bool:
    """Speed change dv under the impulses of the step before, and what the sweeps need.

    W, (e, N), gets the answer of the coordinates to an impulse of each element; bounds, (e, 3), the
    least and largest impulse and the answer of the element's own row.
    """
    n = len(every)
    _copy(every, M, A)
    solved = solve(size, every, tied, tie_count, A, dv)
    for e in range(friction_row.shape[0]):
        r = friction_row[e]
        for j in range(n):
            answer[j] = rows[r, j]
        _copy(every, M, A)
        solve(size, every, tied, tie_count, A, answer)
        w = along(rows, place, count, r, v)
        rests = abs(w) < 1e-9
        g, _, f, _ = look_up(curves, e, 0, numbers[e, SCALE], abs(w))
        held = choose(rests, level[e] * numbers[e, HELD], 0.0)
        bounds[e, UPPER] = h * larger(level[e] * g + f, held)
        g, _, f, _ = look_up(curves, e, 1, numbers[e, SCALE], abs(w))
        back = choose(rests, level[e] * numbers[e, HELD_BACK], 0.0)
        bounds[e, LOWER] = -h * larger(level[e] * g + f, back)
        bounds[e, SHARE] = along(rows, place, count, r, answer)
        impulse[e] = smaller(larger(impulse[e], bounds[e, LOWER]), bounds[e, UPPER])
        for j in range(n):
            W[e, j] = answer[j]
            dv[j] -= answer[j] * (impulse[e] + h * numbers[e, OFFSET])
    return solved


@inlined
def sweep(
    every: Any,
    rows: Any,
    place: Any,
    count: Any,
    friction_row: Any,
    v: Any,
    dv: Any,
    impulse: Any,
    W: Any,
    bounds: Any,
) -> float:
    """Have each element stop its row if it can; returns the largest change, as a share."""
    largest = 0.0
    for e in range(friction_row.shape[0]):
        r = friction_row[e]
        lower, upper = bounds[e, LOWER], bounds[e, UPPER]
        w = along(rows, place, count, r, v) + along(rows, place, count, r, dv)
        new = smaller(larger(impulse[e] + w / bounds[e, SHARE], lower), upper)
        change = new - impulse[e]
        impulse[e] = new
        largest = larger(largest, abs(change) / (upper - lower + 1e-300))
        for j in range(len(every)):
            dv[j] -= W[e, j] * change
    return largest


@inlined
def after_sweeps(
    rows: Any,
    place: Any,
    count: Any,
    friction_row: Any,
    numbers: Any,
    v: Any,
    dv: Any,
    impulse: Any,
    h: float,
    F: Any,
    G: Any,
) -> None:
    """Torque of each element over the step; G gets its speed and the speed's change."""
    for e in range(friction_row.shape[0]):
        F[e] = impulse[e] / h + numbers[e, OFFSET]
        G[e, 0] = along(rows, place, count, friction_row[e], v)
        G[e, 1] = along(rows, place, count, friction_row[e], dv)


@compiled
def switching_step(
    size: Any,
    every: Any,
    tied: Any,
    tie_count: Any,
    rows: Any,
    place: Any,
    count: Any,
    friction_row: Any,
    curves: Any,
    numbers: Any,
    level: Any,
    M: Any,
    v: Any,
    impulse: Any,
    h: float,
    dv: Any,
    F: Any,
    G: Any,
) -> bool:
    """Speed change under friction that opposes sliding and holds at rest, by sweeps over the rows.

    dv comes as h times the torque that is left for friction and acceleration.
    """
    n, elements = len(every), friction_row.shape[0]
    W, A, answer = np.empty((elements, n)), np.empty((n, n)), np.empty(n)
    bounds = np.empty((elements, 3))
    solved = before_sweeps(
        size, every, tied, tie_count, rows, place, count, friction_row, curves, numbers, level,
        M, v, impulse, h, dv, A, answer, W, bounds,
    )  # fmt: skip
    for _ in range(SWEEPS):
        largest = sweep(every, rows, place, count, friction_row, v, dv, impulse, W, bounds)
        if largest < SWEPT:
            break
    after_sweeps(rows, place, count, friction_row, numbers, v, dv, impulse, h, F, G)
    return solved
