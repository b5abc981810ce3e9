"""The RX90B with an assumed forearm stiffness, against beam formulas and other roads."""

from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from armtwin.analysis.analyse import analyse, states
from armtwin.analysis.bearing_loads import bearing_loads
from armtwin.analysis.flexible import elastic_coordinates, flexible
from armtwin.analysis.modes import find_locked_modes
from armtwin.analysis.states import States
from armtwin.errors import ArmtwinError
from armtwin.motion.trajectory import Trajectory
from armtwin.report.terminal import to_terminal
from armtwin.robot.dynamics.bending import BendingArm
from armtwin.robot.dynamics.sag import Outside
from armtwin.robot.dynamics.structure import structure_of
from armtwin.robot.kinematics.coordinates import coordinates
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import Body, Flexure, LinkBeam, SixInertias

EI, LENGTH, G = 2e5, 0.45, 9.81
LEVEL = np.array([0.0, np.pi / 2, 0.0, 0.0, 0.0, 0.0])


def with_beam(robot, link, **changes):
    """The robot with one bending link."""
    beam = LinkBeam(
        to="joint_5", EA=1e9, GJ=EI, EIy=EI, EIz=EI, source="assumed: for this test", **changes
    )
    links = []
    for part in robot.description.link:
        links.append(replace(part, beam=(beam,)) if part.name == link else part)
    return Robot(replace(robot.description, link=tuple(links)))


@pytest.fixture(scope="module")
def bending(robots):
    return with_beam(robots["rx90b"].with_tool("laser_head"), "link_4")


def locked(robot):
    """The robot with rigid gears, so that its links alone deflect."""
    return Robot(replace(robot.description, transmission=(), friction=()))


def lowest(robot):
    """Frequencies with the rotors locked, the arm level [Hz]."""
    found = find_locked_modes(flexible(elastic_coordinates(robot), LEVEL))
    return np.array([mode.frequency for mode in found])


def beyond_the_wrist(robot):
    """Weight of links 5 and 6 with the tool, and its moment about the wrist, arm level along x."""
    inertia = robot.assembly.arm.inertia
    force = G * inertia[4:, 0].sum()
    # link frames coincide at the wrist; their z lies along the arm
    return force, G * inertia[4:, 3].sum()


def test_forearm_sags_as_a_cantilever(bending):
    """F L³/3EI + M L²/2EI at the wrist, 15.2 µm; the bent shape adds less than a millionth."""
    arm = BendingArm(coordinates(bending), Outside())
    wrist = arm.bend(LEVEL).position("joint_5")
    force, moment = beyond_the_wrist(bending)
    expected = force * LENGTH**3 / (3 * EI) + moment * LENGTH**2 / (2 * EI)
    stiff = bending.forward_kinematics(LEVEL, "link_5")[2, 3]
    assert abs(wrist[2] - stiff + expected) < 1e-5 * expected
    assert abs(expected - 15.21e-6) < 0.02e-6


def test_lowest_frequency_is_that_of_a_cantilever_with_a_body_on_it(bending):
    """Two roads: the structure, and a beam's 2 x 2 flexibility with the mass of what it carries."""
    carried = bending.assembly.arm.inertia[4:].sum(axis=0)
    mass, first, about = carried[0], carried[3], carried[5]
    flexibility = np.array(
        [[LENGTH**3 / (3 * EI), LENGTH**2 / (2 * EI)], [LENGTH**2 / (2 * EI), LENGTH / EI]]
    )
    M = np.array([[mass, first], [first, about]])
    # motion in the vertical plane; the head's offset across it couples 1e-3 of the rest
    slowest = 1 / (2 * np.pi * np.sqrt(np.linalg.eigvals(flexibility @ M).real.max()))
    found = lowest(locked(bending))
    assert np.abs(found / slowest - 1).min() < 0.03
    assert abs(found[0] - 100) < 2


def with_hinge(robot):
    """The robot with hinges of k = EI/L in the middle of its forearm, and stiff gears."""
    light = Body(mass=1e-6, com=(0.0, 0.0, 0.3), inertia=SixInertias(1e-9, 1e-9, 1e-9))
    flexures = []
    for name, axis in (("y", (0.0, 1.0, 0.0)), ("x", (1.0, 0.0, 0.0))):
        middle = (0.0, 0.0, LENGTH / 2)
        flexure = Flexure(
            f"bend_{name}", "link_4", axis, EI / LENGTH, "assumed: for this test", middle
        )
        flexures.append(replace(flexure, beyond=light))
    gears = []
    for gear in robot.description.transmission:
        gears.append(replace(gear, stiffness=1e6 * gear.stiffness, backlash=0.0))
    groups = {"flexure": tuple(flexures), "transmission": tuple(gears)}
    return Robot(replace(robot.description, **groups))


def test_a_hinge_in_the_middle_of_the_forearm_lacks_a_quarter_of_the_force_s_deflection(bending):
    """A lumped link of k = EI/L turns as the beam does; F L³/4EI in place of F L³/3EI."""
    hinged = with_hinge(Robot(replace(bending.description, link=_without_beams(bending))))
    force, _ = beyond_the_wrist(bending)
    beam = analyse(locked(bending), "sag", LEVEL).weight[0, :3]
    hinge = analyse(hinged, "sag", LEVEL, links=True).weight[0, :3]
    missing = force * LENGTH**3 / (12 * EI)
    assert np.abs(hinge - beam - [0.0, 0.0, missing]).max() < 2e-3 * missing


