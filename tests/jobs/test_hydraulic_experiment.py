"""Experiments on hydraulic robots: equal to step responses, set-points of every kind, refusals."""

import numpy as np
import pytest

import armtwin as at
from armtwin.jobs.experiment import list_shipped
from armtwin.robot.kinematics.wrist import wrist_coordinates

HYDRAULIC = """
format = 1
duration = "{duration}"
features = ["first_peak", "period", "overshoot", "settling", "final"]
[setup]
kind = "hydraulic"
robot = "{robot}"
{setup}
[[setpoint]]
{setpoint}
"""
STEP = 'on = "{on}"\nkind = "steps"\ntimes = ["0 ms", "1 ms"]\nvalues = [{values}]'


def experiment(folder, on, values, **other):
    """An experiment of one step, as it is read from its file."""
    setpoint = other.pop("setpoint", STEP.format(on=on, values=values))
    given = {"duration": "60 ms", "robot": "epaas_bench", "setup": "", "setpoint": setpoint}
    path = folder / "step.toml"
    path.write_text(HYDRAULIC.format(**(given | other)))
    return at.Experiment.load(path)


def features(run):
    return {feature.name: feature.value for feature in run.table}


def test_a_shipped_step_has_the_features_of_the_step_response():
    """The step comes a millisecond later: 1000 of 20 µs ticks, so that not a number differs."""
    run = at.run_experiment(at.Experiment.load("epaas_extend_heavy"))
    found = features(run)
    robot = at.Robot.load("epaas_bench")
    expected = at.step_response(robot, {"cylinder": -0.23}, seconds=0.119).features("cylinder")
    # the response counts from the tick before the jump
    assert found["first_peak_time"] == pytest.approx(expected.first_peak - 2e-5, abs=1e-9)
    assert found["period"] == pytest.approx(expected.period, abs=1e-9)
    assert found["overshoot"] == pytest.approx(expected.overshoot, abs=2e-6)
    assert found["final"] == pytest.approx(expected.final, abs=1e-6)
    assert found["first_peak"] == pytest.approx(-0.23 * expected.peak, abs=1e-9)


def test_lengths_are_volts_over_the_sensors_gain(tmp_path):
    """-0.23 V of a sensor of -186 V/m are 1.2366 mm upwards."""
    volts = at.run_experiment(experiment(tmp_path, "cylinder", '"0 V", "-0.23 V"'))
    length = f'"0 mm", "{230 / 186:.12g} mm"'
    strokes = at.run_experiment(
        experiment(tmp_path, "cylinder", length, setup='coordinates = "strokes"')
    )
    assert np.abs(strokes.log.q - volts.log.q).max() < 1e-12
    assert features(strokes)["first_peak"] == pytest.approx(features(volts)["first_peak"] / -186)


def test_wrist_coordinates_start_where_the_file_says_and_end_at_the_set_point():
    """5 mm up at r = 250 mm, φ = 20°: what is not driven stays, in equilibrium from the start."""
    run = at.run_experiment(at.Experiment.load("epaas_lift"))
    robot = run.answer.robot
    first, last = wrist_coordinates(robot, run.log.q[[0, -1]])
    assert first == pytest.approx([0.25, 0.305, np.radians(20), first[3], 0.0], abs=1e-12)
    before = run.log.time < 1e-3
    assert np.abs(run.log.q[before] - run.log.q[0]).max() < 1e-6
    assert last[1] == pytest.approx(0.310, abs=2e-4)
    assert last[[0, 2, 3]] == pytest.approx(first[[0, 2, 3]], abs=1e-4)


def test_a_table_of_volts_drives_the_robot_as_its_ramps_do(tmp_path):
    ramps = 'on = "cylinder"\nkind = "ramps"\ntimes = [0, 0.01, 0.03]\nvalues = [0, 0.2, "-0.1 V"]'
    (tmp_path / "drive.csv").write_text("time, volts\n0, 0\n10 ms, 0.2\n0.03, -100 mV\n")
    table = 'on = "cylinder"\nkind = "file"\nfile = "drive.csv"\ncolumn = "volts"'
    logs = []
    for setpoint in (ramps, table):
        run = at.run_experiment(experiment(tmp_path, "", "", setpoint=setpoint))
        logs.append(run.log.q)
    assert np.abs(logs[0] - logs[1]).max() < 1e-12
    assert np.ptp(logs[0]) > 1e-4


