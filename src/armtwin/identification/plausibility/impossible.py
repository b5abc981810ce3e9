"""Logs that no reading of the columns makes possible: constant torques, motions beyond limits."""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.hypothesis import Hypothesis, refuse_by
from armtwin.identification.plausibility.samples import TorqueSamples
from armtwin.identification.rigid_body.data.log_checks import names_of_joints, slides
from armtwin.logs.plausibility import OFTEN
from armtwin.maths.batch import Floats
from armtwin.maths.narrow import largest, ranges
from armtwin.robot.robot import Robot

MOVES = 1e-3  # range from which on a joint must show a torque [rad, m]
RINGING = 0.02  # of the largest torque, by which a filter may take another below zero
SOME_SPEED = 0.01  # at which a joint moves [rad/s, m/s]
LEAST_REVERSING = 3  # joints of which no friction is negative by chance
VIOLENT = 3.0  # times a limit of acceleration or torque beyond which time is compressed


class _Needed(NamedTuple):
    """What a motion needs, (m, n), its limit (n,), the verb for it and its units."""

    values: Floats
    limit: Floats
    verb: str
    units: tuple[str, str]


def refuse_impossible(samples: TorqueSamples) -> None:
    """Refuse logs that are impossible with any reading of the columns and any mounting."""
    robot, motion = samples.robot, samples.motion
    _refuse_flat(samples)
    refuse_by(_suspect_copies(samples))
    refuse_by(_suspect_lost_signs(samples))
    limits = robot.limits
    rigid = robot.inverse_dynamics(*motion)
    for needed in (
        _Needed(motion.a, limits.acceleration, "accelerate by", ("rad/s²", "m/s²")),
        _Needed(rigid, limits.torque, "need", ("N m", "N")),
    ):
        _refuse_violent(robot, needed)


def _refuse_flat(samples: TorqueSamples) -> None:
    """Refuse a torque that never changes while its joint moves."""
    flat = np.zeros(samples.robot.n, dtype=bool)
    for log in samples.logs:
        flat |= (ranges(log.tau) == 0) & (ranges(log.motion.q) > MOVES)
    if flat.any():
        which = names_of_joints(samples.robot, flat)
        raise ArmtwinError(
            f"the torque of {which} never changes while the joint moves; was it logged at all?"
        )


def _suspect_copies(samples: TorqueSamples) -> Iterator[Hypothesis]:
    """Columns of two joints that are one."""
    names = samples.robot.joint_names
    for what, values in (("positions", samples.motion.q), ("torques", samples.torque())):
        moving = np.flatnonzero(ranges(values) > MOVES)
        for i, k in combinations(moving, 2):
            if np.array_equal(values[:, i], values[:, k]):
                evidence = f"the {what} of {names[i]} and {names[k]} are the same"
                mistake = f"Is a column of {what} copied"
                yield Hypothesis(evidence, mistake, "give each joint its own column")


def _suspect_lost_signs(samples: TorqueSamples) -> Iterator[Hypothesis]:
    """Torques that are never negative, though joints move either way."""
    v, tau = samples.motion.v, samples.torque()
    reverses = (v.min(axis=0) < -SOME_SPEED) & (v.max(axis=0) > SOME_SPEED)
    if reverses.sum() >= LEAST_REVERSING and (tau >= -RINGING * largest(tau))[:, reverses].all():
        evidence = f"no torque is ever negative, though {reverses.sum()} joints move either way"
        yield Hypothesis(evidence, "Did the torques lose their sign", "log them with it")


def _refuse_violent(robot: Robot, needed: _Needed) -> None:
    """Refuse accelerations far beyond the limits, or that take torques far beyond them."""
    usual = np.quantile(np.abs(needed.values), OFTEN, axis=0)
    beyond = usual > VIOLENT * needed.limit
    if not beyond.any():
        return
    j = int(beyond.argmax())
    unit = needed.units[int(slides(robot)[j])]
    raise ArmtwinError(
        f"{robot.joint_names[j]} would {needed.verb} {usual[j]:.4g} {unit} where its limit is "
        f"{needed.limit[j]:.4g} {unit}. Does time run too fast, or are positions in another unit? "
        "Say unit.time or unit.q in a columns file, or correct the limits of the robot file"
    )
