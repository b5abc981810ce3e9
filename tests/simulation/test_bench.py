"""One transmission on a bench: laws, limits, exact solutions, the Modelica friction table."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from scipy.linalg import expm

import armtwin as at
from armtwin.drives.friction.coulomb import CoulombViscous
from armtwin.drives.friction.table import TabulatedFriction
from armtwin.drives.rows import Spring
from armtwin.notebook.sections import Data

FREE = at.Bench(rotor_inertia=0.01, gear_ratio=10.0, stiffness=400.0, joint="free", inertia=2.0)


def push(seconds=2.0, rate=500, seed=3):
    """Torques at uneven times."""
    rng = np.random.default_rng(seed)
    time = np.cumsum(rng.uniform(0.5, 1.5, int(seconds * rate))) / rate
    return time, 3 * np.sin(4 * time) + np.sin(11 * time)


def test_two_masses_on_a_damped_spring_move_as_their_equations_say():
    """Exact by a matrix exponential over each interval with its linear torque."""
    time, torque = push(1.0, 100)
    bench = replace(FREE, damping=5.0, ground_damping=2.0)
    run = at.simulate_bench(bench, time, torque)
    J, Jm, N, K, c, g = 2.0, 0.01 * 100, 10.0, 400.0, 5.0, 2.0
    A = np.zeros((6, 6))  # joint, drive, their speeds, torque, its rate
    A[:2, 2:4] = np.eye(2)
    A[2, :4] = [-K / J, K / J, -c / J, c / J]
    A[3] = [K / Jm, -K / Jm, c / Jm, -(c + g) / Jm, N / Jm, 0.0]
    A[4, 5] = 1.0
    y = np.zeros(4)
    for k in range(len(time) - 1):
        h = time[k + 1] - time[k]
        start = [*y, torque[k], (torque[k + 1] - torque[k]) / h]
        y = (expm(A * h) @ start)[:4]
    got = [run.log.q_link[-1, 0], run.log.q[-1, 0]]
    assert got == pytest.approx(y[:2], rel=1e-4)
    assert abs(run.energy.gap) < 1e-6 * run.energy.motors


def slope_of_errors(bench, steps):
    """Order of the integration, from the distance to a much finer run."""
    time = np.arange(0, 1 + 1e-9, 2.0**-6)
    torque = 3 * np.sin(4 * time) + np.sin(11 * time)
    found = []
    for step in (*steps, steps[-1] / 16):
        run = at.simulate_bench(bench, time, torque, step=step)
        found.append(run.log.q_link[:, 0])
    errors = [np.sqrt(np.mean((x - found[-1]) ** 2)) for x in found[:-1]]
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


def test_the_order_is_two_with_springs_and_gaps_and_one_with_dampers_in_gaps():
    """A damper begins to act at once where a gap closes: its torque jumps within a step."""
    steps = 2.0 ** -np.arange(7, 14)
    assert slope_of_errors(replace(FREE, damping=5.0), steps) == pytest.approx(2, abs=0.05)
    assert slope_of_errors(replace(FREE, backlash=0.01), steps) == pytest.approx(2, abs=0.1)
    assert slope_of_errors(replace(FREE, damping=5.0, backlash=0.01), steps) > 0.8


def test_zero_friction_and_damping_conserve_energy():
    time, torque = push()
    run = at.simulate_bench(FREE, time, torque)
    assert run.energy.dampers == 0
    assert run.energy.friction == 0
    assert abs(run.energy.gap) < 1e-9 * run.energy.motors


def test_zero_backlash_is_a_spring_and_low_stiffness_equal_to_it_is_no_knee():
    time, torque = push()
    plain = at.simulate_bench(FREE, time, torque).log.q_link
    tiny = at.simulate_bench(replace(FREE, backlash=1e-12), time, torque).log.q_link
    same = replace(FREE, low_stiffness=400.0, low_torque=5.0)
    straight = at.simulate_bench(same, time, torque).log.q_link
    assert np.abs(tiny - plain).max() < 1e-8
    assert np.abs(straight - plain).max() < 1e-12


def test_a_clamped_motor_rests_where_the_stiffening_spring_holds_its_torque():
    """Damped until it stands: torque of the spring equals torque times gear ratio."""
    time = np.linspace(0, 20, 2001)
    bench = at.Bench(
        rotor_inertia=0.01,
        gear_ratio=10.0,
        stiffness=400.0,
        damping=40.0,
        backlash=0.02,
        low_stiffness=100.0,
        low_torque=5.0,
    )
    for torque in (0.3, 2.0):
        run = at.simulate_bench(bench, time, np.full(len(time), torque))
        twist = run.log.q[-1]
        spring = Spring(400.0, 40.0, 0.02, 100.0, 5.0)
        assert spring.torque(twist) == pytest.approx(10 * torque, rel=1e-6)


def test_a_clamp_of_finite_stiffness_is_in_series_with_the_gear():
    """1/K = 1/400 + 1/1200 on the joint side."""
    time = np.linspace(0, 20, 2001)
    bench = replace(
        FREE,
        joint="clamped",
        clamp_stiffness=1200.0,
        clamp_damping=60.0,
        damping=40.0,
        inertia=0.5,
    )
    run = at.simulate_bench(bench, time, np.full(len(time), 1.0))
    assert run.log.q[-1, 0] == pytest.approx(10 / 300, rel=1e-6)
    assert run.log.q_link[-1, 0] == pytest.approx(10 / 1200, rel=1e-6)


def test_a_load_is_held_by_the_motor():
    """Torque of the motor times gear ratio against the load: both stand, the spring twisted."""
    time = np.linspace(0, 30, 3001)
    bench = replace(FREE, joint="loaded", load=-20.0, damping=40.0, ground_damping=100.0)
    run = at.simulate_bench(bench, time, np.full(len(time), 2.0))
    twist = run.log.q[-1, 0] - run.log.q_link[-1, 0]
    assert twist == pytest.approx(20 / 400, rel=1e-6)


def test_dry_friction_holds_until_its_peak_and_then_slides_on_the_table():
    """Below the peak nothing moves; above it the motor goes on at the table's torque."""
    table = TabulatedFriction((0.0, 1.0, 1.5), (2.0, 3.0, 4.11), peak=1.5)
    bench = at.Bench(rotor_inertia=0.1, joint="free", friction=(at.BenchFriction("motor", table),))
    time = np.linspace(0, 40, 4001)
    still = at.simulate_bench(bench, time, np.full(len(time), 2.99)).log
    assert np.abs(still.q_m).max() < 1e-30
    moving = at.simulate_bench(bench, time, np.full(len(time), 3.01)).log
    assert moving.v[-1, 0] == pytest.approx(1.0, abs=0.01)


