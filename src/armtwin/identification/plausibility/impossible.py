"""Logs that no reading of the columns makes possible: constant torques, motions beyond limits."""

from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.plausibility.samples import TorqueSamples
from armtwin.identification.rigid_body.data.log_checks import names_of_joints, slides
from armtwin.logs.plausibility import OFTEN
from armtwin.maths.batch import Floats
from armtwin.maths.narrow import ranges
from armtwin.robot.robot import Robot

MOVES = 1e-3  # range from which on a joint must show a torque [rad, m]
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
