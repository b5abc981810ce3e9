"""Every command that writes a robot: what it did not change is as well known as before."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.robot.uncertainty import standard_deviations
from tests.app.test_job_commands import call
from tests.identification.test_actuator import noise_log
from tests.identification.virtual import excitation, measured, on_the_bench
from tests.identification.virtual_friction import SPEEDS, torque_of

CUTOFF = ("--cutoff", "10 Hz")


def with_covariance(robot):
    """A robot whose parameters are known to some per cent and err together."""
    p = len(robot.parameters)
    root = np.random.default_rng(4).normal(size=(p, 3)) * 0.01 * np.abs(robot.parameters)[:, None]
    spread = root @ root.T + 1e-8 * np.eye(p)
    known = np.ones(p, dtype=bool)
    deviation = standard_deviations(robot.parameter_names, spread, known, "identified: a test")
    return at.Robot(replace(robot.description, standard_deviation=deviation))


@pytest.fixture(scope="module")
def bench(tmp_path_factory, shared_data):
    """A folder with logs of test benches, and robots that were identified before."""
    folder = tmp_path_factory.mktemp("bench")
    bare, head = on_the_bench(), on_the_bench("laser_head")
    motion = excitation(head, 1, periods=2)
    log = measured(bare, motion, 1)
    log.write(folder / "bare.csv")
    measured(head, motion, 2).write(folder / "head.csv")
    at.identify(bare, [log], cutoff=10.0).robot.save(folder / "rx90b.toml")
    for name in ("kr300", "epaas_bench"):
        with_covariance(at.Robot.load(name)).save(folder / f"{name}.toml")
    law = bare.description.friction[0].law
    lines = ["joint,v,tau"]
    for v in [*SPEEDS, *-SPEEDS]:
        lines.append(f"joint_1,{v:.6g},{1.1 * torque_of(law, [v])[0]:.6g}")
    (folder / "curves.csv").write_text("\n".join(lines))
    (folder / "kr300.csv.gz").symlink_to(shared_data / "kuka_kr300" / "ident_A.csv.gz")
    for mass in (2, 5.1, 9):
        noise_log(mass).write(folder / f"noise_{mass:.0f}.csv")
    triangles = at.run_experiment(at.Experiment.load("epaas_triangles"))
    triangles.log.write(folder / "triangles.csv")
    return folder


def changed_names(prior, found):
    """Names of the parameters whose value is another, whatever is mounted."""
    was, now = (robot.with_tool(None).with_payload(None) for robot in (prior, found))
    values = dict(zip(now.parameter_names, now.parameters, strict=True))
    pairs = zip(was.parameter_names, was.parameters, strict=True)
    return {name for name, value in pairs if values.get(name) != value}


def covariance_of(robot, names):
    use = [robot.parameter_names.index(name) for name in names]
    return robot.uncertainty.covariance[np.ix_(use, use)]


def spread_of_torque(robot, names):
    """Standard deviations of the joints' torques by some parameters, mean of states, (n,)."""
    q, v, a = np.random.default_rng(2).normal(size=(3, 20, robot.n))
    use = [robot.parameter_names.index(name) for name in names]
    Y = robot.regressor(q, v, a)[..., use]
    C = covariance_of(robot, names)
    return np.sqrt(np.einsum("mni,ij,mnj->mn", Y, C, Y).mean(axis=0))


