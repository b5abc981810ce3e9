"""How far the tool of an elastic robot gives way: to its weight, and to a force.

    sag = X(u at rest) - X(q),     C = J Z (Zᵀ K Z)⁻¹ Zᵀ Jᵀ,     shift = C F

The motors hold their positions, as a servo that integrates does.

Ref: [Soder-Hoorn 2015, section 1.2]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from armtwin.analysis.flexible import Flexible, elastic_coordinates, flexible
from armtwin.analysis.states import States
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.notebook import cards
from armtwin.report.figures import Panel, draw_panels
from armtwin.robot.coordinates import Coordinates
from armtwin.robot.robot import Robot
from armtwin.robot.sag import Outside

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AXES = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True, eq=False)
class Sag:
    """Where gravity and a force move the tool while the motors hold.

    Attributes:
        robot: The robot, with what is mounted on it.
        states: The postures.
        load: What it carries besides, in words.
        springs: Names of the joints, motors and flexures that are elastic.
        torque: What each spring bears, (m, springs) [N m].
        twist: How far each one is bent, backlash included, (m, springs) [rad].
        weight: Shift and turn of the tool by gravity, base axes, (m, 6) [m, rad].
        outside: What acts from outside at each posture; None without.
        pushed: Shift and turn by what acts from outside, on top, (m, 6).
    """

    robot: Robot
    states: States
    load: str
    springs: tuple[str, ...]
    torque: Floats
    twist: Floats
    weight: Floats
    outside: Outside | None
    pushed: Floats

    def __repr__(self) -> str:
        largest = 1e6 * np.linalg.norm(self.weight[:, :3], axis=1).max()
        return cards.line("Sag", repr(self.robot.name), f"at most {largest:.4g} µm", self.load)

    def _repr_html_(self) -> str:
        rows = []
        for record in self.table:
            rows.append(
                (str(record["spring"]), f"{record['torque_n_m']:.4g}", f"{record['twist_rad']:.4g}")
            )
        return cards.table(repr(self), rows, ("spring", "torque [N m]", "twist [rad]"))

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw the shift of the tool by gravity along the motion.

        Args:
            axes: One; a new one where none is given.
        """
        lines = dict(zip(AXES[:3], 1e6 * self.weight[:, :3].T, strict=True))
        return draw_panels(self.states.time, "time [s]", [Panel("shift [µm]", lines)], axes)

    @property
    def table(self) -> list[dict[str, Any]]:
        """A record for each spring, where along the motion it bears most."""
        records = []
        most = np.abs(self.torque).argmax(axis=0)
        for e, name in enumerate(self.springs):
            records.append(
                {
                    "spring": name,
                    "torque_n_m": float(self.torque[most[e], e]),
                    "twist_rad": float(self.twist[most[e], e]),
                }
            )
        return records


@dataclass(frozen=True, eq=False)
class ToolCompliance:
    """How far the tool gives way to a small force.

    Attributes:
        robot: The robot, with what is mounted on it.
        states: The postures.
        load: What it carries besides, in words.
        matrix: Shift and turn of the tool per force and torque, base axes, (m, 6, 6).
    """

    robot: Robot
    states: States
    load: str
    matrix: Floats

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw the principal compliances along the motion.

        Args:
            axes: One; a new one where none is given.
        """
        names = ("softest", "middle", "stiffest")
        lines = dict(zip(names, 1e6 * self.principal[0].T, strict=True))
        return draw_panels(self.states.time, "time [s]", [Panel("compliance [µm/N]", lines)], axes)

    @property
    def principal(self) -> tuple[Floats, Floats]:
        """Compliances to forces [m/N], the largest first, (m, 3), and their directions."""
        values, directions = np.linalg.eigh(self.matrix[:, :3, :3])
        return values[:, ::-1], directions[:, :, ::-1]

    def __repr__(self) -> str:
        softest = 1e-6 / self.principal[0].max()
        return cards.line("ToolCompliance", repr(self.robot.name), f"softest {softest:.4g} N/µm")

    def _repr_html_(self) -> str:
        rows = []
        for record in self.table:
            rows.append((str(record["axis"]), *(f"{record[name]:.4g}" for name in AXES)))
        return cards.table(repr(self), rows, ("", *AXES))

    @property
    def table(self) -> list[dict[str, Any]]:
        """The matrix at the first posture, a record for each of its rows."""
        records: list[dict[str, Any]] = []
        for name, row in zip(AXES, self.matrix[0], strict=True):
            records.append({"axis": name, **dict(zip(AXES, row.tolist(), strict=True))})
        return records


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
    places = elastic_coordinates(robot, links=links)
    torque, twist, weight, pushed = [], [], [], []
    for k, q in enumerate(states.q):
        here = flexible(places, q)
        torque.append(here.torque)
        twist.append(here.twists @ here.u)
        weight.append(_moved(places, places.both_sides(q), here.u))
        if outside is not None:
            there = flexible(places, q, outside.at(k))
            pushed.append(_moved(places, here.u, there.u))
    return Sag(
        robot=robot,
        states=states,
        load=load,
        springs=tuple(compliance.name for compliance in places.elastic),
        torque=np.array(torque),
        twist=np.array(twist),
        weight=np.array(weight),
        outside=outside,
        pushed=np.array(pushed).reshape(-1, 6),
    )


def compliance(
    robot: Robot, states: States, load: str = "", *, links: bool = False
) -> ToolCompliance:
    """Compliance of the tool at postures, of links that bend where asked for."""
    places = elastic_coordinates(robot, links=links)
    matrices = [compliance_matrix(flexible(places, q)) for q in states.q]
    return ToolCompliance(robot, states, load, np.array(matrices))


def compliance_matrix(here: Flexible) -> Floats:
    """Shift and turn of the tool per force and torque, (6, 6)."""
    ways = here.tool @ here.freedom
    stiffness = here.freedom.T @ here.K @ here.freedom
    return np.asarray(ways @ np.linalg.solve(stiffness, ways.T))


def steady_force(force: ArrayLike, postures: int) -> Outside:
    """A force, or force and torque, on the tool, the same at so many postures.

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


def _moved(places: Coordinates, before: Floats, after: Floats) -> Floats:
    """Shift and turn of the tool between two places of the coordinates, (6,)."""
    bodies = places.bodies
    X, Y = places.built.forward_kinematics(np.stack([before[:bodies], after[:bodies]]))
    turn = Y[:3, :3] @ X[:3, :3].T
    # a small turn: its axis times its angle is the odd part of the matrix
    twice = turn - turn.T
    angle = 0.5 * np.array([twice[2, 1], twice[0, 2], twice[1, 0]])
    return np.concatenate([Y[:3, 3] - X[:3, 3], angle])
