"""A transmission as a unit: the bench's own steps, in other hosts."""

from dataclasses import replace

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu

import armtwin as at
from armtwin.exchange.transmission_unit import joint_bench
from tests.exchange.units import hosted, needs_compiler, opened

pytestmark = needs_compiler

TIMES = np.cumsum(np.concatenate([[0.0], np.random.default_rng(3).uniform(1e-3, 2e-2, 120)]))
TORQUE = 15.0 * np.sin(4.0 * TIMES)
ROUNDING = 1e-13  # rad: the same steps, their sums rounded apart


def bench(**changes):
    return replace(joint_bench(at.Robot.load("kr300"), "joint_1"), **changes)


@pytest.mark.parametrize("version", [2, 3])
def test_fmpy_finds_nothing_wrong(transmissions, version):
    assert validate_fmu(str(transmissions[version])) == []


@pytest.mark.parametrize("version", [2, 3])
def test_a_plain_c_host_repeats_the_clamping_experiment(tmp_path, host, clamping, version):
    """Switching friction, the motor held on angles: 126 s within 1e-6 rad (it is 1e-15)."""
    path = tmp_path / "clamping.fmu"
    at.export_bench(clamping.experiment.bench(), path, driven="angle", fmi=version)
    log, (response,) = clamping.log, clamping.responses
    names = ("angle", "angle_rate", "motor_angle")
    got = hosted(host, path, tmp_path, log.time, response.wanted, names)
    assert np.abs(log.q_m).max() > 0.3
    assert np.abs(got - log.q_m[:, 0]).max() < 1e-6


@pytest.mark.parametrize("friction", ["lugre", "arctan", "switching", "off"])
def test_torques_at_uneven_times_move_it_as_they_move_the_bench(tmp_path, friction):
    given = bench(friction_model=friction)
    path = tmp_path / "unit.fmu"
    at.export_bench(given, path)
    with opened(path, tmp_path) as unit:
        unit.begin()
        got = unit.drive(TIMES, TORQUE, "torque")
    wanted = at.simulate_bench(given, TIMES, TORQUE).log.q_m[:, 0]
    # the last digit of the torque moves switching friction by more, by when it turns over
    rounded = at.simulate_bench(given, TIMES, np.nextafter(TORQUE, np.inf)).log.q_m[:, 0]
    moved = np.abs(rounded - wanted).max()
    assert moved < (1e-10 if friction == "switching" else ROUNDING)
    assert np.abs(got - wanted).max() < max(moved, ROUNDING)


def test_what_was_written_says_what_it_is_for_and_what_is_compiled(tmp_path):
    written = at.export_bench(bench(), tmp_path / "unit.fmu", sources_only=True)
    assert repr(written) == "Exported(unit.fmu: FMI 2.0, co-simulation and model exchange.)"
    assert "none, sources alone" in written._repr_html_()


def test_a_joint_that_moves_takes_a_load(tmp_path):
    """The inertia behind the joint answers to both sides; its angle is that of the bench."""
    given = bench(joint="loaded", inertia=40.0, load=25.0)
    path = tmp_path / "unit.fmu"
    at.export_bench(given, path)
    with opened(path, tmp_path) as unit:
        unit.begin()
        got = unit.drive(TIMES, TORQUE, "torque", "joint_angle")
    wanted = at.simulate_bench(given, TIMES, TORQUE).log.q_link[:, 0]
    assert np.abs(wanted).max() > 1e-3
    assert np.abs(got - wanted).max() < ROUNDING


def test_parameters_are_those_of_the_bench(transmissions, tmp_path):
    other = bench(
        rotor_inertia=0.012, gear_ratio=200.0, stiffness=9e5, damping=40.0, backlash=4e-4,
        ground_damping=12.0,
    )  # fmt: skip
    names = ("rotor_inertia", "gear_ratio", "stiffness", "damping", "backlash", "ground_damping")
    given = {name: getattr(other, name) for name in names}
    at.export_bench(other, tmp_path / "other.fmu")
    with opened(tmp_path / "other.fmu", tmp_path) as unit:
        given["step"] = float(unit.get("step")[0])
    with opened(transmissions[2], tmp_path) as unit:
        unit.begin(parameters=given)
        got = unit.drive(TIMES, TORQUE, "torque")
    wanted = at.simulate_bench(other, TIMES, TORQUE, step=given["step"]).log.q_m[:, 0]
    assert np.abs(got - wanted).max() < ROUNDING


