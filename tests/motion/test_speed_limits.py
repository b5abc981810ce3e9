"""Profiles by the limits of the joints: kept between all places that were looked at."""

import os
import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from armtwin.motion.feasibility import list_checks
from armtwin.motion.joint_motion import joint_motion, with_ramps
from armtwin.motion.moves import ProgramMove
from armtwin.motion.route import build_route
from armtwin.motion.seam import Seam
from armtwin.motion.speed_limits import ToolLimits, plan_by_joints, plan_by_tool

RATE = 2500.0  # ten times that of the robot's controller


@pytest.fixture(scope="module")
def robot(robots):
    return robots["rx90b"].with_tool("laser_head")


def q0_of(robot):
    return np.radians([0.0, 40.0, 105.0, 0.0, 60.0, 0.0])


def seam_of(robot, moves, limits):
    poses = []
    for move in moves[1:]:
        at = robot.forward_kinematics(move.joints) if move.pose is None else move.pose
        poses.append(at)
    route = build_route(moves[0].pose, moves[1:], np.array(poses))
    profile = plan_by_tool(route, moves[1:], limits)
    return Seam(route.path, route.orientations, profile, (0.0, 0.0), route=route, judged=())


def with_joints(robot, moves, limits):
    seam = seam_of(robot, moves, limits)
    profile = plan_by_joints(robot, seam, q0_of(robot), moves[1:], limits)
    return Seam(seam.path, seam.orientations, profile, (0.0, 0.0), route=seam.route, judged=())


def random_program(robot, rng, count, *, step, tilt, speed, zones):
    X0 = robot.forward_kinematics(q0_of(robot))
    way = np.cumsum(rng.uniform(-step, step, (count + 1, 3)), axis=0)
    turns = Rotation.from_rotvec(tilt * rng.standard_normal((count + 1, 3))).as_matrix()
    moves = []
    for p, R in zip(0.06 * np.sin(way / 0.06), turns, strict=True):
        X = X0.copy()
        X[:3, 3] += p
        X[:3, :3] = X0[:3, :3] @ R
        moves.append(ProgramMove("LIN", X, speed=speed, zone=float(rng.choice(zones))))
    return moves


@pytest.mark.parametrize(
    ("step", "tilt", "speed", "hard"),
    [(6e-3, 0.05, 0.1, False), (0.04, 0.2, None, True), (0.1, 0.05, None, True)],
    ids=["as programmed", "turning as fast as can be", "as fast as can be"],
)
def test_no_joint_exceeds_a_limit_between_controller_cycles(robot, rng, step, tilt, speed, hard):
    limits = ToolLimits(50.0, 2000.0) if hard else ToolLimits(2.0, 40.0)
    moves = random_program(
        robot, rng, 40, step=step, tilt=tilt, speed=speed, zones=(0.0, 3e-3, 1e-2)
    )
    seam = with_joints(robot, moves, limits)
    motion = joint_motion(robot, seam, RATE, q0_of(robot))
    used = []
    for check in list_checks(robot, with_ramps(robot, seam, motion)):
        used.append(np.abs(check.values / check.limit).max())
    assert max(used) <= 1.0
    if hard:  # and the limits are what decides
        assert max(used) > 0.7


def test_joints_move_without_a_step(robot, rng):
    """Differences of their speeds are their accelerations, whatever the moves are."""
    X = robot.forward_kinematics(q0_of(robot))
    away = X.copy()
    away[:3, 3] += [0.0, 0.05, 0.03]
    moves = random_program(robot, rng, 6, step=0.03, tilt=0.1, speed=0.2, zones=(0.0, 5e-3))
    moves += [ProgramMove("PTP", away, speed=0.5), ProgramMove("LIN", X, speed=0.1)]
    moves += [ProgramMove("PTP", joints=q0_of(robot) + 0.2), moves[2]]
    seam = with_joints(robot, moves, ToolLimits(2.0, 40.0))
    trajectory = joint_motion(robot, seam, RATE, q0_of(robot)).trajectory
    change = np.diff(trajectory.v, axis=0) * RATE
    assert np.abs(change - (trajectory.a[1:] + trajectory.a[:-1]) / 2).max() < 1.0
    step = np.diff(trajectory.q, axis=0) * RATE
    assert np.abs(step - (trajectory.v[1:] + trajectory.v[:-1]) / 2).max() < 1e-3
    # the tool of a joint move ends where it is asked to
    assert np.abs(trajectory.q - (q0_of(robot) + 0.2)).max(axis=1).min() < 1e-3


def test_a_joint_move_takes_the_share_of_its_speed(robot):
    """Long enough to reach it: the fastest joint is at a fifth of its limit."""
    start = robot.forward_kinematics(q0_of(robot))
    goal = q0_of(robot) + np.array([1.0, 0.2, -0.3, 0.5, 0.2, 0.1])
    moves = [ProgramMove("LIN", start), ProgramMove("PTP", joints=goal, speed=0.2)]
    seam = with_joints(robot, moves, ToolLimits(2.0, 40.0))
    trajectory = joint_motion(robot, seam, 250.0, q0_of(robot)).trajectory
    share = np.abs(trajectory.v).max(axis=0) / robot.limits.velocity
    assert 0.19 < share.max() <= 0.2
    assert np.abs(trajectory.q[-1] - goal).max() < 1e-9


def test_90000_moves_keep_the_joints_limits_in_less_than_twenty_seconds(robot, rng):
    count = 90_000 if os.environ.get("ARMTWIN_LONG") else 30_000  # a third, work in proportion
    moves = random_program(
        robot, rng, count, step=6e-3, tilt=0.02, speed=0.05, zones=(0.0, 1e-3, 3e-3)
    )
    limits = ToolLimits(2.0, 40.0)
    seam = seam_of(robot, moves, limits)
    begun = time.process_time()
    plan_by_joints(robot, seam, q0_of(robot), moves[1:], limits)
    assert time.process_time() - begun < 20 * count / 90_000
