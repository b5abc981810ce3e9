"""Jobs by look-ahead: moves as a robot program has them, former seams as a special case."""

from dataclasses import replace

import numpy as np
import pytest
from studies.program_stretches import KINDS, run_stretches

import armtwin as at
from armtwin.jobs.groups import Tolerance
from armtwin.jobs.program import describe_program
from armtwin.motion.moves import ProgramMove
from armtwin.prediction.predict import plan_motion
from tests.jobs.programs import TWO_SEAMS


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "two_seams.toml"
    path.write_text(TWO_SEAMS)
    return at.Job.load(path)


def test_a_program_reads_back_as_it_was_written(job, tmp_path):
    job.save(tmp_path / "copy.toml")
    assert at.Job.load(tmp_path / "copy.toml").description == job.description


def test_the_tool_is_where_the_program_sends_it_when_it_stops(job):
    """Poses of the commanded joints at rest, against the targets of the file alone."""
    robot = job.robot()
    motion = plan_motion(robot, job)
    X_WP = job.description.workpiece.matrix()
    tips = robot.forward_kinematics(motion.trajectory.q)[:, :3, 3]
    for target in ((-60, 0, 0), (0, -60, 0), (0, -60, 30), (50, -60, 30), (50, -60, 0), (50, 0, 0)):
        goal = (X_WP @ [*(1e-3 * np.array(target)), 1.0])[:3]
        assert np.linalg.norm(tips - goal, axis=1).min() < 2e-6


def test_only_moves_with_the_process_on_are_judged(job):
    """The plunge, the retract and the joint move are not; both seams are whole."""
    lengths = [stop - start for start, stop in job.process_on()]
    assert len(lengths) == 2
    half = np.arctan2(30, 15) * 2  # of an arc through three points
    radius = (30**2 + 15**2) / (2 * 15)
    assert abs(lengths[1] - 1e-3 * radius * 2 * (np.pi - half)) < 1e-9
    assert 0.115 < lengths[0] < 0.12  # two legs of 60 mm, cut short by the zone


def test_a_seam_along_the_beam_is_not_judged_even_if_it_is_asked_for(job):
    """A reader of programs may not know which moves are plunges."""
    plunge, *others = job.description.segment
    asked = at.Job(replace(job.description, segment=(replace(plunge, process=True), *others)))
    assert asked.process_on() == job.process_on()


def test_a_smooth_seam_by_look_ahead_has_the_path_of_the_steady_one():
    """Corners that are rounded by radii: the same curve, in more time than at a steady speed."""
    steady = at.Job.load("rx90b_corner_fixed")
    law = at.Job.load("rx90b_corner_fixed").description.time_law
    ahead = replace(law, kind="look_ahead", ramp=None, acceleration=2.0, jerk=40.0)
    job = at.Job(replace(steady.description, time_law=ahead))
    s = np.linspace(0.0, steady.seam.length, 500)
    assert np.abs(job.seam.path.at(s).p - steady.seam.path.at(s).p).max() < 1e-12
    t = np.linspace(0.0, job.seam.profile.duration, 5000)
    assert job.seam.profile.at(t)[1].max() <= 0.1 * (1 + 1e-9)


def test_a_program_of_moves_becomes_the_job_that_runs_them(robots):
    robot = robots["rx90b"].with_tool("laser_head")
    q0 = np.radians([0.0, 40.0, 105.0, 0.0, 60.0, 0.0])
    X = [robot.forward_kinematics(q0)]
    for way in ([0.05, 0, 0], [0.05, 0.05, 0], [0, 0.05, 0.02], [0, 0.06, 0.02], [0, 0.08, 0.02]):
        X.append(X[0].copy())
        X[-1][:3, 3] += way
    moves = (
        ProgramMove("PTP", joints=q0),
        ProgramMove("LIN", X[1], speed=0.1, zone=5e-3, line=11, name="p1"),
        ProgramMove("LIN", X[2], speed=0.2, line=12, name="p2", wait=0.2),
        ProgramMove("PTP", X[3], speed=0.2, line=13, name="p3"),
        ProgramMove("SPLINE", X[4], speed=0.05, line=15, name="p4"),
        ProgramMove("SPLINE", X[5], speed=0.05, line=16, name="p5", joined=True),
    )
    d = describe_program(robot, moves, Tolerance(1e-4, 1e-4), name="from moves")
    assert [x.line for x in d.segment] == [11, 12, 13, 15]
    assert [x.process for x in d.segment] == [True, True, False, True]
    assert len(d.segment[3].spline) == 2
    job = at.Job(d)
    trajectory = plan_motion(job.robot(), job).trajectory
    tips = robot.forward_kinematics(trajectory.q)[:, :3, 3]
    for k in (2, 3, 5):
        assert np.linalg.norm(tips - X[k][:3, 3], axis=1).min() < 2e-6
    assert np.abs(trajectory.q[0] - q0).max() < 1e-9


def test_random_stretches_with_corners_stops_plunges_and_short_segments_run(tmp_path):
    """Programs of every dialect through `predict`; python studies/program_stretches.py does 90."""
    reached, run, refused = run_stretches(14, 38, tmp_path)
    assert reached > 10
    assert run["all"] >= 0.95 * reached, refused
    assert all(run[kind] > 5 for kind in KINDS)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('kind = "look_ahead"', 'kind = "jerk_limited"', "zone needs time_law.kind = .look_ahead"),
        ('zone = "5 mm"', 'zone = "5 mm"\nblend = "5 mm"', "either blend, a radius, or zone"),
        ('joint_speed = "30 %"', 'joint_speed = "130 %"', "at most 100 %"),
        ("circ = {", 'joint_speed = "30 %"\ncirc = {', "belongs to ptp and joints"),
        ('ptp = ["50 mm", "-60 mm"', 'ptp = ["5 m", "-60 mm"', "line 7: PTP|segments"),
        (
            "orientation]\ntool",
            'orientation]\nmode = "follow"\ntool',
            "needs corners that are rounded",
        ),
    ],
)
def test_what_does_not_fit_a_program_is_refused(job, tmp_path, old, new, sentence):
    assert old in TWO_SEAMS
    path = tmp_path / "job.toml"
    path.write_text(TWO_SEAMS.replace(old, new, 1))
    with pytest.raises(at.ArmtwinError, match=sentence):
        at.predict(path)


def test_an_unreachable_target_names_its_line(tmp_path):
    path = tmp_path / "job.toml"
    far = TWO_SEAMS.replace(
        'lin = ["0 mm", "-60 mm", "0 mm"]', 'lin = ["0 mm", "-1300 mm", "0 mm"]'
    )
    path.write_text(far)
    with pytest.raises(at.ArmtwinError, match=r"out of reach(.|\n)*\(line 5\)"):
        at.predict(path)
