"""Cylinders and valves in the common loop: document 003, and plain equations as the second road."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armtwin as at
from armtwin.maths.responses import step_features
from armtwin.simulation.responses import driven_response, step_response
from armtwin.simulation.setpoints import home_of, hydraulic_model
from tests.robot.test_epaas import START
from tests.simulation.hydraulic_bench import BENCH, SENSOR_GAIN, plain_response

sys.path.append(str(Path(__file__).parents[2] / "studies"))

from dry_friction_in_oil import describing_viscous, with_folded_friction

WEIGHTS = {2.7: BENCH.with_payload("weight_2_7"), 5.1: BENCH.with_payload("weight_5_1")}
# Section 7.1.2: weight [kg], step [V] (less than 0 extends), first peak, period [ms],
# overshoot [%]. The document does not say its step; measured beside: 12.4 12.4 22,
# 13.8 11.7 12, 15.3 16.6 29, 16.0 16.0 24. Its retracting overshoots (6 and 18 %) do not
# reproduce: no step, start or sign of the weight that was tried gives them.
TABLE_7_1_2 = [
    (2.7, -0.33, 12.5, 11.5, 18),
    (2.7, 0.33, 13.0, 12.0, None),
    (5.1, -0.23, 14.5, 16.0, 40),
    (5.1, 0.23, 15.0, 15.5, None),
]
# Section 7.2.3, gripper vertical: drive, step [V], first peak, period [ms] with their tolerances,
# overshoot [%] or None where the step was chosen by it. Measured beside: L3 37 44 22, L4 32 39 12,
# L1 12 39 31, L2 7.5 6 23.
TABLE_7_2_3 = [
    ("L3", 0.25, 26, 1.5, 32, 2.5),
    ("L4", -0.22, 21, 1.0, 26, 1.0),
    ("L1", -0.55, 11, 1.0, 23, 2.0),
    ("L2", -0.55, 10, 1.0, 14, 1.0),
]


def features(robot, drive, volts, **settings):
    return step_response(robot, {drive: volts}, **settings).features(drive)


@pytest.mark.parametrize(("mass", "volts", "peak", "period", "overshoot"), TABLE_7_1_2)
def test_section_7_1_2_the_actuator_with_a_weight(mass, volts, peak, period, overshoot):
    found = features(WEIGHTS[mass], "cylinder", volts, seconds=0.06)
    assert 1e3 * found.first_peak == pytest.approx(peak, abs=0.3)
    assert 1e3 * found.period == pytest.approx(period, abs=0.6)
    if overshoot is not None:
        assert 100 * found.overshoot == pytest.approx(overshoot, abs=2)


@pytest.mark.parametrize("case", TABLE_7_2_3, ids=lambda case: case[0])
def test_section_7_2_3_step_responses_of_the_whole_robot(case, robots):
    drive, volts, peak, peak_width, period, period_width = case
    found = features(robots["epaas"], drive, volts)
    assert 1e3 * found.first_peak == pytest.approx(peak, abs=peak_width)
    assert 1e3 * found.period == pytest.approx(period, abs=period_width)


def test_section_7_2_3_overshoot_of_the_first_cylinder_needs_its_friction(robots):
    """65 % printed; its period of 23 ms is 15 ms without dry friction."""
    robot = robots["epaas"]
    found = features(robot, "L1", -0.55)
    assert 100 * found.overshoot == pytest.approx(65, abs=3)
    (friction, *others) = robot.description.friction
    smooth = replace(friction, law=replace(friction.law, level=0.0))
    slippery = at.Robot(replace(robot.description, friction=(smooth, *others)))
    assert 1e3 * features(slippery, "L1", -0.55).period == pytest.approx(15, abs=1)


def test_section_7_2_3_the_vane_motor(robots):
    """Per cent of the value at 100 ms; at 50 ms 62 is printed where 68 is suspected: not asked."""
    found = step_response(robots["epaas"], {"vane": 0.3})
    share = np.interp([0.025, 0.075, 0.1], found.time, found.reading[:, 4])
    assert 100 * share[:2] / share[2] == pytest.approx([37, 88], abs=2)


def test_the_horizontal_gripper_is_not_that_of_section_7_2_3(robots):
    """By plain Runge-Kutta 4 beside: L1 overshoots by 53 % (65 printed), L4's period is 27.2 ms."""
    robot = robots["epaas"].with_tool("gripper_horizontal")
    assert 100 * features(robot, "L1", -0.55).overshoot == pytest.approx(53, abs=1)
    assert 1e3 * features(robot, "L4", -0.22).period == pytest.approx(27.2, abs=0.1)


@pytest.mark.parametrize(("volts", "swings"), [(0.4, False), (0.6, True), (-0.5, True)])
def test_large_steps_of_the_third_cylinder_end_in_a_limit_cycle(volts, swings, robots):
    """Only friction and the valve's lap hold it: 7 to 8 steps peak to peak beyond them."""
    found = step_response(robots["epaas"], {"L3": volts}, seconds=0.6)
    late = found.reading[found.time > 0.5, found.names.index("L3")]
    swing = np.ptp(late) / abs(volts)
    assert swing == pytest.approx(7.6, abs=0.8) if swings else swing < 0.01


