"""Advice: what it promises is what the next run gives."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.prediction import advice, changes, trials
from tests.jobs.examples import JOB
from tests.jobs.placements import line_that_holds


@pytest.fixture(scope="module")
def fast():
    """The straight seam at 200 mm/s, which leaves its tolerance after the reversal."""
    p = at.predict(None, line_that_holds().with_speed(0.2))
    assert not p.verdict.within
    return p, at.advise(p)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """A seam of 200 mm that holds: for what is true of any seam, in a fifth of the line's time."""
    path = tmp_path_factory.mktemp("jobs") / "job.toml"
    path.write_text(JOB, encoding="utf-8")
    p = at.predict(None, at.Job.load(path))
    assert p.verdict.within
    return p, at.advise(p)


@pytest.fixture(scope="module")
def corner():
    """The shipped corner, which leaves its tolerance where it is rounded."""
    p = at.predict(None, at.Job.load("rx90b_corner_follow"))
    assert not p.verdict.within
    return p, at.advise(p)


def option(found, name):
    return next(x for x in found.options if x.name == name)


def test_the_advised_job_holds_from_its_file(fast, tmp_path):
    _, found = fast
    found.best.job.save(tmp_path / "advised.toml")
    assert at.predict(None, at.Job.load(tmp_path / "advised.toml")).verdict.within


def test_three_per_cent_more_than_the_advised_speed_fails(fast):
    _, found = fast
    speed = option(found, "speed")
    assert speed.holds
    for advised in (speed, found.best, option(found, "slower stretch")):
        assert advised.holds
        faster = advised.job.with_speed(1.03 * advised.job.description.speed)
        assert not at.predict(None, faster).verdict.within


def test_slowing_down_only_where_it_hurts_is_faster_than_slowing_down_everywhere(fast):
    _, found = fast
    stretch, whole = option(found, "slower stretch"), option(found, "speed")
    assert stretch.holds
    assert stretch.duration < whole.duration
    assert at.predict(None, stretch.job).verdict.within


def test_the_cut_seam_is_the_same_seam(fast):
    """Lines cut into parts run through the same points."""
    p, found = fast
    cut = option(found, "slower stretch").job
    assert cut.seam.length == pytest.approx(p.job.seam.length, abs=1e-9)
    assert len(cut.description.segment) > len(p.job.description.segment)


def test_the_best_option_is_the_fastest_that_holds(fast):
    _, found = fast
    assert found.best.holds
    assert found.best.duration <= min(
        x.duration for x in found.options if x.holds and x.name != "radius"
    )


def test_a_seam_that_holds_is_told_how_much_faster_it_could_be(short):
    _, found = short
    assert found.best.job.description.speed >= 0.1
    assert [x.name for x in found.options] == ["speed"]


def test_the_budget_bounds_the_simulations(short):
    """Alone the ranking of the assumed numbers wants 35."""
    assert at.advise(short[0], budget=5).simulations == 5


def test_a_corner_gets_a_radius_an_orientation_and_a_shift(corner):
    _, found = corner
    assert {"speed", "orientation", "shift", "radius"} <= {x.name for x in found.options}
    for x in found.options:
        if x.holds:
            assert at.predict(None, x.job).verdict.within


def test_the_other_orientation_is_the_same_in_the_middle_of_the_seam():
    for name in ("rx90b_corner_follow", "rx90b_corner_fixed"):
        job = at.Job.load(name)
        other = changes.other_orientation(job)
        middle = np.array([job.seam.length / 2])
        assert np.abs(job.seam.at(middle)[1].R - other.seam.at(middle)[1].R).max() < 1e-12
        assert {job.description.orientation.mode, other.description.orientation.mode} == {
            "follow",
            "fixed",
        }


def test_where_the_error_is_not_monotonic_the_speeds_tried_are_told(monkeypatch):
    """An error that holds below 25 mm/s and between 70 and 90 mm/s, nowhere else."""

    def outcomes(like, jobs):
        speeds = [job.description.speed for job in jobs]
        holds = [v < 0.025 or 0.07 < v < 0.09 for v in speeds]
        return [trials._Outcome(0.9 if held else 1.5, None) for held in holds]

    monkeypatch.setattr(trials, "_outcomes", outcomes)
    found = advice._speeds(trials.Trials(None, 100, None), line_that_holds())
    assert not found.monotonic
    assert found.options[0].job.description.speed == pytest.approx(0.09, rel=0.03)
    assert any(not held for v, held in found.tried if v < 0.07)


def test_the_ranking_of_assumed_numbers_is_what_a_run_with_each_gives(short):
    p, found = short
    first = found.sensitivities[0]
    assert first.key == "servo.cascade.rule.bandwidth"  # it moves all gains together
    value = p.robot.description.servo["cascade"].rule.bandwidth
    changed = replace(p.job.description, override={first.key: [1.1 * x for x in value]})
    again = at.predict(None, at.Job(changed))
    assert again.verdict.worst_ratio / p.verdict.worst_ratio - 1 == pytest.approx(
        first.effect, rel=1e-6
    )


def test_advice_is_for_the_robot_that_was_predicted(fast):
    """A robot with twice the friction needs other advice than the job's own."""
    job, own = fast[0].job, fast[1].best
    robot = job.robot()
    phi = robot.parameters * np.where(
        [p.group == "friction" for p in robot.parameter_table], 2.0, 1.0
    )
    p = at.predict(robot.with_parameters(phi), job)
    assert at.predict(p.given, at.advise(p, budget=90).best.job).verdict.within
    assert own.holds
    assert not at.predict(p.given, own.job).verdict.within


def test_what_was_not_tried_is_not_said_to_fail(short):
    p, _ = short
    found = at.advise(p, budget=1)
    assert len(found.tried) <= 1
    with pytest.raises(at.ArmtwinError, match="budget must be at least 1"):
        at.advise(p, budget=0)
