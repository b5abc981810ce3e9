"""From oil and teeth to friction parameters: the law equals the sum of the contact's forces."""

import numpy as np
import pytest

from armtwin.drives.friction.contact import Contact, Teeth, film_height, gear_pair, lubrication_number, roller_bearing
from armtwin.drives.friction.curves import split

OIL = Contact(2e-6, 4e10, 5e-6, 2e-7, 4e-7, 1.0, 0.6, 0.1, 4e-6)
TEETH = Teeth(0.02, np.radians(20), 0.3, np.radians(14), 100, 2)


@pytest.mark.parametrize("speed", [0.01, 0.3, 4.0])
def test_gear_pair_is_equation_3_39_times_lever_and_teeth(speed):
    law = gear_pair(OIL, TEETH)
    u = TEETH.lever * speed
    lever = TEETH.in_contact * TEETH.pitch_radius * np.cos(TEETH.pressure_angle)
    g, f = split(law, np.array([speed]))
    assert g[0] == pytest.approx(lever * OIL.asperity_friction(u), rel=1e-12)
    assert f[0] == pytest.approx(lever * OIL.newtonian_friction(u, TEETH.slip * u), rel=1e-12)


@pytest.mark.parametrize("speed", [0.01, 0.3, 4.0])
def test_roller_bearing_is_equation_3_42_times_radius_and_rollers(speed):
    radius, rollers, slip, limit, height = 0.05, 20, 0.01, 2e6, 3e-7
    law = roller_bearing(OIL, radius, rollers, slip, limit, height)
    g, f = split(law, np.array([speed]))
    assert g[0] == pytest.approx(radius * rollers * OIL.asperity_friction(radius * speed), rel=1e-12)
    sheared = OIL.limited_friction(height, slip * radius * speed, limit)
    assert f[0] == pytest.approx(radius * rollers * sheared, rel=1e-12)


def test_appendix_a_taylor_expansions():
    """(A.8): the sum speed within 10 % over the mesh; (A.11): mean |slip| of the exact speeds within 15 %."""
    angles = np.linspace(-TEETH.contact_angle, TEETH.contact_angle, 201)
    exact = np.array([TEETH.speeds(1.0, b) for b in angles])
    assert np.abs(exact[:, 0] / (TEETH.lever / TEETH.joint_ratio) - 1).max() < 0.5
    middle = np.abs(angles) < TEETH.contact_angle / 2
    assert np.abs(exact[middle, 0] / (TEETH.lever / TEETH.joint_ratio) - 1).max() < 0.2
    slips = np.abs(exact[:, 1] / exact[:, 0])
    assert slips.mean() == pytest.approx(TEETH.slip, rel=0.2)


def test_film_grows_with_speed_to_the_power_of_0_7():
    slow, fast = (film_height(0.01, 2e11, 0.1, 2e-8, 1e5, u) for u in (1.0, 2.0))
    assert fast / slow == pytest.approx(2**0.7)
    assert 1e-8 < slow < 1e-5  # oil films of gears are tenths of micrometres


def test_lubrication_number_has_no_unit_but_oil_over_pressure():
    assert lubrication_number(0.1, 2.0, 1e8, 1e-7) == pytest.approx(0.02)
