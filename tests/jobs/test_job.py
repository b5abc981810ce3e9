"""Jobs: what is wrong is told in one sentence with its place;
what is right survives a file, a folder and a window.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armtwin as at
from armtwin.jobs.files import list_shipped
from armtwin.jobs.groups import Window
from armtwin.prediction.verdict import inside_window, verdict_on
from tests.incomplete import incomplete
from tests.jobs.examples import BAD, BAND, JOB, TRIANGLE, changed, with_top
from tests.oracles import bodies_only

CELL = """\
[cell]
floor = "-30 m"
[[cell.plane]]
point = [0, "-900 mm", 0]
normal = [0, 1, 1]
[[cell.box]]
name = "table"
size = ["500 mm", "600 mm", "25 m"]
pose = { position = [0.5, 0, -12.6], orientation = { rpy = [0, 0, "30 deg"] } }
"""


def written(folder, text=JOB):
    path = folder / "job.toml"
    path.write_text(text, encoding="utf-8")
    return path


def loaded(folder, text=JOB):
    return at.Job.load(written(folder, text))


def refusal(job_path):
    with pytest.raises(at.ArmtwinError) as caught:
        at.predict(at.Job.load(job_path))
    return str(caught.value)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_job_is_refused_by_one_sentence_that_names_its_file(name, tmp_path):
    path = written(tmp_path, BAD[name].text)
    told = refusal(path)
    assert told.startswith(f"{path}: ")
    assert BAD[name].sentence in told
    assert "\n" not in told


def test_an_unknown_robot_is_refused_with_the_nearest_name(tmp_path):
    told = refusal(written(tmp_path, changed('"rx90b"', '"rx90"')))
    assert (
        "robot 'rx90' is neither shipped nor a .toml or .urdf file. Did you mean 'rx90b'?" in told
    )


@pytest.mark.parametrize("robot", ["rx90", "mine.toml"])
def test_an_unknown_robot_is_told_with_the_job_that_names_it(robot, tmp_path):
    path = written(tmp_path, changed('"rx90b"', f'"{robot}"'))
    assert refusal(path).startswith(f"{path}: ")


def test_a_start_out_of_reach_is_told_with_its_job(tmp_path):
    path = written(tmp_path, changed("posture =", "# posture =", changed('"450 mm"', '"2450 mm"')))
    assert refusal(path).startswith(f"{path}: ")


def test_a_temperature_in_bare_degrees_is_told_with_its_job(tmp_path):
    path = written(tmp_path, JOB + "[model]\ntemperature = 20\n")
    assert refusal(path).startswith(f"{path}: model")


def test_a_body_that_an_override_makes_unphysical_is_told_with_the_job(tmp_path):
    path = written(tmp_path, JOB + '[override]\n"tool.laser_head.body.mass" = "-2 kg"\n')
    assert refusal(path).startswith(f"{path}: ")


def test_a_text_is_not_taken_for_a_truth_value(tmp_path):
    with pytest.raises(at.FileError, match="process"):
        loaded(tmp_path, JOB + 'process = "off"\n')


def test_a_blend_after_the_last_segment_is_refused(tmp_path):
    with pytest.raises(at.FileError, match="blend"):
        loaded(tmp_path, JOB + 'blend = "10 mm"\n').seam  # noqa: B018


def test_a_job_of_a_thousand_years_is_refused(tmp_path):
    with pytest.raises(at.ArmtwinError):
        at.predict(loaded(tmp_path, changed('"100 mm/s"', '"1e-9 mm/s"')))


def test_all_errors_of_form_are_told_at_once(tmp_path):
    text = changed(
        'lateral = "0.1 mm"', "lateral = -1", changed('"100 mm/s"', "0", with_top("titel = 1"))
    )
    with pytest.raises(at.FileError) as caught:
        loaded(tmp_path, text)
    assert len(caught.value.problems) == 3


def test_a_point_out_of_reach_on_the_way_is_told_first_with_its_place(tmp_path):
    told = refusal(written(tmp_path, changed('"100 mm", "0 mm"]\n', '"2100 mm", "0 mm"]\n')))
    first = told.splitlines()[1]
    assert (
        "the seam cannot be run by 'rx90b': from 809.9 to 2200.0 mm out of reach. The wrist centre "
        "is 900" in first
    )


def test_another_speed_is_held_to_the_contract_of_the_file(tmp_path):
    with pytest.raises(at.ArmtwinError, match="speed must be greater than 0 m/s, got 0"):
        loaded(tmp_path).with_speed(0.0)


# What a job is


@pytest.mark.parametrize("name", list_shipped())
def test_a_saved_job_loads_as_an_equal_job(name, tmp_path):
    job = at.Job.load(name)
    job.save(tmp_path / "copy.toml")
    assert at.Job.load(tmp_path / "copy.toml") == job


@pytest.mark.parametrize(
    "text",
    [
        JOB + BAND,
        JOB + TRIANGLE + '[process]\npower = "150 W"\n',
        JOB
        + '[override]\n"friction.wrist_a.viscous" = "2 N m s/rad"\n'
        + '"tool.laser_head.body.com" = [0, 0, "10 mm"]\n',
        JOB + '[model]\nfriction = "off"\nquantise = false\ntemperature = "30 degC"\n',
        changed('"100 mm/s"', '"7 m/s"'),
        with_top('name = "a \\"quoted\\" \\\\ name\\nof two lines"'),
        JOB + CELL,
        JOB.replace(JOB[JOB.index("posture") : JOB.index("\n\n[work")], 'posture = "elbow up"'),
    ],
    ids=[
        "band",
        "polygon",
        "override",
        "model",
        "speed beyond what a bare number may be",
        "name",
        "cell",
        "posture by name",
    ],
)
def test_what_a_job_may_say_survives_saving(text, tmp_path):
    job = loaded(tmp_path, text)
    assert job.description != loaded(tmp_path).description
    job.save(tmp_path / "copy.toml")
    assert at.Job.load(tmp_path / "copy.toml") == replace(
        job, description=replace(job.description, name=job.name)
    )


def test_a_place_far_away_survives_saving(tmp_path):
    job = loaded(tmp_path, changed('"-100 mm"', '"-50 m"'))
    job.save(tmp_path / "copy.toml")
    assert at.Job.load(tmp_path / "copy.toml").description.start == job.description.start


def test_a_job_is_named_after_its_file(tmp_path):
    assert loaded(tmp_path).name == "job"


def test_a_job_finds_the_robot_file_beside_it_from_wherever_it_is_run(tmp_path, monkeypatch):
    (tmp_path / "cell" / "arms").mkdir(parents=True)
    at.Robot.load("rx90b").save(tmp_path / "cell" / "arms" / "mine.toml")
    written(tmp_path / "cell", changed('"rx90b"', '"arms/mine.toml"'))
    monkeypatch.chdir(tmp_path)
    assert Path(at.Job.load("cell/job.toml").robot().origin) == Path("cell/arms/mine.toml")


def test_an_override_changes_the_robot_and_says_so_in_its_source(tmp_path):
    robot = loaded(
        tmp_path, JOB + '[override]\n"friction.wrist_a.viscous" = "2 N m s/rad"\n'
    ).robot()
    assert robot.description.friction[4].law.viscous == 2.0
    marked = [
        x.path for x in robot.provenance.of_kind("assumed") if x.text == "overridden by the job"
    ]
    assert marked == ["friction.wrist_a.viscous"]


def test_run_in_by_length_is_run_in_by_time_times_speed(tmp_path):
    """The ramped sine covers half of its time at full speed:
    0.25 s ramps are 12.5 mm, 0.35 s more are 35 mm.
    """
    by_time = loaded(
        tmp_path, JOB + '[process]\nafter_ramp = "0.35 s"\nbefore_ramp = "0.05 s"\n'
    ).process_on()
    by_length = loaded(
        tmp_path, JOB + '[process]\nrun_in = "47.5 mm"\nrun_out = "17.5 mm"\n'
    ).process_on()
    np.testing.assert_allclose(by_time, by_length, rtol=0, atol=1e-12)


def test_the_process_is_off_where_a_segment_says_so(tmp_path):
    text = changed('"100 mm", "0 mm"]\n', '"-50 mm", "0 mm"]\n')
    for goal, on in (("0 mm", "false"), ("100 mm", "true")):
        text += f'[[segment]]\nlin = ["0 mm", "{goal}", "0 mm"]\nprocess = {on}\n'
    on = loaded(tmp_path, text + '[process]\nrun_in = "10 mm"\nrun_out = "10 mm"\n').process_on()
    np.testing.assert_allclose(on, [(0.01, 0.05), (0.1, 0.19)], rtol=0, atol=1e-12)


# Robots that cannot be simulated


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """The bodies of the RX90B after a journey through a URDF file."""
    folder = tmp_path_factory.mktemp("urdf")
    bodies_only(at.Robot.load("rx90b")).to_urdf(folder / "bare.urdf")
    return at.Robot.load(folder / "bare.urdf")


def lacking(robot, job):
    with pytest.raises(at.FileError) as caught:
        at.predict(job, robot)
    return caught.value


def test_a_robot_without_drives_is_refused_with_all_that_is_missing(bare, tmp_path):
    error = lacking(bare, loaded(tmp_path, changed('tool = "laser_head"\n', "")))
    assert error.problems == (
        "cannot be predicted: servo.cascade: a servo controller is missing",
        (
            "cannot be predicted: friction: joint friction is missing; or choose model friction = "
            '"off"'
        ),
        (
            "cannot be predicted: motor: motors with rotor inertia, torque constant and current "
            "limit are missing"
        ),
    )


def test_a_robot_without_drives_does_not_lack_a_friction_that_is_switched_off(bare, tmp_path):
    text = changed('tool = "laser_head"\n', "") + '[model]\nfriction = "off"\n'
    assert not [x for x in lacking(bare, loaded(tmp_path, text)).problems if "friction" in x]


def test_a_robot_without_servo_in_place_of_the_jobs_is_refused_with_its_file_and_what_is_missing(
    tmp_path,
):
    incomplete(at.Robot.load("tx40")).save(tmp_path / "bare.toml")
    error = lacking(None, loaded(tmp_path).with_robot(str(tmp_path / "bare.toml"), ""))
    assert Path(error.origin).name == "bare.toml"
    assert "cannot be predicted: servo.cascade: a servo controller is missing" in error.problems
    assert any(
        "friction.presliding: a pre-sliding stiffness is missing for joint_1" in x
        for x in error.problems
    )
    assert any("motor.torque_constant: missing for motor_1" in x for x in error.problems)


def test_a_servo_that_the_robot_does_not_have_is_refused_with_those_it_has(tmp_path):
    told = refusal(written(tmp_path, JOB + '[model]\nservo = "pid"\n'))
    assert "servo.pid: a servo controller is missing (it has cascade, cs7b)" in told


# Process windows


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The prediction of the small job; windows judge it without running it again."""
    return at.predict(loaded(tmp_path_factory.mktemp("run")))


