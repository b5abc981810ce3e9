"""Euler parameters of a triad, l = (l0, k): rotation since the reference state and its rates.

    R n = (l0² - k·k) n + 2 k (k·n) + 2 l0 k×n        quadratic in l, without a division

so that R n of a given direction is a form of l with constant coefficients, l' T_i l. With

    G = [-k | l0 1 - [k]×],   E = [-k | l0 1 + [k]×]

R = E G', the angular velocity in body axes is ω' = 2 G dl/dt, the acceleration α' = 2 G d²l/dt²
(dG/dt dl/dt = 0), and a moment T' about body axes is the force 2 G' T' on l.

Ref: [Waiboer 2007, appendix B], [Jonker 1988]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import inlined


def rotation_form(n: ArrayLike) -> Floats:
    """Coefficients T of R n = l' T l for a direction n, symmetric, (3, 4, 4).

    B(a, b) n = (a0 b0 - a·b) n + a (b·n) + b (a·n) + a0 b×n + b0 a×n
    """
    direction = np.asarray(n, dtype=np.float64)
    T = np.empty((3, 4, 4))
    for j, a in enumerate(np.eye(4)):
        for k, b in enumerate(np.eye(4)):
            s, t = a[1:], b[1:]
            straight = (a[0] * b[0] - s @ t) * direction
            mixed = s * (t @ direction) + t * (s @ direction)
            across = a[0] * np.cross(t, direction) + b[0] * np.cross(s, direction)
            T[:, j, k] = straight + mixed + across
    return T


def relative_form(axes: ArrayLike) -> Floats:
    """Coefficients H of r = conj(l_p) ∘ l_q = l_p' H l_q, (4, 4, 4).

    r0 = p0 q0 + p·q, then the components of p0 q - q0 p - p×q along each of the axes.
    """
    directions = np.asarray(axes, dtype=np.float64)
    H = np.empty((4, 4, 4))
    for j, p in enumerate(np.eye(4)):
        for k, q in enumerate(np.eye(4)):
            vector = p[0] * q[1:] - q[0] * p[1:] - np.cross(p[1:], q[1:])
            H[0, j, k] = p @ q
            H[1:, j, k] = directions @ vector
    return H


@inlined
def rate_forms(x: Any, at: int, G: Any, E: Any) -> None:
    """Write G and E, (3, 4), of the triad that starts at a place of x."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        G[i, 0] = E[i, 0] = -x[at + 1 + i]
        G[i, 1 + i] = E[i, 1 + i] = x[at]
        G[i, 1 + j] = x[at + 1 + k]
        E[i, 1 + j] = -x[at + 1 + k]
        G[i, 1 + k] = -x[at + 1 + j]
        E[i, 1 + k] = x[at + 1 + j]


@inlined
def rotation(G: Any, E: Any, R: Any) -> None:
    """Write R = E G', (3, 3)."""
    for i in range(3):
        for j in range(3):
            total = 0.0 * G[0, 0]
            for k in range(4):
                total += E[i, k] * G[j, k]
            R[i, j] = total


@inlined
def doubled(G: Any, x: Any, at: int) -> tuple[Any, Any, Any]:
    """2 G l of four numbers of x: ω' from the rates of a triad, α' from their rates."""
    a, b, c, d = x[at], x[at + 1], x[at + 2], x[at + 3]
    return (
        2.0 * (G[0, 0] * a + G[0, 1] * b + G[0, 2] * c + G[0, 3] * d),
        2.0 * (G[1, 0] * a + G[1, 1] * b + G[1, 2] * c + G[1, 3] * d),
        2.0 * (G[2, 0] * a + G[2, 1] * b + G[2, 2] * c + G[2, 3] * d),
    )


@inlined
def add_moment(G: Any, T: Any, g: Any, at: int) -> None:
    """Add 2 G' T' of a moment about body axes to the force on a triad."""
    for j in range(4):
        g[at + j] += 2.0 * (G[0, j] * T[0] + G[1, j] * T[1] + G[2, j] * T[2])
