"""Experiment files: set-points, features, a robot clamped at its tool, refusals."""

import re
from pathlib import Path

import numpy as np
import pytest

import armtwin as at
from armtwin.jobs.experiment import list_shipped
from armtwin.jobs.features import OF_RESPONSES, SetpointResponse

BENCH = """
format = 1
duration = "4 s"
rate = "500 Hz"
{more}
[setup]
kind = "bench"
bench = {{ rotor_inertia = 0.01, stiffness = "100 N m/rad", damping = 0.2, joint = "clamped" }}
[[setpoint]]
{setpoint}
"""


def written(folder, setpoint, more=""):
    path = folder / "experiment.toml"
    path.write_text(BENCH.format(setpoint=setpoint, more=more))
    return path


def run_of(folder, setpoint, more=""):
    return at.run_experiment(at.Experiment.load(written(folder, setpoint, more)))


def test_a_step_of_torque_rings_at_the_bench_frequency(tmp_path):
    """ω = √(K/J), ζ = c / (2 √(K J)): period and overshoot of the motor's angle."""
    step = 'on = "torque"\nkind = "steps"\ntimes = [0.0, 0.5]\nvalues = ["0 N m", "2 N m"]'
    run = run_of(tmp_path, step, 'features = ["first_peak", "period", "overshoot", "settling"]')
    got = {feature.name: feature.value for feature in run.table}
    w, zeta = 100.0, 0.2 / (2 * np.sqrt(100.0 * 0.01))
    damped = w * np.sqrt(1 - zeta**2)
    assert got["period"] == pytest.approx(2 * np.pi / damped, rel=0.01)
    # the torque steps over one sample of 2 ms
    assert got["first_peak_time"] == pytest.approx(np.pi / damped - 1e-3, abs=1e-3)
    peak = 0.02 * (1 + np.exp(-zeta * np.pi / np.sqrt(1 - zeta**2)))
    assert got["first_peak"] == pytest.approx(peak, rel=0.01)


def test_the_period_of_a_bench_falls_as_the_root_of_its_stiffness(tmp_path):
    """T = 2π √(J/K): the sensitivity changes the bench's own numbers, both ways."""
    step = 'on = "torque"\nkind = "steps"\ntimes = [0.0, 0.1]\nvalues = [0.0, "2 N m"]'
    path = written(tmp_path, step, 'features = ["period"]')
    path.write_text(path.read_text().replace("500 Hz", "2 kHz").replace("= 0.2", "= 0.02"))
    (row,) = at.sensitivity(at.Experiment.load(path), ["stiffness"], by=0.1).table
    assert row["less"] / row["base"] == pytest.approx(0.9**-0.5, rel=1e-3)
    assert row["more"] / row["base"] == pytest.approx(1.1**-0.5, rel=1e-3)


def test_ramps_triangles_noise_and_files_drive_a_bench(tmp_path):
    """Slow set-points are followed: the angle is torque over stiffness at all times."""
    ramps = 'on = "torque"\nkind = "ramps"\ntimes = [0.0, 2.0, 4.0]\nvalues = [0.0, "3 N m", 1.0]'
    run = run_of(tmp_path, ramps)
    assert np.abs(run.log.q_m - run.log.tau_m / 100).max() < 3e-4
    assert run.log.tau_m[1000, 0] == pytest.approx(3.0)
    saw = 'on = "torque"\nkind = "triangle"\namplitude = "2 N m"\nperiod = "2 s"\ncentre = 1.0'
    run = run_of(tmp_path, saw)
    assert [run.log.tau_m.min(), run.log.tau_m.max()] == pytest.approx([-1.0, 3.0], abs=0.01)
    noise = 'on = "torque"\nkind = "noise"\nrms = 0.5\nhighest = "20 Hz"\nlowest = "1 Hz"'
    run = run_of(tmp_path, noise)
    assert np.sqrt(np.mean(run.log.tau_m**2)) == pytest.approx(0.5, rel=1e-6)
    spectrum = np.abs(np.fft.rfft(run.log.tau_m[:, 0]))
    frequency = np.fft.rfftfreq(len(run.log.time), 1 / 500)
    assert spectrum[frequency > 25].max() < 1e-6 * spectrum.max()


