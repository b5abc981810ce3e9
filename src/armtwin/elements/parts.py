"""What a structure is built of: nodes, elements, bodies, loads; plain data, checked by Structure.

Every direction is given once, in base axes, in the reference state, in which all triads are
parallel to the base. A deformation or a coordinate is "held" (at zero, or where it is), "free" (a
degree of freedom, one of q) or "calculated" (what follows from the others).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from armtwin.maths.batch import Floats, Values

Mode = Literal["held", "free", "calculated"]
Triple = tuple[float, float, float]
TRUSS_MODES = ("elongation",)
HINGE_MODES = ("twist", "bend_y", "bend_z")
BEAM_MODES = ("elongation", "torsion", "bend_pz", "bend_qz", "bend_py", "bend_qy")


@dataclass(frozen=True)
class Point:
    """A node with a position.

    Attributes:
        name: Its name.
        at: Position in the reference state [m].
        modes: What is known of x, y and z.
    """

    name: str
    at: Triple
    modes: tuple[Mode, Mode, Mode] = ("calculated", "calculated", "calculated")


@dataclass(frozen=True)
class Triad:
    """A node with an orientation; one that is not held gets a lambda element.

    Attributes:
        name: Its name.
        held: Whether it stays parallel to the base.
    """

    name: str
    held: bool = False


@dataclass(frozen=True)
class ElementSpring:
    """Stress along a deformation, σ = preload + stiffness e + damping de/dt.

    Attributes:
        preload: Stress of no deformation [N, N m].
        stiffness: Its slope with the deformation.
        damping: Its slope with the rate of it.
    """

    preload: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True)
class Gas:
    """Stress of a gas strut, σ = strength/(stroke - e).

    Attributes:
        strength: Pressure times volume [J].
        stroke: Elongation at which the gas has no room left [m].
    """

    strength: float
    stroke: float


@dataclass(frozen=True)
class Truss:
    """A rod, spring, strut or cylinder between two points.

    Attributes:
        name: Its name.
        p: First point.
        q: Second point.
        mode: What is known of its elongation.
        law: Stress along the elongation.
        length: Length at which the elongation is zero; None is the reference state's [m].
    """

    name: str
    p: str
    q: str
    mode: Mode = "held"
    law: ElementSpring | Gas | None = None
    length: float | None = None


@dataclass(frozen=True)
class Hinge:
    """A hinge between two triads.

    Attributes:
        name: Its name.
        p: First triad.
        q: Second triad, which turns about the axis by a positive twist.
        axis: Axis in the reference state; its length does not matter.
        modes: What is known of the twist and the two bendings.
        laws: Stress along each of them.
        side: A direction near n_y' of the bendings; None where it does not matter.
    """

    name: str
    p: str
    q: str
    axis: Triple
    modes: tuple[Mode, Mode, Mode] = ("free", "held", "held")
    laws: tuple[ElementSpring | None, ElementSpring | None, ElementSpring | None] = (None,) * 3
    side: Triple | None = None


@dataclass(frozen=True)
class CrossSection:
    """Stiffness and mass of a beam's section.

    Attributes:
        EA: Stiffness in tension [N].
        GJ: Stiffness in torsion [N m²].
        EIy: Stiffness in bending about n_y', in the plane of x and z [N m²].
        EIz: Stiffness in bending about n_z', in the plane of x and y [N m²].
        mass: Mass per length [kg/m].
        polar: Polar inertia per length, about the axis [kg m].
        relaxation: Damping as a time; the stress of the rates is this time times the stiffness [s].
    """

    EA: float
    GJ: float
    EIy: float
    EIz: float
    mass: float = 0.0
    polar: float = 0.0
    relaxation: float = 0.0


@dataclass(frozen=True)
class Beam:
    """A beam between two points and two triads.

    Attributes:
        name: Its name.
        points: Points p and q.
        triads: Triads at p and q.
        section: Stiffness and mass; None for a rigid beam without mass.
        modes: What is known of its six deformations.
        side: A direction near n_y' in the reference state; None where it does not matter.
        form: "better" strains for a beam that bends, "printed" ones for a rigid one.
    """

    name: str
    points: tuple[str, str]
    triads: tuple[str, str]
    section: CrossSection | None = None
    modes: tuple[Mode, Mode, Mode, Mode, Mode, Mode] = ("held",) * 6
    side: Triple | None = None
    form: Literal["better", "printed"] = "printed"


@dataclass(frozen=True)
class RigidBody:
    """A rigid body on a point and a triad.

    Attributes:
        point: Name of the point.
        triad: Name of the triad.
        ten: Mass, first moments and inertia xx yy zz xy xz yz about the point in reference axes.
    """

    point: str
    triad: str
    ten: Values


@dataclass(frozen=True)
class PointForce:
    """A dead force on a point.

    Attributes:
        point: Name of the point.
        value: The force, base axes [N].
    """

    point: str
    value: Triple


@dataclass(frozen=True)
class Moment:
    """A moment on a triad.

    Attributes:
        triad: Name of the triad.
        value: The moment [N m].
        axes: Whether it is about the triad's own axes or those of the base.
    """

    triad: str
    value: Triple
    axes: Literal["body", "base"] = "body"


Element = Truss | Hinge | Beam


def stiffness(section: CrossSection, length: float) -> Floats:
    """Stiffness S of a beam's six deformations, σ = S e, (6, 6) [N/m].

    S11 = EA/l0,  S22 = GJ/l0³,  bending EI/l0³ [[4, -2], [-2, 4]]
    """
    cube = length**3
    S = np.zeros((6, 6))
    S[0, 0] = section.EA / length
    S[1, 1] = section.GJ / cube
    bending = np.array([[4.0, -2.0], [-2.0, 4.0]]) / cube
    S[2:4, 2:4] = section.EIy * bending
    S[4:6, 4:6] = section.EIz * bending
    return S


@dataclass(frozen=True)
class Parts:
    """All parts of a structure.

    Attributes:
        points: Nodes with a position.
        triads: Nodes with an orientation.
        elements: Trusses, hinges and beams; q follows their order, trusses before hinges before
            beams.
        bodies: What is heavy, apart from beams with a mass.
        loads: Dead forces and moments.
        gravity: Gravity vector [m/s²].
        coordinate_inertia: Inertia along q, as of rotors behind gears, (n, n); None for none.
    """

    points: tuple[Point, ...]
    triads: tuple[Triad, ...]
    elements: tuple[Element, ...]
    bodies: tuple[RigidBody, ...] = ()
    loads: tuple[PointForce | Moment, ...] = ()
    gravity: Triple = (0.0, 0.0, 0.0)
    coordinate_inertia: tuple[Values, ...] | None = None
