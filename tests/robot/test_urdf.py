"""URDF: the same dynamics out and in, and every bad file refused with a sentence."""

import time

import numpy as np
import pytest

import armtwin as at
from armtwin.robot.schema.description import Description
from tests.conftest import SHIPPED, relative
from tests.oracles import as_robot, bodies_only, random_arm

GOOD = """<robot name="two">
  <link name="base"/>
  <link name="arm"><visual><geometry><mesh filename="../../secret/arm.stl"/></geometry></visual>
    <inertial><origin xyz="0 0 0.1" rpy="0 0 0.3"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="hand"><inertial><mass value="0.5"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="finger"><inertial><mass value="0.1"/>
    <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool0"/>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" velocity="3" effort="40"/>
    <dynamics damping="0.7" friction="1.5"/></joint>
  <joint name="slide" type="prismatic"><origin xyz="0.3 0 0"/>
    <parent link="arm"/><child link="hand"/>
    <axis xyz="1 0 0"/><limit lower="0" upper="0.05" velocity="1" effort="10"/></joint>
  <joint name="grip" type="prismatic"><parent link="hand"/><child link="finger"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.05" velocity="1" effort="10"/>
    <mimic joint="slide" multiplier="-2" offset="0.01"/></joint>
  <joint name="flange" type="fixed"><origin xyz="0 0 0.02"/>
    <parent link="hand"/><child link="tool0"/></joint>
  <transmission name="t"><joint name="turn"/>
    <actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator>
  </transmission>
</robot>"""

SLIDING = '<dynamics damping="30" friction="2"/></joint>'


def load(text, tmp_path, name="robot.urdf"):
    path = tmp_path / name
    path.write_text(text)
    return at.Robot.load(path)


@pytest.mark.parametrize("name", SHIPPED)
def test_robot_to_urdf_to_robot_has_the_same_dynamics(name, robots, tmp_path, rng):
    robot = robots[name].with_tool("laser_head") if name == "rx90b" else robots[name]
    robot.to_urdf(tmp_path / "x.urdf")
    again = at.Robot.load(tmp_path / "x.urdf", allow_unphysical=True)
    q, v, a = rng.normal(size=(3, 30, robot.n))
    bare = bodies_only(robot)
    assert relative(again.inverse_dynamics(q, v, a), bare.inverse_dynamics(q, v, a)) < 1e-12
    assert relative(again.mass_matrix(q), bare.mass_matrix(q)) < 1e-12
    assert (
        relative(again.forward_kinematics(q, "flange"), bare.forward_kinematics(q, "flange"))
        < 1e-13
    )
    assert np.allclose(again.position_limits, robot.position_limits, rtol=1e-15)
    if name == "rx90b":
        assert relative(again.forward_kinematics(q), robot.forward_kinematics(q)) < 1e-13


def test_random_trees_survive_urdf(tmp_path):
    for seed in range(5):
        robot = as_robot(random_arm(np.random.default_rng(seed), 6))
        robot = at.Robot(Description("tree", robot.description.joint, robot.description.link))
        robot.to_urdf(tmp_path / "x.urdf")
        again = at.Robot.load(tmp_path / "x.urdf")
        q, v, a = np.random.default_rng(seed).normal(size=(3, 5, 6))
        assert relative(again.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a)) < 1e-12


def test_what_a_urdf_says_is_understood(tmp_path):
    robot = load(GOOD, tmp_path)
    assert robot.joint_names == ("turn", "slide")
    assert robot.description.joint[2].mimic.multiplier == -2
    assert robot.assembly.gear[0, 0] == 50
    assert robot.friction_torque([2.0, 0.0])[0] == pytest.approx(1.5 + 0.7 * 2)
    assert robot.forward_kinematics([0, 0.01], "tool0")[:3, 3] == pytest.approx([0.31, 0, 0.02])
    assert robot.forward_kinematics([0, 0.01], "flange")[:3, 3] == pytest.approx([0.31, 0, 0.02])
    assert robot.forward_kinematics([0, 0.01], "finger")[1, 3] == pytest.approx(-2 * 0.01 + 0.01)
    # 0.5 kg of hand slide in x; 0.1 kg of finger go along and twice as fast sideways
    assert robot.mass_matrix([0, 0])[1, 1] == pytest.approx(0.5 + 0.1 * (1 + 4))
    assert "1 mesh references (first: ../../secret/arm.stl)" in robot.description.note


