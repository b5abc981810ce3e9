"""How fast each part of a route may be run: by its speed, the tool's limits and the joints'.

Across the path a tool at speed v is accelerated by c v² and has the jerk j v³ + 3 c v a, with the
curvature c, its rate j and the acceleration a along the path. Of the jerk the first term has most.

The joints follow q' and q'' by arc length: v q' is their speed, q'' v² + q' a their acceleration,
and their torque is g + f(v) + h v² + m a. Where a limit would be exceeded, h v² has half of what
gravity g and friction f leave of it, and a the rest.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.motion.chain import PARTS
from armtwin.motion.feasibility import list_checks
from armtwin.motion.joint_motion import Instants, follow_command
from armtwin.motion.look_ahead import LookAhead, ProfileParts, plan_look_ahead
from armtwin.motion.moves import ProgramMove
from armtwin.motion.route import Pieces, Route
from armtwin.motion.seam import Command, Seam
from armtwin.robot.robot import Robot

FASTEST = 10.0  # tool speed that no arm exceeds [m/s]
HALF = 0.5  # of a limit for what grows with the speed, where it decides
STEADY = 0.8  # of the jerk across the path for what a steady speed makes
MARGIN = 0.97  # of a joint's limit: what lies between the places that are looked at
LEAST_LEFT = 0.05  # of a torque limit that is planned with, where gravity takes the rest
CELL = 0.02  # length of a part of a long move [m]
MOST_CELLS = 64  # of a move
# of the steps of a part at which the joints are looked at, first and where they may decide
COARSE = np.array([0.16, 4.0, 8.0, 12.0, 15.84])
FINE = 25, 161  # places of a part then, and of one that uses a large share of a limit
LARGE = 0.7  # such a share
MOST_PLACES = 300_000  # of all parts, so that long programs take seconds
NEAR = 1.05  # ratio of what the joints allow to what is asked, below which they may decide
ROUNDS = 12  # of slowing down where a limit is exceeded
LESS = 0.95  # of a limit that is aimed at then
SAME_SPEED = 1e-9  # relative difference of speeds that are one
SIMILAR = 0.8  # ratio of accelerations of parts that are joined
JOINT_RAMP = 0.5  # time in which joints come to their full speed [s], assumed
JOINT_RISE = 0.1  # time in which its acceleration rises [s]
JOINT_TIME = 0.5  # of a move of the joints where the robot is not known [s]


class ToolLimits(NamedTuple):
    """Largest acceleration [m/s²] and jerk [m/s³] of the tool, along and across the path each."""

    acceleration: float
    jerk: float


class Caps(NamedTuple):
    """Highest speed, acceleration and jerk of parts, (k,) each."""

    speed: Floats
    acceleration: Floats
    jerk: Floats


def limit_by_tool(route: Route, moves: Sequence[ProgramMove], limits: ToolLimits) -> Caps:
    """What speeds of moves and limits of the tool allow on each piece of a route."""
    x = route.pieces
    speeds = np.array([m.speed or FASTEST for m in moves])
    by_joints = np.array([m.kind == "PTP" for m in moves])[x.move]
    A = np.full(len(x.move), limits.acceleration)
    J = np.full(len(A), limits.jerk)
    V = np.where(by_joints, x.length / JOINT_TIME, speeds[x.move])
    after = np.append(V[1:], FASTEST)
    V = np.where(x.is_zone, np.minimum(V, after), V)
    with np.errstate(divide="ignore"):
        V = np.minimum(V, np.sqrt(A / x.curvature))
        V = np.minimum(V, np.cbrt(STEADY * J / x.rate))
        bent = (1 - STEADY) * J / (3 * x.curvature * V)
    A = np.minimum(A, np.where(x.curvature > 0, bent, np.inf))
    A = np.where(by_joints, V / JOINT_RAMP, A)
    J = np.where(by_joints, A / JOINT_RISE, J)
    return Caps(V, A, J)


def plan_by_tool(route: Route, moves: Sequence[ProgramMove], limits: ToolLimits) -> LookAhead:
    """The profile of a route by its speeds and the limits of the tool alone."""
    return _plan(route.pieces, moves, limit_by_tool(route, moves, limits))


def plan_by_joints(
    robot: Robot, seam: Seam, q0: Floats, moves: Sequence[ProgramMove], limits: ToolLimits
) -> LookAhead:
    """The profile of a seam that keeps the limits of the joints as well, from near q0 on."""
    assert seam.route is not None
    by_tool = limit_by_tool(seam.route, moves, limits)
    cells, by_tool = _divide(seam.route.pieces, by_tool)
    is_joint_move = np.array([m.kind == "PTP" for m in moves])[cells.move]
    share = np.array([min(m.speed or 1.0, 1.0) if m.kind == "PTP" else 1.0 for m in moves])
    wanted = np.where(is_joint_move, FASTEST, by_tool.speed)
    path = _follow(robot, seam, q0, _look_at(cells, COARSE))
    V, A = _limit_by_joints(robot, path, wanted, share[cells.move])
    may_decide = V / by_tool.speed < NEAR
    may_decide |= A / by_tool.acceleration < NEAR
    A = np.minimum(A, np.where(is_joint_move, V / JOINT_RAMP, by_tool.acceleration))
    plan = _Plan(cells, moves, np.where(is_joint_move, 0.0, by_tool.jerk))
    profile = plan.profile(V, A)
    for most in FINE:
        if not may_decide.any():
            break
        count = int(np.clip(MOST_PLACES / max(may_decide.sum(), 1), len(COARSE), most))
        s = _look_at(cells, np.linspace(0.1, PARTS - 0.1, count))[np.repeat(may_decide, count)]
        which = np.repeat(np.flatnonzero(may_decide), count)
        path = _follow(robot, seam, q0, s)
        for _ in range(ROUNDS):
            worst = np.zeros(len(V))
            np.maximum.at(worst, which, _use_of_limits(robot, path, profile))
            if worst.max() <= MARGIN:
                break
            factor = np.clip(LESS / np.maximum(worst, MARGIN), 0.5, LESS)
            V, A = (x * np.where(worst > MARGIN, factor, 1.0) for x in (V, A))
            profile = plan.profile(V, A)
        may_decide = worst > LARGE
    return profile


class _Plan(NamedTuple):
    """What is planned: cells of moves, and the jerk in each, 0 where the joints are led."""

    cells: Pieces
    moves: Sequence[ProgramMove]
    jerk: Floats

    def profile(self, V: Floats, A: Floats) -> LookAhead:
        """The profile by highest speeds and accelerations of the cells."""
        J = np.where(self.jerk > 0, self.jerk, A / JOINT_RISE)
        return _plan(self.cells, self.moves, Caps(V, A, J))


class _PathOfJoints(NamedTuple):
    """Joint positions at arc lengths (m,) with their derivatives by it, (m, n) each."""

    s: Floats
    q: Floats
    d: Floats
    b: Floats


def _look_at(cells: Pieces, places: Floats) -> Floats:
    """Arc lengths in cells at places, numbers of steps of each, (cells * places,)."""
    step = np.floor(places).astype(int)
    before, after = cells.places[:, step], cells.places[:, np.minimum(step + 1, PARTS)]
    share = before + (places - step) * (after - before)
    s = cells.bounds[:-1, None] + cells.length[:, None] * share
    return np.maximum.accumulate(s.ravel())


def _follow(robot: Robot, seam: Seam, q0: Floats, s: Floats) -> _PathOfJoints:
    """The joints at arc lengths s, (m,)."""
    found = follow_command(robot, seam, Command(s, np.ones(len(s)), np.zeros(len(s))), q0)
    return _PathOfJoints(s, found.q, found.v, found.a)


def _use_of_limits(robot: Robot, path: _PathOfJoints, profile: LookAhead) -> Floats:
    """Largest share of a joint's limits that a profile uses at arc lengths, (m,)."""
    time = profile.time_at(path.s)
    _, speed, acceleration = (x[:, None] for x in profile.at(time))
    v = path.d * speed
    a = path.b * speed**2 + path.d * acceleration
    used = np.zeros(len(time))
    for check in list_checks(robot, Instants(time, path.s, path.q, v, a)):
        used = np.fmax(used, np.abs(check.values / check.limit).max(axis=1))
    return used


