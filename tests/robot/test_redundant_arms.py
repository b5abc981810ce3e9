"""Arms of seven axes and more: elbow angles, branches, shortest steps, limits, refusals."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import armtwin as at
from armtwin.motion.joint_motion import invert_jacobians
from armtwin.motion.posture import start_posture
from tests.robot.redundant import ARMS, write

ELBOWED = ["spherical", "offset"]
START = np.array([0.1, 0.5, 0.2, -1.3, 0.3, 0.8, 0.1, 0.2])  # wrist well away from axis 1


@pytest.fixture(scope="module")
def arms(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arms")
    return {name: at.Robot.load(write(name, folder)) for name in ARMS}


def start_of(robot):
    return START[: robot.n]


def line_from(robot, q, *, steps, way=(0.02, 0.12, -0.06)):
    """Poses along a line from that of q, (steps, 4, 4), the tool turning about z by 0.3 rad."""
    X = np.tile(robot.forward_kinematics(q), (steps, 1, 1))
    share = np.linspace(0, 1, steps)
    X[:, :3, 3] += share[:, None] * np.array(way)
    X[:, :3, :3] = Rotation.from_euler("z", 0.3 * share[:, None]).as_matrix() @ X[:, :3, :3]
    return X


def apart(a, b):
    """Largest difference of angles, turns left out."""
    return np.abs((np.asarray(a) - b + np.pi) % (2 * np.pi) - np.pi).max(axis=-1)


def test_a_self_motion_turns_the_elbow_by_its_angle_about_the_line_to_the_wrist(arms, rng):
    robot = arms["spherical"]
    for q in rng.uniform(-1.5, 1.5, (6, 7)):
        shoulder, elbow, wrist = robot.origins(q, ["link_2", "link_4", "link_6"])
        before, turn = robot.elbow_angle(q), 0.5
        line = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
        there = shoulder + Rotation.from_rotvec(turn * line).apply(elbow - shoulder)
        moved = robot.inverse_kinematics(robot.forward_kinematics(q), elbow=before + turn)
        assert len(moved)
        assert np.abs(robot.origins(moved, ["link_4"])[:, 0] - there).max() < 1e-9


def test_at_an_elbow_angle_of_zero_the_elbow_is_above_the_line_in_the_plane_of_axis_1(arms):
    robot = arms["spherical"]
    X = robot.forward_kinematics(START[:7])
    for q in robot.inverse_kinematics(X, elbow=0.0):
        shoulder, elbow, wrist = robot.origins(q, ["link_2", "link_4", "link_6"])
        normal = np.cross(wrist - shoulder, [0, 0, 1])
        assert abs(normal @ (elbow - shoulder)) < 1e-10
        line = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
        assert (elbow - shoulder - line * (line @ (elbow - shoulder)))[2] > 0.05


def test_a_spherical_arm_has_its_eight_branches_at_every_elbow_angle(arms, rng):
    """Half turns before and after the shoulder, the elbow and the wrist change no link beyond."""
    robot = arms["spherical"]
    for q in rng.uniform(0.3, 1.4, (8, 7)) * rng.choice([-1, 1], (8, 7)):
        found = robot.inverse_kinematics(robot.forward_kinematics(q), elbow=robot.elbow_angle(q))
        assert len(found) == 8
        for flipped in product([False, True], repeat=3):
            branch = q.copy()
            for middle, flip in zip((1, 3, 5), flipped, strict=True):
                if flip:
                    branch[middle] *= -1
                    branch[[middle - 1, middle + 1]] += np.pi
            assert apart(found, branch).min() < 1e-8


@pytest.mark.parametrize("name", list(ARMS))
def test_a_path_is_met_by_shortest_steps_which_are_of_second_order(arms, name):
    """v = J⁺ ẋ has no part in the null space of J, whatever the number of poses on the path."""
    robot = arms[name]
    q = start_of(robot)
    paths = [robot.follow(line_from(robot, q, steps=k * 8 + 1), q) for k in (1, 2, 4, 64)]
    fine = paths[-1]
    X = line_from(robot, q, steps=513)
    assert np.abs(robot.forward_kinematics(fine) - X).max() < 1e-12
    step = np.diff(fine, axis=0)
    null = np.linalg.svd(robot.jacobian(0.5 * (fine[1:] + fine[:-1])))[2][:, 6:]
    assert np.abs(np.einsum("mij,mj->mi", null, step)).max() < 1e-4 * np.abs(step).max()
    errors = [np.abs(path[-1] - fine[-1]).max() for path in paths[:-1]]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > 1.8)


@pytest.mark.parametrize("name", ELBOWED)
def test_an_elbow_angle_is_held_along_a_path(arms, name):
    robot = arms[name]
    q = start_of(robot)
    angle = float(robot.elbow_angle(q)) + 0.2
    X = line_from(robot, q, steps=50)
    path = robot.follow(X, q, elbow=angle)
    assert np.abs(robot.forward_kinematics(path) - X).max() < 1e-10
    assert np.abs(robot.elbow_angle(path) - angle).max() < 1e-10


def test_a_posture_within_narrow_limits_is_found_between_the_elbow_angles_looked_at(arms, rng):
    """Limits of ±4 degrees about a posture leave an elbow a few degrees, angles are 30 apart."""
    for robot in arms.values():
        low, high = robot.position_limits
        q = rng.uniform(0.6 * low, 0.6 * high)
        X = robot.forward_kinematics(q)
        narrow = type(robot.inverse)(robot.assembly, np.array([q - 0.07, q + 0.07]))
        found = narrow.solutions_within(X)
        assert len(found)
        assert np.abs(robot.forward_kinematics(found) - X).max() < 1e-9
        assert np.abs(found - q).max() <= 0.07


@pytest.mark.parametrize("name", list(ARMS))
def test_poses_out_of_reach_are_named(arms, name):
    robot = arms[name]
    X = robot.forward_kinematics(start_of(robot))
    assert robot.why_unreachable(X) == "The pose can be reached."
    far = X.copy()
    far[:3, 3] *= 4
    assert len(robot.inverse_kinematics(far)) == 0
    why = robot.why_unreachable(far)
    if name in ELBOWED:
        reach = np.linalg.norm(far[:3, 3] - robot.origins(np.zeros(7), ["link_2"])[0] * [0, 0, 1])
        assert why.startswith(f"The tool is {1e3 * reach:.1f} mm from axis 1 at joint_2, ")
        assert "beyond all links laid end to end" in why
    else:
        assert "most likely out of reach" in why
    with pytest.raises(at.ArmtwinError, match="pose 1 of the path: "):
        robot.follow(np.array([X, far]), start_of(robot))


def test_an_elbow_angle_that_a_pose_excludes_is_named(arms):
    """Stretched, the wrist's circle of elbows shrinks; limits leave a part of it."""
    robot = arms["spherical"]
    q = np.array([0.3, 0.6, 0.4, -0.9, 0.2, 0.7, 0.1])
    X = robot.forward_kinematics(q)
    narrow = type(robot.inverse)(robot.assembly, np.array([q - 0.3, q + 0.3]))
    why = narrow.why_unreachable(X, float(robot.elbow_angle(q)) + 2.5)
    assert "only outside the joint limits" in why
    assert "at an elbow angle of " in why


