"""Motions for friction curves; studies/friction_motions.py runs four robots."""

from functools import partial

import numpy as np
import pytest

import armtwin as at
from armtwin.app.excite_command import simulate_twin
from armtwin.identification.excitation.friction_motions import list_directions
from tests.identification.virtual_friction import recover


def test_directions_of_a_coupled_wrist_follow_from_its_gear_matrix():
    """Joints alone, and motor 5 alone, for which joint 6 turns back as joint 5 turns."""
    found = list_directions(at.Robot.load("rx90b"))
    assert list(found)[:6] == [f"joint_{j}" for j in range(1, 7)]
    assert {name: x.tolist() for name, x in list(found.items())[6:]} == {
        "motor_5_alone": [0, 0, 0, 0, 1, -1]
    }
    assert len(list_directions(at.Robot.load("kr300"))) == 6


@pytest.fixture(scope="module")
def lwa4p():
    robot = at.Robot.load("lwa4p")
    return robot, at.excite_friction(robot, run_twin=partial(simulate_twin, robot))


def test_the_twin_runs_every_motion_within_limits(lwa4p):
    robot, found = lwa4p
    low, high = robot.position_limits
    for one in found.motions.values():
        assert one.twin.runs
        assert one.use.largest <= 1
        motion = one.trajectory
        assert ((motion.q >= low) & (motion.q <= high)).all()
        assert (np.abs(motion.v) <= robot.limits.velocity).all()
        assert np.abs(np.gradient(motion.q, motion.time, axis=0) - motion.v).max() < 2e-3


def test_friction_of_the_twins_own_logs_is_found_to_3_percent(lwa4p):
    assert max(recover(*lwa4p, "file").values()) < 3


def test_a_cell_without_room_is_refused():
    robot = at.Robot.load("lwa4p")
    with pytest.raises(at.ArmtwinError, match="no motion of joint_1 for friction curves"):
        at.excite_friction(robot, at.ExcitationPlan(clearance=5.0))