def test_a_friction_level_of_zero_leaves_no_friction(transmissions, tmp_path):
    with opened(transmissions[2], tmp_path) as unit:
        step = float(unit.get("step")[0])
        unit.begin(parameters={"friction_1_level": 0.0, "friction_1_offset": 0.0})
        got = unit.drive(TIMES, TORQUE, "torque")
    without = at.simulate_bench(bench(friction_model="off"), TIMES, TORQUE, step=step)
    # bristles without torque still have damping while the speed turns over: 1.5e-6 of 0.6 rad
    assert np.abs(got - without.log.q_m[:, 0]).max() < 1e-5


def test_the_torque_of_the_spring_balances_the_motor_at_rest(tmp_path):
    """Without friction and long after: spring torque = gear ratio times motor torque."""
    given = bench(friction_model="off", ground_damping=2e5)
    at.export_bench(given, tmp_path / "unit.fmu")
    with opened(tmp_path / "unit.fmu", tmp_path) as unit:
        unit.begin(inputs={"torque": 5.0})
        unit.step(0.0, 20.0)
        torque, twist = unit.get("spring_torque", "twist")
    assert torque == pytest.approx(5.0 * given.gear_ratio, rel=1e-6)
    assert twist == pytest.approx(torque / given.stiffness + 0.5 * given.backlash, rel=1e-6)


# model exchange


@pytest.mark.parametrize("friction", ["lugre", "arctan"])
def test_derivatives_are_the_limit_of_steps(tmp_path, friction):
    """(x(h) - x) / h by the bench's own step, extrapolated to h = 0 from two lengths."""
    given = bench(friction_model=friction, joint="loaded", inertia=40.0)
    path = tmp_path / "unit.fmu"
    at.export_bench(given, path)
    described = fmpy.read_model_description(str(path))
    names = [x.name for x in described.modelVariables if x.name.startswith("state.")]
    state = dict(zip(names, [3e-3, 0.02, 1.2e-3, 0.011, 2e-4], strict=False))
    with opened(path, tmp_path, fmi_type="ModelExchange") as unit:
        unit.begin(inputs={"torque": 3.0, "load": -4.0}, parameters=state)
        slopes = np.array([unit.get(f"der({name})")[0] for name in names])

    def after(h):
        with opened(path, tmp_path) as stepping:
            stepping.begin(inputs={"torque": 3.0, "load": -4.0}, parameters={**state, "step": 1.0})
            stepping.step(0.0, h)
            return (stepping.get(*names) - np.array(list(state.values()))) / h

    h = 1e-8
    limit = 2 * after(h) - after(2 * h)
    assert np.abs(slopes - limit).max() < 1e-4 * np.abs(slopes).max()


def test_a_solver_of_another_tool_integrates_it(transmissions):
    """CVode of fmpy over a turn of the torque, against the bench with steps of 1 us."""
    times = np.linspace(0.0, 0.2, 41)
    torque = 12.0 * np.sin(2 * np.pi * times / 0.4)
    signal = np.array(
        list(zip(times, torque, np.zeros(41), strict=True)),
        dtype=[("time", float), ("torque", float), ("torque_rate", float)],
    )
    found = fmpy.simulate_fmu(
        str(transmissions[2]), fmi_type="ModelExchange", stop_time=0.2, output_interval=1e-3,
        input=signal, relative_tolerance=1e-7, output=["motor_angle"],
    )  # fmt: skip
    got = np.interp(times, found["time"], found["motor_angle"])
    wanted = at.simulate_bench(bench(), times, torque, step=1e-6).log.q_m[:, 0]
    assert np.abs(wanted).max() > 0.1
    assert np.abs(got - wanted).max() < 2e-3 * np.abs(wanted).max()


def test_a_unit_whose_friction_switches_is_for_co_simulation_only(tmp_path):
    written = at.export_bench(bench(friction_model="switching"), tmp_path / "unit.fmu")
    assert written.kinds == ("co-simulation",)
    assert fmpy.read_model_description(str(written.path)).modelExchange is None


# instances and states


@pytest.mark.parametrize("version", [2, 3])
def test_two_instances_do_not_disturb_each_other(transmissions, tmp_path, version):
    with (
        opened(transmissions[version], tmp_path) as one,
        opened(transmissions[version], tmp_path) as two,
    ):
        one.begin()
        two.begin()
        for k, time in enumerate(np.arange(20) * 0.01):
            one.set({"torque": 10.0})
            two.set({"torque": -10.0 if k % 2 else 4.0})
            one.step(time, 0.01)
            two.step(time, 0.01)
        crowded = one.get("motor_angle")[0]
    with opened(transmissions[version], tmp_path) as alone:
        alone.begin()
        alone.set({"torque": 10.0})
        for time in np.arange(20) * 0.01:
            alone.step(time, 0.01)
        assert alone.get("motor_angle")[0] == crowded


