"""The public names, as they are called: every line of the contract runs, and guesses that are wrong
are told what to write.
"""

import inspect
from pathlib import Path

import numpy as np
import pytest

import armtwin as at

DOWN = np.diag([1.0, -1.0, -1.0])  # beam down


@pytest.fixture(scope="module")
def robot():
    return at.Robot.load("rx90b").with_tool("laser_head")


@pytest.fixture(scope="module")
def run():
    return at.predict(at.Job.load("rx90b_line"))


def pose(*position, R=DOWN):
    X = np.eye(4)
    X[:3, :3] = R
    X[:3, 3] = position
    return X


def about_z(angle):
    return np.array(
        [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
    )


# the contract, line by line


def test_kinematics_of_a_robot_close(robot):
    """The tool is where inverse kinematics is asked to put it, and a path stays on its branch."""
    q = np.array([0.1, 0.6, 1.3, 0.2, 1.0, 0.1])
    X = robot.forward_kinematics(q, frame="tool")
    assert robot.forward_kinematics(np.tile(q, (2, 3, 1))).shape == (2, 3, 4, 4)
    J = robot.jacobian(q, frame="tool")
    moved = robot.forward_kinematics(q + 1e-6 * np.eye(6)[2])[:3, 3] - X[:3, 3]
    assert np.allclose(J[:3, 2], moved / 1e-6, atol=1e-5)
    solutions = robot.inverse_kinematics(X, within_limits=False)
    assert np.abs(solutions - q).max(axis=1).min() < 1e-9
    assert np.allclose(robot.follow(np.array([X, X]), q), q)
    far = pose(5.0, 0.0, 0.0)
    assert len(robot.inverse_kinematics(far)) == 0
    assert "mm beyond the stretched arm" in robot.why_unreachable(far)


def test_the_regressor_times_the_parameters_is_the_torque(robot):
    rng = np.random.default_rng(31)
    q, v, a = rng.normal(size=(3, 4, robot.n))
    torque = robot.inverse_dynamics(q, v, a) + robot.friction_torque(v)
    assert np.allclose(robot.regressor(q, v, a) @ robot.parameters, torque)
    assert len(robot.parameters) == len(robot.parameter_names)
    by_parts = np.einsum("kij,kj->ki", robot.mass_matrix(q), a) + robot.bias(q, v)
    assert np.allclose(by_parts, robot.inverse_dynamics(q, v, a))
    assert np.allclose(robot.gravity(q), robot.bias(q, 0 * v))
    assert np.allclose(robot.forward_dynamics(q, v, by_parts), a)


def test_a_robot_is_written_and_read_again(robot, tmp_path):
    heavier = robot.with_parameters(1.01 * robot.parameters)
    heavier.save(tmp_path / "my.toml")
    assert at.Robot.load(tmp_path / "my.toml") == heavier
    heavier.to_urdf(tmp_path / "my.urdf")
    assert at.Robot.load(tmp_path / "my.urdf").joint_names == robot.joint_names


def test_a_prediction_holds_what_the_contract_names(run, tmp_path):
    job = at.Job.load("rx90b_line")
    assert run.robot.n == run.motion.trajectory.q.shape[1] == run.log.q.shape[1]
    assert job.description.model.servo in run.robot.description.servo
    assert np.abs(run.path_error.lateral).max() > job.description.tolerance.lateral
    assert not run.verdict.within
    at.write_report(run, tmp_path / "report.html")
    assert "rx90b_line" in (tmp_path / "report.html").read_text()


def test_a_robot_in_place_of_the_jobs_and_a_name_in_place_of_a_job(run):
    same = at.predict("rx90b_line", "rx90b")
    assert same.verdict == run.verdict
    linear = at.predict(run.job, run.given, "perturbation")
    assert linear.method == "perturbation"


def test_what_follows_from_a_prediction_takes_it_first(run):
    spans = at.explain(run)
    assert spans[0].causes
    advice = at.advise(run, nominal=True, budget=3)
    assert advice.needed
    comparison = at.compare(run.job, run.log)
    assert comparison.prediction.verdict == run.verdict


def test_a_sampled_trajectory_is_simulated(robot):
    q0 = np.array([0.1, 0.6, 1.3, 0.2, 1.0, 0.1])
    t = np.arange(0.0, 0.5, 1 / 250)[:, None]
    w = 2 * np.pi
    q, v, a = q0 + 0.1 * (1 - np.cos(w * t)), 0.1 * w * np.sin(w * t), 0.1 * w * w * np.cos(w * t)
    shape = np.ones(robot.n)
    motion = at.Trajectory.sampled(250, q * shape, v * shape, a * shape)
    run = at.simulate(robot, motion, at.Model(friction="lugre"), settle=(0.2, 0.2))
    assert run.log.time[-1] == pytest.approx(0.4 + motion.duration)


def test_a_log_is_identified_judged_and_completed(tmp_path):
    """One log stands for a list of one."""
    robot = at.Robot.load("lwa4p")
    excitation = at.excite(robot, at.ExcitationPlan(starts=2, harmonics=3, search="random"))
    motion = excitation.trajectory
    run = at.simulate(robot, motion, at.Model(quantise=False))
    run.log.write(tmp_path / "run.csv")
    log = at.Log.read(tmp_path / "run.csv")
    log.write(tmp_path / "copy.csv")
    fit = at.identify(robot, log)
    again = at.identify(robot, [log])
    assert np.array_equal(fit.robot.parameters, again.robot.parameters)
    assert fit.torque_source == "tau"
    assert len(fit.base) > robot.n
    row = fit.table[0]
    assert {"name", "unit", "prior", "value", "std", "group"} <= set(dir(row))
    judged = fit.validate(log, cutoff=None)
    assert judged.nrmse.shape == judged.rmse.shape == judged.max.shape == (6,)
    assert judged.tau.shape == judged.tau_hat.shape
    assert at.judge(robot, fit).left_out is not None
    assert at.complete(robot, log).robot == robot


@pytest.mark.parametrize(
    ("call", "first"),
    [
        (at.fit_friction, ["robot", "curves"]),
        (at.identify_payload, ["robot", "without", "with_it"]),
        (at.identify_servo, ["robot", "logs"]),
        (at.identify_transmission, ["robot", "logs"]),
        (at.clamp, ["log", "gear_ratio"]),
        (at.analyse, ["robot"]),
        (at.write_report, ["result", "path"]),
    ],
)
def test_arguments_stand_in_the_order_of_the_contract(call, first):
    assert list(inspect.signature(call).parameters)[: len(first)] == first


# what is shipped


@pytest.mark.parametrize(("listed", "noun"), [(at.robots, at.Robot), (at.jobs, at.Job)])
def test_what_is_shipped_is_a_table_of_names_that_load(listed, noun):
    catalog = listed()
    assert [noun.load(name).name for name in catalog] == list(catalog)
    for name in catalog:
        assert name in repr(catalog)
        assert name in catalog._repr_html_()
    [records] = catalog.tables.values()
    assert len(catalog) == len(records)


def test_the_list_of_jobs_is_not_the_package_of_that_name():
    """Also after the package is loaded."""
    at.Job.load("rx90b_line")
    assert "rx90b_line" in at.jobs()


# guesses


@pytest.mark.parametrize(
    ("guess", "told"),
    [
        (lambda run: at.Robot("rx90b"), r'at\.Robot\.load\("rx90b"\)'),
        (lambda run: at.Job(Path("seam.toml")), r'at\.Job\.load\("seam\.toml"\)'),
        (lambda run: at.Experiment("epaas_l1"), r'at\.Experiment\.load\("epaas_l1"\)'),
        (lambda run: at.Sweep("sweep.toml"), r'at\.Sweep\.load\("sweep\.toml"\)'),
        (lambda run: at.predict(run.robot, run.job), r"at\.predict\(job, robot\)"),
        (lambda run: at.predict(None, run.job), r"at\.predict\(job, robot\)"),
        (lambda run: at.correct(run.robot, run.job), r"at\.correct\(job, robot\)"),
        (
            lambda run: at.predict(run.robot),
            r"job must be a Job .* got a Robot; .* at\.predict\(job, robot\)",
        ),
        (lambda run: at.predict(run.job, 3), "robot must be a Robot .* got 3"),
        (lambda run: at.predict("rx90b", "rx90b_line"), "rx90b: is a robot, where a job"),
        (lambda run: at.design_excitation, r"at\.excite"),
        (
            lambda run: at.identify(run.robot, "run.csv"),
            r'got .run\.csv.; write at\.Log\.read\("run\.csv"\)',
        ),
        (lambda run: at.identify(run.robot, []), "identify needs at least one log"),
        (
            lambda run: at.identify_servo(run.robot, 3),
            r"must be .* a Log.* got 3; at\.Log\.read gives one",
        ),
    ],
)
def test_a_wrong_guess_is_told_what_to_write(run, guess, told):
    with pytest.raises(at.ArmtwinError, match=told):
        guess(run)


def test_a_name_that_never_was_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'foresee'"):
        at.foresee  # noqa: B018


# jobs from points


def test_a_line_is_a_job_that_is_predicted_saved_and_loaded(robot, tmp_path):
    start, end = [0.425, -0.2, -0.05], [0.425, 0.1, -0.05]
    job = at.Job.line(robot, start, end, speed="100 mm/s", tolerance=1e-4)
    assert job.seam.length == pytest.approx(0.3)
    assert job.robot() == robot
    job.save(tmp_path / "line.toml")
    again = at.Job.load(tmp_path / "line.toml")
    assert again == job
    assert at.predict(again).verdict == at.predict(job).verdict
    X = robot.forward_kinematics(at.predict(job).motion.trajectory.q[[0, -1]])
    assert np.allclose(X[:, :3, 3], [[0.425, -0.2, -0.05], [0.425, 0.1, -0.05]], atol=1e-9)
    assert np.allclose(X[:, :3, 2], [0, 0, -1])  # the beam points down


def test_lateral_and_vertical_tolerance_may_differ(robot):
    job = at.Job.line(robot, [0.4, 0, 0], [0.5, 0, 0], speed=0.1, tolerance=("0.1 mm", 2e-4))
    tolerance = job.description.tolerance
    assert (tolerance.lateral, tolerance.vertical) == (1e-4, 2e-4)


def test_poses_are_passed_as_they_are_turned(robot):
    """Between poses whose orientations differ the tool turns; at each of them it is as given."""
    turns = [0.0, 0.2, 0.3, 0.5]
    poses = [pose(0.4, 0.1 * k, 0.01 * k * k, R=about_z(turns[k]) @ DOWN) for k in range(4)]
    job = at.Job.from_points(robot, poses, speed=0.1, tolerance=1e-4)
    marks = np.concatenate([[0.0], job.seam.path.marks[0]])
    jet, turning = job.seam.at(marks)
    assert np.allclose(jet.p, [X[:3, 3] for X in poses], atol=1e-9)
    assert np.allclose(turning.R, [X[:3, :3] for X in poses], atol=1e-9)


def test_corners_between_straight_lines_are_blended_and_points_on_a_line_are_none(robot):
    points = [[0.3, 0, 0], [0.4, 0, 0], [0.5, 0, 0], [0.5, 0.2, 0]]
    job = at.Job.from_points(robot, points, speed=0.1, tolerance=1e-4, blend="20 mm")
    corners = [x.name for x in job.seam.path.stretches if x.corner]
    assert len(corners) == 1
    sharp = 0.4
    assert sharp - 0.02 < job.seam.length < sharp


def test_a_line_of_poses_that_differ_is_saved_with_its_orientations(robot, tmp_path):
    poses = [pose(0.4, -0.1, 0), pose(0.4, 0.1, 0, R=about_z(0.3) @ DOWN), pose(0.4, 0.2, 0)]
    job = at.Job.from_points(robot, poses, speed=0.1, tolerance=1e-4)
    job.save(tmp_path / "turning.toml")
    assert at.Job.load(tmp_path / "turning.toml") == job


def test_a_job_names_the_file_of_its_robot(robot, tmp_path):
    robot.with_tool(None).save(tmp_path / "mine.toml")
    mine = at.Robot.load(tmp_path / "mine.toml").with_tool("laser_head")
    job = at.Job.line(mine, [0.4, 0, 0], [0.5, 0, 0], speed=0.1, tolerance=1e-4)
    (tmp_path / "jobs").mkdir()
    job.save(tmp_path / "jobs" / "line.toml")
    assert at.Job.load(tmp_path / "jobs" / "line.toml").robot() == mine


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"end": [0.4, 0.0]}, r"two or more positions \(k, 3\) in m, or as many poses .* others"),
        ({"start": [0.4, 0], "end": [0.5, 0]}, r"two or more positions .*, got \(2, 2\)"),
        ({"end": [-400, 0, 0]}, "positions as a bare number .* Did you mean '-400 mm'"),
        ({"end": [np.nan, 0, 0]}, "positions must be a finite number in m"),
        ({"start": pose(0.4, 0, 0), "end": 2 * pose(0.5, 0, 0)}, "with 0 0 0 1 below"),
        (
            {"start": pose(0.4, 0, 0), "end": pose(0.5, 0, 0, R=2 * DOWN)},
            r"segment\.1\.orientation matrix must be a rotation",
        ),
        ({"speed": 100}, "speed as a bare number .* Did you mean '100 mm/s'"),
        ({"tolerance": "-1 mm"}, "tolerance must be greater than 0 m"),
        ({"tolerance": (1, 2, 3)}, "tolerance must be .* got a tuple of 3"),
        ({"end": [0.4, 0, 0]}, "ends where it begins"),
    ],
)
def test_a_line_that_cannot_be_is_refused_by_what_is_wrong(robot, changes, told):
    given = {"start": [0.4, 0, 0], "end": [0.5, 0, 0], "speed": 0.1, "tolerance": 1e-4, **changes}
    with pytest.raises(at.ArmtwinError, match=told):
        _ = at.Job.line(robot, **given).seam


def test_points_with_a_corner_need_a_blend(robot):
    points = [[0.3, 0, 0], [0.5, 0, 0], [0.5, 0.2, 0]]
    with pytest.raises(at.ArmtwinError, match=r"turns by 90\.0° at point 2, .* give blend"):
        at.Job.from_points(robot, points, speed=0.1, tolerance=1e-4)


def test_one_point_is_no_seam(robot):
    with pytest.raises(at.ArmtwinError, match=r"two or more positions .*, got \(1, 3\)"):
        at.Job.from_points(robot, [[0.4, 0, 0]], speed=0.1, tolerance=1e-4)


def test_a_job_of_a_robot_that_is_in_no_file_is_refused(robot):
    """A job names a file: it would be predicted for another robot than the one given."""
    changed = robot.with_parameters(1.01 * robot.parameters)
    with pytest.raises(at.ArmtwinError, match=r"robot\.save\(\"my\.toml\"\)"):
        at.Job.line(changed, [0.4, 0, 0], [0.5, 0, 0], speed=0.1, tolerance=1e-4)
