"""Friction curves from slow motion back and forth over the same positions, as a slow sine.

    friction = (τ_there(q) - τ_back(q)) / 2,    speed = (v_there(q) - v_back(q)) / 2

At one position gravity is the same in both directions; so is inertia, as the acceleration of an
even motion back and forth depends on the position. The rest changes sign with the speed: friction.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.identification.friction_curves.plateaus import smooth_speeds
from armtwin.logs.joints import in_order_of, needs_gains, torque_channel, torque_or_current
from armtwin.logs.log import Log, as_logs
from armtwin.logs.rest import SLOW_SHARE
from armtwin.maths.batch import Floats, TwoArrays
from armtwin.robot.robot import Robot

ALONE = 0.1  # of the moving joint's speed that others may have
ALIKE = 0.1  # of the fastest speed by which both directions may differ at a position
PLACES = 2000  # positions along a half-cycle
BINS = 16  # speeds of a curve
LEAST_TRAVEL = 0.5  # of the longest travel that a half-cycle must have


def curves_of_sweeps(
    robot: Robot, logs: Log | Sequence[Log], torque: str | None = None
) -> FrictionCurves:
    """Friction over speed from logs in which one joint moves back and forth.

    Args:
        robot: The robot.
        logs: Logs with positions and a torque or a current.
        torque: Channel of the torque; by default tau, else tau_m, else current.
    """
    given = as_logs(logs, "curves_of_sweeps")
    parts = [_of_log(robot, in_order_of(log, robot.joint_names), torque) for log in given]
    return FrictionCurves.join(*parts)


def _of_log(robot: Robot, log: Log, torque: str | None) -> FrictionCurves:
    name = log.origin or "the log"
    source = torque_channel(log, torque)
    tau = torque_or_current(robot, log, source)
    v = smooth_speeds(log)
    travel = np.abs(np.diff(log.q, axis=0)).sum(axis=0)
    j = int(np.argmax(travel))
    half_cycles = list(_half_cycles(log, v, j))
    found: list[Floats] = []
    for one, other in itertools.pairwise(half_cycles):
        found += _halves(log.q[:, j], v[:, j], tau[:, j], one, other)
    if not found:
        raise ArmtwinError(
            f"{name}: {robot.joint_names[j]} does not move back and forth over the same positions "
            "with the others at rest; friction is half the difference of the directions"
        )
    speed, friction, weight = np.array(found).T
    rows = len(found)
    return replace(
        FrictionCurves.of(robot.joint_names, [j] * rows, speed, friction),
        weight=weight,
        plateau=np.arange(rows),
        unit="A" if needs_gains(robot, source) else "N m",
        origin=log.origin,
        bare=True,
    )


def _half_cycles(log: Log, v: Floats, j: int) -> Iterator[slice]:
    """Stretches in which joint j moves in one direction and the others are at rest."""
    others = np.delete(np.abs(v), j, axis=1).max(axis=1, initial=0.0)
    fastest = np.quantile(np.abs(v[:, j]), 0.99)
    alone = others < ALONE * fastest
    sign = np.where(alone, np.sign(v[:, j]), 0.0)
    edges = np.flatnonzero(np.diff(sign)) + 1
    stretches = [slice(int(a), int(b)) for a, b in itertools.pairwise(edges)]
    lengths = [float(np.ptp(log.q[one, j])) if one.stop > one.start else 0.0 for one in stretches]
    longest = max(lengths, default=0.0)
    for one, length in zip(stretches, lengths, strict=True):
        if length > LEAST_TRAVEL * longest > 0 and sign[one].any():
            yield one


def _halves(q: Floats, v: Floats, tau: Floats, one: slice, other: slice) -> Iterator[Floats]:
    """Speed, friction and weight in bins of the speed from forward and backward motion."""
    low = max(q[one].min(), q[other].min())
    high = min(q[one].max(), q[other].max())
    if v[one].mean() * v[other].mean() >= 0 or high <= low:
        return
    places = np.linspace(low, high, PLACES)
    there, back = _along(q, v, tau, one, places), _along(q, v, tau, other, places)
    if v[one].mean() < 0:
        there, back = back, there
    fastest = max(there[0].max(), -back[0].min())
    speed = 0.5 * (there[0] - back[0])
    alike = np.abs(there[0] + back[0]) < ALIKE * fastest
    every = (speed, 0.5 * (there[1] - back[1]), 0.5 * (there[1] + back[1]))
    edges = np.geomspace(SLOW_SHARE * fastest, fastest, BINS + 1)
    for low_edge, high_edge in itertools.pairwise(edges):
        inside = alike & (speed >= low_edge) & (speed < high_edge)
        if inside.any():
            yield np.array([values[inside].mean() for values in every])


def _along(q: Floats, v: Floats, tau: Floats, half_cycle: slice, places: Floats) -> TwoArrays:
    """Speed and torque of a half-cycle at positions."""
    order = np.argsort(q[half_cycle])
    x = q[half_cycle][order]
    return np.interp(places, x, v[half_cycle][order]), np.interp(places, x, tau[half_cycle][order])
