"""Where the energy of a step goes, summed with the speeds half way through it."""

from __future__ import annotations

from typing import Any

from armtwin.drives.hydraulics import advance_force
from armtwin.drives.springs import deflection_torque, twist_beyond_backlash
from armtwin.maths.choice import choose
from armtwin.maths.compiled import compiled, inlined
from armtwin.simulation.step import along

MOTORS, OUTSIDE, FRICTION, DAMPERS, NUMERICAL = range(5)


@inlined
def account(
    every: Any,
    h: float,
    energy: Any,
    v: Any,
    dv: Any,
    tau: Any,
    outside: Any,
    F: Any,
    D: Any,
    G: Any,
) -> None:
    """Add the work of a step by motors, from outside and in friction.

    G holds the speeds of the elements and their change.
    """
    work, pushed, taken = 0.0, 0.0, 0.0
    for j in range(len(every)):
        work += tau[j] * (v[j] + 0.5 * dv[j])
        pushed += outside[j] * (v[j] + 0.5 * dv[j])
    for e in range(F.shape[0]):
        taken += (F[e] + 0.5 * D[e] * G[e, 1]) * (G[e, 0] + 0.5 * G[e, 1])
    energy[MOTORS] += h * work
    energy[OUTSIDE] += h * pushed
    energy[FRICTION] += h * taken


@compiled
def account_springs(
    h: float,
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
    energy: Any,
    u: Any,
    v: Any,
    dv: Any,
    force: Any,
) -> None:
    """Add the loss of a step in the springs' dampers, and what the numerical damping took.

    The latter is the difference to the torque of a spring half way through the step.
    """
    for e in range(spring_row.shape[0]):
        r = spring_row[e]
        dw = along(rows, place, count, r, dv)
        w = along(rows, place, count, r, v) + 0.5 * dw
        used = force[e, 0] + 0.5 * force[e, 1] * dw
        touching = force[e, 1] != 0.0
        lost = choose(touching, damping[e] * w, 0.0)
        middle = along(rows, place, count, r, u) - rest[e] + 0.5 * h * w
        stored, _ = deflection_torque(
            twist_beyond_backlash(middle, gap[e]), stiffness[e], soft[e], knee[e]
        )
        energy[DAMPERS] += h * w * lost
        energy[NUMERICAL] += h * w * (used - lost - stored)


@compiled
def release(
    h: float,
    rows: Any,
    place: Any,
    count: Any,
    cylinder_row: Any,
    compliance: Any,
    leakage: Any,
    energy: Any,
    oil: Any,
    Q: Any,
    v: Any,
    dv: Any,
) -> None:
    """New forces of the cylinders after a step, and their work in it, which counts as motors'."""
    for c in range(cylinder_row.shape[0]):
        r = cylinder_row[c]
        w = along(rows, place, count, r, v) + 0.5 * along(rows, place, count, r, dv)
        after = advance_force(compliance[c], leakage[c], oil[c], Q[c], w, h)
        energy[MOTORS] += h * w * 0.5 * (oil[c] + after)
        oil[c] = after
