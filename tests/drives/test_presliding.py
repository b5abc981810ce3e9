"""Bristles: steady sliding, pre-sliding, hysteresis; tables against the laws they stand for."""

import numpy as np
import pytest

from armtwin.drives.friction.coulomb import Coulomb, Stribeck
from armtwin.drives.friction.curves import FIRST, FLOOR, OCTAVES, look_up, scale_of, split, tabulate
from armtwin.drives.friction.lubricated import GearedJoint
from armtwin.drives.friction.presliding import advance_bristle, bristle, bristle_damping
from armtwin.maths.bits import coarse_numbers
from armtwin.maths.compiled import compiled
from tests.conftest import relative

JOINT_1 = GearedJoint(8.109, 0.0249, 0.5, 28.9698, 0.3338)  # RX90B, table 3.1 x 318 N m
LARGEST = 12.4
H = 2.5e-4


@compiled
def looked_up(table, scale, w, out):
    for i in range(w.shape[0]):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = look_up(table, 0, 0, scale, w[i])


@compiled
def driven(table, scale, c0, c1, w, z, h, out):
    """Friction torque of a bristle along a history of speeds."""
    for i in range(w.shape[0]):
        out[i], _ = bristle(table, 0, scale, 1.0, c0, c1, w[i], z, h)
        z = advance_bristle(table, 0, scale, 1.0, c0, w[i], z, h)
    return z


def packed(law):
    table = tabulate(law, LARGEST)
    return np.stack([table, table])[None], scale_of(LARGEST)


@pytest.mark.parametrize(
    "law", [JOINT_1, Stribeck(2, 5, 0.1, 1.0, 3), Stribeck(2, 5, 0.1, 2.0, 3), Coulomb(4)]
)
def test_tables_are_the_law(law):
    """Above the speed where viscous friction is made linear, g and f to 1e-6 of the torque."""
    table, scale = packed(law)
    w = np.geomspace(0.02, LARGEST, 400)
    out = np.empty((400, 4))
    looked_up(table, scale, w, out)
    g, f = split(law, w)
    assert (
        relative(out[:, 0], np.maximum(g, FLOOR * g.max() / 0.4)) < 1e-6
    )  # the floor keeps bristles bending
    assert relative(out[:, 2], f) < 1e-6
    h = 1e-6 * w
    slopes = [(b - a) / (2 * h) for a, b in zip(split(law, w - h), split(law, w + h), strict=True)]
    assert relative(w * out[:, 1], w * slopes[0]) < 1e-4
    assert relative(out[:, 3], slopes[1]) < 1e-3


def test_steady_sliding_equals_the_static_curve():
    table, scale = packed(JOINT_1)
    for w in (0.003, 0.05, 0.7, 3.0, -0.4):
        out = np.empty(4000)
        driven(table, scale, 1e5, 10.0, np.full(4000, w), 0.0, H, out)
        law = float(JOINT_1.columns(np.array(w)) @ [JOINT_1.asperity, JOINT_1.viscous])
        assert out[-1] == pytest.approx(law, rel=2e-4 if abs(w) < 0.01 else 1e-5)


def test_slow_presliding_follows_equation_3_78():
    """T = T_a (1 - exp(-q c0 / T_a)) from rest, at a speed where oil and drop do not count."""
    level, c0 = 8.109, 1e5
    table, scale = packed(Coulomb(level))
    w, h = 1e-6, 0.05
    q = w * h * (np.arange(8000) + 0.5)  # the torque of a step is its mean
    out = np.empty(len(q))
    driven(table, scale, c0, 0.0, np.full(len(q), w), 0.0, h, out)
    assert relative(out, level * (1 - np.exp(-q * c0 / level))) < 1e-5


def test_the_hysteresis_loop_of_figure_3_15_closes_and_dissipates():
    """A small sine of displacement: after the first turn the loop repeats; its area is a loss."""
    table, scale = packed(JOINT_1)
    c0, amplitude, steps = 1e5, 6e-5, 4000
    cycles = 10
    t = np.arange(cycles * steps) / steps
    q = amplitude * np.sin(2 * np.pi * t)
    h = 10.0 / steps
    w = 2 * np.pi * amplitude * np.cos(2 * np.pi * (t + 0.5 / steps)) / 10.0
    out = np.empty(len(t))
    driven(table, scale, c0, 0.0, w, 0.0, h, out)
    before, last = out[-2 * steps : -steps], out[-steps:]
    assert relative(last, before) < 1e-9  # the first turn is forgotten by e^-3 in each cycle
    loss = np.sum(last * w[-steps:]) * h
    assert 0.05 * 4 * amplitude * 8.109 < loss < 4 * amplitude * 8.109
    assert np.abs(q).max() == pytest.approx(amplitude, rel=1e-6)


@pytest.mark.parametrize("exponent", [0.5, 0.7, 1.0, 1.5, 2.0])
def test_no_exponent_gives_nan(exponent):
    for law in (Stribeck(2, 5, 1e-3, exponent, 0.3), GearedJoint(5, 1e-3, exponent, 2, 0.5)):
        table, scale = packed(law)
        w = np.concatenate(
            [np.zeros(5), np.geomspace(1e-12, 12, 200), [0.0], -np.geomspace(1e-12, 50, 200)]
        )
        out = np.empty(len(w))
        z = driven(table, scale, 1e7, 100.0, w, 0.0, H, out)
        assert np.isfinite(out).all()
        assert np.isfinite(z)


def test_relative_damping_is_equation_3_79():
    """ζ = c1 / (2 J ω), ω = √(c0/J)."""
    c0, J, zeta = 4e4, 2.5, 0.1
    c1 = bristle_damping(c0, zeta, J)
    assert c1 / (2 * J * np.sqrt(c0 / J)) == pytest.approx(zeta)


@pytest.mark.parametrize("name", ["rx90b", "lwa4p", "kr300", "tx40"])
def test_tabulated_dry_friction_stays_above_zero_between_its_nodes(robots, name):
    """Also where a law's friction vanishes at rest: a negative g would push the bristles."""
    nodes = coarse_numbers(FIRST, OCTAVES)
    share = np.linspace(0, 1, 50, endpoint=False)
    y = nodes[:-1, None] + np.diff(nodes)[:, None] * share
    for element in robots[name].description.friction:
        table, scale = packed(element.law)
        out = np.empty((y.size, 4))
        looked_up(table, scale, (y.ravel() - FIRST) / scale, out)
        assert out[:, 0].min() > 0


@pytest.mark.parametrize("law", [JOINT_1, Stribeck(2, 5, 0.1, 2.0, 3)])
def test_tables_have_no_step_at_their_nodes_and_go_on_straight_beyond_the_last(law):
    """On both sides of a node, 1e-9 of it apart, values and slopes differ by no more than that."""
    table, scale = packed(law)
    inner = (coarse_numbers(FIRST, OCTAVES)[1:] - FIRST) / scale
    left, right = np.empty((2, len(inner), 4))
    looked_up(table, scale, inner * (1 - 1e-9), left)
    looked_up(table, scale, inner * (1 + 1e-9), right)
    for k, size in ((0, 1.0), (1, inner), (2, 1.0), (3, inner)):
        assert relative(size * left[:, k], size * right[:, k]) < 1e-7
    last = inner[-1]
    beyond = np.empty((2, 4))
    looked_up(table, scale, np.array([last, 5 * last]), beyond)
    assert beyond[1, 2] == pytest.approx(beyond[0, 2] + 4 * last * beyond[0, 3], rel=1e-12)
