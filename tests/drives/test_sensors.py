"""Sensors: readings in steps, and late by any time."""

import numpy as np
import pytest

from armtwin.drives import sensors
from armtwin.maths.tracing import python_of

# The kernels in plain Python, which needs no compiler.
quantised = getattr(sensors.quantise, "py_func", sensors.quantise)
recall, find_head = python_of(sensors.recall), python_of(sensors.find_head)
read_late = python_of(sensors.read_late)


@pytest.mark.parametrize("step", [0.1, 2.5e-5, 3.0])
def test_a_reading_is_the_nearest_whole_number_of_steps_and_odd(step, rng):
    for x in rng.normal(size=200) * 10 * step:
        reading = quantised(x, step)
        assert abs(reading - x) <= step / 2 * (1 + 1e-12)
        assert reading / step == pytest.approx(round(reading / step), abs=1e-12)
        assert quantised(-x, step) == -reading


def test_without_steps_every_value_is_read(rng):
    x = float(rng.normal())
    assert quantised(x, 0.0) == x


@pytest.mark.parametrize("late", [0.0, 0.4, 1.0, 3.75])
def test_a_steady_motion_is_read_as_it_was_whatever_the_place_in_the_ring(late):
    """Between ticks the past is linear, so that x = v t comes late by exactly the delay."""
    past = np.zeros((6, 1, 1))
    for k in range(25):
        head = find_head(past, float(k))
        found = recall(past, head, 0, 0, 0.3 * k, late)
        assert past[k % 6, 0, 0] == 0.3 * k
        if k >= 5:
            assert found == pytest.approx(0.3 * (k - late), abs=1e-13)


def test_each_drive_has_its_own_delays_of_position_and_speed_and_none_is_none():
    past = np.zeros((5, 2, 2))
    delay = np.array([[0.0, 0.0], [1.5, 0.5]])
    for k in range(12):
        position, speed = np.full(2, float(k)), np.full(2, 10.0 * k)
        read_late(delay, past, float(k), position, speed)
    assert position.tolist() == [11.0, 9.5]
    assert speed.tolist() == [110.0, 105.0]
