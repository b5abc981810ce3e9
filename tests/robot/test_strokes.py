"""Joints and drives both ways: lengths, speeds, accelerations, forces, wrist coordinates."""

import numpy as np
import pytest

import armtwin as at
from armtwin.robot.kinematics.strokes import (
    drive_forces,
    joint_positions,
    joint_torques,
    levers,
    strokes,
)
from armtwin.robot.kinematics.wrist import from_wrist, replace_home_coordinates, wrist_coordinates


@pytest.fixture
def epaas(robots):
    return robots["epaas"]


def places(robot, rng, count=200):
    """Wrist coordinates all over the workspace, and their joint positions.

    ψ is kept to 25°, beyond which L2 comes to its dead point where the forearm hangs lowest.
    """
    limits = robot.description.wrist.limits
    spans = np.array([limits.r, limits.z, limits.phi, limits.gamma, limits.psi])
    spans[4] = np.radians([-25, 25])
    given = rng.uniform(spans[:, 0], spans[:, 1], (count, 5))
    return given, from_wrist(robot, given)


def test_lengths_to_angles_to_lengths_over_the_workspace(epaas, rng):
    _, q = places(epaas, rng)
    lengths = levers(epaas, q).position
    back = joint_positions(epaas, lengths, epaas.description.wrist.home)
    assert np.abs(levers(epaas, back).position - lengths).max() < 1e-14
    assert np.abs(back - q).max() < 1e-13


def test_lengths_come_back_wherever_the_wrist_may_be(epaas, rng):
    """Over all of r, z, ±160° of φ, ±45° of γ and ψ, but where L2 would pass its dead point."""
    limits = epaas.description.wrist.limits
    spans = np.array([limits.r, limits.z, limits.phi, limits.gamma, limits.psi])
    assert np.degrees(spans[2:, 1]) == pytest.approx([160, 45, 45])
    reached, refused = [], []
    for given in rng.uniform(spans[:, 0], spans[:, 1], (300, 5)):
        try:
            reached.append(from_wrist(epaas, given[None])[0])
        except at.ArmtwinError as error:
            refused.append(str(error))
    assert len(reached) > 250
    assert all("L2 would pass its dead point" in sentence for sentence in refused)
    lengths = levers(epaas, np.array(reached)).position
    back = joint_positions(epaas, lengths, epaas.description.wrist.home)
    assert np.abs(levers(epaas, back).position - lengths).max() < 1e-14


def test_wrist_coordinates_to_joints_to_wrist_coordinates(epaas, rng):
    given, q = places(epaas, rng)
    assert np.abs(wrist_coordinates(epaas, q) - given).max() < 1e-12


def test_the_second_cylinder_follows_the_fourth_to_keep_its_angle(epaas):
    """L2 moves with β + ψ: at a steady ψ both cylinders, of equal levers, move alike."""
    start = replace_home_coordinates(epaas, {"r": 0.3, "z": 0.25, "gamma": 0.0, "psi": 0.0})
    end = replace_home_coordinates(epaas, {"r": 0.3, "z": 0.35, "gamma": 0.0, "psi": 0.0})
    lengths = levers(epaas, from_wrist(epaas, np.array([start, end]))).position
    moved = lengths[1] - lengths[0]
    names = [drive.name for drive, _ in epaas.assembly.drives]
    assert abs(moved[names.index("L4")]) > 0.01
    assert moved[names.index("L2")] == pytest.approx(moved[names.index("L4")], abs=1e-13)
    assert moved[names.index("L1")] == pytest.approx(0.0, abs=1e-13)


def test_speeds_and_accelerations_are_those_of_the_lengths_over_time(epaas, rng):
    """Along q(t) = q + v t + a t²/2, by central differences of the lengths."""
    _, q = places(epaas, rng, 20)
    v, a = rng.normal(size=(2, 20, 5))
    t = 1e-4
    before, now, after = (levers(epaas, q + s * v + 0.5 * s * s * a).position for s in (-t, 0, t))
    moved = strokes(epaas, q, v, a)
    assert np.abs((after - before) / (2 * t) - moved.speed).max() < 1e-7
    assert np.abs((after - 2 * now + before) / t**2 - moved.acceleration).max() < 1e-6


def test_the_motion_of_the_drives_gives_back_that_of_the_joints(epaas, rng):
    _, q = places(epaas, rng, 20)
    v, a = rng.normal(size=(2, 20, 5))
    motion = strokes(epaas, q, v, a)
    back_q = joint_positions(epaas, motion.position, epaas.description.wrist.home)
    seen = levers(epaas, back_q)
    inverse = np.linalg.inv(seen.weights).T
    turning = motion.speed / seen.slope
    bending = (motion.acceleration - seen.bend * turning**2) / seen.slope
    back = back_q, turning @ inverse, bending @ inverse
    for found, given in zip(back, (q, v, a), strict=True):
        assert np.abs(found - given).max() < 1e-11


@pytest.mark.parametrize("name", ["epaas", "rx90b"])
def test_power_is_the_same_in_joints_and_drives(name, robots, rng):
    robot = robots[name]
    q = np.tile(rng.normal(size=robot.n), (20, 1))
    if name == "epaas":
        _, q = places(robot, rng, 20)
    v, tau = rng.normal(size=(2, 20, robot.n))
    force = drive_forces(robot, q, tau)
    speed = strokes(robot, q, v, 0 * v).speed
    assert (force * speed).sum(axis=1) == pytest.approx((tau * v).sum(axis=1), rel=1e-9, abs=1e-12)
    assert np.abs(joint_torques(robot, q, force) - tau).max() < 1e-12


def test_a_length_out_of_its_triangle_is_refused(epaas):
    lengths = levers(epaas, np.array(epaas.description.wrist.home)[None]).position
    lengths[0, 2] = 0.5
    with pytest.raises(at.ArmtwinError, match=r"L3 length must be between .* got 0.5 m"):
        joint_positions(epaas, lengths)


def test_wrist_coordinates_beyond_the_limits_and_unknown_ones_are_refused(epaas):
    with pytest.raises(at.ArmtwinError, match=r"gamma must be from -45 to 45 deg, got 57"):
        from_wrist(epaas, replace_home_coordinates(epaas, {"gamma": 1.0}))
    with pytest.raises(at.ArmtwinError, match="wrist coordinate 'theta' is not known"):
        replace_home_coordinates(epaas, {"theta": 0.0})
    low = replace_home_coordinates(epaas, {"r": 0.22, "z": 0.16, "psi": -0.75})
    with pytest.raises(at.ArmtwinError, match="L2 would pass its dead point at joint positions"):
        from_wrist(epaas, low)
    rx90b = at.Robot.load("rx90b")
    with pytest.raises(at.ArmtwinError, match=r"has no \[wrist\]"):
        wrist_coordinates(rx90b, np.zeros(6))
