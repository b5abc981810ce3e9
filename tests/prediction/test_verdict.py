"""The verdict: spans, segments, process on and off, stops."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.jobs.groups import Tolerance, Window
from armtwin.prediction.path_error import PathError
from armtwin.prediction.verdict import inside_window, verdict_on
from tests.jobs.placements import as_in_another_program, line_that_holds


@pytest.fixture(scope="module")
def line():
    return at.predict(line_that_holds())


@pytest.fixture(scope="module")
def stop():
    job = at.Job.load("rx90b_corner_follow")
    first, second = job.description.segment
    return at.predict(
        at.Job(replace(job.description, segment=(replace(first, blend=0.05), second)))
    )


def made_up(lateral, vertical=0.0):
    """A path error over the line at 100 mm/s, a sample every 0.1 mm of the seam."""
    s = np.linspace(0, 0.975, 9751)
    zero = np.zeros_like(s)
    return PathError(10 * s, s, zero + 0.1, s, zero + lateral(s), zero + vertical, zero + 0.1, zero)


def test_the_verdict_flips_exactly_at_the_tolerance(line):
    """The largest error itself is allowed; the next smaller number is not."""
    job, peak = line.job, line.verdict.segments[0].lateral_peak_m
    for allowed, within in ((peak, True), (np.nextafter(peak, 0.0), False)):
        tolerance = Tolerance(float(allowed), 1e-3)
        verdict = verdict_on(at.Job(replace(job.description, tolerance=tolerance)), line.path_error)
        assert verdict.within is within


def test_spans_of_a_known_error_are_where_it_crosses_the_tolerance():
    """A triangle of height 0.3 mm around 500 mm, 60 mm wide: above 0.1 mm from 480 to 520 mm."""
    error = made_up(lambda s: -3e-4 * np.clip(1 - np.abs(s - 0.5) / 0.03, 0, None))
    verdict = verdict_on(at.Job.load("rx90b_line"), error)
    (span,) = verdict.spans
    assert span.direction == "lateral"
    assert (span.from_m, span.to_m) == pytest.approx((0.48, 0.52), abs=1e-9)
    assert (span.peak_m, span.peak_at_m) == pytest.approx((-3e-4, 0.5), abs=1e-9)
    assert verdict.out_of_tolerance_m == pytest.approx(0.04, abs=1e-9)


def test_lengths_that_are_out_in_both_directions_count_once():
    wide = np.where(np.abs(np.linspace(0, 0.975, 9751) - 0.5) < 0.05, 2e-4, 0.0)
    error = made_up(lambda s: -3e-4 * np.clip(1 - np.abs(s - 0.5) / 0.03, 0, None), wide)
    verdict = verdict_on(at.Job.load("rx90b_line"), error)
    assert {x.direction for x in verdict.spans} == {"lateral", "vertical"}
    assert verdict.out_of_tolerance_m == pytest.approx(0.1, abs=2e-4)


def test_ramps_are_shown_and_do_not_fail_the_job(line):
    """The error of 0.2 mm while speeding up is told apart; the laser is not on yet."""
    (segment,) = line.verdict.segments
    assert line.verdict.within
    assert segment.lateral_off_m > 1.5e-4 > 1e-4 > segment.lateral_peak_m
    everywhere = replace(
        line.job.description,
        process=replace(line.job.description.process, after_ramp=None, run_in=0.0),
    )
    assert not verdict_on(at.Job(everywhere), line.path_error).within


def test_a_drive_that_falls_behind_stops_the_robot_at_that_place(stop):
    """The event, the motor's error in the log and the place on the seam agree."""
    event = stop.verdict.stopped
    assert event is not None
    assert event.kind == "following_error"
    assert event.joint == "motor_4"
    limit = stop.robot.description.servo["cascade"].following_error_limit
    motion = stop.motion.trajectory
    wanted = motion.at(np.array([event.time]))[0] @ stop.robot.assembly.gear.T
    behind = np.abs(stop.run.motor_side[-1] @ stop.robot.assembly.gear.T - wanted)[0]
    assert behind[3] == pytest.approx(limit, rel=0.02)
    assert (behind[[0, 1, 2, 4, 5]] < limit).all()
    corner = next(x for x in stop.job.seam.path.stretches if x.corner)
    assert corner.start < stop.verdict.stopped_at_m < corner.stop
    commanded = stop.job.seam.command(np.array([event.time])).s[0]
    assert stop.verdict.stopped_at_m == pytest.approx(commanded, abs=1e-3)
    assert not stop.verdict.within


