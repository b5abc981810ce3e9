"""Robot files: what is written is read again,
and what is wrong is said in a sentence with its place.
"""

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armtwin as at
from armtwin.files.reading import check_format
from armtwin.robot.files import list_shipped
from armtwin.robot.formats.reading import describe
from tests.conftest import SHIPPED, relative


def tables(name="rx90b"):
    """Tables of a shipped robot, to spoil one thing at a time."""
    return tomllib.loads(list_shipped()[name].read_text(encoding="utf-8"))


def problem(change, name="rx90b"):
    """The sentence about one spoiled thing."""
    spoiled = tables(name)
    change(spoiled)
    with pytest.raises(at.FileError) as caught:
        at.Robot(describe(check_format(spoiled, "spoiled.toml", 2), "spoiled.toml"), "spoiled.toml")
    assert len(caught.value.problems) == 1, caught.value
    return str(caught.value)


@pytest.mark.parametrize("name", SHIPPED)
def test_toml_to_robot_to_toml_is_equal(name, robots, tmp_path):
    robot = robots[name]
    robot.save(tmp_path / "copy.toml")
    again = at.Robot.load(tmp_path / "copy.toml")
    assert again == robot
    again.save(tmp_path / "third.toml")
    assert (tmp_path / "third.toml").read_text() == (tmp_path / "copy.toml").read_text()


@pytest.mark.parametrize("name", SHIPPED)
def test_with_parameters_gives_these_parameters(name, robots, rng, tmp_path):
    robot = robots[name]
    if name == "rx90b":
        robot = robot.with_tool("laser_head")
    phi = robot.parameters * (1 + 1e-6 * rng.uniform(-1, 1, size=len(robot.parameters)))
    other = robot.with_parameters(phi)
    other.save(tmp_path / "other.toml")
    loaded = at.Robot.load(tmp_path / "other.toml")
    assert relative(loaded.parameters, phi) < 1e-15
    q, v, a = rng.normal(size=(3, 10, robot.n))
    torque = loaded.inverse_dynamics(q, v, a) + loaded.friction_torque(v, q)
    assert relative(torque, robot.regressor(q, v, a) @ phi) < 1e-12
    assert other.with_parameters(robot.parameters).parameters == pytest.approx(
        robot.parameters, rel=1e-12, abs=1e-15
    )


def test_with_the_same_parameters_nothing_changes(robots):
    robot = robots["rx90b"]
    assert robot.with_parameters(robot.parameters) == robot


def test_document_000_numbers_its_parameters_so(robots):
    """p1 is the mass of link 1, p61 the first rotor, p67 the spring's preload,
    p69 the first asperity torque.
    """
    names = robots["rx90b"].parameter_names
    assert [names[i - 1] for i in (1, 5, 15, 51, 61, 67, 68)] == [
        "m1",
        "Jxx1",
        "Jxx2",
        "m6",
        "Jm1",
        "spring.preload",
        "spring.stiffness",
    ]
    assert names[68:72] == (
        "joint_1.asperity",
        "joint_1.viscous",
        "joint_2.asperity",
        "joint_2.viscous",
    )
    assert names[78:82] == (
        "wrist_b.asperity",
        "wrist_b.limit",
        "wrist_c.asperity",
        "wrist_c.viscous",
    )


def test_a_mounted_tool_is_lumped_into_the_last_link(robots):
    bare, head = robots["rx90b"], robots["rx90b"].with_tool("laser_head")
    assert head.parameters[50] - bare.parameters[50] == pytest.approx(4.12)
    assert np.array_equal(head.parameters[:50], bare.parameters[:50])
    assert head.with_tool(None) == bare


def test_every_shipped_number_has_a_source(robots):
    for robot in robots.values():
        kinds = robot.provenance.counts()
        assert sum(kinds.values()) >= robot.n
    assert [o.path for o in robots["rx90b"].provenance.of_kind("document") if "tool" in o.path] == [
        "tool.laser_head.mass"
    ]


