"""Lost motion and glitches where a command turns back."""

import numpy as np
import pytest

from armtwin.maths.reversals import measure_turn, turning_samples

TIME = np.arange(0, 8.001, 0.004)


def test_a_sine_turns_twice_in_a_period_and_a_pause_in_a_motion_is_no_turn():
    """Also where it rests at the turn for a while."""
    turns = TIME[turning_samples(np.sin(2 * np.pi * TIME / 4))]
    assert turns == pytest.approx([1, 3, 5, 7], abs=0.005)
    assert len(turning_samples(np.clip(np.sin(2 * np.pi * TIME / 4), -0.9, 0.9))) == 4
    assert len(turning_samples(np.clip(TIME, 2, 5))) == 0


@pytest.mark.parametrize("lost", [0.0, 30.0])
def test_lost_motion_is_told_from_errors_that_follow_speed_and_acceleration(lost):
    x = TIME - 4.0
    smooth = 100.0 + 40.0 * x - 25.0 * x**2  # of speed and acceleration about a turn
    turn = measure_turn(TIME, smooth - 0.5 * lost * np.sign(x), 4.0, 1.0, after=1.0)
    assert turn.lost_motion == pytest.approx(lost, abs=1e-9)
    assert turn.glitch == pytest.approx(lost, abs=1e-9)


def test_a_turn_at_the_end_of_a_log_is_not_measured():
    assert measure_turn(TIME, TIME, 7.99, 1.0, after=1.0) is None
