"""Units have every family of parts that `simulate` has."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.robot.schema.groups import Mimic
from armtwin.robot.schema.servo import Delays
from armtwin.simulation.prepared import compute_feedforward
from tests.exchange.conftest import BENT
from tests.exchange.test_robot_unit import followed, motion_of
from tests.exchange.units import needs_compiler, opened

pytestmark = needs_compiler

CURRENT_STEP = 1e-5  # rad: what one step of a current moves


def exported(robot, model, motion, tmp_path, torque=None):
    """Joints on both sides, as the unit of a robot follows a motion."""
    path = tmp_path / "unit.fmu"
    at.export_fmu(robot, path, at.WholeRobot(model, motion.q[0]))
    with opened(path, tmp_path) as unit:
        q, link, _ = followed(unit, motion, torque=torque)
    return q, link


def test_ripple_loaded_friction_and_gyroscopes(uneven, tmp_path):
    """Each of them moves the links by more than 1e-6 rad."""
    robot, model, path = uneven
    motion = motion_of(robot, model, BENT, 0.3)
    with opened(path, tmp_path) as unit:
        q, link, tool = followed(unit, motion)
    log = at.simulate(robot, motion, model).log
    assert np.abs(q - log.q).max() < 1e-9
    assert np.abs(link - log.q_link).max() < 1e-9
    assert np.abs(tool - robot.forward_kinematics(log.q_link)[:, :3, 3]).max() < 1e-9
    d = robot.description
    still = replace(d, gear=replace(d.gear, gyroscopic=False))
    unloaded = replace(d, friction=tuple(replace(x, load=None) for x in d.friction))
    others = [(at.Robot(still), model), (at.Robot(unloaded), model)]
    for other, under in [*others, (robot, replace(model, ripple=False))]:
        apart = at.simulate(other, motion, under).log.q_link - log.q_link
        assert np.abs(apart).max() > 1e-6


def test_switching_friction_that_follows_its_load(uneven, tmp_path):
    robot, model, _ = uneven
    model = replace(model, friction="switching")
    motion = motion_of(robot, model, BENT, 0.3)
    q, link = exported(robot, model, motion, tmp_path)
    log = at.simulate(robot, motion, model).log
    assert np.abs(q - log.q).max() < 1e-9
    assert np.abs(link - log.q_link).max() < 1e-9


def test_a_servo_that_looks_ahead_gets_its_set_points_a_cycle_earlier(tmp_path):
    """The fitted servo of the KR 300: shaped and late references, torques fed forward."""
    robot = at.Robot.load("kr300")
    model = at.Model(quantise=False, servo="fitted", joints="elastic")
    motion = motion_of(robot, model, BENT, 0.3)
    repeated = [np.vstack([x[:1], x]) for x in (motion.q, motion.v, motion.a)]
    waiting = at.Trajectory(motion.rate, *repeated)
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


def test_a_hydraulic_robot(hydraulic, tmp_path):
    """Cylinders on levers, valves, oil."""
    robot, model, path, motion = hydraulic
    with opened(path, tmp_path) as unit:
        q, _, _ = followed(unit, motion)
    wanted = at.simulate(robot, motion, model).log.q
    assert np.ptp(wanted, axis=0).max() > 1e-3
    assert np.abs(q - wanted).max() < 1e-9


def test_a_hydraulic_robot_that_sticks_and_slides(hydraulic, tmp_path):
    """As long as a push of 1e-10 N m moves the simulated arm by less than 1e-9 rad the unit is as
    close; where it sticks and slides by turns, a rounding moves that by a tick.
    """
    robot, model, _, motion = hydraulic
    model = replace(model, friction="switching")
    q, _ = exported(robot, model, motion, tmp_path)
    wanted = at.simulate(robot, motion, model).log.q
    pushed = at.RunOptions(torque=np.full_like(motion.q, 1e-10))
    other = at.simulate(robot, motion, model, options=pushed).log.q
    calm = int(np.argmax(np.abs(other - wanted).max(axis=1) > 1e-9))
    assert calm > 1000
    assert np.abs(q - wanted)[:calm].max() < 1e-9
    assert np.abs(q - wanted).max() < CURRENT_STEP


def test_what_cannot_be_simulated_is_refused_as_simulate_does(tmp_path):
    robot = at.Robot.load("rx90b")
    joints = list(robot.description.joint)
    joints[4] = replace(joints[4], mimic=Mimic("joint_3", multiplier=-1.0))
    robot = at.Robot(replace(robot.description, joint=tuple(joints)))
    with pytest.raises(at.ArmtwinError, match="joints that follow others are not simulated"):
        at.export_fmu(robot, tmp_path / "x.fmu")
    assert not (tmp_path / "x.fmu").exists()
