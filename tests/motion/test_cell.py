"""The cell: lines of the robot against floor, planes and boxes, and postures that stay clear."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import armtwin as at
from armtwin.maths.rotations import pose
from armtwin.motion.cell import Box, Cell, Plane, nearness, obstacles
from armtwin.motion.feasibility import feasibility
from armtwin.motion.joint_motion import joint_motion
from armtwin.motion.posture import elbow_rise, start_posture
from armtwin.prediction.predict import check_limits, plan_motion
from armtwin.robot.formats.reading import describe
from armtwin.robot.schema.groups import Pose
from tests.motion.test_joint_motion import straight

SAMPLE = 0.1 / 250  # way in a sample at 100 mm/s and 250 Hz [m]
DOWN = np.diag([1.0, -1, -1])
# Origins and axes of the joints of a UR10e [m], as in its maker's URDF; without spherical wrist
UR10E = (
    ("pan", (0, 0, 0.181), (0, 0, 1)),
    ("lift", (0, 0.176, 0), (0, 1, 0)),
    ("elbow", (0, -0.137, 0.613), (0, 1, 0)),
    ("wrist_1", (0, 0, 0.571), (0, 1, 0)),
    ("wrist_2", (0, 0.135, 0), (0, 0, 1)),
    ("wrist_3", (0, 0, 0.12), (0, 1, 0)),
)


@pytest.fixture(scope="module")
def ur10e():
    """The arm of a UR10e, the tool point in its last joint."""
    source = "public: maker's URDF"
    body = {"mass": 3.0, "com": [0, 0, 0.1], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    parents = ["base", *(name for name, *_ in UR10E)]
    joints, links = [], []
    for parent, (name, origin, axis) in zip(parents, UR10E, strict=False):
        quarter = "90 deg" if name in ("lift", "wrist_1") else "0 deg"
        at_parent = {"position": list(origin), "orientation": {"rpy": [0, quarter, 0]}}
        limits = {"lower": "-180 deg", "upper": "180 deg", "source": source}
        if name != "elbow":
            limits |= {"lower": "-360 deg", "upper": "360 deg"}
        joint = {"name": name, "parent": parent, "child": name, "axis": list(axis)}
        joints.append({**joint, "origin": at_parent, "limits": limits, "source": source})
        links.append({"name": name, "body": body, "source": source})
    tables = {"name": "ur10e", "joint": joints, "link": links}
    return at.Robot(describe(tables, "bench"))


@pytest.fixture(scope="module")
def line():
    """The shipped straight seam, 975 mm along y at x = 425 mm, z = -50 mm; robot and motion."""
    job = at.Job.load("rx90b_line")
    robot = job.robot()
    return job, robot, plan_motion(robot, job)


def in_the_way(line, cell):
    """Violations of a cell by the straight seam."""
    job, robot, motion = line
    found = feasibility(robot, job.seam, motion, cell).violations
    return [v for v in found if v.kind == "cell"]


# lines and obstacles


def test_a_line_is_as_near_to_a_box_as_the_nearest_of_its_points(rng, robots):
    """Lines through and beside a turned box; 4001 points of each by the definition of d.

    Between two of them d changes by at most half a step, 1/8000 of a line's length.
    """
    size = np.array([0.5, 0.3, 0.2])
    R = Rotation.random(random_state=7).as_matrix()
    X = pose(R, (0.1, -0.2, 0.4))
    (_, box) = obstacles(robots["rx90b"], Cell(box=(Box(tuple(size), Pose.from_matrix(X)),)))
    start, end = rng.uniform(-0.6, 0.6, size=(2, 200, 3)) + X[:3, 3]
    distance, share = box.nearest(start, end)
    t = np.linspace(0, 1, 4001)[:, None, None]
    inside = (start + t * (end - start) - X[:3, 3]) @ R
    by_points = (np.abs(inside) - size / 2).max(axis=2).min(axis=0)
    length = np.linalg.norm(end - start, axis=1)
    assert (distance <= by_points + 1e-12).all()
    assert (by_points - distance <= length / 8000).all()
    assert 20 < (distance < 0).sum() < 180
    there = (start + share[:, None] * (end - start) - X[:3, 3]) @ R
    np.testing.assert_allclose((np.abs(there) - size / 2).max(axis=1), distance, atol=1e-12)


def test_a_line_may_pass_a_box_whose_ends_are_both_outside(line):
    """A post of 20 mm in the way of the forearm is found though no joint enters it."""
    _, robot, motion = line
    middle = 250
    q = motion.trajectory.q[middle : middle + 1]
    elbow, wrist = (robot.forward_kinematics(q[0], name)[:3, 3] for name in ("link_3", "link_5"))
    place = tuple((elbow + wrist) / 2)
    (violation,) = in_the_way(line, Cell(box=(Box((0.02, 0.02, 0.02), Pose(place), "post"),)))[:1]
    s = motion.command.s[middle]
    assert violation.from_m <= s <= violation.to_m
    assert violation.text.endswith("inside box 'post'")
    assert "the line from joint_4 to joint_5 would be" in violation.text


# floor


def test_without_a_cell_the_tool_may_work_below_the_base(line):
    job, robot, motion = line
    found = feasibility(robot, job.seam, motion)
    assert found.violations == ()
    (near,) = found.clearances
    flange = robot.forward_kinematics(motion.trajectory.q, "flange")[:, 2, 3].min()
    assert (near.part, near.with_tool) == ("the flange", False)
    assert near.distance == pytest.approx(flange, abs=1e-12)


def test_a_floor_of_the_cell_holds_for_the_tool_too(line):
    (violation,) = in_the_way(line, Cell(floor=0.0))
    assert violation.value == pytest.approx(-0.05, abs=1e-9)
    assert violation.text == "from 0.0 to 975.0 mm the tool point would be 50.0 mm below the floor"
    assert violation.joint == "joint_6"


@pytest.mark.parametrize("deeper", [0.0, 1e-3])
def test_a_seam_on_a_surface_touches_it_and_no_more(line, deeper):
    """The seam lies on a box of which it is a top edge's parallel; a millimetre higher, the tool
    point is a millimetre in it: the top is the nearest face."""
    top = -0.05 + deeper
    box = Box((0.4, 1.4, 0.3), Pose((0.425, 0.075, top - 0.15)), "table")
    found = in_the_way(line, Cell(box=(box,)))
    if not deeper:
        assert found == []
        return
    (violation,) = found
    assert violation.value == pytest.approx(-deeper, abs=1e-9)
    assert "from 0.0 to 975.0 mm the tool point would be 1.0 mm inside box 'table'" in (
        violation.text
    )


def test_a_plane_is_passed_where_the_first_frame_passes_it(line):
    """By forward kinematics of every frame; a wall at y = 300 mm that faces the start."""
    _, robot, motion = line
    wall = Plane((0.0, 0.3, 0.0), (0.0, -2.0, 0.0), "wall")
    (violation,) = in_the_way(line, Cell(plane=(wall,)))
    frames = [*(f"link_{k}" for k in range(1, 7)), "flange", "tool"]
    q = motion.trajectory.q
    y = np.max([robot.forward_kinematics(q, frame)[:, 1, 3] for frame in frames], axis=0)
    first = motion.command.s[int((y > 0.3 + 1e-5).argmax())]
    assert violation.from_m == pytest.approx(first, abs=1e-12)
    assert violation.to_m == pytest.approx(0.975, abs=1e-12)
    assert violation.value == pytest.approx(0.3 - y.max(), abs=1e-12)
    assert violation.text.endswith("behind plane 'wall'")


def test_a_robot_that_hangs_has_no_floor_of_its_own_but_may_be_given_one(line):
    """Gravity along +z of the base: a floor 700 mm below the base is at z = 700 mm."""
    _, robot, motion = line
    hung = at.Robot(replace(robot.description, gravity=(0.0, 0.0, 9.81)))
    assert nearness(hung, Cell(), motion.trajectory.q) == ()
    (near,) = nearness(hung, Cell(floor=-0.7), motion.trajectory.q)
    frames = [f"link_{k}" for k in range(1, 7)]
    highest = max(
        hung.forward_kinematics(motion.trajectory.q, frame)[:, 2, 3].max() for frame in frames
    )
    assert near.distance.min() == pytest.approx(0.7 - highest, abs=1e-12)


def test_a_floor_without_gravity_is_refused(line):
    job, robot, motion = line
    weightless = at.Robot(replace(robot.description, gravity=(0.0, 0.0, 0.0)))
    with pytest.raises(at.ArmtwinError, match=r"cell.floor: robot 'rx90b' has no gravity"):
        feasibility(weightless, job.seam, motion, Cell(floor=-1.0))


def test_what_is_in_the_way_is_refused_even_where_limits_are_only_reported(line):
    job, robot, motion = line
    d = replace(job.description, limits="report", cell=Cell(floor=-0.01))
    with pytest.raises(at.ArmtwinError, match=r"the tool point would be 40\.0 mm below the floor"):
        check_limits(robot, at.Job(d, job.origin), motion)


# postures


def bead(z):
    """A straight seam of 200 mm in front of the robot, flange down."""
    return straight([0.7, -0.1, z], [0.7, 0.1, z], DOWN)


def test_a_posture_is_chosen_whose_elbow_stays_above_the_floor(ur10e):
    seam = bead(0.2)
    q0 = start_posture(ur10e, seam, None)
    motion = joint_motion(ur10e, seam, 250.0, q0)
    assert feasibility(ur10e, seam, motion).violations == ()
    assert ur10e.forward_kinematics(motion.trajectory.q, "elbow")[:, 2, 3].min() > 0.181


def test_the_elbow_goes_down_where_only_that_stays_clear(ur10e):
    """A low floor, and a beam at the height at which the elbow would be up."""
    seam = bead(0.2)
    up = start_posture(ur10e, seam, None, Cell(floor=-1.0))
    height = ur10e.forward_kinematics(up, "elbow")[2, 3]
    beam = Box((3.0, 3.0, 0.1), Pose((0.0, 0.0, height)), "beam")
    down = start_posture(ur10e, seam, None, Cell(floor=-1.0, box=(beam,)))
    assert elbow_rise(ur10e, up) > 0 > elbow_rise(ur10e, down)


def test_an_elbow_below_the_floor_is_refused_with_its_place_and_joint(ur10e):
    seam = bead(0.2)
    motion = joint_motion(ur10e, seam, 250.0, start_posture(ur10e, seam, "elbow down"))
    (violation,) = feasibility(ur10e, seam, motion).refused
    lowest = ur10e.forward_kinematics(motion.trajectory.q, "elbow")[:, 2, 3].min()
    assert (violation.kind, violation.joint) == ("cell", "elbow")
    assert violation.value == pytest.approx(lowest, abs=1e-12)
    assert violation.value < -0.15
    place = f"from 0.0 to 200.0 mm elbow would be {-1e3 * lowest:.1f} mm below the plane"
    assert violation.text.startswith(place)


def test_among_equal_postures_the_elbow_is_up(ur10e):
    """So high that nothing is in the way of either."""
    seam = bead(0.9)
    up, down = (start_posture(ur10e, seam, name) for name in ("elbow up", "elbow down"))
    low = ur10e.inverse.trace(at_some(seam), down)
    assert nearness(ur10e, Cell(), low)[0].distance.min() > 0.05
    assert np.array_equal(start_posture(ur10e, seam, None), up)
    assert elbow_rise(ur10e, up) > 0 > elbow_rise(ur10e, down)


def at_some(seam):
    """Some poses of a seam."""
    jet, turning = seam.at(np.linspace(0, seam.length, 20))
    return np.array([pose(R, p) for R, p in zip(turning.R, jet.p, strict=True)])


def test_elbows_up_and_down_are_mirrored_about_the_line_from_shoulder_to_wrist(ur10e):
    """Both have the same triangle of shoulder, elbow and wrist, turned over."""
    seam = bead(0.2)
    starts = ur10e.inverse_kinematics(at_some(seam)[0], within_limits=True)
    rises = sorted(round(elbow_rise(ur10e, q), 9) for q in starts)
    assert len(rises) == 8
    assert rises == pytest.approx([-r for r in reversed(rises)], abs=1e-8)


def test_a_posture_that_no_branch_has_is_refused(robots):
    job = at.Job.load("lwa4p_bead")
    with pytest.raises(at.ArmtwinError, match="posture 'elbow down': in none of the 2 postures"):
        start_posture(job.robot(), job.seam, "elbow down")


def test_an_arm_without_an_elbow_has_no_posture_by_name(ur10e):
    """The third joint turned by 20 degrees out of the plane of the arm."""
    joints = list(ur10e.description.joint)
    joints[2] = replace(joints[2], axis=(np.sin(0.35), np.cos(0.35), 0.0))
    bent = at.Robot(replace(ur10e.description, joint=tuple(joints)))
    q = np.array([0.1, -1.0, 1.5, 0.4, 1.2, 0.3])
    X = bent.forward_kinematics(q)
    seam = straight(X[:3, 3], X[:3, 3] + [0, 0.05, 0], X[:3, :3])
    with pytest.raises(at.ArmtwinError, match="posture 'elbow up': robot 'ur10e' has no elbow"):
        start_posture(bent, seam, "elbow up")
