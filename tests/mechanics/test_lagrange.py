"""Lagrange's road and the recursive kernels lead to the same equations of motion."""

import numpy as np
import pytest

import armtwin as at
from armtwin.mechanics import lagrange
from armtwin.robot.formats.reading import describe
from tests.conftest import SHIPPED, relative


def torques(robot, q, v, a):
    """Joint torques of the bodies by their coefficients, the rotors' inertia beside."""
    found = lagrange.coefficients(robot.assembly.arm, q)
    rotors = robot.assembly.rotors.inertia
    inertia = np.einsum("mij,mj->mi", found.inertia + rotors, a)
    speeds = np.einsum("mijk,mj,mk->mi", found.velocity, v, v)
    balancers = np.zeros_like(q)
    for strut in robot.assembly.struts:
        balancers[:, strut.joint] = strut.torque_at(q[:, strut.joint])
    return inertia + speeds + found.gravity + balancers


@pytest.mark.parametrize("name", SHIPPED)
def test_lagrange_equals_newton_and_euler(name, robots, rng):
    robot = robots[name]
    q, v, a = rng.normal(size=(3, 20, robot.n))
    assert relative(torques(robot, q, v, a), robot.inverse_dynamics(q, v, a)) < 1e-12


def tree():
    """Two arms on a slide: bodies that share a carrier but do not carry each other."""
    source = "assumed: test"
    joints = [
        ("slide", "base", "trunk", "prismatic", [0, 1, 0]),
        ("left", "trunk", "left_arm", "revolute", [1, 0, 0]),
        ("right", "trunk", "right_arm", "revolute", [0, 0.6, 0.8]),
        ("hand", "right_arm", "right_hand", "prismatic", [1, 0, 0]),
    ]
    tables = {"name": "tree", "joint": [], "link": []}
    for k, (name, parent, child, kind, axis) in enumerate(joints):
        origin = {"position": [0.1 * k, -0.2, 0.3]}
        joint = {"name": name, "parent": parent, "child": child, "type": kind, "axis": axis}
        tables["joint"].append({**joint, "origin": origin, "source": source})
        six = {"xx": 0.3, "yy": 0.4, "zz": 0.5, "xy": 0.01}
        body = {"mass": 1.0 + k, "com": [0.1, 0.2, -0.1], "inertia": six}
        tables["link"].append({"name": child, "body": body, "source": source})
    return at.Robot(describe(tables, "tree"))


def test_lagrange_equals_newton_and_euler_on_a_tree_with_slides(rng):
    robot = tree()
    q, v, a = rng.normal(size=(3, 20, 4))
    assert relative(torques(robot, q, v, a), robot.inverse_dynamics(q, v, a)) < 1e-12


def test_speed_coefficients_are_christoffel_symbols_of_the_inertia(robots, rng):
    """D_ijk = ½ (∂D_ij/∂q_k + ∂D_ik/∂q_j - ∂D_jk/∂q_i), derivatives by central differences."""
    arm = robots["epaas"].assembly.arm
    q = rng.normal(size=5)
    step = 1e-5
    slope = np.empty((5, 5, 5))
    for k in range(5):
        ends = q + step * np.outer([1, -1], np.eye(5)[k])
        up, down = lagrange.coefficients(arm, ends).inertia
        slope[:, :, k] = (up - down) / (2 * step)
    symbols = 0.5 * (slope + slope.transpose(0, 2, 1) - slope.transpose(2, 0, 1))
    found = lagrange.coefficients(arm, q[None]).velocity[0]
    assert np.abs(found - symbols).max() < 1e-9
