"""Geometry of robots from measured positions of their tool; studies/calibration.py draws more."""

import numpy as np
import pytest

import armtwin as at
from armtwin.identification.calibration.geometry import RobotGeometry
from tests.app.test_job_commands import call
from tests.identification.virtual_calibration import calibrate, load, postures

RNG = 37


@pytest.fixture(scope="module")
def exact():
    """A calibration of the RX90B without noise."""
    return calibrate("rx90b", np.random.default_rng(RNG), noise=0.0)


def table(path, robot, at_, points, names=None):
    """A table of positions, those of the tool in millimetres."""
    names = names or [f"q{j}" for j in range(1, robot.n + 1)]
    rows = np.column_stack([at_, 1e3 * points])
    head = ",".join([*names, "x [mm]", "y [mm]", "z [mm]"])
    path.write_text("\n".join([head, *(",".join(map(repr, row)) for row in rows.tolist())]))
    return path


def test_exact_positions_give_the_arm_as_it_is_built(exact):
    """Nineteen numbers, to rounding; the robot that is written reaches the measured points."""
    found, truth, elsewhere = exact
    assert len(found.table) == 19
    np.testing.assert_allclose(found.numbers, truth, atol=1e-9)
    points = found.robot.forward_kinematics(elsewhere)[:, :3, 3]
    np.testing.assert_allclose(points, found.geometry.points(truth, elsewhere), atol=1e-9)


def test_combinations_that_positions_cannot_separate_are_named(exact):
    """Shoulder height on two joints; parallel axes; the last joint's zero and the tool's side."""
    held = exact[0].held
    assert "joint_2.z acts as joint_1.z" in held
    assert "joint_3.y acts as joint_2.y" in held
    assert any(text.startswith("tool.y acts as") and "joint_6.zero" in text for text in held)
    assert any("joint_3.x acts as 2.222 joint_2.zero - 2.222 joint_3.zero" in x for x in held)


def test_three_numbers_of_a_triangle_are_determined_and_the_fourth_is_named():
    """Of sides, angle and sensor zero of a cylinder, over its stroke."""
    found, _, _ = calibrate("epaas, triangles", np.random.default_rng(RNG))
    names = [row.name for row in found.table]
    assert {"L3.long_side", "L3.short_side", "L3.angle"} <= set(names)
    assert any(text.startswith("L3.zero is not identifiable") for text in found.held)


def test_sensor_zeros_go_into_the_servo_where_the_sides_are_known():
    found, truth, _ = calibrate("epaas, zeros", np.random.default_rng(RNG), noise=0.0)
    before = found.prior.description.servo["proportional"].sensor_zero
    after = found.robot.description.servo["proportional"].sensor_zero
    names = found.geometry.names
    moved = [truth[names.index(f"{name}.zero")] for name in ("L1", "L2", "L3", "L4", "vane")]
    np.testing.assert_allclose(np.subtract(after, before), moved, atol=1e-9)


def test_position_error_at_unseen_postures_is_what_the_noise_leaves():
    """Of four draws together at most 1.3 times the bound."""
    squares = np.zeros(2)
    for seed in range(4):
        found, truth, elsewhere = calibrate("rx90b", np.random.default_rng([RNG, seed]))
        geometry = found.geometry
        error = geometry.points(found.numbers, elsewhere) - geometry.points(truth, elsewhere)
        bound = found.position_std(elsewhere)
        squares += (error**2).sum(axis=1).mean(), (bound**2).mean()
    assert squares[0] < 1.3**2 * squares[1]


def test_positions_in_the_frame_of_an_instrument_calibrate_as_well():
    """The base lies anywhere; joint 1 is then that frame's and no longer identifiable."""
    rng = np.random.default_rng(RNG)
    robot = load("rx90b")
    geometry = RobotGeometry(robot, free_frame=True)
    at_ = postures("rx90b", robot, 30, rng)
    truth = geometry.start.copy()
    truth[:6] = 1.0, -2.0, 0.5, 0.3, -0.4, 2.0
    truth[geometry.names.index("joint_4.zero")] = 2e-3
    measured = at.ToolPositions.of(robot, at_, geometry.points(truth, at_))
    found = at.calibrate(robot, measured, free_frame=True)
    np.testing.assert_allclose(found.numbers, truth, atol=1e-8)
    assert any(text.startswith("joint_1.zero acts as") for text in found.held)


def test_a_posture_that_the_others_contradict_is_named():
    rng = np.random.default_rng(RNG)
    robot = load("rx90b")
    at_ = postures("rx90b", robot, 30, rng)
    points = robot.forward_kinematics(at_)[:, :3, 3] + 5e-5 * rng.normal(size=(30, 3))
    points[11] += 2e-3
    assert at.calibrate(robot, at.ToolPositions.of(robot, at_, points)).outlying == [12]


def test_the_command_writes_a_robot_that_reads_back_and_predicts(tmp_path, exact):
    """Corrected frames, or deviations that the controller does not know: the same arm."""
    found = exact[0]
    points = found.geometry.points(found.numbers, found.positions.at)
    poses = table(tmp_path / "poses.csv", found.prior, found.positions.at, points)
    words = "calibrate", "rx90b", str(poses), "--tool", "laser_head"
    done = call(tmp_path, *words, "--out", "new.toml")
    assert done.code == 0, done.err
    again = at.Robot.load(tmp_path / "new.toml")
    q = found.positions.at
    seen = again.forward_kinematics(q)[:, :3, 3]
    np.testing.assert_allclose(seen, points, atol=1e-8)
    assert "identified: calibration with 30 positions" in str(again.description.joint[3].source)
    assert call(tmp_path, *words, "--deviations", "--out", "arm.toml").code == 0
    arm = at.Robot.load(tmp_path / "arm.toml")
    nominal = found.prior.forward_kinematics(q, "flange")[:, :3, 3]
    np.testing.assert_allclose(arm.forward_kinematics(q, "flange")[:, :3, 3], nominal, atol=1e-12)
    by_name = {deviation.joint: deviation for deviation in arm.description.deviation}
    zero = next(row for row in found.table if row.name == "joint_4.zero")
    assert by_name["joint_4"].zero == pytest.approx(zero.value, abs=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows[:5], "12 coordinates for"),
        (lambda rows: [rows[0].replace("q3", "q9"), *rows[1:]], "line 2: q3 must be given"),
        (lambda rows: [rows[0].replace(" [mm]", ""), *rows[1:]], "mm"),
    ],
    ids=["too few", "no joint 3", "millimetres without unit"],
)
def test_tables_that_cannot_be_used_are_refused(tmp_path, exact, change, words):
    found = exact[0]
    points = found.positions.points
    poses = table(tmp_path / "poses.csv", found.prior, found.positions.at, points)
    poses.write_text("\n".join(change(poses.read_text().splitlines())))
    done = call(tmp_path, "calibrate", "rx90b", str(poses), "--tool", "laser_head")
    assert done.code == 2
    assert words in done.err
    assert not (tmp_path / "armtwin_out").exists()


def test_numbers_that_a_robot_has_not_are_refused(exact):
    with pytest.raises(at.ArmtwinError, match=r"'joint_9' is no number.*joint_"):
        at.calibrate(exact[0].prior, exact[0].positions, only=["joint_9"])
