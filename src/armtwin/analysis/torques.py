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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.analysis.equations import Axes, Equations, of_drives, of_joints
from armtwin.analysis.states import States, arrange, chart_values
from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Bars, Chart
from armtwin.notebook.numbers import Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Blocks, Report, Section, Table, Text, list_columns
from armtwin.report.result import Result
from armtwin.robot.kinematics.strokes import drive_forces, strokes
from armtwin.robot.robot import Robot

CAUSES = ("inertial", "coupling", "centripetal", "coriolis", "gravity", "spin")
SEEN = ("inertial", "square", "viscous", "external")
FORCE = Number(digits=3)
HEADS = {"centripetal": "centrip.", "coriolis": "Coriolis", "square": "v²"}  # others: their names


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
        return np.sqrt(np.mean(getattr(self, name) ** 2, axis=0))


@dataclass(frozen=True, eq=False, repr=False)
class TorqueShares(Result):
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

    def sections(self) -> Report:
        """Shares of joints and drives, and the shares along the motion."""
        sections = self.states.show_axes(_share_blocks, self.joints, self.drives)
        if self.drives is None:
            why = Text("Its drives do not determine its joints: torques are those of the joints.")
            sections.append(Section("", (why,)))
        title = f"{self.robot.name}: torques by what causes them"
        where = self.states.describe(self.robot)
        return Report(title, where, tuple(sections), (_largest(self),))


def _largest(result: TorqueShares) -> Text:
    """Which cause is the largest on most joints."""
    causes = (*CAUSES, "friction")
    sizes = np.array([result.joints.rms(name) for name in causes])
    sums = sizes.sum(axis=0)
    shares = sizes / np.where(sums > 0, sums, 1.0)
    words = []
    for name, share in sorted(zip(causes, shares.mean(axis=1), strict=True), key=lambda x: -x[1]):
        if share >= 0.005:
            words.append(f"{name} {100 * share:.0f} %")
    return Text(f"Of the joint torques, mean share of the joints: {', '.join(words) or 'none'}.")


def _share_blocks(what: str, shares: Shares, states: States) -> Blocks:
    kind = "at the posture" if states.alone else "root mean square along the motion"
    units = sorted(set(shares.axes.force_units))
    measure = f"Numbers in {units[0]} are" if len(units) == 1 else "Numbers are"
    yield Text(f"{measure} {kind}; friction is not in the total.")
    yield _share_table(what, shares, states, (*CAUSES, "friction", "total"), "causes")
    yield Text("As a controller of one axis sees them:")
    yield _share_table(what, shares, states, (*SEEN, "total"), "seen")
    yield from arrange(list(_share_charts(shares, states)), "Over time")


def _share_table(
    what: str, shares: Shares, states: States, names: Sequence[str], key: str
) -> Table:
    columns = list_columns(axis=what)
    if len(set(shares.axes.force_units)) > 1:
        columns += list_columns(unit="")
    heads = {name: (HEADS.get(name, name), FORCE) for name in _select_shares(shares, names)}
    columns += list_columns(**heads)
    records = []
    for i, (axis, unit) in enumerate(zip(shares.axes.names, shares.axes.force_units, strict=True)):
        record: dict[str, object] = {"axis": axis, "unit": unit}
        for name in names:
            values = getattr(shares, name)[:, i]
            record[name] = float(values[0] if states.alone else np.sqrt(np.mean(values**2)))
        records.append(record)
    return Table(tuple(columns), records, f"{what}s.{key}")


def _select_shares(shares: Shares, names: Sequence[str]) -> list[str]:
    """Shares that are more than rounding: all but the spin of rotors that do not turn."""
    size = np.abs(shares.total).max()
    spins = np.abs(shares.spin).max() > 1e-9 * max(size, 1.0)
    return [name for name in names if name != "spin" or spins]


def _share_charts(shares: Shares, states: States) -> Iterator[Chart | Bars]:
    names = _select_shares(shares, (*CAUSES, "friction"))
    for i, (axis, unit) in enumerate(zip(shares.axes.names, shares.axes.force_units, strict=True)):
        quantity = Axis("force" if unit == "N" else "torque", unit)
        values = {name: getattr(shares, name)[:, i] for name in names}
        yield chart_values(axis, quantity, values, states.time)


def torque_shares(robot: Robot, states: States) -> TorqueShares:
    """Torques of a robot by what causes them, in its joints and in its drives."""
    q, v, a = states.q, states.v, states.a
    total = robot.inverse_dynamics(q, v, a)
    friction = robot.friction_torque(v, q) + robot.load_dependent_friction(q, v, a)
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
