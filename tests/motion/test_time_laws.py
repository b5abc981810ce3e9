"""Time laws: speed and acceleration are rates of the way,
ramps keep their limits and lie where they should.
"""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.motion.time_laws import TimeLaw, build_profile

LAWS = {
    "ramped sine": TimeLaw(ramp=0.25),
    "trapezoid": TimeLaw("trapezoid", acceleration=1.0),
    "jerk limited": TimeLaw("jerk_limited", acceleration=1.0, jerk=8.0),
    "jerk limited, acceleration not reached": TimeLaw("jerk_limited", acceleration=4.0, jerk=8.0),
}
BOUNDS, SPEEDS, NAMES = [0.0, 0.2, 0.35, 0.6], [0.1, 0.25, 0.05], ["slow", "fast", "slowest"]
laws = pytest.mark.parametrize("law", LAWS.values(), ids=list(LAWS))


def single(law, length=0.3, speed=0.2):
    return build_profile([0.0, length], [speed], ["seam"], law)


def fine(profile, count=40_001):
    """Times and way, speed, acceleration at them;
    the steps of an acceleration fall between the samples.
    """
    t = np.linspace(0, profile.duration, count)
    return t, *profile.at(t)


@laws
def test_the_speed_adds_up_to_the_way(law):
    """Trapezoidal rule with steps of 0.2 ms:
    wrong by h²/12 times the change of acceleration, 1e-8 m.
    """
    t, s, v, _ = fine(build_profile(BOUNDS, SPEEDS, NAMES, law))
    way = np.concatenate([[0.0], np.cumsum((v[1:] + v[:-1]) / 2 * np.diff(t))])
    assert np.abs(way - s).max() < 2e-8


@laws
def test_the_acceleration_adds_up_to_the_speed(law):
    """A step of 1 m/s² between two samples 0.2 ms apart leaves 1e-4 m/s;
    seven phases have at most six steps.
    """
    t, _, v, a = fine(build_profile(BOUNDS, SPEEDS, NAMES, law))
    speed = np.concatenate([[0.0], np.cumsum((a[1:] + a[:-1]) / 2 * np.diff(t))])
    assert np.abs(speed - v).max() < (6e-4 if law.kind == "trapezoid" else 1e-7)


@laws
def test_the_motion_goes_from_end_to_end(law):
    profile = build_profile(BOUNDS, SPEEDS, NAMES, law)
    s = profile.at(np.array([0.0, profile.duration]))[0]
    assert s == pytest.approx([0.0, BOUNDS[-1]], abs=1e-15)


@laws
def test_the_tool_is_at_rest_before_and_after_the_motion(law):
    profile = single(law)
    s, v, a = profile.at(np.array([-0.5, profile.duration + 0.5]))
    assert s == pytest.approx([0.0, 0.3], abs=1e-15)
    assert (v == 0).all()
    assert (a == 0).all()


@laws
def test_the_tool_never_goes_back(law):
    """Differences of the way are rounded to 1e-16 m."""
    assert np.diff(fine(build_profile(BOUNDS, SPEEDS, NAMES, law))[1]).min() > -1e-15


@laws
def test_a_motion_of_one_speed_looks_the_same_backwards(law):
    _, s, v, a = fine(single(law))
    assert np.abs(s + s[::-1] - 0.3).max() < 1e-14
    assert np.abs(v - v[::-1]).max() < 1e-13
    if (
        law.kind != "trapezoid"
    ):  # where the acceleration steps, rounding says on which side a sample lies
        assert np.abs(a + a[::-1]).max() < 1e-11


@laws
def test_a_ramp_covers_its_time_at_the_mean_speed(law):
    profile = single(law, speed=0.2)
    T = profile.steady[0]
    assert profile.at(np.array([T]))[0][0] == pytest.approx(T * 0.2 / 2, rel=1e-13)


@laws
def test_one_speed_takes_the_way_at_that_speed_and_one_ramp_more(law):
    profile = single(law, 0.3, 0.2)
    assert profile.duration == pytest.approx(0.3 / 0.2 + law.duration(0.2), rel=1e-14)


@laws
def test_speeds_change_in_the_faster_of_two_neighbours(law):
    """In the slow stretches the speed is the stretch's own, but for the ramps from and to rest."""
    profile = build_profile(BOUNDS, SPEEDS, NAMES, law)
    _, s, v, _ = fine(profile)
    rest = [law.duration(x) * x / 2 for x in (0.1, 0.05)]
    first, last = (s > rest[0]) & (s < 0.2), (s > 0.35) & (s < 0.6 - rest[1])
    assert np.abs(v[first] - 0.1).max() < 1e-12
    assert np.abs(v[last] - 0.05).max() < 1e-12


@laws
def test_the_fast_stretch_reaches_its_speed_and_no_more(law):
    assert fine(build_profile(BOUNDS, SPEEDS, NAMES, law))[2].max() == pytest.approx(
        0.25, rel=1e-13
    )


# each law


@pytest.mark.parametrize(
    ("speed", "seconds"), [(0.1, 12.0), (0.2, 7.124), (0.3, 5.5), (0.4, 4.684), (0.5, 4.2)]
)
def test_the_straight_welding_seam_takes_as_long_as_in_another_program(speed, seconds):
    """975 mm with ramps of 0.25 s and a second of rest on both sides;
    the other program has samples of 4 ms.
    """
    profile = single(TimeLaw(ramp=0.25), 0.975, speed)
    assert 2 + profile.duration == pytest.approx(seconds, abs=0.004)


