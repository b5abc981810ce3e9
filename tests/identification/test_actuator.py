"""Actuator identification of chapter 6 of document 003: its tables, and rings on the bench."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.identification.actuator.flow import RampTest, no_load_flow
from armtwin.identification.actuator.oil import (
    by_document,
    compliance_of_each,
    exactly,
    resonance,
)
from armtwin.identification.actuator.response_fit import NoiseTest, fit_actuator
from armtwin.identification.actuator.valve import delay_from_phase, valve_from_peak
from armtwin.identification.frequency import log_response
from armtwin.simulation.responses import driven_response

BENCH = at.Robot.load("epaas_bench")
SERVO = BENCH.description.servo["proportional"]
VALVE = BENCH.description.hydraulic[0].circuit.valve
# Section 6.1.4: weights [kg], resonances [Hz], dampings.
MASS = [2.7, 4.1, 5.1, 7.5, 9.0]
FREQUENCY = [79.9, 70.0, 63.0, 53.3, 50.9]
DAMPING = [0.238, 0.198, 0.187, 0.196, 0.201]


def test_section_6_1_4_compliance_of_each_weight():
    """The last two are cut, not rounded, in print."""
    printed = [1.47, 1.26, 1.25, 1.18, 1.08]
    assert 1e6 * compliance_of_each(MASS, FREQUENCY) == pytest.approx(printed, rel=0.01)


def test_section_6_1_4_2_the_documents_regression():
    """7.46e-5 and 501 printed; its rounding of the compliance is worth 2 %."""
    found = by_document(MASS, FREQUENCY, DAMPING)
    assert found.compliance == pytest.approx(1.25e-6, rel=0.01)
    assert found.leakage == pytest.approx(7.46e-5, rel=0.02)
    assert found.viscous == pytest.approx(501, rel=0.02)


def test_section_6_1_4_2_the_exact_fit_keeps_what_the_document_drops():
    """1 + B c_h = 1.04 is not 1: the compliance is 4 % larger."""
    found = exactly(MASS, FREQUENCY, DAMPING)
    reference = [1.303e-6, 7.91e-5, 492]
    assert [found.compliance, found.leakage, found.viscous] == pytest.approx(reference, rel=2e-3)


def test_the_exact_fit_finds_the_numbers_of_exact_resonances():
    truth = (1.1e-6, 6e-5, 400.0)
    frequency, damping = resonance(*truth, np.array(MASS))
    found = exactly(MASS, frequency, damping)
    assert [found.compliance, found.leakage, found.viscous] == pytest.approx(truth, rel=1e-6)
    assert abs(by_document(MASS, frequency, damping).compliance / truth[0] - 1) > 0.02


def test_the_exact_fits_intervals_cover(rng):
    """90 % of 50 tables with 1 % of noise, 7 degrees of freedom: Student's 1.89 deviations."""
    truth = np.array([1.1e-6, 6e-5, 400.0])
    frequency, damping = resonance(*truth, np.array(MASS))
    inside = 0
    for _ in range(50):
        noise = 1 + 0.01 * rng.normal(size=(2, 5))
        found = exactly(MASS, frequency * noise[0], damping * noise[1])
        values = np.array([found.compliance, found.leakage, found.viscous])
        inside += (np.abs(values - truth) < 1.89 * found.std).sum()
    assert 0.8 < inside / 150 <= 1.0


def test_section_6_1_3_the_servovalve_and_the_lost_square_root():
    """3 dB at 169 Hz; without the square root 240 Hz, as printed."""
    frequency, damping = valve_from_peak(169.0, 3.0)
    assert damping == pytest.approx(0.38, abs=0.005)
    assert frequency == pytest.approx(201.1, abs=0.1)
    assert 169.0 / (1 - 2 * damping**2) == pytest.approx(240, abs=1)


def test_section_6_1_2_delays_from_phases():
    """Sensor .658 ms; valve 1.629 ms from -280 deg at 230 Hz, where -290 is printed."""
    assert delay_from_phase(193.0, -45.7) == pytest.approx(0.658e-3, rel=1e-3)
    assert delay_from_phase(230.0, -280.0, -90.0, -54.0) == pytest.approx(1.629e-3, rel=0.01)
    with pytest.raises(at.ArmtwinError, match="must not lag more than that of the whole"):
        delay_from_phase(230.0, -100.0, -90.0, -54.0)


def test_section_6_2_the_vane_motor():
    """33 Hz with .338 kg m² and a damping of 0.4 give 69e-6 rad/(N m) and 56 N m s/rad."""
    compliance = compliance_of_each([0.338], [33.0])[0]
    assert compliance == pytest.approx(69e-6, rel=0.005)
    assert 2 * 0.4 * 2 * np.pi * 33 * 0.338 == pytest.approx(56, rel=0.005)


def bench(mass):
    d = BENCH.description
    weight = d.payload["weight_5_1"]
    changed = replace(weight, body=replace(weight.body, mass=mass))
    return at.Robot(replace(d, payload={"weight_5_1": changed}))


