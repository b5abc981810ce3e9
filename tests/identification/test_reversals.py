"""Friction about a reversal: what a sample stands for that is the mean of several of a log."""

import numpy as np
import pytest

from armtwin.identification.rigid_body.data.reversals import doubt_of_speed


@pytest.mark.parametrize("averaged", [1, 2, 3, 8])
def test_the_doubt_of_a_mean_has_the_variance_of_the_speeds_that_it_is_made_of(averaged):
    """Evenly spread within ± w they have w² / 3."""
    v = np.linspace(-1, 1, 24 * averaged)[:, None]
    groups = v.reshape(-1, averaged)
    doubt = doubt_of_speed(groups.mean(axis=1)[:, None], np.zeros(1), averaged)
    assert doubt[:, 0] ** 2 / 3 == pytest.approx(groups.var(axis=1), abs=1e-15)


def test_the_mean_sign_of_averaged_samples_is_that_of_the_speeds_between():
    """A reversal anywhere between samples, eight averaged: the mean sign to the step of one."""
    averaged, change = 8, 0.4
    for shift in np.linspace(-1, 1, 41):
        mean = change * (np.arange(-4, 5) + shift)
        doubt = doubt_of_speed(mean[:, None], np.zeros(1), averaged)[:, 0]
        within = (np.arange(averaged) + 0.5) / averaged - 0.5
        exact = np.sign(mean[:, None] + change * within).mean(axis=1)
        assert np.clip(mean / doubt, -1, 1) == pytest.approx(exact, abs=1 / averaged + 0.02)