def test_a_motor_that_drags_slides_at_an_even_speed_under_a_ramp_of_torque():
    """Speed = rate of the torque over the stiffness, although the drag would stop the motor within
    0.2 ms: without the spring's swing, and without that of a step that is too long.
    """
    law = CoulombViscous(4.7, 39.0)
    bench = at.Bench(0.0085, 150.0, damping=0.2, friction=(at.BenchFriction("motor", law),))
    time = np.arange(0, 4, 0.01)
    log = at.simulate_bench(bench, time, 6.0 * time).log
    sliding = log.time > 3.2  # the drag over the stiffness is a time of 0.26 s
    assert log.v[sliding, 0] == pytest.approx(6 / 150, rel=1e-3)


def test_a_friction_table_goes_on_straight_beyond_its_last_two_points():
    """As the Modelica component: 8.22 N m at 2 rad/s, where the last torque of the table is 6.0."""
    table = TabulatedFriction((0.0, 0.5, 1.0), (2.0, 3.78, 6.0))
    assert table.columns(np.array([2.0, -2.0]))[:, 0] == pytest.approx([10.44, -10.44])
    gentle = TabulatedFriction((0.0, 1.0, 1.5), (2.0, 3.78, 6.0))
    assert gentle.columns(np.array([2.0]))[0, 0] == pytest.approx(8.22)
    assert gentle.held == 2.0


