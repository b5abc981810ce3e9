"""The commands friction and warmup, as a user calls them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import armtwin as at
from armtwin.app.commands import app
from tests.identification.test_warm_up import virtual_log
from tests.identification.virtual import excitation, measured, on_the_bench
from tests.identification.virtual_friction import (
    SPEEDS,
    telling_runs,
    torque_of,
    wrist,
    wrist_elements,
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(*words):
    return CliRunner().invoke(app, [*words])


def write_table(robot, rng):
    """Joint 1 of the RX90B, both directions, 2 % of noise, with 3 N m of weight."""
    law = robot.description.friction[0].law
    lines = ["joint,v,tau"]
    for v in [*SPEEDS, *-SPEEDS]:
        tau = torque_of(law, [v])[0] * (1 + 0.02 * rng.standard_normal()) + 3
        lines.append(f"joint_1,{v:.6g},{tau:.6g}")
    with open("curves.csv", "w") as file:
        file.write("\n".join(lines))


def test_friction_of_a_table_tells_laws_and_writes_the_robot(here, robots, rng):
    write_table(robots["rx90b"], rng)
    done = called("friction", "curves", "rx90b", "curves.csv", "--json")
    result = json.loads(done.stdout)
    (joint,) = result["joints"]
    assert joint["name"] == "joint_1"
    laws = {law["law"]: law for law in joint["laws"]}
    assert set(laws["stribeck"]) >= {"law", "parameters", "std", "rms_nm"}
    assert laws["geared_joint"]["parameters"]["viscous"] == pytest.approx(28.97, rel=0.05)
    (taken,) = [law for law in joint["laws"] if law["taken"]]
    robot = at.Robot.load(here / "armtwin_out" / "rx90b_friction" / "robot.toml")
    assert robot.description.friction[0].law.law == taken["law"]
    assert done.exit_code in (0, 1)


def test_friction_prints_within_80_columns(here, robots, rng):
    write_table(robots["rx90b"], rng)
    done = called("friction", "curves", "rx90b", "curves.csv", "--full")
    assert max(map(len, done.stdout.splitlines()[:30])) <= 80
    assert "half the difference" in done.stdout.replace("\n", " ")


def test_a_table_of_runs_in_which_model_c_creeps_parts_the_wrist(here, robots, rng):
    """Speeds of joints 5 and 6 as columns, both directions, with 2 N m of weight on joint 5: model
    b comes back though it is a tenth of what joint 5 feels."""
    robot = robots["rx90b"]
    curves = wrist(robot, rng, runs=telling_runs(), series=2)
    lines = ["joint,v,tau,v5,v6"]
    for j, v, tau in zip(curves.joint, curves.speeds, curves.torque, strict=True):
        for sign in (1, -1):
            numbers = sign * np.array([v[j], tau, v[4], v[5]])
            numbers[1] += 2 if j == 4 else 0
            lines.append(f"{j + 1}," + ",".join(f"{x:.9g}" for x in numbers))
    (here / "wrist.csv").write_text("\n".join(lines))
    done = called("friction", "curves", "rx90b", "wrist.csv", "--law", "file", "--json")
    assert done.exit_code in (0, 1), done.exception
    found = at.Robot.load(here / "armtwin_out" / "rx90b_friction" / "robot.toml")
    between = np.geomspace(0.01, 4.5, 40)
    for had, now in zip(wrist_elements(robot)[0], wrist_elements(found)[0], strict=True):
        assert np.abs(torque_of(now, between) / torque_of(had, between) - 1).max() < 0.06


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("curves", "rx90b", "curves.csv", "run.csv"),
            "give one table of friction curves, or logs",
        ),
        (("curves", "rx90b", "curves.csv", "--law", "stribek"), "law 'stribek' is not known"),
        (
            ("load", "rx90b", "run.csv", "--elements", "wrist_a,", "--tools", "none"),
            "--elements must name one, or several separated by commas",
        ),
        (
            ("curves", "rx90b", "curves.csv", "--weight", "file"),
            "gravity by the file needs positions",
        ),
    ],
)
def test_what_cannot_be_done_is_told_and_writes_nothing(here, robots, rng, words, sentence):
    write_table(robots["rx90b"], rng)
    t = np.arange(0, 1, 0.01)
    at.Log.of(t, q=np.zeros((100, 6)), tau=np.zeros((100, 6))).write("run.csv")
    done = called("friction", *words)
    assert isinstance(done.exception, at.ArmtwinError)
    assert sentence in str(done.exception)
    assert not (here / "armtwin_out").exists()


@pytest.fixture(scope="module")
def moving_log():
    """The virtual RX90B on an excitation, 16 s."""
    robot = on_the_bench()
    return robot, measured(robot, excitation(robot, 1, periods=2), 1)


def test_friction_of_a_moving_robot_tells_the_shapes_of_its_laws(here, moving_log):
    """Joint 3's oil, 40 % off in the file, comes back; what the log does not identify is kept."""
    robot, log = moving_log
    third = robot.description.friction[2]
    exact = third.law.viscous_exponent
    wrong = replace(third, law=replace(third.law, viscous_exponent=1.4 * exact))
    elements = [wrong if e.name == third.name else e for e in robot.description.friction]
    at.Robot(replace(robot.description, friction=tuple(elements))).save("wrong.toml")
    log.write("run.csv")
    done = called("friction", "shapes", "wrong.toml", "run.csv", "--cutoff", "10 Hz", "--json")
    result = json.loads(done.stdout)
    rows = {row["name"]: row for row in result["shapes"]}
    found = rows[f"{third.name}.viscous_exponent"]
    assert found["told"]
    assert abs(found["value"] - exact) < 3 * found["std"]
    assert done.exit_code == 1  # Stribeck speeds are not identifiable from a fast motion
    assert not rows[f"{third.name}.speed"]["told"]
    folder = here / "armtwin_out" / "rx90b_friction_shapes"
    again = at.Robot.load(folder / "robot.toml").description.friction[2].law
    assert again.viscous_exponent == pytest.approx(found["value"])
    assert again.speed == third.law.speed
    assert "dynamic logs" in (folder / "report.html").read_text(encoding="utf-8")
    assert json.loads((folder / "result.json").read_text())["shapes"] == result["shapes"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("curves.csv",), "friction shapes needs logs, not a table"),
        (("run.csv", "--cutoff", "10 mm"), "--cutoff"),
        (("run.csv",), "joint"),  # a log in which nothing moves
    ],
)
def test_shapes_with_what_it_cannot_use_is_told_and_writes_nothing(
    here, robots, rng, words, sentence
):
    write_table(robots["rx90b"], rng)
    t = np.arange(0, 1, 0.01)
    at.Log.of(t, q=np.zeros((100, 6)), tau=np.zeros((100, 6))).write("run.csv")
    done = called("friction", "shapes", "rx90b", *words)
    assert isinstance(done.exception, at.ArmtwinError)
    assert sentence in str(done.exception)
    assert not (here / "armtwin_out").exists()


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (("rx90b", "curves.csv"), "curves"),
        (("rx90b", "run.csv", "--moving", "--cutoff", "10 Hz"), "shapes"),
        (("--moving", "rx90b", "run.csv"), "shapes"),
        (("rx90b", "a.csv", "b.csv", "--load", "wrist_a", "--tools", "none, laser_head"), "load"),
        (("rx90b", "curves.csv", "--breakaway", "ramp.csv"), "presliding"),
    ],
)
def test_the_former_form_is_refused_with_the_new_one_named(here, words, form):
    done = called("friction", *words)
    assert isinstance(done.exception, at.ArmtwinError)
    assert f"write armtwin friction {form} ROBOT FILE..." in str(done.exception)


