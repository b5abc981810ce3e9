"""What is not in the rigid loop: springs before the gear, links that bend, ripple, forces."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.drives.ripple import Ripple
from armtwin.maths.batch import Floats
from armtwin.prediction.predict import plan_motion
from armtwin.robot.kinematics.coordinates import coordinates
from armtwin.robot.schema.drive_groups import Transmission
from armtwin.robot.schema.groups import Flange, Flexure, Pose, Tool
from tests.simulation.bench import joint, sine

SOURCE = "assumed: test"
ELASTIC = at.Model(quantise=False, joints="elastic", friction="off")
K, GEAR, INERTIA, ROTOR = 4e4, 100.0, 4.0, 3e-4


def with_springs(robot, *springs, **keys):
    return at.Robot(replace(robot.description, transmission=springs, **keys))


def bench(gravity=(0.0, 0.0, 0.0), **keys):
    """One joint with a tool point a metre from its axis."""
    robot = joint(gravity=gravity, **keys)
    tool = Tool(SOURCE, Pose(position=(1.0, 0.0, 0.0)))
    d = replace(robot.description, flange=Flange("arm", SOURCE), tool={"tip": tool})
    return at.Robot(d).with_tool("tip")


def on_joint(**keys):
    return Transmission(SOURCE, "j", stiffness=K, damping=20.0, **keys)


def branches(count):
    """So many joints side by side on one base; each second one has the spring of the one before it,
    but before its gear, k_motor = K / N².
    """
    one = joint(gravity=(0.0, 0.0, 0.0)).description
    joints, links, motors, springs = [], [], [], []
    for k in range(count):
        link = replace(one.link[0], name=f"arm{k}")
        joints.append(replace(one.joint[0], name=f"j{k}", child=f"arm{k}"))
        links.append(link)
        motors.append(replace(one.motor[0], name=f"m{k}"))
        size = 1 + 0.1 * (k // 2)
        on_joint = Transmission(SOURCE, f"j{k}", stiffness=size * K, damping=size * 20.0)
        if k % 2:
            before = {"stiffness": size * K / GEAR**2, "damping": size * 20.0 / GEAR**2}
            springs.append(Transmission(SOURCE, motor=f"m{k}", **before))
        else:
            springs.append(on_joint)
    matrix = tuple(tuple(row) for row in (GEAR * np.eye(count)).tolist())
    servo = one.servo["cascade"]
    gains = {name: getattr(servo, name) * count for name in ("kp", "ki", "kv", "kvf", "kafc")}
    d = replace(
        one,
        name="branches",
        joint=tuple(joints),
        link=tuple(links),
        motor=tuple(motors),
        gear=replace(one.gear, ratios=None, matrix=matrix),
        transmission=tuple(springs),
        servo={"cascade": replace(servo, **gains)},
    )
    return at.Robot(d)


def alone(robot, k):
    """Joint k of it as a robot of its own."""
    d = robot.description
    servo = d.servo["cascade"]
    gains = {n: getattr(servo, n)[k : k + 1] for n in ("kp", "ki", "kv", "kvf", "kafc")}
    return at.Robot(
        replace(
            d,
            joint=d.joint[k : k + 1],
            link=d.link[k : k + 1],
            motor=d.motor[k : k + 1],
            gear=replace(d.gear, ratios=(GEAR,), matrix=None),
            transmission=d.transmission[k : k + 1],
            servo={"cascade": replace(servo, **gains)},
        )
    )


def test_six_joints_without_coupling_are_six_independent_benches():
    """Also those whose springs lie before the gear: they move as others whose lie behind it do."""
    robot = branches(6)
    motion = sine(0.05, 1.3, 0.6, n=6)
    scale = np.array([1.0, 1.0, 0.6, 0.6, -0.7, -0.7])
    motion = at.Trajectory.sampled(250, motion.q * scale, motion.v * scale, motion.a * scale)
    together = at.simulate(robot, motion, ELASTIC)
    assert np.abs(together.link_side - together.motor_side).max() > 1e-5
    for k in range(0, 6, 2):
        own = at.Trajectory.sampled(250, *(x[:, k : k + 1] for x in (motion.q, motion.v, motion.a)))
        run = at.simulate(alone(robot, k), own, ELASTIC)
        for place in (k, k + 1):
            assert together.link_side[:, place] == pytest.approx(run.link_side[:, 0], abs=1e-12)
            assert together.motor_side[:, place] == pytest.approx(run.motor_side[:, 0], abs=1e-12)
            assert together.log.q_m[:, place] == pytest.approx(run.log.q_m[:, 0], abs=1e-9)


def still(q: float, seconds: float) -> at.Trajectory:
    samples = round(seconds * 250) + 1
    zero: Floats = np.zeros((samples, 1))
    return at.Trajectory.sampled(250, zero + q, zero, zero)


def test_a_force_on_the_tool_bends_the_gear_by_its_lever_over_the_stiffness():
    """It begins in equilibrium and stays there; the force keeps its direction as the arm turns."""
    robot = with_springs(bench(), on_joint())
    q, push = 0.3, 200.0
    motion = still(q, 0.4)
    wrench = np.tile([0.0, push, 0.0, 0.0, 0.0, 0.0], (len(motion.q), 1))
    run = at.simulate(robot, motion, ELASTIC, options=at.RunOptions(wrench=wrench))
    link = run.link_side[:, 0]
    # the lever of a force along y is the tool's x, 1 m · cos(link)
    assert K * (link[0] - q) == pytest.approx(push * np.cos(link[0]), rel=1e-9)
    assert np.abs(link - link[0]).max() < 1e-9


def test_the_work_of_a_force_at_the_tool_is_force_times_its_way():
    robot = with_springs(bench(), on_joint())
    motion = sine(0.2, 0.8, 1.0)
    force = np.zeros((len(motion.q), 6))
    force[:, 1] = 150.0
    run = at.simulate(
        robot, motion, ELASTIC, settle=(0.0, 0.0), options=at.RunOptions(wrench=force)
    )
    y = run.tool_poses()[:, 1, 3]
    assert run.energy.external == pytest.approx(150.0 * (y[-1] - y[0]), rel=2e-3, abs=1e-3)
    assert abs(run.energy.gap) < 1e-6


def test_slowly_turned_an_uneven_gear_shows_its_ripple_at_the_link():
    """2 cycles in a motor turn; the inertia of the link bends the spring besides."""
    ripple = Ripple(2.0, 1e-4, 0.4)
    robot = with_springs(bench(), on_joint(ripple=(ripple,)))
    motion = sine(0.02, 0.25, 1.0)
    model = replace(ELASTIC, ripple=True)
    run = at.simulate(robot, motion, model)
    motor = run.motor_side[:, 0]
    times = np.arange(len(motor)) / run.trace_rate
    _, _, a = motion.at(times)
    expected = ripple.at(GEAR * motor) - INERTIA * a[:, 0] / K
    assert np.ptp(expected) > 1.5e-4
    settled = times > 0.1  # the motion starts with a jump of speed
    # the ripple's own inertia and damping torque, A (J w² + c w) / K with w = 6.3 / s
    seen = (run.link_side[:, 0] - motor)[settled]
    assert seen == pytest.approx(expected[settled], abs=1e-6)
    rigid = coordinates(robot, ripple=True)
    assert rigid.of_bodies(motion.q) - motion.q == pytest.approx(ripple.at(GEAR * motion.q))


def uneven_bench(rate):
    spring = Transmission(SOURCE, "j", stiffness=K, ripple=(Ripple(3.0, 3e-4),))
    robot = with_springs(bench(), spring)
    servo = replace(robot.description.servo["cascade"], velocity_rate=rate)
    return at.Robot(replace(robot.description, servo={"cascade": servo}))


def test_an_uneven_gear_keeps_the_account_of_energy_to_second_order():
    """A motor passes 0.05 rad of the ripple's cycle in a tick; of 1.4 J the step loses 1e-5."""
    model = replace(ELASTIC, ripple=True)
    gaps = []
    for rate in (4000.0, 8000.0):
        run = at.simulate(uneven_bench(rate), sine(0.1, 1.0, 0.5), model)
        gaps.append(abs(run.energy.gap))
    assert gaps[0] < 2e-5
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(2, abs=0.1)


