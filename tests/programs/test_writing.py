"""Programs out: whole programs of moves, corrected ones, and what is learned from logged runs."""

import numpy as np
import pytest
from scipy.spatial import cKDTree
from studies.corrected_programs import correct_seam, nearest_points, write_seam
from studies.learning import learn_on_machines

import armtwin as at
from armtwin.jobs.program import list_moves
from armtwin.maths.rotations import from_rpy, pose
from armtwin.motion.moves import ProgramMove
from armtwin.programs.table import read_program
from armtwin.programs.writing import DIALECTS, Replacement, replace_targets, write_program
from tests.jobs.programs import TWO_SEAMS

ENDINGS = {"krl": ".src", "rapid": ".mod", "urscript": ".script", "ls": ".ls"}
TOOL = pose(from_rpy(0.1, -0.7, 0.2), (0.1, 0.02, 0.2))


def draw_moves() -> list[ProgramMove]:
    """Moves of every kind but splines."""
    random = np.random.default_rng(4)
    moves = [ProgramMove("PTP", joints=np.radians([0, 10, 20, 30, 40, 50.0]))]
    for k in range(12):
        X, via = (pose(from_rpy(*random.uniform(-1, 1, 3)), random.uniform(-1, 1, 3)) for _ in "ab")
        kind = ("LIN", "CIRC", "LIN", "PTP")[k % 4]
        speed = None if kind == "PTP" else 0.05 + 0.01 * k
        wait = 0.2 if k == 3 else 0.0
        zone = 0.005 if k % 4 == 0 else 0.0
        between = via if kind == "CIRC" else None
        moves.append(ProgramMove(kind, X, via=between, speed=speed, zone=zone, wait=wait))
    return moves


@pytest.mark.parametrize("dialect", DIALECTS)
def test_moves_written_as_a_program_read_back_within_a_micrometre(tmp_path, dialect):
    moves = draw_moves()
    path = tmp_path / f"job{ENDINGS[dialect]}"
    path.write_text(write_program("job", dialect, TOOL, moves))
    found = read_program(path)
    assert found.format.name == dialect
    assert not [x for x in found.remarks if x.is_gap]
    (steps,) = found.stretches
    for step, move in zip(steps, moves, strict=True):
        assert step.kind == move.kind
        assert (step.wait, step.zone) == pytest.approx((move.wait, move.zone))
        if move.pose is not None:
            assert np.abs(step.base.X @ step.spot.X - move.pose).max() < 1e-6
        if move.via is not None:
            assert np.abs((step.base.X @ step.via - move.via)[:3, 3]).max() < 1e-6
        if move.kind != "PTP":
            assert step.speed == pytest.approx(move.speed, rel=1e-6)


SPLINE = """
[[segment]]
name = "c"
spline = [["40 mm", "-10 mm", "0 mm"], ["20 mm", "-8 mm", "0 mm"], ["10 mm", "-30 mm", "0 mm"]]
line = 12
"""


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_job_written_as_a_program_is_the_same_job_to_a_micrometre(tmp_path, robot, dialect):
    """Lines, an arc, a joint move, zones, a wait and a spline; lines along it where none is."""
    path = tmp_path / "job.toml"
    path.write_text(TWO_SEAMS + SPLINE)
    job = at.Job.load(path)
    given = list_moves(job.description, {}, job.description.start, job.robot())
    moves = [ProgramMove("PTP", given.start), *given.moves]
    tool = robot.description.tool["laser_head"].tcp.matrix()
    program = tmp_path / f"job{ENDINGS[dialect]}"
    program.write_text(write_program("job", dialect, tool, moves))
    again = at.Job.from_program(program, robot, tolerance="0.4 mm")
    path, other = job.seam.path, again.seam.path
    assert abs(path.length - other.length) < 1e-6 * (1 if dialect == "krl" else 10)
    s = np.linspace(0.0, 1.0, 4000)
    dense = other.at(np.linspace(0.0, other.length, 400_000)).p
    away, _ = cKDTree(dense).query(path.at(s * path.length).p)
    assert away.max() < 1e-6
    kinds = [x.kind for x in list_moves(again.description, {}, (0, 0, 0), robot).moves]
    assert kinds[:7] == [x.kind for x in given.moves[:7]]
    assert ("SPLINE" in kinds) == (dialect == "krl")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_other_targets_change_their_statements_alone(tmp_path, dialect):
    """A move through three points in the place of one; all other lines stay, in their order."""
    path = tmp_path / f"job{ENDINGS[dialect]}"
    path.write_text(write_program("job", dialect, TOOL, draw_moves()))
    found = read_program(path)
    step = found.stretches[0][3]
    X = step.base.X @ step.spot.X
    poses = np.array([pose(X[:3, :3], X[:3, 3] + (0, 0, z)) for z in (-0.02, -0.01, 0.001)])
    text = replace_targets(found, [Replacement(step, poses, "whole")])
    lines = path.read_text().splitlines()
    kept = [line for line in lines if line in text.splitlines()]
    assert len(kept) == len(lines) - 1
    again = read_program(path, text=text).stretches[0]
    assert len(again) == len(found.stretches[0]) + 2
    ends = [step.base.X @ step.spot.X for step in again[3:6]]
    assert np.abs(np.array(ends) - poses).max() < 1e-6


@pytest.fixture(scope="module")
def robot():
    return at.Robot.load("rx90b").with_tool("laser_head")


@pytest.mark.parametrize(("dialect", "seam"), [("ls", "line"), ("krl", "corner")])
def test_a_corrected_program_read_again_does_as_well_as_set_points(tmp_path, dialect, seam):
    """At most 1.2 times their peaks, 150 points, none nearer than 2 mm; the study does all."""
    job = write_seam(seam, dialect, tmp_path)
    found = at.correct(job, nominal=True)
    ratio, written = correct_seam(job, found)
    assert ratio < 1.2
    assert max(written.size.lateral, written.size.vertical) < 0.3 * found.before.lateral
    assert written.points <= 150
    assert nearest_points(job, written.text) > 2e-3 - 1e-5
    old, new = job.source.read.text.splitlines(), written.text.splitlines()
    statements = {step.line for step in job.source.read.stretches[0]}
    kept = [line for k, line in enumerate(old, 1) if k not in statements]
    rest = iter(new)
    assert all(line in rest for line in kept)


def test_runs_that_learn_from_logs_leave_less_than_a_third_of_the_first_error():
    """Two virtual machines off by the verdict's own spread; studies/learning.py does five."""
    peaks = learn_on_machines("rx90b_corner_fixed", 2)
    assert (peaks[:, 1:].max(axis=1) <= peaks[:, 0]).all()
    assert np.median(peaks[:, -1] / peaks[:, 0]) < 0.3
