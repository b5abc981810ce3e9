"""Traced kernels: equal to those they were traced from, shared by every variant of a robot."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.drives.friction import curves
from armtwin.drives.friction.curves import at_viscosity
from armtwin.drives.sensors import quantise
from armtwin.drives.temperature import viscosity_factor
from armtwin.maths import tracing
from armtwin.maths.rotations import from_rpy
from armtwin.maths.stretches import Part, evaluate, stretches
from armtwin.maths.tape import Tape
from armtwin.maths.tracing import python_of
from armtwin.prediction.predict import plan_motion
from armtwin.robot.schema.groups import Pose
from armtwin.simulation import equations, loop, prepared
from armtwin.simulation.kernels import name_of
from armtwin.simulation.options import RunOptions
from armtwin.simulation.plant import without_friction, without_limit
from armtwin.simulation.setpoints import build_step_motion, home_of, hydraulic_model
from tests.oracles import as_robot, bodies_only, random_arm

SHORT = 0.2  # of a run that is compared [s]


def traced_equations(arm, dense):
    """Mass matrix and bias of an arm as a stretch of a tape, and the number of its operations."""
    n = len(arm.parent)
    tape = Tape()

    def geometry(name):
        values = getattr(arm, name)
        return tape.inputs(name, values.shape) if dense else tape.pattern(name, values)

    def scratch(*shape):
        return np.zeros(shape, dtype=object)

    u, v = tape.inputs("u", (n,)), tape.inputs("v", (n,))
    M, bias = scratch(n, n), scratch(n)
    turn, offset, axis, gravity = map(geometry, ("turn", "offset", "axis", "gravity"))
    inertia = tape.inputs("inertia", (n, 10))
    symbols = arm._replace(turn=turn, offset=offset, axis=axis, gravity=gravity, inertia=inertia)
    bodies = equations.make_bodies(n, object)
    python_of(equations.of_bodies)(
        (0,) * n, symbols, np.zeros((n, n)), bodies, np.zeros(n), u, v, M, bias
    )
    part = Part(tape)
    for i in range(n):
        part.put("bias", (i,), bias[i])
        for j in range(i + 1):
            part.put("M", (i, j), M[i, j])
    (stretch,) = stretches(part, "kept")
    return stretch


def assert_equal_equations(robot, rng):
    """The traced equations give the mass matrix and the torque of a motion without acceleration."""
    arm, n = robot.assembly.arm, robot.n
    q, v = rng.uniform(-2, 2, size=(2, n))
    sizes = []
    for dense in (False, True):
        stretch = traced_equations(arm, dense)
        memory = {**arm._asdict(), "u": q, "v": v, "M": np.zeros((n, n)), "bias": np.zeros(n)}
        evaluate(stretch, memory)
        M = memory["M"] + np.tril(memory["M"], -1).T
        exact = robot.mass_matrix(q)
        assert np.abs(M - exact).max() <= 1e-13 * np.abs(exact).max()
        torque = robot.inverse_dynamics(q, v, np.zeros(n))
        size = max(np.abs(torque).max(), np.abs(exact).max())
        assert np.abs(memory["bias"] - torque).max() <= 1e-13 * size
        sizes.append(len(stretch.numbers))
    return sizes


@pytest.mark.parametrize("n", range(1, 13))
def test_the_tape_of_a_random_tree_computes_its_equations(n):
    """Odd angles, prismatic joints, branches, a tilted base; 1e-13 of the largest entry."""
    rng = np.random.default_rng(n)
    assert_equal_equations(as_robot(random_arm(rng, n)), rng)


@pytest.mark.parametrize("name", ["rx90b", "lwa4p", "kr300", "tx40"])
def test_the_tape_of_a_shipped_robot_uses_the_zeros_of_its_geometry(name):
    robot = at.Robot.load(name)
    pattern, dense = assert_equal_equations(bodies_only(robot), np.random.default_rng(1))
    assert pattern < 0.6 * dense


def pushed(motion):
    """A force and a torque on the tool that rise and turn over."""
    size = np.array([200.0, -150.0, 100.0, 10.0, -5.0, 8.0])
    return size * np.sin(3.0 * motion.time[:, None] + 0.5)


def prepared_run(
    job, change=None, setpoints=None, *, is_pushed=False, is_linear=False, gyroscopic=False, **model
):
    robot = job.robot()
    if gyroscopic:
        gear = replace(robot.description.gear, gyroscopic=True)
        robot = at.Robot(replace(robot.description, gear=gear), robot.origin)
    motion = plan_motion(robot, job).trajectory
    some = setpoints or slice(0, int(SHORT * motion.rate) + 250)
    short = at.Trajectory(motion.rate, motion.q[some], motion.v[some], motion.a[some])
    chosen = replace(job.description.model, quantise=False, **model)
    wrench = pushed(short) if is_pushed else None
    method = "perturbation" if is_linear else "nonlinear"
    options = RunOptions(method=method, points=60, wrench=wrench, change=change)
    return prepared.prepare(robot, short, chosen, options)


def kernel_name(run):
    return name_of(run.fields)


def assert_the_same_run(traced, generic):
    """Sums are ordered alike up to fused products: what rounding makes of it in 1800 ticks."""
    travel = np.abs(generic.record.u).max()
    assert np.abs(traced.record.u - generic.record.u).max() < 1e-13 * travel
    assert np.abs(traced.record.trace - generic.record.trace).max() < 1e-13 * travel
    energy = np.abs(generic.state.energy).max()
    assert np.abs(traced.state.energy - generic.state.energy).max() < 1e-10 * energy


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("rx90b_line", {}),
        ("rx90b_line", {"friction": "switching"}),
        ("rx90b_line", {"friction": "arctan", "gyroscopic": True}),
        ("kr300_frame", {"joints": "rigid", "is_pushed": True}),
        ("kr300_frame", {"joints": "rigid", "is_pushed": True, "is_linear": True}),
        ("rx90b_line", {"joints": "elastic", "ripple": True, "is_pushed": True}),
    ],
)
def test_a_traced_loop_in_motion_does_what_its_stages_do_in_python(name, keys):
    """A few set-points, where it moves."""
    job = at.Job.load(name)
    moving = slice(300, 313)
    traced = prepared_run(job, setpoints=moving, **keys)
    generic = prepared_run(job, setpoints=moving, **keys)
    assert np.abs(generic.motion.v).max() > 0.01
    assert traced.run() == generic.run_in_python()
    assert_the_same_run(traced, generic)


def test_a_hydraulic_robot_on_a_tape_does_what_its_stages_do_in_python(robots):
    """Levers, valves, oil and late outputs, for 30 ms after its set-points jump."""
    robot = robots["epaas"]
    model = hydraulic_model(robot)
    home = home_of(robot)
    motion = build_step_motion(robot, model, [0, 0.002], np.array([home, home + 0.01]), 0.03)
    traced, generic = (prepared.prepare(robot, motion, model) for _ in range(2))
    assert traced.run() == generic.run_in_python()
    assert np.ptp(generic.record.u, axis=0).max() > 1e-5
    assert_the_same_run(traced, generic)


def test_payloads_frictions_limits_and_overrides_share_one_kernel():
    """What changes a number and not the structure is an argument."""
    job = at.Job.load("rx90b_line")
    name = kernel_name(prepared_run(job))
    assert kernel_name(prepared_run(job.with_speed(0.2))) == name
    for key, value in (
        ("link.link_3.body.mass", 20.0),
        ("motor.motor_2.rotor_inertia", 1e-3),
        ("motor.motor_5.encoder_counts", 5000),
        ("servo.cascade.rule.bandwidth", [9.0] * 6),
        ("friction.1.viscous", 3.0),
    ):
        changed = at.Job(replace(job.description, override={key: value}), job.origin)
        assert kernel_name(prepared_run(changed)) == name, key
    for change in (lambda p: without_friction([0, 3], p), lambda p: without_limit(1, p)):
        assert kernel_name(prepared_run(job, change)) == name


def test_a_robot_with_a_deviated_link_shares_a_kernel_with_every_other():
    job = at.Job.load("rx90b_line")
    names = {kernel_name(prepared_run(job))}
    for angle in (1e-3, 2e-3):
        robot = job.robot()
        joints = list(robot.description.joint)
        pose = joints[2].origin.matrix()
        pose[:3, :3] = pose[:3, :3] @ from_rpy(angle, 2 * angle, -angle)
        joints[2] = replace(joints[2], origin=Pose.from_matrix(pose))
        deviated = at.Robot(replace(robot.description, joint=tuple(joints)), robot.origin)
        motion = plan_motion(robot, job).trajectory
        run = prepared.prepare(deviated, motion, job.description.model)
        names.add(kernel_name(run))
    assert len(names) == 2


def test_a_loop_with_tables_of_friction_follows_the_laws_themselves(robots, monkeypatch):
    """From rest into sliding, 1e-8 rad: the same kernels in Python, with the law for its table."""
    robot = robots["rx90b"]
    model = at.Model(quantise=False)
    t = np.arange(0, 0.1601, 1 / 250)[:, None]
    size, w = np.array([0.02, 0.015, -0.02, 0.03, -0.03, 0.04]), 2 * np.pi * 3
    q = np.array([0.1, 0.6, 1.3, 0.2, 1.0, 0.1]) + size * (1 - np.cos(w * t))
    motion = at.Trajectory.sampled(250, q, size * w * np.sin(w * t), size * w * w * np.cos(w * t))
    laws = []
    for element, _ in robot.assembly.friction:
        factor = viscosity_factor(element.thermal, model.temperature)
        both = (element.law, element.negative or element.law)
        laws.append([at_viscosity(law, factor) for law in both])

    def exact(table, e, side, scale, speed):
        w = np.array([speed * (1 - 1e-5), speed, speed * (1 + 1e-5) + 1e-12])
        g, f = curves._smooth_split(laws[e][side], w)
        apart = w[2] - w[0]
        return g[1], (g[2] - g[0]) / apart, f[1], (f[2] - f[0]) / apart

    tabulated, lawful = (prepared.prepare(robot, motion, model) for _ in range(2))
    in_python = {curves.look_up: exact, quantise: lambda x, step: x}  # no steps in this model
    monkeypatch.setattr(tracing, "_known", in_python)
    ended = tabulated.run()
    assert ended[0] == loop.FINISHED
    assert lawful.run_in_python() == ended
    travel = np.ptp(lawful.record.u, axis=0)
    assert travel.max() > 1e-3
    assert np.abs(tabulated.record.trace - lawful.record.trace).max() < 1e-8