def test_a_link_on_a_flexure_swings_at_its_own_frequency_and_moves_the_tool():
    """Rotor and gear rigid and heavy against the link: √(k / J) of what lies beyond, within 1 %."""
    k = 9e3
    robot = bench(inertia=4.0)
    d = robot.description
    heavy = replace(d.motor[0], rotor_inertia=30.0)
    flexure = Flexure("bend", "arm", (0.0, 0.0, 1.0), k, SOURCE)
    robot = at.Robot(replace(d, flexure=(flexure,), motor=(heavy,)))
    motion = still(0.0, 1.0)
    torque = np.zeros((len(motion.q), 6))
    torque[:3, 1] = 20.0
    model = at.Model(quantise=False, friction="off", links="elastic")
    run = at.simulate(robot, motion, model, options=at.RunOptions(wrench=torque))
    y = run.tool_poses()[:, 1, 3]
    bend = run.bodies[:, 1]
    assert y == pytest.approx(np.sin(run.bodies.sum(axis=1)), abs=1e-12)
    crossing = np.flatnonzero((bend[:-1] < 0) & (bend[1:] >= 0))[2:]
    frequency = run.trace_rate * (len(crossing) - 1) / (crossing[-1] - crossing[0])
    assert frequency == pytest.approx(np.sqrt(k / 4.0) / (2 * np.pi), rel=0.01)


def test_stiff_links_become_rigid_as_one_over_their_stiffness():
    """The KR300's upper arm twists and bends at the start of its frame: some 0.1 mm, a tenth of it
    with links ten times as stiff.
    """
    job = at.Job.load("kr300_frame")
    robot = job.robot()
    motion = plan_motion(robot, job).trajectory
    some = slice(200, 450)
    motion = at.Trajectory(motion.rate, motion.q[some], motion.v[some], motion.a[some])
    idle = np.zeros((len(motion.q), 6))
    model = at.Model(quantise=False)
    rigid = at.simulate(robot, motion, model, options=at.RunOptions(wrench=idle)).tool_poses()
    gaps = []
    for factor in (1.0, 10.0):
        flexures = []
        for flexure in robot.description.flexure:
            stiff = factor * flexure.stiffness
            flexures.append(replace(flexure, stiffness=stiff, damping=factor * flexure.damping))
        other = at.Robot(replace(robot.description, flexure=tuple(flexures)))
        run = at.simulate(other, motion, replace(model, links="elastic"))
        assert abs(run.energy.gap) < 1e-8 * abs(run.energy.motors)
        gaps.append(np.linalg.norm((run.tool_poses() - rigid)[:, :3, 3], axis=1).max())
    assert gaps[0] > 1e-4
    assert gaps[0] / gaps[1] == pytest.approx(10, rel=0.02)