def test_stiction_of_a_clamped_motor_stops_without_spikes():
    """Torque up and down over a gap with static friction: angles follow the play, no sample
    stands out.
    """
    table = TabulatedFriction((0.0, 0.05, 1.0), (1.9, 1.7, 2.0), peak=1.3)
    bench = at.Bench(
        rotor_inertia=0.01,
        stiffness=25.7,
        damping=0.05,
        ground_damping=0.01,
        backlash=0.01,
        friction=(at.BenchFriction("motor", table),),
    )
    time = np.arange(0, 40, 0.01)
    torque = 8 * np.sin(2 * np.pi * time / 20)
    q = at.simulate_bench(bench, time, torque).log.q_m[:, 0]
    assert q.max() == pytest.approx((8 - 1.8) / 25.7 + 0.005, rel=0.05)
    assert np.abs(np.diff(q)).max() < 0.03 * np.ptp(q)


def test_a_joint_of_a_robot_on_a_bench_has_its_numbers(robots):
    bench = at.bench_of(robots["kr300"], "joint_1")
    assert bench.gear_ratio == pytest.approx(1798 / 7)
    gear = robots["kr300"].description.transmission[0]
    found = (bench.stiffness, bench.damping, bench.backlash)
    assert found == (gear.stiffness, gear.damping, gear.backlash)
    assert bench.stiffness == pytest.approx(4577800.0)
    assert bench.rotor_inertia == pytest.approx(0.00923)
    with pytest.raises(at.ArmtwinError, match="joint_5 must have a motor of its own"):
        at.bench_of(robots["rx90b"], "joint_5")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"stiffness": None, "backlash": 0.01}, "damping and backlash need a stiffness"),
        ({"rotor_inertia": 0.0}, "rotor_inertia must be greater than 0"),
        ({"inertia": 0.0}, 'inertia must be greater than 0 for joint = "free"'),
        ({"low_stiffness": 10.0}, "low_stiffness and low_torque belong together"),
        ({"load": 3.0}, 'load needs joint = "loaded"'),
    ],
)
def test_a_bench_that_cannot_be_is_refused(changes, sentence):
    with pytest.raises(at.ArmtwinError, match=sentence):
        at.simulate_bench(replace(FREE, **changes), [0.0, 1.0], [0.0, 0.0])


def test_a_bench_is_driven_by_torque_or_position():
    with pytest.raises(at.ArmtwinError, match="either torque or position, got both"):
        at.simulate_bench(FREE, [0.0, 1.0], [0.0, 0.0], position=[0.0, 0.0])
    with pytest.raises(at.ArmtwinError, match="numbers that rise"):
        at.simulate_bench(FREE, [0.0, 0.0], [0.0, 0.0])


def test_a_run_shows_where_its_energy_went_and_draws_its_motor():
    """What goes in is stored or lost: what is shown adds up to the work of the motor."""
    time = np.linspace(0.0, 0.2, 201)
    run = at.simulate_bench(replace(FREE, damping=5.0), time, np.sin(40 * time))
    (data,) = (block for block in run.sections().blocks if isinstance(block, Data))
    (energy,) = data.values.values()
    assert run.energy.motors > 0
    assert 2 * energy["motors_j"] == pytest.approx(sum(energy.values()), rel=1e-6)
    mpl.use("Agg")
    angle, torque = run.plot()
    assert np.array_equal(angle.lines[0].get_ydata(), run.log.q_m[:, 0])
    assert torque.get_ylabel() == "torque [N m]"
    pyplot.close("all")
    assert repr(run) == "BenchRun(Simulated 0.2 s with the joint free, 201 samples.)"
