"""How much the axes of a robot feel each other's accelerations.

    factor_i = √(Σ_{j≠i} M_ij²) / M_ii

over axes of the same kind, for kilograms and kilogram square metres do not add.

Ref: [Machielsen 1983, section 8.2.3]; its table 3 has the rows of the first two cylinders swapped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armtwin.analysis.equations import Axes, drive_axes, drive_inertia, joint_axes
from armtwin.analysis.states import States
from armtwin.maths.batch import Floats
from armtwin.notebook import cards
from armtwin.report.figures import Panel, draw_bars, draw_panels
from armtwin.robot.robot import Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Drawn


@dataclass(frozen=True, eq=False)
class Coupled:
    """Inertia matrices of some axes, and how far they are from diagonal.

    Attributes:
        axes: The joints, or the drives.
        M: Inertia, (m, n, n).
        factor: Coupling factors, (m, n).
    """

    axes: Axes
    M: Floats
    factor: Floats


@dataclass(frozen=True, eq=False)
class Coupling:
    """Inertial coupling of a robot at one posture or along a motion.

    Attributes:
        robot: The robot.
        states: The states.
        joints: Coupling of the joints.
        drives: Coupling of motors and cylinders; None where drives do not determine the joints.
    """

    robot: Robot
    states: States
    joints: Coupled
    drives: Coupled | None

    def __repr__(self) -> str:
        parts = []
        for what, found in (("joints", self.joints), ("drives", self.drives)):
            if found is not None:
                parts.append(f"{what} up to {100 * found.factor.max():.3g} %")
        return cards.line("Coupling", repr(self.robot.name), *parts)

    def _repr_html_(self) -> str:
        rows = [(str(r["axis"]), f"{100 * float(r['largest']):.3g} %") for r in self.table]
        return cards.table(repr(self), rows, ("axis", "largest factor"))

    def plot(self, *, axes: Drawn | Sequence[Drawn] | None = None) -> list[Drawn]:
        """Draw the factors of joints and drives over time, or as bars at one posture.

        Args:
            axes: One for the joints, one for the drives where there are any; new ones where none
                are given. One for both at one posture.
        """
        groups = {"joints": self.joints, "drives": self.drives}
        if self.states.alone:
            found = {f"{r['axis']}": 100 * float(r["mean"]) for r in self.table}
            panel = Panel("coupling factor [%]", {"factor": np.array(list(found.values()))})
            return draw_bars(list(found), [panel], axes)
        panels = []
        for what, coupled in groups.items():
            if coupled is not None:
                lines = dict(zip(coupled.axes.names, 100 * coupled.factor.T, strict=True))
                panels.append(Panel(f"{what} [%]", lines))
        return draw_panels(self.states.time, "time [s]", panels, axes)

    @property
    def table(self) -> list[dict[str, float | str]]:
        """A record for each joint and drive: smallest, mean and largest factor."""
        records: list[dict[str, float | str]] = []
        for found in (self.joints, self.drives):
            if found is None:
                continue
            for i, name in enumerate(found.axes.names):
                factor = found.factor[:, i]
                records.append(
                    {
                        "axis": name,
                        "smallest": float(factor.min()),
                        "mean": float(factor.mean()),
                        "largest": float(factor.max()),
                    }
                )
        return records


def coupling(robot: Robot, states: States) -> Coupling:
    """Inertial coupling of a robot's joints, and of its drives."""
    joints = _coupled(joint_axes(robot), robot.mass_matrix(states.q))
    drives = None
    if len(robot.assembly.drives) == robot.n:
        drives = _coupled(drive_axes(robot), drive_inertia(robot, states.q))
    return Coupling(robot, states, joints, drives)


def _coupled(axes: Axes, M: Floats) -> Coupled:
    slides = np.array(axes.slides)
    others = (slides[:, None] == slides) & ~np.eye(len(slides), dtype=bool)
    across = np.sqrt(np.einsum("mij,ij->mi", M**2, others.astype(np.float64)))
    return Coupled(axes, M, across / np.einsum("mii->mi", M))
