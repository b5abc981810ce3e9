import numpy as np

from armtwin.elements.integration import integrate
from armtwin.elements.parts import Beam, Hinge, Parts, Point, Triad
from armtwin.elements.structure import Structure
from tests.elements.models import (
    FIXED,
    UNSTRETCHED,
    beam_row,
    double_pendulum,
    point_mass,
    tube,
)


def pendulum():
    points = (Point("pivot", (0.0, 0.0, 0.0), FIXED), Point("bob", (1.0, 0.0, 0.0)))
    triads = (Triad("ground", held=True), Triad("rod"), Triad("end"))
    elements = (
        Hinge("pivot", "ground", "rod", (0.0, 0.0, 1.0)),
        Beam("rod_beam", ("pivot", "bob"), ("rod", "end")),
    )
    bodies = (point_mass("bob", "end", 1.0),)
    return Structure(Parts(points, triads, elements, bodies, (), (0.0, -9.81, 0.0)))


def fall_error(h):
    """Height lost against speed gained, ½ v² = g Δh, after 0.4 s of fall from level."""
    t = np.arange(0, 0.4 + h / 2, h)
    angle = integrate(pendulum(), t, np.zeros(1), damping=1.0).q[:, 0]
    fine = np.linspace(0, 0.4, 4001)
    exact = _runge_kutta(fine)
    return abs(angle[-1] - exact)


def _runge_kutta(t):
    """Angle of q'' = -g cos q at the end, by the classical method."""
    y = np.zeros(2)
    h = t[1] - t[0]

    def rate(y):
        return np.array([y[1], -9.81 * np.cos(y[0])])

    for _ in t[1:]:
        k1 = rate(y)
        k2 = rate(y + h / 2 * k1)
        k3 = rate(y + h / 2 * k2)
        k4 = rate(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y[0]


def test_integration_is_of_second_order():
    slope = np.log2(fall_error(0.02) / fall_error(0.01))
    assert 1.9 < slope < 2.1


def test_spin_up_bends_the_beam_by_its_published_peak():
    """Kane's beam, 6 rad/s in 15 s: -0.5739 m at 6.76 s by 16 cable elements; two of ours -0.5729.

    Half of the run, with steps of 20 ms: they change the peak by 0.2 mm.
    """
    section = tube(EI=1.4e4, EA=2.8e7, GJ=1e4, mass=1.2, polar=6e-4)
    row = beam_row(2, section, 10.0, modes=UNSTRETCHED, drive=(0.0, 0.0, 1.0))
    T, W = 15.0, 6.0
    t = np.arange(0, 7.5, 0.02)
    angle = W / T * (t * t / 2 + (T / 2 / np.pi) ** 2 * (np.cos(2 * np.pi * t / T) - 1))
    v = W / T * (t - T / 2 / np.pi * np.sin(2 * np.pi * t / T))
    a = W / T * (1 - np.cos(2 * np.pi * t / T))
    drives = {"drive.twist": np.stack([angle, v, a], axis=1)}
    motion = integrate(row, t, np.zeros(row.n), drives=drives)
    x = motion.position("p2")
    across = -np.sin(angle) * x[:, 0] + np.cos(angle) * x[:, 1]
    at = int(np.argmin(across))
    assert abs(across[at] + 0.5729) < 5e-4
    assert abs(t[at] - 6.76) < 0.03


def test_flexible_double_pendulum_falls_as_by_sixteen_cable_elements():
    """From level, the tip after 0.5 s; two elements a link and steps of 5 ms leave half a mm."""
    row = double_pendulum(2)
    t = np.linspace(0, 0.5, 101)
    tip = integrate(row, t, np.zeros(row.n)).position("p4")[-1, :2]
    assert np.linalg.norm(tip - [1.40887, -1.29592]) < 5e-4