@pytest.mark.parametrize("version", [2, 3])
def test_a_run_after_a_reset_is_the_first_run_again(transmissions, tmp_path, version):
    with opened(transmissions[version], tmp_path) as unit:
        unit.begin(parameters={"stiffness": 1e6})
        first = unit.drive(TIMES[:30], TORQUE[:30], "torque")
        unit.unit.reset()
        unit.begin(parameters={"stiffness": 1e6})
        np.testing.assert_array_equal(unit.drive(TIMES[:30], TORQUE[:30], "torque"), first)


@pytest.mark.parametrize("version", [2, 3])
def test_a_state_is_saved_and_restored(transmissions, tmp_path, version):
    """Also as bytes, and into another instance."""
    with opened(transmissions[version], tmp_path) as unit:
        unit.begin()
        unit.drive(TIMES[:20], TORQUE[:20], "torque")
        save = unit.unit.getFMUstate if version == 2 else unit.unit.getFMUState
        restore = unit.unit.setFMUstate if version == 2 else unit.unit.setFMUState
        state = save()
        onward = unit.drive(TIMES[20:40], TORQUE[20:40], "torque")
        restore(state)
        np.testing.assert_array_equal(unit.drive(TIMES[20:40], TORQUE[20:40], "torque"), onward)
        pack = "serializeFMUstate" if version == 2 else "serializeFMUState"
        packed = getattr(unit.unit, pack)(state)
        free = unit.unit.freeFMUstate if version == 2 else unit.unit.freeFMUState
        with opened(transmissions[version], tmp_path) as other:
            other.begin()
            unpack = "deSerializeFMUstate" if version == 2 else "deserializeFMUState"
            copy = getattr(other.unit, unpack)(packed)
            (other.unit.setFMUstate if version == 2 else other.unit.setFMUState)(copy)
            again = other.drive(TIMES[20:40], TORQUE[20:40], "torque")
            np.testing.assert_array_equal(again, onward)
        free(state)


@pytest.mark.parametrize("version", [2, 3])
def test_fifty_instances_are_made_and_freed(transmissions, host, tmp_path, version):
    names = ("torque", "torque_rate", "motor_angle")
    few = TIMES[:6], TORQUE[:6]
    once = hosted(host, transmissions[version], tmp_path, *few, names)
    fifty = hosted(host, transmissions[version], tmp_path, *few, names, instances=50)
    np.testing.assert_array_equal(once, fifty)


# refusals


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"motor_angle": 1.0}, "computed"),
        ({"stiffness": 1e6}, "fixed once"),
        ({"torque": np.nan}, "finite"),
        ({"state.drive_angle": 0.1}, "start"),
    ],
)
def test_what_may_not_be_set_is_refused_with_a_reason(transmissions, tmp_path, values, words):
    with opened(transmissions[2], tmp_path) as unit:
        unit.begin()
        with pytest.raises(FMICallException):
            unit.set(values)
        assert any(words.encode() in bytes(str(x), "utf-8") for x in unit.messages)


def test_a_parameter_below_its_least_value_is_refused(transmissions, tmp_path):
    with opened(transmissions[2], tmp_path) as unit, pytest.raises(FMICallException):
        unit.set({"damping": -1.0})


def test_a_motion_that_runs_away_ends_with_an_error_and_no_crash(transmissions, tmp_path):
    with opened(transmissions[2], tmp_path) as unit:
        unit.begin(inputs={"torque": 1e9})
        with pytest.raises(FMICallException):
            unit.step(0.0, 1.0)
        assert any("runs away" in str(x) for x in unit.messages)
        unit.get("motor_angle")


def test_an_unknown_token_makes_no_instance(transmissions, tmp_path):
    found = fmpy.read_model_description(str(transmissions[2]))
    found.guid = "{another}"
    folder = fmpy.extract(str(transmissions[2]), str(tmp_path / "x"))
    with pytest.raises(Exception, match="instantiate"):
        fmpy.instantiate_fmu(folder, found, fmi_type="CoSimulation")


def test_one_unit_gives_one_file(tmp_path):
    """No time or place of writing is in it."""
    one, two = tmp_path / "unit.fmu", tmp_path / "again" / "unit.fmu"
    two.parent.mkdir()
    for path in (one, two):
        at.export_bench(bench(), path, sources_only=True)
    assert one.read_bytes() == two.read_bytes()