def test_a_file_drives_a_bench_at_its_own_uneven_times(tmp_path, rng):
    time = np.cumsum(rng.uniform(0.5, 1.5, 800)) / 200
    tau = np.sin(time)[:, None]
    at.Log.of(time, tau_m=tau).write(tmp_path / "torque.csv")
    setpoint = 'on = "torque"\nkind = "file"\nfile = "torque.csv"\ncolumn = "tau_m1"'
    path = written(tmp_path, setpoint)
    text = path.read_text().replace('duration = "4 s"\n', "").replace('rate = "500 Hz"\n', "")
    path.write_text(text)
    run = at.run_experiment(at.Experiment.load(path))
    assert run.log.time == pytest.approx(time - time[0])
    assert run.log.tau_m == pytest.approx(tau)


def test_features_of_a_known_response():
    """A damped sine from a step at 1 s."""
    time = np.arange(0, 6, 1e-3)
    after = np.maximum(time - 1.0, 0.0)
    w, decay = 12.0, 1.5
    got = np.where(time > 1.0, 2 - 2 * np.exp(-decay * after) * np.cos(w * after), 0.0)
    response = SetpointResponse("x", "rad", "rad", time, 2.0 * (time >= 1.0), got)
    (span,) = OF_RESPONSES["period"](response)
    assert span.value == pytest.approx(2 * np.pi / w, rel=1e-3)
    when, height = OF_RESPONSES["first_peak"](response)
    turn = (np.pi - np.arctan(decay / w)) / w
    assert when.value == pytest.approx(turn, abs=1.5e-3)
    assert height.value == pytest.approx(2 - 2 * np.exp(-decay * turn) * np.cos(w * turn), rel=1e-3)
    (over,) = OF_RESPONSES["overshoot"](response)
    assert over.value == pytest.approx(height.value / got[-1] - 1, rel=1e-3)
    (settled,) = OF_RESPONSES["settling"](response)
    assert 1.7 < settled.value < np.log(20) / decay


def test_an_overshoot_is_a_share_of_the_final_value_as_in_document_003():
    """Section 7.1.2: (y_max - y_∞) / y_∞, of a response that ends at 0.8 of its step of 3 rad."""
    time = np.arange(0, 6, 1e-3)
    got = 2.4 * (1 - np.exp(-1.5 * time) * np.cos(12.0 * time))
    response = SetpointResponse("x", "rad", "rad", time, 3.0 * (time > 0), got)
    (over,) = OF_RESPONSES["overshoot"](response)
    assert over.value == pytest.approx(got.max() / 2.4 - 1, rel=2e-3)


@pytest.mark.parametrize(
    ("setpoint", "sentence"),
    [
        ('on = "speed"\nkind = "ramps"\ntimes = [0.0]\nvalues = [0.0]', 'on = "torque" or'),
        (
            'on = "torque"\nkind = "ramps"\ntimes = [0.0, 1.0]\nvalues = [0.0]',
            "as many times as values, got 2 and 1",
        ),
        ('on = "torque"\nkind = "steps"\ntimes = [0.0]\nvalues = ["3 m"]', "3 m"),
        ('on = "torque"\nkind = "file"\nfile = "none.csv"\ncolumn = "tau_m1"', "none.csv"),
        ('on = "torque"\nkind = "sawtooth"', "sawtooth"),
    ],
)
def test_bad_setpoints_are_refused_in_a_sentence(tmp_path, setpoint, sentence):
    with pytest.raises(at.ArmtwinError, match=sentence):
        run_of(tmp_path, setpoint)


def test_other_files_are_no_experiments_and_benches_without_stiffness_none(tmp_path):
    with pytest.raises(at.ArmtwinError, match="is a job, where an experiment"):
        at.Experiment.load("rx90b_line")
    path = written(tmp_path, 'on = "torque"\nkind = "steps"\ntimes = [0.0]\nvalues = [0.0]')
    path.write_text(path.read_text().replace('stiffness = "100 N m/rad", ', ""))
    with pytest.raises(at.ArmtwinError, match="damping and backlash need a stiffness"):
        at.run_experiment(at.Experiment.load(path))