def test_six_joints_have_no_elbow_angle(robots):
    for ask in (
        lambda robot: robot.elbow_angle(np.zeros(6)),
        lambda robot: robot.inverse_kinematics(np.eye(4), elbow=0.1),
        lambda robot: robot.follow(np.eye(4)[None], np.zeros(6), elbow=0.1),
    ):
        with pytest.raises(
            at.ArmtwinError, match=r"'rx90b' has no elbow angle .* needs 7 revolute"
        ):
            ask(robots["rx90b"])


def bead(robot, q, **options):
    X = line_from(robot, q, steps=2, way=(0.01, 0.05, -0.03))
    X[1, :3, :3] = X[0, :3, :3]
    job = at.Job.line(robot, X[0], X[1], speed=0.05, tolerance=5e-4)
    return at.Job(replace(job.description, **options), job.origin)


def check_run(robot, job):
    """Predict a bead: poses to 1e-9 along the path, within limits, rates of one motion."""
    run = at.predict(job)
    own = run.motion.trajectory
    jet, turning = job.seam.at(run.motion.command.s)
    X = robot.forward_kinematics(own.q)
    assert np.abs(X[:, :3, 3] - jet.p).max() < 1e-9
    assert np.abs(X[:, :3, :3] - turning.R).max() < 1e-9
    low, high = robot.position_limits
    assert np.all((own.q >= low) & (own.q <= high))
    # central differences are off by jerk times a sixth of the squared period
    period = 1 / own.rate
    for value, rate in ((own.q, own.v), (own.v, own.a)):
        slope = (value[2:] - value[:-2]) / (2 * period)
        curve = np.abs(np.diff(rate, 2, axis=0)).max()
        assert np.abs(slope - rate[1:-1]).max() < 0.5 * curve + 1e-7
    return run


