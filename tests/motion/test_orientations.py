"""Orientations along a path:
turn vectors are what the rotations do, and the rules keep what they promise.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import armtwin as at
from armtwin.motion.curves import Arc, Clothoid, Fixed, Following, Given, LineSegment, Spline
from armtwin.motion.path import Move, build_path
from armtwin.motion.seam import Seam
from armtwin.motion.time_laws import TimeLaw, build_profile

UP = np.array([0.0, 0.0, 1.0])
AHEAD, INWARDS = (
    np.array([2.0, 1, 2]) / 3,
    np.array([-2.0, 2, 1]) / 3,
)  # a plane that is tilted to UP
TILT = Rotation.from_rotvec([0.2, 0.5, 0.4]).as_matrix()
STEP = 1e-5


def rules(rng):
    """Each rule with a piece of path on which it is smooth."""
    clothoid = Clothoid(np.zeros(3), AHEAD, INWARDS, 0.1, 0.2)
    points = np.cumsum(rng.uniform(0.02, 0.05, size=(4, 3)), axis=0)
    turned = Rotation.from_rotvec(
        np.cumsum(rng.uniform(-0.4, 0.4, size=(4, 3)), axis=0)
    ).as_matrix()
    return {
        "fixed": (Fixed(TILT), clothoid),
        "following a clothoid": (Following(TILT, UP), clothoid),
        "following a spline in space": (Following(TILT, UP), Spline(points)),
        "given": (Given(np.array([0.0, 0.06, 0.1, 0.2]), turned), clothoid),
    }


def around(piece, rule, knots=()):
    """Orientations a step before, at and a step after places that are no knots of rule or piece."""
    s = np.linspace(0.003, piece.length - 0.003, 50)
    s = s[[np.abs(x - np.asarray([0, *knots])).min() > 2 * STEP for x in s]]
    return [rule.at(x, piece.at(x)) for x in (s - STEP, s, s + STEP)]


@pytest.mark.parametrize(
    "kind", ["fixed", "following a clothoid", "following a spline in space", "given"]
)
def test_turn_vectors_are_the_differences_of_rotations(rng, kind):
    """R(s + h) R(s - h)ᵀ turns by 2 h ω;
    rounding 1e-16 / h = 1e-11, the rest is h² times a third derivative.
    """
    rule, piece = rules(rng)[kind]
    before, here, after = around(piece, rule)
    turn = Rotation.from_matrix(after.R @ np.swapaxes(before.R, 1, 2)).as_rotvec()
    assert np.abs(turn / (2 * STEP) - here.w).max() < 1e-5 * (1 + np.abs(here.w).max())


@pytest.mark.parametrize(
    "kind", ["fixed", "following a clothoid", "following a spline in space", "given"]
)
def test_their_rates_are_the_differences_of_turn_vectors(rng, kind):
    rule, piece = rules(rng)[kind]
    knots = piece.marks if isinstance(piece, Spline) else getattr(rule, "marks", ())
    before, here, after = around(piece, rule, knots)
    assert np.abs((after.w - before.w) / (2 * STEP) - here.dw).max() < 1e-5 * (
        1 + np.abs(here.dw).max()
    )


# following


def test_a_following_tool_turns_by_the_curvature_of_a_flat_seam():
    x, y = np.eye(3)[:2]
    arc = Arc(np.zeros(3), x, y, 0.05, 0.1)
    s = np.linspace(0, 0.1, 20)
    turning = Following(TILT, UP).at(s, arc.at(s))
    assert np.abs(turning.w - [0, 0, 1 / 0.05]).max() < 1e-13


def test_a_following_tool_leans_against_the_seam_by_the_same_angle_everywhere(rng):
    """Each of its axes keeps its share of the direction of travel, R[0],
    as on a straight line along x.
    """
    rule, piece = rules(rng)["following a spline in space"]
    s = np.linspace(0, piece.length, 100)
    jet = piece.at(s)
    shares = np.einsum("mi,mij->mj", jet.t, rule.at(s, jet).R)
    assert np.abs(shares - TILT[0]).max() < 1e-14


def test_a_following_tool_stays_upright(rng):
    """The direction of the tool that is y of the travel frame stays level."""
    rule, piece = rules(rng)["following a clothoid"]
    s = np.linspace(0, piece.length, 100)
    level = rule.at(s, piece.at(s)).R @ TILT.T[:, 1]
    assert np.abs(level @ UP).max() < 1e-14


def test_a_following_tool_on_a_line_does_not_turn():
    line, s = LineSegment(np.zeros(3), AHEAD, 0.3), np.linspace(0, 0.3, 10)
    turning = Following(TILT, UP).at(s, line.at(s))
    assert np.abs(turning.w).max() == 0.0


def test_a_seam_that_runs_upwards_cannot_be_followed():
    line, s = LineSegment(np.zeros(3), UP, 0.3), np.array([0.1, 0.2])
    with pytest.raises(
        at.ArmtwinError, match=r"at 100.0 mm the seam runs along the workpiece's z axis, which says"
    ):
        Following(TILT, UP).at(s, line.at(s))


# given


def test_given_orientations_are_met_at_their_points(rng):
    rule, piece = rules(rng)["given"]
    assert np.abs(rule.at(rule.marks, piece.at(rule.marks)).R - rule.R).max() < 1e-14


def test_between_two_orientations_the_tool_turns_evenly_about_one_axis():
    s = np.linspace(0.1, 0.6, 50)
    axis = np.array([1.0, 2, 2]) / 3
    rule = Given(
        np.array([0.1, 0.6]), np.array([np.eye(3), Rotation.from_rotvec(1.5 * axis).as_matrix()])
    )
    assert (
        np.abs(rule.at(s, LineSegment(np.zeros(3), AHEAD, 1.0).at(s)).w - 3.0 * axis).max() < 1e-13
    )


def test_the_turn_rate_has_no_kink_at_given_points(rng):
    """Neither rate nor its slope steps:
    both change over 2e-9 m by no more than their slope, below 1e5 rad/m³.
    """
    rule, piece = rules(rng)["given"]
    before, after = (
        rule.at(x, piece.at(x)) for x in (rule.marks[1:-1] - 1e-9, rule.marks[1:-1] + 1e-9)
    )
    assert np.abs(after.w - before.w).max() < 1e-6
    assert np.abs(after.dw - before.dw).max() < 1e-3


def test_one_orientation_given_everywhere_is_a_fixed_one():
    marks, s = np.array([0.0, 0.06, 0.1, 0.2]), np.linspace(0, 0.2, 40)
    turning = Given(marks, np.tile(TILT, (4, 1, 1))).at(
        s, LineSegment(np.zeros(3), AHEAD, 0.2).at(s)
    )
    assert np.abs(turning.R - TILT).max() < 1e-14
    assert np.abs(turning.w).max() < 1e-14


# the seam's own frame


def seam(rule):
    path = build_path(np.zeros(3), [Move("line", "lin", 0.3 * AHEAD[None]), *quarter()])
    return Seam(
        path, rule, build_profile([0, path.length], [0.1], ["seam"], TimeLaw(ramp=0.1)), (0.0, 0.0)
    )


def quarter():
    """A quarter of a circle tangent to a line of 300 mm along AHEAD."""
    centre = 0.3 * AHEAD + 0.1 * INWARDS
    via, to = (
        centre + 0.1 * (np.sin(x) * AHEAD - np.cos(x) * INWARDS) for x in (np.pi / 4, np.pi / 2)
    )
    return [Move("arc", "circ", np.array([via, to]))]


@pytest.mark.parametrize(
    "rule", [Fixed(TILT @ np.diag([1, -1, -1])), Following(TILT, UP)], ids=["fixed", "following"]
)
def test_lateral_is_perpendicular_to_the_seam_and_to_the_beam(rule):
    along = seam(rule)
    s = np.linspace(0, along.length, 100)
    jet, frame, R = along.frames(s)
    lateral = frame[:, :, 1]
    assert np.abs((lateral * jet.t).sum(axis=1)).max() < 1e-14
    assert np.abs((lateral * R[:, :, 2]).sum(axis=1)).max() < 1e-14


def test_vertical_points_against_the_beam():
    along = seam(Fixed(TILT))
    s = np.linspace(0, along.length, 100)
    _, frame, R = along.frames(s)
    assert ((frame[:, :, 2] * R[:, :, 2]).sum(axis=1) < 0).all()


def test_seam_frames_are_right_handed():
    along = seam(Fixed(TILT))
    assert (
        np.abs(np.linalg.det(along.frames(np.linspace(0, along.length, 100))[1]) - 1).max() < 1e-14
    )


def test_a_beam_along_the_seam_is_refused_with_its_place():
    """The beam lies in the plane of the arc and is met after 60° of it:
    300 mm and 100 mm times π/3.
    """
    beam = np.cos(np.pi / 3) * AHEAD + np.sin(np.pi / 3) * INWARDS
    along = seam(
        Fixed(
            np.stack(
                [np.cross(AHEAD, INWARDS), np.cross(beam, np.cross(AHEAD, INWARDS)), beam], axis=1
            )
        )
    )
    s = np.linspace(0, along.length, 4001)
    with pytest.raises(
        at.ArmtwinError, match=r"the tool's beam runs along the seam at 40[234]\.\d mm, so lateral"
    ):
        along.frames(s)
