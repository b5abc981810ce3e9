"""The second road to the arm: the same robot file as a structure of finite elements."""

import numpy as np
import pytest

from armtwin.elements.equations import linearise, place, regressor
from armtwin.elements.packing import distance
from armtwin.robot.dynamics.structure import structure_of
from tests.conftest import SHIPPED, relative


def states(robot, rng, count):
    """Random states within the joint ranges, joints without one within ±2 rad."""
    low, high = np.clip(robot.position_limits, -2, 2)
    q = rng.uniform(low, high, (count, robot.n))
    v, a = rng.uniform(-2, 2, (2, count, robot.n))
    return q, v, a


@pytest.mark.parametrize("name", SHIPPED)
def test_both_roads_agree_on_every_shipped_robot(robots, rng, name):
    """Torque, mass, velocity and stiffness matrices and the tool's pose, to rounding."""
    robot = robots[name]
    structure = structure_of(robot.assembly)
    q, v, a = states(robot, rng, 3)
    response = structure.inverse_dynamics(q, v, a)
    assert relative(response.tau, robot.inverse_dynamics(q, v, a)) < 1e-12
    one = [structure.coordinates(y[0]) for y in (q, v, a)]
    linear, other = linearise(structure.structure, *one), robot.linearise(q[0], v[0], a[0])
    assert relative(structure.matrices(linear.M), other.M) < 1e-12
    assert relative(structure.matrices(linear.C), other.D) < 1e-12
    assert relative(structure.matrices(linear.stiffness), other.K) < 1e-12
    assert relative(structure.forward_kinematics(q[0]), robot.forward_kinematics(q[0])) < 1e-12


def test_rx90b_is_the_structure_of_figure_4_1(robots):
    """66 coordinates, 59 calculated; 60 deformations, 59 prescribed; the spring is the other."""
    structure = structure_of(robots["rx90b"].assembly).structure
    assert len(structure.column_names) == 66
    assert len(structure.calculated_columns) == 59
    assert len(structure.row_names) == 60
    assert len(structure.prescribed_rows) == 59
    lengths = [distance(structure, *beam.points) for beam in structure.beams]
    assert np.allclose(sorted(lengths), [0.05, 0.05, 0.085, 0.4, 0.45])


def test_rx90b_with_its_laser_head_has_the_same_regressor(robots, rng):
    """Ten columns a body, frames parallel to the base at q = 0: columns 0..59, and the spring's."""
    robot = robots["rx90b"].with_tool("laser_head")
    structure = structure_of(robot.assembly)
    q, v, a = (y[0] for y in states(robot, rng, 1))
    Y = robot.regressor(q, v, a)
    motion = [structure.coordinates(y) for y in (q, v, a)]
    assert relative(regressor(structure.structure, *motion), Y[:, :60]) < 1e-12
    row = structure.structure.row("spring.elongation")
    there = place(structure.structure, motion[0])
    spring = there.DE[row][:, None] * [1.0, there.e[row]]
    columns = robot.layout.balancer(0)
    assert relative(spring, Y[:, columns]) < 1e-12


def test_parameter_linear_form_has_the_rank_of_the_robot(robots, rng):
    """62 columns, ten a body and two of the spring: 37 of them are independent."""
    robot = robots["rx90b"]
    structure = structure_of(robot.assembly)
    row = structure.structure.row("spring.elongation")
    rows = []
    for q, v, a in zip(*states(robot, rng, 25), strict=True):
        motion = [structure.coordinates(y) for y in (q, v, a)]
        there = place(structure.structure, motion[0])
        spring = there.DE[row][:, None] * [1.0, there.e[row]]
        rows.append(np.hstack([regressor(structure.structure, *motion), spring]))
    W = np.vstack(rows)
    sizes = np.linalg.norm(W, axis=0)
    acting = sizes > 1e-9 * sizes.max()  # the others are rounding
    assert np.linalg.matrix_rank(W[:, acting] / sizes[acting], tol=1e-8) == 37


def test_weight_of_all_bodies_rests_on_the_first_bearing(robots, rng):
    """Arm at rest: moments on bearing 1 from the hinge's stresses and from the bodies' weights."""
    robot = robots["rx90b"]
    structure = structure_of(robot.assembly)
    q = states(robot, rng, 1)[0]
    response = structure.inverse_dynamics(q, 0 * q, 0 * q)
    rows = [structure.structure.row(f"joint_1.bend_{axis}") for axis in "yz"]
    bodies, g = structure.structure.parts.bodies, 9.81
    there = place(structure.structure, structure.coordinates(q[0]))
    moment = np.zeros(2)
    for i, body in enumerate(bodies):
        X = robot.forward_kinematics(q[0], f"link_{i + 1}")
        mass, first = body.ten[0], np.array(body.ten[1:4])
        lever = mass * X[:2, 3] + (X[:3, :3] @ first)[:2]
        moment += g * np.array([-lever[1], lever[0]])
    assert np.isfinite(there.x).all()
    size = np.hypot(*response.stress[0, rows])
    assert abs(size - np.hypot(*moment)) < 1e-11


def test_stress_of_the_euler_parameters_is_zero_in_a_rigid_arm(robots, rng):
    robot = robots["kr300"]
    structure = structure_of(robot.assembly)
    response = structure.inverse_dynamics(*states(robot, rng, 1))
    lambdas = [i for i, name in enumerate(structure.structure.row_names) if ".length" in name]
    assert np.abs(response.stress[0, lambdas]).max() < 1e-9 * np.abs(response.stress).max()
