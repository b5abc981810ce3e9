"""Paths of programs: zones stay within their distance, legs meet without a step."""

import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import armtwin as at
from armtwin.motion.moves import ProgramMove
from armtwin.motion.route import TURN_BACK, build_route
from armtwin.motion.speed_limits import ToolLimits, plan_by_tool

LIMITS = ToolLimits(2.0, 40.0)


def pose(p, turn=(0.0, 0.0, 0.0)):
    X = np.eye(4)
    X[:3, :3] = Rotation.from_rotvec(turn).as_matrix() @ np.diag([1.0, -1.0, -1.0])
    X[:3, 3] = p
    return X


def route_of(start, moves):
    return build_route(start, moves, np.array([move.pose for move in moves]))


def random_moves(rng, count, tilt=0.1):
    """A start and moves of all kinds that lead the tool, turned at random."""
    here = rng.uniform(-1, 1, 3)
    start, moves = pose(here), []
    for k in range(count):
        way = rng.standard_normal(3) * rng.choice([1e-3, 5e-3, 3e-2])
        zone = float(rng.choice([0.0, 1e-3, 5e-3, 5e-2]))
        X = pose(here + way, tilt * rng.standard_normal(3))
        if k % 3 == 2:
            via = pose(here + way / 2 + 0.3 * np.cross(way, rng.standard_normal(3)))
            moves.append(ProgramMove("CIRC", X, via=via, zone=zone, speed=0.2))
        else:
            moves.append(ProgramMove("LIN", X, zone=zone, speed=0.2))
        here = here + way
    return start, moves


@pytest.fixture(scope="module")
def given():
    """A route of 40 random moves, and places on it that are no stops."""
    start, moves = random_moves(np.random.default_rng(3), 40)
    route = route_of(start, moves)
    s = np.linspace(0.0, route.path.length, 400_001)
    ends = route.pieces.bounds[1:][route.pieces.stops]
    clear = np.abs(s[:, None] - np.concatenate([[0.0], ends])).min(axis=1) > 3 * s[1]
    return moves, route, s, clear


def test_a_zone_is_left_nowhere(given):
    """Outside of all zones the path is on the programmed lines and circles."""
    moves, route, s, _ = given
    p = route.path.at(s).p
    for corner in route.corners:
        goal = moves[corner.move].pose[:3, 3]
        stretch = [x for x in route.path.stretches if x.corner and x.move == corner.move]
        if not corner.zone:
            at_rest = route.path.at(np.array([corner.at_m])).p[0]
            assert np.linalg.norm(at_rest - goal) < 1e-12
            continue
        inside = (s >= stretch[0].start) & (s <= stretch[0].stop)
        away = np.linalg.norm(p[inside] - goal, axis=1)
        assert away.max() <= corner.zone * (1 + 1e-9)
        assert corner.zone <= moves[corner.move].zone
        assert abs(away.min() - corner.deviation) < 0.1 * corner.zone


def test_a_zone_takes_at_most_half_of_a_straight_neighbour(rng):
    start, moves = pose(np.zeros(3)), []
    for k in range(20):
        moves.append(
            ProgramMove("LIN", pose(rng.uniform(-1, 1, 3) * 0.01 + [0.01 * k, 0, 0]), zone=1.0)
        )
    route = route_of(start, moves)
    places = np.array([start[:3, 3], *(move.pose[:3, 3] for move in moves)])
    lengths = np.linalg.norm(np.diff(places, axis=0), axis=1)
    for corner in route.corners:
        if corner.turn < TURN_BACK:
            half = min(lengths[corner.move], lengths[corner.move + 1]) / 2
            assert abs(corner.zone - half) < 1e-12


def test_the_derivatives_of_a_route_are_those_of_its_positions(given):
    _, route, s, clear = given
    jet = route.path.at(s)
    assert np.abs(np.linalg.norm(jet.t, axis=1) - 1).max() < 1e-12
    rate = np.linalg.norm(jet.j, axis=1).max()
    # a central difference is off by a sixth of the third derivative times the square of the step
    assert np.abs(np.gradient(jet.p, s[1], axis=0) - jet.t)[clear].max() < rate * s[1] ** 2 / 6
    turned = np.abs(np.gradient(jet.t, s[1], axis=0) - jet.c)[clear]
    assert turned.max() < 2e-2 * np.abs(jet.c).max()


def test_the_curvature_has_no_step_but_at_stops(given):
    """Its change from place to place is bounded by its largest rate."""
    _, route, s, clear = given
    jet = route.path.at(s)
    rate = np.linalg.norm(jet.j, axis=1).max()
    change = np.linalg.norm(np.diff(jet.c, axis=0), axis=1)
    assert change[clear[1:] & clear[:-1]].max() < 1.1 * rate * s[1]


