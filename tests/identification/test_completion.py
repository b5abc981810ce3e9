"""Completing a robot: what the rules give is enough, and of the size that physics asks for."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.drives.friction.coulomb import CoulombViscous
from armtwin.logs.joints import needs_gains
from armtwin.robot.schema.drive_groups import FrictionElement
from armtwin.robot.schema.provenance import missing
from tests.incomplete import incomplete
from tests.test_readme import ROOT

PUMA = ROOT / "docs" / "puma560.urdf"


@pytest.mark.parametrize("name", ["rx90b", "kr300", "lwa4p", "tx40"])
def test_nothing_lacks_after_and_nothing_that_was_given_changes(robots, name):
    bare = incomplete(robots[name])
    done = at.complete(bare)
    assert done.still == ()
    assert missing(done.robot.description, seam=True) == []
    assert incomplete(done.robot) == bare
    for number in done.table:
        assert source_of(done.robot, number.key) == f"assumed: {number.rule}"


def source_of(robot, key):
    """The source of a number: that of its key, or of the group it stands in."""
    texts = {origin.path: f"{origin.kind}: {origin.text}" for origin in robot.provenance.origins}
    while key not in texts:
        key = key.rpartition(".")[0]
    return texts[key]


def test_a_whole_robot_stays_as_it_is(robots):
    done = at.complete(robots["rx90b"])
    assert (done.table, done.robot) == ((), robots["rx90b"])


def test_the_shipped_tx40_is_what_the_rules_make_of_its_public_numbers(robots):
    shipped = robots["tx40"].description
    made = at.complete(incomplete(robots["tx40"])).robot.description
    assert made.servo == shipped.servo
    assert made.friction == shipped.friction
    assert made.motor == shipped.motor


def test_a_joint_alone_swings_at_the_bandwidth_of_the_servo_by_rule(robots):
    """On the servo's spring, at the only posture of a log: ω² = N² k_p / M_jj."""
    robot = incomplete(robots["kr300"])
    q = np.array([0.0, 0.35, -0.3, 0.0, 0.5, 0.0])
    still = at.Log.of(np.arange(3) / 250, q=np.tile(q, (3, 1)))
    done = at.complete(robot, [still], bandwidth=7.0)
    kp = done.robot.description.servo["cascade"].rule.gains(6).kp
    N = np.array(done.robot.description.gear.ratios)
    swing = np.sqrt(N**2 * kp / np.diag(done.robot.mass_matrix(q)))
    assert swing / (2 * np.pi) == pytest.approx(7.0, rel=1e-5)  # rules give six digits


def test_the_rule_feeds_the_documented_viscous_friction_forward(robots):
    """Motor side, as the RX90B's file has it for its CS7B;
    of motor 5 the file leaves out what the coupled wrist adds.
    """
    done = at.complete(incomplete(robots["rx90b"]))
    ours = np.array(done.robot.description.servo["cascade"].rule.friction_feedforward)
    shipped = np.array(robots["rx90b"].description.servo["cs7b"].viscous)
    own = [0, 1, 2, 3, 5]
    assert ours[own] == pytest.approx(shipped[own], rel=1e-5)


def test_a_bristle_is_the_same_whichever_side_of_the_gear_its_friction_is_given_on(robots):
    """c_joint = N² c_motor for the same break-away at the joint."""
    d = incomplete(robots["kr300"]).description
    N = d.gear.ratios[0]
    stiffness = {}
    for on, level, side in (("joint_1", 70.0, "motor"), ("motor_1", 70.0 / N, None)):
        element = FrictionElement("x", on, "assumed: x", CoulombViscous(level, 0.0), side=side)
        done = at.complete(at.Robot(replace(d, friction=(element,))))
        (found,) = done.robot.description.friction
        stiffness[on] = found.presliding.stiffness
    assert stiffness["motor_1"] * N**2 == pytest.approx(stiffness["joint_1"], rel=1e-5)
    assert stiffness["joint_1"] * 1e-4 == pytest.approx(70.0)


