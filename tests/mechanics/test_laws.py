"""Laws that any right mechanics obeys, on whole robots with rotors, balancers and mounted tools."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from tests.conftest import SHIPPED, relative


def gyroscopic(robot):
    """The robot with the spin of its rotors coupled to the links that carry them."""
    return at.Robot(
        replace(robot.description, gear=replace(robot.description.gear, gyroscopic=True))
    )


@pytest.fixture(params=[*SHIPPED, "rx90b with head", "lwa4p gyroscopic", "rx90b gyroscopic"])
def robot(request, robots):
    name, _, what = request.param.partition(" ")
    if what == "with head":
        return robots[name].with_tool("laser_head")
    return gyroscopic(robots[name]) if what else robots[name]


@pytest.fixture
def state(robot, rng):
    return rng.normal(size=(3, 8, robot.n)) * [[[1.2]], [[1.5]], [[3]]]


def test_mass_matrix_rate_minus_twice_coriolis_is_skew(robot, state):
    """C = ½ ∂(C v)/∂v by the linearisation; the rate of M by central differences along v."""
    q, v, a = state
    C = robot.linearise(q, v, 0 * a).D / 2
    h = 1e-5
    rate = (robot.mass_matrix(q + h * v) - robot.mass_matrix(q - h * v)) / (2 * h)
    S = rate - 2 * C
    assert relative(S, -np.swapaxes(S, 1, 2)) < 1e-8
    assert relative(np.einsum("mij,mj->mi", C, v), robot.bias(q, v) - robot.gravity(q)) < 1e-12


def test_gravity_is_the_gradient_of_potential_energy(robot, state):
    q, v, _ = state
    h = 1e-5
    for j in range(robot.n):
        step = h * np.eye(robot.n)[j]
        slope = (robot.energy(q + step, v)[1] - robot.energy(q - step, v)[1]) / (2 * h)
        assert relative(robot.gravity(q)[:, j], slope) < 1e-8


def test_power_is_the_rate_of_energy(robot, state):
    q, v, a = state
    h = 1e-5
    after = sum(robot.energy(q + h * v + h * h / 2 * a, v + h * a))
    before = sum(robot.energy(q - h * v + h * h / 2 * a, v - h * a))
    power = np.sum(robot.inverse_dynamics(q, v, a) * v, axis=1)
    assert relative(power, (after - before) / (2 * h)) < 1e-8


def test_mass_matrix_is_the_slope_of_torque_with_acceleration(robot, state):
    q, v, a = state
    inertial = robot.inverse_dynamics(q, v, a) - robot.bias(q, v)
    assert relative(np.einsum("mij,mj->mi", robot.mass_matrix(q), a), inertial) < 1e-12


def test_forward_dynamics_undoes_inverse_dynamics(robot, state):
    q, v, a = state
    assert relative(robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a)), a) < 1e-9


def test_regressor_times_parameters_is_torque_with_friction(robot, state):
    q, v, a = state
    torque = robot.inverse_dynamics(q, v, a) + robot.friction_torque(v, q)
    assert relative(robot.regressor(q, v, a) @ robot.parameters, torque) < 1e-12


def test_linearisation_equals_finite_differences(robot, state):
    q, v, a = state
    linear = robot.linearise(q, v, a)
    h = 1e-5
    K, D = np.empty((2, *linear.K.shape))
    for j in range(robot.n):
        step = h * np.eye(robot.n)[j]
        K[..., j] = (
            robot.inverse_dynamics(q + step, v, a) - robot.inverse_dynamics(q - step, v, a)
        ) / (2 * h)
        D[..., j] = (
            robot.inverse_dynamics(q, v + step, a) - robot.inverse_dynamics(q, v - step, a)
        ) / (2 * h)
    assert relative(linear.K, K) < 1e-8
    assert relative(linear.D, D) < 1e-8
    assert relative(linear.M, robot.mass_matrix(q)) < 1e-15


def test_gyroscopic_coupling_is_the_kinetic_energy_of_document_004(robots, rng):
    """T gains J φ' (z · ω) for each rotor; here from Jacobians of the links that carry them."""
    plain = robots["lwa4p"]
    q, v = rng.normal(size=(2, 5, 6))
    gain = gyroscopic(plain).energy(q, v)[0] - plain.energy(q, v)[0]
    expected = np.zeros(5)
    tree, motors = plain.assembly.tree, plain.description.motor
    for j in range(1, 6):
        link = tree.joints[j].parent
        X, J = plain.forward_kinematics(q, link), plain.jacobian(q, link)
        axis = X[:, :3, :3] @ tree.joints[j].origin.matrix()[:3, :3] @ np.array(tree.joints[j].axis)
        spin = plain.assembly.gear[j, j] * v[:, j]
        omega = np.einsum("mij,mj->mi", J[:, 3:], v)
        expected += motors[j].rotor_inertia * spin * np.sum(axis * omega, axis=1)
    assert relative(gain, expected) < 1e-13


def test_a_wrench_at_the_tool_does_virtual_work(robots, rng):
    robot = robots["rx90b"].with_tool("laser_head")
    q, v, a = rng.normal(size=(3, 4, 6))
    wrench = rng.normal(size=(4, 6)) * 50
    saved = robot.inverse_dynamics(q, v, a) - robot.inverse_dynamics(q, v, a, wrench=wrench)
    twist = np.einsum("mij,mj->mi", robot.jacobian(q), v)
    assert relative(np.sum(saved * v, axis=1), np.sum(wrench * twist, axis=1)) < 1e-13


def test_batches_of_any_shape_equal_single_calls(robots, rng):
    robot = robots["rx90b"]
    q, v, a = rng.normal(size=(3, 2, 700, 6))  # long enough for two threads
    tau = robot.inverse_dynamics(q, v, a)
    assert tau.shape == (2, 700, 6)
    assert relative(tau[1, 699], robot.inverse_dynamics(q[1, 699], v[1, 699], a[1, 699])) < 1e-15
    assert relative(robot.gravity(q)[0, 3], robot.gravity(q[0, 3])) < 1e-15
    assert robot.forward_kinematics(q).shape == (2, 700, 4, 4)
