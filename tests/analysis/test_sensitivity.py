"""Sensitivities: the nine tables 8.1 of document 003, and what must hold for any of them."""

from functools import partial

import numpy as np
import pytest

import armtwin as at
from armtwin.analysis.scaled_keys import check_path, find_differences, scale_numbers, scale_together
from armtwin.analysis.sensitivity import sensitivity_of
from armtwin.errors import ArmtwinError
from armtwin.files.writing import to_tables
from tests.jobs.examples import JOB

# Tables 8.1-1 to -9: key, change, overshoot [%] at -, 0, +; first peak [ms]; period [ms].
# Base: 5.1 kg extending by 0.23 V, one step for all. Printed values are read on a 0.5 ms grid.
TABLES_8_1 = [
    ("servo.proportional.gain", 0.10, (29, 42, 56), (15.0, 14.5, 14.5), (15.0, 16.0, 17.0)),
    ("servo.proportional.delay.sensor", 0.25, (40, 42, 44), (14.5, 14.5, 15.0), (16, 16, 16)),
    ("hydraulic.*.valve.delay", 0.25, (37, 42, 47), (14.0, 14.5, 15.5), (16, 16, 16)),
    ("hydraulic.*.valve.frequency", 0.25, (47, 42, 40), (15.0, 14.5, 14.5), (16.5, 16, 16)),
    ("hydraulic.*.valve.damping", 0.25, (40, 42, 44), (14.0, 14.5, 15.5), (16, 16, 16)),
    ("friction.*.viscous", 0.25, (46, 42, 39), (14.5, 14.5, 15.0), (16, 16, 15.5)),
    ("hydraulic.*.leakage", 0.25, (44, 42, 41), (14.5, 14.5, 15.0), (16, 16, 15.5)),
    ("hydraulic.*.compliance", 0.25, (31, 42, 48), (13.5, 14.5, 15.5), (13.5, 16, 18.5)),
    ("payload.weight_5_1.body.mass", 0.25, (29, 42, 50), (13.5, 14.5, 15.5), (13.5, 16, 18.5)),
]
# Overshoots at +25 % that do not reproduce to 2 points: 51.0 and 54.0 here.
WIDE = {"hydraulic.*.compliance": (2, 2, 5), "payload.weight_5_1.body.mass": (2, 2, 5)}
GRID = 0.5e-3  # of the document's simulations [s]


@pytest.fixture(scope="module")
def step_test():
    return at.StepTest(at.Robot.load("epaas_bench"), {"cylinder": -0.23}, seconds=0.2)


def measured(step_test, key, by):
    (effect,) = at.sensitivity(step_test, [key], by=by).effects
    base = step_test.measured({})
    return effect.less.features, base, effect.more.features


@pytest.mark.parametrize("table", TABLES_8_1, ids=lambda table: table[0])
def test_table_8_1_first_peak_period_and_overshoot(table, step_test):
    """The valve's damping row repeats the delay's times and the sensor's overshoots in print:
    0.7 ms and 2 points cover it; elsewhere the grid is worth 0.5 ms of a peak, 0.6 of a period.
    """
    key, by, overshoots, peaks, periods = table
    found = measured(step_test, key, by)
    widths = WIDE.get(key, (2, 2, 2))
    late = 0.7 if key == "hydraulic.*.valve.damping" else 0.5
    printed = zip(overshoots, widths, peaks, periods, strict=True)
    for features, (overshoot, width, peak, period) in zip(found, printed, strict=True):
        assert 100 * features["overshoot"] == pytest.approx(overshoot, abs=width)
        assert 1e3 * features["first peak time"] == pytest.approx(peak, abs=late)
        assert 1e3 * features["period"] == pytest.approx(period, abs=0.6)


def on_grid(response):
    """First peak and period [ms] as they are read off samples every 0.5 ms after the step."""
    time = GRID * np.arange(round(response.time[-1] / GRID))
    tick = response.time[1]  # after which the set-point jumps
    y = np.interp(time, response.time - tick, -response.reading[:, 0])
    tops = np.flatnonzero((y[1:-1] >= y[:-2]) & (y[1:-1] > y[2:]) & (y[1:-1] > 0.05)) + 1
    return 1e3 * time[tops[0]], 1e3 * (time[tops[1]] - time[tops[0]])


def test_tables_8_1_read_on_the_documents_grid(step_test):
    """25 of 27 first peaks and 24 of 27 periods are printed ones, all others the next sample.

    Both peaks that are not are those of the valve's damping.
    """
    tables = to_tables(step_test.robot.description)
    off = []
    for key, by, _, peaks, periods in TABLES_8_1:
        for factor, peak, period in zip((1 - by, 1, 1 + by), peaks, periods, strict=True):
            found = on_grid(step_test.run(scale_together(tables, key, factor)))
            off.append((found[0] - peak, found[1] - period))
    missed = np.abs(off) > 0.01
    assert list(missed.sum(axis=0)) == [2, 3]
    assert np.abs(off).max() == pytest.approx(0.5, abs=1e-6)


def test_section_8_3_leakage_and_viscous_friction_act_alike_and_the_valve_hardly(step_test):
    """By 25 % of either the peak comes later, the period shortens and the overshoot falls."""
    features = ["first peak time", "period", "overshoot"]
    keys = ["friction.*.viscous", "hydraulic.*.leakage"]
    for record in at.sensitivity(step_test, keys, by=0.25, features=features).table:
        assert (record["per_percent"] > 0) == (record["feature"] == "first peak time")


