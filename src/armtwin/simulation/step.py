"""One step of the plant: velocity implicit in friction, second order.

    (M + h/2 Σ D s sᵀ) δv = h (τ - bias - Σ F s),   q += h (v + δv/2)

M and bias are taken half a tick ahead, at q + h v / 2 and the extrapolated speed.
Before they slide, bristles are springs that swing with the arm at thousands of radians a second: such ticks are
taken in several steps with the same M and bias.
Switching friction is a complementarity: each row's impulse lies within - h T and h T and stops the row if it can.

Ref: [Waiboer 2007, section 5.3], [Moreau 1988]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armtwin.drives.friction.curves import look_up
from armtwin.drives.friction.presliding import arctangent, bristle, relaxed
from armtwin.maths.compiled import compiled, inlined
from armtwin.mechanics.mass import solve_in_place
from armtwin.simulation.plant import C0, C1, HELD, HELD_BACK, OFFSET, SCALE, STEEPNESS, STRUT_INTERVALS

SWEEPS = 40


@inlined
def add_struts(joints: Any, tables: Any, q: Any, bias: Any) -> None:
    """Add the balancers' torques at joint angles q to the bias."""
    for b in range(joints.shape[0]):
        turns = q[joints[b]] / (2 * np.pi) + 0.5
        x = (turns - np.floor(turns)) * STRUT_INTERVALS
        i = min(int(x), STRUT_INTERVALS - 1)
        x -= i
        rest = tables[b, i, 1] + x * (tables[b, i, 2] + x * tables[b, i, 3])
        bias[joints[b]] += tables[b, i, 0] + x * rest


@inlined
def smooth_step(
    size: Any,
    kind: int,
    rows: Any,
    curves: Any,
    numbers: Any,
    M: Any,
    force: Any,
    v: Any,
    z: Any,
    h: float,
    dv: Any,
    F: Any,
    D: Any,
    G: Any,
) -> bool:
    """Speed change dv over a step under force = τ - bias, with bristle (1), arctangent (2) or no friction (0).

    Writes torque F and slope D of each element; M is overwritten, G (e, 3) is scratch.
    """
    n = len(size)
    for i in range(n):
        dv[i] = h * force[i]
    for e in range(rows.shape[0]):
        w = 0.0
        for j in range(n):
            w += rows[e, j] * v[j]
        if kind == 1:
            F[e], D[e], G[e, 1], G[e, 2] = bristle(
                curves, e, numbers[e, SCALE], numbers[e, C0], numbers[e, C1], w, z[e], h
            )
            G[e, 0] = w
        else:
            F[e], D[e] = arctangent(curves, e, numbers[e, SCALE], STEEPNESS, w)
        F[e] += numbers[e, OFFSET]
        half = 0.5 * h * D[e]
        for i in range(n):
            if rows[e, i] != 0.0:
                dv[i] -= h * F[e] * rows[e, i]
                for j in range(i + 1):
                    M[i, j] += half * rows[e, i] * rows[e, j]
    solved = solve_in_place(size, M, dv)
    if kind == 1:
        for e in range(rows.shape[0]):
            w = 0.0
            for j in range(n):
                w += rows[e, j] * (v[j] + 0.5 * dv[j])
            z[e] = relaxed(curves, e, numbers[e, SCALE], numbers[e, C0], w, z[e], h, G[e, 0], G[e, 1], G[e, 2])
    return solved


@compiled
def switching_step(
    rows: Any, curves: Any, numbers: Any, M: Any, force: Any, v: Any, impulse: Any, h: float, dv: Any, F: Any
) -> bool:
    """Speed change under friction that opposes sliding and holds at rest, by sweeps over the rows."""
    n, elements = v.shape[0], rows.shape[0]
    W, A = np.empty((elements, n)), np.empty((n, n))
    for i in range(n):
        dv[i] = h * force[i]
    A[:] = M
    if not solve_in_place(v, A, dv):
        return False
    lower, upper, share = np.empty(elements), np.empty(elements), np.empty(elements)
    for e in range(elements):
        A[:] = M
        W[e] = rows[e]
        solve_in_place(v, A, W[e])
        w = 0.0
        share[e] = 0.0
        for j in range(n):
            w += rows[e, j] * v[j]
            share[e] += rows[e, j] * W[e, j]
        at_rest = 1.0 if abs(w) < 1e-9 else 0.0
        g, _, f, _ = look_up(curves, e, 0, numbers[e, SCALE], abs(w))
        upper[e] = h * max(g + f, at_rest * numbers[e, HELD])
        g, _, f, _ = look_up(curves, e, 1, numbers[e, SCALE], abs(w))
        lower[e] = -h * max(g + f, at_rest * numbers[e, HELD_BACK])
        impulse[e] = min(max(impulse[e], lower[e]), upper[e])
        for j in range(n):
            dv[j] -= W[e, j] * (impulse[e] + h * numbers[e, OFFSET])
    for _ in range(SWEEPS):
        largest = 0.0
        for e in range(elements):
            w = 0.0
            for j in range(n):
                w += rows[e, j] * (v[j] + dv[j])
            new = min(max(impulse[e] + w / share[e], lower[e]), upper[e])
            change = new - impulse[e]
            impulse[e] = new
            largest = max(largest, abs(change) / (upper[e] - lower[e] + 1e-300))
            for j in range(n):
                dv[j] -= W[e, j] * change
        if largest < 1e-12:
            break
    for e in range(elements):
        F[e] = impulse[e] / h + numbers[e, OFFSET]
    return True
