"""The commands of experiments on transmissions, as a user calls them."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import armtwin as at
from armtwin.app.commands import app
from tests.identification.clamped import K, curve

FEATURES = """
format = 1
duration = "1 s"
rate = "500 Hz"
features = ["first_peak"]
[setup]
kind = "bench"
bench = { rotor_inertia = 0.01, stiffness = 100.0, joint = "clamped", damping = 0.3 }
[[setpoint]]
on = "torque"
kind = "steps"
times = [0.0, 0.1]
values = [0.0, "2 N m"]
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(*words):
    """Exit code and what stdout holds as JSON."""
    done = CliRunner().invoke(app, [*words, "--json"])
    return done.exit_code, json.loads(done.stdout)


def test_clamp_tells_motor_and_joint_side(here):
    curve(cycles=4, rate=50, noise=0.02).write("run.csv")
    code, result = told("clamp", "run.csv", "--gear-ratio", "250")
    assert code == 0
    motor = result["motor_side"]["least_squares"]
    joint = result["joint_side"]["least_squares"]
    assert motor["stiffness_nm_rad"] == pytest.approx(K, rel=0.01)
    assert joint["stiffness_nm_rad"] == pytest.approx(250**2 * motor["stiffness_nm_rad"])
    assert joint["backlash_rad"] == pytest.approx(motor["backlash_rad"] / 250)
    assert motor["refused"] is None
    assert motor["std"]["friction_nm"] > 0
    assert result["recreated"]["between_rms_rad"] < 0.01 * result["turn_rad"]
    assert sorted(result["files"]) == ["report.html", "result.json"]


def test_degrees_and_joint_torques_are_read_by_a_columns_file_and_the_gear_ratio(here):
    """As a KUKA logs them: motor angle in degrees, torque scaled to the arm."""
    log = curve(cycles=3, rate=30)
    table = np.column_stack([log.time, np.degrees(log.q_m[:, 0]), 250 * log.tau_m[:, 0]])
    np.savetxt("kuka.csv", table, delimiter=",", header="time,q_m1,tau1", comments="")
    (here / "kuka.columns.toml").write_text('format = 1\n[unit]\nq_m = "deg"\n')
    code, result = told("clamp", "kuka.csv", "--gear-ratio", "250")
    assert code == 0
    stiffness = result["motor_side"]["least_squares"]["stiffness_nm_rad"]
    assert stiffness == pytest.approx(K, rel=0.01)


def test_clamp_headlines_numbers_or_ends_with_1_and_lists_all_methods(here):
    """Motor angles in degrees: no gear winds up by 40 rad."""
    log = curve(cycles=3, rate=30)
    log.write("right.csv")
    at.Log.of(log.time, q_m=np.degrees(log.q_m), tau_m=log.tau_m).write("degrees.csv")
    code, result = told("clamp", "right.csv")
    assert (code, result["doubts"]) == (0, [])
    assert result["headline"]["stiffness_nm_rad"] == pytest.approx(K, rel=0.01)
    code, result = told("clamp", "degrees.csv")
    assert (code, result["headline"]) == (1, None)
    assert "Is q_m in degrees" in result["doubts"][0]
    assert result["motor_side"]["algorithm_2"]["stiffness_nm_rad"] > 0


def test_clamp_refuses_swapped_channels_and_an_inverted_gear_ratio(here):
    log = curve(cycles=3, rate=30)
    log.write("run.csv")
    at.Log.of(log.time, q_m=log.tau_m, tau_m=log.q_m).write("swapped.csv")
    assert "Are q_m and tau_m swapped" in refused("clamp", "swapped.csv")
    assert "--gear-ratio 250" in refused("clamp", "run.csv", "--gear-ratio", "0.004")


def test_simulate_writes_log_report_and_features(here):
    (here / "step.toml").write_text(FEATURES)
    code, result = told("simulate", "step.toml")
    assert code == 0
    assert sorted(result["files"]) == ["log.csv", "report.html", "result.json"]
    values = {feature["name"]: feature["value"] for feature in result["features"]}
    assert values["first_peak"] == pytest.approx(0.0324, rel=0.01)
    log = at.Log.read(here / "armtwin_out" / "step_simulated" / "log.csv")
    assert log.q_m[-1, 0] == pytest.approx(0.02, rel=1e-3)


def test_transmission_writes_the_robot_that_it_found(here, shared_data):
    data = shared_data / "kuka_kr300"
    code, result = told("transmission", "kr300", str(data / "ident_A.csv.gz"))
    assert code == 0
    assert [joint["told"] for joint in result["joints"]] == [False, True, True]
    robot = at.Robot.load(here / "armtwin_out" / "kr300_transmission" / "robot.toml")
    found = result["joints"][1]["stiffness_nm_rad"]
    assert robot.description.transmission[1].stiffness == pytest.approx(found)


def refused(*words):
    with pytest.raises(at.ArmtwinError) as error:
        CliRunner().invoke(app, list(words), catch_exceptions=False, standalone_mode=False)
    return str(error.value)


def test_bad_input_is_one_sentence_and_nothing_is_written(here):
    curve(cycles=3, rate=20).write("run.csv")
    assert "--gear-ratio" in refused("clamp", "run.csv", "--gear-ratio", "many")
    assert "gear ratio must be a number other than 0" in refused(
        "clamp", "run.csv", "--gear-ratio", "0"
    )
    assert "is a log, where an experiment" in refused("simulate", "run.csv")
    (here / "bad.toml").write_text(FEATURES.replace('"steps"', '"stairs"'))
    assert "stairs" in refused("simulate", "bad.toml")
    assert "no channel 'q_link'" in refused("transmission", "kr300", "run.csv")
    assert not (here / "armtwin_out").exists()