def test_a_robot_from_a_urdf_can_be_saved_as_toml(tmp_path):
    robot = load(GOOD, tmp_path)
    robot.save(tmp_path / "two.toml")
    assert at.Robot.load(tmp_path / "two.toml") == robot


def test_public_urdf_files_load(shared_data):
    robot = at.Robot.load(shared_data / "ur10e" / "ur10e.urdf")
    assert robot.n == 6
    assert robot.inverse_kinematics_kind.startswith("numerical (")


def test_shipped_tx40_moves_as_its_public_urdf(robots, shared_data, rng):
    urdf = at.Robot.load(shared_data / "staubli_tx40" / "tx40_mdh_modified.urdf")
    q = rng.normal(size=(20, 6))
    assert (
        relative(
            robots["tx40"].forward_kinematics(q, "link_6"), urdf.forward_kinematics(q, "link_6")
        )
        < 1e-10
    )


BAD = [
    ('<mass value="2"/>', '<mass value="-2"/>', "link 'arm' mass must be at least 0 kg, got -2"),
    (
        '<mass value="2"/>',
        '<mass value="1,5"/>',
        "link 'arm' mass value must be a number, got '1,5' (use a decimal point)",
    ),
    (
        'ixx="0.02"',
        'ixx="0.5"',
        "link 'arm': principal moments of inertia must satisfy the triangle inequality",
    ),
    ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>', "joint 'turn' axis must not be zero"),
    (
        '<axis xyz="0 0 1"/>',
        '<axis xyz="0 1"/>',
        "joint 'turn' axis xyz must be three numbers, got '0 1'",
    ),
    ('<parent link="base"/>', '<parent link="hand"/>', "cycle"),
    ('<link name="base"/>', '<link name="base"/><link name="arm"/>', "link 'arm' is given twice"),
    ('lower="-2"', 'lower="nan"', "joint 'turn' limit lower must be finite, got 'nan'"),
    (
        'lower="-2"',
        'lower="-170"',
        "joint 'turn' limit lower must be in radians, got -170. Is it in degrees?",
    ),
    (
        'rpy="0 0 0.3"',
        'rpy="0 90 0"',
        "link 'arm' inertial origin rpy must be in radians, got [0.0, 90.0, 0.0]",
    ),
    (
        'type="prismatic"><origin',
        'type="floating"><origin',
        "joint 'slide' type must be one of revolute",
    ),
    (
        '<child link="hand"/>',
        '<child link="hnad"/>',
        "joint 'slide' child link 'hnad' is not given. Did you mean 'hand'?",
    ),
    (
        'joint="slide" multiplier',
        'joint="slid" multiplier',
        "'slid' is no joint that moves freely. Did you mean 'slide'?",
    ),
    ("</robot>", "", "is not valid XML"),
    ("<robot ", "<sdf ", "is not valid XML"),
    ("<link name", "<xacro:macro/><link name", "is not valid XML"),
    (
        'name="two">',
        'name="two" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="a"/>',
        "is a xacro macro file, not a URDF. Expand",
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "sentence"), BAD, ids=[sentence[:40] for *_, sentence in BAD]
)
def test_a_bad_urdf_is_refused_with_a_sentence(old, new, sentence, tmp_path):
    assert old in GOOD
    with pytest.raises(at.FileError) as caught:
        load(GOOD.replace(old, new, 1), tmp_path)
    assert sentence in str(caught.value)


def test_entities_are_not_expanded(tmp_path):
    bomb = '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>' + GOOD.replace(
        'name="two"', 'name="&b;"'
    )
    with pytest.raises(at.FileError, match="must not declare a document type or entities"):
        load(bomb, tmp_path)


def test_bottomless_nesting_is_refused(tmp_path):
    with pytest.raises(at.FileError, match="must not be nested deeper than 50"):
        load("<robot>" + "<a>" * 200_000 + "</a>" * 200_000 + "</robot>", tmp_path)