def test_every_shipped_robot_with_six_joints_can_be_predicted(robots):
    for robot in robots.values():
        assert robot.n < 6 or robot.provenance.missing == ()


def test_kr300_file_explains_its_recorded_torques(robots, shared_data):
    """Real robot, nothing fitted:
    joints 2 and 3 within 35 % with the recorded payload, far off without.
    """
    import gzip

    with gzip.open(shared_data / "kuka_kr300" / "ident_A.csv.gz", "rt") as file:
        names = file.readline().strip().split(",")
        log = np.loadtxt(file, delimiter=",")
    q, v, tau = (
        np.stack([log[:, names.index(f"{k}{i}")] for i in range(1, 7)], axis=1)
        for k in ("q", "dq", "tau")
    )
    window = np.hanning(41) / np.hanning(41).sum()
    a = np.gradient(v, log[:, 0], axis=0)
    a = np.apply_along_axis(np.convolve, 0, a, window, mode="same")
    errors = []
    for robot in (robots["kr300"].with_payload("recorded"), robots["kr300"]):
        hat = robot.inverse_dynamics(q, v, a) + robot.friction_torque(v, q)
        errors.append(100 * np.linalg.norm(tau - hat, axis=0) / np.linalg.norm(tau, axis=0))
    assert np.all(errors[0][[1, 2, 4]] < 35)
    assert np.all(errors[1][[1, 2, 4]] > 2 * errors[0][[1, 2, 4]])


SPOILED = [
    (
        lambda t: t["link"][1]["body"].update(mass=-1),
        "link.2 ('link_2'): mass must be at least 0 kg, got -1",
    ),
    (
        lambda t: t["link"][1]["body"]["inertia"].update(xx=5.0),
        "link.2 ('link_2'): principal moments of inertia must satisfy the triangle inequality",
    ),
    (
        lambda t: t["link"][1]["body"]["inertia"].update(xx=-0.1),
        "link.2 ('link_2'): inertia about the centre of mass must be positive semidefinite",
    ),
    (lambda t: t["joint"][0].update(axis=[0, 0, 0]), "joint.1.axis ('joint_1') must not be zero"),
    (lambda t: t["joint"][0].update(parent="link_6"), "joint: the links form a cycle"),
    (lambda t: t["link"].append(t["link"][0]), "link or frame 'link_1' is given 2 times"),
    (
        lambda t: t["joint"][2].update(child="link_1"),
        "link 'link_1' is moved by 2 joints ('joint_1' and 'joint_3')",
    ),
    (
        lambda t: t["joint"][0]["limits"].update(lower=float("nan")),
        "joint.1.limits.lower must be a finite number",
    ),
    (lambda t: t["joint"][0]["limits"].update(upper=160), "Did you mean '160 deg'?"),
    (lambda t: t["joint"][0]["limits"].update(velocity=236), "Did you mean '236 deg/s'?"),
    (
        lambda t: t["link"][0]["body"].update(mass="1,5 kg"),
        "link.1.body.mass must be a number with a decimal point",
    ),
    (
        lambda t: t["link"][0]["body"].update(mass="3 m"),
        "link.1.body.mass must be in kg or a unit of that kind",
    ),
    (
        lambda t: t["gear"]["matrix"][5].__setitem__(5, 0.0),
        "gear.matrix must not be singular: 6 motors, rank 5",
    ),
    (lambda t: t["gear"]["matrix"].pop(), "gear must have a row for each of 6 motors"),
    (
        lambda t: t.update(gravty=[0, 0, -9.81]),
        "gravty is not a key of a robot file. Did you mean 'gravity'?",
    ),
    (
        lambda t: t["joint"][2].update(parnt="x"),
        "joint.3.parnt ('joint_3') is not a key of a robot file. Did you mean 'parent'",
    ),
    (
        lambda t: t["friction"][4].update(levl=3),
        "friction.5.levl ('wrist_a') is not a key of a robot file",
    ),
    (
        lambda t: t["friction"][4].update(law="striebeck"),
        "friction.5.law: 'striebeck' is not known. Did you mean 'stribeck'?",
    ),
    (
        lambda t: t["friction"][4].update(on="joint_7"),
        "friction.5.on ('wrist_a'): joint or drive 'joint_7' is not given",
    ),
    (
        lambda t: t["friction"][4].update(source="somebody said"),
        "must be a text that starts with one of measured",
    ),
    (lambda t: t["joint"][3].pop("source"), "joint.4.source ('joint_4') is missing"),
    (
        lambda t: t["servo"]["cs7b"]["coulomb"].pop(),
        "servo.cs7b.coulomb must have a number for each of 6 drives, got 5",
    ),
    (
        lambda t: t["balancer"][0]["pins"].update(link_b="link_3"),
        "must act across exactly one revolute joint",
    ),
    (
        lambda t: t["tool"]["laser_head"]["tcp"]["orientation"].update(abc=[0, 0, 0]),
        (
            "tool.laser_head.tcp.orientation must have exactly one of rpy, abc, quaternion, "
            "matrix, got rpy and abc"
        ),
    ),
    (
        lambda t: t.update(mounted={"tool": "torch"}),
        "mounted.tool: tool 'torch' is not given. Known: laser_head.",
    ),
    (lambda t: t.update(format=3), "format 3 is newer than this armtwin reads (2)"),
    (lambda t: t.pop("format"), "format is missing; write format = 2 on its first line"),
    (lambda t: t["joint"].clear(), "a robot needs at least one joint"),
]


