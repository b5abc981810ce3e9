"""Deflection of the tool of an elastic robot: sag by gravity, and compliance to a force.

    sag = X(u at rest) - X(q),     C = J Z (Zᵀ K Z)⁻¹ Zᵀ Jᵀ,     shift = C F

The motors hold their positions, as a servo that integrates does.

Ref: [Soder-Hoorn 2015, section 1.2]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armtwin.analysis.flexible import Flexible, elastic_coordinates, find_cautions, flexible
from armtwin.analysis.states import States, arrange, chart_values
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, NamedArrays, Names, Record, TwoArrays
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import Number
from armtwin.report.result import Result
from armtwin.robot.dynamics.sag import Outside
from armtwin.robot.dynamics.structure import pose_error
from armtwin.robot.robot import Robot

AXES = ("x", "y", "z", "rx", "ry", "rz")
MICROMETRES = Number(1e6, "µm", digits=4)
MICRORADIANS = Number(1e6, "µrad", digits=4)


@dataclass(frozen=True, eq=False, repr=False)
class Sag(Result):
    """Where gravity and a force move the tool while the motors hold.

    Attributes:
        robot: The robot, with what is mounted on it.
        states: The postures.
        load: What it carries besides, in words.
        springs: Names of the joints, motors and flexures that are elastic.
        torque: What each spring bears, (m, springs) [N m].
        twist: Deflection of each one, backlash included, (m, springs) [rad].
        weight: Shift and turn of the tool by gravity, base axes, (m, 6) [m, rad].
        outside: What acts from outside at each posture; None without.
        pushed: Shift and turn by what acts from outside, on top, (m, 6).
        bending: Links that bend besides.
        cautions: A sentence where the equilibrium is unstable.
    """

    robot: Robot
    states: States
    load: str
    springs: Names
    torque: Floats
    twist: Floats
    weight: Floats
    outside: Outside | None
    pushed: Floats
    bending: Names = ()
    cautions: Names = ()

    def sections(self) -> show.Report:
        """What each spring bears, and where gravity and a force move the tool."""
        most = "" if self.states.alone else " at most"
        words = f"Its weight moves the tool by {_farthest(self.weight)}{most}"
        if self.outside is not None:
            words += f", {_name_of(self.outside)} by {_farthest(self.pushed)} more"
        title = f"{self.robot.name}: sag under its weight"
        where = self.states.describe(self.robot, self.load)
        verdict = (show.Text(f"{words}."), *_warn(self.cautions))
        return show.Report(title, where, (show.Section("", _sag_blocks(self)),), verdict)

    @property
    def shifts(self) -> NamedArrays:
        """Shift and turn of the tool by each cause, (m, 6) [m, rad]."""
        moved = {"gravity": self.weight}
        if self.outside is not None:
            moved[_name_of(self.outside)] = self.pushed
        return moved

    @property
    def table(self) -> list[Record]:
        """A record for each spring, where along the motion it bears most."""
        most = np.abs(self.torque).argmax(axis=0), np.arange(len(self.springs))
        torque, twist = self.torque[most], self.twist[most]
        return show.tabulate(spring=self.springs, torque_n_m=torque, twist_rad=twist)


@dataclass(frozen=True, eq=False, repr=False)
class ToolCompliance(Result):
    """Compliance of the tool to a small force.

    Attributes:
        robot: The robot, with what is mounted on it.
        states: The postures.
        load: What it carries besides, in words.
        matrix: Shift and turn of the tool per force and torque, base axes, (m, 6, 6).
        cautions: A sentence where the equilibrium is unstable.
    """

    robot: Robot
    states: States
    load: str
    matrix: Floats
    cautions: Names = ()

    def sections(self) -> show.Report:
        """The matrix, its principal directions, and compliances along the motion."""
        values, directions = self.principal
        softest = int(values[:, 0].argmax())
        softness = float(values[softest, 0])
        words = show.Text("No force moves the tool in a stable way.")
        if softness > 0:
            direction = ", ".join(f"{x:.2f}" for x in directions[softest, :, 0])
            size = f"{1e6 * softness:.4g} µm/N, {1e-6 / softness:.4g} N/µm"
            words = show.Text(f"Softest direction ({direction}): {size}.")
        title = f"{self.robot.name}: compliance of the tool"
        where = self.states.describe(self.robot, self.load)
        verdict = (words, *_warn(self.cautions))
        return show.Report(title, where, (show.Section("", _compliance_blocks(self)),), verdict)

    @property
    def principal(self) -> TwoArrays:
        """Compliances to forces [m/N], the largest first, (m, 3), and their directions."""
        values, directions = np.linalg.eigh(self.matrix[:, :3, :3])
        return values[:, ::-1], directions[:, :, ::-1]

    @property
    def table(self) -> list[Record]:
        """The matrix at the first posture, a record for each of its rows."""
        return show.tabulate(axis=AXES, **dict(zip(AXES, self.matrix[0].T, strict=True)))


def _warn(cautions: Names) -> list[show.Text]:
    """Cautions as they are shown."""
    return [show.Text(caution, "bad") for caution in cautions]


def _farthest(shift: Floats) -> str:
    """The largest shift of the tool."""
    return f"{1e6 * float(np.linalg.norm(shift[:, :3], axis=1).max()):.4g} µm"


def _name_of(outside: Outside) -> str:
    """What acts from outside, in words: a force that is always the same, or the job's."""
    wrench = outside.wrench
    if outside.torque is not None or wrench is None or np.ptp(wrench, axis=0).any():
        return "the job's forces"
    return f"force {', '.join(f'{x:g}' for x in wrench[0, :3])} N"