def test_a_xacro_file_is_refused_with_advice(tmp_path):
    with pytest.raises(at.FileError, match=r"xacro robot.urdf.xacro > robot.urdf"):
        load(GOOD, tmp_path, "robot.urdf.xacro")


def test_errors_carry_the_line(tmp_path):
    with pytest.raises(at.FileError, match="line 4: link 'arm' mass must be at least 0"):
        load(GOOD.replace('<mass value="2"/>', '<mass value="-2"/>'), tmp_path)


def test_links_that_hang_on_nothing_are_refused(tmp_path):
    with pytest.raises(at.FileError, match="link 'stray' is not joined"):
        load(
            GOOD.replace('<link name="base"/>', '<link name="base"/><link name="stray"/>'), tmp_path
        )
    loop = '<link name="a"/><link name="b"/>'
    loop += '<joint name="ab" type="fixed"><parent link="a"/><child link="b"/></joint>'
    loop += '<joint name="ba" type="fixed"><parent link="b"/><child link="a"/></joint>'
    with pytest.raises(at.FileError, match="fixed joints form a cycle"):
        load(GOOD.replace('<link name="base"/>', f'<link name="base"/>{loop}'), tmp_path)


def test_a_tool_frame_becomes_the_tool(tmp_path):
    tool = '<link name="tool"/><joint name="t" type="fixed"><origin xyz="0 0 0.3"/>'
    tool += '<parent link="hand"/><child link="tool"/></joint>'
    robot = load(GOOD.replace('<link name="base"/>', f'<link name="base"/>{tool}'), tmp_path)
    assert robot.forward_kinematics([0, 0])[:3, 3] == pytest.approx([0.3, 0, 0.3])
    assert robot.forward_kinematics([0, 0], "flange")[:3, 3] == pytest.approx([0.3, 0, 0.02])


@pytest.mark.parametrize("speeds", [[2.0, 0.5], [-0.3, -0.1]])
def test_coulomb_and_viscous_friction_survive(speeds, tmp_path):
    """Nothing of it is lost, and so nothing is said of it."""
    robot = load(GOOD.replace('effort="10"/></joint>', 'effort="10"/>' + SLIDING), tmp_path)
    lost = robot.to_urdf(tmp_path / "x.urdf")
    again = at.Robot.load(tmp_path / "x.urdf")
    assert robot.friction_torque(speeds)[1] != 0
    assert np.allclose(again.friction_torque(speeds), robot.friction_torque(speeds), rtol=1e-12)
    assert not any("friction" in phrase for phrase in lost)


def test_friction_of_another_law_is_fitted_as_well_as_coulomb_and_viscous_can(robots, tmp_path):
    """No other pair of numbers is nearer over the speeds of a joint, and how near is said."""
    robot = robots["lwa4p"]
    lost = robot.to_urdf(tmp_path / "x.urdf")
    law = at.Robot.load(tmp_path / "x.urdf").description.friction[0].law
    v = np.zeros((101, 6))
    v[:, 0] = np.linspace(-1, 1, 101) * robot.limits.velocity[0]
    tau = robot.friction_torque(v)[:, 0]

    def missed(level, viscous):
        return tau - level * np.sign(v[:, 0]) - viscous * v[:, 0]

    least = np.linalg.norm(missed(law.level, law.viscous))
    for level, viscous in [(1.01, 1), (0.99, 1), (1, 1.01), (1, 0.99)]:
        assert np.linalg.norm(missed(level * law.level, viscous * law.viscous)) > least
    largest = np.abs(missed(law.level, law.viscous)).max()
    [phrase] = [x for x in lost if x.startswith("friction of joint_1 written as")]
    assert phrase.endswith(f"off by at most {largest:.3g} N m")
    assert f"<!-- {phrase} -->" in (tmp_path / "x.urdf").read_text()


def test_rotors_that_are_left_out_are_told_in_numbers(robots, tmp_path):
    """What they add to the inertia of the joints is what the file's bodies lack."""
    robot = robots["lwa4p"]
    lost = robot.to_urdf(tmp_path / "x.urdf")
    q = robot.home
    missing = robot.mass_matrix(q) - at.Robot.load(tmp_path / "x.urdf").mass_matrix(q)
    [phrase] = [x for x in lost if "rotor inertias" in x]
    for j, name in enumerate(robot.joint_names):
        said = float(phrase.partition(f"{name} ")[2].split()[0])
        assert said == pytest.approx(missing[j, j], rel=0.01)


