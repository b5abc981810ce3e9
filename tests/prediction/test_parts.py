"""The path error by parts, and the causes that a controller does not see."""

from dataclasses import replace

import numpy as np
import pytest
from studies.flexible import after, beyond_rigid, events, share_of_modes

import armtwin as at
from armtwin.analysis.compliance import compliance_matrix
from armtwin.analysis.flexible import elastic_coordinates, flexible
from armtwin.analysis.modes import find_locked_modes, find_servo_modes
from armtwin.drives.ripple import Ripple
from armtwin.jobs.groups import Force, Tolerance
from armtwin.prediction.parts import PARTS
from armtwin.robot.schema.groups import Deviation


def changed(job, **keys):
    return at.Job(replace(job.description, **keys), job.origin)


@pytest.fixture(scope="module")
def line():
    """The straight seam with elastic joints, no quantisation, a touch from above."""
    model = at.Model(quantise=False, joints="elastic")
    return changed(at.Job.load("rx90b_line"), model=model, force=(Force(value=(0.0, 0.0, -1.0)),))


@pytest.fixture(scope="module")
def elastic(line):
    return at.predict(line)


def test_the_motors_tell_all_of_a_rigid_robots_error():
    run = at.predict(at.Job.load("rx90b_line"))
    assert at.error_parts(run) is None


def test_the_parts_add_up_and_the_motors_see_nothing_of_the_sag(elastic):
    """At 100 mm/s a sag of half a millimetre is nearly all that the controller does not see."""
    parts = at.error_parts(elastic)
    assert list(parts.vertical) == ["servo", "sag", "force", "dynamic", "total"]
    total = sum(parts.vertical[name] for name in PARTS if name in parts.vertical)
    assert total == pytest.approx(elastic.path_error.vertical, abs=1e-15)
    sizes = {record["part"]: record for record in parts.table}
    assert sizes["sag"]["vertical_rms_m"] > 3e-4
    assert sizes["dynamic"]["vertical_rms_m"] < 0.05 * sizes["sag"]["vertical_rms_m"]
    rigid = at.predict(changed(elastic.job, model=at.Model(quantise=False), force=()))
    seen = parts.vertical["servo"] - rigid.path_error.vertical
    assert np.abs(seen[parts.on]).max() < 2e-5