def test_current_limits_are_never_below_what_a_log_shows(robots):
    robot = incomplete(robots["tx40"])
    tau = np.zeros((400, 6))
    tau[:, 0] = 500.0  # four times the joint's limit
    log = at.Log.of(np.arange(400) / 100, q=np.full((400, 6), 0.5), tau=tau)
    done = at.complete(robot, [log])
    motor, other, *_ = done.robot.description.motor
    assert motor.current_limit * robot.description.gear.matrix[0][0] == pytest.approx(
        625.0, rel=1e-5
    )
    assert "largest logged torque" in motor.source["current_limit"]
    assert "torque limit of its joint" in other.source["current_limit"]


def test_a_torque_limit_that_cannot_hold_the_arm_stands_for_none(tmp_path):
    """Files exported from drawings have efforts of 1 or 10 on every joint."""
    text = PUMA.read_text().replace('effort="0"', 'effort="1"')
    (tmp_path / "weak.urdf").write_text(text)
    weak = at.complete(at.Robot.load(tmp_path / "weak.urdf")).robot
    bare = at.complete(at.Robot.load(PUMA)).robot
    limits = [[m.current_limit for m in robot.description.motor] for robot in (weak, bare)]
    heavy = [1, 2]
    assert np.array(limits)[0, heavy] == pytest.approx(np.array(limits)[1, heavy])
    assert limits[0][0] == pytest.approx(1.0)  # an upright axis holds no weight


def test_joints_that_no_motor_turns_get_one(tmp_path):
    reduction = "<mechanicalReduction>100</mechanicalReduction>"
    motor = f'<joint name="joint_2"/><actuator name="a">{reduction}</actuator>'
    drive = f"<transmission>{motor}</transmission>"
    (tmp_path / "one.urdf").write_text(PUMA.read_text().replace("</robot>", drive + "</robot>"))
    done = at.complete(at.Robot.load(tmp_path / "one.urdf"))
    assert done.still == ()
    N = done.robot.assembly.motor_rows
    assert np.linalg.matrix_rank(N) == 6
    assert sorted(np.abs(N).sum(axis=0)) == [1.0] * 5 + [100.0]
    free = at.complete(at.Robot.load(PUMA)).robot
    q = np.array([0.1, -0.4, 0.3, 0.2, 0.5, 0.0])
    assert done.robot.mass_matrix(q) == pytest.approx(free.mass_matrix(q))  # whatever the gear


def test_currents_are_not_torques_because_a_rule_says_one_newton_metre_per_ampere(robots):
    done = at.complete(incomplete(robots["rx90b"])).robot
    assert needs_gains(done, "current")
    assert not needs_gains(robots["rx90b"], "current")


def test_what_no_rule_helps_is_refused_by_a_sentence(robots, tmp_path):
    follower = PUMA.read_text().replace(
        '<child link="link_3"/>', '<child link="link_3"/><mimic joint="joint_2"/>'
    )
    (tmp_path / "mimic.urdf").write_text(follower)
    with pytest.raises(at.FileError, match=r"cannot be completed: joint\.mimic: joints that"):
        at.complete(at.Robot.load(tmp_path / "mimic.urdf"))
    hydraulic = at.Robot(replace(robots["epaas"].description, servo={}))
    with pytest.raises(at.ArmtwinError, match="no rule for the servo of hydraulic drives"):
        at.complete(hydraulic)
    d = at.Robot.load(PUMA).description
    bodies = tuple(replace(link, body=None) for link in d.link)
    with pytest.raises(at.ArmtwinError, match=r"must have inertia .* joint_1 moves 0 kg m²"):
        at.complete(at.Robot(replace(d, link=bodies)))
    with pytest.raises(at.ArmtwinError, match="bandwidth must be greater than 0 Hz, got -1"):
        at.complete(robots["rx90b"], bandwidth=-1)
