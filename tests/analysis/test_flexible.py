"""Modes, sag and compliance: closed forms, the shipped robots, and the time simulation."""

from dataclasses import replace

import numpy as np
import pytest
from studies.flexible import ring_down

import armtwin as at
from armtwin.analysis.analyse import with_load
from armtwin.analysis.compliance import compliance_matrix
from armtwin.analysis.flexible import elastic_coordinates, flexible
from armtwin.analysis.modes import find_locked_modes, find_servo_modes
from armtwin.robot.schema.drive_groups import Transmission
from tests.simulation.test_built_arm import (
    ELASTIC,
    GEAR,
    INERTIA,
    ROTOR,
    K,
    bench,
    on_joint,
    still,
    with_springs,
)

STRETCHED = np.array([0.0, np.pi / 2, -np.pi / 2, 0.0, 0.0, 0.0])
# joint 1 by document 001, another machine; joints 2 and 3: public nominal in that proportion
DOCUMENT = [1695572.7, 2784927.6, 1518563.2]


def on_document_gears(robot):
    """The KR 300 on the soft gears of document 001."""
    gears = list(robot.description.transmission)
    gears[:3] = [replace(gear, stiffness=k) for gear, k in zip(gears, DOCUMENT, strict=False)]
    return at.Robot(replace(robot.description, transmission=tuple(gears)))


def lowest_of(robot, load):
    """Lowest frequencies, stretched and with the upper arm upright [Hz]."""
    found = [at.analyse(robot, "modes", q, load=load) for q in (STRETCHED, np.zeros(6))]
    return np.array([modes.motors["locked"][0].frequency for modes in found])


def test_one_joint_swings_as_its_closed_form_says():
    robot = with_springs(bench(), replace(on_joint(), damping=None))
    found = at.analyse(robot, "modes", [0.3])
    rotor = ROTOR * GEAR**2
    (locked,), (free,) = found.motors["locked"], found.motors["free"]
    assert locked.frequency == pytest.approx(np.sqrt(K / INERTIA) / (2 * np.pi), rel=1e-9)
    both = K * (1 / INERTIA + 1 / rotor)
    assert free.frequency == pytest.approx(np.sqrt(both) / (2 * np.pi), rel=1e-9)
    assert locked.shares == pytest.approx([1.0])


def test_held_by_its_servo_a_joint_rings_at_the_root_of_the_sampled_loop():
    """A push on the tool, friction off: frequency within 1 %, damping within 0.01."""
    soft = Transmission("assumed: test", "j", stiffness=6000.0)
    robot = with_springs(bench(), soft)
    here = flexible(elastic_coordinates(robot), np.zeros(1))
    modes = find_servo_modes(here, robot.description.servo["cascade"])
    slowest = min(modes, key=lambda mode: mode.damping)
    motion = still(0.0, 2.0)
    wrench = np.zeros((len(motion.q), 6))
    wrench[:2, 1] = 5.0
    y = at.simulate(robot, motion, ELASTIC, options=at.RunOptions(wrench=wrench)).link_side[:, 0]
    time = np.arange(len(y)) / 2000.0
    late = time > 0.15
    peaks = np.flatnonzero((y[1:-1] > y[:-2]) & (y[1:-1] > y[2:]) & late[1:-1]) + 1
    peaks = peaks[y[peaks] > 1e-9]
    decay = -np.polyfit(time[peaks], np.log(y[peaks]), 1)[0]
    turns = 2 * np.pi * (len(peaks) - 1) / (time[peaks[-1]] - time[peaks[0]])
    size = np.hypot(decay, turns)
    assert size / (2 * np.pi) == pytest.approx(slowest.frequency, rel=0.01)
    assert decay / size == pytest.approx(slowest.damping, abs=0.01)


@pytest.mark.parametrize("load", [None, 75.0, 150.0])
def test_on_the_gears_of_document_001_the_kr300_swings_at_the_frequencies_known_of_it(robots, load):
    stretched, upright = lowest_of(on_document_gears(robots["kr300"]), load)
    assert 4 <= stretched <= 7
    assert 7 <= upright <= 12


def test_on_its_gears_alone_the_kr300_swings_faster_than_the_arm_is_known_to(robots):
    """What two encoders show of a gear is without what bends beyond it: links, bearings, base."""
    stretched, upright = lowest_of(robots["kr300"], None)
    assert stretched > 7
    assert upright > 12


