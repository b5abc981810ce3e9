"""Joint motion along a seam: it puts the tool on the seam, its rates are its own differences, and
it agrees with the numbers of another program for the welding jobs of chapter 5 [Waiboer 2007]."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import armtwin as at
from armtwin.motion.curves import Fixed, Given
from armtwin.motion.joint_motion import CHUNK, jacobian_rate, joint_motion
from armtwin.motion.path import Move, build_path
from armtwin.motion.posture import start_posture
from armtwin.motion.seam import Seam
from armtwin.motion.time_laws import TimeLaw, build_profile
from armtwin.prediction.predict import plan_motion
from tests.jobs.placements import FIXED_ENDS, FOLLOW_ENDS, LINE_ENDS, as_in_another_program

# job, blend [m], speed [m/s], duration [s], (q at start, q at end) [deg], largest v [rad/s],
# largest a [rad/s²]
DOCUMENT = {
    "line 100": ("rx90b_line", None, 0.1, 12.0, LINE_ENDS,
        [0.181, 0.1616, 0.3156, 0.1282, 0.0927, 0.148],
        [0.936, 1.321, 2.582, 0.591, 0.764, 1.199]),
    "line 500": ("rx90b_line", None, 0.5, 4.2, LINE_ENDS,
        [0.9049, 0.7096, 1.3812, 0.6412, 0.3897, 0.6893],
        [4.856, 6.192, 12.084, 3.088, 3.51, 5.769]),
    "follow r100": ("rx90b_corner_follow", 0.1, 0.1, 7.6, FOLLOW_ENDS,
        [0.2227, 0.0708, 0.1795, 2.2789, 0.3849, 1.4546],
        [1.805, 0.285, 0.861, 5.128, 1.03, 3.259]),
    "follow r50": ("rx90b_corner_follow", 0.05, 0.1, 7.824, FOLLOW_ENDS,
        [0.2227, 0.0848, 0.2042, 5.5732, 0.9435, 3.7963],
        [1.805, 0.708, 1.704, 20.493, 5.533, 12.985]),
    "follow r40 v50": ("rx90b_corner_follow", 0.04, 0.05, 13.488, FOLLOW_ENDS,
        [0.1474, 0.0504, 0.1207, 3.6266, 0.614, 2.5012],
        [0.907, 0.284, 0.678, 8.116, 2.296, 5.454]),
    "follow r20": ("rx90b_corner_follow", 0.02, 0.1, 7.96, FOLLOW_ENDS,
        [0.7657, 0.2774, 0.6569, 15.7217, 2.6256, 11.1073],
        [9.593, 4.796, 11.259, 118.038, 41.39, 102.932]),
    "follow r5": ("rx90b_corner_follow", 0.005, 0.1, 8.024, FOLLOW_ENDS,
        [3.5673, 1.3006, 3.0577, 65.6664, 10.7749, 46.8928],
        [134.26, 73.663, 171.385, 1759.151, 689.938, 1741.823]),
    "fixed r50": ("rx90b_corner_fixed", 0.05, 0.1, 7.824, FIXED_ENDS,
        [0.2393, 0.0694, 0.172, 0.4817, 0.114, 0.3281],
        [1.929, 0.203, 0.502, 2.148, 0.636, 0.563]),
    "fixed r2.5": ("rx90b_corner_fixed", 0.0025, 0.1, 8.036, FIXED_ENDS,
        [0.2393, 0.0822, 0.1959, 0.5206, 0.1151, 0.3755],
        [3.088, 4.623, 11.004, 9.208, 6.428, 6.765]),
}  # fmt: skip
RAMP = TimeLaw(ramp=0.1)
SHIPPED = ["rx90b_line", "rx90b_corner_follow", "rx90b_corner_fixed"]


def job_with(name, blend=None, speed=0.1):
    """A shipped job with another radius of its corner and another speed."""
    job = at.Job.load(name)
    if blend is not None:
        first, *others = job.description.segment
        job = at.Job(
            replace(job.description, segment=(replace(first, blend=blend), *others)), job.origin
        )
    return job.with_speed(speed)


def seam_of(start, moves, rule, speed=0.1, law=RAMP):
    """A seam of one speed from a point along moves, with 0.1 s of rest on both sides."""
    path = build_path(np.asarray(start, dtype=float), moves)
    return Seam(path, rule, build_profile([0.0, path.length], [speed], ["seam"], law), (0.1, 0.1))


def straight(start, end, R, speed=0.1):
    """A straight seam with a fixed orientation."""
    return seam_of(start, [Move("line", "lin", np.array([end], dtype=float))], Fixed(R), speed)


def poses(seam, s):
    """Poses of the tool along a seam, (m, 4, 4)."""
    jet, turning = seam.at(s)
    X = np.tile(np.eye(4), (len(s), 1, 1))
    X[:, :3, :3], X[:, :3, 3] = turning.R, jet.p
    return X


@pytest.fixture(scope="module")
def welding_robot(robots):
    return robots["rx90b"].with_tool("laser_head")


# documents


@pytest.fixture(scope="module", params=DOCUMENT)
def documented(request, welding_robot):
    name, blend, speed, *numbers = DOCUMENT[request.param]
    job = as_in_another_program(job_with(name, blend, speed))
    return job, plan_motion(welding_robot, job).trajectory, *numbers


def test_welding_jobs_begin_and_end_where_another_program_put_them(documented):
    """The other program's angles are printed to 0.001°."""
    _, motion, _, (first, last), *_ = documented
    assert np.abs(np.degrees(motion.q[[0, -1]]) - [first, last]).max() < 6e-4