def test_what_is_refused_kinematically_names_place_and_joint():
    job = as_in_another_program(at.Job.load("rx90b_corner_follow"))
    first, second = job.description.segment
    tight = at.Job(
        replace(job.description, segment=(replace(first, blend=0.0025), second)), job.origin
    )
    with pytest.raises(at.FileError) as refused:
        at.predict(tight)
    lines = str(refused.value)
    assert "joint_4 would have to move at 7721°/s (limit 409°/s)" in lines
    assert "from 287.1 to 291.5 mm" in lines
    assert "joint_4 would be at 273.1° (limit 270°)" in lines


def test_limits_that_are_only_reported_let_the_drives_decide():
    """The same seam at r = 20 mm:
    speeds beyond the data sheet are reported, the loop stops the robot.
    """
    job = at.Job.load("rx90b_corner_follow")
    first, second = job.description.segment
    fast = replace(job.description, segment=(replace(first, blend=0.02), second), limits="report")
    run = at.predict(at.Job(fast))
    assert {v.joint for v in run.feasibility.violations if v.kind == "velocity"} == {"joint_4"}
    assert run.verdict.stopped is not None


def test_a_polygon_of_speed_and_power_is_a_window():
    """A triangle with corners (50, 1), (150, 1), (100, 3) mm/s, kW at 2 kW: 75 to 125 mm/s."""
    triangle = Window(polygon=((0.05, 1000.0), (0.15, 1000.0), (0.1, 3000.0)))
    speeds = np.array([0.06, 0.0749, 0.0751, 0.1, 0.1249, 0.1251, 0.14])
    assert inside_window(triangle, speeds, 2000.0).tolist() == [
        False,
        False,
        True,
        True,
        True,
        False,
        False,
    ]
    assert not inside_window(triangle, speeds, 3500.0).any()


def test_leaving_the_process_window_fails_the_job(line):
    (segment,) = line.job.description.segment
    low, high = line.verdict.segments[0].speed_m_s
    for band, within in (((low, high), True), ((np.nextafter(low, 1.0), high), False)):
        windowed = replace(segment, window=Window(speed=tuple(map(float, band))))
        verdict = verdict_on(
            at.Job(replace(line.job.description, segment=(windowed,))), line.path_error
        )
        assert verdict.within is within
        assert bool(verdict.outside_window) is not within


def test_assumed_numbers_are_those_in_use(line):
    keys = [origin.path for origin in line.assumed]
    assert any(key.startswith("servo.cascade") for key in keys)
    assert not any(key.startswith("servo.cs7b") for key in keys)
    off = replace(line.job.description, model=at.Model(friction="off"))
    without = [origin.path for origin in at.predict(at.Job(off)).assumed]
    assert not any(key.startswith("friction") for key in without)


def test_a_robot_without_servo_and_friction_is_refused_with_the_list():
    job = at.Job.load("rx90b_line")
    bare = at.Robot(replace(job.robot().description, servo={}, friction=()))
    with pytest.raises(at.FileError) as refused:
        at.predict(job, bare)
    assert "servo.cascade: a servo controller is missing" in str(refused.value)
    assert "friction: joint friction is missing" in str(refused.value)


@pytest.mark.parametrize("factor", [0.2, 0.6, 1.0, 1.25])
@pytest.mark.parametrize("name", ["kr300_frame", "lwa4p_bead", "rx90b_corner_fixed"])
def test_shipped_jobs_are_run_to_their_end_at_any_speed(name, factor):
    """A law whose friction vanishes at rest must not make the loop look unstable."""
    job = at.Job.load(name)
    run = at.predict(job.with_speed(factor * job.description.speed))
    assert run.verdict.stopped is None
    assert run.path_error.place[-1] == pytest.approx(job.seam.length, abs=1e-3)


def test_a_corner_between_two_set_points_is_refused():
    """A radius of 0.1 mm is passed in a millisecond;
    what it needs of the joints no set-point would show.
    """
    job = at.Job.load("rx90b_corner_fixed")
    first, second = job.description.segment
    with pytest.raises(
        at.FileError, match=r"the corner is passed in \d set-points at 250 Hz, but needs at least 4"
    ):
        at.predict(at.Job(replace(job.description, segment=(replace(first, blend=1e-4), second))))


@pytest.mark.parametrize(
    "call", [lambda: at.predict(3), lambda: at.explain(None), lambda: at.advise(3)]
)
def test_wrong_arguments_are_told_in_a_sentence(call):
    with pytest.raises(at.ArmtwinError, match="must be a"):
        call()


def test_a_speed_may_be_text_and_must_be_plausible():
    job = at.Job.load("rx90b_line")
    assert job.with_speed("200 mm/s").description.speed == 0.2
    with pytest.raises(at.ArmtwinError, match="Did you mean '100 mm/s'"):
        job.with_speed(100)
