"""The perturbation method against the nonlinear loop, and the linear model against differences."""

import numpy as np
import pytest

import armtwin as at
from armtwin.prediction.predict import plan_motion
from armtwin.simulation.perturbation import linear_model
from tests.conftest import relative
from tests.simulation.bench import from_rest, line

EXACT = at.Model(quantise=False)


@pytest.fixture(scope="module")
def robot(robots):
    return robots["rx90b"].with_tool("laser_head")


def apart(robot, motion, points):
    """Largest lateral and vertical difference of the tool between the methods [micrometres]."""
    runs = [
        at.simulate(
            robot,
            motion,
            EXACT,
            settle=(0.5, 0.5),
            options=at.RunOptions(method=method, points=points),
        ).log
        for method in ("nonlinear", "perturbation")
    ]
    gap = (
        1e6 * (robot.forward_kinematics(runs[0].q) - robot.forward_kinematics(runs[1].q))[:, :3, 3]
    )
    return np.abs(gap[:, [0, 2]]).max(axis=0)


def test_on_the_line_at_100_mm_s_both_agree_within_2_micrometres(robot):
    motion = line(robot)
    fine = apart(robot, motion, 300)
    assert np.all(fine < 2)
    coarse, coarser = apart(robot, motion, 100), apart(robot, motion, 50)
    assert fine.max() < coarse.max() < coarser.max()
    assert coarser.max() < 200


def test_at_500_mm_s_they_agree_within_5_micrometres(robot):
    assert np.all(apart(robot, line(robot, speed=0.5), 300) < 5)


def test_a_force_on_the_tool_does_the_same_in_both_methods():
    """The force turns over in half a second; it moves the tool of the KR300 by more than 0.1 mm."""
    job = at.Job.load("kr300_frame")
    robot = job.robot()
    motion = plan_motion(robot, job).trajectory
    some = slice(250, 750)
    motion = at.Trajectory(motion.rate, motion.q[some], motion.v[some], motion.a[some])
    wrench = np.zeros((len(motion.q), 6))
    wrench[:, :3] = 600.0 * np.sin(2 * np.pi * motion.time[:, None]) * [1.0, -0.5, 0.5]
    found = []
    for method, size in (("nonlinear", 1.0), ("perturbation", 1.0), ("perturbation", 0.0)):
        run = at.simulate(
            robot, motion, EXACT, options=at.RunOptions(method=method, wrench=size * wrench)
        )
        found.append(run.tool_poses()[:, :3, 3])
    full, linear, still = found
    assert np.abs(linear - still).max() > 1e-4
    assert np.abs(linear - full).max() < 2e-6


def test_the_models_matrices_equal_finite_differences(robot):
    model = linear_model(robot, from_rest(robot, 1.0), 20)
    h = 1e-5
    for name, index in (("K", 0), ("D", 1), ("M", 2)):
        state = [model.q, model.v, model.a]
        difference = np.empty((20, 6, 6))
        for j in range(6):
            ends = []
            for sign in (1, -1):
                moved = [x.copy() for x in state]
                moved[index][:, j] += sign * h
                ends.append(robot.inverse_dynamics(*moved))
            difference[:, :, j] = (ends[0] - ends[1]) / (2 * h)
        assert relative(getattr(model, name), difference) < 1e-6


def test_the_run_returns_the_linear_model(robot):
    run = at.simulate(
        robot, from_rest(robot, 0.5), EXACT, options=at.RunOptions(method="perturbation", points=60)
    )
    assert run.linear is not None
    assert run.linear.time[-1] == pytest.approx(0.5)
    poles = run.linear.poles()
    assert poles.shape == (60, 12)
    assert at.simulate(robot, from_rest(robot, 0.1), EXACT).linear is None
