"""Valve and oil alone: exact spools, the flow table, and a cylinder as spring and leak."""

from dataclasses import replace

import numpy as np
import pytest

from armtwin.drives import hydraulics
from armtwin.drives.hydraulic_design import CylinderDesign, VaneDesign
from armtwin.drives.hydraulics import Circuit, Valve, pack_circuits, spool_response
from armtwin.maths.tracing import python_of

# The kernels in plain Python, which needs no compiler.
move_spools, cylinder = python_of(hydraulics.move_spools), python_of(hydraulics.cylinder)
no_load_speed, pressed = python_of(hydraulics.no_load_speed), python_of(hydraulics.advance_force)
FLOW = ((-0.05, -0.4), (-0.002, 0.0), (0.002, 0.0), (0.03, 0.3), (0.05, 0.35))
VALVE = Valve(frequency=300.0, damping=0.7, delay=0.0, current_limit=0.05, flow=FLOW)
TICK = 1e-3


def test_two_short_times_move_a_spool_as_one_long_one():
    """With a steady current the response is a group: R(s + t) = R(s) R(t)."""
    whole = np.eye(3)
    whole[:2] = spool_response(VALVE, 0.7e-3)
    first = np.eye(3)
    first[:2] = spool_response(VALVE, 0.2e-3)
    second = np.eye(3)
    second[:2] = spool_response(VALVE, 0.5e-3)
    assert np.abs(first @ second - whole).max() < 1e-12 * np.abs(whole).max()


def test_a_spool_under_a_step_overshoots_as_its_damping_says_and_comes_to_rest():
    """The peak of a second-order system is 1 + exp(-π ζ / √(1 - ζ²)) at π / (ω √(1 - ζ²))."""
    valves, Q = np.zeros((1, 2)), np.zeros(1)
    oil = pack_circuits([Circuit(VALVE, 1e-8, 0.0)], [0], [0], TICK / 10)
    places = []
    for _ in range(2000):
        move_spools(oil, np.array([0.01]), valves, Q)
        places.append(valves[0, 0])
    root = np.sqrt(1 - 0.7**2)
    assert max(places) / 0.01 == pytest.approx(1 + np.exp(-np.pi * 0.7 / root), abs=1e-4)
    assert (1 + np.argmax(places)) * TICK / 10 == pytest.approx(np.pi / (300 * root), abs=1e-4)
    assert valves[0] == pytest.approx([0.01, 0.0], abs=1e-12)


def test_the_flow_is_linear_between_its_points_and_held_outside(rng):
    oil = pack_circuits([Circuit(VALVE, 1e-8, 0.0)], [0], [0], TICK)
    currents, speeds = np.array(FLOW).T
    for x in rng.uniform(-0.08, 0.08, 100):
        expected = np.interp(x, currents, speeds)
        assert no_load_speed(oil.flow, 0, x) == pytest.approx(expected, abs=1e-15)


def test_the_opening_lets_the_wanted_speed_pass_and_lies_in_the_middle_of_the_lap():
    oil = Circuit(VALVE, 1e-8, 1e-6).oil
    for speed in (-0.3, 0.1, 0.32):
        opening = oil.opening(speed / oil.leakage)
        assert np.interp(opening, *np.array(FLOW).T) == pytest.approx(speed, abs=1e-12)
    assert oil.opening(0.0) == pytest.approx(0.0, abs=1e-15)


def test_closed_in_oil_is_a_spring_of_one_over_its_compliance():
    """Without flow and leak a stroke x pushes back with x / compliance, in any number of steps."""
    F = 0.0
    for _ in range(10):
        F = pressed(2e-8, 0.0, F, 0.0, 0.03, TICK)
    assert pytest.approx(-0.03 * 10 * TICK / 2e-8, rel=1e-12) == F


def test_a_held_piston_loses_its_force_through_the_leak():
    """F falls as exp(-t leakage / compliance); a step of h errs by (h / T)² / 12 of it."""
    compliance, leakage, F = 2e-8, 1e-6, 100.0
    time_constant = compliance / leakage
    steps = 40
    for _ in range(steps):
        F = pressed(compliance, leakage, F, 0.0, 0.0, TICK)
    assert pytest.approx(100 * np.exp(-steps * TICK / time_constant), rel=1e-3) == F


