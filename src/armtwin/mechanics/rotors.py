"""Rotors of motors: their inertia along the coordinates, and what their spin does to the carriers.

A rotor turns with φ = row · u relative to its carrier. Its inertia about its own axis acts on the
coordinates of that row, Nᵀ J N; its mass belongs to the carrier's body. The product of its spin and
of the carrier's rotation, J φ' (z · ω), couples both: an option.

Ref: [Memar-Esfahani 2015, eq. 5], [Waiboer 2007, eq. 4.25]
"""

from typing import NamedTuple

from armtwin.maths.batch import Numbers
from armtwin.maths.compiled import inlined
from armtwin.maths.traced_fields import Index, Pattern
from armtwin.maths.vectors import add, cross, dot, put, rotate, scale_vector, vector
from armtwin.mechanics.arm import Arm, Bodies


class Rotors(NamedTuple):
    """Rotors along N coordinates, of which the first are the joints of the bodies.

    Attributes:
        inertia: Inertia of the rotors seen at the coordinates, Nᵀ J N, (N, N) [kg m²].
        body: Body that carries each rotor whose gyroscopic coupling is modelled, (k,).
        axis: Axis of that rotor in its carrier's frame, (k, 3).
        row: Row of that rotor's turns times its inertia, (k, N) [kg m²].
    """

    inertia: Pattern
    body: Index
    axis: Pattern
    row: Pattern


@inlined
def spin(rotors: Rotors, v: Numbers, a: Numbers, bodies: Bodies, tau: Numbers) -> None:
    """Gyroscopic coupling of rotors: T = J φ' (z · ω), φ' = row · v relative to the carrying body.

    Torque on the carrier J (φ'' z + ω × φ' z); torque on the rotor's own coordinates J (z · α).
    """
    row, t = rotors.row, bodies.t
    for e in range(len(rotors.body)):
        i = rotors.body[e]
        rate = change = 0.0 * v[0]
        for j in range(row.shape[1]):
            rate += row[e, j] * v[j]
            change += row[e, j] * a[j]
        z = vector(rotors.axis, e)
        precession = cross(vector(bodies.w, i), z)
        on_carrier = add(scale_vector(change, z), scale_vector(rate, precession))
        put(t, i, add(vector(t, i), on_carrier))
        own = dot(z, vector(bodies.al, i))
        for j in range(row.shape[1]):
            tau[j] += row[e, j] * own


@inlined
def add_spin_mass(arm: Arm, rotors: Rotors, R: Numbers, M: Numbers) -> None:
    """Add the gyroscopic coupling J (row jᵀ + j rowᵀ) to the lower triangle of M, (N, N).

    j are the rates of the carrier about the rotor's axis.
    """
    row = rotors.row
    for e in range(len(rotors.body)):
        z = vector(rotors.axis, e)
        i = rotors.body[e]
        while i >= 0:
            if arm.slides[i] == 0:
                rate = dot(vector(arm.axis, i), z)
                for j in range(row.shape[1]):
                    both = 2.0 if i == j else 1.0
                    M[max(i, j), min(i, j)] += row[e, j] * rate * both
            z = rotate(R, i, z)
            i = arm.parent[i]
