"""Trajectories between their samples, at other rates and with rest around them."""

import numpy as np
import pytest
from scipy.interpolate import BPoly

import armtwin as at
from tests.simulation.bench import sine


def polynomial(coefficients, rate, seconds):
    """A motion of one joint that is a polynomial of time."""
    t = np.arange(round(seconds * rate) + 1) / rate
    p = np.polynomial.Polynomial(coefficients)
    return at.Trajectory.sampled(
        rate, *(p.deriv(k)(t)[:, None] if k else p(t)[:, None] for k in range(3))
    ), p


def from_rest(rate=100, seconds=1.0):
    """From rest to rest: q = x³ (10 - 15 x + 6 x²), the quintic of least jerk."""
    return polynomial([0, 0, 0, 10, -15, 6], rate, seconds)[0]


def test_a_motion_of_degree_five_is_known_everywhere(rng):
    """A quintic through position, speed and acceleration of two samples is the motion itself."""
    motion, p = polynomial(rng.normal(size=6), rate=5, seconds=2.0)
    t = rng.uniform(0, 2, size=200)
    for k, values in enumerate(motion.at(t)):
        expected = p.deriv(k)(t) if k else p(t)
        assert np.abs(values[:, 0] - expected).max() < 1e-11 * np.abs(expected).max()


def test_between_samples_a_motion_is_known_with_order_six():
    """Quintic Hermite interpolation:
    the error is h⁶ q⁽⁶⁾ / (720 · 64), in the middle between samples.
    """
    errors = []
    for rate in (10, 20, 40):
        motion = sine(1.0, 1.0, 2.0, rate=rate)
        t = (np.arange(2 * rate) + 0.5) / rate
        errors.append(np.abs(motion.at(t)[0][:, 0] - np.sin(2 * np.pi * t)).max())
    assert errors[0] == pytest.approx((2 * np.pi / 10) ** 6 / (720 * 64), rel=0.05)
    assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(6, abs=0.1)


def test_at_its_samples_a_motion_is_its_samples():
    motion = sine(0.3, 2.0, 1.0, n=2)
    for found, given in zip(motion.at(motion.time), (motion.q, motion.v, motion.a), strict=True):
        assert (
            np.abs(found - given).max() < 1e-9 * np.abs(given).max()
        )  # accelerations cancel as 1e-16 rate²


def test_the_speed_between_samples_adds_up_to_the_way():
    motion = sine(0.3, 2.0, 1.0, rate=20)
    t = np.linspace(0, 1, 20_001)
    q, v, _ = motion.at(t)
    way = np.concatenate([[0.0], np.cumsum((v[1:, 0] + v[:-1, 0]) / 2 * np.diff(t))])
    assert (
        np.abs(way - (q[:, 0] - q[0, 0])).max() < 1e-8
    )  # trapezoidal rule, h²/12 times the change of acceleration


def test_a_higher_rate_and_back_is_the_same_motion():
    motion = sine(0.3, 2.0, 1.0, rate=250)
    again = motion.at_rate(1000).at_rate(250)
    assert np.abs(again.q - motion.q).max() < 1e-13
    assert np.abs(again.v - motion.v).max() < 1e-11


@pytest.mark.parametrize("rate", [37.0, 99.0, 100.0, 101.0, 4000.0])
def test_at_any_rate_the_motion_arrives(rate):
    motion = from_rest().at_rate(rate)
    assert motion.q[-1, 0] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("rate", [37.0, 99.0, 100.0, 101.0, 4000.0])
def test_at_any_rate_the_motion_takes_its_time_and_less_than_a_sample_more(rate):
    motion = from_rest().at_rate(rate)
    assert 1.0 - 1e-9 <= motion.duration < 1.0 + 1 / rate


def test_a_standstill_shifts_the_motion():
    motion, t = from_rest(), np.linspace(0, 1, 77)
    later = motion.with_standstill(0.2, 0.3)
    for before, after in zip(motion.at(t), later.at(t + 0.2), strict=True):
        assert np.abs(after - before).max() < 1e-9


def test_in_a_standstill_nothing_moves():
    """Also where the motion itself starts and ends at speed."""
    motion = sine(0.3, 2.2, 1.0)
    still = motion.with_standstill(0.2, 0.3)
    inside = (still.time < 0.2 - 1e-9) | (still.time > 1.2 + 1e-9)
    assert inside.sum() == 50 + 75
    assert not still.v[inside].any()
    assert not still.a[inside].any()


def test_a_standstill_is_where_the_motion_begins_and_ends():
    still = from_rest().with_standstill(0.2, 0.3)
    assert np.abs(still.q[:20]).max() == 0.0
    assert np.abs(still.q[-30:] - 1.0).max() < 1e-15


def test_a_standstill_lasts_as_long_as_asked():
    assert from_rest().with_standstill(0.2, 0.3).duration == pytest.approx(1.5, rel=1e-14)


@pytest.mark.parametrize(
    ("rate", "q", "v", "sentence"),
    [
        (
            100,
            np.zeros((5, 2)),
            np.zeros((4, 2)),
            r"q, v and a of one shape \(samples, joints\), got \(5, 2\), \(4, 2\)",
        ),
        (
            100,
            np.zeros(5),
            np.zeros(5),
            r"of one shape \(samples, joints\), got \(5,\), \(5,\), \(5,\)",
        ),
        (100, np.zeros((1, 2)), np.zeros((1, 2)), "a trajectory needs at least two samples, got 1"),
        (
            0,
            np.zeros((5, 2)),
            np.zeros((5, 2)),
            "rate must be a number in Hz greater than 0, got 0",
        ),
        (
            np.nan,
            np.zeros((5, 2)),
            np.zeros((5, 2)),
            "rate must be a number in Hz greater than 0, got nan",
        ),
        (100, np.full((5, 2), np.nan), np.zeros((5, 2)), "q must be finite"),
    ],
)
def test_what_is_no_motion_is_refused(rate, q, v, sentence):
    with pytest.raises(at.ArmtwinError, match=sentence):
        at.Trajectory.sampled(rate, q, v, np.zeros_like(q))


def test_a_motion_between_its_samples_is_the_quintic_of_scipy(rng):
    """Relative to the coefficients, which carry the rounding of positions over h²."""
    motion = at.Trajectory.sampled(250, *rng.normal(size=(3, 200, 6)) * [[[1]], [[10]], [[100]]])
    given = np.stack([motion.q, motion.v, motion.a], axis=1)
    curve = BPoly.from_derivatives(motion.time, given)
    t = np.concatenate([motion.time, rng.uniform(0, motion.duration, 500)])
    for order, values in enumerate(motion.at(t)):
        size = np.abs(curve.derivative(order).c if order else curve.c).max()
        assert np.abs(values - curve(t, order)).max() < 1e-13 * size
