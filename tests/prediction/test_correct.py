"""Set-points corrected on the twin, and what they do on a robot that is not the twin."""

from dataclasses import replace

import numpy as np
import pytest
from studies.flexible import varied

import armtwin as at
from armtwin.app.correct_command import points_text
from armtwin.jobs.from_points import read_points
from armtwin.prediction.correct import size_of


@pytest.fixture(scope="module")
def correction():
    return at.correct(at.Job.load("rx90b_line").with_speed(0.3), rounds=3)


def test_a_few_rounds_on_the_twin_leave_little_of_the_error(correction):
    assert correction.best.size.rms < 0.2 * correction.before.rms
    assert correction.points.size.rms < 0.3 * correction.before.rms
    sizes = [size.rms for size in correction.rounds]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("seed", [1, 2])
def test_on_a_robot_that_is_off_by_ten_percent_the_error_falls_by_more_than_40_percent(
    correction, seed
):
    """Masses, friction and stiffness each off at random; the study does ten of them."""
    other = varied(at.Robot.load("rx90b"), np.random.default_rng(seed))
    before, after = (size_of(correction.prediction.job, x) for x in correction.on(other))
    assert after.rms < 0.6 * before.rms


def test_the_milled_frame_is_corrected_for_sag_and_force_on_a_robot_that_is_off():
    """What statics know comes first: it takes most of the error away; two rounds take the rest."""
    found = at.correct(at.Job.load("kr300_frame"), rounds=2)
    assert found.prediction.job.description.model.joints == "elastic"
    assert found.deflected.rms < 0.1 * found.before.rms
    assert found.best.size.rms < 0.02 * found.before.rms
    other = varied(at.Robot.load("kr300"), np.random.default_rng(1))
    before, after = (size_of(found.prediction.job, x) for x in found.on(other))
    assert after.rms < 0.6 * before.rms


def test_the_program_can_be_read_as_points_of_a_seam(correction, tmp_path):
    """The points are the seam's, shifted by as much as the set-points are."""
    (tmp_path / "points.csv").write_text(points_text(correction))
    points = read_points(tmp_path / "points.csv", "abc")
    assert points.p == pytest.approx(correction.program, abs=1e-9)
    assert pytest.approx(correction.turns, abs=1e-9) == points.R
    straight = np.linspace([0.0, -0.4125, 0.0], [0.0, 0.5625, 0.0], len(points.p))
    away = np.linalg.norm(points.p - straight, axis=1)
    assert 1e-5 < away.max() <= 1.5 * np.abs(correction.best.shift).max()


def test_a_job_that_stops_cannot_be_learned_from():
    job = at.Job.load("rx90b_line")
    weak = {"motor.1.current_limit": 0.05}
    stopping = at.Job(replace(job.description, override=weak, limits="report"), job.origin)
    with pytest.raises(at.ArmtwinError):
        at.correct(stopping)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [({"rounds": -1}, "rounds must be a whole"), ({"spacing": 3.0}, "spacing must be from")],
)
def test_wrong_arguments_are_told(keys, sentence):
    with pytest.raises(at.ArmtwinError, match=sentence):
        at.correct(at.Job.load("rx90b_line"), **keys)
