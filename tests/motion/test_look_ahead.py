"""Look-ahead: from rest to rest in the least time, within limits, without a step."""

import time

import numpy as np
import pytest

from armtwin.motion.look_ahead import ProfileParts, plan_look_ahead

STEPS = 400_001


def parts(length, speed, acceleration, jerk, stops=None, wait=None):
    ones = np.ones(len(length))
    stops = np.zeros(len(length), dtype=bool) if stops is None else stops
    wait = 0 * ones if wait is None else wait
    return ProfileParts(
        np.array(length), speed * ones, acceleration * ones, jerk * ones, stops, np.array(wait)
    )


def least_time(length, v, a, j):
    """Rest to rest over a length within limits of speed, acceleration and jerk.

    Textbook cases of the double-S motion, by which limits are reached; no ramp is computed.
    """
    if v * j < a * a and length > 2 * v * np.sqrt(v / j):  # speed, but not acceleration
        return length / v + 2 * np.sqrt(v / j)
    if v * j >= a * a and length >= v * (v / a + a / j):  # both
        return length / v + v / a + a / j
    if length < 2 * a**3 / j**2:  # neither
        return 4 * (length / (2 * j)) ** (1 / 3)
    return a / j + np.sqrt((a / j) ** 2 + 4 * length / a)  # acceleration, but not speed


def random_parts(rng, count):
    stops = rng.random(count) < 0.1
    wait = np.where(stops & (rng.random(count) < 0.3), 0.05, 0.0)
    return ProfileParts(
        rng.uniform(1e-4, 2e-2, count),
        rng.uniform(0.01, 0.8, count),
        rng.uniform(0.5, 8, count),
        rng.uniform(10, 500, count),
        stops,
        wait,
    )


@pytest.mark.parametrize(("v", "a", "j"), [(0.1, 2, 40), (1.0, 2, 40), (0.5, 10, 30), (0.02, 5, 5)])
def test_a_polyline_with_stops_takes_its_analytic_least_time(rng, v, a, j):
    lengths = np.exp(rng.uniform(np.log(1e-5), np.log(2.0), 60))
    found = plan_look_ahead(parts(lengths, v, a, j, np.ones(60, dtype=bool)))
    wanted = sum(least_time(length, v, a, j) for length in lengths)
    assert abs(found.duration / wanted - 1) < 1e-9


@pytest.fixture(scope="module")
def sampled():
    """A profile over 300 random parts at times ten times denser than its shortest phases need."""
    given = random_parts(np.random.default_rng(7), 300)
    profile = plan_look_ahead(given)
    t = np.linspace(0.0, profile.duration, STEPS)
    return given, profile, t, *profile.at(t)


def test_speed_and_acceleration_are_continuous(sampled):
    """Their differences are bounded by the largest acceleration and jerk of all parts."""
    given, _, t, s, v, a = sampled
    step = t[1]
    assert np.abs(np.diff(s)).max() <= given.speed.max() * step * (1 + 1e-6)
    assert np.abs(np.diff(v)).max() <= given.acceleration.max() * step * (1 + 1e-6)
    assert np.abs(np.diff(a)).max() <= given.jerk.max() * step * (1 + 1e-6)
    assert np.diff(s).min() >= 0


def test_speed_and_acceleration_are_derivatives(sampled):
    _, _, t, s, v, a = sampled
    middle = (s[1:] - s[:-1]) / t[1]
    assert np.abs(middle - (v[1:] + v[:-1]) / 2).max() < 1e-6
    assert np.abs((v[1:] - v[:-1]) / t[1] - (a[1:] + a[:-1]) / 2).max() < 500 * t[1]


def test_every_part_keeps_its_own_limits(sampled):
    given, _, _, s, v, a = sampled
    ends = np.cumsum(given.length)
    inside = np.minimum(np.searchsorted(ends, s), len(ends) - 1)
    clear = np.abs(s - ends[inside]) > 1e-9  # at a node the acceleration is 0
    assert (v <= given.speed[inside] * (1 + 1e-9))[clear].all()
    assert (np.abs(a) <= given.acceleration[inside] * (1 + 1e-9))[clear].all()


def test_the_tool_rests_at_stops_and_waits_there(sampled):
    given, profile, *_ = sampled
    ends = np.cumsum(given.length)[given.stops]
    arrives = profile.time_at(ends)
    assert np.abs(profile.at(arrives)[1]).max() < 1e-5
    waits = given.wait[given.stops]
    assert np.abs(profile.at(arrives + waits)[0] - ends).max() < 1e-9


def test_the_time_of_a_place_is_when_it_is_reached(sampled):
    _, profile, *_ = sampled
    s = np.linspace(0.0, profile.ways[-1], 5001)
    assert np.abs(profile.at(profile.time_at(s))[0] - s).max() < 1e-9


def test_a_profile_of_many_parts_takes_time_in_proportion(rng):
    """A hundred times the parts in less than four hundred times the time."""
    used = []
    for count in (1000, 100_000):
        given = random_parts(rng, count)
        start = time.process_time()
        plan_look_ahead(given)
        used.append(time.process_time() - start)
    assert used[1] < 400 * max(used[0], 1e-4)
