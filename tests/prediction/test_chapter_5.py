"""The statements of chapter 5 of the laser welding thesis, as docs/chapter_5.md has them."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armtwin as at

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "studies"))

import chapter_5  # noqa: E402
from chapter_5_placements import (  # noqa: E402
    Placement,
    fixed_agrees,
    following_agrees,
    line_agrees,
    line_placements,
    motion,
    only_reverse_at,
    placed,
    speed_ratio,
)
from chapter_5_runs import Seams, apart, causes_of, on_process, peaks  # noqa: E402


@pytest.fixture(scope="module")
def shipped():
    return Seams.shipped()


@pytest.fixture(scope="module")
def found(shipped):
    return chapter_5.statements(shipped)


def test_the_table_of_the_docs_says_what_holds(found):
    """Statement, figures to 2 %, verdict and reason of each row are those the code gives now."""
    page = (ROOT / "docs" / "chapter_5.md").read_text(encoding="utf-8")
    written = []
    for line in page.splitlines():
        if line.startswith("| 5"):
            written.append([cell.strip() for cell in line.split("|")[1:-1]])
    assert [row[1] for row in written] == [s.text for s in found]
    assert [row[3] for row in written] == [s.verdict for s in found]
    for row, statement in zip(written, found, strict=True):
        for now, then in ((statement.figure, row[2]), (statement.why, row[4])):
            ours, theirs = (re.findall(r"\d+\.?\d*", text) for text in (now, then))
            assert len(ours) == len(theirs)
            for a, b in zip(ours, theirs, strict=True):
                assert abs(float(a) - float(b)) <= max(0.02 * float(b), 1.0), statement


@pytest.mark.parametrize(
    "text",
    [
        "only joints 2, 3 and 5 turn back, at about 5.25 s",
        "the path error peaks at the reversal and in the ramps",
        "joint 6 peaks at the reversal of joint 5 without turning back itself",
        "following, r = 100 mm: all six joints turn back twice or more in the corner",
        "fixed, r = 50 mm: joints 2, 3 and 5 turn back at about 3.9 s",
        "fixed: the largest joint speed is one order lower than following",
        "fixed: well within 0.1 mm on the major part of the seam",
        "other viscous friction changes torques and hardly moves the path",
    ],
)
def test_the_statements_that_physics_must_give_hold(found, text):
    """Those that do not rest on the sizes of assumed gains or masses."""
    held = {s.text: s.holds for s in found}
    assert held[text] == 1


def test_perturbation_and_nonlinear_method_agree_on_the_seam(shipped):
    """Within 2 µm while the process is on; in ramps and at rest one step of a current decides."""
    whole, linear = shipped.line(), shipped.line(method="perturbation")
    assert apart(whole, linear)[on_process(whole)].max() < 2e-6


# placements


def test_the_shipped_jobs_move_their_joints_as_the_document_says(shipped):
    assert line_agrees(shipped.straight)
    assert following_agrees(shipped.corner.following)
    assert fixed_agrees(shipped.corner)


def test_a_fixed_head_along_the_seam_is_too_fast():
    """At (650, 0, 0) mm its joints are 4.7 times slower than with the following head."""
    assert speed_ratio(chapter_5.HEAD_ALONG) == pytest.approx(4.73, rel=0.01)
    assert not fixed_agrees(chapter_5.HEAD_ALONG)


def test_only_one_turn_of_the_head_lets_joints_2_3_and_5_alone_turn_back_on_the_line():
    """On a grid of 100 mm, the four turns of a head whose axes lie along the seam's."""
    agreeing = list(line_placements(100))
    assert {place.head for place in agreeing} == {90}
    heights = [place.z for place in agreeing]
    assert min(heights) <= -300 < 200 <= max(heights)


def test_the_scan_finds_the_reversals_of_the_commanded_motion(shipped):
    """Two roads: signs of the joint speeds that the planner computes, slopes of 241 poses.

    The scan knows no ramps: joints that are fastest at the ends of the seam are 2 % faster in it.
    """
    p = shipped.fixed(0.05)
    v = p.motion.trajectory.v
    scanned = motion("rx90b_corner_fixed", shipped.corner.fixed, 0.05)
    assert only_reverse_at(scanned, 3.9)
    for joint in (1, 2, 4):
        turns = np.flatnonzero(v[1:, joint] * v[:-1, joint] < 0)
        place = p.motion.command.s[turns]
        assert scanned.reversals()[joint] == pytest.approx(place, abs=0.5e-3)
    assert scanned.largest_speeds() == pytest.approx(np.abs(v).max(axis=0), rel=0.02)


def test_the_posture_of_a_shipped_job_is_that_of_its_placement(shipped):
    """The file rounds to 0.1°."""
    for name, placement in (
        ("rx90b_line", shipped.straight),
        ("rx90b_corner_follow", shipped.corner.following),
        ("rx90b_corner_fixed", shipped.corner.fixed),
    ):
        job = placed(name, placement)
        given = at.Job.load(name).description.posture
        assert np.degrees(job.description.posture) == pytest.approx(np.degrees(given), abs=0.051)


def test_the_height_of_the_line_alone_decides_whether_it_holds(shipped):
    """Of the placements that agree: 79 µm at (450, 120) mm, 164 µm where the job lies."""
    higher = replace(shipped, straight=Placement(450, 120, 0, 90))
    assert line_agrees(higher.straight)
    assert max(peaks(higher.line())) < 1e-4 < 1.5e-4 < max(peaks(shipped.line()))


# causes


def test_the_sharp_corner_with_the_head_along_the_seam_is_inertia_and_coupling(shipped):
    """379 µm with r = 2.5 mm: joint 3 accelerates, joint 5 is taken along; no wrist friction.

    The wrist's third friction element makes the peak before the wide corner.
    """
    along = replace(shipped, corner=chapter_5.HEAD_ALONG)
    sharp = causes_of(along.fixed(0.0025), "lateral")
    assert "inertia of joint_3" in sharp
    assert "coupling of joint_5" in sharp
    assert "friction reversal of wrist_c" in causes_of(along.fixed(0.05), "lateral")
