import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.special import ellipj, ellipk, ellipkinc

from armtwin.elements.integration import integrate
from armtwin.elements.parts import Beam, ElementSpring, Hinge, Parts, Point, RigidBody, Triad, Truss
from armtwin.elements.structure import Structure
from armtwin.errors import ArmtwinError
from tests.elements.models import FIXED, UNSTRETCHED, beam_row, double_pendulum, point_mass, tube


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


def test_pendulum_from_level_is_level_again_after_half_its_elliptic_period():
    """T = 4 √(l/g) K(sin² 45°), and a quarter of it to the lowest point; h² of a step is 1e-5."""
    quarter = np.sqrt(1 / 9.81) * ellipk(0.5)
    angle = integrate(pendulum(), np.linspace(0, 2 * quarter, 401), np.zeros(1), damping=1.0).q
    assert abs(angle[200, 0] + np.pi / 2) < 1e-4
    assert abs(angle[400, 0] + np.pi) < 1e-7


def test_undamped_pendulum_keeps_its_energy():
    """½ v² + g sin q = 0 over four swings, to h² of the step and no trend."""
    t = np.linspace(0, 5, 1001)
    q = CubicSpline(t, integrate(pendulum(), t, np.zeros(1), damping=1.0).q[:, 0])
    energy = 0.5 * q(t, 1) ** 2 + 9.81 * np.sin(q(t))
    assert np.abs(energy[5:-5]).max() < 1e-4 * 9.81


def oscillator(m, c, k):
    """A mass on a damped spring along x."""
    ends = (Point("wall", (0, 0, 0), FIXED), Point("mass", (1, 0, 0), ("calculated", *FIXED[1:])))
    spring = Truss("spring", "wall", "mass", "free", ElementSpring(0.0, k, c))
    bodies = (point_mass("mass", "ground", m),)
    return Structure(Parts(ends, (Triad("ground", held=True),), (spring,), bodies))


@pytest.mark.parametrize("damping", [1.0, 0.9, 0.5])
def test_damped_oscillator_follows_its_closed_form_to_second_order(damping):
    """x = x0 e^(-dt) (cos wt + d/w sin wt); numerical damping does not take the order."""
    m, c, k, x0 = 2.0, 1.2, 80.0, 0.1
    d, w = c / (2 * m), np.sqrt(k / m - (c / (2 * m)) ** 2)

    def miss(count):
        t = np.linspace(0, 2, count + 1)
        exact = x0 * np.exp(-d * t) * (np.cos(w * t) + d / w * np.sin(w * t))
        motion = integrate(oscillator(m, c, k), t, np.array([x0]), damping=damping)
        return np.abs(motion.q[:, 0] - exact).max()

    assert 1.9 < np.log2(miss(200) / miss(400)) < 2.1


@pytest.mark.parametrize("damping", [0.9, 0.5, 0.2])
def test_what_is_far_too_fast_for_the_step_decays_with_the_spectral_radius(damping):
    """A triple root -ρ: x₃ + 3ρ x₂ + 3ρ² x₁ + ρ³ x₀ = 0, to (ωh)⁻² = 1e-4."""
    t = np.arange(12.0)
    x = integrate(oscillator(1.0, 0.0, 1e4), t, np.array([1e-5]), damping=damping).q[:, 0]
    weights = np.array([damping**3, 3 * damping**2, 3 * damping, 1.0])
    assert np.abs(np.convolve(x, weights[::-1], "valid")).max() < 1e-3 * np.abs(x).max()


def test_driven_rotor_turns_its_free_carrier_back_by_its_share_of_the_inertia():
    """From rest without outer torque, at all times: -I/(I + J), to h² of steps of 2.5 ms."""
    triads = (Triad("ground", held=True), Triad("carrier"), Triad("rotor"))
    z, rotor, carrier = (0.0, 0.0, 1.0), 0.3, 0.5
    hinges = (Hinge("free", "ground", "carrier", z), Hinge("drive", "carrier", "rotor", z))
    bodies = tuple(
        RigidBody("o", name, (0, 0, 0, 0, 1, 1, value, 0, 0, 0))
        for name, value in (("rotor", rotor), ("carrier", carrier))
    )
    pair = Structure(Parts((Point("o", (0, 0, 0), FIXED),), triads, hinges, bodies))
    t = np.linspace(0, 1, 401)
    drive = np.stack([1 - np.cos(3 * t), 3 * np.sin(3 * t), 9 * np.cos(3 * t)], axis=1)
    turned = integrate(pair, t, np.zeros(2), drives={"drive.twist": drive}).q
    assert np.abs(turned[:, 0] + rotor / (rotor + carrier) * drive[:, 0]).max() < 1e-5


