"""The regressor along a motion, and the slope of anything computed from it by the motion.

    dF/dq = Σ_jp F_jp dY_jp/dq        F_jp = dF/dY_jp, and alike by v and a

All slopes of a sample come from one pass backwards through the traced regressor, in less time than
the regressor itself. The sign of friction is smoothed over 1 % of the highest speed there, as a sum
over samples would otherwise step whenever a sample changes sign. Where a regressor cannot be
traced, as with a friction law that is a table, slopes are differences.
"""

from dataclasses import dataclass

import numpy as np

from armtwin.identification.rigid_body.fit.identifiability import analyse_identifiability
from armtwin.identification.rigid_body.friction.presliding import (
    joint_positions,
    of_all_joints,
    of_coordinates,
)
from armtwin.maths.adjoint import pull_back
from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiles
from armtwin.maths.traced_rows import Formula, compute
from armtwin.motion.fourier import Shapes
from armtwin.robot.dynamics.traced import whole_regressor
from armtwin.robot.robot import Robot

SOFT = 0.01  # of its highest speed over which the sign of friction is smoothed
STEP = 1e-6  # of the differences [rad, rad/s, rad/s²]


@dataclass(frozen=True, eq=False)
class TracedColumns:
    """Columns by the traced regressor.

    Attributes:
        robot: The robot.
        regressor: Formula of all its columns.
        backwards: Formula of their weighted sum's slopes.
    """

    robot: Robot
    regressor: Formula
    backwards: Formula

    def values(self, motion: Shapes) -> Floats:
        """Columns Y, (m, n, r)."""
        m = len(motion.q)
        p = len(self.robot.parameters)
        Y = np.zeros((m, self._joints, p))
        compute(self.regressor, self._of_joints(motion), (Y,))
        kept = Y[:, :, list(analyse_identifiability(self.robot).kept)]
        coupling = self.robot.assembly.coupling
        return kept if coupling is None else coupling.G.T @ kept

    def slopes(self, motion: Shapes, by_columns: Floats) -> Shapes:
        """dF/dq, dF/dv, dF/da, (m, n) each, of an F with dF/dY = by_columns, (m, n, r)."""
        m = len(motion.q)
        weights = np.zeros((m, self._joints, len(self.robot.parameters)))
        coupling = self.robot.assembly.coupling
        spread = by_columns if coupling is None else coupling.G @ by_columns
        weights[:, :, list(analyse_identifiability(self.robot).kept)] = spread
        dq, dv, da = np.zeros((3, m, self._joints))
        compute(self.backwards, (*self._of_joints(motion), weights), (dq, dv, da))
        return Shapes(*(of_coordinates(self.robot, slope) for slope in (dq, dv, da)))

    @property
    def _joints(self) -> int:
        return len(self.robot.assembly.arm.parent)

    def _of_joints(self, motion: Shapes) -> Shapes:
        """The motion of all joints, those that follow others included."""
        speeds = (of_all_joints(self.robot, values) for values in (motion.v, motion.a))
        return Shapes(joint_positions(self.robot, motion.q), *speeds)


@dataclass(frozen=True, eq=False)
class DifferencedColumns:
    """Columns by the robot's own regressor, slopes by central differences."""

    robot: Robot

    def values(self, motion: Shapes) -> Floats:
        """Columns Y, (m, n, r)."""
        Y = self.robot.regressor(*motion)
        return Y[:, :, list(analyse_identifiability(self.robot).kept)]

    def slopes(self, motion: Shapes, by_columns: Floats) -> Shapes:
        """dF/dq, dF/dv, dF/da, (m, n) each, of an F with dF/dY = by_columns, (m, n, r)."""
        found = []
        for kind, values in enumerate(motion):
            slope = np.empty_like(values)
            for j in range(values.shape[1]):
                ahead = self._moved(motion, kind, j, STEP)
                behind = self._moved(motion, kind, j, -STEP)
                change = self.values(ahead) - self.values(behind)
                slope[:, j] = np.einsum("mnr,mnr->m", change, by_columns) / (2 * STEP)
            found.append(slope)
        return Shapes(*found)

    def _moved(self, motion: Shapes, kind: int, j: int, step: float) -> Shapes:
        parts = [values.copy() for values in motion]
        parts[kind][:, j] += step
        return Shapes(*parts)


RegressorColumns = TracedColumns | DifferencedColumns


def columns_of(robot: Robot, fastest: Floats) -> RegressorColumns:
    """The columns of a robot, traced where possible, the sign of friction smoothed.

    Args:
        robot: The robot.
        fastest: Highest speeds of the joints, (n,).
    """
    top = of_all_joints(robot, fastest)
    rows = [top @ np.abs(row.weights) for _, row in robot.assembly.friction]
    regressor = whole_regressor(robot.assembly, SOFT * np.array(rows))
    if regressor is None or not compiles():
        return DifferencedColumns(robot)
    return TracedColumns(robot, regressor, pull_back(regressor, "Y"))