def test_turns_of_the_tool_are_the_rates_of_its_orientation(given):
    _, route, s, clear = given
    jet = route.path.at(s)
    R, w, dw = route.orientations.at(s, jet)
    assert np.abs(R @ np.swapaxes(R, 1, 2) - np.eye(3)).max() < 1e-12
    step = Rotation.from_matrix(R[1:] @ np.swapaxes(R[:-1], 1, 2)).as_rotvec() / s[1]
    both = clear[1:] & clear[:-1]
    assert np.abs(step - (w[1:] + w[:-1]) / 2)[both].max() < 1e-2 * np.abs(w).max()
    rate = np.diff(w, axis=0) / s[1]
    error = np.abs(rate - (dw[1:] + dw[:-1]) / 2)[both]
    assert np.quantile(error, 0.999) < 1e-2 * np.abs(dw).max()


def test_poses_are_reached_where_the_tool_stops(given):
    moves, route, _, _ = given
    for corner in route.corners:
        if not corner.zone:
            before = np.array([corner.at_m - 1e-12])
            R = route.orientations.rotations(before, route.path.at(before))[0]
            assert np.abs(R - moves[corner.move].pose[:3, :3]).max() < 1e-8


def test_a_turn_back_a_turn_on_the_spot_and_a_move_of_the_joints_are_stops():
    X = [pose([0.1, 0, 0]), pose([0.02, 0, 0]), pose([0.02, 0, 0], [0, 0, 0.5]), pose([0, 0.1, 0])]
    moves = [
        ProgramMove("LIN", X[0], zone=5e-3),
        ProgramMove("LIN", X[1], zone=5e-3),
        ProgramMove("LIN", X[2], zone=5e-3),
        ProgramMove("PTP", X[3], zone=5e-3),
        ProgramMove("LIN", X[0], zone=5e-3),
    ]
    route = route_of(pose(np.zeros(3)), moves)
    assert [corner.zone for corner in route.corners] == [0.0] * 4


def test_a_program_that_stays_where_it_is_is_refused():
    X = pose(np.zeros(3))
    with pytest.raises(at.ArmtwinError, match="does not move"):
        route_of(X, [ProgramMove("LIN", X), ProgramMove("LIN", X)])


def test_an_arc_through_points_of_a_line_is_refused_with_its_line():
    X = [pose([0.05 * k, 0, 0]) for k in range(3)]
    move = ProgramMove("CIRC", X[2], via=X[1], line=17, name="p9")
    with pytest.raises(at.ArmtwinError, match="line 17: CIRC to p9: start, via and end"):
        route_of(X[0], [move])


def test_the_tool_keeps_its_limits_along_and_across_the_path(given):
    """On instants ten times denser than what is planned by; jerk across by differences."""
    moves, route, _, _ = given
    profile = plan_by_tool(route, moves, LIMITS)
    t = np.linspace(0.0, profile.duration, 400_001)
    s, v, a = profile.at(t)
    jet = route.path.at(s)
    across = np.linalg.norm(jet.c, axis=1) * v**2
    assert v.max() <= 0.2 * (1 + 1e-9)
    assert np.abs(a).max() <= LIMITS.acceleration * (1 + 1e-9)
    assert across.max() <= LIMITS.acceleration * (1 + 1e-9)
    perpendicular = jet.j - np.einsum("ij,ij->i", jet.j, jet.t)[:, None] * jet.t
    jerk = 3 * jet.c * (v * a)[:, None] + perpendicular * (v**3)[:, None]
    assert np.linalg.norm(jerk, axis=1).max() <= LIMITS.jerk * (1 + 1e-6)


def test_a_larger_zone_is_passed_faster():
    X = [pose([0, 0, 0]), pose([0.1, 0, 0]), pose([0.1, 0.1, 0])]
    speeds = []
    for zone in (1e-3, 3e-3, 1e-2, 3e-2):
        moves = [
            ProgramMove("LIN", X[1], zone=zone, speed=0.5),
            ProgramMove("LIN", X[2], speed=0.5),
        ]
        route = route_of(X[0], moves)
        profile = plan_by_tool(route, moves, LIMITS)
        speeds.append(profile.at(profile.time_at(np.array([route.corners[0].at_m])))[1][0])
    assert (np.diff(speeds) > 0).all()


def test_the_profile_of_90000_moves_takes_less_than_four_seconds(rng):
    start, moves = random_moves(rng, 300)
    many = moves * 300
    poses = np.tile(np.array([move.pose for move in moves]), (300, 1, 1))
    poses[:, :3, 3] = np.cumsum(rng.uniform(-5e-3, 5e-3, (len(many), 3)), axis=0)
    zones = [move.zone for move in many]
    many = [
        ProgramMove("LIN", X, zone=zone, speed=0.2) for X, zone in zip(poses, zones, strict=True)
    ]
    plan_by_tool(route_of(start, moves), moves, LIMITS)  # kernels are compiled
    begun = time.process_time()
    route = build_route(start, many, poses)
    profile = plan_by_tool(route, many, LIMITS)
    assert time.process_time() - begun < 4.0
    assert len(profile.phases) > 90_000
