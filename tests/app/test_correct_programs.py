"""correct on the command line: a program is written again, and logged runs are learned from."""

import json
import shutil
from pathlib import Path

import pytest

import armtwin as at
from armtwin.programs.table import read_program, read_side_file
from tests.app.test_job_commands import call

PROGRAMS = Path(__file__).parents[2] / "docs" / "programs"
ROBOT = ("--robot", "rx90b", "--tool", "laser_head", "--tolerance", "0.4 mm")


def test_a_program_is_corrected_into_a_program_whose_other_lines_stay(tmp_path):
    """What the report says of it is what the file itself predicts."""
    for path in PROGRAMS.glob("*s.*"):
        shutil.copy(path, tmp_path)
    words = (*ROBOT, "--frames", "frames.toml", "--nominal", "--rounds", "2", "--out", "out")
    done = call(tmp_path, "correct", "two_seams.ls", *words)
    said = " ".join(done.out.split())
    assert "The written program, read again and run on the twin" in said
    old = (tmp_path / "two_seams.ls").read_text().splitlines()
    new = (tmp_path / "out" / "two_seams_corrected.ls").read_text().splitlines()
    kept = [x for x in old if x in new]
    assert len(old) - len(kept) <= 6  # statements of the two seams
    rest = iter(new)
    assert all(line in rest for line in kept)  # in their order
    found = read_program(
        tmp_path / "out" / "two_seams_corrected.ls", read_side_file(PROGRAMS / "frames.toml")
    )
    assert not [x for x in found.remarks if x.is_gap]
    records = json.loads((tmp_path / "out" / "result.json").read_text())["commands"]
    (record,) = [x for x in records if x["command"] == "written program"]
    plain = records[0]
    assert record["lateral_peak_m"] < plain["lateral_peak_m"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two logged runs of a machine with a third more friction: as programmed, and as learned."""
    folder = tmp_path_factory.mktemp("runs")
    p = at.predict("rx90b_line")
    grows = [1.3 if name.endswith("asperity") else 1.0 for name in p.robot.parameter_names]
    machine = p.robot.with_parameters(p.robot.parameters * grows)
    from armtwin.prediction.predict import run_command

    run_command(p, machine, p.motion.trajectory).log.write(folder / "run1.csv")
    learned = at.learn_from_runs(p.job, at.Log.read(folder / "run1.csv"), rounds=3)
    run_command(p, machine, learned.best.motion).log.write(folder / "run2.csv")
    return folder


def test_logged_runs_take_the_place_of_the_predicted_error(runs):
    """One run, then two in a row: the second is nearer, and is what the third goes on from."""
    peaks = []
    for logs in (("run1.csv",), ("run1.csv", "run2.csv")):
        measured = [word for log in logs for word in ("--measured", log)]
        words = ("--rounds", "2", "--force", "--out", f"out{len(logs)}")
        done = call(runs, "correct", "rx90b_line", *measured, *words)
        said = " ".join(done.out.split())
        assert "Largest error of the logged runs: " in said
        assert "The next run should show " in said
        listed = said.split("logged runs: ")[1].split(" µm")[0]
        peaks.append([float(x) for x in listed.split(", ")])
        assert (runs / f"out{len(logs)}" / "setpoints.csv").is_file()
    assert peaks[1][0] == peaks[0][0]
    assert peaks[1][1] < 0.5 * peaks[1][0]


def test_a_log_without_commanded_positions_cannot_be_learned_from(runs):
    log = at.Log.read(runs / "run1.csv")
    at.Log.of(log.time, q=log.q).write(runs / "plain.csv")
    done = call(runs, "correct", "rx90b_line", "--measured", "plain.csv", "--out", "none")
    assert done.code == 2
    assert "must have q_ref and q" in " ".join(done.err.split())
