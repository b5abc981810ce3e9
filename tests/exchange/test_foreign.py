"""Foreign units push a simulated robot, and can do it no harm."""

import re
import shutil
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armtwin as at
from armtwin.exchange.export import binary_place
from armtwin.simulation.closed_loop import setpoint_rate
from tests.app.test_job_commands import call
from tests.exchange.hostile import description
from tests.exchange.units import compiled, needs_compiler

POSTURE = np.array([0.1, 0.6, 1.3, 0.2, 1.0, 0.1])
MODEL = at.Model(quantise=False)


def packed(path, *options):
    """A foreign unit, compiled with options."""
    library = compiled(path.parent, "foreign", "-fPIC", "-shared", *options)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description())
        archive.write(library, binary_place("foreign", 2))
    return path


@pytest.fixture(scope="module")
def unit(tmp_path_factory):
    return packed(tmp_path_factory.mktemp("foreign") / "load.fmu")


@pytest.fixture(scope="module")
def robot():
    return at.Robot.load("rx90b")


def still(robot, duration=0.2):
    rate = setpoint_rate(robot, MODEL)
    zero = np.zeros((round(duration * rate) + 1, robot.n))
    return at.Trajectory.sampled(rate, POSTURE + zero, zero, zero)


def opened(path, robot, timeout=20.0, start=None, **outputs):
    joint = robot.joint_names[0]
    return at.ForeignUnit(
        path,
        robot,
        inputs={"angle": f"q.{joint}", "speed": f"v.{joint}"},
        outputs=outputs or {"torque": joint},
        start=start,
        timeout=timeout,
    )


@needs_compiler
def test_a_constant_torque_acts_as_one_that_is_given(unit, robot):
    motion = still(robot)
    torque = np.zeros_like(motion.q)
    torque[:, 0] = 30.0
    with opened(unit, robot, start={"constant": 30.0}) as partner:
        got = at.simulate(robot, motion, MODEL, options=at.RunOptions(partner=partner))
    wanted = at.simulate(robot, motion, MODEL, options=at.RunOptions(torque=torque))
    np.testing.assert_allclose(got.log.q, wanted.log.q, rtol=0, atol=1e-14)


@needs_compiler
def test_a_spring_of_another_tool_pulls_by_what_it_is_told(unit, robot):
    """The same feedback given by a function: equal to the last digit that JSON carries, all."""
    start = {"stiffness": 4e3, "damping": 15.0, "constant": 4e3 * 0.11}

    def pulled(now, q, v):
        torque = np.zeros(robot.n)
        torque[0] = start["constant"] - start["stiffness"] * q[0] - start["damping"] * v[0]
        return torque

    motion = still(robot)
    with opened(unit, robot, start=start) as partner:
        got = at.simulate(robot, motion, MODEL, options=at.RunOptions(partner=partner))
    wanted = at.simulate(robot, motion, MODEL, options=at.RunOptions(partner=pulled))
    np.testing.assert_array_equal(got.log.q, wanted.log.q)
    assert np.abs(wanted.log.tau[:, 0]).max() > 20.0