@pytest.mark.parametrize(
    ("change", "sentence"), SPOILED, ids=[sentence[:40] for _, sentence in SPOILED]
)
def test_a_spoiled_file_is_refused_with_one_sentence(change, sentence):
    assert sentence in problem(change)


def test_all_errors_of_a_file_come_at_once():
    spoiled = tables()
    del spoiled["format"]
    spoiled["joint"][0]["limits"]["uper"] = 1
    spoiled["link"][2]["body"]["mass"] = "heavy"
    spoiled["motor"][1]["rotor_inertia"] = -1
    with pytest.raises(at.FileError) as caught:
        describe(spoiled, "three.toml")
    assert len(caught.value.problems) == 3
    assert str(caught.value).startswith("three.toml: 3 problems\n")


def test_unphysical_bodies_need_a_reason(robots):
    link = replace(robots["epaas"].description.link[0], unphysical="")
    links = (link, *robots["epaas"].description.link[1:])
    with pytest.raises(at.FileError, match=r"link_1.*say why in its key unphysical"):
        at.Robot(replace(robots["epaas"].description, link=links))


def test_an_identified_body_that_cannot_exist_is_refused_by_name(robots):
    phi = robots["rx90b"].parameters.copy()
    phi[24] = -1.0
    with pytest.raises(at.FileError, match="'link_3'"):
        robots["rx90b"].with_parameters(phi)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda r: r.gravity([0, 0, 0]), r"q must have shape \(..., 6\) .* got \(3,\)"),
        (
            lambda r: r.gravity([0, 0, np.nan, 0, 0, 0]),
            r"q must be finite .* got nan at index \(2,\)",
        ),
        (lambda r: r.bias(np.zeros((3, 6)), np.zeros((2, 6))), "leading dimensions must agree"),
        (lambda r: r.gravity("up"), "q must be an array of numbers"),
        (
            lambda r: r.jacobian(np.zeros(6), frame="link6"),
            "frame 'link6' is not known. Did you mean 'link_6'?",
        ),
        (
            lambda r: r.with_tool("lazer_head"),
            "tool 'lazer_head' is not known. Did you mean 'laser_head'?",
        ),
        (lambda r: r.with_parameters(np.zeros(3)), r"phi must have shape \(82,\)"),
        (lambda r: r.inverse_dynamics(*np.zeros((3, 6)), wrench=[1, 2]), "wrench must have shape"),
        (
            lambda r: at.Robot.load("rx90"),
            "robot 'rx90' is neither shipped nor a .toml or .urdf file. Did you mean 'rx90b'",
        ),
        (lambda r: at.Robot.load("nowhere.toml"), "nowhere.toml: cannot be read"),
        (lambda r: r.save("/nonexistent_folder/x.toml"), "cannot be written"),
    ],
)
def test_wrong_calls_are_refused_with_a_sentence(robots, call, sentence):
    with pytest.raises(at.ArmtwinError, match=sentence):
        call(robots["rx90b"])


