"""A robot held at its tool by a finite stiffness: six springs along the rows of the Jacobian.

    force along direction i:  k_i (J_i (q - q_0)) + c_i J_i v        J at the clamped posture

A clamped tool moves by micrometres to a few millimetres; over that the Jacobian is constant and the
clamp is six springs of the plant, each along a row of the joints.

Ref: [Soder-Hoorn 2015, section 5.3]
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from armtwin.drives.rows import Rows, Spring, Springs, pack_rows, pack_springs
from armtwin.maths.batch import Floats
from armtwin.maths.quantities import Stiffness, Time, TorsionStiffness
from armtwin.robot.dynamics.sag import solve_sag
from armtwin.robot.robot import Robot
from armtwin.simulation.coordinates import coordinates
from armtwin.simulation.model import Model
from armtwin.simulation.plant import Plant


@dataclass(frozen=True)
class ToolClamp:
    """What holds the tool, the same in all directions.

    Attributes:
        translation: Stiffness against a shift of the tool [N/m].
        rotation: Stiffness against a turn of the tool [N m/rad].
        damping: Damping over stiffness [s].
    """

    translation: Stiffness
    rotation: TorsionStiffness
    damping: Time = 1e-3

    @property
    def stiffness(self) -> Floats:
        """Stiffness along the rows of a Jacobian, linear then angular, (6,)."""
        return np.array([self.translation] * 3 + [self.rotation] * 3)

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        return "" if self.translation > 0 else "translation must be greater than 0 N/m"


def clamp_at_tool(
    robot: Robot, model: Model, q: Floats, clamp: ToolClamp
) -> Callable[[Plant], Plant]:
    """What adds a clamp, slack while the robot is at its first set-point, to its plant.

    Args:
        robot: The robot, tool mounted.
        model: What is simulated.
        q: Joint positions of the first set-point, (n,).
        clamp: The clamp.
    """
    places = coordinates(robot, model)
    start = solve_sag(places, q)
    rows = np.zeros((6, places.count))
    bodies = places.bodies
    rows[:, :bodies] = places.built.jacobian(start[:bodies])
    rest = rows @ start

    def change(plant: Plant) -> Plant:
        first = len(plant.rows.weights)
        springs = _append_clamp(plant.springs, first, clamp, rest)
        return plant._replace(rows=_with_rows(plant.rows, rows), springs=springs)

    return change


def _with_rows(rows: Rows, more: Floats) -> Rows:
    weights = np.vstack([rows.weights, more])
    used = weights != 0
    for r, count in enumerate(rows.used):  # a row may reach more than its weights: ripple
        used[r, rows.place[r, :count]] = True
    return pack_rows(weights, used)


def _append_clamp(springs: Springs, first: int, clamp: ToolClamp, rest: Floats) -> Springs:
    """Springs of the gears and, behind them, those of the clamp."""
    parts = [Spring(k, clamp.damping * k) for k in clamp.stiffness]
    added = pack_springs(range(first, first + 6), parts)._replace(rest=rest)
    both: list[Any] = [np.concatenate(pair) for pair in zip(springs, added, strict=True)]
    return Springs(*both)
