"""A log is cleaned once: what the regression and what a prediction make of it is the same
motion.
"""

import numpy as np
import pytest

import armtwin as at
from armtwin.identification.rigid_body.data.clean_log import clean_log, filter_motion

PERIOD, CUTOFF = 2.0, 8.0
W = 2 * np.pi / PERIOD


def swing(rate, seconds=8.0, jitter=0.0):
    """A log of one joint that swings at 0.5 Hz, its time stamps uneven by a share of a sample."""
    shift = jitter / rate * np.random.default_rng(1).uniform(-1, 1, round(seconds * rate))
    t = np.arange(0, seconds, 1 / rate) + shift
    return at.Log.of(t, q=np.sin(W * t)[:, None], tau=np.cos(W * t)[:, None])


@pytest.mark.parametrize(
    "log",
    [swing(100.0), swing(2000.0), swing(100.0, jitter=0.3)],
    ids=["even", "averaged", "uneven"],
)
def test_motion_at_the_samples_of_a_log_is_that_of_its_swing(log):
    """Far below the cut-off: speeds to 1e-3 and accelerations to 1e-2 of the swing's,
    ends aside.
    """
    motion = filter_motion(log, CUTOFF, at.Recipe())
    inside = (log.time > 1.0) & (log.time < 7.0)
    t = log.time[inside]
    assert np.abs(motion.v[inside, 0] - W * np.cos(W * t)).max() < 1e-3 * W
    assert np.abs(motion.a[inside, 0] + W**2 * np.sin(W * t)).max() < 1e-2 * W**2


def test_the_rows_of_an_even_log_are_its_motion_to_the_last_bit():
    log = swing(100.0)
    rows = clean_log(log, CUTOFF, at.Recipe(), torque=log.tau)
    for x, y in zip(rows.motion, filter_motion(log, CUTOFF, at.Recipe()), strict=True):
        assert np.array_equal(x, y)


def test_a_wild_torque_is_bridged_and_counted_and_leaves_the_motion_alone():
    log = swing(100.0)
    torque = log.tau.copy()
    torque[300] += 50.0
    fine, wild = (clean_log(log, CUTOFF, at.Recipe(), torque=x) for x in (log.tau, torque))
    assert (fine.how.replaced, wild.how.replaced) == (0, 1)
    assert np.abs(wild.clean.tau - fine.clean.tau).max() < 1e-2
    assert np.array_equal(wild.clean.q, fine.clean.q)


def test_a_log_that_is_predicted_need_not_repeat_and_keeps_all_its_samples():
    """The recipe of a periodic fit folds its own logs into one period,
    but not the one to predict.
    """
    log = swing(100.0)
    recipe = at.Recipe(period=PERIOD, periods=(0, 2), rate=20.0)
    assert len(clean_log(log, CUTOFF, recipe).clean.time) == round(PERIOD * 100)
    assert len(filter_motion(log, CUTOFF, recipe).q) == len(log.time)
