"""The twin on a log's own reference."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.prediction.compare_reference import reference_path
from armtwin.robot.schema.servo import VelocityLaw
from tests.app.test_job_commands import call


def moving(q0, size, rate=250):
    """A motion from rest to rest in 2 s."""
    t = np.arange(0, 2, 1 / rate)[:, None]
    s, c, w = np.sin(np.pi * t), np.cos(np.pi * t), np.pi
    shape = np.array([size])
    q = np.array([q0]) + shape * (1 - c) ** 2
    v = shape * 2 * w * (1 - c) * s
    return at.Trajectory.sampled(rate, q, v, shape * 2 * w**2 * (s**2 + c - c**2))


@pytest.fixture(scope="module")
def robot():
    return at.Robot.load("rx90b").with_tool("laser_head")


@pytest.fixture(scope="module")
def log(robot):
    motion = moving([0.1, 0.6, 1.3, 0.2, 1.0, 0.1], [0.1, 0.05, 0.1, 0.1, 0.1, 0.1])
    return at.simulate(robot, motion).log


def test_a_twin_explains_its_own_log(robot, log):
    found = at.compare(robot, log)
    assert len(found.rows) == 6 + 3 + 6
    assert min(row.variance_explained for row in found.rows) > 1 - 1e-9
    assert np.abs(found.offset).max() < 1e-12


def test_the_zero_of_an_encoder_is_taken_off_and_named(robot, log):
    zero = np.array([0.0, 0.02, 0.0, 0.0, -0.03, 0.0])
    channels = {**log.channels, "q": log.q + zero}
    found = at.compare(robot, at.Log(log.time, channels))
    assert found.offset == pytest.approx(zero, abs=1e-9)
    assert found.worst.variance_explained > 1 - 1e-9


def test_only_positions_of_the_reference_are_needed(robot, log):
    """Speeds and accelerations from 250 Hz of q_ref: what they miss is 1 % of the error's rms."""
    kept = {name: log.channels[name] for name in ("q", "q_ref")}
    found = at.compare(robot, at.Log(log.time, kept))
    assert found.worst.variance_explained > 1 - 1e-4
    assert found.torque_source == ""


def test_stamps_need_not_be_even_nor_start_at_zero(robot, log, rng):
    stamps = log.time + rng.uniform(-2e-4, 2e-4, len(log.time))
    channels = {}
    for name in ("q", "q_ref", "v_ref"):
        columns = [np.interp(stamps, log.time, x) for x in log.channels[name].T]
        channels[name] = np.stack(columns, axis=1)
    found = at.compare(robot, at.Log.of(stamps + 100, **channels))
    assert found.worst.variance_explained > 0.99


def test_another_servo_explains_less(robot, log):
    found = at.compare(robot, log, model=at.Model(servo="cs7b"))
    assert found.worst.variance_explained < 0.9


def test_the_path_error_beside_a_reference_is_that_beside_its_seam():
    """Second road: the seam's geometry against the sampled joint reference,
    where the tool moves at a tenth of its speed or more; 1e-7 m for curves between set-points.
    """
    p = at.predict(at.Job.load("rx90b_corner_fixed"))
    motion = p.motion.trajectory
    time = motion.time
    path = reference_path(p.robot, time, motion.q, motion.v)
    link = np.stack([np.interp(time, p.run.trace_time, x) for x in p.run.link_side.T], axis=1)
    ours = path.beside(p.robot.forward_kinematics(link)[:, :3, 3])
    fast = p.job.seam.command(time).speed > 0.1 * p.job.description.speed
    for direction in ("lateral", "vertical", "lag"):
        seam = np.interp(time, p.path_error.time, getattr(p.path_error, direction))
        assert np.abs(getattr(ours, direction) - seam)[fast].max() < 1e-7


@pytest.fixture(scope="module")
def velocity_servo(robot):
    """The RX90B with a velocity law that takes torque as a velocity offset."""
    d = robot.description
    rule = d.servo["cascade"].rule.gains(6)
    servo = VelocityLaw(
        setpoint_rate=250.0,
        position_rate=2000.0,
        velocity_rate=4000.0,
        kp=(10.0,) * 6,
        kv=rule.kv,
        source="assumed: x",
        kiv=(20.0,) * 6,
        kff=(0.5,) * 6,
    )
    return at.Robot(replace(d, servo={"velocity": servo}))