def test_the_torque_of_a_step_is_half_way_to_its_end_and_falls_with_speed_by_its_slope():
    numbers = (2e-8, 1e-7, 50.0, 0.2)
    torque, slope = cylinder(*numbers, 0.1, TICK)
    end = pressed(*numbers, 0.1, TICK)
    assert -torque == pytest.approx(0.5 * (50.0 + end), rel=1e-12)
    faster, _ = cylinder(*numbers, 0.1 + 1e-3, TICK)
    assert (faster - torque) / 1e-3 == pytest.approx(slope, rel=1e-9)


CYLINDER = CylinderDesign(
    area=2e-4,
    return_area=1.4e-4,
    volume=2e-5,
    return_volume=1.5e-5,
    bulk_modulus=7e8,
    density=870.0,
    supply=7e6,
    discharge=0.6,
    gradient=1e-5,
    opening=0.1,
)


def chambers(design, current, speed):
    """Pressures of both chambers at a steady speed: flow through the valve's two edges.

    Plain orifice equations, found apart from the design's closed formulas.
    """
    per_area = design.discharge * design.gradient * abs(current) * np.sqrt(2 / design.density)
    forward, backward = design.area * abs(speed), design.return_area * abs(speed)
    if current > 0:
        return design.supply - (forward / per_area) ** 2, (backward / per_area) ** 2
    return (forward / per_area) ** 2, design.supply - (backward / per_area) ** 2


@pytest.mark.parametrize("current", [0.1, -0.1])
def test_a_designed_cylinder_at_its_no_load_speed_pushes_nothing(current):
    currents, speeds = np.array(CYLINDER.flow(0.3)).T
    speed = np.interp(current, currents, speeds)
    first, second = chambers(CYLINDER, current, speed)
    force = CYLINDER.area * first - CYLINDER.return_area * second
    assert abs(force) < 1e-9 * CYLINDER.area * CYLINDER.supply


@pytest.mark.parametrize("opening", [0.1, -0.1])
def test_the_leakage_of_a_designed_cylinder_is_the_slope_of_speed_with_force(opening):
    """At its opening, extending and retracting, by a difference of the orifice equations."""
    design = replace(CYLINDER, opening=opening)
    speed = design.speed_per_current[opening > 0] * opening
    forces = []
    for share in (1 - 1e-5, 1 + 1e-5):
        first, second = chambers(design, opening, share * speed)
        forces.append(design.area * first - design.return_area * second)
    slope = -2e-5 * speed / (forces[1] - forces[0])
    assert design.leakage == pytest.approx(slope, rel=1e-6)


def test_retracting_leaks_more_by_the_root_of_the_areas_ratio():
    """a = 0.7: |Q₁| is √a times as large at a head that is a times as large."""
    leakages = [replace(CYLINDER, opening=opening).leakage for opening in (-0.1, 0.1)]
    assert leakages[0] / leakages[1] == pytest.approx(1 / np.sqrt(0.7), rel=1e-12)


def test_the_compliance_of_a_designed_cylinder_is_that_of_two_shut_chambers():
    """dp = -β dV / V on both sides of a piston that moves by a micrometre."""
    move = 1e-6
    rise = CYLINDER.bulk_modulus * CYLINDER.area * move / CYLINDER.volume
    fall = CYLINDER.bulk_modulus * CYLINDER.return_area * move / CYLINDER.return_volume
    force = CYLINDER.area * rise + CYLINDER.return_area * fall
    assert CYLINDER.compliance == pytest.approx(move / force, rel=1e-12)


def test_a_cylinder_of_equal_sides_and_a_vane_motor_have_the_same_oil():
    """A vane of displacement D is a cylinder of area D: V/2 on each side, and alike both ways."""
    shared = {"bulk_modulus": 7e8, "density": 870.0, "supply": 7e6, "discharge": 0.6}
    shared |= {"gradient": 1e-5, "opening": 0.05, "leak": 1e-13}
    vane = VaneDesign(displacement=3e-5, volume=4e-5, **shared)
    cylinder = CylinderDesign(3e-5, 3e-5, 2e-5, 2e-5, **shared)
    assert cylinder.compliance == pytest.approx(vane.compliance, rel=1e-12)
    assert cylinder.leakage == pytest.approx(vane.leakage, rel=1e-12)
    assert cylinder.speed_per_current == pytest.approx([vane.speed_per_current] * 2, rel=1e-12)


def test_a_circuit_takes_from_its_design_what_is_not_given():
    designed = Circuit(replace(VALVE, flow=()), design=CYLINDER)
    assert designed.oil.compliance == CYLINDER.compliance
    assert designed.oil.flow.tolist() == [list(point) for point in CYLINDER.flow(0.05)]
    assert Circuit(VALVE, compliance=1e-8, design=CYLINDER).oil.compliance == 1e-8
