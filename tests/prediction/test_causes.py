"""Causes on constructed cases where the cause is known."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.jobs.groups import Process, Tolerance
from armtwin.prediction import causes, effects
from armtwin.prediction.path_error import path_error
from armtwin.simulation.closed_loop import simulate_all
from tests.jobs.placements import as_in_another_program, line_that_holds

EXACT = at.Model(quantise=False)


@pytest.fixture(scope="module")
def line():
    """The straight seam with a tolerance that its reversal leaves, no quantisation."""
    job = line_that_holds()
    return at.Job(
        replace(job.description, tolerance=Tolerance(5e-5, 5e-5), model=EXACT), job.origin
    )


def everywhere(job, **keys):
    """The job judged in its ramps too."""
    return at.Job(
        replace(job.description, process=Process(run_in=0.0, run_out=0.0), **keys), job.origin
    )


def with_friction_of(*names):
    """The robot with the friction of these elements; that of others is a millionth.

    None at all would be another structure, whose kernel takes seconds to compile.
    """
    robot = at.Robot.load("rx90b")
    factors = []
    for p in robot.parameter_table:
        is_other = p.group == "friction" and p.name.partition(".")[0] not in names
        factors.append(1e-6 if is_other else 1.0)
    return robot.with_parameters(robot.parameters * factors)


def test_with_one_joint_of_friction_that_joint_is_named(line):
    """Only joint 3 has friction, and it reverses at 412.5 mm: the error there is all its own."""
    told = at.explain(at.predict(line, with_friction_of("joint_3")))
    peak = max(told, key=lambda x: abs(x.span.peak_m))
    assert peak.causes[0].cause == "friction reversal"
    assert peak.causes[0].joint == "joint_3"
    assert peak.causes[0].share > 0.8
    assert 0.41 < peak.span.peak_at_m < 0.45
    assert not any(
        c.cause.startswith("friction") and c.joint != "joint_3" for x in told for c in x.causes
    )


def test_without_friction_no_friction_is_named(line):
    off = at.Job(
        replace(
            line.description, model=replace(EXACT, friction="off"), tolerance=Tolerance(1e-6, 1e-6)
        )
    )
    told = at.explain(at.predict(off))
    assert told
    assert not any(c.cause.startswith("friction") for x in told for c in x.causes)


def test_the_share_is_what_a_whole_run_without_the_cause_gives(line):
    """Second road: both runs from standstill to standstill, with joint 2's friction and without."""
    p = at.predict(line)
    told = max(at.explain(p), key=lambda x: abs(x.span.peak_m))
    found = next(c for c in told.causes if c.joint == "joint_2" and c.cause == "friction reversal")
    names = [f.name for f in p.robot.description.friction if f.name != "joint_2"]
    without = with_friction_of(*names).with_tool("laser_head")
    run = at.simulate(without, p.motion.trajectory, EXACT)
    other = path_error(line.seam, run.trace_time, without.forward_kinematics(run.link_side))
    e = p.path_error
    inside = (e.place >= told.span.from_m) & (e.place <= told.span.to_m)
    sizes = [np.linalg.norm(getattr(x, told.span.direction)[inside]) for x in (other, e)]
    assert found.share == pytest.approx(1 - sizes[0] / sizes[1], abs=0.02)


def ramp_causes(job, kafc):
    """Causes of the error while speeding up, for acceleration feed-forward gains,
    without friction.
    """
    inertia = job.robot().description.servo["cascade"].rule.inertia
    shares = [float(x) / J for x, J in zip(kafc, inertia, strict=True)]
    gains = {"servo.cascade.rule.acceleration_feedforward": shares}
    model = replace(EXACT, friction="off")
    told = at.explain(
        at.predict(everywhere(job, override=gains, model=model, tolerance=Tolerance(1e-6, 1e-6)))
    )
    return [c for x in told if x.span.from_m < 0.03 for c in x.causes]


def test_exact_feed_forward_removes_the_inertia_cause(line):
    """Gains of the inertia that the motors feel at the start, against half of it."""
    robot = line.robot()
    q = at.predict(line).motion.trajectory.q[0]
    N = robot.assembly.gear
    exact = np.diag(np.linalg.inv(N).T @ robot.mass_matrix(q) @ np.linalg.inv(N))
    half = [c.share for c in ramp_causes(line, 0.5 * exact) if c.cause == "inertia"]
    assert max(half) > 0.3
    full = [c.share for c in ramp_causes(line, exact) if c.cause == "inertia"]
    assert max(full, default=0.0) < 0.15