def outside(run, folder, window, power=""):
    """Where the run is outside a process window, and the verdict on it."""
    verdict = verdict_on(loaded(folder, JOB + window + power), run.path_error)
    return [(x.from_m, x.to_m, x.speed_m_s) for x in verdict.outside_window], verdict.within


def test_a_run_inside_of_its_window_is_within(run, tmp_path):
    assert outside(run, tmp_path, BAND) == ([], True)


def test_a_band_narrower_than_the_ripple_of_the_speed_is_left(run, tmp_path):
    """Friction that turns round makes the tool speed ripple by tenths of a millimetre per
    second.
    """
    spans, within = outside(run, tmp_path, 'window = { speed = ["99.999 mm/s", "100.001 mm/s"] }\n')
    assert spans
    assert all(abs(speed - 0.1) > 1e-6 for _, _, speed in spans)
    assert not within


def test_a_window_is_judged_only_where_the_process_is_on(run, tmp_path):
    [(start, stop)] = run.job.process_on()
    spans, _ = outside(run, tmp_path, 'window = { speed = ["200 mm/s", "210 mm/s"] }\n')
    lag = np.abs(run.path_error.lag).max()
    assert [x for a, b, _ in spans for x in (a, b)] == pytest.approx(
        [start, stop], abs=lag + 0.1 / 250
    )