def test_motion_with_too_long_steps_is_refused_with_its_time_and_step():
    sentence = r"could not be followed beyond t = 0 s with steps of 2 s; take shorter ones"
    with pytest.raises(ArmtwinError, match=sentence):
        integrate(pendulum(), np.arange(0.0, 10.0, 2.0), np.zeros(1))


# from any state


def hanging(angle):
    """Degree of freedom of the pendulum, level at 0, at an angle from hanging."""
    return angle - np.pi / 2


def free_swing(angle, speed, t):
    """Angle from hanging of φ'' = -g sin φ: sin(φ/2) = k sn(ω t + u₀, k²), k < 1."""
    w = np.sqrt(9.81)
    k = np.sqrt(np.sin(angle / 2) ** 2 + (speed / (2 * w)) ** 2)
    start = ellipkinc(np.arcsin(np.sin(angle / 2) / k), k**2)
    return 2 * np.arcsin(k * ellipj(w * t + start, k**2)[0])


@pytest.mark.parametrize(("angle", "speed"), [(1.2, 0.0), (0.0, 3.0), (0.8, 2.5), (-0.5, 4.0)])
def test_pushed_from_a_displaced_state_a_pendulum_swings_by_its_elliptic_function(angle, speed):
    """Both numbers of the state count; steps of 2 and 1 ms, led on to none by their order."""
    paths = []
    for count in (1001, 2001):
        t = np.linspace(0, 2, count)
        paths.append(integrate(pendulum(), t, [hanging(angle)], [speed], damping=1.0).q[:, 0])
    coarse, fine = paths[0], paths[1][::2]
    exact = hanging(free_swing(angle, speed, np.linspace(0, 2, 1001)))
    assert np.abs(fine - exact).max() < 1e-5
    assert np.abs((4 * fine - coarse) / 3 - exact).max() < 1e-9


def test_a_swing_from_a_displaced_state_keeps_its_energy():
    """½ v² - g cos φ over ten periods to 1e-6 of its range, without numerical damping."""
    t = np.linspace(0, 20, 20001)
    motion = integrate(pendulum(), t, [hanging(1.0)], [1.5], damping=1.0)
    energy = 0.5 * motion.v[:, 0] ** 2 + 9.81 * np.sin(motion.q[:, 0])
    assert np.ptp(energy) < 1e-6 * 9.81
    assert abs(energy[-1] - energy[0]) < 1e-6 * 9.81


def test_a_motion_goes_on_from_where_another_one_ended():
    """Two halves, the second from position and velocity of the first, against the whole."""
    pair = double_pendulum(2)
    t = np.linspace(0, 0.4, 801)
    whole = integrate(pair, t, np.zeros(pair.n))
    first = integrate(pair, t[:401], np.zeros(pair.n))
    second = integrate(pair, t[400:], first.q[-1], first.v[-1])
    moved = np.abs(whole.q).max()
    assert np.abs(second.q - whole.q[400:]).max() < 1e-3 * moved


def test_a_mass_on_a_spring_without_prescribed_rows_follows_its_closed_form():
    """A point that is free itself: nothing is calculated, and no deformation is prescribed."""
    ends = (Point("wall", (0, 0, 0), FIXED), Point("mass", (1, 0, 0), ("free", *FIXED[1:])))
    spring = Truss("spring", "wall", "mass", "calculated", ElementSpring(0.0, 80.0))
    parts = Parts(
        ends, (Triad("ground", held=True),), (spring,), (point_mass("mass", "ground", 2.0),)
    )
    t = np.linspace(0, 2, 2001)
    motion = integrate(Structure(parts), t, [1.1], [0.3], damping=1.0)
    w = np.sqrt(40.0)
    exact = 1 + 0.1 * np.cos(w * t) + 0.3 / w * np.sin(w * t)
    assert np.abs(motion.q[:, 0] - exact).max() < 5e-6


def test_a_motion_without_mass_is_refused():
    with pytest.raises(ArmtwinError, match="needs a mass along every degree of freedom"):
        integrate(pendulum().with_parts(bodies=()), np.linspace(0, 1, 11), np.zeros(1))