def _sag_blocks(result: Sag) -> show.Blocks:
    most = "" if result.states.alone else " at most along the motion"
    if result.bending:
        yield show.Text(f"Links of beams: {', '.join(result.bending)}.")
    yield show.Text(f"Motors hold their positions; what each spring carries of the weight{most}:")
    columns = show.list_columns(
        spring="spring",
        torque_n_m=("torque", Number(1.0, "N m", digits=4)),
        twist_rad=("twist", MICRORADIANS),
    )
    if result.springs:
        yield show.Table(columns, result.table, "springs")
    yield show.Text("Shift and turn of the tool, base axes:")
    yield _shift_table(result)
    charts = []
    for cause, shift in result.shifts.items():
        values = dict(zip(AXES[:3], 1e6 * shift[:, :3].T, strict=True))
        title = f"By {cause}"
        charts.append(chart_values(title, show.Axis("shift", "µm"), values, result.states.time))
    yield from arrange(charts, "Shift of the tool along the motion")


def _shift_table(result: Sag) -> show.Table:
    """Shift and turn of the tool by each cause, where it is largest."""
    shifts = list(result.shifts.values())
    most = [int(np.linalg.norm(shift[:, :3], axis=1).argmax()) for shift in shifts]
    moved = np.array([shift[k] for shift, k in zip(shifts, most, strict=True)])
    at = () if result.states.alone else ("at", Number(1.0, "s", digits=4))
    columns: dict[str, tuple[Any, ...]] = {"time_s": (result.states.time[most], *at)}
    for k, name in enumerate(AXES):
        unit, number = ("m", MICROMETRES) if k < 3 else ("rad", MICRORADIANS)
        columns[f"{name}_{unit}"] = (moved[:, k], name, number)
    return show.Table.of("tool", cause=(result.shifts, "by"), **columns)