COMMANDS = {
    "identify": ("identify", "rx90b.toml", "bare.csv", "--friction-only", *CUTOFF),
    "servo": ("servo", "kr300.toml", "kr300.csv.gz"),
    "payload": ("payload", "rx90b.toml", "--without", "bare.csv", "--with", "head.csv", *CUTOFF),
    "complete": ("complete", "kr300.toml"),
    "friction curves": ("friction", "curves", "rx90b.toml", "curves.csv"),
    "friction shapes": ("friction", "shapes", "rx90b.toml", "bare.csv", *CUTOFF),
    "friction load": (
        *("friction", "load", "rx90b.toml", "bare.csv", "head.csv"),
        *("--elements", "wrist_a, wrist_c", "--tools", "none, laser_head"),
    ),
    "transmission": ("transmission", "kr300.toml", "kr300.csv.gz"),
    "actuator noise": (
        *("actuator", "noise", "epaas_bench.toml", "noise_2.csv", "noise_9.csv"),
        *("--weights", "2, 9 kg"),
    ),
    "actuator valve": ("actuator", "valve", "epaas_bench.toml", "noise_5.csv"),
    "actuator flow": ("actuator", "flow", "epaas_bench.toml", "triangles.csv"),
}


# commands that say how well they know what they found, by the groups that they find
FOUND = {"identify": {"friction"}, "friction shapes": {"link", "rotor", "balancer", "friction"}}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_command_does_not_change_keeps_its_covariance(bench, command):
    """And what it changes is not said to be known by the logs of before."""
    words = COMMANDS[command]
    out = bench / f"{command.replace(' ', '_')}.toml"
    done = call(bench, *words, "--out", out.name)
    assert done.code in (0, 1), done.err
    file = next(word for word in words if word.endswith(".toml"))
    prior, found = at.Robot.load(bench / file), at.Robot.load(out)
    assert found.uncertainty.correlated, found.uncertainty.remark
    groups = {parameter.name: parameter.group for parameter in prior.parameter_table}
    anew = {name for name, group in groups.items() if group in FOUND.get(command, ())}
    changed = changed_names(prior, found)
    known = dict(zip(found.parameter_names, found.uncertainty.known, strict=True))
    assert not any(known.get(name) for name in changed - anew)
    kept = [name for name in groups if name not in changed | anew]
    assert all(known[name] for name in kept)
    assert np.array_equal(covariance_of(prior, kept), covariance_of(found, kept))


def test_the_torque_is_as_well_known_after_friction_servo_and_payload(bench):
    """identify -> friction -> servo -> payload: within 1 % for what was identified once."""
    chain = [
        ("friction", "curves", "rx90b.toml", "curves.csv", "--out", "one.toml"),
        ("servo", "one.toml", "bare.csv", "--out", "two.toml"),
        (*("payload", "two.toml", "--held", "--with", "head.csv"), *CUTOFF, "--out", "three.toml"),
    ]
    for words in chain:
        done = call(bench, *words)
        assert done.code in (0, 1), done.err
    prior, found = (at.Robot.load(bench / name) for name in ("rx90b.toml", "three.toml"))
    assert found.description.servo["fitted"]
    assert found.description.mounted.payload
    changed = changed_names(prior, found)
    assert all(name.startswith("joint_1.") for name in changed)
    kept = [name for name in prior.parameter_names if name not in changed]
    was, now = spread_of_torque(prior, kept), spread_of_torque(found, kept)
    assert now == pytest.approx(was, rel=0.01)


def test_the_interface_keeps_what_the_commands_keep(bench):
    """fit_friction takes off what an identification added to a friction element, no more."""
    robot = at.Robot.load(bench / "rx90b.toml")
    first = robot.description.friction[0]
    added = replace(first, name=f"{first.name}_load")
    friction = (*robot.description.friction, added)
    prior = with_covariance(at.Robot(replace(robot.description, friction=friction)))
    curves = at.FrictionCurves.read(bench / "curves.csv", prior.joint_names)
    found = at.fit_friction(prior, curves, law="stribeck").robot
    changed = changed_names(prior, found)
    assert {f"{added.name}.viscous", f"{first.name}.viscous"} < changed
    known = set(found.description.standard_deviation.parameters)
    kept = [name for name in prior.parameter_names if name not in changed]
    assert known == set(kept)
    assert found.uncertainty.correlated
    assert np.array_equal(covariance_of(prior, kept), covariance_of(found, kept))