def test_section_8_3_coupling_through_the_oil_is_weak(robots):
    """One drive steps: the other four stay within a tenth of its step in volts."""
    for drive, volts, *_ in (*TABLE_7_2_3, ("vane", 0.3)):
        found = step_response(robots["epaas"], {drive: volts})
        for other in found.names:
            if other != drive:
                assert found.disturbance(other) < 0.1 * abs(volts), (drive, other)


def test_section_8_3_a_delay_may_stand_for_the_spool(robots):
    """Order 15 in place of 25: peaks move by at most 0.3 ms, the whole response by a tenth."""
    for robot, drive, volts in ((robots["epaas"], "L4", -0.22), (WEIGHTS[5.1], "cylinder", -0.23)):
        full = step_response(robot, {drive: volts})
        reduced = step_response(robot, {drive: volts}, model=hydraulic_model(robot, "delay"))
        peaks = [found.features(drive).first_peak for found in (full, reduced)]
        assert abs(peaks[0] - peaks[1]) < 3e-4
        assert np.abs(full.reading - reduced.reading).max() < 0.1 * abs(volts)


@pytest.mark.parametrize(("mass", "volts"), [(2.7, -0.3), (5.1, 0.3)])
def test_the_step_response_equals_plain_equations(mass, volts):
    """Explicit Runge-Kutta 4 at a quarter of the step;
    what is left is the sampling of the analogue loop.
    """
    found = step_response(WEIGHTS[mass], {"cylinder": volts}, seconds=0.06)
    plain_time, plain = plain_response(mass, volts)
    inside = found.time < plain_time[-1]
    reading = found.reading[inside, 0]
    between = np.interp(found.time[inside], plain_time, plain)
    assert np.abs(between - reading).max() < 2e-3 * abs(volts)
    peak = step_features(plain_time, plain, volts).first_peak
    assert found.features("cylinder").first_peak == pytest.approx(peak, abs=2e-5)


def test_halving_the_step_moves_the_first_peak_by_less_than_a_hundredth_of_a_millisecond():
    peaks = []
    for rate in (50_000, 100_000):
        d = BENCH.description
        servo = replace(d.servo["proportional"], rate=rate)
        robot = at.Robot(replace(d, servo={"proportional": servo}))
        peaks.append(features(robot, "cylinder", -0.3, seconds=0.06).first_peak)
    assert abs(peaks[0] - peaks[1]) < 1e-5


def test_steps_in_volts_strokes_and_wrist_coordinates_are_one_motion(robots):
    """The same joint set-points, whatever they are called."""
    robot = robots["epaas"]
    volts = step_response(robot, {"L1": -0.3}, seconds=0.03)
    gain = robot.description.servo["proportional"].sensor_gain[0]
    strokes = step_response(robot, {"L1": -0.3 / gain}, "strokes", seconds=0.03)
    turn = _gamma_of(robot, -0.3 / gain)
    gamma = step_response(robot, {"gamma": turn}, "wrist", seconds=0.03)
    assert np.abs(volts.run.log.q - strokes.run.log.q).max() < 1e-12
    assert np.abs(volts.run.log.q - gamma.run.log.q).max() < 1e-9


def _gamma_of(robot, stroke):
    """Change of γ that a stroke of L1 makes from where its sensor reads zero."""
    linkage = robot.description.hydraulic[0].linkage
    zero = robot.description.servo["proportional"].sensor_zero[0]
    return float(linkage.angle_of(zero + stroke) - linkage.angle_of(zero))


def test_a_cylinder_in_equilibrium_stays_where_it_is():
    """Its valve lets just the leakage pass; nothing moves before the set-point does."""
    still = np.zeros((2, 1))
    found = driven_response(BENCH, [0.0, 0.05], still)
    assert np.abs(found.run.link_side).max() < 1e-9


def test_the_hydraulic_robot_holds_its_start_up_position(robots):
    """Four cylinders on levers and a vane motor, each in equilibrium with the weight."""
    robot = robots["epaas"]
    q = np.tile(START, (2000, 1))
    still = at.Trajectory.sampled(50_000, q, 0 * q, 0 * q)
    run = at.simulate(robot, still, hydraulic_model(robot))
    assert not run.log.events
    assert np.abs(run.link_side - START).max() < 1e-5


def with_friction(robot, level, circuit=None):
    """The bench with dry friction, and another circuit where one is given."""
    d = robot.description
    law = at.Robot.load("epaas").description.friction[0].law
    rubbing = replace(d.friction[0], law=replace(law, level=level))
    (drive,) = d.hydraulic
    if circuit is not None:
        drive = replace(drive, circuit=circuit)
    return at.Robot(replace(d, friction=(rubbing,), hydraulic=(drive,)))