def noise_test(mass, rng):
    """The bench on 3 s of small noise, its speed read with 3 % of noise."""
    time = np.arange(0, 3, 1e-3)
    noise = 2.5e-3 * rng.normal(size=(len(time), 1))
    noise[0] = 0.0
    log = driven_response(bench(mass), time, noise).run.log
    late = np.interp(log.time - SERVO.delay.sensor[0], log.time, log.q[:, 0], left=0.0)
    current = SERVO.gain[0] * SERVO.sensor_gain[0] * (log.q_ref[:, 0] - late)
    speed = log.v[:, 0] + 0.03 * log.v[:, 0].std() * rng.normal(size=len(log.time))
    kept = slice(None, None, 20)
    return NoiseTest(mass, log.time[kept], current[kept], speed[kept])


def test_noise_on_the_bench_gives_back_its_oil_valve_and_delay(rng):
    """A ring: intervals of three deviations hold, and are a few per cent wide."""
    found = fit_actuator([noise_test(mass, rng) for mass in (2.7, 5.1, 9.0)])
    oil = BENCH.description.hydraulic[0].circuit
    viscous = BENCH.description.friction[0].law.viscous
    truth = [oil.compliance, oil.leakage, viscous, VALVE.frequency, VALVE.damping, VALVE.delay]
    assert np.all(np.abs(found.values - truth) < 3 * found.std)
    assert np.all(found.std / truth < 0.05)
    slope = (0.009 - 0.0) / (0.0017 + 0.0085)  # of the flow where the noise plays
    assert found.gains == pytest.approx(slope, rel=0.01)


def test_triangular_set_points_give_back_the_flow(rng):
    """Triangles of six slopes, speeds read with noise: twelve points of the bench's own table."""
    slopes = [2.0, 5.0, 10.0, 20.0, 30.0, 38.0]  # V/s
    time, volts = [0.0], [0.0]
    for slope in slopes:
        for turn in (1, -1):
            time.append(time[-1] + 0.25)
            volts.append(volts[-1] + 0.25 * turn * slope)
    found = driven_response(BENCH, time, np.array(volts)[:, None])
    log = found.run.log
    speed = log.v[:, 0] + 2e-3 * rng.normal(size=len(log.time))
    oil = BENCH.description.hydraulic[0].circuit
    force = 5.1 * 9.81 + BENCH.description.friction[0].law.viscous * log.v[:, 0]
    test = RampTest(log.time, found.setpoint[:, 0], log.current[:, 0], speed, force)
    flow = no_load_flow(test, oil.leakage)
    truth = np.interp(flow.current, *np.array(VALVE.flow).T)
    assert len(flow.speed) == 2 * len(slopes)
    assert np.all(np.abs(flow.speed - truth) < 3.5 * flow.std + 1e-5)
    assert flow.std.max() < 4e-3  # the loop still swings on the steepest ramps


def test_the_frequency_response_of_a_log_is_that_of_the_closed_loop():
    """A first-order lag of 20 Hz from q_ref to q, with noise: errors are as large as told."""
    rng = np.random.default_rng(7)
    rate, count = 1000.0, 40_000
    wanted = rng.normal(size=count)
    pole = np.exp(-2 * np.pi * 20 / rate)
    followed = np.zeros(count)
    for k in range(1, count):
        followed[k] = pole * followed[k - 1] + (1 - pole) * wanted[k - 1]
    seen = followed + 0.2 * followed.std() * rng.normal(size=count)
    log = at.Log.of(np.arange(count) / rate, q=seen[:, None], q_ref=wanted[:, None])
    (joint,) = log_response(log, window=1.0).joints
    r = joint.response.between(2, 200)
    z = np.exp(2j * np.pi * r.frequency / rate)
    truth = (1 - pole) / (z - pole)
    off = np.abs(r.response - truth) / (np.sqrt(2) * r.std)
    assert np.sqrt(np.mean(off**2)) == pytest.approx(1.0, abs=0.25)
    assert joint.record["bandwidth_hz"] == pytest.approx(20, abs=3)


def test_a_log_that_cannot_give_a_response_is_refused():
    time = np.arange(100) / 100
    still = at.Log.of(time, q=np.zeros((100, 1)), q_ref=np.zeros((100, 1)))
    with pytest.raises(at.ArmtwinError, match="no joint moves in channel 'q_ref'"):
        log_response(still)
    with pytest.raises(at.ArmtwinError, match="the log has no channel 'current'"):
        log_response(still, "current")
    ramp = at.Log.of(time[:10], q=np.zeros((10, 1)), q_ref=time[:10, None])
    with pytest.raises(at.ArmtwinError, match="needs at least 4 windows of 8 samples"):
        log_response(ramp)
    uneven = at.Log.of(time**2 + time, q=time[:, None], q_ref=time[:, None])
    with pytest.raises(at.ArmtwinError, match="at even times"):
        log_response(uneven)
