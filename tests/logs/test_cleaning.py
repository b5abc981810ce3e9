"""Cleaning: speeds and accelerations of known motions, nothing delayed, every choice visible."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.logs.averaging import select_periods
from armtwin.logs.cleaning import choices, clean


def motion(t, joints=2):
    """q, v, a of sums of sines below 1 Hz."""
    w = 2 * np.pi * np.array([[0.25, 0.5], [0.375, 0.75]])[:joints]
    q = np.stack([np.sin(a * t) + 0.5 * np.cos(b * t) for a, b in w], axis=1)
    v = np.stack([a * np.cos(a * t) - 0.5 * b * np.sin(b * t) for a, b in w], axis=1)
    acc = np.stack([-a * a * np.sin(a * t) - 0.5 * b * b * np.cos(b * t) for a, b in w], axis=1)
    return q, v, acc


def test_speeds_and_accelerations_of_a_known_motion():
    """Filtered at 10 Hz, differences at 250 Hz: second order in the step, 1e-3 of the motion."""
    t = np.arange(0, 16, 1 / 250)
    log = clean(at.Log.of(t, q=motion(t)[0]), choices(at.Log.of(t, q=motion(t)[0]), 10.0))
    _, v, a = motion(log.time)
    assert np.abs(log.v - v).max() < 1e-3 * np.abs(v).max()
    assert np.abs(log.a - a).max() < 1e-3 * np.abs(a).max()


def test_uneven_time_stamps_are_honoured():
    """Steps of 8 to 12 ms: assumed even they would give wrong speeds; on a grid they do not."""
    chance = np.random.default_rng(3)
    t = np.cumsum(chance.uniform(0.008, 0.012, 1600))
    log = at.Log.of(t, q=motion(t)[0])
    how = choices(log, 8.0)
    assert how.resampled
    cleaned = clean(log, how)
    _, v, _ = motion(cleaned.time)
    assert np.abs(cleaned.v - v).max() < 2e-3 * np.abs(v).max()


def test_a_fourier_series_differentiates_whole_periods_exactly():
    """Four periods of 8 s with noise on two of them averaged; without noise the series is exact."""
    t = np.arange(0, 32, 1 / 250)
    q = motion(t)[0]
    log = at.Log.of(t, q=q, tau=q)
    cleaned = clean(select_periods(log, 8.0, 1, 2), replace(choices(log, 5.0, period=8.0), step=1))
    _, v, a = motion(np.arange(2000) / 250)
    assert np.abs(cleaned.v - v).max() < 1e-10
    assert np.abs(cleaned.a - a).max() < 1e-9
    assert np.abs(cleaned.tau - motion(np.arange(2000) / 250)[0]).max() < 1e-12


def test_the_default_cut_off_lies_above_the_motion_and_below_the_noise():
    t = np.arange(0, 30, 1 / 250)
    q = motion(t)[0] + np.random.default_rng(1).normal(scale=1e-5, size=(len(t), 2))
    assert 1.0 < choices(at.Log.of(t, q=q)).cutoff < 25.0


def test_decimation_keeps_what_the_cut_off_leaves():
    t = np.arange(0, 16, 1 / 1000)
    how = choices(at.Log.of(t, q=motion(t)[0]), 10.0)
    assert how.step * how.averaged == 16
    assert len(clean(at.Log.of(t, q=motion(t)[0]), how).time) == pytest.approx(
        (16_000 - 200) / 16, abs=2
    )  # 0.1 s at either end are dropped


def test_a_log_much_faster_than_the_cut_off_is_averaged_first():
    """5 kHz for a cut-off of 2 Hz: 208 samples become one, at their middle;
    speeds stay those of the motion.
    """
    t = np.arange(0, 16, 1 / 5000)
    q = motion(t)[0] + np.random.default_rng(1).normal(scale=1e-4, size=(len(t), 2))
    how = choices(at.Log.of(t, q=q), 2.0)
    assert how.averaged == 208
    assert how.rate == pytest.approx(5000 / 208)
    cleaned = clean(at.Log.of(t, q=q), how)
    _, v, a = motion(cleaned.time)
    inside = slice(len(v) // 8, -len(v) // 8)
    assert (
        np.abs(cleaned.v - v)[inside].max() < 5e-3 * np.abs(v).max()
    )  # gain at 0.75 Hz: 1 - (0.75 / 2)^6
    assert np.abs(cleaned.a - a)[inside].max() < 5e-3 * np.abs(a).max()


@pytest.mark.parametrize(
    ("time", "q", "cutoff", "sentence"),
    [
        (
            np.arange(5) / 100,
            np.zeros((5, 1)),
            10.0,
            "needs at least 21 samples to be cleaned, got 5",
        ),
        (np.arange(100) / 100, np.zeros((100, 1)), None, "every joint is at rest"),
        (
            np.arange(100) / 100,
            np.ones((100, 1)),
            60.0,
            "between 0 and half of the log's rate, 50 Hz, got 60",
        ),
        (
            np.r_[np.arange(50), 200 + np.arange(50)] / 100,
            np.ones((100, 1)),
            5.0,
            "a gap of 1.51 s at 0.49 s",
        ),
    ],
)
def test_what_cannot_be_cleaned_is_refused(time, q, cutoff, sentence):
    with pytest.raises(at.ArmtwinError, match=sentence):
        choices(at.Log.of(time, q=q), cutoff)


def test_a_period_the_motion_does_not_have_is_refused():
    t = np.arange(0, 20, 1 / 250)
    log = at.Log.of(t, q=motion(t)[0])
    with pytest.raises(at.ArmtwinError, match="the motion does not repeat after 7 s"):
        clean(log, choices(log, 5.0, period=7.0))
    with pytest.raises(at.ArmtwinError, match="holds no 2 periods of 8 s"):
        select_periods(log, 8.0, 1, 2)
    with pytest.raises(at.ArmtwinError, match="holds no whole period of 30 s"):
        clean(log, choices(log, 5.0, period=30.0))


def test_a_period_of_no_whole_number_of_samples_is_resampled():
    """8 s at 300 Hz with stamps rounded to milliseconds, and at 249.9 Hz."""
    for rate in (300.0, 249.9):
        t = np.arange(0, 16.1, 1 / rate)
        log = at.Log.of(np.round(t, 3), q=motion(t)[0])
        cleaned = clean(log, choices(log, 5.0, period=8.0))
        _, v, _ = motion(cleaned.time)
        assert np.abs(cleaned.v - v).max() < 0.02 * np.abs(v).max()


def test_the_default_cut_off_does_not_follow_encoder_quanta():
    """5 kHz, positions in steps of 1e-5 rad: the quanta differenced are faster than any motion."""
    t = np.arange(0, 4, 1 / 5000)
    q = np.round(motion(t)[0] / 1e-5) * 1e-5
    assert choices(at.Log.of(t, q=q)).cutoff < 20
