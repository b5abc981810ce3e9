"""Path error in cases known in closed form."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.prediction.path_error import path_error
from tests.prediction.seams import eight, motion_of

JOBS = {
    "line": lambda: at.Job.load("rx90b_line"),
    "corner": lambda: at.Job.load("rx90b_corner_follow"),
    "fixed corner": lambda: at.Job.load("rx90b_corner_fixed"),
    "eight": eight,
}


@pytest.mark.parametrize("name", JOBS)
def test_a_pure_delay_is_lag_and_nothing_else(name):
    """q(t) = q_ref(t - 20 ms): on any path the tool is on the seam, s(t) - s(t - 20 ms) behind."""
    job, delay = JOBS[name](), 0.02
    robot, motion = motion_of(job)
    late = motion.at(motion.time - delay)[0]
    error = path_error(job.seam, motion.time, robot.forward_kinematics(late))
    behind = job.seam.command(motion.time).s - job.seam.command(motion.time - delay).s
    assert np.abs(error.lag - behind).max() < 1e-7  # quintics between set-points, 4 ms apart
    assert max(np.abs(error.lateral).max(), np.abs(error.vertical).max()) < 1e-7
    steady = (motion.time > 1.5) & (motion.time < motion.duration - 1.5)
    assert np.abs(error.lag[steady] - delay * job.description.speed).max() < 1e-7


def test_a_constant_offset_of_joint_1_turns_the_line_about_the_base():
    """The tool is at Rz(δ) p; the seam runs along y at the workpiece's x, lateral is -x."""
    job, offset = at.Job.load("rx90b_line"), 2e-4
    robot, motion = motion_of(job)
    error = path_error(
        job.seam, motion.time, robot.forward_kinematics(motion.q + offset * np.eye(6)[0])
    )
    x, y = job.description.workpiece.position[0], -0.4125 + error.s
    assert np.abs(error.lateral - (x - (x * np.cos(offset) - y * np.sin(offset)))).max() < 1e-12
    assert np.abs(error.vertical).max() < 1e-12
    inside = (error.s > 1e-3) & (
        error.s < 0.974
    )  # beyond its ends the seam has no closest point inside
    along = x * np.sin(offset) + y * np.cos(offset) - y
    assert np.abs(error.lag + along)[inside].max() < 1e-12


def test_a_sine_in_joint_1_is_a_sine_across_the_line():
    job, size, pulse = at.Job.load("rx90b_line"), 1e-4, 2 * np.pi * 3.0
    robot, motion = motion_of(job)
    wave = size * np.sin(pulse * motion.time)
    error = path_error(
        job.seam, motion.time, robot.forward_kinematics(motion.q + wave[:, None] * np.eye(6)[0])
    )
    x, y = job.description.workpiece.position[0], -0.4125 + error.s
    assert np.abs(error.lateral - (x - (x * np.cos(wave) - y * np.sin(wave)))).max() < 1e-12


def test_an_offset_of_joint_6_is_an_error_of_orientation_of_that_angle():
    job, offset = at.Job.load("rx90b_line"), 3e-3
    robot, motion = motion_of(job)
    error = path_error(
        job.seam, motion.time, robot.forward_kinematics(motion.q + offset * np.eye(6)[5])
    )
    assert np.abs(error.orientation - offset).max() < 1e-12


@pytest.mark.parametrize("name", ["corner", "eight"])
@pytest.mark.parametrize(("side", "up"), [(3e-4, 0.0), (0.0, -2e-4), (-1e-3, 5e-4)])
def test_a_path_beside_a_bent_seam_has_the_distance_it_was_laid_at(name, side, up):
    """Poses shifted along y and z of the seam's frame, through the inverse kinematics and back."""
    job = JOBS[name]()
    robot, motion = motion_of(job)
    s = job.seam.command(motion.time).s
    jet, E, R = job.seam.frames(s)
    X = np.tile(np.eye(4), (len(s), 1, 1))
    X[:, :3, :3], X[:, :3, 3] = R, jet.p + side * E[:, :, 1] + up * E[:, :, 2]
    error = path_error(
        job.seam, motion.time, robot.forward_kinematics(robot.follow(X, motion.q[0]))
    )
    assert np.abs(error.lateral - side).max() < 1e-10
    assert np.abs(error.vertical - up).max() < 1e-10
    assert np.abs(error.lag).max() < 1e-9


def test_where_a_seam_crosses_itself_the_branch_that_is_run_counts():
    """One millimetre to the side of the crossing the other branch is nearer,
    but the error is one millimetre.
    """
    job = eight()
    robot, motion = motion_of(job)
    s = job.seam.command(motion.time).s
    jet, E, R = job.seam.frames(s)
    X = np.tile(np.eye(4), (len(s), 1, 1))
    X[:, :3, :3], X[:, :3, 3] = R, jet.p + 1e-3 * E[:, :, 1]
    grid = job.seam.path.at(np.linspace(0, job.seam.length, 20_001)).p
    nearest = np.array([np.linalg.norm(grid - p, axis=1).min() for p in X[::10, :3, 3]])
    assert nearest.min() < 5e-4  # the other branch
    error = path_error(
        job.seam, motion.time, robot.forward_kinematics(robot.follow(X, motion.q[0]))
    )
    assert np.abs(error.lateral - 1e-3).max() < 1e-10


def test_peaks_are_those_of_every_tick_of_the_servo():
    """Peaks of a prediction against the path error at all ticks of the velocity loop, 4 kHz."""
    run = at.predict(at.Job.load("rx90b_corner_follow"))
    fine = at.simulate(run.robot, run.motion.trajectory, options=at.RunOptions(log_rate=4000)).log
    every = path_error(run.job.seam, fine.time, run.robot.forward_kinematics(fine.q))
    for direction in ("lateral", "vertical"):
        peak, exact = (np.abs(getattr(e, direction)).max() for e in (run.path_error, every))
        assert abs(peak - exact) < 1e-7


def test_tool_speed_is_that_of_the_closest_point():
    """A motion twice as slow in time has half the speed along the seam."""
    job = at.Job.load("rx90b_corner_follow")
    robot, motion = motion_of(job)
    error = path_error(job.seam, motion.time, robot.forward_kinematics(motion.q))
    assert (
        np.abs(error.speed - error.speed_ref)[1:-1].max() < 2e-4
    )  # differences over 8 ms, in the ramps


def test_wrong_shapes_are_refused():
    job = at.Job.load("rx90b_line")
    with pytest.raises(
        at.ArmtwinError,
        match=r"X must have shape \(3, 4, 4\), a pose for each time, got \(2, 4, 4\)",
    ):
        path_error(job.seam, np.arange(3.0), np.tile(np.eye(4), (2, 1, 1)))


def test_a_beam_along_the_seam_is_refused_with_the_place():
    from armtwin.robot.schema.groups import Orientation

    job = at.Job.load("rx90b_line")
    along = replace(
        job.description.orientation, mode="fixed", tool=Orientation(rpy=(-np.pi / 2, 0.0, 0.0))
    )
    with pytest.raises(at.ArmtwinError, match=r"beam runs along the seam at 0\.0 mm"):
        at.predict(at.Job(replace(job.description, orientation=along, posture=None)))
