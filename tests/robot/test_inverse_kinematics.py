"""Inverse kinematics: every solution is right, none is omitted, also in and near singularities."""

import numpy as np
import pytest

import armtwin as at
from tests.conftest import relative

CLOSED = ["rx90b", "lwa4p", "kr300", "tx40"]
POSES = 10_000


@pytest.fixture(params=CLOSED)
def robot(request, robots):
    robot = robots[request.param]
    return robot.with_tool("laser_head") if request.param == "rx90b" else robot


def apart(solutions, q):
    """Largest joint difference of each solution, turns left out."""
    gap = np.abs(solutions - q)
    return np.minimum(gap, 2 * np.pi - gap).max(axis=1)


def nearest(solutions, q):
    """Largest joint difference to the nearest solution, turns left out."""
    return apart(solutions, q).min()


def determined(robot, q):
    """Whether rounding of the pose leaves the joint position within 1e-6:
    rounding over smallest singular value.
    """
    rounding = 8 * 2.2e-16
    return np.linalg.svd(robot.jacobian(q), compute_uv=False)[..., -1] > rounding / 1e-6


def check(robot, q):
    """Solve all poses of q; returns how many solutions each has."""
    X, sure = robot.forward_kinematics(q), determined(robot, q)
    found = [robot.inverse_kinematics(x) for x in X]
    counts = np.array([len(solutions) for solutions in found])
    assert counts.min() > 0
    solutions, pose = np.concatenate(found), np.repeat(np.arange(len(q)), counts)
    assert np.abs(robot.forward_kinematics(solutions) - X[pose]).max() < 1e-12
    assert np.abs(solutions).max() <= np.pi
    gaps = apart(solutions, q[pose])
    nearest_of_each = np.minimum.reduceat(gaps, np.cumsum(counts) - counts)
    assert nearest_of_each[sure].max() < 1e-6
    return counts, sure


def test_all_these_arms_are_recognised(robot):
    assert robot.inverse_kinematics_kind == "closed form"


def test_random_poses_have_every_solution(robot, rng):
    q = rng.uniform(-np.pi, np.pi, size=(POSES, 6))
    counts, sure = check(robot, q)
    assert sure.mean() > 0.999
    if robot.name == "kr300":  # behind itself it cannot always reach: shoulder offset 350 mm
        assert set(counts) == {4, 8}
        g = robot.inverse.recognised
        wrist = robot.forward_kinematics(q, "link_5")[:, :3, 3] - g.origin
        upper, fore = 1.15, np.hypot(1.0, 0.041)
        both = True
        for side in (1, -1):
            far = np.hypot(side * np.hypot(wrist[:, 0], wrist[:, 1]) - 0.35, wrist[:, 2])
            both = both & (far < upper + fore) & (far > upper - fore)
        assert np.array_equal(counts == 8, both)
    else:
        assert np.all(counts[sure] == 8)


@pytest.mark.parametrize(
    "place", ["wrist straight", "elbow straight", "wrist over the shoulder axis"]
)
def test_near_singularities_no_solution_is_wrong(robot, place, rng):
    """The critical angle or distance is 1e-9 to 1e-2, or exactly 0, away from the singularity."""
    g = robot.inverse.recognised
    q = rng.uniform(-np.pi, np.pi, size=(POSES, 6))
    small = 10.0 ** rng.uniform(-9, -2, size=POSES) * rng.choice([-1, 1], size=POSES)
    small[::10] = 0.0
    if place == "wrist straight":
        q[:, 4] = small - g.bend
    elif place == "elbow straight":
        q[:, 2] = small + g.sense * (g.upper[1] - g.fore[1])
    else:
        # q2 such that the wrist centre is at the distance `small` from axis 1 (beside any lateral
        # offset)
        bent = g.sense * q[:, 2] + g.fore[1] - g.upper[1]
        reach = np.hypot(g.upper[0] + g.fore[0] * np.cos(bent), g.fore[0] * np.sin(bent))
        lean = np.arctan2(g.fore[0] * np.sin(bent), g.upper[0] + g.fore[0] * np.cos(bent))
        share = np.clip((small - g.shoulder) / reach, -1, 1)
        q[:, 1] = np.arcsin(share) - g.upper[1] - lean
    counts, sure = check(robot, q)
    assert counts.min() >= 1
    assert sure[small != 0].mean() > 0.6  # else the claim on the generating position would be empty


