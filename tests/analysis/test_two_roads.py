"""One flexibility: links of rigid bodies and links of elements, with the same springs."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.analysis.flexible import elastic_coordinates, flexible
from armtwin.analysis.modes import find_locked_modes
from armtwin.robot.kinematics.strokes import drive_forces, levers
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import Transmission
from armtwin.robot.schema.groups import Body, Flange, Joint, Link, LinkBeam, Pose, SixInertias
from tests.robot.test_palletiser import FOLLOW, TARGETS, joints_at

SOURCE = "assumed: for this test"
RIGID = 1e12  # the stiffest section that a robot file may have: it bends by less than 1e-6
POSTURES = {
    "stretched": np.array([0.0, np.pi / 2, -np.pi / 2, 0.0, 0.0, 0.0]),
    "zero": np.zeros(6),
    "bent": np.array([0.3, -0.5, 0.8, 0.4, -0.7, 0.2]),
}
SPRINGS = {
    "backlash": {"backlash": 1e-3},
    "low stiffness": {"backlash": 1e-3, "low_stiffness": 1e5, "low_torque": 400.0},
}


def with_springs(robot, **changes):
    """The robot with other springs in all of its gears."""
    gears = tuple(replace(gear, **changes) for gear in robot.description.transmission)
    return Robot(replace(robot.description, transmission=gears))


def with_rigid_beam(robot, name="link_3", to="joint_4"):
    """The robot with one link of elements, as good as rigid."""
    beam = LinkBeam(to=to, EA=RIGID, GJ=RIGID, EIy=RIGID, EIz=RIGID, source=SOURCE)
    links = []
    for link in robot.description.link:
        links.append(replace(link, beam=(beam,)) if link.name == name else link)
    return Robot(replace(robot.description, link=tuple(links)))


@pytest.fixture(scope="module", params=SPRINGS)
def roads(request, robots):
    """The KR300 with other springs: of rigid bodies, and with a rigid beam."""
    rows = with_springs(robots["kr300"], **SPRINGS[request.param])
    return rows, with_rigid_beam(rows)


def apart(found, expected):
    """Largest difference of two arrays, of the largest number."""
    return np.abs(found - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("q", POSTURES.values(), ids=POSTURES)
@pytest.mark.parametrize("load", [None, 100.0])
def test_rows_and_elements_sag_alike(roads, q, load):
    """Weight and a force with a torque; what each spring bears, and its twist with the backlash."""
    force = [200.0, -100.0, 300.0, 20.0, 50.0, -30.0]
    rows, elements = (at.analyse(robot, "sag", q, load=load, force=force) for robot in roads)
    for name in ("weight", "pushed", "twist"):
        assert apart(getattr(elements, name), getattr(rows, name)) < 1e-6
    assert np.allclose(elements.torque, rows.torque, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("q", POSTURES.values(), ids=POSTURES)
def test_rows_and_elements_are_compliant_and_vibrate_alike(roads, q):
    rows, elements = (at.analyse(robot, "compliance", q, load=100.0) for robot in roads)
    assert apart(elements.matrix, rows.matrix) < 1e-6
    rows, elements = (at.analyse(robot, "modes", q, load=100.0).motors for robot in roads)
    assert list(rows) == ["locked", "servo", "free"]
    for rotors, modes in rows.items():
        for mode, other in zip(modes, elements[rotors], strict=False):
            assert other.frequency == pytest.approx(mode.frequency, rel=1e-6)
            assert other.damping == pytest.approx(mode.damping, rel=1e-6, abs=1e-9)
            assert apart(np.abs(other.tool), np.abs(mode.tool)) < 1e-4
            assert apart(other.shares[:-1], mode.shares) < 1e-5


def test_a_rigid_beam_keeps_the_backlash_of_the_kr300(robots):
    """Half of 1 mrad in every gear that bears a weight, by the levers; with a beam as without.

    The arm sags by 2 mrad besides, which turns a shift of 1.5 mm by 3 µm.
    """
    gap = 1e-3
    slack, tight = (with_springs(robots["kr300"], backlash=gap) for gap in (gap, 0.0))
    built = (slack, with_rigid_beam(slack), tight)
    found = [at.analyse(robot, "sag", np.zeros(6)) for robot in built]
    shifts = [sag.weight[0, :3] for sag in found]
    assert np.linalg.norm(shifts[1]) == pytest.approx(np.linalg.norm(shifts[0]), rel=1e-6)
    borne = found[2].torque[0]
    turned = -0.5 * gap * np.where(np.abs(borne) > 1e-6, np.sign(borne), 0.0)
    expected = tight.jacobian(np.zeros(6))[:3] @ turned
    assert np.linalg.norm(expected) > gap
    assert np.abs(shifts[0] - shifts[2] - expected).max() < 5e-6


def test_rigid_links_of_elements_vibrate_on_their_transmissions(robots):
    """A closed form: (K + ∂g/∂q) x = ω² M x of the tree about where its springs let it rest."""
    robot = robots["rx90b"]
    q = np.array([0.0, np.pi / 2, 0.0, 0.0, 0.0, 0.0])
    here = flexible(elastic_coordinates(with_rigid_beam(robot, "link_4", "joint_5")), q)
    rest = here.links.positions
    stiffness = np.array([gear.stiffness for gear in robot.description.transmission])
    twist = rest - q
    assert np.abs(twist + robot.gravity(rest) / stiffness).max() < 1e-12
    M = robot.mass_matrix(rest) - robot.assembly.rotors.inertia
    K = np.diag(stiffness) + robot.linearise(rest, 0 * q, 0 * q).K
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
    found = [mode.frequency for mode in find_locked_modes(here)[:6]]
    assert found == pytest.approx(np.sqrt(squares) / (2 * np.pi), rel=1e-6)


# closed loops


def springy_palletiser():
    """The palletiser with its sacks on four springs, one for each drive."""
    robot = at.Robot.load("palletiser").with_payload("sacks")
    springs = []
    for name, k in zip(robot.joint_names, (8e5, 9e5, 7e5, 1e5), strict=True):
        springs.append(Transmission(SOURCE, name, stiffness=k))
    return Robot(replace(robot.description, transmission=tuple(springs)))


@pytest.fixture(scope="module")
def palletiser():
    return springy_palletiser()


def test_a_robot_with_loops_vibrates_as_the_tree_along_its_parallelograms(palletiser):
    """Two roads: elements with loops; M and ∂g/∂q of all seven joints, Gᵀ M G and Gᵀ K G."""
    q = joints_at(*TARGETS[0])
    found = at.analyse(palletiser, "modes", q)
    assert list(found.motors) == ["locked"]
    tree = Robot(replace(palletiser.description, loop=(), transmission=()))
    rest = found.flexible.links.positions
    assert rest == pytest.approx(FOLLOW @ found.flexible.u[:4], abs=1e-12)
    whole = tree.linearise(rest, 0 * rest, 0 * rest)
    stiffness = np.diag([gear.stiffness for gear in palletiser.description.transmission])
    M, K = FOLLOW.T @ whole.M @ FOLLOW, stiffness + FOLLOW.T @ whole.K @ FOLLOW
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
    frequencies = [mode.frequency for mode in found.motors["locked"]]
    assert frequencies == pytest.approx(np.sqrt(squares) / (2 * np.pi), rel=1e-9)


def test_a_loop_s_passive_joints_follow_its_drives_in_every_mode(palletiser):
    found = at.analyse(palletiser, "modes", joints_at(*TARGETS[0]))
    report = found.sections()
    moved = (
        np.array([report.series[f"q{j}"] for j in range(1, 8)]).T - found.flexible.links.positions
    )
    drives = moved[:, [0, 1, 2, 6]]
    assert moved == pytest.approx(drives @ FOLLOW.T, abs=1e-12)


def test_a_palletiser_sags_by_its_torques_over_its_stiffness(palletiser):
    q = joints_at(*TARGETS[1])
    found = at.analyse(palletiser, "sag", q)
    stiffness = [gear.stiffness for gear in palletiser.description.transmission]
    assert found.twist[0] * stiffness == pytest.approx(found.torque[0], rel=1e-9, abs=1e-6)
    assert np.linalg.norm(found.weight[0, :3]) > 1e-4


# oil


def test_the_epaas_vibrates_on_its_oil_at_the_frequencies_known_of_it(robots):
    """Section 7.3 has 34.7 and 43.3 Hz of L3 and L4, uncoupled, and about 140 Hz of the gripper;
    coupled poles computed elsewhere: 34.5, 41.4 (vane), 43.6, 153, 350 Hz."""
    found = at.analyse(robots["epaas"], "modes")
    frequencies = [mode.frequency for mode in found.motors["locked"]]
    assert frequencies == pytest.approx([34.5, 41.4, 43.6, 153, 350], rel=3e-3)
    most = [found.springs[int(mode.shares.argmax())] for mode in found.motors["locked"]]
    assert most == ["L3", "vane", "L4", "L1", "L2"]


def test_weightless_the_epaas_has_the_modes_of_mass_oil_and_friction_alone(robots):
    """Two roads: springs with leakage as coordinates; force and speed of the strokes as states."""
    robot = robots["epaas"].with_gravity([0.0, 0.0, 0.0])
    A = levers(robot, robot.home[None]).inverse[0]
    m = np.linalg.inv(A.T @ robot.mass_matrix(robot.home) @ A)
    compliance = np.diag([1e-6, 1e-6, 1e-6, 1e-6, 69e-6])
    leakage, viscous = np.diag([7.46e-5] * 4 + [0.0]), np.diag([501.0] * 4 + [56.0])
    oil = np.linalg.inv(compliance)
    rates = np.block([[-m @ viscous, m], [-oil, -oil @ leakage]])
    poles = np.linalg.eigvals(rates)
    expected = sorted(poles[poles.imag > 0], key=abs)
    found = find_locked_modes(flexible(elastic_coordinates(robot), robot.home))
    sizes = 2 * np.pi * np.array([mode.frequency for mode in found])
    assert sizes == pytest.approx(np.abs(expected), rel=1e-9)
    assert -sizes * [mode.damping for mode in found] == pytest.approx(np.real(expected), rel=1e-9)


def test_levers_of_loaded_cylinders_change_as_the_epaas_moves(robots):
    """K without oil is the slope of g(q) - Bᵀ(q) F by differences, F held."""
    robot = robots["epaas"].with_payload("load_4")
    q = robot.home
    here = flexible(elastic_coordinates(robot), q)
    F = drive_forces(robot, q[None], robot.gravity(q)[None])[0]

    def unbalanced(q):
        return robot.gravity(q) - levers(robot, q[None]).rows[0].T @ F

    slopes, h = [], 1e-5
    for step in h * np.eye(5):
        slopes.append((unbalanced(q + step) - unbalanced(q - step)) / (2 * h))
    oil = (here.twists.T * here.stiffness) @ here.twists
    found = (here.K - oil)[:5, :5]
    assert found == pytest.approx(np.array(slopes).T, abs=1e-5 * np.abs(found).max())


def test_oil_alone_does_not_sag(robots):
    with pytest.raises(at.ArmtwinError, match="'epaas' does not sag: its pistons are held"):
        at.analyse(robots["epaas"], "sag")


# stability


def inverted_pendulum(stiffness, mass=10.0, length=1.0):
    """A mass above a joint with a spring."""
    body = Body(mass=mass, com=(0.0, 0.0, length), inertia=SixInertias(0.1, 0.1, 0.1))
    return Robot(
        replace(
            at.Robot.load("palletiser").description,
            name="pendulum",
            joint=(Joint("j", "base", "arm", source=SOURCE, axis=(0.0, 1.0, 0.0)),),
            link=(Link("arm", SOURCE, body=body),),
            loop=(),
            payload={},
            flange=Flange("arm", SOURCE, Pose(position=(0.0, 0.0, length))),
            transmission=(Transmission(SOURCE, "j", stiffness=stiffness),),
        )
    )


@pytest.mark.parametrize("what", ["sag", "compliance", "modes"])
def test_a_spring_weaker_than_m_g_l_leaves_an_unstable_equilibrium(what):
    """k - m g l = -8.1 and 88.1 N m/rad."""
    weak, strong = (at.analyse(inverted_pendulum(k), what, [0.0]) for k in (90.0, 186.2))
    assert strong.cautions == ()
    (sentence,) = weak.cautions
    assert "The equilibrium is unstable" in sentence
    assert "the smallest stiffness is -8.1 N m/rad" in sentence
    assert sentence in [text.text for text in weak.sections().verdict]
