"""Sobol points: those of scipy, whose module every prediction would have to load."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import qmc

import armtwin as at
from armtwin.maths.sobol import MOST, sobol_points


@pytest.mark.parametrize(("count", "dimensions"), [(64, 1), (256, 40), (1024, 7), (16, MOST)])
def test_points_are_those_of_scipy_bit_by_bit(count, dimensions):
    for seed in (0, 7):
        engine = qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(seed))
        np.testing.assert_array_equal(sobol_points(count, dimensions, seed), engine.random(count))


def test_more_points_begin_with_fewer_ones_of_any_number():
    np.testing.assert_array_equal(sobol_points(100, 3, 5), sobol_points(128, 3, 5)[:100])


def test_more_dimensions_than_the_table_has_are_refused():
    with pytest.raises(at.ArmtwinError, match=r"at most 512 numbers .* got 513"):
        sobol_points(2, MOST + 1, 0)


def test_an_interval_does_not_load_scipys_statistics():
    """54 MB and half a second of every prediction."""
    script = """
import sys
from armtwin.prediction.band.draws import normal_draws
normal_draws(64, 20, 0)
print("scipy.stats" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"
