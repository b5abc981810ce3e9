"""Feasibility: each thing a robot cannot do is found,
at its place on the seam and with the joint's name.
"""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.motion.curves import Fixed, Following
from armtwin.motion.feasibility import feasibility
from armtwin.motion.joint_motion import joint_motion
from armtwin.motion.path import Move
from armtwin.motion.time_laws import TimeLaw
from armtwin.prediction.predict import plan_motion
from armtwin.robot.formats.reading import describe
from armtwin.robot.schema.overrides import apply_overrides
from tests.jobs.placements import as_in_another_program
from tests.motion.test_joint_motion import job_with, seam_of, straight

SAMPLE = 0.1 / 250  # way in a sample at 100 mm/s and 250 Hz [m]
AHEAD = np.radians(
    [0, 35, 100, 0, 86, 0]
)  # a posture of the RX90B with the laser pointing down, in front of the base
UP = np.array([0.0, 0.0, 1.0])


def found(robot, seam, q0, kind, rate=250.0):
    """Violations of a kind along a seam."""
    motion = joint_motion(robot, seam, rate, q0)
    return [v for v in feasibility(robot, seam, motion).violations if v.kind == kind]


def of_job(robot, job):
    return feasibility(robot, job.seam, plan_motion(robot, job))


def changed(robot, values):
    return at.Robot(apply_overrides(robot.description, values, "test"))