def _divide(pieces: Pieces, caps: Caps) -> tuple[Pieces, Caps]:
    """Pieces with long legs in parts of their own, and their caps."""
    count = np.clip(np.ceil(pieces.length / CELL), 1, MOST_CELLS).astype(int)
    count = np.where(pieces.is_zone, 1, count)
    which = np.repeat(np.arange(len(count)), count)
    last = np.cumsum(count) - 1
    length = (pieces.length / count)[which]
    bounds = np.concatenate([[0.0], np.cumsum(length)])
    stops = np.zeros(len(which), dtype=bool)
    stops[last] = pieces.stops
    cells = Pieces(
        bounds,
        pieces.move[which],
        pieces.is_zone[which],
        stops,
        pieces.curvature[which],
        pieces.rate[which],
        pieces.places[which],
    )
    return cells, Caps(*(values[which] for values in caps))


def _limit_by_joints(
    robot: Robot, path: _PathOfJoints, wanted: Floats, share: Floats
) -> tuple[Floats, Floats]:
    """Highest speed and acceleration of cells, (k,) each, by the joints at places in them."""
    k = len(COARSE)
    d, b = np.abs(path.d), np.abs(path.b)
    known = ~np.isnan(path.q[:, 0])
    limits = robot.limits
    V = np.repeat(wanted, k)
    least = np.repeat(share, k)[:, None]
    A = np.full(len(V), np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        V = np.fmin(V, (MARGIN * least * limits.velocity / d).min(axis=1))
        V = np.fmin(V, np.sqrt(HALF * MARGIN * limits.acceleration / b).min(axis=1))
        A = np.fmin(A, ((MARGIN * limits.acceleration - b * V[:, None] ** 2) / d).min(axis=1))
        rows = (path.q[known], path.d[known], path.b[known])
        by_torque = _limit_by_torque(robot, *rows, V[known])
        V[known] = np.fmin(V[known], by_torque[0])
        A[known] = np.fmin(A[known], by_torque[1])
    return V.reshape(-1, k).min(axis=1), A.reshape(-1, k).min(axis=1)


def _limit_by_torque(
    robot: Robot, q: Floats, d: Floats, b: Floats, V: Floats
) -> tuple[Floats, Floats]:
    """Speed and acceleration along the path by the torques of joints and motors, (m,) each."""
    none = np.zeros_like(q)
    gravity = robot.inverse_dynamics(q, none, none)
    along = robot.inverse_dynamics(q, none, d) - gravity
    bent = robot.inverse_dynamics(q, d, b) - gravity
    v = d * V[:, None]
    friction = np.abs(robot.friction_torque(v, q))
    friction += np.abs(robot.load_dependent_friction(q, v, b * V[:, None] ** 2))
    limit = robot.limits.torque
    sides = [(limit, gravity, along, bent, friction)]
    assembly = robot.assembly
    if assembly.motor_rows.shape[0] == robot.n:
        to_motor = assembly.motor_inverse
        rows = (gravity @ to_motor, along @ to_motor, bent @ to_motor)
        sides.append((robot.limits.motor_torque, *rows, friction @ np.abs(to_motor)))
    A = np.full(len(V), np.inf)
    for limit, g, m, h, f in sides:
        left = np.maximum(MARGIN * limit - np.abs(g) - f, LEAST_LEFT * limit)
        V = np.fmin(V, np.sqrt(HALF * left / np.abs(h)).min(axis=1))
        A = np.fmin(A, ((left - np.abs(h) * V[:, None] ** 2) / np.abs(m)).min(axis=1))
    return V, A


def _plan(cells: Pieces, moves: Sequence[ProgramMove], caps: Caps) -> LookAhead:
    """The profile over cells; neighbours of one speed are one part."""
    V, A, J = caps
    same = np.abs(np.diff(V)) <= SAME_SPEED * V[1:]
    same &= np.minimum(A[1:], A[:-1]) >= SIMILAR * np.maximum(A[1:], A[:-1])
    same &= (np.diff(J) == 0) & ~cells.stops[:-1]
    first = np.flatnonzero(np.concatenate([[True], ~same]))
    last = np.append(first[1:], len(V)) - 1
    waits = np.array([m.wait for m in moves])[cells.move]
    stops = cells.stops[last]
    parts = ProfileParts(
        np.add.reduceat(cells.length, first),
        V[first],
        np.minimum.reduceat(A, first),
        J[first],
        stops,
        np.where(stops, waits[last], 0.0),
    )
    return plan_look_ahead(parts)
