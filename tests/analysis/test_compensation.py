"""Compensations that document 003 proposes and never tried, with numbers."""

import sys
from pathlib import Path

import numpy as np
import pytest

import armtwin as at
from armtwin.robot.kinematics.strokes import levers
from armtwin.robot.kinematics.wrist import from_wrist, wrist_coordinates
from armtwin.simulation.setpoints import coordinates_of, home_of, hydraulic_model

sys.path.append(str(Path(__file__).parents[2] / "studies"))

from mass_compensation import gravity_offsets, holding_currents, with_mass_compensation

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


def test_currents_for_gravity_help_where_nothing_rubs_and_not_where_dry_friction_holds(robots):
    """The wrist goes far up with 4 kg. L4, without dry friction, ends ten times closer with them.

    L3 is held by 150 N of dry friction, more than the weight asks of it: the current that would
    hold the weight crosses the valve's lap of 6 mA and pushes it off, several times as far.
    """
    robot = robots["epaas"]
    loaded, model = robot.with_payload("load_4"), hydraulic_model(robot)
    share = np.linspace(0, 1, 101)
    smooth = share**3 * (10 - 15 * share + 6 * share**2)
    begin = wrist_coordinates(robot, home_of(robot)[None])[0]
    end = np.array([0.33, 0.40, *begin[2:]])
    q = from_wrist(robot, begin + smooth[:, None] * (end - begin))
    steady = with_mass_compensation(loaded, robot, q[-1])
    currents = np.array([holding_currents(loaded, x) for x in q])
    gain = np.array(steady.description.servo["proportional"].gain)
    volts = coordinates_of(robot, model, "volts", q)
    errors = []
    for fed in (0, 1):
        wanted = volts + fed * (currents - currents[0]) / gain
        found = at.driven_response(steady, [*share, 1.5], np.vstack([wanted, wanted[-1]]))
        late = found.run.log.q[found.time > 1.3]
        place = levers(steady, late).position.mean(axis=0)
        errors.append(np.abs(place - levers(steady, q[-1:]).position[0]))
    without, with_currents = errors
    assert with_currents[3] < 0.1 * without[3]
    assert with_currents[2] > 3 * without[2]