def test_welding_jobs_take_as_long_as_in_another_program(documented):
    """Its durations are whole samples of 4 ms."""
    job, _, seconds, *_ = documented
    assert job.seam.duration == pytest.approx(seconds, abs=0.004)


def test_welding_jobs_need_the_joint_speeds_of_another_program(documented):
    """It took central differences of positions at 250 Hz;
    the same differences agree to its printed digits.
    """
    _, motion, _, _, v_max, _ = documented
    v = np.gradient(motion.q, 1 / motion.rate, axis=0)
    assert np.abs(v).max(axis=0) == pytest.approx(v_max, abs=6e-5)


def test_welding_jobs_need_the_joint_accelerations_of_another_program(documented):
    """It took central differences twice; accelerations are printed to 0.001 rad/s²."""
    _, motion, _, _, _, a_max = documented
    a = np.gradient(np.gradient(motion.q, 1 / motion.rate, axis=0), 1 / motion.rate, axis=0)
    assert np.abs(a).max(axis=0) == pytest.approx(a_max, rel=1e-3, abs=6e-4)


def test_joints_turn_back_when_they_do_in_another_program(welding_robot):
    """Joints 1, 4 and 6 in the corner with following head, r = 50 mm: the sharp reversals, to a
    sample of 4 ms.

    The others creep through zero, where the other program reports them with a delay.
    """
    job = as_in_another_program(job_with("rx90b_corner_follow", 0.05))
    motion = plan_motion(welding_robot, job).trajectory
    for joint, times in ((0, [3.52, 4.312]), (3, [3.428, 4.404]), (5, [3.48, 4.352])):
        v = motion.v[:, joint]
        turns = motion.time[1:][v[1:] * v[:-1] < 0]
        assert turns == pytest.approx(times, abs=0.0041)


# laws


def test_on_a_straight_seam_joints_2_3_and_5_turn_back_where_it_is_nearest(welding_robot):
    """The seam is perpendicular to the plane of the arm there, 412.5 mm after its start: what
    raises or lowers the arm is even in the way. 12.5 mm of ramp, so at 1 + 0.25 + 4 s; to a
    sample."""
    motion = plan_motion(welding_robot, at.Job.load("rx90b_line")).trajectory
    for joint in (1, 2, 4):
        v = motion.v[:, joint]
        assert motion.time[1:][v[1:] * v[:-1] < 0] == pytest.approx([5.25], abs=0.004)


@pytest.mark.parametrize("name", ["rx90b_corner_follow", "rx90b_corner_fixed"])
def test_a_corner_symmetric_to_the_arm_is_a_symmetric_motion(welding_robot, name):
    """Mirrored about the arm's plane, joints 1, 4 and 6 turn the other way; 4 about half a turn
    where the head follows."""
    job = at.Job.load(name)
    seam = job.seam
    q = welding_robot.inverse.trace(
        poses(seam, np.linspace(0, seam.length, 1001)), job.description.posture
    )
    middle = np.array([0, 0, 0, np.pi if name == "rx90b_corner_follow" else 0, 0, 0])
    mirrored = middle + (q - middle) * [-1, 1, 1, -1, 1, -1]
    assert np.abs(mirrored[::-1] - q).max() < 1e-11


