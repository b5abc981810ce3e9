"""The robot's equations of motion as arrays."""

import numpy as np
import pytest


@pytest.mark.parametrize("name", ["rx90b", "lwa4p", "kr300"])
def test_a_regressor_written_over_an_earlier_one_is_that_of_the_new_motion(robots, name, rng):
    robot = robots[name]
    first, second = rng.normal(size=(2, 3, 20, robot.n))
    out = robot.regressor(*first)
    again = robot.regressor(*second, out=out)
    assert again is out or np.shares_memory(again, out)
    assert np.array_equal(again, robot.regressor(*second))
