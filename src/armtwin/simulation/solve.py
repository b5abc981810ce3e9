"""Linear equations of a step: bodies full, drive sides sparse.

A drive side is tied to its own joint, and to few other drive sides. Eliminated first, from the last
coordinate on, it changes only these; what is left is the full matrix of the bodies.
"""

from __future__ import annotations

from typing import Any

from armtwin.maths.compiled import inlined
from armtwin.mechanics.mass import solve_in_place


@inlined
def solve(size: Any, every: Any, A: Any, b: Any) -> bool:
    """Solve A x = b for a symmetric positive definite A, (N, N); b becomes x. Returns whether A is definite.

    Only the lower triangle of A is read, and overwritten. len(size) is the number of bodies, len(every) is N.
    """
    n = len(size)
    definite = True
    for p in range(len(every) - 1, n - 1, -1):
        definite = definite and A[p, p] > 0.0
        inverse = 1.0 / A[p, p]
        for i in range(p):
            tie = A[p, i] * inverse
            if tie != 0.0:
                b[i] -= tie * b[p]
                for j in range(i + 1):
                    A[i, j] -= tie * A[p, j]
    definite = solve_in_place(size, A, b) and definite
    for p in range(n, len(every)):
        x = b[p]
        for i in range(p):
            x -= A[p, i] * b[i]
        b[p] = x / A[p, p]
    return definite
