"""A palletiser of the shelf: loops of rods against the tree of its links and closed forms."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.analysis.analyse import analyse, states
from armtwin.elements.equations import mass_matrix
from armtwin.errors import ArmtwinError
from armtwin.robot.dynamics.structure import structure_of
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import Joint, Link, Loop, Pose

HEIGHT, OFFSET, UPPER, FORE, REACH, DROP = 0.8, 0.3, 1.0, 1.1, 0.25, 0.2
LEVER = 2.2  # rad: from the forearm to the side of its parallelogram
TARGETS = [(1.6, 0.4, 0.5, 0.3), (1.2, -0.9, 1.2, -1.0), (1.9, 0.0, 0.2, 0.0)]
# column, shoulder, lever, elbow, plate, wrist, hand of (column, shoulder, lever, hand): the forearm
# has the attitude of the lever, plate and wrist that of the column
FOLLOW = np.array(
    [
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [0, -1, 1, 0],
        [0, -1, 0, 0],
        [0, 0, -1, 0],
        [0, 0, 0, 1],
    ]
)


def joints_at(x, y, z, yaw):
    """Column, shoulder, lever, hand for a place of the flange and its yaw, elbow up."""
    column = np.arctan2(y, x)
    r, h = np.hypot(x, y) - REACH - OFFSET, z + DROP - HEIGHT
    square = r * r + h * h
    bend = np.arccos((UPPER**2 + square - FORE**2) / (2 * UPPER * np.sqrt(square)))
    shoulder = np.arctan2(h, r) + bend
    lever = np.arctan2(h - UPPER * np.sin(shoulder), r - UPPER * np.cos(shoulder))
    return np.array([column, shoulder, lever, yaw - column])


@pytest.fixture(scope="module")
def robot():
    return at.Robot.load("palletiser").with_payload("sacks")


@pytest.fixture(scope="module")
def built(robot):
    return structure_of(robot.assembly)


@pytest.fixture(scope="module")
def tree(robot):
    """The same links without the loops, every joint free."""
    return Robot(replace(robot.description, loop=()))


@pytest.fixture(scope="module")
def motion():
    """States of the four drives, away from where a parallelogram lies flat."""
    rng = np.random.default_rng(5)
    q = np.array([joints_at(*target) for target in TARGETS])
    return q, rng.normal(size=q.shape), 2 * rng.normal(size=q.shape)


@pytest.mark.parametrize("target", TARGETS)
def test_inverse_kinematics_finds_place_and_yaw_with_the_wrist_level(built, target):
    """Newton's method over the loops, against the two arms' triangle; elbow up from the start."""
    X = built.level(target[:3], target[3])
    found = built.inverse_kinematics(X, [0.0, 0.8, -0.6, 0.0])
    assert np.abs(found - joints_at(*target)).max() < 1e-10
    assert np.abs(built.forward_kinematics(found) - X).max() < 1e-12


def test_a_tilted_pose_is_refused_with_what_is_left(built):
    X = built.level(TARGETS[0][:3], 0.0)
    c, s = np.cos(0.2), np.sin(0.2)
    X[:3, :3] = X[:3, :3] @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    with pytest.raises(ArmtwinError, match=r"the tool cannot have this pose: .* 11.4 deg remain"):
        built.inverse_kinematics(X, joints_at(*TARGETS[0]))


def test_drives_need_what_the_tree_of_links_needs_along_the_parallelograms(built, tree, motion):
    """Two roads: elements with loops, and Newton-Euler of all seven joints, τ = Gᵀ τ₇."""
    q, v, a = motion
    found = built.inverse_dynamics(q, v, a).tau
    joints = [y @ FOLLOW.T for y in (q, v, a)]
    expected = tree.inverse_dynamics(*joints) @ FOLLOW
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()
    M = built.matrices(mass_matrix(built.structure, built.coordinates(q[0])))
    whole = FOLLOW.T @ tree.mass_matrix(joints[0][0]) @ FOLLOW
    assert np.abs(M - whole).max() < 1e-12 * np.abs(whole).max()


def test_rods_bear_what_the_joints_that_follow_do_not(robot, tree, motion):
    """Virtual work: τ of a passive joint is -Σ pull dL/dq; slopes by central differences."""
    q, v, a = (y[:1] for y in motion)
    whole = [y @ FOLLOW.T for y in (q, v, a)]
    loads = analyse(robot, "loads", states(robot, q[0], v[0], a[0]))
    assert loads.rods == ("drive_rod", "level_rod_1", "level_rod_2")

    def lengths(joints):
        found = []
        for loop in robot.description.loop:
            ends = []
            for link, pin in ((loop.link_a, loop.a), (loop.link_b, loop.b)):
                ends.append(tree.forward_kinematics(joints, link)[:3] @ [*pin, 1.0])
            found.append(np.linalg.norm(ends[1] - ends[0]))
        return np.array(found)

    slopes, h = [], 1e-5
    for step in h * np.eye(7):
        slopes.append((lengths(whole[0][0] + step) - lengths(whole[0][0] - step)) / (2 * h))
    passive = [tree.joint_names.index(name) for name in ("elbow", "plate", "wrist")]
    needed = tree.inverse_dynamics(*whole)[0]
    borne = -np.array(slopes) @ loads.pull[0]
    assert np.abs(needed - borne)[passive].max() < 1e-7 * np.abs(needed).max()
    assert np.abs(loads.torque[0] - (needed @ FOLLOW)).max() < 1e-11 * np.abs(needed).max()


def test_a_loop_of_hinges_moves_as_the_rod_does(robot, built, motion):
    """The drive rod as a link without mass between two hinges; what a plane loop holds too often
    is released, and nobody can say what those parts bear."""
    description = robot.description
    rod = description.loop[0]
    hinge = Joint(
        "rod_pin", "lever", "rod", source="test", axis=(0.0, -1.0, 0.0), origin=Pose(position=rod.a)
    )
    closing = Loop(
        "rod_end", "rod", (1.0, 0.0, 0.0), "fore", rod.b, ("elbow", "rod_pin"), "test",
        axis=(0.0, 1.0, 0.0),
    )  # fmt: skip
    other = Robot(
        replace(
            description,
            joint=(*description.joint, hinge),
            link=(*description.link, Link("rod", "test")),
            loop=(closing, *description.loop[1:]),
        )
    )
    q, v, a = motion
    linked = structure_of(other.assembly)
    assert len(linked.structure.released) == 3
    found, expected = linked.inverse_dynamics(q, v, a).tau, built.inverse_dynamics(q, v, a).tau
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()
    loads = analyse(other, "loads", q[0])
    values = np.hstack([loads.moments, loads.axial, loads.bending, loads.torsion])
    assert np.isnan(values).sum() >= 1


def test_report_of_the_loads_names_every_rod(robot):
    loads = analyse(robot, "loads", joints_at(*TARGETS[0]))
    assert [record["rod"] for record in loads.tables["rods"]] == list(loads.rods)
    assert "level_rod_2" in loads.rods


def test_line_of_the_loads_has_the_largest_moment_on_a_bearing(robot):
    loads = analyse(robot, "loads", joints_at(*TARGETS[0]))
    largest = max(record["moment_nm"] for record in loads.tables["bearings"])
    assert f"bearing: {float(f'{largest:.3g}'):g} N m" in repr(loads)


def test_a_parallelogram_laid_flat_is_refused(built):
    """Rod and upper arm in one line: the forearm could go either way."""
    with pytest.raises(ArmtwinError, match="the structure is in a singular position"):
        built.forward_kinematics([0.0, 1.0, 1.0 - LEVER, 0.0])


@pytest.mark.parametrize("ask", ["inverse_dynamics", "forward_kinematics", "regressor"])
def test_what_needs_a_tree_of_drives_refuses_loops(robot, ask):
    states = (np.zeros(4),) if ask == "forward_kinematics" else (np.zeros(4),) * 3
    with pytest.raises(ArmtwinError, match=r"'palletiser' has closed loops \(\[\[loop\]\]\)"):
        getattr(robot, ask)(*states)


def test_a_urdf_file_cannot_hold_loops(robot, tmp_path):
    with pytest.raises(ArmtwinError, match="which a URDF file cannot hold"):
        robot.to_urdf(tmp_path / "palletiser.urdf")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"link_b": "lever"}, "must join two links, got 'lever' twice"),
        ({"passive": ()}, "must name the joints that follow through this loop, got none"),
        ({"passive": ("plate",)}, "joint 'plate' must follow through one loop, got 2"),
        ({"passive": ("knee",)}, "joint 'knee' is not given"),
        ({"axis": (0.0, 1.0, 0.0)}, "both pins of a hinge must be one place at q = 0, got 1 m"),
        ({"link_b": "lever2"}, "link 'lever2' is not given"),
    ],
)
def test_loops_that_make_no_sense_are_refused(robot, changes, sentence):
    first, *others = robot.description.loop
    with pytest.raises(ArmtwinError, match=sentence):
        Robot(replace(robot.description, loop=(replace(first, **changes), *others)))
