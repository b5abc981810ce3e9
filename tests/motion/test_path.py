"""Paths: pieces are what their derivatives integrate to, corners are blended without a step,
kinks are refused.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

import armtwin as at
from armtwin.motion.curves import Arc, Clothoid, LineSegment, Reversed, Spline
from armtwin.motion.path import Move, build_path
from tests.conftest import relative

E1, E2, E3 = np.eye(3)
RADIUS, LENGTH = 0.08, 0.05
POINTS = np.array([[0, 0, 0], [0.1, 0.02, 0.03], [0.15, 0.1, 0], [0.3, 0.1, 0.05]])


def pieces():
    """One of each kind, none of them in a plane of the axes."""
    ahead, inwards = np.array([2.0, 1, 2]) / 3, np.array([-2.0, 2, 1]) / 3
    return {
        "line": LineSegment(E2, ahead, 0.3),
        "arc": Arc(E2, ahead, inwards, RADIUS, 0.2),
        "clothoid": Clothoid(E2, ahead, inwards, RADIUS, LENGTH),
        "reversed clothoid": Reversed(Clothoid(E2, ahead, inwards, RADIUS, LENGTH)),
        "spline": Spline(POINTS, (ahead, None)),
    }


def smooth_parts(piece):
    """Arc lengths between which all derivatives of a piece are smooth."""
    ends = piece.marks if isinstance(piece, Spline) else [0.0, piece.length]
    return np.concatenate([np.linspace(a, b, 17)[:-1] for a, b in pairwise(ends)] + [ends[-1:]])


def three_point_curvature(p):
    """Curvature of the circle through each three neighbouring points, from positions alone."""
    a, b, c = (
        np.linalg.norm(x, axis=1) for x in (p[1:-1] - p[:-2], p[2:] - p[1:-1], p[2:] - p[:-2])
    )
    area = np.linalg.norm(np.cross(p[1:-1] - p[:-2], p[2:] - p[:-2]), axis=1) / 2
    return 4 * area / (a * b * c)


def lin(*points, blends=None):
    blends = blends or [0.0] * len(points)
    return [
        Move(f"leg {i}", "lin", np.array([p], dtype=float), r)
        for i, (p, r) in enumerate(zip(points, blends, strict=True), 1)
    ]


def corner(turn, radius, leg=0.29):
    """Two legs in a tilted plane that turn by an angle at the origin,
    with the directions of the legs.
    """
    d1, inwards = np.array([2.0, 1, 2]) / 3, np.array([-2.0, 2, 1]) / 3
    d2 = np.cos(turn) * d1 + np.sin(turn) * inwards
    return build_path(-leg * d1, lin(np.zeros(3), leg * d2, blends=[radius, 0.0])), d1, d2


# pieces


@pytest.mark.parametrize("kind", pieces())
def test_each_derivative_integrates_to_the_one_before(kind):
    """p from t, t from c, c from j by Gauss quadrature of 12 nodes, exact to rounding; a spline
    runs by arc length to a millionth, the error of the quintic that inverts it over sixteenths of
    its intervals."""
    piece = pieces()[kind]
    s = smooth_parts(piece)
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(s)[:, None] / 2
    inner = piece.at(((s[:-1, None] + half) + half * nodes).ravel())
    ends = piece.at(s)
    for value, rate in (("p", "t"), ("t", "c"), ("c", "j")):
        grown = (getattr(inner, rate).reshape(len(half), 12, 3) * (weights * half)[..., None]).sum(
            axis=1
        )
        assert relative(grown, np.diff(getattr(ends, value), axis=0)) < (
            1e-6 if kind == "spline" else 1e-13
        )


@pytest.mark.parametrize("kind", pieces())
def test_chords_add_up_to_the_length(kind):
    """A chord is shorter than its arc by (κ h)²/24:
    below 1e-8 for 20 000 chords of curves of 0.3 m and 30 1/m.
    """
    piece = pieces()[kind]
    p = piece.at(np.linspace(0, piece.length, 20_001)).p
    assert np.linalg.norm(np.diff(p, axis=0), axis=1).sum() == pytest.approx(piece.length, rel=1e-8)


def test_a_clothoid_is_the_integral_of_its_heading():
    piece = Clothoid(np.zeros(3), E1, E2, RADIUS, LENGTH)
    for s in (0.01, 0.03, LENGTH):
        ahead = quad(lambda x: np.cos(x * x / (2 * RADIUS * LENGTH)), 0, s, epsabs=1e-15)[0]
        across = quad(lambda x: np.sin(x * x / (2 * RADIUS * LENGTH)), 0, s, epsabs=1e-15)[0]
        assert np.abs(piece.at(np.array([s])).p[0] - [ahead, across, 0]).max() < 1e-14


def test_the_curvature_of_a_clothoid_grows_evenly_to_that_of_its_circle():
    """Circles through three points 50 µm apart; their curvature is right to (h/r)², 4e-7."""
    s = np.linspace(0, LENGTH, 1001)
    k = three_point_curvature(pieces()["clothoid"].at(s).p)
    assert np.abs(k - s[1:-1] / (RADIUS * LENGTH)).max() < 1e-5


def test_a_spline_passes_its_points():
    spline = Spline(POINTS)
    assert np.abs(spline.at(spline.marks).p - POINTS).max() < 1e-15


def test_a_spline_leaves_in_the_direction_asked_for():
    ahead = np.array([2.0, 1, 2]) / 3
    assert np.abs(Spline(POINTS, (ahead, None)).at(np.zeros(1)).t[0] - ahead).max() < 1e-14


def test_the_curvature_of_a_spline_has_no_step_at_its_points():
    spline = Spline(POINTS)
    before, after = spline.at(spline.marks[1:-1] - 1e-9).c, spline.at(spline.marks[1:-1] + 1e-9).c
    assert np.abs(after - before).max() < 1e-4  # curvature changes by up to 2e4 1/m in a metre


def test_a_spline_through_points_of_a_circle_leaves_their_chords_by_the_sagitta():
    """r (1 - cos θ/2) with 32 points to a turn of 2 rad; the spline is off the circle by 1e-4 of
    that, samples at sixteenths of an interval see all of a symmetric bow."""
    angle = np.linspace(0, 2, 33)
    points = 0.1 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    spline = Spline(points, (E2, np.array([-np.sin(2), np.cos(2), 0])))
    deviation, place = spline.deviation()
    assert deviation == pytest.approx(0.1 * (1 - np.cos(1 / 32)), rel=5e-3)
    nearest = np.abs(spline.marks - place).min()
    assert nearest > 0.4 * spline.length / 32


def test_a_spline_through_points_of_a_circle_approaches_it_with_order_four():
    """Away from the ends, whose tangents are given by arc length and met by chord length."""
    errors = []
    for n in (16, 32, 64):
        angle = np.linspace(0, 2, n + 1)
        points = 0.1 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
        spline = Spline(points, (E2, np.array([-np.sin(2), np.cos(2), 0])))
        middle = spline.at(np.linspace(0.4, 0.6, 501) * spline.length).p
        errors.append(np.abs(np.linalg.norm(middle, axis=1) - 0.1).max())
    order = np.log2(errors[0] / errors[2]) / 2
    assert order == pytest.approx(4, abs=0.1)


# moves


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_an_arc_passes_its_via_point(rng, share):
    """Three points anywhere in space, the via point at a tenth,
    a half and nine tenths of the arc.
    """
    e1, e2, _ = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    centre, radius, whole = rng.normal(size=3), 0.3, 5.0  # an arc of more than half a circle
    points = [
        centre + radius * (np.cos(a) * e1 + np.sin(a) * e2) for a in (0.0, share * whole, whole)
    ]
    path = build_path(points[0], [Move("arc", "circ", np.array(points[1:]))])
    assert path.length == pytest.approx(radius * whole, rel=1e-12)
    passed = path.at(np.array([0.0, share, 1.0]) * path.length).p
    assert np.abs(passed - points).max() < 1e-12


def test_an_arc_stays_on_its_circle():
    path = build_path(E1, [Move("arc", "circ", np.array([E2, -E2]))])
    assert (
        np.abs(np.linalg.norm(path.at(np.linspace(0, path.length, 100)).p, axis=1) - 1).max()
        < 1e-14
    )


def test_a_line_into_a_tangent_arc_steps_the_curvature_by_that_of_the_circle():
    path = build_path(
        -E1, [*lin(np.zeros(3)), Move("arc", "circ", 0.2 * np.array([E1 + E2, 2 * E2]))]
    )
    ((place, step),) = path.curvature_steps()
    assert (place, step) == pytest.approx((1.0, 1 / 0.2), rel=1e-12)


def test_a_spline_takes_the_directions_of_the_lines_beside_it():
    spline = Move("spline", "spline", np.array([[0.1, 0.03, 0], [0.2, 0.1, 0.05]]))
    path = build_path(-E1, [*lin(np.zeros(3)), spline, *lin([0.2, 0.3, 0.05])])
    ends = path.at(path.bounds[1:3] + np.array([1e-12, -1e-12])).t
    assert np.abs(ends - [E1, E2]).max() < 1e-9


def test_a_path_passes_the_points_of_its_moves_at_its_marks():
    """A line, then a spline through three points;
    the points of the spline count from the path's start.
    """
    points = np.array([[0.1, 0.03, 0], [0.2, 0.1, 0.05], [0.2, 0.2, 0.1]])
    path = build_path(-E1, [*lin(np.zeros(3)), Move("spline", "spline", points)])
    passed = path.at(np.concatenate(path.marks)).p
    assert np.abs(passed - np.vstack([np.zeros(3), points])).max() < 1e-12


# corners


@pytest.mark.parametrize(
    ("radius", "start", "stop"),
    [
        (0.1, 0.16401264847692845, 0.3710922811564181),
        (0.05, 0.22700632423846423, 0.3305461405782091),
        (0.04, 0.23960505939077084, 0.3224369124625667),
        (0.02, 0.2648025296953854, 0.30621845623128335),
        (0.01, 0.2774012648476927, 0.29810922811564167),
        (0.005, 0.28370063242384636, 0.29405461405782085),
        (0.0025, 0.28685031621192314, 0.2920273070289104),
    ],
)
def test_the_corners_of_the_welding_jobs_lie_where_another_program_put_them(radius, start, stop):
    """Legs of 290 mm, 90°; the other program integrated the clothoid numerically, to 1e-10 m."""
    stretch = corner(np.pi / 2, radius)[0].stretches[1]
    assert (stretch.start, stretch.stop) == pytest.approx((start, stop), abs=2e-10)


TURNS = [0.02, 0.3, 0.5, np.pi / 2, 2.6]  # below 0.5 rad a corner has no arc


@pytest.mark.parametrize("turn", TURNS)
def test_a_blended_corner_has_neither_gap_nor_kink(turn):
    path = corner(turn, 0.02)[0]
    before, after = path.at(path.bounds[1:-1] - 1e-13), path.at(path.bounds[1:-1])
    assert np.abs(after.p - before.p).max() < 1e-12  # 1e-13 m of way, and rounding
    assert np.abs(after.t - before.t).max() < 1e-10  # 1e-13 m at up to 50 1/m, and rounding


@pytest.mark.parametrize("turn", TURNS)
def test_the_curvature_of_a_blended_corner_has_no_step(turn):
    """It may grow by no more than 1/(r L) times the way, L the length of a clothoid;
    measured from positions.
    """
    radius = 0.02
    path = corner(turn, radius)[0]
    s = np.linspace(path.stretches[1].start - 2e-3, path.stretches[1].stop + 2e-3, 2001)
    k = three_point_curvature(path.at(s).p)
    fastest = 1 / (radius * radius * min(turn, 0.5))
    # three points 1e-5 m apart leave rounding of 1e-16 / (1e-5)² = 1e-6 1/m, and see curvature to
    # (h/r)²
    assert np.abs(np.diff(k)).max() < 1.001 * fastest * (s[1] - s[0]) + 1e-4
    assert path.curvature_steps() == []


@pytest.mark.parametrize("turn", TURNS)
def test_the_curvature_of_a_blended_corner_never_exceeds_that_of_its_radius(turn):
    path = corner(turn, 0.02)[0]
    k = np.linalg.norm(path.at(np.linspace(0, path.length, 5001)).c, axis=1)
    assert 0.98 / 0.02 < k.max() < (1 + 1e-12) / 0.02


@pytest.mark.parametrize("turn", TURNS)
def test_the_curvature_of_a_corner_adds_up_to_its_turn(turn):
    """Trapezoidal rule on each piece, on which the curvature is linear,
    so that the rule is exact.
    """
    path = corner(turn, 0.02)[0]
    inside = [piece.at(np.array([0.0, piece.length])).c for piece in path.pieces]
    sizes = np.linalg.norm(inside, axis=2).mean(axis=1)
    assert sizes @ np.diff(path.bounds) == pytest.approx(turn, rel=1e-12)


@pytest.mark.parametrize("turn", TURNS)
def test_a_blended_corner_is_its_own_mirror_image(turn):
    path, d1, d2 = corner(turn, 0.02)
    across = (d1 + d2) / np.linalg.norm(d1 + d2)  # the mirror's normal
    s = np.linspace(0, path.length, 301)
    p = path.at(s).p
    mirrored = p - 2 * np.outer(p @ across, across)
    assert np.abs(mirrored[::-1] - p).max() < 1e-13


def test_a_blend_of_twice_the_radius_is_the_same_curve_twice_as_large():
    (small, *_), (large, *_) = corner(1.2, 0.02, leg=0.1), corner(1.2, 0.04, leg=0.2)
    s = np.linspace(0, small.length, 301)
    assert np.abs(large.at(2 * s).p - 2 * small.at(s).p).max() < 1e-14


def test_a_corner_counts_as_passed_where_its_blend_is_nearest_to_it():
    path = corner(np.pi / 2, 0.05)[0]
    s = np.linspace(0, path.length, 100_001)
    nearest = s[np.linalg.norm(path.at(s).p, axis=1).argmin()]  # the corner is the origin
    assert path.marks[0][-1] == pytest.approx(nearest, abs=1e-5)  # 6 µm between samples


def test_two_blends_may_use_up_the_leg_between_them():
    """A U of two corners of 90° whose blends meet: legs as long as their two reaches."""
    reach = 0.29 - corner(np.pi / 2, 0.02)[0].stretches[1].start
    width = 2 * reach + 1e-12
    path = build_path(-E1, lin(np.zeros(3), width * E2, width * E2 - E1, blends=[0.02, 0.02, 0.0]))
    assert path.curvature_steps() == []
    assert np.abs(path.at(np.array([path.length])).p[0] - (width * E2 - E1)).max() < 1e-12


# refusals


@pytest.mark.parametrize(
    ("moves", "sentence"),
    [
        (
            lin([0.1, 0, 0], [0.1, 0.1, 0]),
            r"segment 'leg 1': the corner between segments 'leg 1' and 'leg 2' at \(100, 0, 0\) mm "
            r"turns by 90.00° and "
            "cannot be passed at a steady speed; give blend",
        ),
        (
            lin([0.1, 0, 0], [0.1, 0.1, 0], blends=[0.1, 0.0]),
            (
                r"segment 'leg 1': its corners need 126.0 mm of it, but it is only 100.0 mm long; "
                r"make blend smaller"
            ),
        ),
        (
            lin([0.1, 0, 0], [0.1, 0.03, 0], [0, 0.03, 0], blends=[0.02, 0.01, 0.0]),
            r"segment 'leg 2': its corners need 37.8 mm of it, but it is only 30.0 mm long",
        ),
        (
            lin([0.1, 0, 0], [0.2, 0, 0], blends=[0.01, 0.0]),
            (
                "segment 'leg 1': blend is given, but there is no corner between segments 'leg 1' "
                "and 'leg 2'"
            ),
        ),
        (
            [Move("arc", "circ", np.array([[0.1, 0, 0], [0.2, 0, 0]]))],
            (
                r"segment 'arc': start, via and end of an arc must not lie on one line, via is "
                r"\(100, 0, 0\) mm"
            ),
        ),
        (
            lin([0.1, 0, 0], [0.1, 0, 0]),
            r"segment 'leg 2' ends where it begins, at \(100, 0, 0\) mm",
        ),
        (
            lin([0.1, 0, 0], [0, 0.001, 0], blends=[0.01, 0.0]),
            "segment 'leg 1': a corner that turns by 179.4° cannot be blended",
        ),
        (
            [
                *lin([0.1, 0, 0], blends=[0.01]),
                Move("arc", "circ", np.array([[0.15, 0.1, 0], [0.2, 0, 0]])),
            ],
            "segment 'leg 1': blend must be between two lin segments",
        ),
        (
            [Move("curve", "spline", np.array([[0.1, 0, 0], [0.1, 0, 0], [0.2, 0.1, 0]]))],
            "segment 'curve': neighbouring points of a spline must differ",
        ),
        ([], "a path needs at least one move"),
    ],
)
def test_what_is_no_path_is_refused(moves, sentence):
    with pytest.raises(at.ArmtwinError, match=sentence):
        build_path(np.zeros(3), moves)