@pytest.mark.parametrize("load", [None, 75.0, 150.0])
def test_frequencies_grow_by_no_more_than_the_root_of_the_stiffness(robots, load):
    """Rayleigh's quotient: at most by that of the gear whose stiffness grows most."""
    shipped, document = robots["kr300"], on_document_gears(robots["kr300"])
    gears = zip(shipped.description.transmission, document.description.transmission, strict=True)
    most = max(gear.stiffness / other.stiffness for gear, other in gears)
    grown = lowest_of(shipped, load) / lowest_of(document, load)
    assert (grown > 1.0).all()
    assert (grown < np.sqrt(most)).all()


def test_the_rx90b_with_its_head_swings_at_about_10_hertz_stretched(robots):
    """Waiboer 2007, section 5.4: the lowest natural frequency of the arm is about 10 Hz."""
    robot = robots["rx90b"].with_tool("laser_head")
    found = at.analyse(robot, "modes", np.zeros(6))
    assert found.motors["locked"][0].frequency == pytest.approx(10, abs=1.5)


@pytest.mark.parametrize(
    ("name", "q", "load"),
    [("kr300", STRETCHED, None), ("kr300", np.zeros(6), 150.0), ("rx90b", np.zeros(6), None)],
)
def test_pushed_in_a_simulation_the_robot_rings_at_its_lowest_mode(robots, name, q, load):
    """Rotors as good as locked, friction, damping and play off, a small push: within 1 %."""
    robot = robots[name] if name == "kr300" else robots[name].with_tool("laser_head")
    if load is not None:
        robot, _ = with_load(robot, load)
    mode = find_locked_modes(flexible(elastic_coordinates(robot), q))[0]
    assert ring_down(robot, q, np.real(mode.tool[:3])) == pytest.approx(mode.frequency, rel=0.01)


def test_masses_and_springs_share_the_energy_of_a_mode_equally(robots):
    """Undamped: ω² xᵀ M x = xᵀ K x for every mode, rotors locked and free."""
    robot = robots["rx90b"].with_tool("laser_head")
    found = at.analyse(robot, "modes", [0.2, 0.5, 1.2, 0.3, 0.9, 0.1])
    here = found.flexible
    for rotors in ("locked", "free"):
        for mode in found.motors[rotors]:
            x = mode.shape.real
            swing = (2 * np.pi * mode.frequency) ** 2 * (x @ here.M @ x)
            assert swing == pytest.approx(x @ here.K @ x, rel=1e-6)


def test_compliance_is_the_slope_of_the_sag_under_a_force(robots):
    """Two roads: the linear matrix, and the tool at rest under a small force both ways."""
    robot = robots["rx90b"].with_tool("laser_head")
    q = np.array([0.2, 0.5, 1.2, 0.3, 0.9, 0.1])
    C = compliance_matrix(flexible(elastic_coordinates(robot), q))
    assert pytest.approx(C.T, abs=1e-12) == C
    for axis in range(6):
        force = 1.0 * np.eye(6)[axis]
        ahead = at.analyse(robot, "sag", q, force=force).pushed[0]
        back = at.analyse(robot, "sag", q, force=-force).pushed[0]
        assert 0.5 * (ahead - back) == pytest.approx(C[:, axis], rel=1e-5, abs=1e-11)


def test_links_that_bend_soften_the_kr300_by_what_their_springs_add(robots):
    """Compliances add up: gears, and each flexure by its lever about the tool (virtual work)."""
    robot = robots["kr300"]
    stiff, soft = (at.analyse(robot, "compliance", STRETCHED, links=x) for x in (False, True))
    here = flexible(elastic_coordinates(robot, links=True), STRETCHED)
    added = np.zeros((6, 6))
    for flexure in robot.description.flexure:
        lever = here.tool[:, here.places.built.joint_names.index(flexure.name)]
        added += np.outer(lever, lever) / flexure.stiffness
    apart = soft.matrix[0] - stiff.matrix[0] - added
    size = np.sqrt(np.diag(soft.matrix[0]))
    # gravity turns with the arm: it adds some thousandths to the stiffness of either
    assert np.abs(apart / np.outer(size, size)).max() < 0.01
    frequencies = []
    for links in (False, True):
        found = at.analyse(robot, "modes", STRETCHED, links=links)
        frequencies.append(found.motors["locked"][0].frequency)
    assert 0.9 * frequencies[0] < frequencies[1] < frequencies[0]


def test_a_rigid_robot_has_no_modes(robots):
    with pytest.raises(at.ArmtwinError, match=r"has nothing elastic: its file gives no"):
        at.analyse(robots["tx40"], "modes", np.zeros(6))
    with pytest.raises(at.ArmtwinError, match=r"'rx90b' has no links that bend"):
        at.analyse(robots["rx90b"], "sag", np.zeros(6), links=True)