def test_an_exactly_straight_wrist_has_one_representative(robot, rng):
    """q4 and q6 turn about one line:
    the arm position that made the pose is returned once, with q4 = 0.
    """
    q = rng.uniform(-np.pi, np.pi, size=(500, 6))
    q[:, 4] = -robot.inverse.recognised.bend
    arm = robot.jacobian(q, "link_5")[
        :, :3, :3
    ]  # where the arm itself is well away from its singularities
    for k in np.flatnonzero(np.linalg.svd(arm, compute_uv=False)[:, -1] > 0.02):
        solutions = robot.inverse_kinematics(robot.forward_kinematics(q[k]))
        gap = np.abs(solutions[:, :3] - q[k, :3])
        same_arm = solutions[np.minimum(gap, 2 * np.pi - gap).max(axis=1) < 1e-6]
        assert len(same_arm) == 1
        assert same_arm[0, 3] == 0


def test_closed_form_finds_what_newton_finds(robot, rng):
    """The numerical solver knows nothing of the geometry:
    each of its answers is among the closed-form ones.
    """
    inverse = robot.inverse
    for q in rng.uniform(-2, 2, size=(8, 6)):
        X = robot.forward_kinematics(q)
        closed, numerical = inverse.solutions(X), inverse._by_newton(X)
        assert len(numerical) >= 1
        for found in numerical:
            assert nearest(closed, found) < 1e-6


def test_other_arms_are_solved_numerically_and_say_so(robots, rng):
    robot = robots["epaas"]
    assert robot.inverse_kinematics_kind.startswith("numerical (it is not a chain of six")
    for q in rng.uniform(-1, 1, size=(3, 5)):
        X = robot.forward_kinematics(q)
        solutions = robot.inverse_kinematics(X)
        assert nearest(solutions, q) < 1e-6
        assert (
            relative(
                robot.forward_kinematics(solutions), np.broadcast_to(X, (len(solutions), 4, 4))
            )
            < 1e-9
        )


def test_follow_stays_on_its_branch_through_a_straight_wrist(robots):
    """A joint motion with q5 through 0:
    the path found is the motion itself, also at the singular pose.
    """
    robot = robots["rx90b"]
    t = np.linspace(-1, 1, 401)[:, None]
    q = np.array([0.2, 0.6, 1.1, 0.4, 0.0, -0.3]) + t * np.array([0.3, 0.2, -0.2, 0.0, 0.5, 0.2])
    assert np.abs(robot.follow(robot.forward_kinematics(q), q[0]) - q).max() < 1e-9


def test_follow_turns_on_beyond_half_a_turn(robots):
    robot = robots["rx90b"]
    q = np.tile([0.1, 0.5, 1.2, 0.0, 0.8, 0.0], (300, 1))
    q[:, 5] = np.linspace(-4, 4, 300)
    assert np.abs(robot.follow(robot.forward_kinematics(q), q[0]) - q).max() < 1e-9


def test_follow_refuses_a_flip_with_its_place(robots):
    robot = robots["rx90b"]
    q = np.array([[0.1, 0.5, 1.2, 0.3, 0.8, 0.1], [0.1, 0.5, 1.2, 2.3, 0.8, 0.1]])
    with pytest.raises(at.ArmtwinError, match="joint_4 jumps by 2 between poses 0 and 1"):
        robot.follow(robot.forward_kinematics(q), q[0])


def test_follow_works_for_numerical_arms(robots):
    robot = robots["epaas"]
    t = np.linspace(0, 1, 50)[:, None]
    q = np.array([0.2, 1.5, -1.5, 0.3, 0.1]) + 0.2 * t * np.array([1, 1, -1, 1, -1])
    assert np.abs(robot.follow(robot.forward_kinematics(q), q[0]) - q).max() < 1e-9


