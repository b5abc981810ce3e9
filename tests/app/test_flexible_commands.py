"""correct, and analyse of an elastic robot: files, JSON, refusals in a sentence."""

import json

import numpy as np
import pytest

import armtwin as at
from armtwin.jobs.forces import acting
from armtwin.jobs.from_points import read_points
from armtwin.prediction.predict import plan_motion
from tests.app.test_job_commands import call, tree


def test_correct_writes_set_points_and_points_that_can_be_read_again(tmp_path):
    corner = at.Job.load("rx90b_corner_fixed").to_toml()
    (tmp_path / "corner.toml").write_text(f"{corner}\n[uncertainty]\ndraws = 8\n")
    words = ("correct", "corner.toml", "--rounds", "1", "--spacing", "25 mm", "--json")
    done = call(tmp_path, *words)
    assert done.err == ""
    result = json.loads(done.out)
    folder = tmp_path / "armtwin_out" / "rx90b_corner_fixed_corrected"
    assert tree(folder) == ["points.csv", "report.html", "result.json", "setpoints.csv"]
    before, best, points = result["commands"]
    assert best["rms_m"] < 0.5 * before["rms_m"]
    assert before["probability"] < best["probability"] < 0.95
    # points each 25 mm cut a corner of 50 mm: what they spoil decides
    assert points["probability"] < before["probability"]
    assert (result["outcome"], result["holds"], done.code) == ("may hold", False, 1)
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "Do not use the corrected program points" in report
    setpoints = at.Log.read(folder / "setpoints.csv")
    assert setpoints.q.shape[1] == 6
    assert np.abs(np.gradient(setpoints.q, setpoints.time, axis=0) - setpoints.v).max() < 1e-3
    assert len(read_points(folder / "points.csv", "abc").p) == 23


def test_correct_on_the_nominal_twin_alone_ends_by_its_tolerance(tmp_path):
    done = call(tmp_path, "correct", "rx90b_line", "--rounds", "2", "--nominal", "--json")
    result = json.loads(done.out)
    assert (result["outcome"], result["holds"], done.code) == (None, True, 0)
    assert result["commands"][1]["probability"] is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("correct", "rx90b_line", "--spacing", "fine"), "--spacing must be"),
        (("correct", "rx90b_line", "--spacing", "5"), "--spacing"),
        (("correct", "nothing"), "job 'nothing' is neither shipped nor a .toml file"),
        (
            ("analyse", "rx90b", "modes", "--push", "0,0,1 N", "--at", "0,0,0,0,0,0"),
            "--push is what",
        ),
        (("analyse", "tx40", "sag", "--at", "0,0,0,0,0,0"), "has nothing elastic"),
        (
            ("analyse", "kr300", "sag", "--at", "0,0,0,0,0,0", "--push", "1 N"),
            "must have 3 numbers",
        ),
    ],
)
def test_what_cannot_be_done_is_told_and_nothing_is_written(tmp_path, words, sentence):
    done = call(tmp_path, *words)
    assert done.code == 2
    assert sentence in done.err.replace("\n", " ")
    assert tree(tmp_path) == []


def test_analyse_tells_modes_sag_and_compliance_as_json(tmp_path):
    at_zero = ("--at", "0, 0, 0, 0, 0, 0", "--json")
    modes = json.loads(call(tmp_path, "analyse", "kr300", "modes", *at_zero).out)
    robot = at.Robot.load("kr300")
    (lowest, *_) = at.analyse(robot, "modes", np.zeros(6)).motors["locked"]
    assert modes["modes"]["locked"][0]["frequency_hz"] == pytest.approx(lowest.frequency, rel=1e-6)
    assert modes["modes"]["servo"][0]["damping"] > 0.01
    sag = json.loads(
        call(tmp_path, "analyse", "kr300", "sag", *at_zero, "--push", "0,0,-500 N").out
    )
    assert len(sag["springs"]) == 6
    assert sag["tool"][1]["z_m"] < -1e-4
    soft = json.loads(call(tmp_path, "analyse", "kr300", "compliance", *at_zero).out)
    assert soft["compliance"][2]["z"] == pytest.approx(-sag["tool"][1]["z_m"] / 500, rel=0.05)


def test_sag_along_a_job_carries_its_tool_and_its_forces(tmp_path):
    """The frame of the KR300: the spindle's weight, and the milling force where the cutter is."""
    words = ("analyse", "kr300", "sag", "--along", "kr300_frame", "--json")
    gravity, force = json.loads(call(tmp_path, *words).out)["tool"]
    job = at.Job.load("kr300_frame")
    robot = job.robot()
    motion = plan_motion(robot, job).trajectory
    for record, push in ((gravity, None), (force, acting(job, robot, motion.time).wrench)):
        k = int(np.argmin(np.abs(motion.time - record["time_s"])))
        found = at.analyse(robot, "sag", motion.q[k], force=None if push is None else push[k])
        expected = (found.weight if push is None else found.pushed)[0]
        got = [record[f"{axis}_m"] for axis in ("x", "y", "z")]
        assert got == pytest.approx(expected[:3], rel=1e-6)
    assert force["cause"] == "the job's forces"
    (folder,) = (tmp_path / "armtwin_out").iterdir()
    assert folder.name == "kr300_sag_along_kr300_frame_analysed"


def test_another_posture_is_another_result(tmp_path):
    for pose in ("0, 0, 0, 0, 0, 0", "0, 90, -90, 0, 0, 0 deg"):
        assert call(tmp_path, "analyse", "kr300", "compliance", "--at", pose).code == 0
    assert len(list((tmp_path / "armtwin_out").iterdir())) == 2