def test_a_ramped_sine_has_the_speed_of_its_formula():
    """v = V (x - sin(2πx)/(2π)), x = t / T, mirrored at the end [Waiboer 2007, fig. 5.4]."""
    profile = single(TimeLaw(ramp=0.25), 0.3, 0.2)
    x = np.linspace(0, 1, 50)
    expected = 0.2 * (x - np.sin(2 * np.pi * x) / (2 * np.pi))
    assert np.abs(profile.at(0.25 * x)[1] - expected).max() < 1e-15
    assert np.abs(profile.at(profile.duration - 0.25 * x)[1] - expected).max() < 1e-14


def test_the_peak_of_a_ramped_sine_is_twice_its_mean_acceleration():
    a = fine(single(TimeLaw(ramp=0.25), speed=0.2))[3]
    assert a.max() == pytest.approx(
        2 * 0.2 / 0.25, rel=1e-6
    )  # samples lie within 25 µs of the peak


def test_a_trapezoid_uses_its_acceleration_or_none():
    a = fine(single(LAWS["trapezoid"]))[3]
    assert np.abs(np.abs(a) - np.round(np.abs(a))).max() < 1e-12
    assert set(np.round(a)) == {-1.0, 0.0, 1.0}


def test_a_jerk_limited_ramp_reaches_its_acceleration_and_no_more():
    a = fine(single(LAWS["jerk limited"]))[3]
    assert np.abs(a).max() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(
    "law", [LAWS["jerk limited"], LAWS["jerk limited, acceleration not reached"]]
)
def test_a_jerk_limited_ramp_uses_its_jerk_and_no_more(law):
    """Differences of accelerations of 1 m/s² over 40 µs are rounded to 1e-11 m/s³."""
    t, *_, a = fine(single(law))
    assert np.abs(np.diff(a) / np.diff(t)).max() == pytest.approx(8.0, rel=1e-9)


def test_a_small_change_of_speed_ends_before_the_acceleration_is_reached():
    """Half the change is made at an acceleration that rises by the jerk:
    Δ/2 = j (T/2)²/2, peak j T/2.
    """
    law, change = TimeLaw("jerk_limited", acceleration=4.0, jerk=8.0), 0.2
    T = 2 * np.sqrt(change / 8.0)
    profile = single(law, speed=change)
    assert profile.steady[0] == pytest.approx(T, rel=1e-13)
    assert profile.at(np.array([T / 2]))[2][0] == pytest.approx(8.0 * T / 2, rel=1e-12)


def test_an_unlimited_jerk_makes_a_trapezoid():
    """The acceleration rises in a/j = 1e-9 s, in which the speed lags by no more than 1e-9 m/s."""
    jerky, plain = TimeLaw("jerk_limited", acceleration=1.0, jerk=1e9), LAWS["trapezoid"]
    t = np.linspace(0, single(plain).duration, 1000)
    assert np.abs(single(jerky).at(t)[1] - single(plain).at(t)[1]).max() < 2e-9


# refusals


def test_a_segment_too_short_for_its_ramps_is_refused():
    """Two ramps of 0.25 s at a mean of 100 mm/s cover 50 mm."""
    with pytest.raises(
        at.ArmtwinError,
        match=r"segment 'seam' is 40.0 mm long, but speeding up and slowing down at 200 mm/s "
        r"needs 50.0 mm; choose a lower",
    ):
        single(TimeLaw(ramp=0.25), 0.04, 0.2)


def test_a_fast_stretch_too_short_between_slow_ones_is_refused_by_name():
    """From 100 to 250 mm/s and to 50 mm/s in 0.25 s each: 43.75 and 37.5 mm."""
    with pytest.raises(
        at.ArmtwinError, match=r"segment 'fast' is 80.0 mm long, .* at 250 mm/s needs 81.2 mm"
    ):
        build_profile([0.0, 0.2, 0.28, 0.6], SPEEDS, NAMES, TimeLaw(ramp=0.25))


@pytest.mark.parametrize(
    ("law", "phrase"),
    [
        (TimeLaw(), "of kind ramped_sine must have ramp and nothing else"),
        (TimeLaw(ramp=0.2, jerk=1.0), "of kind ramped_sine must have ramp and nothing else"),
        (
            TimeLaw("trapezoid", ramp=0.2),
            "of kind trapezoid must have acceleration and nothing else",
        ),
        (
            TimeLaw("jerk_limited", jerk=1.0),
            "of kind jerk_limited must have acceleration and jerk and nothing else",
        ),
    ],
)
def test_a_law_without_its_numbers_is_refused(law, phrase):
    assert law.problem() == phrase


@laws
def test_ramps_are_where_the_profile_passes_them(law):
    """The same way, speed and acceleration by the share of a ramp as by the time."""
    profile = build_profile(BOUNDS, SPEEDS, NAMES, law)
    x = np.linspace(0.01, 0.99, 15)
    times, s, v, a = profile.ramps(x)
    assert len(times) == 4  # up, up, down, down
    for t, *told in zip(times, s, v, a, strict=True):
        for mine, other in zip(told, profile.at(t), strict=True):
            assert mine == pytest.approx(other, abs=1e-9)


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        (TimeLaw(ramp=1e-300), "ramp must be at least 1e-09 s, got 1e-300"),
        (
            TimeLaw("trapezoid", acceleration=1e300),
            "acceleration must be at most 1e+06 m/s², got 1e+300",
        ),
        (
            TimeLaw("jerk_limited", acceleration=1.0, jerk=1e300),
            "jerk must be at most 1e+12 m/s³, got 1e+300",
        ),
    ],
)
def test_numbers_that_would_overflow_are_refused(law, sentence):
    assert law.problem() == sentence
    job = at.Job.load("rx90b_line")
    with pytest.raises(at.FileError, match="time_law"):
        at.Job(replace(job.description, time_law=law))
