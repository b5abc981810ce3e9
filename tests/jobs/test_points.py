"""Points of a seam from a file:
the same seam as written in the job, whatever the units and the convention of angles.
"""

import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import armtwin as at
from armtwin.jobs.from_points import read_points
from armtwin.motion.joint_motion import joint_motion
from armtwin.motion.posture import start_posture
from tests.jobs.examples import JOB, POINTS, changed

PLACES = np.array([[0.0, -0.1, 0.0], [0.02, -0.03, 0.01], [0.01, 0.04, 0.0], [0.0, 0.1, -0.01]])
FLAT = 'mode = "follow"\ntool = { rpy = ["180 deg", "0 deg", "90 deg"] }'
GIVEN = changed(FLAT, 'mode = "given"', POINTS)


@pytest.fixture
def turns(rng):
    """Orientations of a tool that looks down and tilts by some tenths of a radian."""
    return Rotation.from_euler("x", np.pi) * Rotation.from_rotvec(rng.uniform(-0.3, 0.3, (4, 3)))


def table(header, *columns):
    """Text of a CSV file; numbers are exact."""
    return (
        "\n".join(
            [header, *(",".join(map(repr, row)) for row in np.column_stack(columns).tolist())]
        )
        + "\n"
    )


def angles(convention, turns, degrees=False):
    """The columns of a convention by another road than the reader's:
    scipy's Euler angles and quaternions.
    """
    if convention == "quaternion":
        return turns.as_quat(scalar_first=True)
    zyx = turns.as_euler("ZYX", degrees=degrees)
    return zyx if convention == "abc" else zyx[:, ::-1]


HEADS = {"rpy": "x,y,z,roll,pitch,yaw", "abc": "x,y,z,a,b,c", "quaternion": "x,y,z,qw,qx,qy,qz"}
DEGREES = {"rpy": "x,y,z,roll [deg],pitch [deg],yaw [deg]", "abc": "x,y,z,a [deg],b [deg],c [deg]"}


def job(folder, text, points):
    (folder / "seam.csv").write_text(points, encoding="utf-8")
    (folder / "job.toml").write_text(text, encoding="utf-8")
    return at.Job.load(folder / "job.toml")


def test_a_points_file_is_the_same_seam_as_the_points_written_as_a_spline(tmp_path):
    spline = "spline = " + repr(PLACES[1:].tolist())
    by_hand = job(tmp_path, changed('lin = ["0 mm", "100 mm", "0 mm"]', spline), "").seam
    by_file = job(tmp_path, POINTS, table("x [mm],y [mm],z [mm]", 1e3 * PLACES)).seam
    s = np.linspace(0, by_hand.length, 50)
    # millimetres to metres round in the last digit
    assert by_file.length == pytest.approx(by_hand.length, abs=1e-14)
    np.testing.assert_allclose(by_file.at(s)[0].p, by_hand.at(s)[0].p, rtol=0, atol=1e-14)
    np.testing.assert_allclose(by_file.at(s)[1].R, by_hand.at(s)[1].R, rtol=0, atol=1e-12)


def test_a_points_file_says_where_the_seam_starts(tmp_path):
    seam = job(tmp_path, changed("start =", "# start =", POINTS), table("x,y,z", PLACES)).seam
    np.testing.assert_allclose(
        seam.at(np.zeros(1))[0].p[0], PLACES[0] + np.array([0.45, 0, 0.1]), rtol=0, atol=1e-15
    )


def test_a_points_file_is_looked_for_beside_the_job(tmp_path, monkeypatch):
    (tmp_path / "cell").mkdir()
    job(tmp_path / "cell", POINTS, table("x,y,z", PLACES))
    monkeypatch.chdir(tmp_path)
    np.testing.assert_array_equal(at.Job.load("cell/job.toml").points[0].p, PLACES)


def test_points_that_go_on_elsewhere_are_refused_with_the_gap(tmp_path):
    with pytest.raises(at.FileError) as caught:
        job(tmp_path, POINTS, table("x,y,z", PLACES + np.array([0, 0.01, 0]))).seam  # noqa: B018
    sentence = (
        "segment 'seam': the first point of seam.csv must be where the segment begins, "
        "but it is 10 mm away"
    )
    assert caught.value.problems == (sentence,)


@pytest.mark.parametrize("convention", HEADS)
def test_a_convention_of_angles_is_what_scipy_makes_of_it(convention, turns, tmp_path):
    """rpy turns about the fixed x, y, z; abc about z, the new y and the new x;
    quaternions have the real part first.
    """
    (tmp_path / "p.csv").write_text(table(HEADS[convention], PLACES, angles(convention, turns)))
    np.testing.assert_allclose(
        read_points(tmp_path / "p.csv", convention).R, turns.as_matrix(), rtol=0, atol=1e-14
    )