@pytest.mark.parametrize("name", SHIPPED)
def test_the_tool_is_on_the_seam(welding_robot, name):
    job = at.Job.load(name)
    motion = plan_motion(welding_robot, job)
    X = welding_robot.forward_kinematics(motion.trajectory.q)
    assert np.abs(X - poses(job.seam, motion.command.s)).max() < 1e-13


@pytest.mark.parametrize("name", SHIPPED)
def test_speeds_and_accelerations_are_differences_of_positions(welding_robot, name):
    """At 4 kHz, on more samples than are worked on at a time; h² times a third derivative is 1e-5
    of the largest.

    Left out are samples whose neighbours lie on two sides of the end of a ramp or a clothoid: there
    the jerk steps, and of a following head the acceleration, by v²/(r L) in its turning.
    """
    job = job_with(name, None if name == "rx90b_line" else 0.05)
    seam = job.seam
    found = joint_motion(welding_robot, seam, 4000.0, np.array(job.description.posture))
    motion, h = found.trajectory, 1 / 4000
    assert len(motion.q) > CHUNK
    smooth = np.ones(len(motion.q) - 2, dtype=bool)
    for values, edges in (
        (found.command.s, seam.path.bounds),
        (motion.time, seam.standstill[0] + seam.profile.times),
    ):
        for edge in edges:
            smooth &= ~((values[:-2] <= edge) & (edge <= values[2:]) & (values[:-2] < values[2:]))
    for value, rate in ((motion.q, motion.v), (motion.v, motion.a)):
        off = np.abs((value[2:] - value[:-2]) / (2 * h) - rate[1:-1])
        assert off[smooth].max() < 1e-5 * np.abs(rate).max()


def test_a_tool_that_turns_on_its_axis_turns_joint_6_on_through_all_samples(welding_robot):
    """One and a half turns about the flange's axis while it moves by 50 mm: joint 6 makes them,
    beyond half a turn and on more samples than are worked on at a time."""
    q0 = np.radians([0, 35, 100, 0, 86, -170])
    X, flange = (welding_robot.forward_kinematics(q0, name) for name in ("tool", "link_6"))
    axis, angles = flange[:3, 2], np.linspace(0, 3 * np.pi, 13)
    R = Rotation.from_rotvec(np.outer(angles, axis)).as_matrix() @ X[:3, :3]
    rule = Given(np.linspace(0, 0.05, 13), R)
    seam = seam_of(X[:3, 3], [Move("line", "lin", X[None, :3, 3] + [0, 0, 0.05])], rule, speed=0.01)
    q = joint_motion(welding_robot, seam, 5000.0, q0).trajectory.q
    assert len(q) > CHUNK
    assert (
        np.abs(np.diff(q, axis=0)).max() < 0.01
    )  # rad in a sample; a turn lost or a branch left would be 6 or 3


def test_twice_as_fast_needs_twice_the_speed_and_four_times_the_acceleration(welding_robot):
    """At the same places of the corner, where the tool's own speed is steady.

    The slow run has no samples there: it is read off between samples 0.2 mm apart, to 1e-4 of the
    largest.
    """
    slow, fast = (
        plan_motion(welding_robot, job_with("rx90b_corner_follow", 0.05, speed))
        for speed in (0.05, 0.1)
    )
    for factor, key in ((2, "v"), (4, "a")):
        values, expected = getattr(slow.trajectory, key), getattr(fast.trajectory, key)[925:1030]
        inside = [np.interp(fast.command.s[925:1030], slow.command.s, x) for x in values.T]
        assert np.abs(factor * np.array(inside).T - expected).max() < 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("name", ["rx90b", "lwa4p", "kr300", "tx40"])
def test_the_jacobian_rate_is_the_difference_of_jacobians(robots, rng, name):
    """(J(q + h v) - J(q - h v)) v / 2h, h = 1e-5:
    wrong by h² times third derivatives and 1e-16 / h.
    """
    robot = robots[name]
    q, v = rng.uniform(-2, 2, size=(2, 50, 6))
    h = 1e-5
    dJ = (robot.jacobian(q + h * v) - robot.jacobian(q - h * v)) / (2 * h)
    expected = np.einsum("mij,mj->mi", dJ, v)
    assert (
        np.abs(jacobian_rate(robot.jacobian(q), v) - expected).max() < 1e-8 * np.abs(expected).max()
    )


