"""The path error by parts, and the causes that a controller does not see."""

from dataclasses import replace

import numpy as np
import pytest
from studies.flexible import events, share_of_modes

import armtwin as at
from armtwin.analysis.flexible import elastic_coordinates, flexible
from armtwin.analysis.modes import locked_modes, servo_modes
from armtwin.jobs.groups import Force, Tolerance
from armtwin.prediction.parts import PARTS


def changed(job, **keys):
    return at.Job(replace(job.description, **keys), job.origin)


@pytest.fixture(scope="module")
def line():
    """The straight seam with elastic joints, no quantisation, a touch from above."""
    model = at.Model(quantise=False, joints="elastic")
    return changed(at.Job.load("rx90b_line"), model=model, force=(Force(value=(0.0, 0.0, -1.0)),))


@pytest.fixture(scope="module")
def elastic(line):
    return at.predict(None, line)


def test_the_motors_tell_all_of_a_rigid_robots_error():
    run = at.predict(None, at.Job.load("rx90b_line"))
    assert at.error_parts(run) is None


def test_the_parts_add_up_and_the_motors_see_nothing_of_the_sag(elastic):
    """At 100 mm/s a sag of half a millimetre is nearly all that the controller does not see."""
    parts = at.error_parts(elastic)
    total = sum(parts.vertical[name] for name in PARTS)
    assert total == pytest.approx(elastic.path_error.vertical, abs=1e-15)
    sizes = {record["part"]: record for record in parts.table}
    assert sizes["arm"]["vertical_peak_m"] < 1e-9
    assert sizes["sag"]["vertical_rms_m"] > 3e-4
    assert sizes["dynamic"]["vertical_rms_m"] < 0.05 * sizes["sag"]["vertical_rms_m"]
    rigid = at.predict(None, changed(elastic.job, model=at.Model(quantise=False), force=()))
    seen = parts.vertical["servo"] - rigid.path_error.vertical
    assert np.abs(seen[parts.on]).max() < 2e-5


def test_sag_is_explained_by_the_springs_that_give_way(elastic, line):
    """Balancer and weight bear most on joint 2; a spring that is stiff takes its share away."""
    tight = changed(line, tolerance=Tolerance(2e-3, 5e-4))
    told = at.explain(at.predict(None, tight))
    causes = [cause for x in told for cause in x.causes if x.span.direction == "vertical"]
    assert causes[0].cause == "elasticity"
    assert causes[0].joint in ("joint_2", "joint_3")
    assert causes[0].share > 0.2


def test_a_push_from_outside_is_named_and_so_is_play(line):
    """Gears with 0.4 mrad of play under a push that turns them over."""
    robot = at.Robot.load("rx90b")
    springs = tuple(
        replace(t, backlash=4e-4 if t.joint == "joint_1" else None)
        for t in robot.description.transmission
    )
    loose = at.Robot(replace(robot.description, transmission=springs))
    push = Force(value=(0.0, 0.0, -200.0))
    pushed = changed(line, force=(push,), tolerance=Tolerance(3e-4, 3e-4))
    told = at.explain(at.predict(loose, pushed))
    named = {cause.cause for x in told for cause in x.causes}
    assert "process force" in named
    assert {"elasticity", "backlash"} & named


def test_at_500_mm_s_the_arm_rings_in_the_modes_that_its_servo_holds(line):
    """After the first ramp and the reversal of joint 3 rotors slide: two modes held by the servo
    explain the swing (in one direction at least; a slow part is left in the other), those with
    locked rotors less than half of it.
    """
    run = at.predict(None, line.with_speed(0.5))
    parts = at.error_parts(run)
    servo = run.robot.description.servo["cascade"]
    for begin in (events(run)["first ramp"], events(run)["reversal of joint 3"]):
        q, _, _ = run.motion.trajectory.at(np.array([begin]))
        here = flexible(elastic_coordinates(run.robot), q[0])
        now = (parts.time >= begin + 0.05) & (parts.time <= begin + 0.35)
        time, swing = parts.time[now], parts.lateral["dynamic"][now]
        assert np.ptp(swing) > 1e-5
        assert share_of_modes(time, swing, servo_modes(here, servo)[:2]) > 0.99
        assert share_of_modes(time, swing, locked_modes(here)[:2]) < 0.5