def test_unreachable_poses_say_why(robots):
    robot = robots["rx90b"].with_tool("laser_head")
    X = np.eye(4)
    X[0, 3] = 2.0
    assert len(robot.inverse_kinematics(X)) == 0
    assert "beyond the stretched arm (900.0 mm)" in robot.why_unreachable(X)
    with pytest.raises(at.ArmtwinError, match=r"pose 0 of the path: The wrist centre is .* beyond"):
        robot.follow(X[None], np.zeros(6))
    behind = robot.forward_kinematics([3.1, 0.5, 1.0, 0.1, 0.5, 0.1])
    q1 = robot.inverse_kinematics(behind, within_limits=True)[:, 0]
    assert np.all(np.abs(q1) < np.radians(160))
    # stretched straight back and down: both shoulders need |q2| beyond 137.5 deg or q1 beyond 160
    # deg
    over = robot.forward_kinematics([np.pi, np.radians(140), 0.0, 0.0, 1.0, 0.0])
    assert len(robot.inverse_kinematics(over)) > 0
    assert len(robot.inverse_kinematics(over, within_limits=True)) == 0
    assert "only outside the joint limits; in the nearest of" in robot.why_unreachable(over)
    near = robots["tx40"].forward_kinematics(np.zeros(6))
    near[:3, 3] = [0.0, 0.01, 0.4]
    near[:3, :3] = np.eye(3)
    assert "lateral offset of 35.0 mm" in robots["tx40"].why_unreachable(near)


def test_within_limits_turns_an_angle_where_only_that_is_allowed(robots):
    robot = robots["rx90b"]
    q = np.array([0.1, 0.5, 1.2, 0.3, 0.8, 0.1])
    inverse = robot.inverse
    shifted = type(inverse)(inverse.robot, inverse.limits + np.array([0, 0, 0, 0, 0, 2 * np.pi]))
    kept = shifted.within(inverse.solutions(robot.forward_kinematics(q)))
    assert nearest(kept, q) < 1e-9
    assert np.all(kept[:, 5] >= shifted.limits[0, 5])


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.eye(3), r"X must have shape \(..., 4, 4\)"),
        (np.zeros((2, 4, 4)), r"X must have shape \(4, 4\), got \(2, 4, 4\)"),
        (np.diag([1, 1, -1, 1]), "proper rotations"),
        (np.diag([2, 1, 1, 1]), "proper rotations"),
        (np.full((4, 4), np.nan), "X must be finite"),
    ],
)
def test_what_is_no_pose_is_refused(robots, X, sentence):
    with pytest.raises(at.ArmtwinError, match=sentence):
        robots["rx90b"].inverse_kinematics(X)


def test_half_a_turn_is_not_taken_for_none(tmp_path):
    """One joint, tool on its axis:
    the pose of half a turn differs from the start by a rotation of sine zero.
    """
    text = """
format = 2
name = "turntable"
[[joint]]
name = "t"
parent = "base"
child = "plate"
source = "assumed: bench"
[[link]]
name = "plate"
source = "assumed: bench"
body = { mass = 2, com = [0, 0, 0], inertia = { xx = 0.01, yy = 0.01, zz = 0.01 } }
"""
    (tmp_path / "t.toml").write_text(text)
    robot = at.Robot.load(tmp_path / "t.toml")
    X = robot.forward_kinematics([[np.pi]])
    assert np.abs(robot.forward_kinematics(robot.follow(X, [0.0])) - X).max() < 1e-9
    assert len(robot.inverse_kinematics(X[0])) == 1
    with pytest.raises(at.ArmtwinError, match=r"q0 must have shape \(1,\) .*, got \(2, 1\)"):
        robot.follow(X, [[0.0], [1.0]])


def test_right_angles_that_a_file_rounds_lose_no_solution(rng):
    """1.570796327 is off by 2e-10 rad: the closed form is recognised, and meets its poses."""
    from tests.test_readme import ROOT

    robot = at.Robot.load(ROOT / "docs" / "puma560.urdf")
    assert robot.inverse_kinematics_kind == "closed form"
    for q in rng.uniform(-1.5, 1.5, (50, 6)):
        found = robot.inverse_kinematics(robot.forward_kinematics(q))
        assert len(found) == 8
        assert np.abs(found - q).max(axis=1).min() < 1e-6