@pytest.mark.parametrize("convention", ["abc", "quaternion"])
def test_the_seam_does_not_know_the_convention_of_its_angles(convention, turns, tmp_path):
    def seam(convention):
        points = table(HEADS[convention], PLACES, angles(convention, turns))
        return job(tmp_path, GIVEN + f'angles = "{convention}"\n', points).seam

    one, other = seam("rpy"), seam(convention)
    s = np.linspace(0, one.length, 50)
    np.testing.assert_allclose(one.at(s)[1].R, other.at(s)[1].R, rtol=0, atol=1e-12)


@pytest.mark.parametrize("convention", DEGREES)
def test_degrees_in_the_header_are_radians_without_it(convention, turns, tmp_path):
    (tmp_path / "deg.csv").write_text(
        table(DEGREES[convention], PLACES, angles(convention, turns, degrees=True))
    )
    (tmp_path / "rad.csv").write_text(table(HEADS[convention], PLACES, angles(convention, turns)))
    one, other = (read_points(tmp_path / name, convention).R for name in ("deg.csv", "rad.csv"))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-14)


def test_the_tool_is_turned_as_given_at_every_point_of_the_file(turns, tmp_path):
    points = table(HEADS["abc"], PLACES, angles("abc", turns))
    seam = job(tmp_path, GIVEN + 'angles = "abc"\n', points).seam
    marks = np.array([0.0, *seam.path.marks[0]])
    np.testing.assert_allclose(seam.at(marks)[1].R, turns.as_matrix(), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffx,y,z\n0,0,0\n0.1,0.2,0.3\n",
        "z , X,y\n0,0,0\n0.3,0.1,0.2\n",
        "x,y,z\n\n0,0,0\n\n0.1,0.2,0.3\n\n",
        'x,y,z\r\n0,0,0\r\n"0.1",0.2,0.3\r\n',
        "x [mm],y [ mm ],z[m]\n0,0,0\n100,200,0.3\n",
        "x;y;z\n0;0;0\n0,1;0,2;0,3\n",
        "x;y;z\n0;0;0\n0.1;0.2;0.3\n",
        "x [µm];y [in];z [m]\n0;0;0\n1e5;7,874015748031496;0,3\n",
    ],
    ids=[
        "byte order mark",
        "order and case of columns",
        "empty lines",
        "quotes and Windows lines",
        "unit of each column",
        "semicolons and decimal commas",
        "semicolons and decimal points",
        "micrometres and inches",
    ],
)
def test_what_a_spreadsheet_writes_is_read(text, tmp_path):
    (tmp_path / "p.csv").write_bytes(text.encode())
    np.testing.assert_allclose(
        read_points(tmp_path / "p.csv", None).p, [[0, 0, 0], [0.1, 0.2, 0.3]], rtol=1e-15
    )