def test_a_rectangle_of_speed_and_power_is_a_band_of_speeds(run, tmp_path):
    corners = [
        f'["{v} mm/s", "{p} W"]' for v, p in ((99.9, 100), (100.1, 100), (100.1, 200), (99.9, 200))
    ]
    polygon = f"window = {{ polygon = [{', '.join(corners)}] }}\n"
    band = 'window = { speed = ["99.9 mm/s", "100.1 mm/s"] }\n'
    by_polygon, by_band = (
        outside(run, tmp_path, polygon, '[process]\npower = "150 W"\n'),
        outside(run, tmp_path, band),
    )
    assert by_polygon == by_band
    assert by_band[0]


def test_a_power_beyond_the_window_leaves_it_everywhere(run, tmp_path):
    spans, within = outside(run, tmp_path, TRIANGLE, '[process]\npower = "250 W"\n')
    assert len(spans) == 1
    assert not within


def test_a_triangle_is_half_as_wide_at_half_its_height(rng):
    triangle = Window(polygon=((0.09, 100.0), (0.11, 100.0), (0.10, 200.0)))
    speed = rng.uniform(0.08, 0.12, 1000)
    np.testing.assert_array_equal(
        inside_window(triangle, speed, 150.0), np.abs(speed - 0.1) < 0.005
    )


