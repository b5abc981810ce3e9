"""armtwin actuator, experiments and simulate of hydraulic robots, as a user calls them."""

import json

import pytest

import armtwin as at
from tests.app.test_job_commands import call

TABLE = "mass, frequency, damping\n2.7, 79.9, 0.238\n4.1 kg, 70, 0.198\n5.1, 63 Hz, 0.187\n"
NOISE = """
format = 1
duration = "1.5 s"
rate = "2500 Hz"
[setup]
kind = "hydraulic"
robot = "epaas_bench"
override = {{ "payload.weight_5_1.body.mass" = "{mass} kg" }}
[[setpoint]]
on = "cylinder"
kind = "noise"
rms = "2.5 mV"
highest = "500 Hz"
"""


def test_resonances_are_fitted_both_ways(tmp_path):
    (tmp_path / "weights.csv").write_text(TABLE)
    done = call(tmp_path, "actuator", "resonances", "weights.csv")
    assert done.code == 0, done.err
    assert max(map(len, done.out.splitlines())) <= 80
    result = json.loads((tmp_path / "armtwin_out/weights_resonances/result.json").read_text())
    compliance = result["oil"][0]
    assert compliance["document"] < compliance["value"]  # it drops 1 + B c_h
    assert compliance["half_width"] > 0


def test_the_ring_closes_through_files(tmp_path):
    """simulate -> log.csv -> actuator noise -> robot.toml: numbers of the simulated set-up."""
    for mass in (2.7, 9.0):
        (tmp_path / f"m{mass:g}.toml").write_text(NOISE.format(mass=mass))
        done = call(tmp_path, "simulate", f"m{mass:g}.toml", "--out", f"m{mass:g}")
        assert done.code == 0, done.err
    logs = ("m2.7/log.csv", "m9/log.csv")
    words = ("actuator", "noise", "epaas_bench", *logs, "--weights", "2.7, 9 kg")
    done = call(tmp_path, *words, "--out", "found.toml")
    assert done.code == 0, done.err
    assert max(map(len, done.out.splitlines())) <= 80
    truth = at.Robot.load("epaas_bench").description.hydraulic[0].circuit
    found = at.Robot.load(tmp_path / "found.toml").description.hydraulic[0].circuit
    assert found.compliance == pytest.approx(truth.compliance, rel=0.01)
    assert found.valve.delay == pytest.approx(truth.valve.delay, rel=0.01)
    assert found.valve.frequency == pytest.approx(truth.valve.frequency, rel=0.01)


def test_a_step_of_the_robot_writes_features_the_others_and_its_cylinders(tmp_path):
    done = call(tmp_path, "simulate", "epaas_l4")
    assert done.code == 0, done.err
    assert max(map(len, done.out.splitlines())) <= 80
    folder = tmp_path / "armtwin_out" / "epaas_l4_simulated"
    result = json.loads((folder / "result.json").read_text())
    values = {feature["name"]: feature["value"] for feature in result["features"]}
    assert 1e3 * values["first_peak_time"] == pytest.approx(21, abs=1)
    assert {row["name"] for row in result["others"]} == {"L1", "L2", "L3", "vane"}
    assert max(row["largest"] for row in result["others"]) < 0.1 * 0.22
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Cylinders beside the arm" in page


def test_sensitivity_of_an_experiment_names_what_matters_most(tmp_path):
    words = ("sensitivity", "epaas_extend_heavy", "servo.proportional.gain", "hydraulic.*.leakage")
    done = call(tmp_path, *words, "--by", "10 %", "--json")
    assert done.code == 0, done.err
    effects = json.loads(done.out)["effects"]
    overshoot = [row for row in effects if row["feature"] == "overshoot"]
    slopes = {row["key"]: 100 * row["per_percent"] for row in overshoot}
    assert slopes["servo.proportional.gain"] == pytest.approx(1.35, abs=0.05)
    assert abs(slopes["hydraulic.*.leakage"]) < 0.05


def test_chosen_features_are_told_alone_and_each_question_has_its_folder(tmp_path):
    words = ("sensitivity", "epaas_extend_heavy")
    one = call(tmp_path, *words, "servo.proportional.gain", "--feature", "overshoot", "--json")
    two = call(tmp_path, *words, "hydraulic.*.leakage", "--feature", "first_peak_time", "--json")
    assert (one.code, two.code) == (0, 0), one.err + two.err
    assert {row["feature"] for row in json.loads(one.out)["effects"]} == {"overshoot"}
    assert {row["feature"] for row in json.loads(two.out)["effects"]} == {"first peak time"}
    assert len(list((tmp_path / "armtwin_out").iterdir())) == 2


def test_experiments_are_listed_and_shown(tmp_path):
    shelf = call(tmp_path, "experiments").out
    for name in ("epaas_l1", "epaas_extend_light", "epaas_lift", "kr300_clamping"):
        assert name in shelf
    shown = call(tmp_path, "experiments", "epaas_lift").out
    assert "305 mm, 310 mm" in shown
    assert call(tmp_path, "check", "epaas_lift").out == shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["simulate", "epaas_l9"], "experiment 'epaas_l9' is neither shipped nor a .toml file"),
        (["actuator", "resonances", "none.csv"], "none.csv"),
        (["actuator", "resonances", "one.csv"], "at least 2 weights are needed, got 1"),
        (["actuator", "resonances", "minus.csv"], "damping"),
        (["actuator", "resonances", "words.csv"], "heavy"),
        (["actuator", "resonances", "short.csv"], "line 2: must have 3 values, got 2"),
        (
            ["actuator", "noise", "epaas_bench", "a.csv", "b.csv", "--weights", "2.7 kg"],
            "--weights must have a weight for each of 2 logs",
        ),
        (["actuator", "flow", "epaas", "log.csv"], "must be a test set-up, one cylinder"),
        (["sensitivity", "epaas_noise", "servo"], "features must name what is read off"),
        (["sensitivity", "epaas_l1", "hydraulic.L9.leakage"], "'hydraulic.L9' is not known"),
        (["sensitivity", "epaas_l1", "servo", "--by", "200 %"], "--by must be less than 100 %"),
        (
            ["sensitivity", "epaas_l1", "servo", "--feature", "height"],
            "feature 'height' is not known. Known: first peak time, first peak",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_sentence_and_exit_2(words, sentence, tmp_path):
    head = "mass, frequency, damping\n"
    (tmp_path / "one.csv").write_text(head + "2.7, 79.9, 0.238\n")
    (tmp_path / "minus.csv").write_text(head + "2.7, 79.9, -0.2\n5.1, 63, 0.2\n")
    (tmp_path / "words.csv").write_text(head + "heavy, 79.9, 0.2\n5.1, 63, 0.2\n")
    (tmp_path / "short.csv").write_text(head + "2.7, 79.9\n")
    log = at.Log.of([0.0, 0.1, 0.2], q=[[0.0], [0.1], [0.2]], q_ref=[[0.0], [0.1], [0.2]])
    log.write(tmp_path / "log.csv")
    before = sorted(tmp_path.iterdir())
    done = call(tmp_path, *words)
    assert done.code == 2
    assert sentence in done.err
    assert sorted(tmp_path.iterdir()) == before
