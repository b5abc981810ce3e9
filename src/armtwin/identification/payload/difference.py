"""The torque of a load along a motion, as rows of a regression in its ten parameters.

    τ_with - τ_without - (τ_arm(q_with) - τ_arm(q_without)) = Y_flange(q_with) φ

Friction, the arm and repeatable errors of the drives are in both runs and cancel. The bracket is
the small difference of the two runs of one motion; only there the robot file's parameters matter.

With the arm held there is no second run:  τ_with - τ_arm(q_with) = Y_flange(q_with) φ.
"""

from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.estimate import RowNoise, even_blocks
from armtwin.identification.payload.synchronisation import SynchronisedRuns
from armtwin.identification.rigid_body.data.clean_log import (
    CleanLog,
    Motion,
    clean_log,
    whole_torque,
)
from armtwin.identification.rigid_body.fit.regression import select_rows
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.cleaning import choices, filter_values
from armtwin.logs.log import Log
from armtwin.logs.rest import SLOW_SHARE
from armtwin.maths.batch import Flags, Floats
from armtwin.mechanics.inertia import transform_to_parent
from armtwin.robot.robot import Robot

PARTS = 10  # of a run that count as independent of each other
TEN = ("m", "mx", "my", "mz", "Jxx", "Jyy", "Jzz", "Jxy", "Jxz", "Jyz")
SIZES = np.array([1.0, *[0.1] * 3, *[0.01] * 6])  # of one kilogram at ten centimetres


@dataclass(frozen=True, eq=False)
class LoadRows:
    """Rows of a load's regression.

    Attributes:
        Y: Torque per parameter in the flange's frame, filtered, (m, n, 10).
        target: Torque, or current, that they explain, (m, n).
        arm: Difference of the two runs of the arm, (m, n) [N m].
        used: Which rows count, (m, n).
        independent: Share of the rows that are independent.
        cutoff: Of the filter [Hz].
    """

    Y: Floats
    target: Floats
    arm: Floats
    used: Flags
    independent: float
    cutoff: float

    @property
    def noise(self) -> RowNoise:
        """How the rows err: blocks of the run are independent of each other."""
        return RowNoise(even_blocks([len(self.target)], PARTS), self.independent)


def flange_columns(robot: Robot, motion: Motion) -> Floats:
    """Joint torques per parameter of a body given in the flange's frame, (m, n, 10)."""
    body, X = robot.assembly.frame("flange")
    to_link = np.stack([transform_to_parent(X, unit) for unit in np.eye(10)], axis=1)
    Y = robot.regressor(*motion)
    return Y[:, :, 10 * body : 10 * body + 10] @ to_link


def by_difference(robot: Robot, runs: SynchronisedRuns, cutoff: float | None) -> LoadRows:
    """Rows of the difference of two runs."""
    without = _clean(runs.without, cutoff)
    with_it = _clean(runs.with_it, without.how.cutoff)
    arm = whole_torque(robot, *with_it.motion) - whole_torque(robot, *without.motion)
    moving = _moving(without) & _moving(with_it)
    return _rows(robot, with_it, with_it.clean.tau - without.clean.tau, arm, moving)


def with_arm_held(robot: Robot, with_it: Log, torque: Floats, cutoff: float | None) -> LoadRows:
    """Rows of one run, the arm as in its file."""
    cleaned = _clean(Log(with_it.time, {"q": with_it.q, "tau": torque}), cutoff)
    arm = whole_torque(robot, *cleaned.motion)
    return _rows(robot, cleaned, cleaned.clean.tau, arm, _moving(cleaned))


def _clean(log: Log, cutoff: float | None) -> CleanLog:
    """A run through the filter of a cut-off, by default that of the spectrum of its speeds."""
    bare = Log(log.time, {"q": log.q})
    return clean_log(bare, cutoff or choices(bare).cutoff, Recipe(), log.tau)


def _moving(log: CleanLog) -> Flags:
    speed = np.abs(log.clean.v)
    return speed >= SLOW_SHARE * speed.max(axis=0)


def _rows(robot: Robot, log: CleanLog, target: Floats, arm: Floats, moving: Flags) -> LoadRows:
    how = log.how
    here = select_rows(log)
    Y = flange_columns(robot, log.motion)
    m, n, k = Y.shape
    smooth = filter_values(Y.reshape(m, n * k), how).reshape(m, n, k)
    if not moving[here].any():
        raise ArmtwinError("no joint moves in the run with the payload, so it is not identifiable")
    return LoadRows(
        Y=smooth[here],
        target=target[here],
        arm=filter_values(arm, how)[here],
        used=moving[here],
        independent=min(1.0, 2 * how.cutoff * how.step / how.rate),
        cutoff=how.cutoff,
    )