def test_what_a_machine_fed_forward_is_taken_from_its_log(velocity_servo, log):
    """A machine that feeds forward a third more than its model: told by the column alone."""
    robot = velocity_servo
    motion = at.Trajectory.sampled(250, log.q_ref, log.v_ref, log.a_ref)
    model = robot.inverse_dynamics(motion.q, motion.v, motion.a) + robot.friction_torque(motion.v)
    fed = 1.33 * model @ robot.assembly.motor_inverse
    run = at.simulate(
        robot, motion, at.Model(servo="velocity"), options=at.RunOptions(feedforward=fed)
    ).log
    plain = {name: run.channels[name] for name in ("q", "q_ref", "v_ref", "a_ref", "tau")}
    at_motor = at.compare(robot, at.Log.of(run.time, **plain, tau_m_ff=fed))
    at_joint = at.compare(robot, at.Log.of(run.time, **plain, tau_ff=fed @ robot.assembly.gear))
    by_model = at.compare(robot, at.Log.of(run.time, **plain))
    assert (at_motor.reference.source, at_joint.reference.source) == ("tau_m_ff", "tau_ff")
    assert at_motor.worst.variance_explained > 1 - 1e-9
    assert at_joint.worst.variance_explained > 1 - 1e-9
    assert by_model.worst.variance_explained < 0.99


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda x: {"q": x.q}, "the log has no reference q_ref to run the robot on"),
        (lambda x: {"q": x.q, "q_ref": x.q}, "Is the measurement in the columns of q_ref"),
        (lambda x: {"q": x.q, "q_ref": np.degrees(x.q_ref)}, "rad"),
        (lambda x: {"q": x.q, "q_ref": x.q_ref + 1.0}, "Has q_ref another zero"),
        (lambda x: {"q": x.q, "q_ref": x.q_ref[:, :5]}, "must have 6 columns of q_ref"),
        (lambda x: {"q_ref": x.q_ref}, "the log has no positions"),
    ],
)
def test_a_log_without_a_usable_reference_is_refused(robot, log, change, sentence):
    with pytest.raises(at.ArmtwinError, match=sentence):
        at.compare(robot, at.Log(log.time, change(log)))


def test_the_command_shows_and_writes_the_same(log, tmp_path):
    log.write(tmp_path / "run.csv")
    words = ("compare", "rx90b", "run.csv", "--tool", "laser_head")
    done = call(tmp_path, *words)
    assert (done.code, done.err) == (0, "")
    told = " ".join(done.out.split())
    assert told.startswith("The twin explains at least 100 % of each joint's error")
    assert max(map(len, done.out.splitlines())) <= 80
    folder = tmp_path / "armtwin_out" / "rx90b_run_laser_head_compared"
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["compared.csv", "log.csv", "report.html", "result.json"]
    for option, value in (("--speed", "1 m/s"), ("--robot", "kr300")):
        refused = call(tmp_path, *words, option, value)
        assert refused.code == 2
        assert f"{option} is for a job, but 'rx90b' is a robot" in refused.err
    refused = call(tmp_path, "compare", "rx90b_line", "run.csv", "--payload", "plate")
    assert (refused.code, refused.out) == (2, "")
    assert "--payload is for a robot" in refused.err


def test_a_guessed_servo_does_not_explain_the_kr300(shared_data):
    """Its own control is a velocity law:
    the errors that the file's cascade predicts are 20 to 90 times too small.
    """
    robot = at.Robot.load("kr300").with_payload("recorded")
    log = at.Log.read(shared_data / "kuka_kr300" / "valid_B.csv.gz")
    found = at.compare(robot, log, model=at.Model(servo="cascade"))
    assert found.servo.summary == "assumed servo, structure not known"
    assert max(row.variance_explained for row in found.errors) < 0.1
    ratios = [row.rms_measured / row.rms_predicted for row in found.errors]
    assert all(20 < ratio < 90 for ratio in ratios)
    assert found.row("joint_2 torque").variance_explained > 0.8  # the load is known all the same
    for row in found.torque_errors:
        parts = [row[f"{kind}_percent"] for kind in ("moving", "at_rest", "reversals")]
        assert np.linalg.norm(parts) == pytest.approx(row["all_percent"])
        assert min(parts) > 0