def spin(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def around_axis_1(robot, q0, angle=0.6, **options):
    """A seam on which only joint 1 moves: an arc about its axis under a following tool;
    and the arc's radius.
    """
    X = robot.forward_kinematics(q0)
    p = X[:3, 3]
    start = np.stack([np.array([-p[1], p[0], 0]), np.array([-p[0], -p[1], 0]), [0, 0, 1]], axis=1)
    start[:, :2] /= np.linalg.norm(p[:2])
    arc = Move("arc", "circ", np.array([spin(angle / 2) @ p, spin(angle) @ p]))
    return seam_of(p, [arc], Following(start.T @ X[:3, :3], UP), **options), float(
        np.linalg.norm(p[:2])
    )


@pytest.fixture(scope="module")
def welding_robot(robots):
    return robots["rx90b"].with_tool("laser_head")


# reach, flip, singularity, curvature


def test_out_of_reach_begins_where_the_arm_is_stretched(welding_robot):
    """Outwards along x; the wrist centre keeps its place beside the tool and is 900 mm from the
    shoulder at the limit.
    """
    tool = welding_robot.forward_kinematics(AHEAD)
    wrist = welding_robot.forward_kinematics(AHEAD, "link_5")[:3, 3] - tool[:3, 3]
    (violation,) = found(
        welding_robot, straight([0.45, 0, 0.1], [1.2, 0, 0.1], tool[:3, :3]), AHEAD, "reach"
    )
    limit = np.sqrt(0.9**2 - wrist[1] ** 2 - (wrist[2] + 0.1 - 0.42) ** 2) - wrist[0] - 0.45
    assert limit < violation.from_m < limit + SAMPLE
    assert violation.to_m == pytest.approx(0.75, abs=1e-12)
    assert "out of reach. The wrist centre is" in violation.text


def test_a_seam_wholly_out_of_reach_is_one_violation(welding_robot):
    seam = straight([2.0, 0, 0.1], [2.2, 0, 0.1], np.diag([1.0, -1, -1]))
    result = feasibility(welding_robot, seam, joint_motion(welding_robot, seam, 250.0, AHEAD))
    ((kind, start, stop),) = [(v.kind, v.from_m, v.to_m) for v in result.violations]
    assert (kind, start, stop) == ("reach", 0.0, pytest.approx(0.2, abs=1e-12))


def test_a_jump_of_the_wrist_between_samples_is_a_flip(welding_robot):
    """The corner of 2.5 mm with samples 10 mm apart, none of them in the blend: they see the head
    turned by 90° at once, and the nearest solution has the wrist on its other side."""
    job = job_with("rx90b_corner_follow", 0.0025)
    flips = found(welding_robot, job.seam, np.array(job.description.posture), "flip", rate=10.1)
    corner = job.seam.path.stretches[1]
    assert {v.joint for v in flips} == {"joint_1", "joint_5", "joint_6"}
    assert all(v.from_m < corner.start < corner.stop < v.to_m for v in flips)
    assert "at 283.5 mm joint_5 would jump by -69° to another branch" in [v.text for v in flips]


def test_enough_samples_leave_no_flip(welding_robot):
    job = job_with("rx90b_corner_follow", 0.0025)
    assert not found(
        welding_robot, job.seam, np.array(job.description.posture), "flip", rate=1000.0
    )


def test_a_straight_wrist_on_the_way_is_a_singularity(welding_robot):
    """A straight seam, fixed tool, that meets a pose with q5 = 0 in its middle;
    the rest is far from it.
    """
    q = np.array([0.0, 0.6, 1.2, 0.0, 0.0, 0.0])
    X = welding_robot.forward_kinematics(q)
    middle, way = X[:3, 3], np.array([0, 0, 0.1])
    (violation,) = found(
        welding_robot, straight(middle - way, middle + way, X[:3, :3]), q, "singularity"
    )
    assert violation.from_m < 0.1 < violation.to_m
    assert violation.to_m - violation.from_m < 0.01
    assert "the arm is singular" in violation.text


def tangent_arc(rule):
    """200 mm straight ahead and into a quarter of a circle of 50 mm."""
    lin = Move("line", "lin", np.array([[0.5, 0.2, 0.1]]))
    centre = np.array([0.45, 0.2, 0.1])
    via, to = (centre + 0.05 * np.array([np.cos(x), np.sin(x), 0]) for x in (np.pi / 4, np.pi / 2))
    return seam_of([0.5, 0, 0.1], [lin, Move("arc", "circ", np.array([via, to]))], rule)


def test_a_step_of_curvature_under_a_following_tool_is_refused_where_line_and_arc_meet(
    welding_robot,
):
    R = at.Job.load("rx90b_line").seam.orientations.R
    (violation,) = found(welding_robot, tangent_arc(Following(R, UP)), AHEAD, "curvature")
    assert (violation.from_m, violation.value) == pytest.approx((0.2, 1 / 0.05), rel=1e-9)
    assert "at 200.0 mm the seam's curvature steps by 20 1/m" in violation.text


def test_a_tool_that_keeps_its_orientation_may_pass_a_step_of_curvature(welding_robot):
    R = welding_robot.forward_kinematics(AHEAD)[:3, :3]
    assert not found(welding_robot, tangent_arc(Fixed(R)), AHEAD, "curvature")


# position, velocity, acceleration


def test_a_position_limit_is_broken_where_the_geometry_says(welding_robot):
    """Behind the robot along y:
    joint 1 points at the wrist centre and leaves its 160° where that is 20° from the back.
    """
    q0 = np.array([np.radians(-140), *AHEAD[1:]])
    R = spin(np.pi) @ welding_robot.forward_kinematics(AHEAD)[:3, :3]
    X = welding_robot.forward_kinematics(AHEAD)
    behind = -(0.45 + (welding_robot.forward_kinematics(AHEAD, "link_5") - X)[0, 3])
    (violation,) = found(
        welding_robot, straight([-0.45, -0.4, 0.1], [-0.45, 0.4, 0.1], R), q0, "position"
    )
    place = 0.4 - abs(behind) * np.tan(np.radians(20))
    assert violation.joint == "joint_1"
    assert place < violation.from_m < place + SAMPLE
    assert violation.to_m == pytest.approx(0.8, abs=1e-12)
    worst = -np.pi - np.arctan2(0.4, abs(behind))
    assert violation.value == pytest.approx(worst, abs=1e-9)
    assert violation.limit == pytest.approx(np.radians(-160), rel=1e-12)


@pytest.mark.parametrize("radius", [0.1, 0.05])
def test_wide_corners_break_no_limit(welding_robot, radius):
    assert of_job(welding_robot, job_with("rx90b_corner_follow", radius)).violations == ()


def test_a_corner_of_20_mm_is_too_fast_for_joint_4_alone(welding_robot):
    """Another program has 15.72 rad/s, its difference over 8 ms; the limit is 409 °/s."""
    job = as_in_another_program(job_with("rx90b_corner_follow", 0.02))
    (violation,) = of_job(welding_robot, job).violations
    assert (violation.kind, violation.joint) == ("velocity", "joint_4")
    assert violation.value == pytest.approx(15.7217, rel=1e-3)
    assert violation.limit == pytest.approx(np.radians(409), rel=1e-12)
    assert (
        "from 274.7 to 296.3 mm joint_4 would have to move at 901.4°/s (limit 409°/s)"
        in violation.text
    )


def test_a_corner_of_2_5_mm_breaks_speed_limits_in_its_blend_joint_4_first(welding_robot):
    job = job_with("rx90b_corner_follow", 0.0025)
    corner = job.seam.path.stretches[1]
    broken = [v for v in of_job(welding_robot, job).violations if v.kind == "velocity"]
    assert broken[0].joint == "joint_4"
    assert {v.joint for v in broken} == {"joint_1", "joint_3", "joint_4", "joint_5", "joint_6"}
    assert all(corner.start < v.from_m < v.to_m < corner.stop for v in broken)
    assert broken[0].from_m == pytest.approx(0.287, abs=SAMPLE)
    assert broken[0].to_m == pytest.approx(0.2915, abs=SAMPLE)


def test_a_speed_limit_is_broken_from_where_the_ramp_passes_it(robots):
    """About axis 1 joint 1 turns at speed over radius;
    at 2 m/s² a speed v is reached after v²/4.
    """
    robot = robots["lwa4p"]
    q0 = np.array([-0.3, 0.6, -1.2, 0.2, 0.7, 0.1])
    limit = np.radians(72)
    seam, radius = around_axis_1(
        robot, q0, speed=1.0, angle=1.5, law=TimeLaw("trapezoid", acceleration=2.0)
    )
    (violation,) = found(robot, seam, q0, "velocity", rate=1000.0)
    reached = (limit * radius) ** 2 / 4
    assert violation.joint == "joint_1"
    assert violation.value == pytest.approx(1.0 / radius, rel=1e-9)
    assert violation.from_m == pytest.approx(
        reached, abs=1e-3
    )  # a sample of 1 ms is 0.7 mm of way there
    assert violation.to_m == pytest.approx(seam.length - reached, abs=1e-3)


def test_an_acceleration_limit_is_broken_in_both_ramps(robots):
    """About axis 1 joint 1 accelerates by a over radius, in a trapezoid over v²/2a at both ends,
    and nowhere else.
    """
    robot = robots["lwa4p"]
    q0 = np.array([-0.3, 0.6, -1.2, 0.2, 0.7, 0.1])
    seam, radius = around_axis_1(robot, q0, speed=0.3, law=TimeLaw("trapezoid", acceleration=4.0))
    first, last = found(robot, seam, q0, "acceleration", rate=1000.0)
    ramp = 0.3**2 / 8
    assert first.joint == last.joint == "joint_1"
    assert first.value == pytest.approx(4.0 / radius, rel=1e-9)
    assert first.limit == pytest.approx(np.radians(250), rel=1e-12)
    assert (first.from_m, first.to_m) == pytest.approx(
        (0.0, ramp), abs=4e-4
    )  # a sample of 1 ms is 0.3 mm of way
    assert (last.from_m, last.to_m) == pytest.approx((seam.length - ramp, seam.length), abs=4e-4)


# torque and drive


def test_a_joint_too_weak_for_the_arms_weight_is_found_all_along(welding_robot):
    """Joint 2 with less torque than the weight needs;
    about axis 1 that need is the same everywhere.
    """
    seam, _ = around_axis_1(welding_robot, AHEAD)
    weight = abs(welding_robot.gravity(AHEAD)[1])
    weak = changed(welding_robot, {"joint.2.limits.torque": 0.5 * weight})
    (violation,) = found(weak, seam, AHEAD, "torque")
    assert violation.joint == "joint_2"
    assert (violation.from_m, violation.to_m) == pytest.approx((0.0, seam.length), abs=1e-12)
    assert violation.limit == pytest.approx(0.5 * weight)


def test_a_motor_of_the_coupled_wrist_carries_the_difference_of_two_joints(welding_robot):
    """Motor 6 drives joints 5 and 6 by 32 each, motor 5 only joint 5 by 75:
    it gives (τ5 - τ6) / 75.
    """
    job = at.Job.load("rx90b_line").with_speed(0.5)
    motion = plan_motion(welding_robot, job).trajectory
    tau = welding_robot.inverse_dynamics(
        motion.q, motion.v, motion.a
    ) + welding_robot.friction_torque(motion.v)
    needed = np.abs((tau[:, 4] - tau[:, 5]) / 75)
    weak = changed(
        welding_robot,
        {
            "motor.5.current_limit": 0.9
            * needed.max()
            / welding_robot.description.motor[4].torque_constant
        },
    )
    broken = of_job(weak, job).violations
    assert {(v.kind, v.joint) for v in broken} == {("drive", "motor_5")}
    assert max(v.value for v in broken) == pytest.approx(needed.max(), rel=1e-12)
    worst = plan_motion(welding_robot, job).command.s[int(needed.argmax())]
    assert any(v.from_m <= worst <= v.to_m for v in broken)


def test_a_motor_with_a_joint_of_its_own_gives_the_torque_of_the_joint_over_the_gear(welding_robot):
    """Motors 1 to 4 of the RX90B; shares times limits are the largest torques."""
    result = of_job(welding_robot, at.Job.load("rx90b_line"))
    limits, gears = welding_robot.limits, np.array([101, 101, 121.6, 88])
    joint, motor = (
        result.shares["torque"][:4] * limits.torque[:4],
        result.shares["drive"][:4] * limits.motor_torque[:4],
    )
    assert motor * gears == pytest.approx(joint, rel=1e-12)


# the whole


def test_shares_of_speed_are_those_of_another_program(welding_robot):
    """Largest speeds of the straight seam at 500 mm/s, central differences at 250 Hz,
    over the limits of the file.
    """
    v_max = np.array([0.9049, 0.7096, 1.3812, 0.6412, 0.3897, 0.6893])
    job = as_in_another_program(job_with("rx90b_line", speed=0.5))
    share = of_job(welding_robot, job).shares["velocity"]
    assert share == pytest.approx(v_max / np.radians([356, 356, 296, 409, 480, 1125]), rel=5e-4)


def test_without_a_limit_there_is_no_share(welding_robot):
    assert np.isnan(of_job(welding_robot, at.Job.load("rx90b_line")).shares["acceleration"]).all()


def test_only_what_makes_no_sense_at_all_is_always_refused(welding_robot):
    """Too fast or too heavy may be simulated; a joint beyond its stop may not."""
    result = of_job(welding_robot, job_with("rx90b_corner_follow", 0.0025))
    assert {v.kind for v in result.violations} == {"position", "velocity", "torque", "drive"}
    assert {v.kind for v in result.refused} == {"position"}


def test_the_nearest_singularity_is_in_the_middle_of_the_corner(welding_robot):
    """The corner is symmetric to the arm and q5 is smallest there; to a sample."""
    job = at.Job.load("rx90b_corner_fixed")
    result = of_job(welding_robot, job)
    assert result.distance_at_m == pytest.approx(job.seam.length / 2, abs=SAMPLE)


# limits of joints that follow others


def parallelogram(multiplier, limits):
    """Two joints, the second follows the first."""
    body = {"mass": 1.0, "com": [0, 0, 0], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    leader = {"lower": -1.0, "upper": 2.0, "velocity": 3.0, "acceleration": 10.0, "torque": 5.0}
    mimic = {"joint": "a", "multiplier": multiplier, "offset": 0.5}
    joints = [
        {"name": "a", "parent": "base", "child": "one", "limits": leader},
        {"name": "b", "parent": "one", "child": "two", "mimic": mimic, "limits": limits},
    ]
    for j in joints:
        j["limits"] = {**j["limits"], "source": "assumed: bench"}
    links = [{"name": name, "body": body, "source": "assumed: bench"} for name in ("one", "two")]
    tables = {
        "name": "bench",
        "joint": [{**j, "source": "assumed: bench"} for j in joints],
        "link": links,
    }
    return at.Robot(describe(tables, "bench"))


def test_a_joint_that_follows_at_twice_the_speed_halves_the_speed_allowed():
    assert parallelogram(-2.0, {"velocity": 4.0}).limits.velocity == pytest.approx([2.0])


def test_a_slow_joint_that_follows_does_not_raise_the_speed_allowed():
    assert parallelogram(0.5, {"velocity": 4.0}).limits.velocity == pytest.approx([3.0])


def test_a_joint_that_follows_limits_the_acceleration_of_its_leader():
    assert parallelogram(-2.0, {"acceleration": 8.0}).limits.acceleration == pytest.approx([4.0])


def test_a_joint_that_follows_backwards_stops_its_leader_from_the_other_side():
    """q_b = 0.5 - q_a between -0.5 and 1.2: q_a between -0.7 and 1, inside its own -1 and 2."""
    limits = parallelogram(-1.0, {"lower": -0.5, "upper": 1.2}).position_limits
    assert limits == pytest.approx(np.array([[-0.7], [1.0]]))


def test_the_torque_of_a_motor_is_its_constant_times_its_current(robots):
    stronger = changed(
        robots["rx90b"], {"motor.3.torque_constant": 0.5, "motor.3.current_limit": 8.0}
    )
    assert stronger.limits.motor_torque[2] == pytest.approx(4.0)


# ramps between set-points


@pytest.mark.parametrize("ramp", [1e-9, 1e-5, 1e-3])
def test_a_ramp_between_two_set_points_is_refused_by_the_torque_it_takes(ramp):
    """No set-point shows it: at 250 Hz the tool stands at one and moves steadily at the next."""
    job = at.Job.load("rx90b_line")
    quick = at.Job(replace(job.description, time_law=TimeLaw(ramp=ramp)))
    with pytest.raises(at.FileError) as error:
        at.predict(quick)
    told = " ".join(error.value.problems)  # the message folds those that are alike
    assert "at 0.0 mm joint_1 would need" in told
    assert "at 975.0 mm joint_1 would need" in told


def test_the_acceleration_of_a_ramp_is_that_of_the_law_and_not_of_a_sample(welding_robot):
    """Only joint 1 moves: twice the change of its speed over the ramp's time,
    however few set-points there are.
    """
    limited = changed(welding_robot, {"joint.1.limits.acceleration": "1000 rad/s^2"})
    for ramp in (0.25, 0.004, 0.001):
        seam, radius = around_axis_1(limited, AHEAD, law=TimeLaw(ramp=ramp))
        motion = joint_motion(limited, seam, 250.0, AHEAD)
        share = feasibility(limited, seam, motion).shares["acceleration"][0]
        assert share == pytest.approx(
            2 * seam.profile.speeds.max() / radius / ramp / 1000, rel=1e-6
        )
