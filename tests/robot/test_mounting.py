"""How a base is mounted, as the gravity direction in its frame."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.maths import rotations
from armtwin.robot.schema.groups import Pose
from armtwin.robot.schema.mounting import (
    angle_between,
    gravity_of,
    in_words,
    option_for,
    read_gravity,
)
from tests.conftest import relative


def standing(robot, R):
    """The robot whose whole base is turned by R in a world with gravity along -z."""
    description = robot.description
    children = {joint.child for joint in description.joint}
    joints = []
    for joint in description.joint:
        if joint.parent not in children:
            turned = rotations.pose(R, np.zeros(3)) @ joint.origin.matrix()
            joint = replace(joint, origin=Pose.from_matrix(turned))
        joints.append(joint)
    return at.Robot(replace(description, joint=tuple(joints), gravity=(0.0, 0.0, -9.81)))


@pytest.mark.parametrize(
    ("mounting", "axis", "angle"),
    [
        ("floor", "y", 0),
        ("wall", "y", 90),
        ("ceiling", "y", 180),
        ("30 deg", "y", 30),
        ("-20 deg about x", "x", -20),
        ("wall about -x", "x", -90),
    ],
)
def test_a_mounted_base_is_the_arm_turned_in_the_world(robots, rng, mounting, axis, angle):
    """Two roads to one weight: gravity turned in the base, or the base turned in the world."""
    robot = robots["tx40"]
    R = rotations.about(np.eye(3)["xyz".index(axis)], np.radians(angle))
    q = rng.normal(size=(20, robot.n))
    mounted = robot.with_gravity(gravity_of(mounting))
    assert relative(mounted.gravity(q), standing(robot, R).gravity(q)) < 1e-12


@pytest.mark.parametrize("mounting", ["floor", "wall", "ceiling", "30 deg", "-45 deg about x"])
def test_a_direction_is_named_by_the_option_that_gives_it(mounting):
    g = gravity_of(mounting)
    flag, words = option_for(g).split(" ", 1)
    assert flag == "--mounting"
    assert angle_between(gravity_of(words.strip('"')), g) < 1e-9


def test_any_other_direction_is_named_by_its_components():
    g = 9.81 * np.array([0.6, 0.48, -0.64])
    flag, words = option_for(g).split(" ", 1)
    assert flag == "--gravity"
    assert angle_between(read_gravity(words.strip('"')), g) < 1e-3  # four digits are written


def test_mountings_have_words():
    assert in_words(gravity_of("floor")) == "on a floor"
    assert in_words(gravity_of("wall")) == "on a wall (gravity along +x of the base)"
    assert in_words(gravity_of("ceiling")) == "on a ceiling"
    assert "at 45 deg to a floor" in in_words(gravity_of("45 deg"))


@pytest.mark.parametrize(
    ("mounting", "sentence"),
    [
        ("roof", "must be floor, wall, ceiling or an angle as \"30 deg\", got 'roof'"),
        ("45", "Did you mean '45 deg'"),
        ("45 deg about z", "must turn about one of x, -x, y, -y of the base, got 'z'"),
        ("30 mm", "must be in rad or a unit of that kind"),
    ],
)
def test_a_mounting_that_cannot_be_is_refused(mounting, sentence):
    with pytest.raises(at.ArmtwinError) as caught:
        gravity_of(mounting)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0 -9.81", "must be three numbers in m/s²"),
        ("0 0 down", "must be three numbers in m/s²"),
        ("1 0 0", "got 1 m/s² from '1 0 0'. Did you mean \"9.81 0 0\"?"),
        ("0 0 nan", "must be three numbers in m/s²"),
    ],
)
def test_a_gravity_that_cannot_be_is_refused(text, sentence):
    with pytest.raises(at.ArmtwinError) as caught:
        read_gravity(text)
    assert sentence in str(caught.value)


def test_an_imported_robot_file_says_how_it_is_mounted(robots, tmp_path):
    """Also where it is the default, so that its reader sees what is taken for granted."""
    robot = robots["tx40"]
    robot.save(tmp_path / "floor.toml")
    assert "gravity = [0.0, 0.0, -9.81]" in (tmp_path / "floor.toml").read_text()
    wall = robot.with_gravity(gravity_of("wall"), "measured: with a level")
    wall.save(tmp_path / "wall.toml")
    again = at.Robot.load(tmp_path / "wall.toml")
    assert again == wall
    assert [o.text for o in again.provenance.origins if o.path == "gravity"] == ["with a level"]
