"""Linear equations of a step: bodies full, drive sides sparse.

A drive side is tied to its own joint, and to few other drive sides. Eliminated first, from the last
coordinate on, it changes only these; what is left is the full matrix of the bodies. Which
coordinates are tied is known before a run.
"""

from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Flags, Floats, Indices
from armtwin.maths.choice import both
from armtwin.maths.traced_fields import Index
from armtwin.mechanics.mass import solve_in_place


class Ties(NamedTuple):
    """For each coordinate beyond the bodies' the earlier ones that its elimination changes.

    Attributes:
        place: These coordinates, in their order, (drive sides, N); what follows them is of no use.
        degree: How many there are, (drive sides,).
    """

    place: Index
    degree: Index


def ties(coupled: Flags, bodies: int) -> Ties:
    """Ties of the drive sides, from which coordinates share an entry of the matrix, (N, N)."""
    N = len(coupled)
    pattern = coupled.copy()
    place = np.zeros((N - bodies, N), dtype=np.int64)
    degree = np.zeros(N - bodies, dtype=np.int64)
    for p in range(N - 1, bodies - 1, -1):
        tied = np.flatnonzero(pattern[p, :p])
        place[p - bodies, : len(tied)], degree[p - bodies] = tied, len(tied)
        pattern[np.ix_(tied, tied)] = True  # what is eliminated ties its neighbours to each other
    return Ties(place, degree)


def solve(size: Indices, ties: Ties, A: Floats, b: Floats) -> bool:
    """Solve A x = b for a symmetric positive definite A, (N, N); b becomes x.

    Only the lower triangle of A is read, and overwritten. len(size) is the number of bodies.
    Returns whether A is definite.
    """
    n, N = len(size), len(b)
    tied, degree = ties
    definite = True
    for p in range(N - 1, n - 1, -1):
        definite = both(definite, A[p, p] > 0.0)
        inverse = 1.0 / A[p, p]
        for k in range(degree[p - n]):
            i = tied[p - n, k]
            share = A[p, i] * inverse
            b[i] -= share * b[p]
            for other in range(k + 1):
                j = tied[p - n, other]
                A[i, j] -= share * A[p, j]
    definite = both(solve_in_place(A, b[:n]), definite)
    for p in range(n, N):
        x = b[p]
        for k in range(degree[p - n]):
            i = tied[p - n, k]
            x -= A[p, i] * b[i]
        b[p] = x / A[p, p]
    return definite
