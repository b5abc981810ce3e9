"""Numbers with their change along two directions: (f, f_u, f_w, f_uw).

A product of jets is the product rule, so that a formula written with them gives its second
derivative along u and w without anyone deriving it.
"""

from typing import Any

import numpy as np

from armtwin.elements.rotations import four, rotate_bilinear, rotate_by_triad, three
from armtwin.maths.batch import Floats
from armtwin.maths.compiled import inlined
from armtwin.maths.vectors import Vector, add, dot, scale_vector

Jet = tuple[Any, Any, Any, Any]
VectorJet = tuple[Vector, Vector, Vector, Vector]


@inlined
def times(a: Jet, b: Jet) -> Jet:
    """Product of two jets."""
    a0, a_u, a_w, a_uw = a
    b0, b_u, b_w, b_uw = b
    by_u = a0 * b_u + a_u * b0
    by_w = a0 * b_w + a_w * b0
    both = a0 * b_uw + a_uw * b0
    return a0 * b0, by_u, by_w, both + (a_u * b_w + a_w * b_u)


@inlined
def plus(a: Jet, b: Jet) -> Jet:
    """Sum of two jets."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


@inlined
def share(s: float, a: Jet) -> Jet:
    """s a."""
    return s * a[0], s * a[1], s * a[2], s * a[3]


@inlined
def chain(f: tuple[Any, Any, Any], a: Jet) -> Jet:
    """A function of a jet, from its value, slope and curvature there."""
    value, slope, curvature = f
    _, by_u, by_w, both = a
    bent = slope * both + curvature * by_u * by_w
    return value, slope * by_u, slope * by_w, bent


@inlined
def inner(a: VectorJet, b: VectorJet) -> Jet:
    """Dot product of two vector jets."""
    a0, a_u, a_w, a_uw = a
    b0, b_u, b_w, b_uw = b
    by_u = dot(a0, b_u) + dot(a_u, b0)
    by_w = dot(a0, b_w) + dot(a_w, b0)
    both = dot(a0, b_uw) + dot(a_uw, b0)
    both += dot(a_u, b_w) + dot(a_w, b_u)
    return dot(a0, b0), by_u, by_w, both


@inlined
def rotate_jet(x: Floats, u: Floats, w: Floats, at: int, n: Vector) -> VectorJet:
    """R n of the triad that starts at a place of x."""
    turn = four(x, at)
    by_u = four(u, at)
    by_w = four(w, at)
    along_u = scale_vector(2.0, rotate_bilinear(turn, by_u, n))
    along_w = scale_vector(2.0, rotate_bilinear(turn, by_w, n))
    both = scale_vector(2.0, rotate_bilinear(by_u, by_w, n))
    return rotate_by_triad(turn, n), along_u, along_w, both


@inlined
def difference(x: Floats, p: int, q: int) -> Vector:
    """x_q - x_p of two points."""
    return add(three(x, q), scale_vector(-1.0, three(x, p)))


@inlined
def length_jet(d: Vector, by_u: Vector, by_w: Vector) -> Jet:
    """|d| with its changes."""
    length = np.sqrt(dot(d, d))
    along_u = dot(d, by_u) / length
    along_w = dot(d, by_w) / length
    both = dot(by_u, by_w) - along_u * along_w
    return length, along_u, along_w, both / length


@inlined
def angle_of(b: complex, a: complex) -> Any:
    """atan2(b, a), through which a complex step passes.

    What a step adds to the real angle is linear, (a δb - b δa)/(a² + b²).
    """
    real_a, real_b = a.real, b.real
    step = (real_a * (b - real_b) - real_b * (a - real_a)) / (real_a * real_a + real_b * real_b)
    return np.arctan2(real_b, real_a) + step
