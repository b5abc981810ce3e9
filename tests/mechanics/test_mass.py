"""The mass matrix as energy of bodies one by one, and the solver of the equations of motion."""

import numpy as np
import pytest

from armtwin.mechanics import mass
from armtwin.mechanics.inertia import inertia_matrix
from tests.conftest import SHIPPED, relative

# The kernel in plain Python, which needs no compiler.
solve_in_place = getattr(mass.solve_in_place, "py_func", mass.solve_in_place)


def energy_of_bodies(robot, q, v):
    """Σ ½ m v² + m v · (ω × s) + ½ ωᵀ J ω over the links, from poses and Jacobians alone."""
    total = np.zeros(len(q))
    joints = robot.assembly.tree.joints
    for joint, body in zip(joints, robot.assembly.arm.inertia, strict=True):
        R = robot.forward_kinematics(q, joint.child)[:, :3, :3]
        twist = np.einsum("mij,mj->mi", robot.jacobian(q, joint.child), v)
        speed, omega = twist[:, :3], twist[:, 3:]
        h = R @ body[1:4]
        inside = np.einsum("mji,mj->mi", R, omega)
        total += 0.5 * body[0] * np.sum(speed**2, axis=1)
        total += np.sum(speed * np.cross(omega, h), axis=1)
        total += 0.5 * np.einsum("mi,ij,mj->m", inside, inertia_matrix(body), inside)
    return total


@pytest.mark.parametrize("name", SHIPPED)
def test_kinetic_energy_is_the_sum_over_links_and_rotors(robots, name, rng):
    robot = robots[name]
    q, v = rng.normal(size=(2, 6, robot.n))
    spins = v @ robot.assembly.gear.T
    rotors = np.array([motor.rotor_inertia for motor in robot.description.motor])
    expected = energy_of_bodies(robot, q, v)
    expected += 0.5 * (spins**2 @ rotors if len(rotors) else 0.0)
    assert relative(robot.energy(q, v)[0], expected) < 1e-12


@pytest.mark.parametrize("n", [1, 2, 6, 9])
def test_a_definite_system_is_solved_from_its_lower_triangle(n, rng):
    root = rng.normal(size=(n, n))
    A = root @ root.T + 0.1 * np.eye(n)
    b = rng.normal(size=n)
    lower, x = np.tril(A), b.copy()
    lower[np.triu_indices(n, 1)] = np.nan
    assert solve_in_place(lower, x)
    assert np.abs(A @ x - b).max() < 1e-13 * np.linalg.cond(A)


@pytest.mark.parametrize("eigenvalues", [(3.0, 1.0, -0.1), (-1.0, -2.0, -3.0), (1.0, 1.0, 0.0)])
def test_a_mass_matrix_that_is_not_definite_is_told(eigenvalues):
    """A half turn of axes mixes the eigenvalues without rounding: zero stays exactly zero."""
    mixed = np.diag(eigenvalues)[[2, 0, 1]][:, [2, 0, 1]]
    with np.errstate(divide="ignore", invalid="ignore"):
        assert not solve_in_place(mixed, np.ones(3))
