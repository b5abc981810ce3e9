"""armtwin analyse, frequency, sensitivity, import --as dh: pages, files, errors of a sentence."""

import json
import re

import numpy as np
import pytest

import armtwin as at
from tests.app.test_job_commands import call


@pytest.mark.parametrize("what", ["torques", "coupling", "inertia"])
def test_an_analysis_of_the_home_posture_fits_80_columns_and_writes_its_result(what, tmp_path):
    done = call(tmp_path, "analyse", "epaas", what)
    assert done.code == 0, done.err
    assert max(map(len, done.out.splitlines())) <= 80
    folder = tmp_path / "armtwin_out" / f"epaas_{what}_analysed"
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "result.json"]


def test_torques_along_a_job_put_friction_before_inertia(tmp_path):
    """The straight seam of the RX90B at 100 mm/s with its laser head.

    On each joint friction takes more torque than inertia and its coupling, though both are added
    without their signs: 1.1 times as much on joint 3, 22 times on joint 6.
    """
    done = call(tmp_path, "analyse", "rx90b", "torques", "--along", "rx90b_line", "--json")
    assert done.code == 0, done.err
    ratios = {}
    for joint in json.loads(done.out)["joints"]["causes"]:
        inertia = joint["inertial"] + joint["coupling"]
        ratios[joint["axis"]] = joint["friction"] / inertia
    assert min(ratios.values()) > 1
    assert ratios["joint_1"] > 4


def test_along_a_job_the_robot_carries_what_the_job_mounts(tmp_path):
    """The laser head of 4 kg is most of what joint 5 holds."""
    totals = {}
    for tool in (None, ""):
        words = ["analyse", "rx90b", "torques", "--along", "rx90b_line", "--json"]
        done = call(tmp_path, *words, *(["--tool", tool] if tool is not None else []))
        assert done.code == 0, done.err
        causes = json.loads(done.out)["joints"]["causes"]
        totals[tool] = {joint["axis"]: joint["gravity"] for joint in causes}
    assert totals[None]["joint_5"] > 5 * totals[""]["joint_5"]


def test_a_posture_is_given_by_angles_by_strokes_or_by_wrist_coordinates(tmp_path):
    """All three are the home of the EPAAS."""
    home = at.Robot.load("epaas").description.wrist.home
    angles = ", ".join(f"{np.degrees(x):.12g}" for x in home) + " deg"
    totals = []
    for pose in (angles, "L3 = 258.0009 mm", "psi = 0 deg"):
        done = call(tmp_path, "analyse", "epaas", "torques", "--at", pose, "--json")
        assert done.code == 0, done.err
        causes = json.loads(done.out)["joints"]["causes"]
        totals.append([joint["total"] for joint in causes])
    assert totals[1] == pytest.approx(totals[0], abs=1e-3)
    assert totals[2] == pytest.approx(totals[0], abs=1e-9)


@pytest.mark.parametrize("robot", ["rx90b", "kr300"])
def test_modes_without_a_posture_are_those_in_the_middle_of_the_ranges(robot, tmp_path):
    done = call(tmp_path, "analyse", robot, "modes", "--out", "out")
    assert done.code == 0
    loaded = at.Robot.load(robot)
    middle = loaded.position_limits.mean(axis=0)
    [line] = [line for line in done.out.splitlines() if "the middle of the joints' ranges" in line]
    angles = [float(word) for word in re.findall(r"(-?[0-9.]+)°", line)]
    assert np.allclose(angles, np.degrees(middle), atol=0.05)
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    expected = at.analyse(loaded, "modes", middle).motors["locked"][0].frequency
    assert result["modes"]["locked"][0]["frequency_hz"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["analyse", "epaas", "torques", "--at", "1, 2 deg"], "--at must have 5 numbers, got 2"),
        (
            ["analyse", "epaas", "torques", "--at", "L9 = 1 m"],
            "--at: 'L9' is not known. Known: L1",
        ),
        (["analyse", "epaas", "torques", "--at", "L1 = 1 m"], "L1 length must be between"),
        (
            ["analyse", "epaas", "torques", "--at", "r = 2 m"],
            "r must be from 0.12 to 0.35 m, got 2",
        ),
        (
            ["analyse", "tx40", "modes"],
            "gives no transmission.stiffness; identify it (armtwin transmission, armtwin clamp)",
        ),
        (["analyse", "epaas", "inertia", "--load", "brick"], "Payloads of 'epaas': load_2_5"),
        (
            ["analyse", "epaas", "coupling", "--faster", "5"],
            "change torques and loads, not coupling",
        ),
        (["sensitivity", "rx90b_line", "motor.m9.x"], "key 'motor.m9' is not known"),
        (["sensitivity", "rx90b_line", "gravity", "--by", "2 kg"], "--by must be in 1"),
        (["frequency", "none.csv"], "none.csv"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_sentence_and_exit_2(words, sentence, tmp_path):
    done = call(tmp_path, *words)
    assert done.code == 2
    assert sentence in done.err
    assert list(tmp_path.iterdir()) == []


def test_the_frequency_response_of_a_log_is_written(tmp_path):
    rng = np.random.default_rng(3)
    wanted = rng.normal(size=(4000, 2))
    followed = np.roll(wanted, 5, axis=0)
    at.Log.of(np.arange(4000) / 1000, q=followed, q_ref=wanted).write(tmp_path / "noise.csv")
    done = call(tmp_path, "frequency", "noise.csv", "--window", "0.25 s", "--json")
    assert done.code == 0, done.err
    joints = json.loads(done.out)["joints"]
    assert [joint["delay_s"] for joint in joints] == pytest.approx([5e-3, 5e-3], abs=2e-4)


def test_a_table_is_imported_as_a_robot(tmp_path):
    (tmp_path / "two.csv").write_text("a, alpha, theta\n0.4, 0, 0\n0.3, 90 deg, 0\n")
    done = call(tmp_path, "import", "two.csv", "--as", "dh")
    assert done.code == 0, done.err
    robot = at.Robot.load(tmp_path / "two.toml")
    assert robot.forward_kinematics([0.0, 0.0])[:3, 3] == pytest.approx([0.7, 0, 0])
