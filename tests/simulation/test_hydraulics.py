"""Cylinders and valves in the common loop: document 003, and plain equations as the second road."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from tests.robot.test_epaas import START
from tests.simulation.hydraulic_bench import actuator, first_peak, plain_response, step_response

# First peaks [ms] of section 7.1.2: weight [kg], step [V] (less than 0 extends), simulated by the
# document.
TABLE_7_1_2 = [(2.7, -0.3, 12.5), (2.7, 0.3, 13.0), (5.1, -0.23, 14.5), (5.1, 0.23, 15.0)]


@pytest.mark.parametrize(("mass", "volts", "printed"), TABLE_7_1_2)
def test_section_7_1_2_first_peaks_of_the_actuator_with_a_weight(mass, volts, printed):
    time, y = step_response(mass, volts)
    assert 1e3 * first_peak(time, y, volts) == pytest.approx(printed, abs=0.3)


@pytest.mark.parametrize(("mass", "volts"), [(2.7, -0.3), (5.1, 0.3)])
def test_the_step_response_equals_plain_equations(mass, volts):
    """Explicit Runge-Kutta 4 at a quarter of the step;
    what is left is the sampling of the analogue loop.
    """
    (time, y), (plain_time, plain) = step_response(mass, volts), plain_response(mass, volts)
    inside = time < plain_time[-1]
    assert np.abs(np.interp(time[inside], plain_time, plain) - y[inside]).max() < 2e-3 * abs(volts)
    assert first_peak(time, y, volts) == pytest.approx(
        first_peak(plain_time, plain, volts), abs=2e-5
    )


def test_halving_the_step_moves_the_first_peak_by_less_than_a_hundredth_of_a_millisecond():
    peaks = [first_peak(*step_response(5.1, -0.3, rate=rate), -0.3) for rate in (50_000, 100_000)]
    assert abs(peaks[0] - peaks[1]) < 1e-5


def test_a_cylinder_in_equilibrium_stays_where_it_is():
    """Its valve lets just the leakage pass; nothing moves before the set-point does."""
    robot = actuator(5.1)
    still = np.zeros((2500, 1))
    run = at.simulate(
        robot,
        at.Trajectory.sampled(50_000, still, still, still),
        at.Model(friction="arctan", servo="proportional", quantise=False),
    )
    assert np.abs(run.link_side).max() < 1e-9


def test_the_hydraulic_robot_holds_its_start_up_position(robots):
    """Four cylinders on levers and a vane motor, each in equilibrium with the weight."""
    q = np.tile(START, (2000, 1))
    model = at.Model(friction="arctan", servo="proportional", quantise=False)
    run = at.simulate(robots["epaas"], at.Trajectory.sampled(50_000, q, 0 * q, 0 * q), model)
    assert not run.log.events
    assert np.abs(run.link_side - START).max() < 1e-5


def test_piston_friction_is_a_torque_through_the_lever(robots):
    """Power: what the joints lose is what the pistons lose, for any lever."""
    robot = robots["epaas"]
    rng = np.random.default_rng(3)
    q, v = START + 0.2 * rng.normal(size=(20, 5)), rng.normal(size=(20, 5))
    lost = np.einsum("mi,mi->m", robot.friction_torque(v, q), v)
    expected = np.zeros(20)
    for element, row in robot.assembly.friction:
        w = (v @ row.weights) * row.lever(q)
        expected += element.law.level * np.abs(w) + element.law.viscous * w**2
    assert lost == pytest.approx(expected, rel=1e-12)
    with pytest.raises(at.ArmtwinError, match="depends on its lever: give joint positions q too"):
        robot.friction_torque(v)
    assert robot.regressor(q, v, 0 * v) @ robot.parameters == pytest.approx(
        robot.bias(q, v) + robot.friction_torque(v, q), abs=1e-10
    )


def test_a_flow_that_falls_with_the_current_is_refused():
    robot = actuator(2.7)
    (drive,) = robot.description.hydraulic
    valve = replace(drive.circuit.valve, flow=((-0.1, 0.5), (0.1, -0.5)))
    backwards = replace(drive, circuit=replace(drive.circuit, valve=valve))
    with pytest.raises(at.ArmtwinError, match="flow must not fall with the current"):
        at.Robot(replace(robot.description, hydraulic=(backwards,)))