@pytest.mark.parametrize("name", list(ARMS))
def test_a_bead_of_a_redundant_arm_is_predicted(arms, name):
    robot = arms[name]
    job = bead(robot, start_of(robot))
    run = check_run(robot, job)
    assert run.verdict.within
    if name in ELBOWED:
        angle = float(robot.elbow_angle(start_of(robot)))
        held = bead(robot, start_of(robot), elbow=angle)
        run = check_run(robot, held)
        assert np.abs(robot.elbow_angle(run.motion.trajectory.q) - angle).max() < 1e-9


def test_a_job_file_gives_the_elbow_angle_and_six_joints_refuse_it(arms, tmp_path):
    robot = arms["spherical"]
    job = bead(robot, START[:7], elbow=np.radians(20.0))
    job.save(tmp_path / "bead.toml")
    assert at.Job.load(tmp_path / "bead.toml") == job
    six = at.Job.load("rx90b_line")
    six = at.Job(replace(six.description, elbow=0.3), six.origin)
    with pytest.raises(at.FileError, match="'rx90b' has no elbow angle to be held"):
        six.robot()


def test_elbow_up_and_down_are_postures_of_seven_axes(arms):
    robot = arms["spherical"]
    for posture, sign in (("elbow up", 1), ("elbow down", -1)):
        job = bead(robot, START[:7], posture=posture)
        shoulder, elbow, wrist = robot.origins(
            at.predict(job).motion.trajectory.q[0], ["link_2", "link_4", "link_6"]
        )
        line = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
        out = elbow - shoulder
        assert sign * (out - line * (line @ out))[2] > 0


def test_without_limits_the_start_is_the_posture_furthest_from_singularities(arms):
    """Of postures with more than half of that distance one with the elbow up is preferred."""
    given = arms["spherical"]
    joints = tuple(replace(joint, limits=None) for joint in given.description.joint)
    robot = at.Robot(replace(given.description, joint=joints))
    seam = bead(given, START[:7]).seam
    start = start_posture(robot, seam, None)
    every = robot.inverse_kinematics(robot.forward_kinematics(START[:7]))
    _, distance = invert_jacobians(robot.jacobian(np.vstack([start, every])))
    assert distance[0] > 0.49 * distance[1:].max()


@pytest.mark.parametrize(
    "file",
    [
        "dualarm_v2/dualarm_v2",
        "kinova_gen3/kinova_gen3",
        "rokae_xmate7/xmate7",
        "staubli_tx40/tx40_mdh_modified",
        "ur10e/ur10e",
        "ur5_course/ur5",
    ],
)
def test_public_urdf_files_are_completed_read_back_and_predicted(shared_data, file, tmp_path):
    completed = at.complete(at.Robot.load(shared_data / f"{file}.urdf")).robot
    path = tmp_path / "robot.toml"
    completed.save(path)
    robot = at.Robot.load(path)
    assert robot == completed
    low, high = np.clip(robot.position_limits, -np.pi, np.pi)
    middle = 0.5 * (low + high)
    q = middle + 0.13 * (high - low) * np.resize([1, -1, 0.7, 1.3, -0.6], robot.n)
    check_run(robot, bead(robot, q))
