"""How much the axes of a robot feel each other's accelerations.

    factor_i = √(Σ_{j≠i} M_ij²) / M_ii

over axes of the same kind, for kilograms and kilogram square metres do not add.

Ref: [Machielsen 1983, section 8.2.3]; its table 3 has the rows of the first two cylinders swapped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.analysis.equations import Axes, drive_axes, drive_inertia, joint_axes
from armtwin.analysis.states import States, chart_values
from armtwin.maths.batch import Floats
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import PERCENT, Number
from armtwin.report.result import Result
from armtwin.robot.robot import Robot


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


@dataclass(frozen=True, eq=False, repr=False)
class Coupling(Result):
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

    def sections(self) -> show.Report:
        """Coupling factors of joints and drives, and their inertia at one posture."""
        sections = self.states.show_axes(_blocks, self.joints, self.drives)
        largest = f"{100 * self.joints.factor.max():.0f} % at most between the joints"
        if self.drives is not None:
            largest += f", {100 * self.drives.factor.max():.0f} % between the drives"
        verdict = show.Text(f"Inertial coupling: {largest}.")
        title = f"{self.robot.name}: inertial coupling"
        return show.Report(title, self.states.describe(self.robot), tuple(sections), (verdict,))


def _blocks(what: str, found: Coupled, states: States) -> show.Blocks:
    yield show.Text("Factor: √(Σ M_ij² over the others) / M_ii, of axes of the same kind.")
    ends = ((), ()) if states.alone else (("smallest", PERCENT), ("largest", PERCENT))
    mean = "factor" if states.alone else "mean"
    yield show.Table.of(
        f"{what}s.coupling",
        axis=(found.axes.names, what),
        smallest=(found.factor.min(axis=0), *ends[0]),
        factor=([float(factor.mean()) for factor in found.factor.T], mean, PERCENT),
        largest=(found.factor.max(axis=0), *ends[1]),
    )
    if states.alone:
        yield show.Text(f"Inertia matrix of the {what}s:")
        yield _matrix(found.axes.names, found.M[0], f"{what}s.inertia")
    factors = dict(zip(found.axes.names, 100 * found.factor.T, strict=True))
    yield chart_values("Coupling factors", show.Axis("factor", "%"), factors, states.time)


def _matrix(names: Sequence[str], M: Floats, key: str) -> show.Table:
    of_axes = {name: (own, name, Number(digits=6)) for name, own in zip(names, M.T, strict=True)}
    return show.Table.of(key, **{"axis": (names, ""), **of_axes})


def coupling(robot: Robot, states: States) -> Coupling:
    """Inertial coupling of a robot's joints, and of its drives."""
    joints = _compute_coupling(joint_axes(robot), robot.mass_matrix(states.q))
    drives = None
    if len(robot.assembly.drives) == robot.n:
        drives = _compute_coupling(drive_axes(robot), drive_inertia(robot, states.q))
    return Coupling(robot, states, joints, drives)


def _compute_coupling(axes: Axes, M: Floats) -> Coupled:
    slides = np.array(axes.slides)
    others = (slides[:, None] == slides) & ~np.eye(len(slides), dtype=bool)
    across = np.sqrt(np.einsum("mij,ij->mi", M**2, others.astype(np.float64)))
    return Coupled(axes, M, across / np.einsum("mii->mi", M))