def test_the_part_of_a_force_is_the_force_times_the_compliance_of_the_tool(elastic):
    """1 N from above, seven places along the line."""
    parts = at.error_parts(elastic)
    for k in np.flatnonzero(parts.on)[:: parts.on.sum() // 6]:
        q, _, _ = elastic.motion.trajectory.at(parts.time[k : k + 1])
        here = flexible(elastic_coordinates(elastic.robot), q[0])
        given_way = -compliance_matrix(here)[:3, 2]
        assert parts.vertical["force"][k] == pytest.approx(given_way[2], rel=0.01)
        assert abs(parts.lateral["force"][k]) == pytest.approx(abs(given_way[0]), rel=0.02)


def largest_shares(told):
    """The largest share of each cause at a joint."""
    shares = {}
    for x in told:
        for cause in x.causes:
            key = cause.cause, cause.joint
            shares[key] = max(shares.get(key, 0.0), cause.share)
    return shares


@pytest.fixture(scope="module")
def as_it_is(line):
    """The line with a robot whose gears are uneven and whose arm deviates, both more than shipped:
    joint 2 by 1 mrad, joint 3 by 0.5 mrad of ripple, two cycles in a turn of the motor.
    """
    robot = at.Robot.load("rx90b")
    gears = []
    for gear in robot.description.transmission:
        uneven = (Ripple(2.0, 5e-4),) if gear.joint == "joint_3" else ()
        gears.append(replace(gear, stiffness=100 * gear.stiffness, ripple=uneven))
    away = (Deviation("joint_2", "assumed: a test", zero=1e-3),)
    real = at.Robot(replace(robot.description, transmission=tuple(gears), deviation=away))
    model = at.Model(quantise=False, joints="elastic", ripple=True, deviations=True)
    asked = changed(line, model=model, tolerance=Tolerance(3e-4, 3e-4))
    return at.predict(asked, real)


def test_deviations_and_ripple_are_parts_by_their_levers(as_it_is):
    """What the tool does where the motors are on their set-points, by the rigid Jacobian."""
    parts = at.error_parts(as_it_is)
    q, _, _ = as_it_is.motion.trajectory.at(parts.time)
    J = as_it_is.robot.jacobian(q)
    ripple = 5e-4 * np.sin(2 * 121.6 * q[:, 2])
    for name, turn in (("deviations", J[:, 2, 1] * 1e-3), ("ripple", J[:, 2, 2] * ripple)):
        assert np.ptp(turn) > 1e-4
        assert parts.vertical[name] == pytest.approx(turn, abs=2e-6)
    total = sum(parts.vertical[name] for name in PARTS if name in parts.vertical)
    assert total == pytest.approx(as_it_is.path_error.vertical, abs=1e-15)


def test_deviation_and_ripple_are_named_as_causes(as_it_is):
    shares = largest_shares(at.explain(as_it_is))
    assert shares[("deviation", "")] > 0.5
    assert shares[("ripple", "joint_3")] > 0.1


def test_sag_is_explained_by_the_springs_that_give_way(elastic, line):
    """Balancer and weight bear most on joint 2; a spring that is stiff takes its share away."""
    tight = changed(line, tolerance=Tolerance(2e-3, 5e-4))
    told = at.explain(at.predict(tight))
    causes = [cause for x in told for cause in x.causes if x.span.direction == "vertical"]
    assert causes[0].cause == "elasticity"
    assert causes[0].joint in ("joint_2", "joint_3")
    assert causes[0].share > 0.2


def test_a_push_from_outside_is_named_and_so_is_play(line):
    """Joint 1 has 1 mrad of play, all gears are stiff; a push across the line turns it over where
    the arm passes the push's direction, and moves the seam's ends by up to 0.25 mm to a side.
    """
    robot = at.Robot.load("rx90b")
    gears = []
    for gear in robot.description.transmission:
        play = 1e-3 if gear.joint == "joint_1" else None
        gears.append(replace(gear, stiffness=100 * gear.stiffness, backlash=play))
    loose = at.Robot(replace(robot.description, transmission=tuple(gears)))
    push = Force(value=(150.0, 0.0, 0.0))
    pushed = changed(line, force=(push,), tolerance=Tolerance(1e-4, 1e-4))
    shares = largest_shares(at.explain(at.predict(pushed, loose)))
    assert shares["backlash", "joint_1"] > 0.5
    assert any(cause == "process force" for cause, _ in shares)


def test_at_500_mm_s_the_arm_rings_in_the_modes_that_its_servo_holds(line):
    """After the first ramp and the reversal of joint 3 rotors slide: two modes held by the servo
    explain the swing (in one direction at least; a slow part is left in the other) and what elastic
    and rigid gears differ by, those with locked rotors less than half of it.
    """
    fast = line.with_speed(0.5)
    run = at.predict(fast)
    rigid = at.predict(changed(fast, model=at.Model(quantise=False)))
    parts = at.error_parts(run)
    servo = run.robot.description.servo["cascade"]
    for begin in (events(run)["first ramp"], events(run)["reversal of joint 3"]):
        q, _, _ = run.motion.trajectory.at(np.array([begin]))
        here = flexible(elastic_coordinates(run.robot), q[0])
        now = after(parts.time, begin)
        time, swing = parts.time[now], parts.lateral["dynamic"][now]
        assert np.ptp(swing) > 1e-5
        held = find_servo_modes(here, servo)[:2]
        assert share_of_modes(time, swing, held) > 0.99
        for direction in ("lateral", "vertical"):
            apart = beyond_rigid(run, rigid, direction)[now]
            assert share_of_modes(time, apart, held) > 0.95
        assert share_of_modes(time, swing, find_locked_modes(here)[:2]) < 0.5
