"""From oil and teeth to friction parameters: the law equals the sum of the contact's forces."""

from dataclasses import replace

import numpy as np
import pytest

from armtwin.drives.friction.contact import (
    Contact,
    Teeth,
    film_height,
    gear_pair,
    lubrication_number,
    roller_bearing,
)
from armtwin.drives.friction.curves import split

OIL = Contact(2e-6, 4e10, 5e-6, 2e-7, 4e-7, 1.0, 0.6, 0.1, 4e-6)
TEETH = Teeth(0.02, np.radians(20), 0.3, np.radians(14), 100, 2)


@pytest.mark.parametrize("speed", [0.01, 0.3, 4.0])
def test_gear_pair_is_equation_3_39_times_lever_and_teeth(speed):
    law = gear_pair(OIL, TEETH)
    u = TEETH.lever * speed
    lever = TEETH.in_contact * TEETH.pitch_radius * np.cos(TEETH.pressure_angle)
    lever *= TEETH.joint_ratio  # from the wheel to the joint
    g, f = split(law, np.array([speed]))
    assert g[0] == pytest.approx(lever * OIL.asperity_friction(u), rel=1e-12)
    assert f[0] == pytest.approx(lever * OIL.newtonian_friction(u, TEETH.slip * u), rel=1e-12)


@pytest.mark.parametrize("speed", [0.01, 0.3, 4.0])
def test_a_gear_pair_costs_the_joint_the_power_that_it_costs_the_wheel(speed):
    """The same teeth with the law on the wheel itself, which turns 100 times as fast."""
    on_wheel = gear_pair(OIL, replace(TEETH, joint_ratio=1))
    on_joint = gear_pair(OIL, TEETH)
    wheel_speed = TEETH.joint_ratio * speed
    lost = sum(split(on_wheel, np.array([wheel_speed])))[0] * wheel_speed
    assert sum(split(on_joint, np.array([speed])))[0] * speed == pytest.approx(lost, rel=1e-12)


@pytest.mark.parametrize("speed", [0.01, 0.3, 4.0])
def test_roller_bearing_is_equation_3_42_times_radius_and_rollers(speed):
    radius, rollers, slip, limit, height = 0.05, 20, 0.01, 2e6, 3e-7
    law = roller_bearing(OIL, radius, rollers, slip, limit, height)
    g, f = split(law, np.array([speed]))
    assert g[0] == pytest.approx(
        radius * rollers * OIL.asperity_friction(radius * speed), rel=1e-12
    )
    sheared = OIL.stress_limited_friction(height, slip * radius * speed, limit)
    assert f[0] == pytest.approx(radius * rollers * sheared, rel=1e-12)


def test_appendix_a_expansions_meet_the_exact_speeds_to_second_order():
    """(A.7) against (A.6): halving the contact angle quarters what the straight lines miss."""
    R, alpha, n = TEETH.pitch_radius, TEETH.pressure_angle, TEETH.pair_ratio
    missed = []
    for angle in (0.02, 0.01):
        total, sliding = TEETH.speeds(1.0, angle)
        straight = (
            2 * R * np.sin(alpha) + R * angle * (1 - n) / np.cos(alpha),
            R * angle * (1 + n) / np.cos(alpha),
        )
        missed.append([abs(total - straight[0]), abs(sliding - straight[1])])
    assert missed[0][0] / missed[1][0] == pytest.approx(4, rel=0.05)
    assert missed[0][1] / missed[1][1] == pytest.approx(4, rel=0.05)
    assert TEETH.lever / TEETH.joint_ratio == pytest.approx(TEETH.speeds(1.0, 0.0)[0])


def test_equation_a_11_is_the_mean_slip_of_a_short_mesh():
    """Over small contact angles the mean |slip| of exact speeds is s0; not as the mesh grows."""
    gaps = []
    for largest in (0.02, 0.01):
        teeth = replace(TEETH, contact_angle=largest)
        speeds = [teeth.speeds(1.0, b) for b in np.linspace(-largest, largest, 2001)]
        gaps.append(abs(np.mean([abs(slide / total) for total, slide in speeds]) / teeth.slip - 1))
    assert gaps[0] < 2e-3
    assert gaps[1] < gaps[0]


def test_film_grows_with_speed_to_the_power_of_0_7():
    slow, fast = (film_height(0.01, 2e11, 0.1, 2e-8, 1e5, u) for u in (1.0, 2.0))
    assert fast / slow == pytest.approx(2**0.7)
    assert 1e-8 < slow < 1e-5  # oil films of gears are tenths of micrometres


def test_lubrication_number_has_no_unit_but_oil_over_pressure():
    assert lubrication_number(0.1, 2.0, 1e8, 1e-7) == pytest.approx(0.02)
