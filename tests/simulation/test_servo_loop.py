"""Sensors, gains and outputs with delays, against difference equations written by hand."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.robot.schema.drive_groups import Transmission
from armtwin.robot.schema.servo import Cascade, Delays, VelocityLaw
from tests.simulation.bench import joint

RATE, GEAR, LINK, ROTOR, CONSTANT = 4000, 100.0, 4.0, 3e-4, 0.45
h = 1 / RATE
EXACT = at.Model(quantise=False, friction="off")
SOURCE = "assumed: bench"
WHOLE = LINK + ROTOR * GEAR**2  # inertia at the joint [kg m²]


def steps(count=800):
    """A motion with a set-point in every tick: a step, then a sine."""
    k = np.arange(count)[:, None]
    q = np.where(k < 20, 0.0, 0.002) + 0.01 * np.sin(2 * np.pi * 5 * k * h) * (k > 300)
    v = 0.3 * np.cos(2 * np.pi * 5 * k * h) * (k > 300)
    a = -9.0 * np.sin(2 * np.pi * 5 * k * h) * (k > 300)
    return at.Trajectory.sampled(RATE, q, v, a)


def with_servo(servo, stiffness=None):
    """The bench joint under a servo with one rate for all loops,
    its gear elastic where a stiffness is given.
    """
    robot = joint(gravity=(0, 0, 0))
    d = replace(robot.description, servo={"cascade": servo})
    if stiffness is not None:
        d = replace(d, transmission=(Transmission(SOURCE, "j", stiffness=stiffness, damping=3.0),))
    return at.Robot(d)


def rigid_step(q, v, torque):
    """A joint under a motor torque over a tick: exact."""
    dv = h * torque * GEAR / WHOLE
    return q + h * (v + 0.5 * dv), v + dv


def elastic_step(u, v, torque, K, c):
    """Link and drive side on a spring over a tick, force and speeds half way."""
    M = np.diag([LINK, ROTOR * GEAR**2])
    s = np.array([-1.0, 1.0])
    x, w = s @ u, s @ v
    force = K * (x + 0.5 * h * w) + c * w
    dv = np.linalg.solve(
        M + 0.5 * h * (c + 0.5 * h * K) * np.outer(s, s),
        h * (np.array([0.0, torque * GEAR]) - force * s),
    )
    return u + h * (v + 0.5 * dv), v + dv


GAINS = {"kp": 0.4, "ki": 3.0, "kv": 0.02, "kvf": 0.02}


@pytest.mark.parametrize(("sensor", "output"), [(0, 0), (3, 0), (0, 2), (5, 4)])
def test_a_delay_of_whole_ticks_in_sensor_and_output(sensor, output):
    delays = Delays(sensor=(sensor * h,), output=(output * h,))
    servo = Cascade(RATE, RATE, RATE, SOURCE, delay=delays, **{k: (x,) for k, x in GAINS.items()})
    motion = steps()
    log = at.simulate(with_servo(servo), motion, EXACT).log
    q, v, integral, seen, given, positions = 0.0, 0.0, 0.0, [], [], []
    for k in range(len(motion.q)):
        seen.append((GEAR * q, GEAR * v))
        position, speed = seen[max(k - sensor, 0)] if k >= sensor else (0.0, 0.0)
        e = GEAR * motion.q[k, 0] - position
        integral += e * h
        u = GAINS["kp"] * e + GAINS["ki"] * integral + GAINS["kvf"] * GEAR * motion.v[k, 0]
        u -= GAINS["kv"] * speed
        given.append(np.clip(u / CONSTANT, -7, 7))
        assert abs(u / CONSTANT) < 7
        positions.append(q)
        current = given[k - output] if k >= output else 0.0
        assert log.current[k, 0] == pytest.approx(current, abs=1e-9)
        q, v = rigid_step(q, v, CONSTANT * current)
    assert np.abs(log.q[:, 0] - positions).max() < 1e-12


@pytest.mark.parametrize("side", ["motor", "link"])
def test_the_position_loop_reads_the_encoder_that_it_names(side):
    K, c = 4000.0, 3.0
    servo = Cascade(
        RATE, RATE, RATE, SOURCE, feedback=(side,), **{k: (x,) for k, x in GAINS.items()}
    )
    motion = steps()
    log = at.simulate(with_servo(servo, K), motion, replace(EXACT, joints="elastic")).log
    u, v, integral, positions = np.zeros(2), np.zeros(2), 0.0, []
    for k in range(len(motion.q)):
        positions.append(u)
        e = GEAR * (motion.q[k, 0] - (u[0] if side == "link" else u[1]))
        integral += e * h
        command = GAINS["kp"] * e + GAINS["ki"] * integral + GAINS["kvf"] * GEAR * motion.v[k, 0]
        command -= GAINS["kv"] * GEAR * v[1]
        u, v = elastic_step(u, v, command, K, c)
    positions = np.array(positions)
    assert np.abs(log.q_link[:, 0] - positions[:, 0]).max() < 1e-12
    assert np.abs(log.q[:, 0] - positions[:, 1]).max() < 1e-12
    assert np.abs(log.q - log.q_link).max() > 1e-4


@pytest.mark.parametrize(
    ("late", "reset", "after"), [(0, 0.0, 0.0), (24, 60.0, 0.0), (24, 60.0, 0.7)]
)
def test_the_velocity_law(late, reset, after):
    """v_cmd = v_ref(t - d) + kp e + kff τ_ref(t - d), a PI loop on it, and a torque behind it."""
    kp, kv, kff = 0.5, 0.05, 0.3
    servo = VelocityLaw(
        RATE,
        RATE,
        RATE,
        (kp,),
        (kv,),
        SOURCE,
        kiv=(reset,),
        kff=(kff,),
        ktfc=(after,),
        delay=Delays(reference=(late * h,)),
    )
    motion = steps()
    log = at.simulate(with_servo(servo), motion, EXACT).log
    model = WHOLE * motion.a[:, 0] / GEAR
    q, v, total, positions = 0.0, 0.0, 0.0, []
    for k in range(len(motion.q)):
        positions.append(q)
        then = max(k - late, 0)
        wanted = GEAR * motion.v[then, 0] + kp * GEAR * (motion.q[k, 0] - q) + kff * model[then]
        error = wanted - GEAR * v
        total += error * h
        torque = kv * (error + reset * total) + after * model[then]
        assert abs(torque) < 7 * CONSTANT
        q, v = rigid_step(q, v, torque)
    assert np.abs(log.q[:, 0] - positions).max() < 1e-12


def test_a_stiff_velocity_loop_follows_its_command_whatever_the_load():
    """The error of the law is then that of its equation, v = v_ref + kp e:
    a heavy push hardly shows.
    """
    kp, kv = 2.0, 0.4
    servo = VelocityLaw(RATE, RATE, RATE, (kp,), (kv,), SOURCE, kiv=(200.0,))
    motion = steps()
    free = at.simulate(with_servo(servo), motion, EXACT).log
    push = np.full_like(motion.q, 20.0)
    push[0] = 0.0
    loaded = at.simulate(with_servo(servo), motion, EXACT, options=at.RunOptions(torque=push)).log
    assert np.abs(free.q - loaded.q)[400:].max() < 2e-4


def test_a_quantised_speed_comes_in_steps():
    servo = Cascade(RATE, RATE, RATE, SOURCE, kp=(0.0,), ki=(0.0,), kv=(0.02,))
    robot = with_servo(servo)
    coarse = replace(robot.description.motor[0], speed_quantum=0.5)
    stepped = at.Robot(replace(robot.description, motor=(coarse,)))
    push = np.full((800, 1), 20.0)
    push[0] = 0.0
    still = np.zeros((800, 1))
    motion = at.Trajectory.sampled(RATE, still, still, still)
    current = at.simulate(
        stepped, motion, replace(EXACT, quantise=True), options=at.RunOptions(torque=push)
    ).log.current[:, 0]
    counts = current * CONSTANT / (0.02 * 0.5)
    assert np.abs(counts - counts.round()).max() < 1e-9
    assert len(np.unique(counts.round())) > 5


def test_robots_with_fewer_motors_than_joints_are_refused_by_a_sentence(robots):
    d = robots["rx90b"].description
    still = np.zeros((10, 6))
    matrix = tuple(tuple(row) for row in robots["rx90b"].assembly.gear[:5])
    five = replace(d, motor=d.motor[:5], gear=replace(d.gear, ratios=None, matrix=matrix), servo={})
    servo = Cascade(250, 2000, 4000, SOURCE, kp=(1.0,) * 5, ki=(0.0,) * 5, kv=(0.1,) * 5)
    robot = at.Robot(replace(five, servo={"cascade": servo}))
    with pytest.raises(
        at.ArmtwinError, match="6 joints need as many motors or cylinders to be controlled"
    ):
        at.simulate(robot, at.Trajectory.sampled(250, still, still, still))


def test_robots_with_more_motors_than_joints_are_refused_by_a_sentence(robots):
    d, gear = robots["rx90b"].description, robots["rx90b"].assembly.gear
    matrix = tuple(tuple(row) for row in (*gear, gear[0]))
    seven = (*d.motor, replace(d.motor[0], name="motor_7"))
    with pytest.raises(
        at.ArmtwinError, match=r"gear\.matrix must not be singular: 7 motors, rank 6"
    ):
        at.Robot(
            replace(d, motor=seven, gear=replace(d.gear, ratios=None, matrix=matrix), servo={})
        )


def test_a_robot_of_twelve_joints_runs():
    """Two arms of the shipped robot one behind the other hold their pose against gravity."""
    first = at.Robot.load("rx90b").description
    joints, links, motors, friction = list(first.joint), list(first.link), list(first.motor), []
    for j in first.joint:
        parent = "link_6" if j.parent == "base" else f"{j.parent}b"
        joints.append(replace(j, name=f"{j.name}b", parent=parent, child=f"{j.child}b"))
    links += [replace(x, name=f"{x.name}b") for x in first.link if x.name != "base"]
    motors += [replace(m, name=f"{m.name}b", current_limit=200.0) for m in first.motor]
    N = np.kron(np.eye(2), at.Robot.load("rx90b").assembly.gear)
    gear = replace(first.gear, ratios=None, matrix=tuple(tuple(float(x) for x in row) for row in N))
    rule = replace(first.servo["cascade"].rule, **{
        key: 2 * getattr(first.servo["cascade"].rule, key)
        for key in ("bandwidth", "inertia", "integrator", "friction_feedforward")
    })  # fmt: skip
    motors = [replace(m, current_limit=200.0) for m in motors]
    d = replace(
        first, joint=tuple(joints), link=tuple(links), motor=tuple(motors), gear=gear,
        friction=tuple(friction), balancer=(), transmission=(), flange=None,
        tool={}, payload={}, frame=(),
        servo={"cascade": replace(first.servo["cascade"], rule=rule, following_error_limit=None)},
    )  # fmt: skip
    robot = at.Robot(d)
    assert robot.n == 12
    q = np.tile(0.3 * np.ones(12), (50, 1))
    run = at.simulate(
        robot, at.Trajectory.sampled(250, q, 0 * q, 0 * q), at.Model(friction="off", quantise=False)
    )
    assert not run.log.events
    assert run.log.tau[0] == pytest.approx(robot.gravity(q[0]), abs=1e-9)
    assert np.abs(run.link_side - 0.3).max() < 1e-9