def test_a_torque_free_robot_without_inertia_is_an_error_not_a_nan(robots):
    link = robots["rx90b"].description.link[5]
    empty = replace(link, body=None, source="assumed: no body")
    bare = replace(
        robots["rx90b"].description,
        link=(*robots["rx90b"].description.link[:5], empty),
        motor=(),
        gear=None,
        servo={},
    )
    with pytest.raises(at.ArmtwinError, match="mass matrix must be positive definite"):
        at.Robot(bare).forward_dynamics(np.zeros(6), np.zeros(6), np.zeros(6))


def test_saving_leaves_nothing_half_written(robots, tmp_path, monkeypatch):
    target = tmp_path / "robot.toml"
    target.write_text("precious")
    monkeypatch.setattr(
        "os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    with pytest.raises(at.ArmtwinError, match="No space left"):
        robots["rx90b"].save(target)
    assert target.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [target]


def test_joints_that_follow_others_obey_virtual_work(robots, rng):
    """A parallelogram as mimic joint:
    torque of the free coordinates is Gᵀ of the torque of all joints.
    """
    from armtwin.robot.schema.groups import Mimic

    free = robots["rx90b"]
    joints = list(free.description.joint)
    joints[4] = replace(joints[4], mimic=Mimic("joint_3", multiplier=-1.0, offset=0.2))
    d = replace(free.description, joint=tuple(joints), servo={})
    robot = at.Robot(d)
    assert robot.joint_names == ("joint_1", "joint_2", "joint_3", "joint_4", "joint_6")
    q, v, a = rng.normal(size=(3, 7, 5))
    G = np.zeros((6, 5))
    G[[0, 1, 2, 3, 5], [0, 1, 2, 3, 4]] = 1
    G[4, 2] = -1
    full = [x @ G.T for x in (q, v, a)]
    full[0][:, 4] += 0.2
    assert relative(robot.inverse_dynamics(q, v, a), free.inverse_dynamics(*full) @ G) < 1e-14
    assert relative(robot.mass_matrix(q), G.T @ free.mass_matrix(full[0]) @ G) < 1e-14
    assert relative(robot.forward_kinematics(q), free.forward_kinematics(full[0])) < 1e-15
    assert relative(robot.jacobian(q), free.jacobian(full[0]) @ G) < 1e-14
    torque = robot.inverse_dynamics(q, v, a)
    assert relative(robot.forward_dynamics(q, v, torque), a) < 1e-9
    assert (
        relative(robot.regressor(q, v, a) @ robot.parameters, torque + robot.friction_torque(v, q))
        < 1e-12
    )
    X = robot.forward_kinematics(q[0])
    solutions = robot.inverse_kinematics(X)
    assert np.abs(robot.forward_kinematics(solutions) - X).max() < 1e-9


def test_shipped_files_lie_in_the_package():
    assert set(list_shipped()) == {*SHIPPED, "epaas_bench", "palletiser", "rx90b_cs7b"}
    assert all(
        isinstance(path, Path) and path.stat().st_size > 1000 for path in list_shipped().values()
    )


MORE_SPOILED = [
    (lambda t: t["motor"][0].update(name="joint_1"), "drive 'joint_1' has the name of a joint"),
    (
        lambda t: t["link"].append({"name": "lost", "source": "assumed: x"}),
        "link 'lost' is not joined to the robot",
    ),
    (
        lambda t: t.update(frame=[{"name": "tool", "link": "link_6", "source": "assumed: x"}]),
        "'tool' has a name reserved for the robot's own frame",
    ),
    (lambda t: t["balancer"].append(t["balancer"][0]), "balancer 'spring' is given 2 times"),
    (
        lambda t: t["balancer"][0]["pins"].update(link_b="link_x"),
        "balancer.1.pins: link 'link_x' is not given",
    ),
    (
        lambda t: t["tool"].update(
            blink={
                **t["tool"]["laser_head"],
                "body": {"mass": 1, "com": [0, 0, 0], "inertia": {"xx": 9, "yy": 1, "zz": 1}},
            }
        ),
        "tool.blink: principal moments",
    ),
    (
        lambda t: t["link"][0]["body"].pop("inertia"),
        "link.1 ('link_1'): a link with mass needs an inertia",
    ),
    (lambda t: t.update(joint={}), "joint must be a list of tables, [[joint]], got {}"),
    (lambda t: t["link"][0].update(body=3), "link.1.body ('link_1') must be a table, got 3"),
    (
        lambda t: t["link"][0]["body"]["inertia"].update(xxx=1),
        "link.1.body.inertia.xxx is not a key of a robot file. Did you mean 'xx'?",
    ),
    (
        lambda t: t["link"][0]["body"].update(mass=10**400),
        "link.1.body.mass must be a finite number in kg",
    ),
    (lambda t: t["link"][0]["body"].update(mass="5 kg^-9999"), "must have a power of at most 9"),
    (
        lambda t: t["joint"][0].update(axis=["0", 0, 1]),
        "joint.1.axis.1 must be a number, not text, got '0'",
    ),
    (
        lambda t: t["joint"][0].update(type="rotary"),
        "joint.1.type ('joint_1'): input should be 'revolute' or 'prismatic'",
    ),
    (
        lambda t: t["joint"][0].update(limits=3),
        "joint.1.limits ('joint_1') must be a table, got 3",
    ),
    (
        lambda t: t["link"][0]["body"].update(frame={"orientation": {}}),
        "link.1.body.frame.orientation must have exactly one of rpy, abc, quaternion, matrix",
    ),
    (
        lambda t: t["motor"][0].update(spin={"link": "link_1", "axis": [0, 0, 0]}),
        "motor.1.spin axis must not be zero",
    ),
    (
        lambda t: t["friction"][0].update(viscous_exponent=1.5),
        "friction.1.law viscous_exponent must be at most 1",
    ),
]


@pytest.mark.parametrize(
    ("change", "sentence"), MORE_SPOILED, ids=[sentence[:40] for _, sentence in MORE_SPOILED]
)
def test_another_spoiled_file_is_refused_with_one_sentence(change, sentence):
    assert sentence in problem(change)


def test_a_counterbalance_without_room_for_its_stroke_is_refused():
    assert "volume must exceed the piston's displacement" in problem(
        lambda t: t["balancer"][0].update(volume=1e-4), "kr300"
    )
    assert "must have squares greater than product" in problem(
        lambda t: t["balancer"][0].update(linkage={"squares": 0.1, "product": 0.32, "angle": 0.1}),
        "kr300",
    )


def test_numbers_beyond_the_plausible_survive_saving(robots, tmp_path):
    spoiled = tables()
    spoiled["joint"][0]["limits"].update(velocity="7200 deg/s", lower="-800 deg")
    robot = at.Robot(describe(check_format(spoiled, "x", 2), "x"))
    robot.save(tmp_path / "fast.toml")
    assert at.Robot.load(tmp_path / "fast.toml") == robot


def test_a_robot_never_changes(robots):
    robot = robots["rx90b"]
    for array in (robot.parameters, robot.position_limits):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    assert hash(robot) == hash(at.Robot.load("rx90b"))


def test_code_keeps_the_contracts_of_files(robots):
    phi = robots["rx90b"].parameters.copy()
    phi[60], phi[68] = -1e-4, -1.0
    with pytest.raises(at.FileError) as caught:
        robots["rx90b"].with_parameters(phi)
    assert "motor.1.rotor_inertia must be at least 0 kg m^2, got -0.0001" in str(caught.value)
    assert "friction.1.law.asperity must be at least 0 N m, got -1" in str(caught.value)
    head = robots["rx90b"].with_tool("laser_head")
    assert head.with_parameters(head.parameters) == head


def test_a_slider_takes_units_of_length(tmp_path):
    text = """
format = 2
name = "slide"
[[joint]]
name = "x"
type = "prismatic"
parent = "base"
child = "cart"
axis = [1, 0, 0]
source = "assumed: bench"
limits = { lower = "0 mm", upper = "900 mm", velocity = "2 m/s", torque = "50 N" }
[[link]]
name = "cart"
source = "assumed: bench"
body = { mass = 2, com = [0, 0, 0], inertia = { xx = 0.01, yy = 0.01, zz = 0.01 } }
[[friction]]
name = "x"
on = "x"
law = "coulomb_viscous"
level = "5 N"
viscous = "2 N s/m"
source = "assumed: bench"
"""
    (tmp_path / "slide.toml").write_text(text)
    robot = at.Robot.load(tmp_path / "slide.toml")
    assert robot.friction_torque([2.0]) == pytest.approx([9.0])
    X = robot.forward_kinematics([2.0])
    assert "x would be at 2000.0 mm (limits 0.0 mm to 900.0 mm)" in robot.why_unreachable(X)


FORMAT_1 = """
format = 1
name = "old"

[[joint]]
name = "j"
parent = "base"
child = "arm"
source = "assumed: test"

[[link]]
name = "arm"
source = "assumed: test"

[[friction]]
name = "f"
on = "j"
law = "coulomb"
level = 1.0
source = "assumed: test"

[[transmission]]
joint = "j"
kind = "rigid"
stiffness = 1000.0
source = "assumed: test"

[[hydraulic]]
name = "L"
on = "j"
viscous = 5.0
gain = 0.1
source = "assumed: test"

[servo.old]
output_filter = { kind = "notch", frequency = [50.0], damping = 0.5 }
"""


def test_a_robot_of_format_1_is_refused_with_every_key_to_change(tmp_path):
    path = tmp_path / "old.toml"
    path.write_text(FORMAT_1, encoding="utf-8")
    with pytest.raises(at.FileError) as told:
        at.Robot.load(path)
    sentences = told.value.problems
    assert sentences[0].startswith(
        "format 1 is older than this armtwin reads (2); write format = 2"
    )
    for start in (
        "transmission.1.kind: take it out",
        "friction.1.side: add it, 'motor' or 'link'",
        "hydraulic.1: move viscous to a [[friction]]",
        "hydraulic.1: move gain to a [servo.NAME]",
        "servo.old.output_filter.damping: write it as a list, [0.5]",
    ):
        assert any(x.startswith(start) for x in sentences), start


def test_friction_says_its_side_where_a_transmission_lies_between(robots):
    d = robots["rx90b"].description
    for side, sentence in (
        (None, "friction.1.side .* is missing: 'motor' or 'link' of the transmission of 'joint_1'"),
    ):
        elements = (replace(d.friction[0], side=side), *d.friction[1:])
        with pytest.raises(at.FileError, match=sentence):
            at.Robot(replace(d, friction=elements))
    with pytest.raises(
        at.FileError,
        match=r"must be left out where no \[\[transmission\]\] lies between, got 'motor'",
    ):
        at.Robot(replace(d, transmission=()))


def test_a_tool_is_mounted_as_a_file_with_the_tool_mounted_has_it(robots):
    """Only what is mounted is checked again; the robot is the same as one checked altogether."""
    bare = robots["rx90b"]
    mounted = replace(bare.description.mounted, tool="laser_head")
    checked = at.Robot(replace(bare.description, mounted=mounted))
    head = bare.with_tool("laser_head")
    assert head == checked
    assert np.array_equal(head.parameters, checked.parameters)
    assert bare.with_tool("laser_head") is head