ABC = "x [mm],y [mm],z [mm],a [deg],b [deg],c [deg]\n0,-100,0,0,0,180\n0,100,0,0,0,180\n"
REFUSED = {
    "empty cell": ("x,y,z\n0,0,0\n0,,0\n", None, "line 3: y must be a number, got ''"),
    "missing cell": (
        "x,y,z\n0,0,0\n0,0.1\n",
        None,
        "line 3: must have 3 values as the header, got 2",
    ),
    "cell too many": (
        "x,y,z\n0,0,0\n0,0.1,0,0\n",
        None,
        "line 3: must have 3 values as the header, got 4",
    ),
    "no number": (
        "x,y,z\n0,0,0\n0,nan,0\n",
        None,
        "line 3: y must be a finite number in m, got nan",
    ),
    "endless number": (
        "x,y,z\n0,0,0\n0,-inf,0\n",
        None,
        "line 3: y must be a finite number in m, got -inf",
    ),
    "text": ("x,y,z\n0,0,0\n0,far,0\n", None, "line 3: y must be a number, got 'far'"),
    "millimetres without a unit": (
        "x,y,z\n0,-100,0\n0,100,0\n",
        None,
        "line 2: y as a bare number must be at most 20 m, got -100. Did you mean '-100 mm'?",
    ),
    "length in kilograms": (
        "x [kg],y,z\n0,0,0\n1,0,0\n",
        None,
        "x must be in m or a unit of that kind, got '0.0 kg'",
    ),
    "missing column": ("x,y\n0,0\n0,0.1\n", None, "line 1: column z is missing, got x, y"),
    "tabs": (
        "x\ty\tz\n0\t0\t0\n0\t0.1\t0\n",
        None,
        "; values must be separated by commas or semicolons",
    ),
    "comma as separator and decimal comma": (
        "x,y,z\n0,0,0\n0,0,1,0\n",
        None,
        "line 3: must have 3 values as the header, got 4; values must be separated by semicolons",
    ),
    "decimal comma in quotes": (
        'x,y,z\n0,0,0\n0,"0,1",0\n',
        None,
        "line 3: y must be a number, got '0,1'; values must be separated by semicolons",
    ),
    "decimal comma and decimal point": (
        "x;y;z\n0;0;0\n0,5;1.000;0\n",
        None,
        "line 3: y must be a number, got '1.000'; the other numbers of the file have",
    ),
    "commas of thousands": (
        "x [mm];y [mm];z [mm]\n0;0;0\n0;1,000,000;0\n",
        None,
        "line 3: y must be a number, got '1,000,000'",
    ),
    "one point": ("x,y,z\n0,0,0\n", None, "needs a header and at least two points, got 1 point"),
    "empty file": ("", None, "needs a header and at least two points, got 0 points"),
    "same point twice": (
        "x,y,z\n0,0,0\n0,0.1,0\n0,0.1,0\n",
        None,
        "line 4: the point is the same as the one before",
    ),
    "angles without a convention": (
        ABC,
        None,
        'has the angles a, b, c: state their convention, angles = "abc"',
    ),
    "angles of another convention": (
        ABC,
        "rpy",
        "line 1: column roll is missing, got x [mm], y [mm], z [mm], a [deg]",
    ),
    "degrees without a unit": (
        ABC.replace(" [deg]", ""),
        "abc",
        "line 2: c as a bare number must be at most 6.3 rad, got 180. Did you mean '180 deg'?",
    ),
    "angle in millimetres": (
        ABC.replace("[deg]", "[mm]"),
        "abc",
        "line 2: a must be in rad or a unit of that kind, got '0.0 mm'",
    ),
    "quaternion of length two": (
        "x,y,z,qw,qx,qy,qz\n0,0,0,1,0,0,0\n0,0.1,0,2,0,0,0\n",
        "quaternion",
        "line 3: the quaternion must have length 1",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_points_file_is_refused_with_its_name_and_line(name, tmp_path):
    text, convention, sentence = REFUSED[name]
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(at.FileError) as caught:
        read_points(tmp_path / "p.csv", convention)
    assert str(caught.value).startswith(f"{tmp_path / 'p.csv'}: ")
    [problem] = caught.value.problems
    assert sentence in problem


@pytest.mark.parametrize("word", ["nan", "inf"])
def test_what_is_no_number_is_told_the_same_with_a_unit_in_the_header(word, tmp_path):
    (tmp_path / "p.csv").write_text(f"x [mm],y [mm],z [mm]\n0,0,0\n0,{word},0\n")
    with pytest.raises(at.FileError, match="line 3: y must be a finite number"):
        read_points(tmp_path / "p.csv", None)


def test_a_column_that_stands_twice_is_refused(tmp_path):
    (tmp_path / "p.csv").write_text("x,y,z,x\n0,0,0,5\n0,0.1,0,5\n")
    with pytest.raises(at.FileError, match="x"):
        read_points(tmp_path / "p.csv", None)


def test_angles_of_which_one_is_missing_are_refused(tmp_path):
    (tmp_path / "p.csv").write_text("x,y,z,roll,pitch\n0,0,0,0,0\n0,0.1,0,0,0\n")
    with pytest.raises(at.FileError, match="yaw"):
        read_points(tmp_path / "p.csv", None)


def test_angles_of_a_file_are_refused_where_the_tool_follows_the_seam(turns, tmp_path):
    points = table(HEADS["abc"], PLACES, angles("abc", turns))
    with pytest.raises(at.FileError, match="angles"):
        job(tmp_path, POINTS + 'angles = "abc"\n', points).seam  # noqa: B018


def test_given_orientations_without_any_are_refused(tmp_path):
    with pytest.raises(
        at.FileError, match=r"orientations are given at points, but not at the start"
    ):
        job(tmp_path, GIVEN, table("x,y,z", PLACES)).seam  # noqa: B018


def test_a_hole_in_the_points_of_a_job_is_told_with_their_file_and_line(tmp_path):
    with pytest.raises(at.FileError) as caught:
        job(tmp_path, POINTS, "x,y,z\n0,0,0\n0,,0\n").seam  # noqa: B018
    assert str(caught.value) == f"{tmp_path / 'seam.csv'}: line 3: y must be a number, got ''"


def test_the_small_job_and_its_points_are_one_line(tmp_path):
    line = job(tmp_path, JOB, "").seam
    points = job(tmp_path, POINTS, "x [mm],y [mm],z [mm]\n0,-100,0\n0,0,0\n0,100,0\n").seam
    s = np.linspace(0, 0.2, 9)
    np.testing.assert_allclose(points.at(s)[0].p, line.at(s)[0].p, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    "header",
    ["x" + " " * 5000 + "y", "x [" + " " * 5000 + "mm", " " * 200_000, "x [" * 50_000],
    ids=range(4),
)
def test_a_header_of_spaces_is_answered_at_once(header, tmp_path):
    (tmp_path / "p.csv").write_text(f"{header},y,z\n0,0,0\n1,0,0\n")
    begin = time.process_time()
    with pytest.raises(at.FileError):
        read_points(tmp_path / "p.csv", None)
    assert time.process_time() - begin < 0.5


@pytest.mark.parametrize("word", ["1e300", "-1e300", "1e12"])
@pytest.mark.parametrize("unit", ["", " [mm]"])
def test_a_place_that_no_robot_reaches_is_refused_without_a_warning(word, unit, tmp_path):
    (tmp_path / "p.csv").write_text(f"x{unit},y{unit},z{unit}\n0,0,0\n0,{word},0\n")
    with pytest.raises(at.FileError, match="line 3: y must be at most"):
        read_points(tmp_path / "p.csv", None)


def test_more_points_than_a_seam_may_have_are_refused(tmp_path):
    (tmp_path / "p.csv").write_text("x,y,z\n" + "".join(f"0,0,{i}\n" for i in range(200_001)))
    with pytest.raises(at.FileError, match="must have at most 200000 points, got 200001"):
        read_points(tmp_path / "p.csv", None)


@pytest.mark.parametrize("angles", [False, True])
def test_a_hundred_thousand_points_are_planned_in_five_seconds(angles, tmp_path):
    """From the file to the motion of the joints;
    the CPU time of one run, with kernels compiled before.
    """
    u = np.linspace(0, 1, 100_000)
    places = 1e3 * np.column_stack([0.02 * np.sin(6 * u), 0.2 * u - 0.1, 0.005 * np.sin(9 * u)])
    turned = np.column_stack([180 + 0 * u, 5 * np.sin(3 * u), 90 + 3 * u])
    head, columns = (
        ("x [mm],y [mm],z [mm]", [places])
        if not angles
        else (DEGREES["rpy"], [1e-3 * places, turned])
    )
    text = GIVEN + 'angles = "rpy"\n' if angles else POINTS
    robot = at.Robot.load("rx90b").with_tool("laser_head")
    planned(robot, job(tmp_path, POINTS, table("x,y,z", PLACES)).seam)
    long = job(tmp_path, text, table(head, *columns))
    begin = time.process_time()
    motion = planned(robot, long.seam)
    assert time.process_time() - begin < 5
    assert np.isfinite(motion.trajectory.q).all()
    assert long.seam.path.marks[0].shape == (99_999,)


def test_points_ten_micrometres_apart_are_run_once_their_rounding_is_smoothed(tmp_path):
    """In steps of 1 µm the curve bends by tenths of a radian from point to point, for which no arm
    has the torque; smoothed, it is run as the curve through exact points 2 mm apart.
    """
    u = np.linspace(0, 1, 20_001)
    exact = 1e3 * np.column_stack([0.02 * np.sin(3 * u), 0.2 * u - 0.1, 0.005 * np.sin(4 * u)])
    robot = at.Robot.load("rx90b").with_tool("laser_head")
    coarse = job(tmp_path, POINTS, table("x [mm],y [mm],z [mm]", exact[::200]))
    expected = np.abs(planned(robot, coarse.seam).trajectory.v)
    rounded = table("x [mm],y [mm],z [mm]", exact.round(3))
    with pytest.raises(at.FileError, match=r"joint_1 would need .* N m"):
        at.predict(job(tmp_path, POINTS, rounded))
    text = changed('points = "seam.csv"', 'points = "seam.csv"\nsmooth = "2 um"', POINTS)
    smooth = job(tmp_path, text, rounded)
    moved = 1e3 * smooth.points[0].p - exact.round(3)
    assert np.linalg.norm(moved, axis=1).max() <= 2e-3
    assert np.abs(moved[[0, -1]]).max() < 1e-12
    prediction = at.predict(smooth)
    found = np.abs(prediction.motion.trajectory.v).max(axis=0)
    np.testing.assert_allclose(found, expected.max(axis=0), rtol=0.1)
    assert any("moved by up to 0.00" in text for text in prediction.cautions)


def planned(robot, seam):
    return joint_motion(robot, seam, 250.0, start_posture(robot, seam, None))