def _compliance_blocks(result: ToolCompliance) -> show.Blocks:
    columns = show.list_columns(axis="")
    for k, name in enumerate(AXES):
        head = f"{name}, {'N' if k < 3 else 'N m'}"
        columns += show.list_columns(**{name: (head, Number(1e6, digits=4))})
    if result.robot.description.hydraulic:
        yield show.Text("Valves closed; a force that lasts moves the tool further as oil leaks.")
    yield show.Text("Micrometres and microradians per newton and newton metre, base axes:")
    yield show.Table(columns, result.table, "compliance")
    values, directions = result.principal
    yield _principal(values[0], directions[0])
    names = ("softest", "middle", "stiffest")
    shown = dict(zip(names, 1e6 * values.T, strict=True))
    axis = show.Axis("compliance", "µm/N")
    yield chart_values("Principal compliances", axis, shown, result.states.time)


def _principal(values: Floats, directions: Floats) -> show.Table:
    stiffness = [1 / value if value > 0 else None for value in values.tolist()]
    along = {name: (own, name, Number()) for name, own in zip(AXES, directions, strict=False)}
    return show.Table.of(
        "principal",
        compliance_m_n=(values, "compliance", Number(1e6, "µm/N", digits=4)),
        stiffness_n_m=(stiffness, "stiffness", Number(1e-6, "N/µm", digits=4)),
        **along,
    )


def sag(
    robot: Robot,
    states: States,
    load: str = "",
    outside: Outside | None = None,
    *,
    links: bool = False,
) -> Sag:
    """Where gravity, and what acts from outside, move the tool at postures.

    Args:
        robot: The robot with what it carries.
        states: The postures.
        load: What it carries, in words.
        outside: What acts from outside, a row for each posture.
        links: Whether links bend at their flexures.
    """
    elastic = elastic_coordinates(robot, links=links)
    if not elastic.sags:
        raise ArmtwinError(
            f"robot '{robot.name}' does not sag: its pistons are held where they are measured, and "
            "only their oil is elastic; ask for its modes or its compliance"
        )
    torque, twist, weight, pushed = [], [], [], []
    least = []
    for k, q in enumerate(states.q):
        here = flexible(elastic, q)
        least.append(here.least_stiffness)
        torque.append(here.torque[: len(elastic.places.elastic)])
        twist.append(here.deflections)
        weight.append(pose_error(here.links.pose, here.links.straight))
        if outside is not None:
            there = flexible(elastic, q, outside.at(k))
            pushed.append(pose_error(there.links.pose, here.links.pose))
    return Sag(
        robot=robot,
        states=states,
        load=load,
        springs=tuple(compliance.name for compliance in elastic.places.elastic),
        torque=np.array(torque),
        twist=np.array(twist),
        weight=np.array(weight),
        outside=outside,
        pushed=np.array(pushed).reshape(-1, 6),
        bending=elastic.bending,
        cautions=find_cautions(least),
    )


def compliance(
    robot: Robot, states: States, load: str = "", *, links: bool = False
) -> ToolCompliance:
    """Compliance of the tool at postures, of links that bend where asked for."""
    elastic = elastic_coordinates(robot, links=links)
    found = [flexible(elastic, q) for q in states.q]
    matrices = np.array([compliance_matrix(here) for here in found])
    cautions = find_cautions([here.least_stiffness for here in found])
    return ToolCompliance(robot, states, load, matrices, cautions)


def compliance_matrix(here: Flexible) -> Floats:
    """Shift and turn of the tool per force and torque, (6, 6)."""
    motions = here.tool @ here.freedom
    return motions @ np.linalg.solve(here.held_stiffness, motions.T)


def steady_force(force: ArrayLike, postures: int) -> Outside:
    """A force, or force and torque, on the tool, the same at each of several postures.

    Args:
        force: Base axes, (3,) or (6,) [N, N m].
        postures: How many.
    """
    given = np.asarray(force, dtype=np.float64)
    if given.shape not in ((3,), (6,)) or not np.isfinite(given).all():
        raise ArmtwinError(
            f"force must be three numbers, or six with a torque, got shape {given.shape}"
        )
    wrench = np.zeros(6)
    wrench[: len(given)] = given
    return Outside(wrench=np.tile(wrench, (postures, 1)))
