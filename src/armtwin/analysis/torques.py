"""Torques and forces by what causes them.

    inertial     M_ii x_i''                     coupling    Σ_{j≠i} M_ij x_j''
    centripetal  Σ_j H_ijj x_j'²                Coriolis    Σ_{j≠k} H_ijk x_j' x_k'
    gravity      g_i                            spin        gyroscopic coupling of rotors

and as a controller of one axis sees them:

    inertial     M_ii x_i''                     square      H_iii x_i'²
    viscous      Σ_{k≠i} (H_iik + H_iki) x_i' x_k'          external    all the rest

Ref: [Machielsen 1983, sections 8.2.1 and 8.2.4]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armtwin.analysis.equations import Axes, Equations, of_drives, of_joints
from armtwin.analysis.states import States
from armtwin.maths.batch import Floats
from armtwin.notebook import cards
from armtwin.report.figures import Panel, draw_bars, draw_panels
from armtwin.robot.robot import Robot
from armtwin.robot.strokes import drive_forces, strokes

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Drawn

CAUSES = ("inertial", "coupling", "centripetal", "coriolis", "gravity", "spin")
SEEN = ("inertial", "square", "viscous", "external")


@dataclass(frozen=True, eq=False)
class Shares:
    """What the force along each axis is made of, (m, n) each [N m or N].

    Attributes:
        axes: The joints, or the drives.
        inertial: By the axis' own acceleration.
        coupling: By the accelerations of the others.
        centripetal: By squares of speeds.
        coriolis: By products of two speeds.
        gravity: Weight and balancers.
        spin: Gyroscopic coupling of rotors with the links that carry them.
        square: By the square of the axis' own speed, part of centripetal.
        viscous: In proportion to the axis' own speed, as other axes move.
        friction: Steady friction, which is in none of the others nor in their sum.
    """

    axes: Axes
    inertial: Floats
    coupling: Floats
    centripetal: Floats
    coriolis: Floats
    gravity: Floats
    spin: Floats
    square: Floats
    viscous: Floats
    friction: Floats

    @property
    def total(self) -> Floats:
        """The sum, friction left out."""
        inertia = self.inertial + self.coupling
        speeds = self.centripetal + self.coriolis
        return inertia + speeds + self.gravity + self.spin

    @property
    def external(self) -> Floats:
        """What an axis neither causes by its acceleration nor by its speed."""
        return self.total - self.inertial - self.square - self.viscous

    def rms(self, name: str) -> Floats:
        """Root mean square of a share, (n,)."""
        return np.asarray(np.sqrt(np.mean(getattr(self, name) ** 2, axis=0)))


@dataclass(frozen=True, eq=False)
class TorqueShares:
    """Torques of a robot by what causes them, at one posture or along a motion.

    Attributes:
        robot: The robot, with what is mounted on it.
        states: The states.
        joints: Shares of the joint torques.
        drives: Shares of the motors' torques and the cylinders' forces; None for a robot without
            drives that determine its joints.
    """

    robot: Robot
    states: States
    joints: Shares
    drives: Shares | None

    def __repr__(self) -> str:
        return cards.line("TorqueShares", repr(self.robot.name), _counted(self.states))

    def _repr_html_(self) -> str:
        rows = []
        for name in (*CAUSES, "friction", "total"):
            values = self.joints.rms(name)
            rows.append((name, *(f"{x:.4g}" for x in values)))
        return cards.table(repr(self) + ", rms", rows, ("", *self.joints.axes.names))

    def plot(self, *, axes: Drawn | Sequence[Drawn] | None = None) -> list[Drawn]:
        """Draw the shares of each joint over time, or as bars at one posture.

        Args:
            axes: One for each joint, for all of them together at one posture; new ones where none
                are given.
        """
        shown = (*CAUSES, "friction")
        if self.states.alone:
            bars = {share: getattr(self.joints, share)[0] for share in shown}
            return draw_bars(self.joints.axes.names, [Panel("torque [N m]", bars)], axes)
        panels = []
        units = self.joints.axes.force_units
        for j, (name, unit) in enumerate(zip(self.joints.axes.names, units, strict=True)):
            lines = {share: getattr(self.joints, share)[:, j] for share in shown}
            panels.append(Panel(f"{name} [{unit}]", lines))
        return draw_panels(self.states.time, "time [s]", panels, axes)

    @property
    def table(self) -> list[dict[str, float | str]]:
        """A record for each joint and drive: root mean square of every share."""
        records: list[dict[str, float | str]] = []
        for shares in (self.joints, self.drives):
            if shares is not None:
                records += list(_records(shares))
        return records


def _counted(states: States) -> str:
    return "one posture" if states.alone else cards.counted(len(states.time), "state")


def _records(shares: Shares) -> list[dict[str, float | str]]:
    records = []
    names = dict.fromkeys((*CAUSES, *SEEN, "friction", "total"))
    values = {name: shares.rms(name) for name in names}
    for i, (axis, unit) in enumerate(zip(shares.axes.names, shares.axes.force_units, strict=True)):
        record: dict[str, float | str] = {"axis": axis, "unit": unit}
        for name in names:
            record[name] = float(values[name][i])
        records.append(record)
    return records


def torque_shares(robot: Robot, states: States) -> TorqueShares:
    """Torques of a robot by what causes them, in its joints and in its drives."""
    q, v, a = states.q, states.v, states.a
    total = robot.inverse_dynamics(q, v, a)
    friction = robot.friction_torque(v, q) + robot.loaded_friction(q, v, a)
    joints = split(of_joints(robot, q), v, a, total, friction)
    if len(robot.assembly.drives) != robot.n:
        return TorqueShares(robot, states, joints, None)
    moved = strokes(robot, q, v, a)
    drives = split(
        of_drives(robot, q),
        moved.speed,
        moved.acceleration,
        drive_forces(robot, q, total),
        drive_forces(robot, q, friction),
    )
    return TorqueShares(robot, states, joints, drives)


def split(equations: Equations, v: Floats, a: Floats, total: Floats, friction: Floats) -> Shares:
    """Forces of a motion by what causes them; what the equations do not hold is spin."""
    M, H, g = equations.M, equations.H, equations.g
    own_inertia = np.einsum("mii->mi", M)
    inertial = own_inertia * a
    coupling = np.einsum("mij,mj->mi", M, a) - inertial
    centripetal = np.einsum("mijj,mj->mi", H, v**2)
    coriolis = np.einsum("mijk,mj,mk->mi", H, v, v, optimize=True) - centripetal
    square = np.einsum("miii->mi", H) * v**2
    with_own_speed = np.einsum("miik,mk->mi", H, v) + np.einsum("miki,mk->mi", H, v)
    viscous = with_own_speed * v - 2 * square
    held = inertial + coupling + centripetal + coriolis + g
    return Shares(
        axes=equations.axes,
        inertial=inertial,
        coupling=coupling,
        centripetal=centripetal,
        coriolis=coriolis,
        gravity=g,
        spin=total - held,
        square=square,
        viscous=viscous,
        friction=friction,
    )
