"""Temperature: the viscosity law in kelvin, and a joint that warms as document 004 describes."""

import numpy as np
import pytest

import armtwin as at
from armtwin.drives.friction.coulomb import CoulombViscous
from armtwin.drives.friction.curves import at_viscosity
from armtwin.drives.friction.lubricated import RollerBearing
from armtwin.drives.temperature import viscosity_factor
from armtwin.logs.warm_up import warm_up_state
from armtwin.robot.schema.drive_groups import Thermal
from tests.drives.warming import warm_up

OIL = Thermal(reference=313.15, viscosity=4000.0, ambient=293.15, capacity=500.0, loss=0.8)


def test_equation_3_66_in_kelvin():
    assert viscosity_factor(OIL, 313.15) == 1
    assert viscosity_factor(OIL, 293.15) == pytest.approx(np.exp(4000 / 293.15 - 4000 / 313.15))
    assert viscosity_factor(None, 293.15) == viscosity_factor(OIL, None) == 1


def test_only_newtonian_friction_scales():
    warm = at_viscosity(CoulombViscous(3.0, 5.0), 0.5)
    assert (warm.level, warm.viscous) == (3.0, 2.5)
    bearing = RollerBearing(1, 0.1, 0.5, 2, 0.9)
    assert at_viscosity(bearing, 0.5) == bearing


def test_mean_torque_of_a_repeated_motion_decays_exponentially():
    """About 10 % from cold to warm, with the joint's time constant, as fig. 3 of document 004."""
    law, period = CoulombViscous(4.5, 12.0), 4.0
    speeds = 0.6 * np.cos(np.linspace(0, 2 * np.pi, 200, endpoint=False))
    run = warm_up(law, OIL, speeds, period, 2000)
    torque = run.mean_torque
    assert np.all(np.diff(torque) < 0)
    assert 0.03 < 1 - torque[-1] / torque[0] < 0.3
    # the excess over the final value falls by e in about capacity / loss, less what cooler oil
    # heats more
    excess = torque[:600] - torque[-1]
    rate = -np.polyfit(run.time[:600], np.log(excess), 1)[0]
    assert 1 / rate == pytest.approx(500 / 0.8, rel=0.35)
    straight = np.polyval(np.polyfit(run.time[:600], np.log(excess), 1), run.time[:600])
    assert np.abs(np.log(excess) - straight).max() < 0.1


def test_the_warm_up_criterion_reads_a_log():
    period, cycles = 4.0, 300
    t = np.arange(0, period * cycles, 0.1)
    level = 8 + 0.9 * np.exp(-t / 200)
    tau = (level * np.sign(np.cos(2 * np.pi * t / period)))[:, None]
    state = warm_up_state(at.Log.of(t, tau=tau), period, limit=1e-3)
    # relative change of a cycle 0.9/8 e^(-t/200) 4/200 falls to 1e-3 at t = 200 ln(2.25)
    assert state.warm_at[0] == pytest.approx(200 * np.log(0.9 / 8 * period / 200 / 1e-3), abs=8)
    never = warm_up_state(at.Log.of(t, tau=tau), period, limit=1e-9)
    assert np.isnan(never.warm_at[0])
    with pytest.raises(at.ArmtwinError, match="at least two whole cycles"):
        warm_up_state(at.Log.of(t[:50], tau=tau[:50]), period)