def test_presliding_tells_a_stiffness_or_why_there_is_none(here, robots):
    """A ramp that an encoder of 1 urad shows, and one of 10 mrad does not."""
    robot = robots["lwa4p"]
    time = np.linspace(0, 4, 2001)
    torque = 8 * time / 4
    bend = -1e-3 * np.log1p(-np.minimum(torque / 6, 1 - 1e-3))
    turn = bend + 0.05 * np.maximum(time - 3, 0) ** 2
    for name, step in (("fine", 1e-6), ("coarse", 1e-2)):
        q = np.zeros((len(time), robot.n))
        q[:, 0] = np.round(turn / step) * step
        tau = np.zeros_like(q)
        tau[:, 0] = np.minimum(torque, 6)
        at.Log.of(time, q=q, tau=tau + robot.gravity(q)).write(f"{name}.csv")
    fine = called("friction", "presliding", "lwa4p", "fine.csv", "--joint", "joint_1", "--json")
    assert fine.exit_code == 0, fine.exception
    found = json.loads(fine.stdout)["presliding"]
    assert found["stiffness_nm_rad"] == pytest.approx(6 / 1e-3, rel=0.1)
    folder = here / "armtwin_out" / "lwa4p_presliding"
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "result.json"]
    words = ("coarse.csv", "--joint", "joint_1", "--json", "--out", "coarse")
    coarse = called("friction", "presliding", "lwa4p", *words)
    assert coarse.exit_code == 1, coarse.exception
    assert "cannot resolve" in json.loads(coarse.stdout)["presliding"]["refused"]


def test_warmup_tells_time_constant_and_warmth(here, robots, rng):
    log, _, _ = virtual_log(robots["lwa4p"], "joint_4", 0.55, 300, rng)
    log.write("run.csv")
    done = called("warmup", "run.csv", "--limit", "1 %", "--json")
    result = json.loads(done.stdout)
    (joint,) = result["joints"]
    assert joint["joint"] == 4
    assert joint["time_constant"] == pytest.approx(1000, rel=0.2)
    assert result["period_s"] == pytest.approx(8, rel=1e-3)
    assert done.exit_code == (0 if result["warm"] else 1)
    page = (here / "armtwin_out" / "run_warmup" / "report.html").read_text()
    assert "warm-up" in page


def test_a_period_without_a_unit_that_is_no_time_is_refused(here, robots, rng):
    log, _, _ = virtual_log(robots["lwa4p"], "joint_4", 0.55, 10, rng)
    log.write("run.csv")
    done = called("warmup", "run.csv", "--period", "8 mm")
    assert "--period" in str(done.exception)
