"""The circle test: what a circle is, and its glitches against closed forms for one joint."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.drives.friction.coulomb import Coulomb
from armtwin.maths.reversals import measure_turn, turning_samples
from armtwin.prediction.circle import circle_test, find_circle
from armtwin.robot.schema.drive_groups import FrictionElement, Transmission
from tests.simulation.bench import joint

STIFFNESS, GEAR, PERIOD = 2e5, 100.0, 8.0


def turn_of(motor: float, link: float, backlash: float) -> tuple[float, float, float]:
    """Lost motion of servo and gear of one joint, and the glitch of its link; kp of its servo.

    Friction on either side of the spring [N m], on the joint side. The servo has no integrator.
    """
    bench = joint(servo={"ki": [0.0]})
    gear = Transmission("assumed: a test", "j", stiffness=STIFFNESS, damping=100.0)
    d = replace(bench.description, transmission=(replace(gear, backlash=backlash),))
    elements = []
    for side, level in (("motor", motor), ("link", link)):
        if level:
            law = Coulomb(level)
            elements.append(FrictionElement(side, "j", "assumed: a test", law, side=side))
    robot = bench.with_description(replace(d, friction=tuple(elements)))
    rate = 250
    time = np.arange(0, 3 * PERIOD, 1 / rate)[:, None]
    w = 2 * np.pi / PERIOD
    q = 0.05 * (1 - np.cos(w * time))  # begins at rest
    motion = at.Trajectory.sampled(
        rate, q, 0.05 * w * np.sin(w * time), 0.05 * w**2 * np.cos(w * time)
    )
    model = at.Model(joints="elastic", friction="switching", quantise=False)
    run = at.simulate(robot, motion, model)
    wanted = motion.at(run.trace_time)[0][:, 0]
    errors = (
        run.motor_side[:, 0] - wanted,
        run.link_side[:, 0] - run.motor_side[:, 0],
        run.link_side[:, 0] - wanted,
    )
    sample = turning_samples(q[:, 0])[2]
    half = PERIOD / 8
    found = [measure_turn(run.trace_time, e, sample / rate, half, after=-1.0) for e in errors]
    return found[0].lost_motion, found[1].lost_motion, found[2].glitch


@pytest.mark.parametrize(
    ("motor", "link", "backlash"),
    [(10.0, 0.0, 0.0), (8.0, 4.0, 0.0), (5.0, 5.0, 1e-4), (0.0, 8.0, 1e-4)],
)
def test_glitches_of_one_joint_are_those_of_the_closed_form(motor, link, backlash):
    """Without an integrator the servo makes up for friction by its error alone.

    lost by the servo = 2 (F_m + F_l) / (N² kp),  lost in the gear = b + 2 F_l / K; the link's
    glitch is both. Thirty times smaller: the torque of the joint's inertia, 4 kg m² at 0.03 rad/s².
    """
    kp = (4.0 / GEAR**2 + 3e-4) * (2 * np.pi * 12) ** 2
    servo, gear, glitch = turn_of(motor, link, backlash)
    expected = 2 * (motor + link) / (GEAR**2 * kp)
    assert servo == pytest.approx(expected, rel=0.03)
    assert gear == pytest.approx(backlash + 2 * link / STIFFNESS, rel=0.03, abs=2e-6)
    assert glitch == pytest.approx(expected + backlash + 2 * link / STIFFNESS, rel=0.05)


@pytest.fixture(scope="module")
def circle():
    return at.predict("kr300_circle")


def test_a_circle_is_found_where_the_process_runs_once_round(circle):
    found = find_circle(circle.job)
    assert found.radius == pytest.approx(0.15)
    assert find_circle(at.Job.load("kr300_frame")) is None
    assert find_circle(at.Job.load("rx90b_line")) is None


def test_the_joints_that_lead_a_circle_turn_back_twice_in_it(circle):
    test = circle_test(circle, causes=False)
    twice = [one for one in test.reversals if one.joint == "joint_1"]
    apart = np.diff([one.angle for one in twice])
    assert len(twice) == 2
    assert apart == pytest.approx(np.pi, abs=0.3)


def test_glitches_of_the_shipped_circle_are_friction(circle):
    test = circle_test(circle)
    size, glitch = test.without["friction"]
    assert glitch < 0.1 * test.largest
    assert size < 0.2 * test.size
    assert set(test.tables) == {"circle.reversals", "circle.causes"}
