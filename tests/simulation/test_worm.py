"""Worm gears in the closed loop: friction that follows the load, and a load that is locked."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.drives.friction.load import Load
from armtwin.simulation.kernels import kernel_of
from armtwin.simulation.lanes import run_lanes
from armtwin.simulation.prepared import prepare

POSE = np.array([0.0, 0.6, 1.3, 0.2, 1.0, 0.1])
EXACT = at.Model(quantise=False)


def with_worms(robot, share):
    """The RX90B with a share of the load in the friction of both wrist worms."""
    elements = []
    for element in robot.description.friction:
        worm = element.name in ("wrist_a", "wrist_c")
        elements.append(replace(element, load=Load(share)) if worm else element)
    return at.Robot(replace(robot.description, friction=tuple(elements)))


def slow_wrist(seconds=1.0):
    """Joints 5 and 6 move slowly; the head is on."""
    t = np.arange(0, seconds, 1 / 250)[:, None]
    size, w = np.array([0, 0, 0, 0, 0.12, 0.2]), 2 * np.pi / seconds
    q = POSE + size * (t - np.sin(w * t) / w)
    v = size * (1 - np.cos(w * t))
    return at.Trajectory.sampled(250, q, v, size * w * np.sin(w * t))


@pytest.fixture(scope="module")
def headed(robots):
    return robots["rx90b"].with_tool("laser_head")


def test_a_traced_loop_with_loads_does_what_its_loop_does_in_python(headed):
    """Two roads, while the wrist moves; bristles bend, levels follow and are carried on."""
    motion = slow_wrist(0.2)
    some = slice(10, 22)
    moving = at.Trajectory(motion.rate, motion.q[some], motion.v[some], motion.a[some])
    runs = [prepare(with_worms(headed, 0.5), moving, EXACT) for _ in range(2)]
    start = runs[0].state.carried.copy()
    assert runs[0].run() == runs[1].run_in_python()
    traced, generic = (run.state for run in runs)
    assert np.abs(generic.carried - start).max() > 0.1
    assert traced.carried == pytest.approx(generic.carried, rel=1e-10, abs=1e-10)
    assert np.abs(traced.u - generic.u).max() < 1e-13
    assert np.abs(traced.v - generic.v).max() < 1e-11


def test_loads_in_a_lane_have_the_digits_of_the_run_alone(headed):
    motion = slow_wrist(0.2)
    shares = (0.2, 0.5, 0.8)
    alone = [prepare(with_worms(headed, share), motion, at.Model()) for share in shares]
    together = [prepare(with_worms(headed, share), motion, at.Model()) for share in shares]
    kernel = kernel_of(together[0].fields, 4)
    assert run_lanes(kernel, together) == [run.run() for run in alone]
    for run, other in zip(together, alone, strict=True):
        np.testing.assert_array_equal(run.record.u, other.record.u)
        np.testing.assert_array_equal(run.state.carried, other.state.carried)


def test_no_share_of_the_load_is_the_loop_of_the_plain_law(headed):
    motion = slow_wrist(0.4)
    plain = at.simulate(headed, motion, EXACT).log
    loaded = at.simulate(with_worms(headed, 0.0), motion, EXACT).log
    assert np.abs(loaded.q - plain.q).max() < 1e-12
    assert np.abs(loaded.tau - plain.tau).max() < 1e-9


def test_the_level_of_the_loop_is_a_plus_b_times_the_load_of_the_links(headed):
    """The loop knows loads from the motors' side; the links' side gives the same friction, 1 %."""
    robot = with_worms(headed, 0.5)
    log = at.simulate(robot, slow_wrist(), EXACT).log
    sliding = (log.v[:, 4] > 0.05) & (log.v[:, 5] > 0.05)
    expected = robot.friction_torque(log.v) + robot.load_dependent_friction(log.q, log.v, log.a)
    assert np.abs(robot.load_dependent_friction(log.q, log.v, log.a)[sliding, 4]).min() > 0.2
    measured = log.tau_friction[sliding][:, 4:]
    assert measured == pytest.approx(expected[sliding][:, 4:], rel=0.01, abs=0.01)


def weak(robot):
    """The robot whose motors 5 and 6 can hold nothing."""
    motors = []
    for k, motor in enumerate(robot.description.motor):
        limit = 1e-6 if k >= 4 else motor.current_limit
        motors.append(replace(motor, current_limit=limit, current_quantum=None))
    return at.Robot(replace(robot.description, motor=tuple(motors)))


def standing(seconds):
    q = np.tile(POSE, (int(250 * seconds), 1))
    return at.Trajectory.sampled(250, q, 0 * q, 0 * q)


@pytest.mark.parametrize("friction", ["lugre", "switching"])
def test_a_load_drives_a_worm_back_below_a_share_of_one_and_not_above(headed, friction):
    """Motors that let go at once: the head's weight turns the wrist until the servo stops the run,
    or the teeth hold it; bristles then swing, which takes a share somewhat above one."""
    model = at.Model(friction=friction, quantise=False)
    driven = at.simulate(weak(with_worms(headed, 0.5)), standing(0.3), model).log
    held = at.simulate(weak(with_worms(headed, 1.3)), standing(0.3), model).log
    assert driven.events[0].kind == "following_error"
    assert np.abs(driven.q[-1, 4:] - POSE[4:]).max() > 1e-3
    assert {event.kind for event in held.events} == {"current_limit"}
    assert np.abs(held.q[-1, 4:] - POSE[4:]).max() < 2e-5


def test_energy_is_kept_while_levels_follow_loads(headed):
    """Work of the motors is what is stored and what friction takes, but for the integration."""
    robot = with_worms(headed, 0.5)
    run = at.simulate(robot, slow_wrist(), EXACT)
    assert abs(run.energy.gap) < 2e-3 * run.energy.friction


def test_a_row_that_no_motor_turns_carries_no_known_load(headed):
    elements = []
    for element in headed.description.friction:
        bearing = element.name == "wrist_b"
        elements.append(replace(element, load=Load(0.2)) if bearing else element)
    with pytest.raises(at.ArmtwinError, match="wrist_b: load needs a row that one motor turns"):
        at.Robot(replace(headed.description, friction=tuple(elements)))


def test_a_robot_file_keeps_the_share_and_refuses_one_without_dry_friction(headed, tmp_path):
    robot = with_worms(headed, 0.25)
    robot.save(tmp_path / "worm.toml")
    again = at.Robot.load(tmp_path / "worm.toml")
    assert again.description.friction[4].load == Load(0.25)
    assert not again.description.friction[4].load.locks
    text = (tmp_path / "worm.toml").read_text().replace("asperity = 0.63365", "asperity = 0.0")
    (tmp_path / "worm.toml").write_text(text)
    with pytest.raises(at.ArmtwinError, match="load needs a law with dry friction"):
        at.Robot.load(tmp_path / "worm.toml")
