"""Denavit-Hartenberg tables as input, against robots whose joints are written out."""

import numpy as np
import pytest

import armtwin as at
from armtwin.maths.rotations import about, pose
from armtwin.robot.formats.reading import describe
from tests.robot.test_epaas import START

EPAAS = """a, alpha, d, theta
0, 90 deg, 0, 0
0.31, 0, 0, 0
0.249, 0, 0, 0
0, -90 deg, 0, 0
0, 180 deg, 0, 0
"""
# Table 1 of document 004.
LWA4P = """a, alpha, d, theta
0, 90 deg, 0, 0
0.350, 180 deg, 0, 90 deg
0, 90 deg, 0, 90 deg
0, -90 deg, 0.305, 0
0, 90 deg, 0, 0
0, 0, 0, 0
"""


@pytest.fixture
def table(tmp_path):
    def write(text, convention="standard"):
        path = tmp_path / "table.csv"
        path.write_text(text)
        return at.Robot.from_dh(path, convention)

    return write


def test_the_table_of_document_003_gives_the_shipped_epaas(table, robots, rng):
    q = START + rng.normal(size=(20, 5))
    shipped = robots["epaas"].forward_kinematics(q, "flange")
    assert np.abs(table(EPAAS).forward_kinematics(q, "flange") - shipped).max() < 1e-15


def test_table_1_of_document_004_gives_the_shipped_lwa4p_up_to_its_flange(table, robots, rng):
    """The shipped flange is 85 mm beyond the last frame of the table, half a turn about its z."""
    q = rng.normal(size=(20, 6))
    shipped = robots["lwa4p"].forward_kinematics(q, "flange")
    shift = pose(np.diag([-1.0, -1.0, 1.0]), (0, 0, 0.085))
    assert np.abs(table(LWA4P).forward_kinematics(q, "flange") @ shift - shipped).max() < 1e-12


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_frames_are_the_products_of_the_tables_own_matrices(table, convention, rng):
    """Offsets and a prismatic joint; the convention is the order of the four motions."""
    rows = np.column_stack([rng.normal(size=(4, 4)), [0, 1, 0, 0]])
    lines = ["a,alpha,d,theta,type"]
    for a, alpha, d, theta, slides in rows:
        kind = "prismatic" if slides else "revolute"
        lines.append(f"{float(a)!r},{float(alpha)!r},{float(d)!r},{float(theta)!r},{kind}")
    robot = table("\n".join(lines), convention)
    q = rng.normal(size=4)
    X = np.eye(4)
    for (a, alpha, d, theta, slides), x in zip(rows, q, strict=True):
        along_x = pose(about((1, 0, 0), alpha), (a, 0, 0))
        turn, shift = (theta, d + x) if slides else (theta + x, d)
        along_z = pose(about((0, 0, 1), turn), (0, 0, shift))
        X = X @ (along_z @ along_x if convention == "standard" else along_x @ along_z)
    assert np.abs(robot.forward_kinematics(q, "flange") - X).max() < 1e-14


def test_bodies_are_given_in_the_tables_link_frames(rng):
    """A bar of length l: its centre at -l/2 of its own end, its weight as of a pendulum."""
    source = "assumed: test"
    bar = {"mass": 2.0, "com": [-0.2, 0, 0], "inertia": {"xx": 1e-3, "yy": 0.027, "zz": 0.0266}}
    tables = {
        "name": "bar",
        "denavit_hartenberg": {"row": [{"a": 0.4, "alpha": "90 deg"}], "source": source},
        "link": [{"name": "link_1", "body": bar, "source": source}],
        "gravity": [-9.81, 0.0, 0.0],
    }
    robot = at.Robot(describe(tables, "bar"))
    angle = rng.uniform(-3, 3, (10, 1))
    weight = 2.0 * 9.81 * 0.2
    assert np.abs(robot.gravity(angle) + weight * np.sin(angle)).max() < 1e-14


def test_a_saved_table_is_the_same_robot(table, tmp_path, rng):
    robot = table(EPAAS)
    robot.save(tmp_path / "saved.toml")
    q = rng.normal(size=(5, 5))
    again = at.Robot.load(tmp_path / "saved.toml")
    assert np.array_equal(again.forward_kinematics(q), robot.forward_kinematics(q))


def test_a_table_with_a_wrong_key_or_no_rows_is_refused(table):
    with pytest.raises(at.ArmtwinError, match=r"row\.1\.alfa is not a key"):
        table("a, alfa\n0.1, 0.2\n")
    with pytest.raises(at.ArmtwinError, match="line 3: must have 2 values, got 1"):
        table("a, d\n0.1, 0.2\n0.1\n")
    with pytest.raises(at.ArmtwinError, match="a header and a row for each joint"):
        table("a, d\n")
    with pytest.raises(at.ArmtwinError, match="Did you mean '90 deg'"):
        table("a, alpha\n0.1, 90\n")
