"""What a verdict leaves out is said beside it."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.notebook.sections import Text
from armtwin.prediction.cautions import cautions
from armtwin.prediction.verdict import process_is_on
from armtwin.report.result_file import to_result
from armtwin.simulation.temperature import describe_unheated_joints, logged_temperatures
from tests.jobs.examples import JOB, changed

POINTS = changed('lin = ["0 mm", "100 mm", "0 mm"]', 'points = "seam.csv"')
STEP = 3.5  # mm between the points of the corner


def corner(tmp_path, extra=""):
    """A job along points 3.5 mm apart that turn by a right angle after 56 mm."""
    along = STEP * np.arange(17)
    first = np.stack([0 * along, -100 + along, 0 * along], axis=1)
    second = first[-1] + np.stack([along[1:], 0 * along[1:], 0 * along[1:]], axis=1)
    rows = [",".join(map(str, row)) for row in np.vstack([first, second]).tolist()]
    text = "\n".join(["x [mm],y [mm],z [mm]", *rows])
    (tmp_path / "seam.csv").write_text(text, encoding="utf-8")
    (tmp_path / "job.toml").write_text(POINTS + extra, encoding="utf-8")
    return at.Job.load(tmp_path / "job.toml")


def test_a_points_file_with_a_corner_is_refused_with_its_point_and_turn(tmp_path):
    with pytest.raises(at.ArmtwinError) as refused:
        corner(tmp_path).seam  # noqa: B018
    assert (
        "segment 'seam': seam.csv turns by 90.0° at point 17, (0, -44, 0) mm, where a smooth curve "
        "turns by at most 30°. Part the file there by two lin segments with a blend"
        in str(refused.value)
    )


def test_a_file_parted_at_its_corner_by_a_blend_keeps_to_its_points(tmp_path):
    """As the refusal advises: splines through collinear points are straight, lines round it."""
    for name, rows in (
        ("one", ["0,-100,0", "0,-90,0", "0,-60,0"]),
        ("two", ["16,-44,0", "56,-44,0"]),
    ):
        text = "\n".join(["x [mm],y [mm],z [mm]", *rows])
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    lines = 'blend = "5 mm"\n[[segment]]\nlin = ["16 mm", "-44 mm", 0]\n'
    parted = POINTS.replace("seam.csv", "one.csv")
    parted += f'[[segment]]\nlin = [0, "-44 mm", 0]\n{lines}[[segment]]\npoints = "two.csv"\n'
    (tmp_path / "job.toml").write_text(parted, encoding="utf-8")
    job = at.Job.load(tmp_path / "job.toml")
    assert max(spline.deviation for spline in job.splines) < 1e-12
    assert [x.corner for x in job.seam.path.stretches] == [False, False, True, False, False]


def test_a_spline_that_swings_beside_its_points_is_told_with_the_verdict(tmp_path):
    """At a corner of 90° the spline's second derivatives fall by √3 - 2 from point to point:

        M_0 = √3 δ / h²,  δ = 2 h sin 45°,  deviation h²/6 (M_0 (r - r³) + M_1 (t - t³)) cos 45°

    with r = 1 - t; largest 0.42 mm. The spline has ends, and samples are sixteenths: to 1 %.
    """
    job = corner(tmp_path, 'corner = "100 deg"\n')
    (spline,) = job.splines
    t = np.linspace(0, 1, 1001)
    r = 1 - t
    bend = np.sqrt(3) * 2 * np.sin(np.pi / 4) / STEP
    swing = STEP**2 / 6 * bend * ((r - r**3) + (np.sqrt(3) - 2) * (t - t**3))
    expected = 1e-3 * np.cos(np.pi / 4) * swing.max()
    assert spline.deviation == pytest.approx(expected, rel=0.01)
    assert 0.056 - 1e-3 * STEP < spline.at_m < 0.056 + 1.1e-3 * STEP
    (sentence,) = cautions(job.robot(), job)
    assert f"by {1e3 * spline.deviation:.3g} mm at" in sentence
    assert "more than the tolerance of 0.1 mm" in sentence


def test_a_spline_within_the_tolerance_needs_no_caution(tmp_path):
    narrow = corner(tmp_path, 'corner = "100 deg"\n').description
    tolerance = at.Job.load("lwa4p_bead").description.tolerance
    job = at.Job(replace(narrow, tolerance=tolerance), str(tmp_path / "job.toml"))
    assert job.splines[0].deviation < tolerance.lateral
    assert not list(cautions(job.robot(), job))


def test_a_bare_flange_is_told_on_the_verdict_of_terminal_page_and_result(tmp_path):
    """The laser head of the RX90B left out; posture by name, since its angles are another's."""
    text = changed('tool = "laser_head"\n', "")
    head, _, tail = text.partition("posture =")
    text = head + 'posture = "elbow up"\n' + tail.partition("\n")[2]
    (tmp_path / "bare.toml").write_text(text, encoding="utf-8")
    p = at.predict(at.Job.load(tmp_path / "bare.toml"))
    report = at.Answer(p).sections()
    (caution,) = [x for x in report.verdict if x.text.startswith("No tool is mounted")]
    assert "the file of 'rx90b' has laser_head" in caution.text
    assert to_result(report)["verdict"]["cautions"] == [caution.text]
    said = [block.text for s in report.sections for block in s.blocks if isinstance(block, Text)]
    assert any(
        text.startswith("No floor given: the plane of the robot's base is used.") for text in said
    )
    assert any(text.startswith("Not checked: the thickness of links") for text in said)


