"""Overrides: one number of a robot changes, says so, and everything else stays."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.robot.schema.overrides import apply_overrides


def changed(robot, values):
    return at.Robot(apply_overrides(robot.description, values, "job 'test'"))


def test_without_overrides_a_robot_is_itself(robots):
    for robot in robots.values():
        assert apply_overrides(robot.description, {}, "test") == robot.description


def test_an_element_of_friction_changes_and_no_other(robots):
    """Twice the asperity of wrist_a on joint 5:
    the torque of joint 5 grows, the other joints feel nothing.
    """
    robot = robots["rx90b"]
    rough = changed(robot, {"friction.5.asperity": "1.2673 N m"})
    v = np.full(6, 0.01)
    more = rough.friction_torque(v) - robot.friction_torque(v)
    law = robot.description.friction[4].law
    expected = 0.63365 * np.exp(
        -((0.01 / law.speed) ** law.exponent)
    )  # the asperity part of the geared joint
    assert more == pytest.approx([0, 0, 0, 0, expected, 0], abs=1e-12)


def test_a_law_of_friction_in_a_job_is_the_law_of_the_file(robots):
    """The description is the one made by hand, but for what it says of its source."""
    description = robots["rx90b"].description
    element = description.friction[4]
    by_hand = replace(element, law=replace(element.law, asperity=2.0))
    new = apply_overrides(description, {"friction.5.asperity": "2 N m"}, "test")
    assert replace(new.friction[4], source=element.source) == by_hand
    assert replace(new, friction=description.friction) == description


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ("friction.5.asperity", "friction.wrist_a.asperity", "2 N m"),
        ("joint.3.limits.velocity", "joint.joint_3.limits.velocity", "100 deg/s"),
        ("motor.2.current_limit", "motor.motor_2.current_limit", "9 A"),
        ("link.4.body.mass", "link.link_4.body.mass", "7 kg"),
        ("transmission.1.stiffness", "transmission.joint_1.stiffness", "1e5 N m/rad"),
    ],
)
def test_lists_count_from_one_or_go_by_name(robots, path, name, value):
    description = robots["rx90b"].description
    by_number, by_name = (
        apply_overrides(description, {key: value}, "test") for key in (path, name)
    )
    assert by_number == by_name != description


def test_units_are_those_of_a_robot_file(robots):
    slow = changed(robots["rx90b"], {"joint.1.limits.velocity": "90 deg/s"})
    assert slow.limits.velocity[0] == pytest.approx(np.pi / 2, rel=1e-15)


def test_one_of_many_numbers_of_a_list_changes(robots):
    servo = robots["rx90b"].description.servo["cascade"]
    change = {"servo.cascade.rule.bandwidth.3": 7.5}
    rule = apply_overrides(robots["rx90b"].description, change, "test").servo["cascade"].rule
    assert rule.bandwidth == (*servo.rule.bandwidth[:2], 7.5, *servo.rule.bandwidth[3:])


def test_a_heavier_link_weighs_more(robots):
    """One kilogram more at the centre of mass of link 4: torques of its weight, by virtual work."""
    robot = robots["rx90b"]
    body = robot.description.link[3].body
    heavy = changed(robot, {"link.link_4.body.mass": body.mass + 1.0})
    q, h = np.array([0.1, 0.5, 1.0, 0.2, 0.7, 0.1]), 1e-6

    def height(q):
        X = robot.forward_kinematics(q, "link_4")
        return X[2, 3] + X[2, :3] @ body.com

    lifted = np.array([(height(q + h * e) - height(q - h * e)) / (2 * h) for e in np.eye(6)])
    assert heavy.gravity(q) - robot.gravity(q) == pytest.approx(
        9.81 * lifted, abs=1e-7
    )  # 1e-16 / h, and 9.81 m/s²


def test_an_overridden_number_says_so(robots):
    robot = changed(robots["rx90b"], {"friction.5.asperity": "2 N m"})
    (origin,) = [x for x in robot.provenance.of_kind("assumed") if "overridden" in x.text]
    assert origin.path == "friction.wrist_a.asperity"


def test_the_sources_of_its_neighbours_stay(robots):
    """Also where one source stood for the whole group:
    then each of the others has it as its own.
    """
    robot = robots["lwa4p"]
    new = changed(robot, {"joint.1.limits.velocity": "90 deg/s"}).provenance.of_kind("public")
    (group,) = [x for x in robot.provenance.of_kind("public") if x.path == "joint.joint_1.limits"]
    assert {x.path: x.text for x in new if x.path.startswith(group.path)} == {
        f"{group.path}.{key}": group.text for key in ("lower", "upper", "acceleration", "torque")
    }


def test_an_overridden_robot_survives_its_file(robots, tmp_path):
    robot = changed(
        robots["rx90b"], {"friction.5.asperity": "2 N m", "motor.2.current_limit": "9 A"}
    )
    robot.save(tmp_path / "robot.toml")
    assert at.Robot.load(tmp_path / "robot.toml") == robot


def test_every_problem_is_told_at_once(robots):
    values = {
        "frictoin.5.asperity": 1.0,
        "friction.8.asperity": 1.0,
        "servo.cascade.rule.bandwidth.9": 1.0,
    }
    with pytest.raises(at.FileError) as told:
        changed(robots["rx90b"], values)
    for path in values:
        assert f"override '{path}'" in str(told.value)


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (
            "frictoin.5.asperity",
            1.0,
            "override 'frictoin.5.asperity': there is no 'frictoin'. Did you mean 'friction'?",
        ),
        ("friction.wrist_d.asperity", 1.0, "there is no 'friction.wrist_d'. Did you mean 'wrist_"),
        ("friction.8.asperity", 1.0, "there is no 'friction.8'. Known: joint_1"),
        ("friction.0.asperity", 1.0, "there is no 'friction.0'"),
        (
            "friction.5.asperty",
            1.0,
            (
                r"friction.5.asperty \('wrist_a'\) is not a key of a robot file. Did you mean "
                r"'asperity'"
            ),
        ),
        ("friction.5.asperity", "2 mm", "must be in N m or a unit of that kind, got '2 mm'"),
        ("friction.5", 1.0, "override 'friction.5': must name one number, 1 to 7"),
        (
            "friction.5.source",
            "public: me",
            "override 'friction.5.source': must name one key of a group",
        ),
        (
            "servo.cascade.rule.bandwidth.7",
            1.0,
            "override 'servo.cascade.rule.bandwidth.7': must name one number, 1 to 6",
        ),
        ("servo.cascade", 1.0, "override 'servo.cascade': must name one key of a group"),
        (
            "servo.cascade.kpp",
            1.0,
            "override: servo.cascade.kpp is not a key of a robot file. Did you mean 'kp'",
        ),
        ("joint.1.limits.zz", 1.0, "Known: acceleration, lower, source, torque, upper, velocity."),
        ("friction.1.sidde", 1.0, "Did you mean 'side'"),
        ("friction.1.asperity.x", 1.0, "must name one key of a group, but goes on after"),
        ("link.1.body.mass", -1.0, "mass must be"),
    ],
)
def test_what_is_no_number_of_the_robot_is_refused(robots, path, value, sentence):
    with pytest.raises(at.FileError, match=sentence):
        changed(robots["rx90b"], {path: value})
