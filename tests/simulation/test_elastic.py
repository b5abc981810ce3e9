"""Elastic joints in the common loop: limits, laws and sides."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

import armtwin as at
from armtwin.drives import rows
from armtwin.drives.ripple import Ripple
from armtwin.drives.rows import numerical_damping
from armtwin.simulation.clamped_tool import ToolClamp, clamp_at_tool
from armtwin.simulation.options import RunOptions
from armtwin.simulation.prepared import prepare
from tests.simulation.bench import from_rest, joint, line

spring = getattr(
    rows.spring, "py_func", rows.spring
)  # not compiled: it is called with a few numbers

RIGID = at.Model(quantise=False)
ELASTIC = at.Model(quantise=False, joints="elastic")


@pytest.fixture(scope="module")
def robot(robots):
    return robots["rx90b"].with_tool("laser_head")


@pytest.fixture(scope="module")
def seam(robot):
    return line(robot)


def stiffened(robot, factor, damping=0.0, **friction):
    """The robot with other stiffness, a relative damping of each rotor on its spring,
    other friction keys.
    """
    inertia = np.diag(robot.assembly.rotors.inertia)
    springs = []
    for t, J in zip(robot.description.transmission, inertia, strict=True):
        K = factor * t.stiffness
        springs.append(replace(t, stiffness=K, damping=2 * damping * float(np.sqrt(K * J))))
    elements = tuple(replace(f, **friction) for f in robot.description.friction)
    return at.Robot(replace(robot.description, transmission=tuple(springs), friction=elements))


def apart(robot, run, other):
    """Largest distance of the tools of two runs [m]."""
    X, Y = (robot.forward_kinematics(x.link_side)[:, :3, 3] for x in (run, other))
    return float(np.linalg.norm(X - Y, axis=1).max())


def test_stiff_joints_become_rigid_as_one_over_the_stiffness(robot, seam):
    """The line at 100 mm/s with 1 % damping:
    2 micrometres at a thousand times the file's stiffness.
    """
    rigid = at.simulate(robot, seam, RIGID)
    factors = np.array([1.0, 10.0, 100.0, 1000.0, 1e4])
    gaps = [
        apart(robot, at.simulate(stiffened(robot, f, 0.01), seam, ELASTIC), rigid) for f in factors
    ]
    slopes = np.diff(np.log(gaps)) / np.diff(np.log(factors))
    assert slopes == pytest.approx(-1, abs=0.02)
    assert gaps[3] < 2e-6


@pytest.mark.parametrize("factor", [1.0, 10.0])
def test_undamped_springs_conserve_energy(robot, seam, factor):
    run = at.simulate(stiffened(robot, factor), seam, ELASTIC)
    assert not run.log.events
    assert run.energy.dampers == 0
    assert abs(run.energy.numerical) < 1e-15
    assert abs(run.energy.gap) < 1e-8 * abs(run.energy.motors)


@pytest.mark.parametrize("factor", [100.0, 1000.0])
def test_undamped_springs_that_swing_within_a_tick_are_stable(robot, seam, factor):
    """Their numerical damping is in the account:
    it takes less than a millionth of the motors' work.
    """
    run = at.simulate(stiffened(robot, factor), seam, ELASTIC)
    assert not run.log.events
    assert 0 < run.energy.numerical < 1e-6 * abs(run.energy.motors)
    assert abs(run.energy.gap) < 1e-8 * abs(run.energy.motors)
    assert apart(robot, run, at.simulate(robot, seam, RIGID)) < 2e-3 / factor


def test_the_dampers_loss_is_in_the_energy_account(robot):
    run = at.simulate(stiffened(robot, 1.0, 0.2), from_rest(robot, 1.0), ELASTIC)
    assert run.energy.dampers > 1e-4
    assert abs(run.energy.gap) < 1e-6 * run.energy.friction


def test_friction_acts_on_the_side_that_it_names(robot):
    """On the link the spring carries it:
    at a steady speed the twist differs by friction over stiffness.
    """
    t = np.arange(0, 1.0, 1 / 250)[:, None]
    direction = np.eye(6)[0]
    q = np.array([0.0, 0.6, 1.3, 0.2, 1.0, 0.1]) + 0.5 * t * direction
    v = np.tile(0.5 * direction, (len(t), 1))
    motion = at.Trajectory.sampled(250, q, v, 0 * v)
    twists = []
    for side in ("motor", "link"):
        run = at.simulate(stiffened(robot, 1.0, 0.3, side=side), motion, ELASTIC)
        assert not run.log.events
        twists.append((run.motor_side - run.link_side)[-1, 0])
    friction = robot.friction_torque(0.5 * direction)[0]
    assert twists[1] - twists[0] == pytest.approx(friction / 90000.0, rel=0.02)


def test_a_held_arm_sags_by_its_weight_over_the_stiffness(robot):
    q = np.tile([0.3, 0.8, 1.0, 0.2, 1.1, 0.4], (50, 1))
    run = at.simulate(robot, at.Trajectory.sampled(250, q, 0 * q, 0 * q), ELASTIC)
    stiffness = np.array([t.stiffness for t in robot.description.transmission])
    sag = robot.gravity(run.link_side[0]) / stiffness
    assert (run.motor_side - run.link_side)[0] == pytest.approx(sag, abs=1e-12)
    assert np.abs(run.link_side - run.link_side[0]).max() < 2e-5
    assert run.log.q_link == pytest.approx(run.link_side[::8], abs=0)


def test_gyroscopic_rotors_on_stiff_springs_do_what_rigid_ones_do(robot):
    """The spin of the rotors moves the tool of either by the same micrometres."""
    spinning = at.Robot(
        replace(robot.description, gear=replace(robot.description.gear, gyroscopic=True))
    )
    motion = from_rest(robot, 1.0)
    moved = []
    for model, factor in ((RIGID, 1.0), (ELASTIC, 1000.0)):
        runs = [at.simulate(stiffened(r, factor), motion, model) for r in (spinning, robot)]
        X, Y = (robot.forward_kinematics(run.link_side)[:, :3, 3] for run in runs)
        moved.append(X - Y)
        assert abs(runs[0].energy.gap) < 1e-6 * runs[0].energy.friction
    assert np.abs(moved[0]).max() > 1e-6
    assert np.abs(moved[1] - moved[0]).max() < 0.02 * np.abs(moved[0]).max()


def test_the_perturbation_method_follows_elastic_joints(robot, seam):
    """Linearised along the rigid motion:
    sag and ring-down lie off it, by little against a micrometre.
    """
    soft = stiffened(robot, 1.0, 0.05)
    full = at.simulate(soft, seam, ELASTIC)
    linear = at.simulate(soft, seam, ELASTIC, options=at.RunOptions(method="perturbation"))
    assert linear.linear.M.shape == (300, 12, 12)
    assert apart(robot, full, linear) < 5e-6
    assert apart(robot, full, at.simulate(robot, seam, RIGID)) > 1e-3


def bench(stiffness, damping=0.0, backlash=0.0, **keys):
    """One joint with a spring in its gear."""
    from armtwin.robot.schema.drive_groups import Transmission

    stiff = joint(gravity=(0, 0, 0), **keys)
    t = Transmission(
        source="assumed: bench",
        joint="j",
        stiffness=stiffness,
        damping=damping,
        backlash=backlash,
    )
    return at.Robot(replace(stiff.description, transmission=(t,)))


def test_two_masses_on_a_spring_move_as_their_equations_say():
    """No servo, a steady push on the link:
    exact by a matrix exponential, the step is of second order.
    """
    K, c, J, rotor = 4000.0, 2.0, 4.0, 3e-4 * 100**2
    idle = {key: [0.0] for key in ("kp", "ki", "kv", "kvf", "kafc")}
    still = np.zeros((101, 1))
    motion = at.Trajectory.sampled(250, still, still, still)
    push = np.full((101, 1), 10.0)
    push[0] = 0.0  # the robot starts in equilibrium
    A = np.zeros((5, 5))  # link, drive, their speeds, 1
    A[:2, 2:4] = np.eye(2)
    A[2] = [-K / J, K / J, -c / J, c / J, 10.0 / J]
    A[3] = [K / rotor, -K / rotor, c / rotor, -c / rotor, 0.0]
    run = at.simulate(
        bench(K, c, servo=idle), motion, ELASTIC, options=at.RunOptions(torque=push, log_rate=4000)
    )
    # from the second set-point on the push is steady: start the exact motion there
    first = 16
    start = [run.log.q_link[first, 0], run.log.q[first, 0]]
    speeds = [np.gradient(run.log.q_link[:, 0], 1 / 4000)[first], run.log.v[first, 0]]
    y = expm(A * (run.log.time[-1] - run.log.time[first])) @ [*start, *speeds, 1.0]
    assert [run.log.q_link[-1, 0], run.log.q[-1, 0]] == pytest.approx(y[:2], abs=2e-5)
    assert abs(run.log.q[-1, 0] - run.log.q_link[-1, 0]) > 1e-4


def test_every_spring_step_is_stable():
    """Roots of a step of a mass on a spring, for any stiffness;
    with full numerical damping they vanish.
    """
    h = 1.0
    for a in np.geomspace(0.01, 1e4, 60):
        K = a * a
        for delta in (0.0, 0.3, 1.0, float(numerical_damping(np.array([K]), np.ones(1), h)[0])):
            columns = []
            for x, w in ((1.0, 0.0), (0.0, 1.0)):
                F, D = spring(K, 0.0, 0.0, K, 0.0, delta, x, w, h)
                dv = -h * F / (1 + 0.5 * h * D)
                columns.append([x + h * (w + 0.5 * dv), w + dv])
            roots = np.abs(np.linalg.eigvals(np.array(columns).T))
            assert roots.max() < 1 + 1e-9
            if delta == 0:
                assert roots.min() > 1 - 1e-9
            if delta == 1 and a > 100:
                assert roots.max() < 0.05


def test_a_gap_transmits_nothing_and_a_contact_never_pulls():
    def pressed(x, w, gap=0.01):
        return spring(100.0, 5.0, gap, 100.0, 0.0, 0.0, x, w, 1e-3)

    assert pressed(0.005, 0.1) == (0.0, 0.0)
    assert pressed(0.02, 0.0)[0] == pytest.approx(1.0)
    assert pressed(0.02, -1.0)[0] == 0.0
    assert pressed(0.02, -1.0, gap=0.0)[0] < 0


def test_zero_backlash_is_a_spring_and_a_wide_gap_lets_the_link_go():
    motion = from_rest(joint(), 0.5)
    runs = [at.simulate(bench(4000.0, 5.0, gap), motion, ELASTIC) for gap in (0.0, 1e-12, 0.02)]
    assert np.abs(runs[1].link_side - runs[0].link_side).max() < 1e-9
    assert np.abs(runs[2].motor_side - runs[2].link_side).max() > 0.01


def test_a_joint_held_at_its_tool_is_in_series_with_the_clamp():
    """1/K = 1/4000 + 1/6000: torque over angle of the motor while it presses slowly, no friction.

    studies/clamping.py does the same with the whole KR300, its other joints under servo.
    """
    robot = bench(4000.0, 40.0)
    model = replace(ELASTIC, friction="off")
    q = 0.01 * np.clip(np.arange(0, 2, 1 / 250) / 1.5, 0, 1)[:, None]
    motion = at.Trajectory.sampled(250, q, np.gradient(q, 1 / 250, axis=0), 0 * q)
    clamp = ToolClamp(translation=1.0, rotation=6000.0, damping=5e-3)
    change = clamp_at_tool(robot, model, q[0], clamp)
    log = at.simulate(robot, motion, model, options=at.RunOptions(change=change)).log
    assert not log.events
    assert log.tau[-1, 0] / log.q[-1, 0] == pytest.approx(2400.0, rel=1e-3)


def test_a_clamp_leaves_what_the_other_rows_reach(robot):
    """Motor 6 turns with joints 5 and 6: an uneven gear of joint 6 reaches the drive of joint 5,
    where its twist has no weight.
    """
    *others, last = robot.description.transmission
    uneven = (*others, replace(last, ripple=(Ripple(2.0, 1e-4),)))
    robot = at.Robot(replace(robot.description, transmission=uneven))
    model = replace(ELASTIC, ripple=True)
    q = np.array([0.3, 0.8, 1.0, 0.2, 1.1, 0.4])
    still = at.Trajectory.sampled(250, np.tile(q, (10, 1)), np.zeros((10, 6)), np.zeros((10, 6)))
    clamp = clamp_at_tool(robot, model, q, ToolClamp(translation=1e6, rotation=1e5))
    free = prepare(robot, still, model).plant.rows
    held = prepare(robot, still, model, options=RunOptions(change=clamp)).plant.rows
    assert any(free.used > (free.weights != 0).sum(axis=1))
    for r, count in enumerate(free.used):
        assert set(held.place[r, : held.used[r]]) == set(free.place[r, :count])


def test_elastic_joints_need_a_stiffness(robots):
    still = np.zeros((10, 6))
    with pytest.raises(
        at.ArmtwinError,
        match=r"cannot be simulated: transmission\.stiffness: missing for all joints",
    ):
        at.simulate(
            at.Robot(replace(robots["rx90b"].description, transmission=(), friction=())),
            at.Trajectory.sampled(250, still, still, still),
            replace(ELASTIC, friction="off"),
        )


def test_the_verdict_looks_at_the_link_and_a_comparison_at_like_sides(robots):
    """A log with link encoders is set beside the link side,
    one without beside what the controller sees.
    """
    job = at.Job.load("rx90b_line")
    soft = at.Job(
        replace(job.description, model=replace(job.description.model, joints="elastic")), job.origin
    )
    p = at.predict(soft)
    seen, got = np.abs(p.seen.vertical).max(), np.abs(p.path_error.vertical).max()
    assert got > 3 * seen  # the sag, which the motors do not see
    both = at.compare(soft, p.log)
    assert both.side == "q_link"
    bare = at.Log.of(p.log.time, q=p.log.q, q_ref=p.log.q_ref)
    motor = at.compare(soft, bare)
    for comparison in (both, motor):
        shares = {row.name: row.share_explained for row in comparison.rows}
        assert shares["vertical"] > 0.99
        assert shares["joint_2 error"] > 0.99