def test_appendix_c_dry_friction_folded_into_the_flow():
    """On a ramp the valve is open as far as with the friction itself, and farther than without."""
    level = 200.0
    (drive,) = BENCH.description.hydraulic
    folded = with_folded_friction(drive.circuit, level)
    time, ramp = np.array([0.0, 0.2]), np.array([[0.0], [-0.2 * 0.1 * SENSOR_GAIN]])
    openings = []
    for robot in (
        with_friction(BENCH, level),
        with_friction(BENCH, 0.0, folded),
        with_friction(BENCH, 0.0),
    ):
        found = driven_response(robot, time, ramp)
        late = found.time > 0.15
        openings.append(found.run.log.current[late, 0].mean())
    rubbing, in_flow, without = openings
    assert abs(rubbing) > 1.01 * abs(without)
    assert in_flow == pytest.approx(rubbing, rel=1e-3)


def test_appendix_c_dry_friction_as_a_describing_function():
    """At a sinusoid the first harmonic is that of the viscous friction 4 level / (π v̂).

    What is left, a twelfth of the friction's effect, are its higher harmonics.
    """
    level, frequency = 100.0, 40.0
    time = np.arange(0, 0.4, 2e-4)
    sine = 0.3 * np.sin(2 * np.pi * frequency * time)[:, None]
    rubbing = driven_response(with_friction(BENCH, level), time, sine)
    amplitude = np.abs(_harmonic(rubbing, frequency, rubbing.run.log.v[:, 0]))
    d = BENCH.description
    law = replace(d.friction[0].law, viscous=501.0 + describing_viscous(level, amplitude))
    damped = at.Robot(replace(d, friction=(replace(d.friction[0], law=law),)))
    found = {}
    for name, robot in (("describing", damped), ("without", BENCH)):
        answer = driven_response(robot, time, sine)
        found[name] = _harmonic(answer, frequency, answer.reading[:, 0])
    truth = _harmonic(rubbing, frequency, rubbing.reading[:, 0])
    effect = abs(found["without"] - truth)
    assert effect > 0.05 * abs(truth)
    assert abs(found["describing"] - truth) < effect / 5


def _harmonic(found, frequency, values):
    """First harmonic of the last eight periods."""
    last = found.time > found.time[-1] - 8 / frequency
    turn = np.exp(-2j * np.pi * frequency * found.time[last])
    return 2 * np.mean(values[last] * turn)


def test_piston_friction_is_a_torque_through_the_lever(robots):
    """Power: what the joints lose is what the pistons lose, for any lever."""
    robot = robots["epaas"]
    rng = np.random.default_rng(3)
    q, v = START + 0.2 * rng.normal(size=(20, 5)), rng.normal(size=(20, 5))
    lost = np.einsum("mi,mi->m", robot.friction_torque(v, q), v)
    expected = np.zeros(20)
    for element, row in robot.assembly.friction:
        w = (v @ row.weights) * row.lever(q)
        dry = element.law.level * np.tanh(w / element.law.speed)
        expected += dry * w + element.law.viscous * w**2
    assert lost == pytest.approx(expected, rel=1e-12)
    with pytest.raises(at.ArmtwinError, match="depends on its lever: give joint positions q too"):
        robot.friction_torque(v)
    assert robot.regressor(q, v, 0 * v) @ robot.parameters == pytest.approx(
        robot.bias(q, v) + robot.friction_torque(v, q), abs=1e-10
    )


def changed_circuit(**changes):
    (drive,) = BENCH.description.hydraulic
    return replace(
        BENCH.description, hydraulic=(replace(drive, circuit=replace(drive.circuit, **changes)),)
    )


def test_bad_circuits_are_refused():
    (drive,) = BENCH.description.hydraulic
    backwards = replace(drive.circuit.valve, flow=((-0.1, 0.5), (0.1, -0.5)))
    with pytest.raises(at.ArmtwinError, match="flow must not decrease with the current"):
        at.Robot(changed_circuit(valve=backwards))
    with pytest.raises(at.ArmtwinError, match=r"must have valve\.flow, or a design from which"):
        at.Robot(changed_circuit(valve=replace(drive.circuit.valve, flow=())))


def test_bad_set_points_are_refused(robots):
    epaas = robots["epaas"]
    with pytest.raises(at.ArmtwinError, match="of L1 must be within ±10 V, got 12 V"):
        step_response(epaas, {"L1": 12.0})
    with pytest.raises(at.ArmtwinError, match="L3 length must be between"):
        step_response(epaas, {"L3": 0.2}, "strokes")
    with pytest.raises(at.ArmtwinError, match="set-point 'alpha' is not known"):
        step_response(epaas, {"alpha": 0.1}, "wrist")
    with pytest.raises(at.ArmtwinError, match=r"r must be from 0\.12 to 0\.35 m"):
        step_response(epaas, {"r": 0.3}, "wrist")
    with pytest.raises(at.ArmtwinError, match=r"valve of cylinder, 0\.001629 s, must be shorter"):
        step_response(BENCH, {"cylinder": 0.1}, seconds=1e-3)
    with pytest.raises(at.ArmtwinError, match="'rx90b' has no servo of kind 'proportional'"):
        step_response(robots["rx90b"], {"motor_1": 0.1})
    assert np.abs(home_of(epaas) - START).max() < 0.02
