"""What rotors and friction take of a motor's torque, corrected by the log's own torque.

    tau - Y(q, v, a) phi_0 = Y S z + noise,   z ~ N(0, 1)

S S^T is the covariance of the parameters that the robot file declares. Below the modes of an arm
motor and link move alike, so that the torques identify z. What z leaves open of rotors and friction
is what the load of a spring may be off by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting.estimate import (
    RowNoise,
    ShapeParameters,
    even_blocks,
    fit_separable,
)
from armtwin.identification.rigid_body.data.clean_log import (
    CleanLog,
    Motion,
    clean_log,
    limit_to_rate,
)
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.joints import joint_torque
from armtwin.logs.log import Log
from armtwin.logs.rest import SLOW_SHARE
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot

BELOW_MODES = 5.0  # cut-off: the arms of large robots swing with 7 Hz and more [Hz]
BLOCKS = 20  # stretches of a log that count as independent of each other
TOGETHER = 4096  # samples whose regressor is in memory at a time


@dataclass(frozen=True, eq=False)
class Drives:
    """Rotors and friction of a robot.

    Attributes:
        values: Parameters, those of links and balancers zero, (p,).
        unknown: Directions in which they may be off, by half of 95 % intervals, (p, k).
    """

    values: Floats
    unknown: Floats

    def torques(self, robot: Robot, clean: CleanLog) -> tuple[Floats, Floats]:
        """What they take (m, n), and what each direction takes more (m, n, k), filtered [N m]."""
        columns = _columns(robot, clean, np.column_stack([self.values, self.unknown]))
        return columns[:, :, 0], columns[:, :, 1:]


def correct_drives(robot: Robot, logs: Sequence[Log], spread: Floats) -> Drives:
    """Rotors and friction of a robot file, corrected by the torques of logs.

    Args:
        robot: The robot, with what was mounted.
        logs: Logs with q and a torque.
        spread: Directions in which its parameters may be off by one standard deviation, (p, k).
    """
    parts = [_rows(robot, log, spread) for log in logs]
    residual, slopes, moving = map(np.concatenate, zip(*parts, strict=True))
    blocks = even_blocks([len(part[0]) for part in parts], BLOCKS)
    none = np.zeros((*residual.shape, 0))
    count = spread.shape[1]
    shapes = ShapeParameters(np.zeros(count), prior=1.0, slopes=lambda *_: slopes)
    found = fit_separable(lambda z: (none, residual - slopes @ z), shapes, RowNoise(blocks), moving)
    root = np.linalg.cholesky(found.reach)
    of_drives = np.zeros((len(spread), 1))
    of_drives[robot.layout.rotors] = of_drives[robot.layout.friction] = 1.0
    values = of_drives[:, 0] * (robot.parameters + spread @ found.values)
    return Drives(values, of_drives * (spread @ root))


def _rows(robot: Robot, log: Log, spread: Floats) -> tuple[Floats, Floats, Floats]:
    """Torque that the file does not explain (m, n), its slopes (m, n, k), where joints move.

    One row in half a period of the cut-off frequency, the means of moving samples removed.
    """
    torque, _ = joint_torque(robot, log)
    cutoff = min(limit_to_rate(log, BELOW_MODES), BELOW_MODES)
    clean = clean_log(log, cutoff, Recipe(), torque)
    columns = _columns(robot, clean, np.column_stack([robot.parameters, spread]))
    grid = clean.clean.time
    every = max(1, int(0.5 / (cutoff * (grid[1] - grid[0]))))
    columns, torque = columns[::every], clean.clean.tau[::every]
    speed = np.abs(clean.motion.v[::every])
    moving = speed > SLOW_SHARE * speed.max(axis=0)
    count = np.maximum(moving.sum(axis=0), 1)
    columns[:, :, 0] = torque - columns[:, :, 0]
    columns -= (columns * moving[:, :, None]).sum(axis=0) / count[:, None]
    return columns[:, :, 0], columns[:, :, 1:], moving


def _columns(robot: Robot, clean: CleanLog, directions: Floats) -> Floats:
    """Torques of directions (p, k) of the parameters, filtered, (m, n, k) [N m]."""
    motion: Motion = clean.motion
    found = []
    for start in range(0, len(motion.q), TOGETHER):
        here = motion.at(slice(start, start + TOGETHER))
        found.append(robot.regressor(*here) @ directions)
    return clean.filter_columns(np.concatenate(found))