def test_the_distance_to_a_singularity_is_that_of_singular_values(welding_robot):
    """1 / ‖J⁻¹‖ of Frobenius is (Σ 1/σ²)^-1/2."""
    motion = plan_motion(welding_robot, at.Job.load("rx90b_corner_follow"))
    sigma = np.linalg.svd(welding_robot.jacobian(motion.trajectory.q), compute_uv=False)
    assert motion.distance == pytest.approx((sigma**-2).sum(axis=1) ** -0.5, rel=1e-9)


# out of reach


def test_poses_out_of_reach_are_nan(welding_robot):
    """Where the wrist centre is more than 900 mm from the shoulder at 420 mm height,
    by the theorem of Pythagoras.
    """
    out, q0, wrist = outwards(welding_robot)
    far = np.linalg.norm(out[:, :3, 3] + wrist - [0, 0, 0.42], axis=1)
    missed = np.isnan(welding_robot.inverse.trace(out, q0)).all(axis=1)
    assert np.array_equal(missed, far > 0.9)
    assert 0 < missed.sum() < len(out)


def test_behind_poses_out_of_reach_a_path_stays_on_its_branch(welding_robot):
    """Out and back the same way: each pose reached has the angles it had before."""
    out, q0, _ = outwards(welding_robot)
    there, back = np.split(welding_robot.inverse.trace(np.concatenate([out, out[::-1]]), q0), 2)
    assert np.nanmax(np.abs(there - back[::-1])) < 1e-9


def outwards(robot):
    """Poses along x beyond the stretched arm, a posture at their start,
    and the way from the tool to the wrist.
    """
    q0 = np.radians([0, 35, 100, 0, 86, 0])
    tool, wrist = robot.forward_kinematics(q0), robot.forward_kinematics(q0, "link_5")
    seam = straight([0.45, 0, 0.1], [1.2, 0, 0.1], tool[:3, :3])
    return poses(seam, np.linspace(0, 0.75, 300)), q0, wrist[:3, 3] - tool[:3, 3]


def test_a_stretch_out_of_reach_is_told_once_with_its_reason(welding_robot):
    q0 = np.radians([0, 35, 100, 0, 86, 0])
    seam = straight([0.45, 0, 0.1], [1.2, 0, 0.1], welding_robot.forward_kinematics(q0)[:3, :3])
    motion = joint_motion(welding_robot, seam, 250.0, q0)
    first = int(np.isnan(motion.trajectory.q[:, 0]).argmax())
    assert list(motion.reasons) == [first]
    assert "beyond the stretched arm (900.0 mm)" in motion.reasons[first]


# start


@pytest.mark.parametrize("name", SHIPPED)
def test_without_a_posture_the_robot_starts_where_it_stays_within_its_limits(welding_robot, name):
    job = at.Job.load(name)
    motion = plan_motion(
        welding_robot, at.Job(replace(job.description, posture=None), job.origin)
    ).trajectory
    low, high = welding_robot.position_limits
    assert (motion.q > low).all()
    assert (motion.q < high).all()


def test_a_posture_chooses_its_branch(welding_robot):
    """Every solution of the first pose, given as posture a little beside it,
    is where the motion starts.
    """
    seam = at.Job.load("rx90b_line").seam
    for q in welding_robot.inverse_kinematics(poses(seam, np.zeros(1))[0]):
        assert (
            np.abs(joint_motion(welding_robot, seam, 250.0, q + 0.02).trajectory.q[0] - q).max()
            < 1e-9
        )


def test_a_start_out_of_reach_is_refused_with_its_reason(welding_robot):
    seam = straight([2.0, 0, 0.1], [2.2, 0, 0.1], np.diag([1.0, -1, -1]))
    with pytest.raises(
        at.ArmtwinError,
        match=r"the start of the seam cannot be reached. The wrist centre is .* beyond",
    ):
        start_posture(welding_robot, seam, None)


def test_an_arm_of_five_joints_is_refused_a_seam(robots):
    seam = straight([2.0, 0, 0.1], [2.2, 0, 0.1], np.diag([1.0, -1, -1]))
    with pytest.raises(
        at.ArmtwinError, match="robot 'epaas': a seam needs six joints that move freely, got 5"
    ):
        start_posture(robots["epaas"], seam, None)
