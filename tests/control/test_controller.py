"""Servos as one equation: the loops' closed forms and limits, set-points between set-points."""

from dataclasses import replace

import numpy as np
import pytest

from armtwin.control import controller as control
from armtwin.control.controller import (
    INTEGRAL,
    KAFC,
    KAFV,
    SATURATED,
    controller,
    initial,
    position_loop,
    reference,
    velocity_loop,
)
from armtwin.maths.compiled import compiled
from armtwin.robot.schema.servo import CS7B, Cascade, Delays, Filter, Proportional, VelocityLaw

# The kernel in plain Python, which needs no compiler.
interpolate = getattr(control.interpolate, "py_func", control.interpolate)
SOURCE = "assumed: test"
RATE = 1000.0


def cascade(**gains):
    """A cascade for one drive, all of whose loops run at one rate."""
    return Cascade(RATE, RATE, RATE, SOURCE, **gains)


@compiled
def both_loops(gains, filters, h, state, memory, reading, wanted, speed, limit):
    position_loop(gains, state, 0, reading, wanted, h)
    return velocity_loop(gains, filters, state, memory, 0, speed, 1.0, limit, 0.0)


@compiled
def fed_forward(ref, k, within, ticks, period, late):
    return reference(ref, k, within, 0, ticks, period, late, 0)


def tick(c, state, memory, reading, wanted, speed=0.0, limit=np.inf):
    """Position and velocity loop of the only drive; returns its current for a constant of 1."""
    still = (*wanted, 0.0)  # nothing shifts the reference
    return both_loops(c.gains, c.filters, c.tick, state, memory, reading, still, speed, limit)


def at_rest(c):
    """State and memory of a drive that has long given nothing."""
    return initial(c, np.zeros(1), np.zeros(1), np.zeros(1))


def test_proportional_control_of_an_integrator_closes_its_error_geometrically():
    """x_k+1 = x_k + b i_k, i = g (1 - x): the error is (1 - b g)^k."""
    c = controller(Proportional(RATE, (40.0,), (1.0,), SOURCE), 1)
    state, memory = at_rest(c)
    x, errors = 0.0, []
    for _ in range(60):
        errors.append(1.0 - x)
        x += 0.005 * tick(c, state, memory, x, (1.0, 0.0, 0.0, 0.0))
    assert errors == pytest.approx(0.8 ** np.arange(60), abs=1e-14)


def test_a_cascade_on_an_inertia_follows_the_powers_of_its_matrix():
    """State (x, v, ∫e) under a step: the next is A times it plus a constant, so a matrix power."""
    kp, ki, kv, h, J = 4.0, 20.0, 0.09, 1 / RATE, 1e-3
    c = controller(cascade(kp=(kp,), ki=(ki,), kv=(kv,)), 1)
    state, memory = at_rest(c)
    to_integral = np.array([-h, 0.0, 1.0, h])  # ∫e counts the error of this tick
    torque = np.array([-kp, -kv, 0.0, kp]) + ki * to_integral
    step = np.eye(4)
    step[0] += [0, h, 0, 0] + h * h / (2 * J) * torque
    step[1] += h / J * torque
    step[2] = to_integral
    x = v = 0.0
    for k in range(1, 301):
        u = tick(c, state, memory, x, (1.0, 0.0, 0.0, 0.0), v)
        x, v = x + h * v + h * h / (2 * J) * u, v + h / J * u
        if k % 50 == 0:
            expected = np.linalg.matrix_power(step, k) @ [0, 0, 0, 1.0]
            assert [x, v, state[0, INTEGRAL]] == pytest.approx(expected[:3], abs=1e-11)


def test_the_integrator_stands_at_a_limit_and_turns_back_at_once():
    c = controller(cascade(kp=(1.0,), ki=(100.0,), kv=(0.0,)), 1)
    state, memory = at_rest(c)
    forward, back = (1.0, 0.0, 0.0, 0.0), (-0.01, 0.0, 0.0, 0.0)
    assert tick(c, state, memory, 0.0, forward, limit=0.5) == 0.5
    assert state[0, SATURATED] == 1.0
    before = state[0, INTEGRAL]
    for _ in range(100):
        assert tick(c, state, memory, 0.0, forward, limit=0.5) == 0.5
    assert state[0, INTEGRAL] == before
    tick(c, state, memory, 0.0, back, limit=0.5)
    assert state[0, INTEGRAL] < before


LOW_PASS, SECOND = Filter("low_pass", (80.0,)), Filter("low_pass_2", (150.0,), (0.6,))


@pytest.mark.parametrize("speed", [0.0, 2.5])
@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"input_filter": LOW_PASS, "feedback_filter": SECOND},
        {"output_filter": SECOND, "feedforward_filter": LOW_PASS},
    ],
)
def test_a_drive_that_has_long_given_a_torque_gives_it_on(filters, speed):
    """With k_vf = k_v a steady speed costs no torque: nothing starts with a transient."""
    gains = {"kp": (3.0,), "ki": (15.0,), "kv": (0.2,), "kvf": (0.2,), "kafc": (0.01,)}
    c = controller(cascade(**gains, **filters), 1)
    state, memory = initial(c, np.array([0.7]), np.array([speed]), np.array([4.0]))
    wanted = (0.0, speed, 4.0, 0.0)
    for _ in range(100):
        current = tick(c, state, memory, 0.0, wanted, speed)
        assert current == pytest.approx(0.7 + 0.01 * 4.0, abs=1e-12)