def test_friction_that_couples_joints_is_told_to_be_left_out(robots, tmp_path):
    robot = robots["rx90b"]
    lost = robot.to_urdf(tmp_path / "x.urdf")
    v = np.zeros(6)
    v[5] = robot.limits.velocity[5]
    beside = np.abs(robot.friction_torque(v)[:5]).max()
    assert f"left out: friction of joint_6 on other joints, up to {beside:.4g} N m" in lost


def test_one_sided_limits_survive(tmp_path):
    from dataclasses import replace

    robot = load(GOOD, tmp_path)
    limits = replace(robot.description.joint[0].limits, lower=None)
    joints = (replace(robot.description.joint[0], limits=limits), *robot.description.joint[1:])
    robot = at.Robot(replace(robot.description, joint=joints))
    robot.to_urdf(tmp_path / "x.urdf")
    again = at.Robot.load(tmp_path / "x.urdf").position_limits
    assert again[0, 0] == -np.inf
    assert again[1, 0] == 2
    # the finger goes -2 times as far as the slide and may go 0 to 50 mm: it limits the slide to -20
    # .. 5 mm
    assert again[:, 1] == pytest.approx([0, 0.005])


@pytest.mark.parametrize("encoding", ["shift_jis", "nonsense"])
def test_an_unknown_encoding_is_refused(encoding, tmp_path):
    with pytest.raises(at.FileError, match="is not valid XML"):
        load(f'<?xml version="1.0" encoding="{encoding}"?>' + GOOD, tmp_path)


def chain(count, kind="fixed"):
    """A URDF of many links, each on the one before, the first of them on a joint that moves."""
    links = "".join(f'<link name="l{i}"/>' for i in range(count))
    joints = "".join(
        f'<joint name="j{i}" type="{kind if i else "revolute"}">'
        f'<parent link="l{i}"/><child link="l{i + 1}"/>'
        '<origin xyz="0.001 0 0"/><axis xyz="0 0 1"/></joint>'
        for i in range(count - 1)
    )
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    body = f'<inertial><mass value="2"/>{inertia}</inertial>'
    links = links.replace('<link name="l1"/>', f'<link name="l1">{body}</link>')
    return f'<robot name="chain">{links}{joints}</robot>'


@pytest.mark.parametrize("kind", ["fixed", "revolute"])
def test_twenty_thousand_links_are_answered_within_five_seconds(kind, tmp_path):
    begin = time.process_time()
    with pytest.raises(at.FileError, match="must have at most 5000 links, got 20000"):
        load(chain(20_000, kind), tmp_path)
    assert time.process_time() - begin < 5


def test_a_chain_of_thousands_of_fixed_joints_is_folded_in_a_time_that_grows_with_its_length(
    tmp_path,
):
    begin = time.process_time()
    robot = load(chain(3000), tmp_path)
    assert time.process_time() - begin < 5
    assert robot.forward_kinematics([0.0], "l2999")[0, 3] == pytest.approx(2.999)


def test_fixed_joints_in_a_circle_are_refused(tmp_path):
    text = GOOD.replace(
        "</robot>",
        '<joint name="x" type="fixed"><parent link="y"/><child link="z"/></joint></robot>',
    )
    text = text.replace(
        "</robot>",
        '<joint name="w" type="fixed"><parent link="z"/><child link="y"/></joint></robot>',
    )
    text = text.replace("</robot>", '<link name="y"/><link name="z"/></robot>')
    with pytest.raises(at.FileError, match="fixed joints form a cycle"):
        load(text, tmp_path)


def test_more_joints_than_an_arm_has_are_refused(tmp_path):
    with pytest.raises(at.FileError, match="must have at most 300 joints that move, got 999"):
        load(chain(1000, "revolute"), tmp_path)


