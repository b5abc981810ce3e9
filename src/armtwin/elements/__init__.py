"""Finite elements: nodes, elements that measure deformations, and the mechanisms made of them."""

from armtwin.elements.equations import (
    Equilibrium as Equilibrium,
    Reactions as Reactions,
    StructureModes as StructureModes,
    Transfer as Transfer,
    buckling_load as buckling_load,
    compliance as compliance,
    equilibrium as equilibrium,
    forward_dynamics as forward_dynamics,
    inverse_dynamics as inverse_dynamics,
    linearise as linearise,
    mass_matrix as mass_matrix,
    modes as modes,
    place as place,
    regressor as regressor,
    transfer_functions as transfer_functions,
)
from armtwin.elements.integration import StructureMotion as StructureMotion, integrate as integrate
from armtwin.elements.parts import (
    Beam as Beam,
    CrossSection as CrossSection,
    ElementSpring as ElementSpring,
    Gas as Gas,
    Hinge as Hinge,
    Moment as Moment,
    Parts as Parts,
    Point as Point,
    PointForce as PointForce,
    RigidBody as RigidBody,
    Triad as Triad,
    Truss as Truss,
)
from armtwin.elements.placed import Linear as Linear, Placed as Placed
from armtwin.elements.rank import release_redundant as release_redundant
from armtwin.elements.structure import Structure as Structure