def test_valves_as_delays_are_of_order_15_and_close_to_the_spools():
    """Document 003, section 8.3; 0.3 ms of the first peak."""
    peaks = []
    for name in ("epaas_l4", "epaas_l4_reduced"):
        run = at.run_experiment(at.Experiment.load(name))
        peaks.append(features(run)["first_peak_time"])
        assert run.answer.model.valves == ("delay" if name.endswith("reduced") else "spool")
    assert 1e-6 < abs(peaks[0] - peaks[1]) < 3e-4


def test_an_experiments_sensitivity_is_that_of_its_step():
    """Tables 8.1: gain and compliance, by the experiment's features."""
    run = at.Experiment.load("epaas_extend_heavy")
    keys = ["servo.proportional.gain", "hydraulic.*.compliance"]
    found = at.sensitivity(run, keys, by=0.1, features=["overshoot"]).table
    assert [row["key"] for row in found] == keys
    assert 100 * found[0]["per_percent"] == pytest.approx(1.34, abs=0.02)
    assert 100 * found[1]["per_percent"] == pytest.approx(0.41, abs=0.03)


@pytest.mark.parametrize("name", [name for name in list_shipped() if name.startswith("epaas")])
def test_shipped_hydraulic_experiments_say_what_they_are(name):
    d = at.Experiment.load(name).description
    assert d.setup.kind == "hydraulic"
    assert d.title.startswith("EPAAS")


VOLTS = '"0 V", "-0.2 V"'


@pytest.mark.parametrize(
    ("on", "values", "other", "sentence"),
    [
        ("cylinder", '"0 V", "12 V"', {}, "set-points of cylinder must be within ±10 V, got 12 V"),
        ("cylinder", '"0 V", "12 mm"', {}, "12 mm"),
        (
            "L3",
            '"258 mm", "20 mm"',
            {"robot": "epaas", "setup": 'coordinates = "strokes"'},
            "L3 length must be between",
        ),
        (
            "alpha",
            VOLTS,
            {"robot": "epaas", "setup": 'coordinates = "wrist"'},
            "setpoint.1.on: 'alpha' is not known. Known: gamma, phi, psi, r, z",
        ),
        (
            "r",
            '"250 mm", "500 mm"',
            {"robot": "epaas", "setup": 'coordinates = "wrist"'},
            "r must be from 0.12 to 0.35 m, got 0.5",
        ),
        (
            "cylinder",
            VOLTS,
            {"duration": "1.5 ms"},
            "the delay of its valve of cylinder, 0.001629 s, must be shorter than the run",
        ),
        ("cylinder", VOLTS, {"setup": 'model = { valves = "spol" }'}, "valves"),
        ("cylinder", VOLTS, {"setup": "start = { cylinder = 0.0 }"}, "setup.start.cylinder"),
        ("cylinder", VOLTS, {"setup": 'coordinates = "inches"'}, "coordinates"),
        ("motor_1", VOLTS, {"robot": "rx90b"}, "has no servo of kind 'proportional'"),
        (
            "cylinder",
            VOLTS,
            {"setup": 'override = { "hydraulic.cylinder.valve.flow" = [] }'},
            "must have valve.flow, or a design from which they follow",
        ),
        (
            "cylinder",
            VOLTS,
            {"setpoint": 'on = "cylinder"\nkind = "file"\nfile = "none.csv"\ncolumn = "volts"'},
            "none.csv",
        ),
    ],
)
def test_bad_input_is_told_in_a_sentence_that_names_the_file(on, values, other, sentence, tmp_path):
    with pytest.raises(at.ArmtwinError) as told:
        at.run_experiment(experiment(tmp_path, on, values, **other))
    assert sentence in str(told.value)
    assert "step.toml" in str(told.value) or "none.csv" in str(told.value)
