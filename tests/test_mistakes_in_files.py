"""A mistake in a file is named where a reader meets it, and a right file is not suspected."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import armtwin as at
from armtwin.app.commands import app
from armtwin.files.writing import to_toml
from armtwin.prediction.job_check import JobCheck
from tests.conftest import SHIPPED
from tests.mistakes_in_files import (
    JOB_CASES,
    ROBOT_CASES,
    SHARED_URDFS,
    job_tables,
    multiplied,
    read_urdf,
    robot_tables,
    scale,
    times,
    walk,
)

SHARED = Path(__file__).parents[2] / "shared" / "data"
MOST_SILENT = 0.1  # of all mistakes


def say_of_robot(path):
    """What a user reads of a robot file: why it is refused, else what it is cautioned of."""
    try:
        return " ".join(at.Robot.load(path).cautions)
    except at.ArmtwinError as error:
        return str(error)


def say_of_job(path):
    """What a user reads of a job file."""
    try:
        job = at.Job.load(path)
        check = JobCheck(job)
        job.robot()
        check.sections()
        return " ".join(check.cautions)
    except at.ArmtwinError as error:
        return str(error)


def judge(case, said):
    if case.silent:
        assert "?" not in said, said  # nothing else may be suspected in its place
    for word in case.words:
        assert word in said


@pytest.mark.parametrize("case", ROBOT_CASES, ids=str)
def test_a_mistake_in_a_robot_file_is_named(case, tmp_path):
    if case.of in SHARED_URDFS:
        source = SHARED / SHARED_URDFS[case.of]
        if not source.is_file():
            pytest.skip("the shared measurement data are not on this machine")
        tree = read_urdf(source)
        case.spoil(tree.getroot())
        path = tmp_path / "robot.urdf"
        tree.write(path)
    else:
        tables = robot_tables(case.of)
        case.spoil(tables)
        path = tmp_path / "robot.toml"
        path.write_text(to_toml(tables), encoding="utf-8")
    judge(case, say_of_robot(path))


@pytest.mark.parametrize("case", JOB_CASES, ids=str)
def test_a_mistake_in_a_job_is_named(case, tmp_path):
    tables = job_tables(case.of)
    case.spoil(tables)
    points = tables.pop("seam.csv", None)
    if points is not None:
        (tmp_path / "seam.csv").write_text(points, encoding="utf-8")
    path = tmp_path / "job.toml"
    path.write_text(to_toml(tables), encoding="utf-8")
    judge(case, say_of_job(path))


def test_few_mistakes_cannot_be_seen_in_a_file():
    cases = [*ROBOT_CASES, *JOB_CASES]
    silent = [case for case in cases if case.silent]
    assert len(cases) >= 120
    assert len(silent) <= MOST_SILENT * len(cases)


def test_every_shipped_job_and_its_robot_pass_without_a_caution():
    for name in at.jobs():
        assert JobCheck(at.Job.load(name)).cautions == ()


def test_every_shipped_robot_passes_without_a_caution():
    for name in at.robots():
        assert at.Robot.load(name).cautions == ()


def test_every_shared_urdf_passes_without_a_caution(shared_data):
    for path in shared_data.glob("*/*.urdf"):
        assert at.Robot.load(path, allow_unphysical=True).cautions == (), path


@pytest.mark.parametrize("name", SHIPPED)
def test_a_prior_that_is_off_by_a_third_is_not_suspected(name, rng, tmp_path):
    """Masses, inertias, friction and rotors of a CAD file, each off by its own 30 %."""

    def off():
        return float(np.exp(rng.normal(0.0, 0.3)))

    for trial in range(4):
        tables = robot_tables(name)
        for key in ("motor.*.rotor_inertia", "friction.*.level", "transmission.*.stiffness"):
            for table, last in walk(tables, key):
                table[last] *= off()
        for table, _ in walk(tables, "link.*.body.mass"):
            factor = off()
            for key in ("mass", "first_moment", "inertia"):
                if key in table:
                    table[key] = multiplied(table[key], factor)
            if "inertia" in table and table["inertia"].get("about", "com") == "com":
                table["inertia"] = multiplied(table["inertia"], off())
        path = tmp_path / f"{trial}.toml"
        path.write_text(to_toml(tables), encoding="utf-8")
        assert say_of_robot(path) == ""


INVENTED = {"1 kg": (1.0, 0.01), "all ones": (1.0, 1.0), "tiny": (0.1, 1e-6), "5 kg": (5.0, 0.1)}


@pytest.mark.parametrize("numbers", INVENTED.values(), ids=INVENTED)
@pytest.mark.parametrize("name", SHIPPED)
def test_invented_masses_are_not_suspected(name, numbers, tmp_path):
    mass, inertia = numbers
    tables = robot_tables(name)
    for link in tables["link"]:
        if "body" in link:
            link["body"] = {"mass": mass, "inertia": dict.fromkeys(("xx", "yy", "zz"), inertia)}
    path = tmp_path / "robot.toml"
    path.write_text(to_toml(tables), encoding="utf-8")
    assert say_of_robot(path) == ""


def test_arms_of_any_size_are_not_suspected(tmp_path):
    """An arm scaled in length by f has masses by f³ and inertias by f⁵: 0.2 m to 5 m."""
    for factor in (0.15, 0.3, 0.6, 1.5, 3.0):
        tables = {key: robot_tables("rx90b")[key] for key in ("format", "name", "joint", "link")}
        scale(length=factor, centre=factor, mass=factor**3, inertia=factor**5)(tables)
        for joint in tables["joint"]:
            joint.pop("limits", None)
        path = tmp_path / "robot.toml"
        path.write_text(to_toml(tables), encoding="utf-8")
        assert say_of_robot(path) == "", factor


def test_a_whole_table_in_another_unit_is_one_sentence(tmp_path):
    rows = ["a,alpha,d,theta", *["0.1,90,0.2,-90"] * 6]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    with pytest.raises(at.ArmtwinError) as error:
        at.Robot.from_dh(path)
    lines = str(error.value).splitlines()
    assert len(lines) == 3  # how many, alpha, theta
    assert "5 more like this" in lines[1]


def test_a_table_may_have_units_in_its_header(tmp_path):
    plain = "a,alpha,d,theta\n0.45,1.5707963267948966,0.42,0\n0,0,0.085,0"
    marked = "a [mm],alpha [deg],d [mm],theta [deg]\n450,90,420,0\n0,0,85,0"
    robots = []
    for text in (plain, marked):
        path = tmp_path / "table.csv"
        path.write_text(text, encoding="utf-8")
        robots.append(at.Robot.from_dh(path))
    q = [0.3, -0.4]
    poses = [robot.forward_kinematics(q, "flange") for robot in robots]
    assert np.allclose(*poses, atol=1e-12)


@pytest.mark.parametrize(("unit", "word"), [("mm", "in mm"), ("cm", "in cm")])
def test_lengths_of_a_table_in_another_unit_are_named(unit, word, tmp_path):
    factor = {"mm": 1e3, "cm": 1e2}[unit]
    table = ((0, 1.57, 0.42), (0.45, 0, 0), (0.05, -1.57, 0.45), (0, 0, 0.1))
    rows = [f"{x * factor},{y},{d * factor},0" for x, y, d in table]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["a,alpha,d,theta", *rows]), encoding="utf-8")
    with pytest.raises(at.ArmtwinError, match=word):
        at.Robot.from_dh(path)


def test_a_robot_that_is_refused_may_be_kept_as_it_is(tmp_path):
    """A crane is longer than every arm: who knows better says so."""
    tables = {key: robot_tables("rx90b")[key] for key in ("format", "name", "joint", "link")}
    scale(length=20.0)(tables)
    path = tmp_path / "crane.toml"
    path.write_text(to_toml(tables), encoding="utf-8")
    with pytest.raises(at.ArmtwinError, match="lengths"):
        at.Robot.load(path)
    assert "lengths" in " ".join(at.Robot.load(path, allow_unphysical=True).cautions)


def spoilt(tmp_path, spoil):
    tables = robot_tables("tx40")
    spoil(tables)
    path = tmp_path / "robot.toml"
    path.write_text(to_toml(tables), encoding="utf-8")
    return path


@pytest.mark.parametrize("command", ["check", "complete"])
def test_what_is_odd_is_said_and_ends_by_exit_code_1(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    turned = times(0.0174533, "joint.*.limits.lower", "joint.*.limits.upper")
    done = CliRunner().invoke(app, [command, str(spoilt(tmp_path, turned))])
    assert done.exit_code == 1
    assert "turned into radians twice?" in " ".join(done.output.split())


@pytest.mark.parametrize("command", ["check", "complete", "identify"])
def test_what_no_arm_can_be_is_refused_and_nothing_is_written(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = spoilt(tmp_path, scale(length=1e3))
    more = ["log.csv"] if command == "identify" else []
    done = CliRunner().invoke(app, [command, str(path), *more])
    assert isinstance(done.exception, at.ArmtwinError)
    assert "Are the lengths in mm?" in str(done.exception)
    assert [x.name for x in tmp_path.iterdir()] == ["robot.toml"]


def test_a_caution_stands_beside_a_job_and_ends_check_by_exit_code_1(tmp_path):
    tables = job_tables("rx90b_line")
    tables["speed"] = "0.1 mm/s"
    path = tmp_path / "job.toml"
    path.write_text(to_toml(tables), encoding="utf-8")
    done = CliRunner().invoke(app, ["check", str(path)])
    assert done.exit_code == 1
    assert "Is it in m/s, but read in mm/s?" in " ".join(done.output.split())


def test_the_tables_of_a_shipped_robot_read_back(tmp_path):
    """What mistakes are put into is right."""
    for name in SHIPPED:
        path = tmp_path / f"{name}.toml"
        path.write_text(to_toml(robot_tables(name)), encoding="utf-8")
        assert at.Robot.load(path) == at.Robot.load(name)
        assert tomllib.loads(path.read_text(encoding="utf-8"))["name"] == name