def test_a_lumped_forearm_swings_as_a_cantilever_with_its_flexibility(bending):
    """105 Hz where the beam has 100: both by the flexibility of the wrist and what it carries."""
    hinged = with_hinge(Robot(replace(bending.description, link=_without_beams(bending))))
    here = flexible(elastic_coordinates(hinged, links=True), LEVEL)
    frequencies = [mode.frequency for mode in find_locked_modes(here)]
    ratio = frequencies[0] / lowest(locked(bending))[0]
    carried = bending.assembly.arm.inertia[4:].sum(axis=0)
    M = np.array([[carried[0], carried[3]], [carried[3], carried[5]]])
    slowest = []
    for part in (4, 3):
        flexibility = np.array(
            [[LENGTH**3 / (part * EI), LENGTH**2 / (2 * EI)], [LENGTH**2 / (2 * EI), LENGTH / EI]]
        )
        slowest.append(np.linalg.eigvals(flexibility @ M).real.max() ** -0.5)
    assert abs(ratio / (slowest[0] / slowest[1]) - 1) < 0.01


def test_links_and_joints_that_give_way_sag_more_than_either(bending):
    stiff = Robot(replace(bending.description, link=_without_beams(bending)))
    shifts = []
    for robot in (bending, stiff, locked(bending)):
        shifts.append(analyse(robot, "sag", LEVEL).weight[0, 2])
    elastic, joints_only, links_only = shifts
    assert elastic < joints_only < 0
    assert abs(elastic - joints_only - links_only) < 0.02 * abs(links_only)


def _without_beams(robot):
    return tuple(replace(link, beam=()) for link in robot.description.link)


def test_beam_keeps_its_mass_in_rigid_motion(robots):
    """A beam's share of the mass is taken from the link's body: torques do not change."""
    robot = robots["rx90b"]
    heavy = with_beam(robot, "link_4", mass=6.0, elements=2)
    structure = structure_of(heavy.assembly)
    found = structure.inverse_dynamics(LEVEL + 0.3, 0.7 + 0 * LEVEL, -0.4 + 0 * LEVEL).tau[0]
    expected = robot.inverse_dynamics(LEVEL + 0.3, 0.7 + 0 * LEVEL, -0.4 + 0 * LEVEL)
    assert np.abs(found - expected).max() < 1e-10


def test_robot_that_gives_way_nowhere_says_so(robots):
    with pytest.raises(ArmtwinError, match=r"has nothing elastic: .* or a \[\[link.beam\]\]"):
        analyse(locked(robots["rx90b"]), "sag", LEVEL)


def test_reports_name_the_links_of_beams(bending):
    assert "Links of beams: link_4." in shown_in_terminal(analyse(bending, "sag", LEVEL))
    found = analyse(locked(bending), "modes", LEVEL)
    assert found.springs == ("link_4",)
    assert "most of it in link_4" in shown_in_terminal(found).replace("\n", " ")


def test_links_of_beams_deflect_along_a_motion_as_at_each_of_its_postures(bending):
    q = np.array([LEVEL, LEVEL + 0.2])
    motion = Trajectory.sampled(250, q, 0 * q, 0 * q)
    found = analyse(bending, "sag", motion, force=[0.0, 0.0, -100.0])
    for k, posture in enumerate(q):
        alone = analyse(bending, "sag", posture, force=[0.0, 0.0, -100.0])
        assert np.allclose(found.weight[k], alone.weight[0], rtol=1e-9, atol=1e-15)
        assert np.allclose(found.pushed[k], alone.pushed[0], rtol=1e-9, atol=1e-15)


def test_loads_of_a_posture_have_the_torques_of_the_rigid_robot(robots):
    robot = robots["kr300"]
    q, v, a = np.full((3, 6), 0.4)
    loads = analyse(robot, "loads", states(robot, q, v, a))
    expected = robot.inverse_dynamics(q, v, a)
    assert np.abs(loads.torque[0] - expected).max() < 1e-11 * np.abs(expected).max()


def shown_in_terminal(result):
    console = Console(width=80)
    with console.capture() as shown:
        console.print(to_terminal(result.sections()))
    return shown.get()


def test_bearings_carry_the_weight_and_the_report_shows_the_peak(robots):
    """At rest, level: joint 2's bearing carries no moment about its axis, joint 1's all weight."""
    robot = robots["rx90b"]
    q = np.array([LEVEL, 0 * LEVEL])
    loads = bearing_loads(robot, States(np.array([0.0, 1.0]), q, 0 * q, 0 * q))
    lever = robot.assembly.arm.inertia
    assert loads.moments.shape == (2, 6)
    held = -robot.gravity(LEVEL)[1]
    spring = robot.assembly.struts[0].torque(q)[0]
    sideways = G * (lever[0, 2] + lever[1, 2] + lever[2, 2])
    assert abs(loads.moments[0, 0] - np.hypot(held + spring, sideways)) < 1e-9
    text = shown_in_terminal(loads)
    assert "joint_1" in text
    assert "peak moment" in text


def test_modes_of_the_epaas_have_oil_and_flexures_together(robots):
    """Measured 13.6, 14.8 and 83.2 Hz are fitted; L3 and L4, measured 35.9 and 40.2, predicted to
    10 % (Machielsen 1983, section 7.3.4). The oil of the vane motor, 25.2 Hz, is not matched.
    """
    found = analyse(robots["epaas"], "modes", links=True)
    by_spring = {}
    for mode in found.motors["locked"]:
        by_spring[found.springs[np.argmax(mode.shares)]] = mode.frequency
    fitted = {"gripper_rz": 13.6, "gripper_phi": 14.8, "upper_arm_phi": 83.2}
    for name, frequency in fitted.items():
        assert abs(by_spring[name] / frequency - 1) < 0.005
    assert abs(by_spring["L3"] / 35.9 - 1) < 0.1
    assert abs(by_spring["L4"] / 40.2 - 1) < 0.1
    assert by_spring["vane"] > 1.5 * 25.2
