"""The arm as it is built: deviations, flexures, springs on either side of the gear matrix."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.robot.dynamics.bodies import body_from, parameters_of
from armtwin.robot.dynamics.sag import Outside, solve_sag
from armtwin.robot.kinematics.as_built import as_built
from armtwin.robot.kinematics.coordinates import coordinates
from armtwin.robot.schema.drive_groups import Transmission
from armtwin.robot.schema.groups import Deviation, Flexure

SOURCE = "assumed: test"


def changed(robot, **keys):
    return at.Robot(replace(robot.description, **keys))


def upper_arm(robot):
    """The robot with an upper arm that twists at its foot and bends twice in the middle."""
    link = next(x for x in robot.description.link if x.name == "link_2")
    half = body_from(0.3 * parameters_of(link.body))
    flexures = (
        Flexure("torsion", "link_2", (0.0, 0.0, 1.0), 2e5, SOURCE),
        Flexure("bend_x", "link_2", (1.0, 0.0, 0.0), 3e5, SOURCE, (0.0, 0.0, 0.2), beyond=half),
        Flexure("bend_y", "link_2", (0.0, 1.0, 0.0), 3e5, SOURCE, (0.0, 0.0, 0.2), beyond=half),
    )
    return changed(robot, flexure=flexures)


def test_a_joint_zero_that_deviates_turns_the_arm_by_so_much(robots, rng):
    zero, shift = 2e-3, (1e-3, 2e-3, -1e-3)
    robot = changed(robots["rx90b"], deviation=(Deviation("joint_3", SOURCE, shift, zero),))
    built = as_built(robot, deviations=True, flexures=False)
    q = rng.uniform(-1, 1, (5, 6))
    turned = q + zero * np.eye(6)[2]
    X, Y = built.forward_kinematics(q), robot.forward_kinematics(turned)
    R = robot.forward_kinematics(q, "link_2")[:, :3, :3]
    assert np.abs(X[:, :3, :3] - Y[:, :3, :3]).max() < 1e-14
    assert np.abs(X[:, :3, 3] - Y[:, :3, 3] - R @ np.array(shift)).max() < 1e-14


def test_without_asking_the_arm_is_the_controllers(robots):
    robot = robots["rx90b"]
    assert robot.description.deviation
    assert as_built(robot, deviations=False, flexures=True) is robot
    twin = at.Robot(robot.description)
    assert as_built(twin, deviations=False, flexures=True) is twin


def test_a_straight_flexible_arm_has_the_masses_and_weights_of_the_rigid_one(robots, rng):
    """The RX90B's upper arm carries the balancer's pin: it is parted at three flexures."""
    robot = upper_arm(robots["rx90b"].with_tool("laser_head"))
    places = coordinates(robot, links=True)
    built, own = places.built, places.own
    assert built.n == robot.n + 3
    q = rng.uniform(-1, 1, (4, 6))
    straight = np.zeros((4, built.n))
    straight[:, own] = q
    assert built.forward_kinematics(straight) == pytest.approx(
        robot.forward_kinematics(q), abs=1e-14
    )
    assert built.gravity(straight)[:, own] == pytest.approx(robot.gravity(q), abs=1e-11)
    M = built.mass_matrix(straight)[:, own][:, :, own]
    assert pytest.approx(robot.mass_matrix(q), abs=1e-11) == M


def test_flexures_sag_by_the_moment_of_the_weight_over_their_stiffness(robots):
    """Closed form by virtual work: what lies beyond a flexure, times its lever about the axis."""
    robot = upper_arm(robots["rx90b"].with_tool("laser_head"))
    places = coordinates(robot, links=True)
    q = np.array([0.2, 1.1, 0.4, 0.3, 0.5, 0.1])
    u = solve_sag(places, q)
    bent = np.setdiff1d(np.arange(places.bodies), places.own)
    stiffness = np.array([x.spring.stiffness for x in places.elastic])
    names = [x.name for x in places.elastic]
    order = [places.built.joint_names.index(name) for name in names]
    assert sorted(order) == bent.tolist()
    assert u[order] == pytest.approx(-places.built.gravity(u)[order] / stiffness, abs=1e-12)
    assert np.abs(u[order]).max() > 1e-5
    assert u[places.own] == pytest.approx(q, abs=0)


def test_springs_before_the_gear_matrix_bear_the_motors_torques(robots):
    """The RX90B's wrist is coupled: motor 6 also turns with joint 5."""
    robot = robots["rx90b"].with_tool("laser_head")
    k = np.array([30.0, 20.0])
    springs = tuple(
        Transmission(SOURCE, motor=f"motor_{m}", stiffness=float(x))
        for m, x in zip((5, 6), k, strict=True)
    )
    elements = tuple(replace(f, side=None) for f in robot.description.friction)
    soft = changed(robot, transmission=springs, friction=elements)
    places = coordinates(soft, joints=True)
    q = np.array([0.2, 0.7, 1.1, 0.3, 0.9, 0.4])
    wrench = np.array([[30.0, -20.0, 10.0, 1.0, 2.0, 3.0]])
    u = solve_sag(places, q, Outside(wrench=wrench))
    link = u[places.link]
    load = soft.gravity(link) - soft.jacobian(link).T @ wrench[0]
    torque = np.linalg.solve(soft.assembly.gear.T, load)
    twist = (q - link) @ soft.assembly.gear.T
    assert twist[4:] == pytest.approx(torque[4:] / k, rel=1e-9)
    assert np.abs(twist[:4]).max() < 1e-12


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (
            {"transmission": (Transmission(SOURCE, "joint_1", "motor_1", stiffness=1.0),)},
            "must have either joint or motor, got both",
        ),
        (
            {"transmission": (Transmission(SOURCE, motor="motor_9"),)},
            "motor 'motor_9' is not given",
        ),
        (
            {"transmission": (Transmission(SOURCE, "joint_1", damping=3.0),)},
            "damping and backlash need a stiffness",
        ),
        ({"deviation": (Deviation("joint_7", SOURCE),)}, "joint 'joint_7' is not given"),
        (
            {"flexure": (Flexure("joint_1", "link_2", (0.0, 0.0, 1.0), 1e5, SOURCE),)},
            "'joint_1' is the name of another joint",
        ),
        (
            {"flexure": (Flexure("f", "base", (0.0, 0.0, 1.0), 1e5, SOURCE),)},
            "moving link 'base' is not given",
        ),
    ],
)
def test_what_cannot_be_built_is_refused(robots, keys, sentence):
    elements = tuple(replace(f, side=None) for f in robots["rx90b"].description.friction)
    if "transmission" in keys and keys["transmission"][0].joint:
        elements = robots["rx90b"].description.friction[:1]
    with pytest.raises(at.ArmtwinError, match=sentence):
        changed(robots["rx90b"], friction=elements, **keys)


def test_a_robot_file_keeps_flexures_deviations_and_ripple(robots, tmp_path):
    robot = upper_arm(robots["rx90b"])
    robot.save(tmp_path / "bent.toml")
    again = at.Robot.load(tmp_path / "bent.toml")
    assert again.description.flexure == robot.description.flexure
    assert again.description.deviation == robot.description.deviation
    assert again.description.transmission == robot.description.transmission
