"""Balancers: their torque is the slope of their energy, and they balance what they should."""

import numpy as np
import pytest

from tests.conftest import relative


@pytest.mark.parametrize("name", ["rx90b", "kr300"])
def test_torque_is_the_slope_of_energy(robots, name, rng):
    (strut,) = robots[name].assembly.struts
    q = rng.uniform(-1, 1, size=(50, 6))
    step = q.astype(complex)
    step[:, strut.joint] += 1e-100j
    assert relative(strut.torque(q), strut.energy(step).imag / 1e-100) < 1e-13


def test_rx90b_spring_is_the_triangle_of_its_pins(robots, rng):
    """l² = a² + b² - 2 a b cos q2, pins 50 mm and 400 mm from axis 2; tension 2900 N at q2 = 0."""
    (strut,) = robots["rx90b"].assembly.struts
    q = rng.uniform(-2, 2, size=(20, 6))
    a, b = 0.05, 0.4
    length = np.sqrt(a * a + b * b - 2 * a * b * np.cos(q[:, 1]))
    tension = 2900 + 10500 * (length - 0.35)
    assert strut.joint == 1
    assert relative(strut.torque(q), tension * a * b * np.sin(q[:, 1]) / length) < 1e-14


def test_rx90b_spring_carries_most_of_the_unloaded_arm(robots):
    """At q2 = 90° the document's spring balances the unloaded arm; the assumed one 70 to 85 %."""
    robot = robots["rx90b"]
    q = np.array([0, np.pi / 2, 0, 0, 0, 0])
    (strut,) = robot.assembly.struts
    weight = robot.gravity(q)[1] - strut.torque(q)
    assert weight < 0
    assert 0.70 < -strut.torque(q) / weight < 0.85


def test_kr300_gas_pressure_follows_the_one_measured_on_the_robot(robots):
    """Pressures read on the robot at axis 2 angles of -120 to -40° [Weigand 2021], in bar."""
    (strut,) = robots["kr300"].assembly.struts
    angles = (
        np.radians([-120, -110, -100, -90, -80, -70, -60, -50, -40]) + np.pi / 2
    )  # our zero is at -90°
    measured = np.array([170, 167, 164, 162, 164, 170, 180, 190, 200])
    pressure = strut.force.pressure(strut.linkage, angles) / 1e5
    assert np.abs(pressure / measured - 1).max() < 0.06


def test_a_strut_across_a_skew_joint_has_the_length_between_its_pins(rng):
    """The triangle against forward kinematics of both pins, random pose and axis."""
    from armtwin.maths.rotations import about
    from armtwin.robot.dynamics.assembly import triangle_across
    from armtwin.robot.schema.groups import Joint, Pose
    from tests.oracles import random_rotation

    X = np.eye(4)
    X[:3, :3], X[:3, 3] = random_rotation(rng), rng.normal(size=3)
    axis = rng.normal(size=3)
    joint = Joint(
        "j", "base", "link", "assumed: random", origin=Pose.from_matrix(X), axis=tuple(axis)
    )
    on_parent, on_child = rng.normal(size=(2, 3))
    linkage = triangle_across(joint, on_parent, on_child)
    for q in rng.uniform(-3, 3, size=5):
        moved = X[:3, :3] @ about(axis / np.linalg.norm(axis), q) @ on_child + X[:3, 3]
        assert abs(linkage.length(q) - np.linalg.norm(moved - on_parent)) < 1e-14