@pytest.mark.parametrize(
    "text",
    ["<a/>" * 300_000, "<a>" + "text\n" * 1_000_000 + "</a>", "<a>" * 100_000],
    ids=["elements", "text", "depth"],
)
def test_a_file_made_to_keep_the_reader_busy_is_answered_soon(text, tmp_path):
    begin = time.process_time()
    with pytest.raises(at.FileError):
        load(f'<robot name="busy">{text}</robot>', tmp_path)
    assert time.process_time() - begin < 5


def test_thousands_of_unknown_links_are_told_soon_and_counted(tmp_path):
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="u{i}"/><child link="v{i}"/></joint>'
        for i in range(4000)
    )
    text = GOOD.replace("</robot>", f"{joints}</robot>")
    begin = time.process_time()
    with pytest.raises(at.FileError, match=r"8000 problems\n(.*\n)*  and \d+ more$"):
        load(text, tmp_path)
    assert time.process_time() - begin < 3


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('mass value="2"', 'mass value="1e300"', "link 'arm' mass value must be at most 1e"),
        ('mass value="2"', 'mass value="1e-300"', "mass must be 0 or at least 1e-30 kg"),
        ('ixx="0.02"', 'ixx="1e300"', "inertia ixx must be at most 1e"),
        ('xyz="0 0 0.1"', 'xyz="0 0 1e200"', "origin xyz must be at most 1e"),
        ('damping="0.7"', 'damping="1e300"', "damping must be at most 1e"),
        ('joint name="turn"', 'joint name=""', "joint: name 1 is empty"),
        ('name="two"', 'name="a&#x202e;b"', "name must not hold control characters"),
        ('name="two"', f'name="{"a" * 2000}"', "name must have at most 1000 characters"),
    ],
)
def test_numbers_and_names_that_no_machine_has_are_refused_without_a_warning(
    old, new, sentence, tmp_path
):
    assert old in GOOD
    with pytest.raises(at.FileError, match=sentence):
        load(GOOD.replace(old, new), tmp_path)


def test_limits_written_as_huge_numbers_still_mean_none(tmp_path):
    text = GOOD.replace('lower="-2" upper="2"', 'lower="-1.79769e+308" upper="1.79769e+308"')
    assert load(text, tmp_path).position_limits[0, 0] == -np.inf


def test_a_lower_limit_holds_where_the_upper_one_means_none(tmp_path):
    """Also a lower limit beyond 1 rad, which no default of the upper one may contradict."""
    text = GOOD.replace('lower="-2" upper="2"', 'lower="1.5" upper="1e9"')
    limits = load(text, tmp_path).position_limits
    assert limits[:, 0].tolist() == [1.5, np.inf]


CARRIER = GOOD.replace(
    "</robot>",
    """<link name="wheel"><inertial><mass value="3"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="roll" type="continuous"><parent link="base"/><child link="wheel"/>
    <axis xyz="0 1 0"/></joint></robot>""",
)


def test_a_tip_chooses_the_chain_of_an_arm_on_a_carrier(tmp_path):
    """What is beside the chain is fixed at zero and keeps its mass."""
    (tmp_path / "robot.urdf").write_text(CARRIER)
    assert at.Robot.load(tmp_path / "robot.urdf").joint_names == ("turn", "slide", "roll")
    arm = at.Robot.load(tmp_path / "robot.urdf", tip="tool0")
    assert arm.joint_names == ("turn", "slide")
    assert "fixed at zero are grip, roll" in arm.description.note
    whole = load(GOOD, tmp_path, "arm.urdf")
    q, v, a = np.array([[0.3, 0.0], [0.5, 0.0], [1.0, 2.0]])
    finger = at.Robot.load(tmp_path / "robot.urdf", tip="hand")
    assert arm.inverse_dynamics(q, v, a)[1] == pytest.approx(
        0.6 * (a[1] - v[0] ** 2 * (0.3 + q[1])),
        rel=1e-12,  # hand and finger as one body
    )
    assert arm.forward_kinematics(q, "flange") == pytest.approx(
        whole.forward_kinematics(q, "flange"), abs=1e-15
    )
    assert finger.forward_kinematics(q, "flange")[2, 3] == 0.0
    with pytest.raises(at.FileError, match="no joint leads to a link 'tool1'"):
        at.Robot.load(tmp_path / "robot.urdf", tip="tool1")
