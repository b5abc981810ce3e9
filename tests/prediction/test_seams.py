"""Programs of several seams: each has its verdict, corners and stops have their cost."""

import json
from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.jobs.job import Job
from armtwin.prediction.seams import corner_costs, cycle_of, judge_seams, sweep_zone
from tests.app.test_job_commands import call
from tests.jobs.programs import TWO_SEAMS


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "two_seams.toml"
    path.write_text(TWO_SEAMS)
    return path


@pytest.fixture(scope="module")
def prediction(path):
    return at.predict(path)


def test_the_program_is_within_if_all_its_seams_are(prediction):
    seams = judge_seams(prediction)
    assert [x.lines for x in seams] == ["4-5", "9"]
    assert prediction.verdict.within == all(x.within for x in seams)
    tight = replace(prediction.job.description.tolerance, lateral=1e-6)
    narrow = at.predict(Job(replace(prediction.job.description, tolerance=tight)))
    assert not any(x.within for x in judge_seams(narrow))
    largest = max(x.lateral_peak_m for x in seams)
    assert largest == prediction.verdict.peaks["lateral"]


def test_a_seam_is_at_least_as_likely_to_hold_as_the_program(prediction):
    band = at.assess(prediction, draws=16)
    for seam in judge_seams(prediction, band):
        assert seam.probability >= band.probability - 1e-9


def test_time_that_is_not_lost_is_that_of_the_lengths(prediction):
    """Cycle time less losses and waits is the length over the speed where the tool is led."""
    job = prediction.job
    cycle = cycle_of(job)
    seam = job.seam
    (air,) = seam.joint_moves
    by_joints = np.diff(seam.profile.time_at(np.array([air.start + 1e-12, air.stop])))[0]
    led = (seam.length - (air.stop - air.start)) / 0.1
    left = cycle.time_s - cycle.wait_s - cycle.lost_at_stops_s - cycle.lost_at_corners_s
    assert abs(left - led - by_joints) < 1e-3
    assert cycle.wait_s == 0.1
    assert cycle.lost_at_stops_s > cycle.lost_at_corners_s > 0


def test_a_corner_says_its_speed_its_deviation_and_its_error(prediction):
    costs = {x.name: x for x in corner_costs(prediction)}
    zone = costs["a1"]
    assert zone.passed == "zone"
    assert 0 < zone.speed_m_s < 0.1
    # of two legs at a right angle, each 3/16 of the zone from the corner in the middle
    assert abs(zone.deviation_m - 5e-3 * 3 / 16 * np.sqrt(2)) < 1e-9
    assert np.isfinite(zone.error_m)
    assert costs["plunge"].passed == "stop"
    assert np.isnan(costs["retract"].error_m)


def test_a_larger_zone_is_faster_and_further_from_the_corner(prediction):
    found = sweep_zone(prediction.job, (2e-3, 1e-2))
    near, far = found.records
    assert far["time_s"] < near["time_s"]
    assert far["deviation_m"] > near["deviation_m"]


def test_a_seam_of_steady_speed_has_no_zones_to_sweep():
    with pytest.raises(at.ArmtwinError, match="has no zones"):
        sweep_zone(Job.load("rx90b_line"), (1e-3,))


def test_predict_shows_seams_cycle_time_and_corners(path, tmp_path):
    shown = call(tmp_path, "predict", path, "--nominal", "--full")
    assert shown.code in (0, 1)
    words = ("2 of 2 seams", "cycle time", "at stops", "a1 to a2", "4-5", "passed by", "off the")
    for word in (*words, "corner    after"):
        assert word in shown.out


def test_predict_sweeps_zones(path, tmp_path):
    """Time against error: each zone with its cycle time, deviation and error."""
    shown = call(tmp_path, "predict", path, "--sweep-zone", "2,10 mm", "--out", "zones")
    assert shown.code in (0, 1)
    assert "10.00" in shown.out
    rows = json.loads((tmp_path / "zones" / "result.json").read_text())["zones"]
    assert [x["zone_m"] for x in rows] == [2e-3, 1e-2]
    assert rows[1]["time_s"] < rows[0]["time_s"]
    assert rows[1]["deviation_m"] > rows[0]["deviation_m"]
    assert all(x["error_m"] > 0 for x in rows)
    tolerance = at.Job.load(path).description.tolerance.lateral
    assert all(x["worst_ratio"] >= x["error_m"] / tolerance for x in rows)


def test_a_log_becomes_a_job_on_the_command_line(prediction, tmp_path):
    prediction.log.write(tmp_path / "run.csv")
    words = ("--robot", "rx90b", "--tool", "laser_head", "--tolerance", "0.4 mm")
    made = call(tmp_path, "job", "--from-log", "run.csv", *words, "--out", "job.toml")
    assert made.code == 0
    again = at.predict(tmp_path / "job.toml")
    for direction, peak in prediction.verdict.peaks.items():
        assert abs(again.verdict.peaks[direction] - peak) < 5e-6
    words = (*words, "--seams", "2 to 1 s")
    assert call(tmp_path, "job", "--from-log", "run.csv", *words, "--out", "j.toml").code == 2