def test_a_robot_of_other_numbers_keeps_the_covariance_of_the_others(bench):
    prior = at.Robot.load(bench / "rx90b.toml")
    phi = prior.parameters.copy()
    place = prior.parameter_names.index("Jm3")
    phi[place] *= 1.1
    told = np.arange(len(phi)) == place
    found = prior.with_parameters(phi, "measured: a rotor", identified=told)
    others = [name for name in prior.parameter_names if name != "Jm3"]
    assert not found.uncertainty.known[place]
    assert np.array_equal(covariance_of(prior, others), covariance_of(found, others))


def test_a_law_of_another_shape_loses_what_was_known_of_it(bench):
    """Coefficients of the same value act otherwise where the law's exponent is another."""
    prior = at.Robot.load(bench / "rx90b.toml")
    third = prior.description.friction[2]
    law = replace(third.law, viscous_exponent=1.1 * third.law.viscous_exponent)
    elements = [replace(e, law=law) if e is third else e for e in prior.description.friction]
    found = prior.with_description(replace(prior.description, friction=tuple(elements)))
    assert not changed_names(prior, found)
    lost = prior.uncertainty.known & ~found.uncertainty.known
    names = {name for name, gone in zip(prior.parameter_names, lost, strict=True) if gone}
    assert names == {f"{third.name}.{key}" for key, _ in law.coefficients}


def test_numpy_numbers_are_written_as_plain_ones(tmp_path):
    """A rotor inertia that a rule of `complete` gave, and a speed that a loop in Python gave."""
    robot = at.Robot.load("tx40")
    first, *others = robot.description.motor
    inertia = first.rotor_inertia * 4 / 3
    axis = robot.description.joint[0].axis
    joint = replace(robot.description.joint[0], axis=np.array(axis))
    made = replace(
        robot.description,
        motor=(replace(first, rotor_inertia=np.float64(inertia)), *others),
        joint=(joint, *robot.description.joint[1:]),
    )
    at.Robot(made).save(tmp_path / "tx40.toml")
    found = at.Robot.load(tmp_path / "tx40.toml").description
    assert found.motor[0].rotor_inertia == inertia
    assert found.joint[0].axis == axis
    assert "np." not in (tmp_path / "tx40.toml").read_text()
    job = at.Job.load("rx90b_line")
    for number in (np.float64(0.1), np.float32(0.125), np.int64(1)):
        description = replace(job.description, speed=number)
        at.Job(description, job.origin).save(tmp_path / "job.toml")
        assert at.Job.load(tmp_path / "job.toml").description.speed == number


def test_a_completed_urdf_can_be_read_again(tmp_path, shared_data):
    (urdf,) = (shared_data / "ur5_course").glob("*.urdf")
    done = call(tmp_path, "complete", urdf, "--out", "ur5.toml")
    assert done.code in (0, 1), done.err
    checked = call(tmp_path, "check", "ur5.toml")
    assert checked.code == 0, checked.err


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (float("nan"), "motor.1.rotor_inertia must be a finite number, got nan"),
        (-1.0, "motor.1.rotor_inertia ('motor_1') must be at least 0"),
        (1 + 2j, "motor.1.rotor_inertia must be a number, a text, true or false, got a complex"),
    ],
)
def test_what_would_not_be_read_again_is_refused_and_not_written(tmp_path, number, sentence):
    robot = at.Robot.load("tx40")
    first, *others = robot.description.motor
    motors = (replace(first, name="motor_1", rotor_inertia=number), *others)
    wrong = robot.with_numbers(replace(robot.description, motor=motors))
    with pytest.raises(at.ArmtwinError) as error:
        wrong.save(tmp_path / "tx40.toml")
    assert str(error.value).startswith("robot 'tx40' cannot be written: ")
    assert sentence in str(error.value)
    assert list(tmp_path.iterdir()) == []
