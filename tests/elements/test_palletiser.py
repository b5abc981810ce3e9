"""A palletiser: two parallelograms keep its wrist level, a third drives the forearm.

All dimensions are assumed. Its degrees of freedom are the yaw of the column, the absolute angles of
upper arm and forearm (both driven from the column), and the yaw of the tool.
"""

import numpy as np
import pytest

from armtwin.elements.equations import inverse_dynamics, place, transfer_functions
from armtwin.elements.parts import Beam, Hinge, Parts, Point, Triad, Truss
from armtwin.elements.structure import Structure
from tests.elements.models import FIXED, point_mass

HEIGHT, OFFSET, UPPER, FORE, REACH, DROP = 0.8, 0.3, 1.0, 1.1, 0.25, 0.2
DRIVE = 0.25 * np.array([np.cos(2.2), 0.0, np.sin(2.2)])  # lever of the forearm's parallelogram
LEVEL = 0.2 * np.array([np.cos(1.9), 0.0, np.sin(1.9)])  # side of the two that keep the wrist level
AXIS = np.array([0.0, -1.0, 0.0])  # lifts what points along x
LOAD = 60.0


def palletiser(gravity=(0.0, 0.0, -9.81)):
    """The structure with both arms along x at q = 0 and a load on the tool."""
    S = np.array([OFFSET, 0.0, HEIGHT])
    E = S + np.array([UPPER, 0.0, 0.0])
    W = E + np.array([FORE, 0.0, 0.0])
    T = W + np.array([REACH, 0.0, -DROP])
    points, triads = [Point("base", (0.0, 0.0, 0.0), FIXED)], [Triad("ground", held=True)]
    beams = []

    def arm(link, start, name, at):
        points.append(Point(name, tuple(at)))
        triads.append(Triad(f"{link}.{name}"))
        beams.append(Beam(f"{link}.{name}", (start, name), (link, f"{link}.{name}")))

    for name in ("column", "upper", "lever", "fore", "plate", "wrist", "tool"):
        triads.append(Triad(name))
    arm("column", "base", "S", S)
    arm("column", "base", "l0", S + LEVEL)
    arm("upper", "S", "E", E)
    arm("lever", "S", "d1", S + DRIVE)
    arm("fore", "E", "d2", E + DRIVE)
    arm("fore", "E", "W", W)
    arm("plate", "E", "l1", E + LEVEL)
    arm("wrist", "W", "l2", W + LEVEL)
    arm("wrist", "W", "T", T)
    passive = ("calculated", "held", "held")
    hinges = (
        Hinge("phi", "ground", "column", (0.0, 0.0, 1.0)),
        Hinge("alpha", "column.S", "upper", tuple(AXIS)),
        Hinge("beta", "column.S", "lever", tuple(AXIS)),
        Hinge("psi", "wrist.T", "tool", (0.0, 0.0, 1.0)),
        Hinge("elbow", "upper.E", "fore", tuple(AXIS), passive),
        Hinge("plate", "upper.E", "plate", tuple(AXIS), passive),
        Hinge("wrist", "fore.W", "wrist", tuple(AXIS), passive),
    )
    rods = (Truss("drive", "d1", "d2"), Truss("level_1", "l0", "l1"), Truss("level_2", "l1", "l2"))
    elements = (*rods, *hinges, *beams)
    bodies = (point_mass("T", "tool", LOAD),)
    return Structure(Parts(tuple(points), tuple(triads), elements, bodies, (), gravity))


def joints_at(x, y, z, yaw):
    """phi, alpha, beta, psi for a tool point and its yaw, elbow up."""
    phi = np.arctan2(y, x)
    r, h = np.hypot(x, y) - REACH - OFFSET, z + DROP - HEIGHT
    square = r * r + h * h
    bend = np.arccos((UPPER**2 + square - FORE**2) / (2 * UPPER * np.sqrt(square)))
    alpha = np.arctan2(h, r) + bend
    beta = np.arctan2(h - UPPER * np.sin(alpha), r - UPPER * np.cos(alpha))
    return np.array([phi, alpha, beta, yaw - phi])


@pytest.fixture(scope="module")
def robot():
    return palletiser()


def column_of(structure, x, point):
    at = structure.places[point]
    return x[at : at + 3]


TARGETS = [(1.6, 0.4, 0.5, 0.3), (1.2, -0.9, 1.2, -1.0), (1.9, 0.0, 0.2, 0.0)]


@pytest.mark.parametrize("target", TARGETS)
def test_tool_reaches_its_place_with_the_wrist_level(robot, target):
    """x, y, z and yaw by closed form; the loops close there to rounding."""
    q = joints_at(*target)
    x = place(robot, q).x
    assert np.abs(column_of(robot, x, "T") - target[:3]).max() < 1e-12
    at = robot.places["tool"]
    half = target[3] / 2
    level = np.array([np.cos(half), 0.0, 0.0, np.sin(half)])
    found = x[at : at + 4]
    assert min(np.abs(found - level).max(), np.abs(found + level).max()) < 1e-12


@pytest.mark.parametrize("target", TARGETS)
def test_drives_carry_the_load_over_the_jacobian_of_the_closed_form(robot, target):
    """Level wrist: only the heights of both arms count, m g l cos, and no torque about z."""
    q = joints_at(*target)
    tau = inverse_dynamics(robot, [q], [0 * q], [0 * q]).tau[0]
    weight = LOAD * 9.81
    expected = [0.0, weight * UPPER * np.cos(q[1]), weight * FORE * np.cos(q[2]), 0.0]
    assert np.abs(tau - expected).max() < 1e-9


def test_rod_of_the_level_linkage_carries_the_moment_of_the_load(robot):
    """Moments of the wrist about its pin: the load at REACH, the rod at its distance from W."""
    q = joints_at(1.6, 0.0, 0.5, 0.0)
    response = inverse_dynamics(robot, [q], [0 * q], [0 * q])
    x = response.x
    W, l1, l2 = (column_of(robot, x, name) for name in ("W", "l1", "l2"))
    along = (l1 - l2) / np.linalg.norm(l1 - l2)
    lever = np.cross(l2 - W, along) @ AXIS
    pull = response.stress[0, robot.row("level_2.elongation")]
    # pull times lever balances the weight, which turns the wrist down about -AXIS
    assert abs(pull * lever - LOAD * 9.81 * REACH) < 1e-9 * LOAD * 9.81


def test_power_of_the_drives_is_the_rate_of_energy(robot):
    """τ · v = d/dt (½ m |v|² + m g z), the rate by a central difference of 0.1 ms, 1e-6."""
    q, v = joints_at(*TARGETS[0]), np.array([0.5, -0.7, 0.9, 1.1])
    a = np.array([1.0, 2.0, -1.5, 0.4])
    tau = inverse_dynamics(robot, [q], [v], [a]).tau[0]

    def energy(t):
        there = transfer_functions(robot, q + v * t + a * t * t / 2)
        at = robot.places["T"]
        speed = there.DF[at : at + 3] @ (v + a * t)
        return LOAD * (0.5 * speed @ speed + 9.81 * there.x[at + 2])

    h = 1e-4
    rate = (energy(h) - energy(-h)) / (2 * h)
    assert abs(tau @ v - rate) < 1e-6 * abs(rate)