def test_a_mounted_tool_needs_no_caution():
    job = at.Job.load("rx90b_line")
    assert not list(cautions(job.robot(), job))


def test_joints_that_a_temperature_does_not_change_are_said_and_not_logged():
    """All joints of the RX90B have thermal numbers, here joint 1 alone; of the LWA 4P joint 4."""
    job = at.Job.load("rx90b_line")
    warm = replace(job.description, model=replace(job.description.model, temperature=300.0))
    assert not list(cautions(job.robot(), replace(job, description=warm)))
    model = at.Model(temperature=300.0)
    whole = at.Robot.load("rx90b")
    assert logged_temperatures(whole, model).tolist() == [300.0] * 6
    first, *others = whole.description.friction
    cold = tuple(replace(element, thermal=None) for element in others)
    robot = at.Robot(replace(whole.description, friction=(first, *cold)))
    sentence = describe_unheated_joints(robot, model)
    assert "changes the friction of joint_1 alone: joint_2, joint_3, joint_4" in sentence
    assert logged_temperatures(robot, model).tolist() == [300.0]
    assert logged_temperatures(at.Robot.load("lwa4p"), model) is None
    assert "of joint_4 alone" in describe_unheated_joints(at.Robot.load("lwa4p"), model)
    assert describe_unheated_joints(at.Robot.load("lwa4p"), at.Model()) == ""


FORCE = """
[[force]]
at = "tool"
value = ["40 N", "0 N", "-60 N"]
"""


def predict_short(tmp_path, extra="", **model):
    """The short seam of the RX90B, with more in its file and another model."""
    (tmp_path / "job.toml").write_text(JOB + extra, encoding="utf-8")
    job = at.Job.load(tmp_path / "job.toml")
    return at.predict(at.Job(replace(job.description, model=at.Model(**model)), job.origin))


def number_after(words, sentence):
    """The number that follows some words."""
    return float(sentence.partition(words)[2].split()[0])


@pytest.mark.parametrize("extra", ["", FORCE], ids=["weight", "weight and force"])
def test_rigid_joints_say_how_far_the_stiffness_of_the_file_would_deflect_the_tool(tmp_path, extra):
    """A second road: the same job with elastic joints.

    Its motors move as well, by the servo's own error of some 100 µm.
    """
    p = predict_short(tmp_path, extra)
    sentences = p.cautions if extra else p.remarks
    (sentence,) = [x for x in sentences if x.startswith("Joints are rigid here, although")]
    assert ("process force of 72.1 N" in sentence) == bool(extra)
    elastic = predict_short(tmp_path, extra, joints="elastic")
    error = elastic.path_error
    on = process_is_on(elastic.job, error.s)
    across = 1e3 * np.hypot(error.lateral, error.vertical)[on].max()
    assert number_after("by up to ", sentence) == pytest.approx(across, rel=0.2)
    assert not [x for x in (*elastic.cautions, *elastic.remarks) if "rigid" in x]


def test_a_force_on_a_robot_without_any_stiffness_is_told(tmp_path):
    p = predict_short(tmp_path, FORCE)
    gears = tuple(replace(x, stiffness=None) for x in p.robot.description.transmission)
    stiff = replace(p, robot=at.Robot(replace(p.robot.description, transmission=gears)))
    (sentence,) = stiff.cautions
    assert sentence.startswith("The process force of 72.1 N deflects nothing: joints are rigid")


def test_a_servo_that_does_not_feed_the_speed_forward_is_told_by_what_it_lags():
    """A second road: the path error that the same servo has in the closed loop.

    Friction of the reversals is in that as well, and is a tenth of it.
    """
    job = at.Job.load("rx90b_line").with_speed("500 mm/s")
    d = job.description
    p = at.predict(at.Job(replace(d, model=replace(d.model, servo="cs7b")), job.origin))
    (sentence,) = p.cautions
    assert sentence.startswith("Servo 'cs7b' feeds less of the speed forward than it feeds back")
    lag = number_after("moves the tool by up to ", sentence)
    assert lag == pytest.approx(1e3 * p.verdict.peaks["lateral"], rel=0.1)
    assert at.predict(job).cautions == ()


def test_a_verdict_says_what_it_judged(tmp_path):
    p = predict_short(tmp_path)
    report = at.Answer(p).sections()
    judged = report.verdict[1].text
    length = 1e3 * sum(stop - start for start, stop in p.job.process_on())
    assert judged.startswith(f"Judged: {length:.4g} of the 200 mm that the job asks for (ramps")
    assert "; tolerance ±100 µm lateral, ±100 µm vertical; nonlinear method" in judged
    assert judged.endswith("friction lugre, rigid joints.")
    verdict = to_result(report)["verdict"]
    assert (1e3 * verdict["judged_m"], verdict["asked_m"]) == pytest.approx((length, 0.2))


def test_the_perturbation_method_and_friction_off_are_told(tmp_path):
    p = predict_short(tmp_path, friction="off")
    linear = replace(p, method="perturbation")
    assert any(x.startswith("The perturbation method was used") for x in linear.remarks)
    assert any(x.startswith("Friction is off: joints that reverse") for x in linear.cautions)
    verdict = to_result(at.Answer(linear).sections())["verdict"]
    assert verdict["capped_by"] == "friction that is off"
    assert verdict["remarks"] == list(linear.remarks)