@needs_compiler
def test_a_force_on_the_tool_acts_through_the_jacobian(unit, robot):
    with opened(unit, robot, start={"constant": 50.0}, torque="force.z") as partner:
        found = partner(0.0, POSTURE, np.zeros(robot.n))
    wrench = np.array([0.0, 0.0, 50.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(found, robot.jacobian(POSTURE).T @ wrench, atol=1e-12)


@needs_compiler
def test_a_foreign_spring_holds_the_joint_of_a_bench(unit):
    """A clamp of another tool: the joint comes to rest where spring and motor are in balance."""
    robot = at.Robot.load("kr300")
    given = at.bench_of(robot, "joint_1", friction_model="off", ground_damping=1e4)
    given = replace(given, joint="loaded", inertia=40.0)
    told = {"angle": "q.joint", "speed": "v.joint"}
    start = {"stiffness": 2e5, "damping": 4e3}
    times = np.linspace(0.0, 2.0, 1001)
    torque = np.full(1001, 3.0)
    with at.ForeignUnit(
        unit, None, inputs=told, outputs={"torque": "joint"}, start=start, timeout=20.0
    ) as partner:
        run = at.simulate_bench(given, times, torque, partner=partner)
    balance = 3.0 * given.gear_ratio / start["stiffness"]
    assert run.log.q_link[-1, 0] == pytest.approx(balance, rel=1e-6)


def test_a_joint_that_cannot_move_is_not_pushed():
    given = at.bench_of(at.Robot.load("kr300"), "joint_1", friction_model="off")
    with pytest.raises(at.ArmtwinError, match="cannot be pushed"):
        at.simulate_bench(given, [0.0, 0.1], [0.0, 0.0], partner=lambda time, q, v: v)


@needs_compiler
def test_the_partner_of_the_page_on_units_runs(unit, robot, tmp_path, monkeypatch):
    """The block of docs/fmu.md, its names being a robot, a motion and a spring."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(unit, "spring.fmu")
    page = Path(__file__).parents[2] / "docs" / "fmu.md"
    (code,) = re.findall(r"```text\n(with .*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names = {"at": at, "robot": robot, "motion": still(robot)}
    exec(compile(code, "docs/fmu.md", "exec"), names)
    assert np.isfinite(names["run"].log.q).all()


@needs_compiler
def test_our_own_transmission_is_a_load_like_any_other(transmissions, robot):
    """A unit of ours, told the angle of a joint, gives torque; FMI 3.0."""
    joint = robot.joint_names[0]
    told = {"torque": f"q.{joint}"}
    given = {"spring_torque": joint}
    with at.ForeignUnit(transmissions[3], robot, inputs=told, outputs=given) as partner:
        run = at.simulate(robot, still(robot, 0.02), MODEL, options=at.RunOptions(partner=partner))
    assert len(run.log.q) == len(still(robot, 0.02).q)


@needs_compiler
def test_what_a_unit_prints_is_no_answer(tmp_path, robot):
    path = packed(tmp_path / "prints.fmu", "-DPRINTS")
    with opened(path, robot, start={"constant": 1.0}) as partner:
        partner(0.0, POSTURE, np.zeros(6))
        assert partner(0.004, POSTURE, np.zeros(6))[0] == 1.0


# bad units


def stepped(path, robot, timeout=20.0):
    """Two answers of a unit."""
    with opened(path, robot, timeout) as partner:
        for now in (0.0, 0.004):
            partner(now, POSTURE, np.zeros(6))


@needs_compiler
def test_a_missing_symbol_is_named(tmp_path, robot):
    path = packed(tmp_path / "missing.fmu", "-DMISSING")
    with pytest.raises(at.ArmtwinError, match="fmi2DoStep"):
        stepped(path, robot)


@needs_compiler
def test_a_step_that_never_returns_is_ended(tmp_path, robot):
    path = packed(tmp_path / "endless.fmu", "-DENDLESS")
    sentence = r"its step to 0.004 s did not return within 1 s; it was ended"
    before = time.perf_counter()
    with pytest.raises(at.ArmtwinError, match=sentence):
        stepped(path, robot, 1.0)
    assert time.perf_counter() - before < 60.0


@needs_compiler
def test_a_unit_that_crashes_ends_its_own_process_only(tmp_path, robot):
    path = packed(tmp_path / "crash.fmu", "-DCRASH")
    with pytest.raises(at.ArmtwinError, match="ended its process"):
        stepped(path, robot)


@pytest.mark.parametrize("name", ["../outside.txt", "/outside.txt", "a/../../b", "C:\\x", "..\\x"])
def test_an_archive_that_leads_out_of_its_folder_is_refused_whole(tmp_path, robot, name):
    path = tmp_path / "bad.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description())
        entry = zipfile.ZipInfo("x")
        entry.filename = name
        archive.writestr(entry, "harm")
    with pytest.raises(at.ArmtwinError, match="leads out"), opened(path, robot):
        pass
    assert [x.name for x in tmp_path.iterdir()] == ["bad.fmu"]


def test_a_link_in_an_archive_is_refused(tmp_path, robot):
    path = tmp_path / "bad.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description())
        entry = zipfile.ZipInfo("binaries")
        entry.external_attr = 0o120777 << 16
        archive.writestr(entry, "/etc")
    with pytest.raises(at.ArmtwinError, match="is a link"), opened(path, robot):
        pass


@pytest.mark.parametrize(
    ("content", "words"), [(b"no archive", "zip archive"), (b"", "zip archive"), (None, "read")]
)
def test_what_is_no_unit_is_refused(tmp_path, robot, content, words):
    path = tmp_path / "none.fmu"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(at.ArmtwinError, match=words), opened(path, robot):
        pass


@needs_compiler
def test_an_unknown_variable_is_refused_with_a_suggestion(unit, robot):
    sentence = r"has no number 'torqe'. Did you mean"
    given = {"torqe": robot.joint_names[0]}
    with pytest.raises(at.ArmtwinError, match=sentence), opened(unit, robot, **given):
        pass


def test_an_unknown_joint_is_refused(robot, tmp_path):
    with pytest.raises(at.ArmtwinError, match="cannot be 'joint_99'"):
        at.ForeignUnit(tmp_path / "x.fmu", robot, inputs={}, outputs={"torque": "joint_99"})


# experiments


def experiment_file(folder, robot):
    angles = ", ".join(f'"{x} rad"' for x in POSTURE)
    joint = robot.joint_names[0]
    (folder / "pushed.toml").write_text(
        f"""
format = 1
duration = "0.1 s"
features = ["largest"]

[setup]
kind = "robot"
robot = "rx90b"
posture = [{angles}]
model = {{ quantise = false }}

[setup.foreign]
unit = "load.fmu"
inputs = {{ angle = "q.{joint}", speed = "v.{joint}" }}
outputs = {{ torque = "{joint}" }}
start = {{ constant = 30.0, stiffness = 100.0 }}
timeout = "20 s"

[[setpoint]]
on = "{joint}"
kind = "steps"
values = ["{POSTURE[0]} rad"]
times = ["0 s"]
"""
    )
    return folder / "pushed.toml"


@needs_compiler
def test_an_experiment_runs_a_foreign_unit_only_when_asked(tmp_path, robot):
    packed(tmp_path / "load.fmu")
    experiment = at.Experiment.load(experiment_file(tmp_path, robot))
    with pytest.raises(at.ArmtwinError, match="only where that is asked for"):
        at.run_experiment(experiment)
    run = at.run_experiment(experiment, foreign=True)
    # the motor bears what the unit pushes with
    pushed = 30.0 - 100.0 * POSTURE[0]
    assert run.log.tau[-1, 0] == pytest.approx(-pushed, rel=1e-3)


@needs_compiler
def test_the_command_line_asks_for_foreign_code_by_an_option(tmp_path, robot):
    packed(tmp_path / "load.fmu")
    experiment_file(tmp_path, robot)
    refused = call(tmp_path, "simulate", "pushed.toml")
    assert refused.code == 2
    assert "with --foreign" in " ".join(refused.err.split())
    assert not (tmp_path / "armtwin_out").exists()
    done = call(tmp_path, "simulate", "pushed.toml", "--foreign")
    assert done.code == 0, done.err
