"""A payload in controllers' words is the same body: computed by hand, and put together again."""

import re

import numpy as np
import pytest

from armtwin.identification.payload.result import in_words_of_controllers
from armtwin.maths.rotations import to_quaternion

# two balls of 3 and 1 kg, each a sphere of 0.004 kg m² about its own centre, at these places [m]
PLACES = np.array([[0.02, -0.01, 0.10], [0.10, 0.07, 0.22]])
MASSES = np.array([3.0, 1.0])
# by hand: centre = (0.06 + 0.10, -0.03 + 0.07, 0.30 + 0.22) / 4, and about it, with the reduced
# mass 3 * 1 / 4 and the distance d = (0.08, 0.08, 0.12): J = 0.75 (d·d 1 - d dᵀ) + 0.008
CENTRE = [0.04, 0.01, 0.13]
DIAGONAL = [0.75 * 0.0208 + 0.008, 0.75 * 0.0208 + 0.008, 0.75 * 0.0128 + 0.008]
PRODUCTS = [-0.75 * 0.0064, -0.75 * 0.0096, -0.75 * 0.0096]  # xy, xz, yz
# d·d = 0.0272: about the line of the balls 0.008, across it 0.75 * 0.0272 + 0.008
MOMENTS = [0.0284, 0.0284, 0.008]


@pytest.fixture(scope="module")
def words():
    six = np.zeros((3, 3))
    for mass, p in zip(MASSES, PLACES, strict=True):
        six += mass * (p @ p * np.eye(3) - np.outer(p, p)) + 0.004 * np.eye(3)
    about_flange = [six[0, 0], six[1, 1], six[2, 2], six[0, 1], six[0, 2], six[1, 2]]
    ten = np.array([4.0, *(MASSES @ PLACES), *about_flange])
    return {one.controller: one.text for one in in_words_of_controllers(ten)}


def numbers(text):
    return [float(word) for word in re.findall(r"(?<![A-Za-z0-9_])-?\d+\.\d+", text)]


def rotation(sequence, angles):
    """Rotations about axes of the moving frame, one after another."""
    R = np.eye(3)
    for axis, angle in zip(sequence, angles, strict=True):
        k = "xyz".index(axis)
        i, j = (k + 1) % 3, (k + 2) % 3
        one = np.eye(3)
        one[i, i] = one[j, j] = np.cos(angle)
        one[i, j], one[j, i] = -np.sin(angle), np.sin(angle)
        R = R @ one
    return R


def matrix():
    J = np.diag(DIAGONAL)
    for (i, j), value in zip(((0, 1), (0, 2), (1, 2)), PRODUCTS, strict=True):
        J[i, j] = J[j, i] = value
    return J


def test_universal_robots_get_the_matrix_about_the_centre(words):
    assert words["URScript"].startswith("set_target_payload(4.0000, [0.04000,0.01000,0.13000], [")
    assert numbers(words["URScript"])[4:] == pytest.approx([*DIAGONAL, *PRODUCTS], abs=1e-6)


def test_kuka_gets_principal_axes_by_a_b_c(words):
    """A about z, B about the new y, C about the new x."""
    mass, x, y, z, A, B, C, *moments = numbers(words["KRL"])
    assert words["KRL"].startswith("LOAD_DATA[1]={M 4.0000,CM {X 40.000,Y 10.000,Z 130.000,A ")
    R = rotation("zyx", np.radians([A, B, C]))
    assert sorted(moments) == pytest.approx(sorted(MOMENTS), abs=1e-6)
    assert R @ np.diag(moments) @ R.T == pytest.approx(matrix(), abs=2e-6)
    assert (mass, x, y, z) == (4.0, 40.0, 10.0, 130.0)


def test_abb_gets_principal_axes_as_a_unit_quaternion(words):
    mass, x, y, z, w, i, j, k, *moments = numbers(words["RAPID"])
    assert words["RAPID"].startswith("PERS loaddata load1:=[4.0000,[40.000,10.000,130.000],[")
    assert w * w + i * i + j * j + k * k == pytest.approx(1, abs=1e-6)
    angle = 2 * np.arccos(w)
    a = np.array([i, j, k]) / np.sin(angle / 2)
    cross = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    R = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross  # Rodrigues
    assert R @ np.diag(moments) @ R.T == pytest.approx(matrix(), abs=2e-6)
    assert (mass, x, y, z) == (4.0, 40.0, 10.0, 130.0)


def test_fanuc_gets_centimetres_and_technical_units(words):
    """1 kgf cm s² is 9.80665 N times 0.01 m s²."""
    mass, *centre, ix, iy, iz = numbers(words["Fanuc payload schedule"])
    assert (mass, *centre) == (4.0, *(100 * np.array(CENTRE)).round(9))
    assert [ix, iy, iz] == pytest.approx(np.array(DIAGONAL) / (9.80665 * 0.01), abs=1e-4)


def test_a_quaternion_turns_as_its_rotation_also_by_half_a_turn():
    for angles in ([0.3, -0.4, 0.5], [np.pi, 0, 0], [0, np.pi, 0], [0, 0, np.pi], [0, 0, 0]):
        R = rotation("xyz", angles)
        w, *v = to_quaternion(R)
        u = np.array([0.3, -0.7, 0.2])
        turned = u + 2 * np.cross(v, np.cross(v, u) + w * u)
        assert turned == pytest.approx(R @ u, abs=1e-12)
