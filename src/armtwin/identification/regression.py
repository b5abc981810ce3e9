"""The regression of a robot's parameters on its logs: Y(q, v, a) φ = τ, both sides through the same filter."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.logs.cleaning import Cleaning, choices, clean, low_pass
from armtwin.logs.log import Log
from armtwin.logs.torque import joint_torque
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot

REST = 0.01  # share of a joint's highest speed below which friction has no sign; such rows are left out


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of one log.

    Attributes:
        Y: Filtered regressor, (m, n, p).
        tau: Filtered joint torque, (m, n) [N m].
        moving: Whether each joint moves, so that its row may be used, (m, n).
        how: How the log was cleaned.
        source: Channel that the torque comes from.
    """

    Y: Floats
    tau: Floats
    moving: Floats
    how: Cleaning
    source: str


def block(robot: Robot, log: Log, cutoff: float | None, channel: str | None) -> Block:
    """The rows of a log; a log that does not fit the robot is refused."""
    if "q" not in log or log.q.shape[1] != robot.n:
        got = log.q.shape[1] if "q" in log else 0
        raise ArmtwinError(f"the log must have {robot.n} columns of q for robot '{robot.name}', got {got}")
    still = np.ptp(log.q, axis=0) < 1e-6
    if still.any():
        name = robot.joint_names[int(still.argmax())]
        raise ArmtwinError(f"{name} does not move in the log, so nothing can be learned about it")
    torque, source = joint_torque(robot, log, channel)
    bare = Log.of(log.time, q=log.q, tau=torque)
    how = choices(bare, cutoff)
    whole = clean(bare, replace(how, step=1, margin=0))
    Y = robot.regressor(whole.q, whole.v, whole.a)
    m, n, p = Y.shape
    filtered = low_pass(Y.reshape(m, n * p), how.rate, how.cutoff).reshape(m, n, p)
    kept = slice(how.margin, m - how.margin, how.step)
    speed = np.abs(whole.v[kept])
    return Block(filtered[kept], whole.tau[kept], speed > REST * speed.max(axis=0), how, source)


def motion(robot: Robot, log: Log, cutoff: float) -> tuple[Floats, Floats, Floats]:
    """Filtered positions, speeds and accelerations at every sample of a log, for predicting its torque."""
    how = replace(choices(log, cutoff), step=1, margin=0)
    cleaned = clean(Log.of(log.time, q=log.q), how)
    parts = (cleaned.q, cleaned.v, cleaned.a)
    if len(cleaned.time) == len(log.time) and np.abs(cleaned.time - log.time).max() < 1e-6:
        return parts
    q, v, a = (np.stack([np.interp(log.time, cleaned.time, x) for x in part.T], axis=1) for part in parts)
    return q, v, a
