"""Excitations: criteria and slopes by two roads, limits kept, deviations that come true."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.errors import ArmtwinError
from armtwin.identification.excitation.bounds import Bounds, ExcitationPlan
from armtwin.identification.excitation.design import _task
from armtwin.identification.excitation.information import (
    DifferencedColumns,
    columns_of,
    criterion_of,
    deviations,
    log_det_of,
    singular_values,
)
from armtwin.identification.fitting.regularisation import fit_regularised
from armtwin.identification.rigid_body.data.clean_log import whole_torque
from armtwin.identification.rigid_body.data.preparation import prepare_identification
from armtwin.identification.rigid_body.fit.free_parameters import analyse_identifiability, sizes_of
from armtwin.motion.cell import Box, Cell, Plane
from armtwin.motion.fourier import Shapes
from armtwin.robot.schema.groups import Mimic, Pose
from tests.identification.virtual import measured, on_the_bench

CRITERIA = [
    ("log_det", "parameters"),
    ("sigma_min", "parameters"),
    ("sigma_min", "columns"),
    ("condition", "parameters"),
    ("condition", "columns"),
    ("weighted", "parameters"),
]


@pytest.fixture(scope="module")
def robot():
    return at.Robot.load("rx90b")


@pytest.fixture(scope="module")
def designed(robot):
    return at.excite(robot, ExcitationPlan(starts=10))


@pytest.fixture(scope="module")
def task(robot):
    return _task(robot, ExcitationPlan(), Cell())


@pytest.fixture(scope="module")
def motion(task):
    chance = np.random.default_rng(3)
    free = chance.normal(scale=0.4, size=(task.harmonics.at_rest.shape[1], 6))
    return Shapes(*(shape @ free for shape in task.shapes))


def test_the_nonzero_singular_values_are_those_of_all_scaled_columns(robot, task, motion):
    """55 of the 82 columns scaled as in [Waiboer 2007, eq. 4.68, 4.73], to the rounding of a sum of
    squares, 1e-16 of the largest.
    """
    Y = robot.regressor(*motion)
    A = Y / task.bounds.scale[:, None] * sizes_of(robot.parameter_table)
    whole = np.linalg.svd(A.reshape(-1, 82), compute_uv=False) / np.sqrt(len(Y))
    N = task.scales.normal(Y[:, :, list(analyse_identifiability(robot).kept)])
    mine = singular_values(N, task.scales, "parameters")
    assert len(mine) == 55
    assert whole[55] < 1e-10 * whole[0]
    np.testing.assert_allclose(mine, whole[:55], rtol=1e-3, atol=1e-8 * whole[0])


@pytest.mark.parametrize(("criterion", "scaling"), CRITERIA)
def test_the_slope_of_a_criterion_is_that_of_its_differences(task, criterion, scaling):
    """Along a random direction, limits exceeded, so that their slopes count too."""
    plan = ExcitationPlan(criterion=criterion, scaling=scaling)
    objective = task.objective()
    chance = np.random.default_rng(5)
    x = 1.5 * chance.normal(size=objective.units.size)
    way = chance.normal(size=x.size)

    def value(at_x):
        return objective.evaluate(at_x, lambda N: criterion_of(N, task.scales, plan), 10.0)

    h = 1e-5
    rise = (value(x + h * way)[0] - value(x - h * way)[0]) / (2 * h)
    assert value(x)[1] @ way == pytest.approx(rise, rel=2e-3, abs=1e-4)


def test_slopes_backwards_are_those_of_differences(robot, motion, rng):
    """Friction of the two differs within the speeds over which its sign turns, so bodies alone."""
    fastest = robot.limits.velocity
    weights = rng.normal(size=(len(motion.q), 6, 55))
    links = np.array([k < 66 for k in analyse_identifiability(robot).kept])
    weights *= links
    found = columns_of(robot, fastest).slopes(motion, weights)
    other = DifferencedColumns(robot).slopes(motion, weights)
    for mine, theirs in zip(found, other, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6 * np.abs(theirs).max())


def test_predicted_deviations_come_true(robot, task, motion, rng):
    """Least squares on 300 draws of noise scatter as foretold; 300 draws err by 4 %."""
    kept = list(analyse_identifiability(robot).kept)
    Y = robot.regressor(*motion)[:, :, kept]
    W = (Y / task.bounds.scale[:, None]).reshape(-1, 55)
    noise = rng.normal(size=(len(W), 300))
    scatter = np.linalg.lstsq(W, noise, rcond=None)[0].std(axis=1)
    foretold = deviations(task.scales.normal(Y), task.scales) / np.sqrt(len(Y))
    ratio = scatter / task.scales.sizes / foretold
    assert np.abs(np.log(ratio)).mean() < 0.05
    assert ratio.max() < 1.2


def test_a_search_beats_the_random_motions_that_it_tried(designed):
    """Mean predicted deviation at least 20 % below the best of them, and more identified."""
    scale = designed.plan.noise / np.sqrt(designed.rows)
    best = min(each.deviation for each in designed.tried) * scale
    assert designed.deviation < 0.8 * best
    assert designed.told > max(each.told(designed) for each in designed.tried)


def test_limits_are_kept_on_a_grid_ten_times_denser(robot, designed):
    plan = designed.plan
    bounds = Bounds.of(robot, plan, Cell())
    times = np.linspace(0, plan.period, round(10 * plan.period * designed.rate) + 1)
    dense = designed.series.at(times)
    use = bounds.use(dense, whole_torque(robot, *dense))
    assert use.largest <= 1.0
    assert use.nearest >= plan.clearance
    assert use.largest > 0.9  # and are used


def test_a_trajectory_begins_and_ends_at_rest_at_the_servos_rate(designed):
    motion = designed.trajectory
    assert motion.rate == 250.0
    assert motion.duration == 8.0
    for values in (motion.v, motion.a):
        assert not values[[0, -1]].any()


def test_what_is_foretold_comes_true_in_the_closed_loop(designed):
    """Simulated with quantised encoders and currents and 1 % noise, identified without a prior: the
    independent combinations err as foretold on average, and by less than after a random motion.
    """
    bench = on_the_bench()
    plan = ExcitationPlan(search="random", starts=10)
    random = at.excite(bench, plan)
    C = analyse_identifiability(bench).combination
    errors = []
    for found in (designed, random):
        log = measured(bench, found.trajectory, 1, noise=found.plan.noise)
        recipe = at.Recipe(friction="file", tilt="file", trust=True)
        ready = prepare_identification(bench, [log], torque=None, cutoff=20.0, recipe=recipe)
        task = ready.experiment
        phi = fit_regularised(task.parts(), task.free, task.friction, 1e-10).parameters
        off = np.abs(C @ (phi - bench.parameters)) / found.scales.sizes
        foretold = np.array([row.relative for row in found.table])
        # of a normal error the mean of its size is 0.8 deviations
        assert 0.5 < off.mean() / (0.8 * foretold.mean()) < 2.0
        errors.append(off.mean())
    assert errors[0] < errors[1]


def test_a_larger_determinant_is_a_smaller_criterion(task, motion):
    N = task.scales.normal(task.columns.values(motion))
    assert log_det_of(4.0 * N).value == pytest.approx(log_det_of(N).value - np.log(2.0))


def test_a_cell_is_kept_clear_of(robot):
    """A wall 0.6 m in front and a box at the side: lines stay 50 mm away."""
    wall = Plane((0.6, 0.0, 0.0), (-1.0, 0.0, 0.0), name="wall")
    box = Box((0.4, 0.4, 1.5), Pose(position=(0.0, 0.9, 0.0)), name="cabinet")
    cell = Cell(floor=-0.3, plane=(wall,), box=(box,))
    plan = ExcitationPlan(starts=2, clearance=0.05, harmonics=3, speed=0.6)
    found = at.excite(robot, plan, cell)
    assert set(found.use.distance) == {"the floor", "plane 'wall'", "box 'cabinet'"}
    assert found.use.nearest >= 0.05
    assert max(share.max() for share in found.use.shares.values()) <= 1.0


def test_limits_that_leave_no_motion_are_refused_with_the_worst_of_them(robot):
    closed = Cell(plane=(Plane((-2.0, 0.0, 0.0), (-1.0, 0.0, 0.0), name="curtain"),))
    with pytest.raises(
        ArmtwinError, match=r"no motion within the limits.*exceeded: .*plane 'curtain'"
    ):
        at.excite(robot, ExcitationPlan(), closed)


def test_a_robot_without_speed_and_torque_limits_is_refused(robots):
    with pytest.raises(ArmtwinError, match="neither a speed nor a torque limit"):
        at.excite(robots["epaas"])


def test_a_period_of_broken_set_points_is_refused_with_one_that_fits(robot):
    plan = ExcitationPlan(period=8.001)
    with pytest.raises(ArmtwinError, match=r"whole number of set-points at 250 Hz.*8 s is one"):
        at.excite(robot, plan)


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"criterion": "luck"}, "criterion must be one of log_det, sigma_min"),
        ({"speed": 1.2}, "speed must be a share of the limit above 0 and at most 1, got 1.2"),
        ({"harmonics": 0}, "harmonics must be a whole number from 1 on"),
        ({"noise": 0.0}, "noise must be above 0"),
        ({"weights": (0.0, 0.0)}, "weights must be two numbers"),
        ({"clearance": -0.1}, "clearance must be at least 0 m"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(choice, sentence):
    with pytest.raises(ArmtwinError, match=sentence):
        ExcitationPlan(**choice)


def test_acceleration_limits_are_kept_and_used(robots):
    found = at.excite(robots["lwa4p"], ExcitationPlan(starts=2, harmonics=5))
    assert found.use.largest <= 1.0
    assert found.use.shares["acceleration"].max() > 0.5
    assert found.condition("columns") < 100


def test_slopes_of_joints_that_follow_others_are_those_of_differences(rng):
    """Joint 5 of an RX90B without friction turns against joint 3."""
    whole = at.Robot.load("rx90b").description
    joints = list(whole.joint)
    joints[4] = replace(joints[4], mimic=Mimic("joint_3", multiplier=-1.0, offset=0.2))
    bodies = replace(
        whole, joint=tuple(joints), friction=(), motor=(), gear=None, servo={}, wrist=None
    )
    robot = at.Robot(bodies)
    assert robot.n == 5
    motion = Shapes(*rng.uniform(-0.5, 0.5, size=(3, 20, robot.n)))
    columns = columns_of(robot, np.ones(robot.n))
    weights = rng.normal(size=columns.values(motion).shape)
    found = columns.slopes(motion, weights)
    other = DifferencedColumns(robot).slopes(motion, weights)
    for mine, theirs in zip(found, other, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6 * np.abs(theirs).max())