def test_table_8_1_1_sensitivity_of_the_overshoot_to_the_gain(step_test):
    """27 points over 20 per cent are 1.35 a per cent; 0.54 is printed."""
    found = at.sensitivity(step_test, ["servo.proportional.gain"], features=["overshoot"])
    (record,) = found.table
    assert 100 * record["per_percent"] == pytest.approx(1.35, abs=0.05)


def test_section_8_3_gain_compliance_and_mass_matter_most(step_test):
    """Of all numbers by 10 % the three that the document names come first."""
    keys = [key for key, *_ in TABLES_8_1]
    found = at.sensitivity(step_test, keys, by=0.1, features=["overshoot"])
    assert {effect.key for effect in found.effects[:3]} == {
        "servo.proportional.gain",
        "hydraulic.*.compliance",
        "payload.weight_5_1.body.mass",
    }


def test_a_change_that_stops_the_run_is_told_and_comes_first():
    """A made-up measure that cannot be taken above 1.05."""

    def measure(values):
        x = values.get("a.x", 1.0)
        if x > 1.05:
            raise ArmtwinError("x runs away")
        return {"y": 3 * x + 100 * values.get("a.z", 1.0)}

    tables = {"a": {"x": 1.0, "z": 1.0}}
    found = sensitivity_of(partial(scale_together, tables), ["a.z", "a.x"], 0.1, measure)
    first, second = found.effects
    assert first.key == "a.x"
    assert first.more.stopped == "x runs away"
    assert first.less.features == {"y": pytest.approx(102.7)}
    assert second.more.features == {"y": pytest.approx(113)}


def test_numbers_that_belong_together_move_together():
    tables = {
        "motor": [{"name": "m1", "k": [1.0, 2.0]}, {"name": "m2", "k": [3.0, 4.0]}],
        "servo": {"fast": {"kp": 5.0, "kind": "cascade"}},
    }
    assert scale_numbers(tables, "motor.*.k", 2.0) == {"motor.m1.k": [2, 4], "motor.m2.k": [6, 8]}
    assert scale_numbers(tables, "servo.fast", 2.0) == {"servo.fast.kp": 10}
    seen = []

    def measure(values):
        seen.append(dict(values))
        return {"y": 1.0}

    sensitivity_of(partial(scale_together, tables), ["motor.m1.k + servo.fast.kp"], 0.5, measure)
    assert {"motor.m1.k": [0.5, 1.0], "servo.fast.kp": 2.5} in seen


def test_what_differs_between_two_files_is_found_by_key_path():
    old = {"motor": [{"name": "m1", "k": [1.0, 2.0]}, {"name": "m2", "k": [3.0]}], "n": 1}
    new = {"motor": [{"name": "m1", "k": [1.0, 2.5]}, {"name": "m2", "k": [3.0]}], "n": 2}
    assert find_differences(old, new) == {"motor.m1.k": [1.0, 2.5], "n": 2}
    assert find_differences(old, old) == {}


def test_a_quantity_moves_all_that_belongs_to_it(tmp_path):
    """The servo's bandwidth by its name is what its rule's key gives; friction moves its bristles.

    A place of the workpiece is no number of the robot file.
    """
    path = tmp_path / "job.toml"
    path.write_text(JOB, encoding="utf-8")
    job = at.Job.load(path)
    keys = ["servo.bandwidth", "servo.cascade.rule.bandwidth", "friction.joint_2"]
    found = {effect.key: effect for effect in at.sensitivity(job, keys).effects}
    by_name, by_key, friction = (found[key] for key in keys)
    name = "error over tolerance"
    assert by_name.more.features[name] == pytest.approx(by_key.more.features[name], rel=1e-9)
    assert friction.more.features[name] != pytest.approx(by_name.more.features[name], rel=1e-3)
    with pytest.raises(ArmtwinError, match="no number of the robot file"):
        at.sensitivity(job, ["placement.x"])


def test_keys_that_change_nothing_are_refused(step_test):
    tables = {"friction": [{"name": "f", "level": 0.0, "law": "coulomb"}]}
    with pytest.raises(ArmtwinError, match=r"key 'friction\.f\.level' is 0"):
        check_path(tables, "friction.f.level")
    with pytest.raises(ArmtwinError, match=r"key 'friction\.g' is not known"):
        check_path(tables, "friction.g.level")
    with pytest.raises(ArmtwinError, match=r"key 'friction\.\*\.slip' is not known.*level"):
        check_path(tables, "friction.*.slip")
    with pytest.raises(ArmtwinError, match="names no number that can be changed"):
        check_path(tables, "friction.f.law")
    with pytest.raises(ArmtwinError, match="must be between 0 and 100 %, got 150 %"):
        at.sensitivity(step_test, ["servo.proportional.gain"], by=1.5)
    with pytest.raises(ArmtwinError, match="without a change nothing can be measured"):
        at.sensitivity(step_test, ["servo.proportional.gain"], features=["height"])


def test_peaks_of_a_job_are_those_that_its_verdict_counts():
    """With the process on: at the start of this line, where it is off, the error is larger."""
    job = at.Job.load("rx90b_line")
    run = at.predict(job)
    base = at.sensitivity(job, ["friction.joint_2.viscous"]).base.features
    assert base["lateral peak"] == run.verdict.peaks["lateral"]
    assert base["lateral peak"] < abs(run.path_error.lateral).max()
