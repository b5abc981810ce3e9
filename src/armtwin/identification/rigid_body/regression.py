"""The regression of a robot's parameters on its logs: Y(q, v, a) φ = τ.

Both sides pass the same filter.
"""

from __future__ import annotations

import numpy as np

from armtwin.identification.fitting.rows import Rows
from armtwin.identification.fitting.structure import Structure
from armtwin.identification.rigid_body.clean_log import CleanLog
from armtwin.identification.rigid_body.reversals import CHUNK, doubtful_regressor
from armtwin.logs.cleaning import filtered
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot


def rows(robot: Robot, log: CleanLog, base: Structure, rest: Floats, width: Floats) -> Rows:
    """The rows of a clean log, one channel for each joint.

    Args:
        robot: The robot.
        log: The clean log.
        base: The columns of the regressor that are filtered and kept.
        rest: Speeds below which a joint counts as standing and its rows do not, (n,) [rad/s].
        width: Half widths of the speeds over which friction is averaged, (n,) [rad/s].
    """
    how, clean = log.how, log.clean
    kept = slice(how.margin, len(clean.time) - how.margin, how.step)
    Y = filtered(_columns(robot, log, base, width), how)
    moving = np.abs(clean.v[kept]) > rest
    return Rows(Y[kept], base.busy, clean.tau[kept], moving)


def _columns(robot: Robot, log: CleanLog, base: Structure, width: Floats) -> Floats:
    """Columns of the base parameters that each joint has, joint after joint, (m, c)."""
    n, p = robot.n, len(robot.parameters)
    joint, column = np.nonzero(base.busy)
    places = joint * p + np.array(base.kept)[column]
    m = len(log.clean.time)
    columns = np.empty((m, len(places)))
    Y = None
    for k in range(0, m, CHUNK):
        some = slice(k, k + CHUNK)
        Y = doubtful_regressor(robot, log.motion.at(some), width, Y)
        np.take(Y.reshape(-1, n * p), places, axis=1, out=columns[some])
    return columns