def test_a_lowered_torque_limit_is_named_with_its_motor(line):
    """Motor 1 gets less current than its friction takes at speed."""
    peak = np.abs(at.predict(line).log.current[:, 0]).max()
    weak = everywhere(
        line, override={"motor.motor_1.current_limit": 0.75 * float(peak)}, limits="report"
    )
    told = at.explain(at.predict(weak))
    causes = [c for x in told for c in x.causes if c.cause == "torque limit"]
    assert causes
    assert {c.joint for c in causes} == {"motor_1"}
    assert max(c.share for c in causes) > 0.3
    strong = at.explain(at.predict(everywhere(line)))
    assert not any(c.cause == "torque limit" for x in strong for c in x.causes)


def test_coarse_currents_are_named_as_quantisation(line):
    """Without friction, currents in steps forty times as large."""
    robot = line.robot()
    steps = {
        f"motor.{m.name}.current_quantum": 40 * m.current_quantum for m in robot.description.motor
    }
    model = at.Model(friction="off", quantise=True)
    coarse = at.Job(
        replace(line.description, override=steps, model=model, tolerance=Tolerance(1e-6, 1e-6))
    )
    told = at.explain(at.predict(coarse))
    assert any(x.causes and x.causes[0].cause == "quantisation" for x in told)


def test_places_beside_each_other_share_their_runs(monkeypatch):
    """Sideways and upwards of one reversal: half of the runs, and the shares of runs of its own.

    The shared runs begin a little earlier, which the servo has forgotten but for a thousandth.
    """
    counted = []

    def counting(runs):
        counted.append(len(runs))
        return simulate_all(runs)

    monkeypatch.setattr(effects, "simulate_all", counting)
    job = at.Job.load("rx90b_line")
    p = at.predict(at.Job(replace(job.description, model=EXACT), job.origin))
    shared, runs = at.explain(p), sum(counted)
    assert [x.span.direction for x in shared] == ["lateral", "vertical"]
    monkeypatch.setattr(causes, "GROWTH", 0.0)
    alone = at.explain(p)
    assert sum(counted) == 3 * runs
    for x, own in zip(shared, alone, strict=True):
        assert [(c.cause, c.joint) for c in x.causes] == [(c.cause, c.joint) for c in own.causes]
        shares = [c.share for c in own.causes]
        assert [c.share for c in x.causes] == pytest.approx(shares, abs=2e-3)


def test_peaks_within_tolerance_are_explained_too():
    told = at.explain(at.predict(line_that_holds()))
    assert all(x.within for x in told)
    assert told[0].causes[0].cause == "friction reversal"
    job = as_in_another_program(at.Job.load("rx90b_corner_follow"))
    corner = at.explain(at.predict(job))
    assert sum(x.within for x in corner) == 3


def test_a_wrist_near_its_singularity_is_named():
    """The head turns around a corner with the wrist almost straight:
    joint 4 does most of it, without friction.
    """
    job = at.Job.load("rx90b_corner_follow")
    first, second = job.description.segment
    workpiece = replace(job.description.workpiece, position=(0.78, 0.0, 0.0))
    near = replace(
        job.description,
        segment=(replace(first, blend=0.06), second),
        workpiece=workpiece,
        speed=0.06,
    )
    free = {
        "servo.cascade.following_error_limit": "500 rad",
        "joint.joint_4.limits.upper": "350 deg",
    }
    model = at.Model(friction="off", quantise=False)
    p = at.predict(at.Job(replace(near, limits="report", override=free, model=model)))
    causes = [c for x in at.explain(p) for c in x.causes if c.cause == "singularity"]
    assert p.feasibility.distance < 0.5 * np.median(p.motion.distance[p.motion.command.speed > 0])
    assert causes
    assert {c.joint for c in causes} <= {"joint_4", "joint_6"}


def test_a_stop_is_explained():
    """The corner of 50 mm: what makes motor 4 fall behind is told for the last moments."""
    job = at.Job.load("rx90b_corner_follow")
    first, second = job.description.segment
    p = at.predict(at.Job(replace(job.description, segment=(replace(first, blend=0.05), second))))
    last = [x for x in at.explain(p) if x.span.to_m > p.verdict.stopped_at_m - 1e-3]
    assert any(x.causes for x in last)
