"""The commands excite and payload, as a user calls them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import armtwin as at
from armtwin.app.commands import app
from armtwin.prediction.compare_reference import usual_model
from tests.identification.virtual import excitation, measured, on_the_bench


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(*words):
    """Exit code and what stdout holds as JSON."""
    done = CliRunner().invoke(app, [*words, "--json"])
    return done.exit_code, json.loads(done.stdout)


@pytest.fixture(scope="module")
def runs():
    """Logs of one period without and with the head."""
    bare, head = on_the_bench(), on_the_bench("laser_head")
    motion = excitation(head, 1, periods=2)
    return measured(bare, motion, 1), measured(head, motion, 2)


def test_excite_tells_what_it_will_tell_and_writes_the_trajectory(here):
    (here / "cell.toml").write_text('format = 1\n[cell]\nfloor = "-100 mm"\n')
    words = ("--starts", "2", "--harmonics", "5", "--cell", "cell.toml", "--clearance", "50 mm")
    code, result = told("excite", "rx90b", *words, "--torque", "40 %", "--speed", "60 %")
    assert code == 0
    assert set(result["rows"]) >= {"sigma_min", "log_det", "condition"}
    assert len(result["std"]) == 55
    assert set(result["limits_used"]) >= {"position", "velocity", "torque", "drive", "distance_m"}
    assert result["limits_used"]["distance_m"]["the floor"] >= 0.05
    assert result["twin"]["runs"]
    folder = here / "armtwin_out" / "rx90b_excitation"
    motion = at.Log.read(folder / result["trajectory"])
    assert set(motion.channels) == {"q", "v", "a"}
    assert len(motion.time) == 2001
    assert not motion.v[[0, -1]].any()
    assert sorted(result["files"]) == ["report.html", "result.json", "trajectory.csv"]


@pytest.mark.parametrize("robot", ["kr300", "lwa4p", "rx90b", "tx40"])
def test_the_twin_runs_what_is_written_and_its_numbers_are_finite(here, robot):
    """The RX90B's controller stops at 8° of following error of a motor; two inertias of the
    KR 300's load are zero but for rounding.
    """
    words = ("--search", "random", "--starts", "1", "--harmonics", "20")
    code, result = told("excite", robot, *words)
    assert code == 0
    assert result["twin"]["runs"]
    assert np.isfinite([*result["rows"].values(), *result["std"].values()]).all()
    log = at.Log.read(here / "armtwin_out" / f"{robot}_excitation" / result["trajectory"])
    asked = at.Trajectory.sampled(1 / log.time[1], log.q, log.v, log.a)
    run = at.simulate(at.Robot.load(robot), asked, usual_model(at.Robot.load(robot)))
    assert run.log.time[-1] == pytest.approx(log.time[-1])
    assert not [event for event in run.log.events if event.kind == "following_error"]


def test_amplitudes_that_the_servo_cannot_follow_are_made_smaller_and_said(here):
    words = ("--search", "random", "--starts", "1")
    code, result = told("excite", "rx90b", *words)
    assert code == 0
    assert 0.05 < min(result["amplitudes"]) < max(result["amplitudes"]) < 0.9
    assert "amplitudes were made smaller: joint_1 to" in result["twin"]["sentence"]
    code, result = told("excite", "lwa4p", *words)
    assert result["amplitudes"] == [1.0] * 6


def test_a_motion_that_no_amplitude_makes_runnable_is_not_written(here):
    """A servo that stops at a millionth of a radian follows nothing."""
    robot = at.Robot.load("rx90b")
    tables = dict(at.Robot.load("rx90b").description.servo)
    strict = {name: replace(servo, following_error_limit=1e-6) for name, servo in tables.items()}
    robot.with_description(replace(robot.description, servo=strict)).save(here / "strict.toml")
    words = ["--search", "random", "--starts", "1", "--harmonics", "5"]
    done = CliRunner().invoke(app, ["excite", "strict.toml", *words])
    assert "its twin runs no such motion, down to 5 % of the amplitudes" in str(done.exception)
    assert not (here / "armtwin_out").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--criterion", "luck"), "--criterion must be one of log_det"),
        (("--period", "8 mm"), "--period"),
        (("--speed", "120 %"), "--speed must be a share of the limit"),
        (("--cell", "nowhere.toml"), "nowhere.toml"),
        (("--weights", "1, x"), "--weights"),
    ],
)
def test_excite_refuses_what_cannot_be_in_one_sentence(here, words, sentence):
    done = CliRunner().invoke(app, ["excite", "rx90b", *words])
    assert done.exit_code != 0
    assert sentence in str(done.exception) + done.output
    assert not list(here.iterdir())


def test_a_file_without_a_cell_is_refused(here):
    (here / "cell.toml").write_text("format = 1\n")
    done = CliRunner().invoke(app, ["excite", "rx90b", "--cell", "cell.toml"])
    assert "[cell] is missing" in str(done.exception)


def test_payload_tells_the_ten_numbers_and_writes_the_robot(here, runs):
    runs[0].write("empty.csv")
    runs[1].write("loaded.csv")
    code, result = told("payload", "rx90b", "--without", "empty.csv", "--with", "loaded.csv")
    assert code == 0
    assert result["mass_kg"] == pytest.approx(4.12, rel=0.01)
    assert len(result["centre_m"]) == 3
    assert set(result["inertia_kg_m2"]) == {"xx", "yy", "zz", "xy", "xz", "yz"}
    assert set(result["std"]) == {"mass_kg", "centre_m", "inertia_kg_m2"}
    assert result["refused"] is None
    robot = at.Robot.load(here / "armtwin_out" / "rx90b_payload" / "robot.toml")
    assert robot.description.mounted.payload == "identified"
    assert robot.parameters[50] == pytest.approx(0.4 + result["mass_kg"])
    words = ("--without", "empty.csv", "--with", "loaded.csv", "--force")
    shown = "".join(CliRunner().invoke(app, ["payload", "rx90b", *words]).stdout.split())
    place = ",".join(f"{1e3 * x + 0:.3f}" for x in result["centre_m"])
    beginnings = {
        "URScript": f"set_target_payload({result['mass_kg']:.4f}, [",
        "KRL": f"LOAD_DATA[1]={{M {result['mass_kg']:.4f},CM {{X ",
        "RAPID": f"PERS loaddata load1:=[{result['mass_kg']:.4f},[{place}],[",
        "Fanuc payload schedule": f"PAYLOAD {result['mass_kg']:.4f} [kg]; PAYLOAD CENTER X ",
    }
    assert set(result["controllers"]) == set(beginnings)
    for controller, beginning in beginnings.items():
        text, meaning = (result["controllers"][controller][key] for key in ("text", "meaning"))
        assert text.startswith(beginning)
        assert "".join(f"{controller}: {text}".split()) in shown
        assert "kg" in text + meaning
        assert "flange" in meaning or "tool0" in meaning


def test_a_known_payload_tells_torque_constants(here, runs):
    robot = at.Robot.load("rx90b")
    constants = np.array([motor.torque_constant for motor in robot.description.motor])
    for name, log in zip(("empty.csv", "loaded.csv"), runs, strict=True):
        current = log.tau @ robot.assembly.motor_inverse / constants
        at.Log.of(log.time, q=log.q, current=current).write(name)
    words = ("--without", "empty.csv", "--with", "loaded.csv", "--known", "4.12 kg")
    code, result = told("payload", "rx90b", *words)
    assert code == 0
    assert result["torque_constant_nm_a"] == pytest.approx(constants.tolist(), rel=0.02)
    assert len(result["std"]["torque_constant_nm_a"]) == 6
    held = 0
    for (low, high), exact in zip(
        result["torque_constant_interval_nm_a"], constants.tolist(), strict=True
    ):
        held += low < exact < high
    assert held >= 5  # of six intervals of 95 %


def test_payload_without_a_second_run_says_what_to_do(here, runs):
    runs[1].write("loaded.csv")
    done = CliRunner().invoke(app, ["payload", "rx90b", "--with", "loaded.csv"])
    assert "--held" in str(done.exception)
    assert [path.name for path in here.iterdir()] == ["loaded.csv"]
