"""Units have every family of parts that `simulate` has."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.drives.friction.load import Load
from armtwin.drives.ripple import Ripple
from armtwin.robot.schema.servo import Delays
from armtwin.simulation.prepared import compute_feedforward
from tests.exchange.test_robot_unit import followed, motion_of
from tests.exchange.units import needs_compiler, opened
from tests.robot.test_epaas import START

pytestmark = needs_compiler

BENT = np.radians([10.0, -60.0, 100.0, 20.0, 30.0, 5.0])
CURRENT_STEP = 1e-5  # rad: what one step of a current moves


def exported(robot, model, motion, tmp_path, rows=None):
    """Joints on both sides, as the unit of a robot follows a motion."""
    path = tmp_path / "unit.fmu"
    at.export_fmu(robot, path, at.WholeRobot(model, motion.q[0]))
    with opened(path, tmp_path) as unit:
        q, link, _ = followed(unit, motion, torque=rows)
    return q, link


def uneven(robot):
    """A robot whose elastic gears are uneven, with friction that follows its load."""
    d = robot.description
    gears = []
    for k, gear in enumerate(d.transmission):
        gears.append(replace(gear, ripple=(Ripple(2.0 + k, 1e-4, 0.3 * k),)))
    elements = [replace(element, load=Load(0.15)) for element in d.friction]
    gear = replace(d.gear, gyroscopic=True)
    return at.Robot(replace(d, transmission=tuple(gears), friction=tuple(elements), gear=gear))


@pytest.mark.parametrize("friction", ["switching", "lugre"])
def test_ripple_loaded_friction_gyroscopes_and_bending_links(tmp_path, friction):
    robot = uneven(at.Robot.load("kr300"))
    model = at.Model(
        friction=friction, quantise=False, joints="elastic", links="elastic", ripple=True
    )
    motion = motion_of(robot, model, BENT, 0.3)
    q, link = exported(robot, model, motion, tmp_path)
    log = at.simulate(robot, motion, model).log
    plain = at.simulate(at.Robot.load("kr300"), motion, replace(model, ripple=False)).log
    assert np.abs(log.q_link - plain.q_link).max() > 1e-5
    assert np.abs(q - log.q).max() < 1e-9
    assert np.abs(link - log.q_link).max() < 1e-9


def test_a_servo_that_looks_ahead_gets_its_set_points_a_cycle_earlier(tmp_path):
    """The fitted servo of the KR 300: shaped and late references, torques fed forward."""
    robot = at.Robot.load("kr300")
    model = at.Model(quantise=False, servo="fitted", joints="elastic")
    motion = motion_of(robot, model, BENT, 0.3)
    waiting = at.Trajectory(
        motion.rate, *(np.vstack([x[:1], x]) for x in (motion.q, motion.v, motion.a))
    )
    torque = compute_feedforward(robot, waiting, model)
    q, link = exported(robot, model, motion, tmp_path, torque[1:])
    log = at.simulate(robot, waiting, model).log
    # the last set-point has none after it, which a unit cannot know
    assert np.abs(q[:-1] - log.q[: len(q) - 1]).max() < 1e-9
    assert np.abs(link[:-1] - log.q_link[: len(q) - 1]).max() < 1e-9


def test_late_set_points_of_single_drives_in_steps_of_currents(tmp_path):
    robot = at.Robot.load("rx90b")
    servo = robot.description.servo["cascade"]
    late = Delays(setpoint=(0.0, 0.0, 0.0093, 0.008, 0.0, 0.0021))
    robot = at.Robot(replace(robot.description, servo={"cascade": replace(servo, delay=late)}))
    model = at.Model(quantise=True)
    motion = motion_of(robot, model, [0.1, 0.6, 1.3, 0.2, 1.0, 0.1], 0.3)
    q, _ = exported(robot, model, motion, tmp_path)
    wanted = at.simulate(robot, motion, model).log.q
    on_time = at.simulate(at.Robot.load("rx90b"), motion, model).log.q
    assert np.abs(wanted - on_time).max() > 1e-4
    assert np.abs(q - wanted).max() < CURRENT_STEP


@pytest.fixture(scope="module")
def hydraulic():
    """The EPAAS, its model and a motion from its home posture."""
    robot = at.Robot.load("epaas")
    model = at.Model(servo="proportional", friction="arctan", quantise=False)
    return robot, model, motion_of(robot, model, START, 0.2)


def test_a_hydraulic_robot(hydraulic, tmp_path):
    """Cylinders on levers, valves, oil."""
    robot, model, motion = hydraulic
    q, _ = exported(robot, model, motion, tmp_path)
    wanted = at.simulate(robot, motion, model).log.q
    assert np.ptp(wanted, axis=0).max() > 1e-3
    assert np.abs(q - wanted).max() < 1e-9


def test_a_hydraulic_robot_that_sticks_and_slides(hydraulic, tmp_path):
    """As long as a push of 1e-10 N m moves the simulated arm by less than 1e-9 rad the unit is as
    close; where it sticks and slides by turns, a rounding moves that by a tick.
    """
    robot, model, motion = hydraulic
    model = replace(model, friction="switching")
    q, _ = exported(robot, model, motion, tmp_path)
    wanted = at.simulate(robot, motion, model).log.q
    pushed = at.RunOptions(torque=np.full_like(motion.q, 1e-10))
    other = at.simulate(robot, motion, model, options=pushed).log.q
    apart = np.abs(other - wanted).max(axis=1)
    calm = int(np.argmax(apart > 1e-9))
    assert calm > 1000
    assert np.abs(q - wanted)[:calm].max() < 1e-9
    assert np.abs(q - wanted).max() < CURRENT_STEP
