"""Compensations that document 003 proposes and never tried, with numbers."""

import numpy as np
import pytest

import armtwin as at
from armtwin.analysis.compensation import gravity_offsets, with_mass_compensation
from armtwin.simulation.setpoints import home_of

STEPS = {"L3": 0.25, "L4": -0.22}


def late_swing(found, name):
    """Peak to peak of the last quarter of a response, in steps."""
    k = found.names.index(name)
    late = found.reading[found.time > 0.75 * found.time[-1], k]
    return np.ptp(late) / abs(found.step[k])


@pytest.mark.parametrize("drive", STEPS)
def test_a_load_of_4_kg_swings_with_the_tuned_gains_and_settles_with_compensated_ones(
    drive, robots
):
    """Tuned gains end in swings of more than ten steps; compensated ones overshoot by less than
    the unloaded robot and come to rest.
    """
    robot = robots["epaas"]
    loaded = robot.with_payload("load_4")
    compensated = with_mass_compensation(loaded, robot, home_of(robot))
    step = {drive: STEPS[drive]}
    unloaded = at.step_response(robot, step).features(drive)
    swinging = at.step_response(loaded, step, seconds=0.4)
    settled = at.step_response(compensated, step, seconds=0.4)
    assert late_swing(swinging, drive) > 10
    assert late_swing(settled, drive) < 0.02
    assert settled.features(drive).overshoot < 0.5 * unloaded.overshoot


def test_an_offset_for_gravity_takes_away_what_a_load_lets_sink(robots):
    """4 kg let L4 sink by 0.1 mm, 22 mV: the offset with which a loaded robot stays at rest."""
    robot = robots["epaas"]
    loaded = robot.with_payload("load_4")
    offset = gravity_offsets(loaded, robot, "proportional", home_of(robot))
    servo = robot.description.servo["proportional"]
    sag = offset / np.array(servo.sensor_gain)
    assert 1e3 * sag[3] == pytest.approx(0.105, abs=0.002)
    # A set-point short of the offset is where the loaded robot without it comes to rest.
    steady = with_mass_compensation(loaded, robot, home_of(robot))
    scaled = gravity_offsets(steady, robot, "proportional", home_of(robot))
    uncompensated = at.step_response(steady, {"L4": -float(scaled[3])}, seconds=0.4)
    assert uncompensated.features("L4").final == pytest.approx(1.0, abs=0.15)
