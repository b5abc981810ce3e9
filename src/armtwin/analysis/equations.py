"""The equations of motion of a robot in its joints and in its drives, coefficient by coefficient.

    f_i = Σ_j M_ij x_j'' + Σ_jk H_ijk x_j' x_k' + g_i

x are the joints, or the motors and cylinders: with v = A x' (see `robot.strokes`)

    M_x = Aᵀ M A,   H_x = Aᵀ H A A - Aᵀ M S⁻¹ (ℓ''/ℓ'³) on j = k,   g_x = Aᵀ g

Rotors are in M; weight and balancers are in g. What the spin of rotors does to the links that carry
them, where a robot models it, is in none of the three.

Ref: [Machielsen 1983, section 8.2]
"""

from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Floats, Names
from armtwin.mechanics import lagrange
from armtwin.robot.kinematics.strokes import check_drives, drive_names, drives_slide, levers
from armtwin.robot.robot import Robot


@dataclass(frozen=True)
class Axes:
    """The coordinates of equations of motion.

    Attributes:
        names: A name for each.
        slides: Whether each is a length [m, N] and not an angle [rad, N m].
    """

    names: Names
    slides: tuple[bool, ...]

    @property
    def force_units(self) -> Names:
        """Unit of the force along each."""
        return tuple("N" if slides else "N m" for slides in self.slides)

    @property
    def inertia_units(self) -> Names:
        """Unit of the inertia along each."""
        return tuple("kg" if slides else "kg m²" for slides in self.slides)


def joint_axes(robot: Robot) -> Axes:
    """The joints of a robot."""
    joints = robot.assembly.tree.joints
    slides = [joints[i].type == "prismatic" for i in robot.assembly.free]
    return Axes(robot.joint_names, tuple(slides))


def drive_axes(robot: Robot) -> Axes:
    """The motors and cylinders of a robot."""
    check_drives(robot)
    return Axes(drive_names(robot), drives_slide(robot))


@dataclass(frozen=True, eq=False)
class Equations:
    """Coefficients at m states.

    Attributes:
        axes: The coordinates.
        M: Inertia, (m, n, n).
        H: Forces per product of speeds, symmetric in its last two, (m, n, n, n).
        g: Forces at rest, (m, n).
    """

    axes: Axes
    M: Floats
    H: Floats
    g: Floats


def of_joints(robot: Robot, q: Floats) -> Equations:
    """Equations of motion in the joints at positions (m, n)."""
    coupling = robot.assembly.coupling
    rotors = robot.assembly.rotors.inertia
    every = q if coupling is None else q @ coupling.G.T + coupling.c
    found = lagrange.coefficients(robot.assembly.arm, every)
    M, H = found.inertia + rotors, found.velocity
    if coupling is not None:
        G = coupling.G
        M = coupling.matrices(M)
        H = np.einsum("ai,mabc,bj,ck->mijk", G, H, G, G, optimize=True)
    return Equations(joint_axes(robot), M, H, robot.gravity(q))


def of_drives(robot: Robot, q: Floats) -> Equations:
    """Equations of motion in the drives at joint positions (m, n)."""
    axes = drive_axes(robot)
    joints = of_joints(robot, q)
    seen = levers(robot, q)
    A = seen.inverse
    M = np.einsum("mai,mab,mbj->mij", A, joints.M, A)
    H = np.einsum("mai,mabc,mbj,mck->mijk", A, joints.H, A, A, optimize=True)
    back = np.linalg.inv(seen.weights)
    bending = np.einsum("mai,mab,bj->mij", A, joints.M, back)
    for j in range(len(axes.names)):
        H[:, :, j, j] -= bending[:, :, j] * (seen.bend[:, j] / seen.slope[:, j] ** 3)[:, None]
    return Equations(axes, M, H, np.einsum("mai,ma->mi", A, joints.g))


def drive_inertia(robot: Robot, q: Floats) -> Floats:
    """M_x = Aᵀ M A alone, by the recursive kernels, (m, drives, drives)."""
    A = levers(robot, q).inverse
    return np.einsum("mai,mab,mbj->mij", A, robot.mass_matrix(q), A)