def test_a_velocity_law_is_a_cascade_with_its_gains_multiplied():
    law = controller(VelocityLaw(RATE, RATE, RATE, (30.0,), (0.4,), SOURCE), 1)
    same = controller(cascade(kp=(12.0,), kv=(0.4,), kvf=(0.4,)), 1)
    assert law.gains == pytest.approx(same.gains, abs=1e-15)
    assert (law.filters == same.filters).all()


def test_a_velocity_law_with_reset_has_no_steady_error_in_speed():
    """Under a constant load the PI loop of a small inertia brings the speed to its set-point."""
    law = VelocityLaw(RATE, RATE, RATE, (0.0,), (0.4,), SOURCE, kiv=(20.0,))
    c = controller(law, 1)
    state, memory = at_rest(c)
    v, load, J = 0.0, 0.3, 1e-2
    for _ in range(2000):
        u = tick(c, state, memory, 0.0, (0.0, 1.5, 0.0, 0.0), v)
        v += (u - load) / (RATE * J)
    assert v == pytest.approx(1.5, abs=1e-9)


def test_a_velocity_law_at_its_limit_does_not_wind_up():
    """After two seconds of a command out of reach it leaves its limit at once, as it is reached."""
    law = VelocityLaw(RATE, RATE, RATE, (0.0,), (0.4,), SOURCE, kiv=(20.0,))
    c = controller(law, 1)
    state, memory = at_rest(c)
    for _ in range(2000):
        assert tick(c, state, memory, 0.0, (0.0, 50.0, 0.0, 0.0), 0.0, limit=1.0) == 1.0
    assert tick(c, state, memory, 0.0, (0.0, 50.0, 0.0, 0.0), 50.5, limit=1.0) < 1.0


def test_a_cs7b_pushes_with_its_friction_compensation_in_the_sense_of_motion():
    servo = CS7B(
        position_rate=RATE,
        velocity_rate=RATE,
        source=SOURCE,
        kp=(1.0,),
        ki=(0.0,),
        kv=(0.0,),
        kaf=(0.0,),
        coulomb=(0.8,),
        viscous=(0.1,),
    )
    c = controller(servo, 1)
    for speed, torque in ((2.0, 1.0), (-2.0, -1.0), (0.0, 0.0)):
        state, memory = at_rest(c)
        current = tick(c, state, memory, 0.0, (0.0, speed, 0.0, 0.0))
        assert current == pytest.approx(torque, abs=1e-15)


def test_a_cs7b_that_compensates_its_velocity_feedback_leaves_friction_alone_at_a_steady_speed():
    """Without position error; without that compensation it would brake by kv v."""
    gains = {"kp": (1.0,), "ki": (0.0,), "kv": (0.2,), "kaf": (0.0,), "viscous": (0.1,)}
    servo = CS7B(position_rate=RATE, velocity_rate=RATE, source=SOURCE, **gains)
    for share, torque in ((1.0, 0.1 * 2.0), (0.0, (0.1 - 0.2) * 2.0)):
        c = controller(replace(servo, speed_feedforward=share), 1)
        state, memory = at_rest(c)
        current = tick(c, state, memory, 0.0, (0.0, 2.0, 0.0, 0.0), 2.0)
        assert current == pytest.approx(torque, abs=1e-15)


def test_acceleration_feed_forward_is_the_same_torque_through_either_door():
    """Into the velocity loop or to the current: without filters they add up alike."""
    wanted = (0.0, 0.0, 3.0, 0.0)
    currents = []
    for column, name in ((KAFV, "kafv"), (KAFC, "kafc")):
        c = controller(cascade(kp=(1.0,), kv=(0.1,), **{name: (0.5,)}), 1)
        assert c.gains[0, column] == 0.5
        state, memory = at_rest(c)
        currents.append(tick(c, state, memory, 0.0, wanted))
    assert currents == [1.5, 1.5]


PERIOD = 0.004


def setpoints(count=12):
    """Set-points (count, 5, 1) of x = t³ - t with torque 2 t and shift speed 3 t."""
    t = PERIOD * np.arange(count)
    return np.stack([t**3 - t, 3 * t**2 - 1, 6 * t, 2 * t, 3 * t], axis=1)[:, :, None]


def expected_at(t):
    return [t**3 - t, 3 * t**2 - 1, 6 * t, 2 * t, 3 * t]


@pytest.mark.parametrize("share", [0.0, 0.25, 0.7, 1.0])
def test_between_set_points_a_cubic_motion_is_met_with_its_derivatives(share):
    """An acceleration is a difference over the squared period, which costs five digits."""
    for k in (0, 5, 10):
        found = interpolate(setpoints(), k, 0, share, PERIOD)
        assert found == pytest.approx(expected_at(PERIOD * (k + share)), abs=1e-10)


def test_after_the_last_set_point_the_drive_is_told_to_stay_there():
    ref = setpoints()
    for k in (11, 12, 40):
        found = interpolate(ref, k, 0, 0.5, PERIOD)
        assert found == pytest.approx(ref[11, :, 0], abs=1e-15)


@pytest.mark.parametrize("late", [0.5, 2.0, 7.3])
def test_what_is_fed_forward_late_is_what_held_before(late):
    """Position is on time; speed, acceleration and torque are those of some ticks ago."""
    ticks, k, within = 4, 6, 3
    found = fed_forward(setpoints(), k, within, ticks, PERIOD, late)
    now = PERIOD * (k + within / ticks)
    before = now - late * PERIOD / ticks
    assert found == pytest.approx([expected_at(now)[0], *expected_at(before)[1:]], abs=1e-10)


def test_lateness_of_a_servo_is_counted_in_its_ticks():
    servo = cascade(kp=(1.0,), kv=(0.1,), delay=Delays(reference=(0.0025,)))
    assert controller(servo, 1).lateness == pytest.approx([2.5])
