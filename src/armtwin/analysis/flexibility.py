"""Elastic deflection of a robot at one posture: sag, compliance and vibrations, brakes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from armtwin.elements import statics
from armtwin.elements.statics import Equilibrium, equilibrium
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, NamedNumbers, Names, Record, check_array
from armtwin.notebook.numbers import DEGREES, HERTZ, Number
from armtwin.notebook.sections import Column, Report, Section, Table, Text
from armtwin.report.result import Result
from armtwin.robot.dynamics.structure import RobotStructure, structure_of, with_joint_springs
from armtwin.robot.robot import Robot

Joints = Literal["locked", "elastic"]


@dataclass(frozen=True)
class Resting:
    """A robot at rest under its own weight, with its elastic joints and links.

    Attributes:
        robot: The robot.
        q: Positions of the motors, as joint angles, (n,).
        structure: Its elements.
        state: Where they come to rest.
        still: Degrees of freedom that do not move.
    """

    robot: Robot
    q: Floats
    structure: RobotStructure
    state: Equilibrium
    still: Names

    def pose(self, frame: str = "tool") -> Floats:
        """Pose of "tool" or "flange" where the robot rests, (4, 4)."""
        return self.structure.pose(self.state.placed.x, frame)


def resting(robot: Robot, q: ArrayLike, *, joints: Joints = "elastic") -> Resting:
    """A robot at rest at one posture, brakes on.

    Args:
        robot: The robot.
        q: The posture, (n,).
        joints: "elastic" lets joints with a transmission stiffness deflect, "locked" none.
    """
    what = f"one posture of the {robot.n} joints of '{robot.name}'"
    posture = check_array("q", q, (robot.n,), what)
    if posture.ndim != 1:
        raise ArmtwinError(f"q must have shape ({robot.n},) ({what}), got {posture.shape}")
    if any(joint.mimic is not None for joint in robot.description.joint):
        raise ArmtwinError(f"robot '{robot.name}': joints that follow others cannot bend yet")
    stiffness = _stiffness(robot) if joints == "elastic" else {}
    rigid = structure_of(robot.assembly)
    structure = with_joint_springs(rigid, posture, stiffness)
    still = []
    for name, coordinate in zip(robot.joint_names, structure.joint_names, strict=True):
        if name not in stiffness:
            still.append(coordinate)
    if len(still) == structure.structure.n:
        raise ArmtwinError(
            f"robot '{robot.name}': nothing is elastic. Its file needs a [[link.beam]], or a "
            "[[transmission]] with a stiffness"
        )
    start = structure.coordinates(posture)
    state = equilibrium(structure.structure, start, still=still)
    return Resting(robot, posture, structure, state, tuple(still))


def _stiffness(robot: Robot) -> NamedNumbers:
    """Stiffness of the joints that have one [N m/rad]."""
    found = {}
    for transmission in robot.description.transmission:
        if transmission.stiffness is not None:
            found[transmission.joint] = transmission.stiffness
    return found


@dataclass(frozen=True)
class LinkSag:
    """Sag of a frame under the robot's weight.

    Attributes:
        shift: Displacement against the stiff robot, base axes, (3,) [m].
        turn: Rotation against it, about base axes, (3,) [rad].
    """

    shift: Floats
    turn: Floats


def sag(rest: Resting, frame: str = "tool") -> LinkSag:
    """Displacement of "tool" or "flange" against a rigid robot."""
    stiff = structure_of(rest.robot.assembly, bending=False).forward_kinematics(rest.q, frame)
    bent = rest.pose(frame)
    R = bent[:3, :3] @ stiff[:3, :3].T
    turn = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return LinkSag(bent[:3, 3] - stiff[:3, 3], turn)


def compliance(rest: Resting, frame: str = "tool") -> Floats:
    """Displacement of "tool" or "flange" per force on it, base axes, (3, 3) [m/N]."""
    point = rest.structure.frames[frame][0]
    return statics.compliance(rest.state.linear, rest.state.placed, point, still=rest.still)


@dataclass(frozen=True)
class RobotModes:
    """Vibrations of a robot with its brakes on.

    Attributes:
        frequencies: Lowest first, (k,) [Hz].
        tool: Motion of the tool in each, of unit modal mass, (k, 3) [m/√kg].
        points: Names of the nodes.
        shapes: Motion of every node in each, (k, points, 3).
    """

    frequencies: Floats
    tool: Floats
    points: Names
    shapes: Floats


def modes(rest: Resting, count: int = 6) -> RobotModes:
    """The lowest vibrations about the state of rest."""
    found = statics.modes(rest.state.linear, rest.state.placed, still=rest.still)
    structure = rest.structure.structure
    names = tuple(point.name for point in structure.parts.points)
    kept = min(count, len(found.frequencies))
    shapes = np.empty((kept, len(names), 3))
    for i, name in enumerate(names):
        at = structure.places[name]
        shapes[:, i] = found.coordinates[at : at + 3, :kept].T
    tool = shapes[:, names.index(rest.structure.frames["tool"][0])]
    return RobotModes(found.frequencies[:kept], tool, names, shapes)


SINKS = Number(1e6, "µm", digits=4, signed=True)
GIVES = Number(1e6, "µm/N", digits=4, signed=True)
TURNS = Number(1e3, "mrad", digits=3, signed=True)
SHARE = Number(digits=3, signed=True)
AXES = "xyz"


@dataclass(frozen=True, eq=False, repr=False)
class Flexibility(Result):
    """Sag, compliance and lowest vibrations of a robot at one posture.

    Attributes:
        robot: Name of the robot.
        q: The posture, (n,).
        elastic: Joints that deflect against the stiffness of their transmissions.
        bending: Links with beams.
        sag: Displacement of the tool under the robot's weight, base axes, (3,) [m].
        turn: Its rotation, about base axes, (3,) [rad].
        compliance: Displacement of the tool per force on it, base axes, (3, 3) [m/N].
        frequencies: Lowest first, (k,) [Hz].
        tool: Motion of the tool in each mode, of unit modal mass, (k, 3) [m/√kg].
        force: Force on the tool, base axes, (3,) [N]; None without.
    """

    robot: str
    q: Floats
    elastic: Names
    bending: Names
    sag: Floats
    turn: Floats
    compliance: Floats
    frequencies: Floats
    tool: Floats
    force: Floats | None = None

    @property
    def pushed(self) -> Floats:
        """Displacement of the tool by the force, to first order, (3,) [m]."""
        return self.compliance @ (np.zeros(3) if self.force is None else self.force)

    def sections(self) -> Report:
        """Sag and compliance of the tool, and its lowest vibrations."""
        angles = ", ".join(DEGREES.text(float(angle)) for angle in self.q)
        sunk = 1e6 * float(np.linalg.norm(self.sag))
        verdict = Text(
            f"The tool sags by {sunk:.4g} µm; the lowest vibration with the brakes on has "
            f"{HERTZ.with_unit(float(self.frequencies[0]))}."
        )
        sections = (
            Section("", (Text(_list_elastic_parts(self)),)),
            Section("Sag and compliance of the tool, base axes", (_tool_table(self),)),
            Section("Vibrations with the brakes on", (_mode_table(self),)),
        )
        title = f"{self.robot}: elastic joints and links"
        return Report(title, f"at q = ({angles})°", sections, (verdict,))


def _list_elastic_parts(found: Flexibility) -> str:
    joints = ", ".join(found.elastic) or "none"
    links = ", ".join(found.bending) or "none"
    return f"Elastic joints: {joints}. Elastic links: {links}."


def _tool_table(found: Flexibility) -> Table:
    records: list[Record] = []
    for i, axis in enumerate(AXES):
        record: dict[str, object] = {"axis": axis, "sag_m": float(found.sag[i])}
        record["turn_rad"] = float(found.turn[i])
        if found.force is not None:
            record["pushed_m"] = float(found.pushed[i])
        for j, other in enumerate(AXES):
            record[f"f{other}_m_n"] = float(found.compliance[i, j])
        records.append(record)
    columns = [
        Column("axis", "along"),
        Column("sag_m", "sag", SINKS),
        Column("turn_rad", "turn", TURNS),
    ]
    if found.force is not None:
        columns.append(Column("pushed_m", "by the force", SINKS))
    columns += [Column(f"f{axis}_m_n", f"per F{axis}", GIVES) for axis in AXES]
    return Table(tuple(columns), records, key="tool")


def _mode_table(found: Flexibility) -> Table:
    records: list[Record] = []
    for i, frequency in enumerate(found.frequencies):
        record: dict[str, object] = {"mode": i + 1, "frequency_hz": float(frequency)}
        size = float(np.linalg.norm(found.tool[i])) or 1.0
        for axis, motion in zip(AXES, found.tool[i], strict=True):
            record[f"tool_{axis}"] = float(motion) / size
        records.append(record)
    columns = [Column("mode", "mode", Number()), Column("frequency_hz", "frequency", HERTZ)]
    columns += [Column(f"tool_{axis}", f"tool {axis}", SHARE) for axis in AXES]
    return Table(tuple(columns), records, key="modes")


def flexibility(
    robot: Robot,
    q: ArrayLike,
    *,
    locked: bool = False,
    count: int = 6,
    force: ArrayLike | None = None,
) -> Flexibility:
    """Sag, compliance and lowest vibrations of a robot at one posture.

    Args:
        robot: The robot, with what is mounted on it.
        q: The posture, (n,).
        locked: Whether joints are rigid, so that links alone deflect.
        count: Number of modes.
        force: Force on the tool, base axes, (3,) [N].
    """
    # kernels of elements are for those who ask

    push = None if force is None else _three(force)
    rest = resting(robot, q, joints="locked" if locked else "elastic")
    sinks, shaken = sag(rest), modes(rest, count)
    elastic = []
    for name, coordinate in zip(robot.joint_names, rest.structure.joint_names, strict=True):
        if coordinate not in rest.still:
            elastic.append(name)
    return Flexibility(
        robot=robot.name,
        q=rest.q,
        elastic=tuple(elastic),
        bending=tuple(link.name for link in robot.description.link if link.beam),
        sag=sinks.shift,
        turn=sinks.turn,
        compliance=compliance(rest),
        frequencies=shaken.frequencies,
        tool=shaken.tool,
        force=push,
    )


def _three(force: ArrayLike) -> Floats:
    given = np.asarray(force, dtype=np.float64)
    if given.shape != (3,) or not np.isfinite(given).all():
        raise ArmtwinError(f"force must be three numbers, got shape {given.shape}")
    return given