def test_the_experiment_of_the_documentation_runs(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "experiment_file.md"
    (text,) = re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "page.toml"
    path.write_text(text)
    run = at.run_experiment(at.Experiment.load(path))
    assert repr(run) == "ExperimentRun('page', 2001 samples)"
    assert run.log.q_m[-1, 0] == pytest.approx(5 / 25.7 + 5.1e-3, rel=0.01)
    assert {feature.name for feature in run.table} >= {"first_peak", "settling"}
    assert "settling" in run._repr_html_()
    response = run.plot()[0].lines[0]
    assert response.get_label() == "response"
    assert response.get_ydata().max() == run.log.q_m.max()


@pytest.mark.parametrize("name", list_shipped())
def test_shipped_experiments_are_read(name):
    assert at.Experiment.load(name).description.title


ROBOT = """
format = 1
duration = "1.5 s"
features = ["overshoot", "settling", "final"]
[setup]
kind = "robot"
robot = "rx90b"
tool = "laser_head"
posture = ["0 deg", "40 deg", "80 deg", "0 deg", "60 deg", "0 deg"]
model = { quantise = false, friction = "off" }
[[setpoint]]
on = "joint_1"
kind = "steps"
times = [0.0, 0.2]
values = [0.0, "1 mrad"]
"""


def test_a_robot_follows_a_step_of_one_joint_and_holds_the_others(tmp_path):
    """Without friction the integrator takes joint 1 to its set-point; the others, which
    the step shakes, come back to the posture.
    """
    (tmp_path / "step.toml").write_text(ROBOT)
    run = at.run_experiment(at.Experiment.load(tmp_path / "step.toml"))
    values = {(feature.of, feature.name): feature.value for feature in run.table}
    assert values["joint_1", "final"] == pytest.approx(1.0, abs=0.01)
    assert 0.0 < values["joint_1", "overshoot"] < 0.7
    assert values["joint_1", "settling"] < 0.6
    posture = np.radians([40.0, 80.0, 0.0, 60.0, 0.0])
    assert np.abs(run.log.q[-1, 1:] - posture).max() < 1e-9


def test_an_experiment_says_which_joints_its_temperature_does_not_change(tmp_path):
    """Of the LWA 4P joint 4 has thermal numbers, of the RX90B all, which are logged."""
    warm = ROBOT.replace('friction = "off"', 'temperature = "30 degC"').replace("1.5 s", "0.3 s")
    (tmp_path / "step.toml").write_text(warm)
    run = at.run_experiment(at.Experiment.load(tmp_path / "step.toml"))
    assert run.log.temperature.shape[1] == 6
    other = warm.replace('"rx90b"\ntool = "laser_head"', '"lwa4p"')
    (tmp_path / "step.toml").write_text(other)
    run = at.run_experiment(at.Experiment.load(tmp_path / "step.toml"))
    said = [text.text for text in run.sections().verdict]
    assert any("changes the friction of joint_4 alone: joint_1" in text for text in said)


def test_a_robot_clamped_at_its_tool_is_as_soft_as_statics_say(tmp_path):
    """The KR300 held at its flange by 2 MN/m and 2 MN m/rad, joint 1 driven, the others under servo
    (section 5.3 of document 001): K_1 (1 - [(K + Jᵀ C J)⁻¹ K]_11), a fifth softer than the gear.
    """
    shipped_one = Path(at.Experiment.load("kr300_clamped_tool").origin).read_text()
    shorter = {"1e8": "2e6", '"50 s"': '"20 s"', '"12 s"': '"6 s"', "cycles = 4": "cycles = 3"}
    for old, new in shorter.items():
        assert old in shipped_one
        shipped_one = shipped_one.replace(old, new)
    (tmp_path / "clamped.toml").write_text(shipped_one)
    asked = at.Experiment.load(tmp_path / "clamped.toml")
    found = at.run_experiment(asked).clamping.joint_side[-1]
    robot = asked.robot()
    J = robot.jacobian(np.zeros(6))
    K = np.diag([t.stiffness for t in robot.description.transmission])
    share = np.linalg.solve(K + 2e6 * J.T @ J, K)
    assert share[0, 0] > 0.15
    assert found.stiffness == pytest.approx(K[0, 0] * (1 - share[0, 0]), rel=0.01)


@pytest.mark.parametrize("duration", ["1 ns", "1e9 s"])
def test_a_duration_of_no_sample_or_of_too_many_is_refused_before_anything_is_allocated(
    tmp_path, duration
):
    noise = 'on = "torque"\nkind = "noise"\nrms = "1 N m"\nhighest = "20 Hz"'
    path = written(tmp_path, noise)
    path.write_text(path.read_text().replace("4 s", duration))
    with pytest.raises(at.FileError, match="duration must be from 1 to 920000 samples at 500 Hz"):
        at.run_experiment(at.Experiment.load(path))