def test_variants_of_a_job_share_one_robot_which_is_loaded_and_checked_once():
    job = at.Job.load("rx90b_line")
    assert job.with_speed("50 mm/s").robot() is job.robot()
    assert at.Job.load("rx90b_line").robot() is job.robot()


def test_variants_of_a_job_with_overrides_share_its_robot_and_other_overrides_make_another():
    job = at.Job.load("rx90b_line")
    changed = at.Job(replace(job.description, override={"friction.5.viscous": 2.0}))
    other = at.Job(replace(job.description, override={"friction.5.viscous": 3.0}))
    assert changed.with_speed("50 mm/s").robot() is changed.robot()
    levels = [x.robot().description.friction[4].law.viscous for x in (changed, other)]
    assert levels == [2.0, 3.0]


def test_a_job_with_a_given_robot_does_not_mistake_it_for_its_own(robots):
    job = at.Job.load("rx90b_line")
    own = job.robot()
    light = robots["rx90b"].with_parameters(0.9 * robots["rx90b"].parameters)
    assert np.array_equal(job.robot(light).parameters[:10], light.parameters[:10])
    assert job.robot() == own


def test_a_command_line_calls_a_shipped_job_by_its_name_and_others_by_their_file(tmp_path):
    shipped = at.Job.load("rx90b_line")
    assert shipped.argument == "rx90b_line"
    shipped.save(tmp_path / "rx90b_line.toml")
    assert at.Job.load(tmp_path / "rx90b_line.toml").argument == str(tmp_path / "rx90b_line.toml")


def test_the_shipped_job_of_a_program_is_the_path_of_that_program():
    """Its numbers were written by `armtwin job`; the program is read again here."""
    program = Path(__file__).parents[2] / "docs" / "programs" / "two_seams.src"
    robot = at.Robot.load("rx90b").with_tool("laser_head")
    read = at.Job.from_program(program, robot, tolerance="0.4 mm")
    shipped = at.Job.load("rx90b_program")
    assert shipped.seam.duration == pytest.approx(read.seam.duration, rel=1e-9)
    places = np.linspace(0, read.seam.length, 200)
    assert shipped.seam.path.at(places).p == pytest.approx(read.seam.path.at(places).p, abs=1e-12)
    for one, other in zip(shipped.description.segment, read.description.segment, strict=True):
        assert one.line == other.line
        R, R_read = one.orientation.rotation(), other.orientation.rotation()
        assert pytest.approx(R_read, abs=1e-12) == R
