"""The coordinates of a simulation: joints of the bodies, then the drive sides that are apart.

    link side = S u,   drive side = E u        each a unit row for every joint of the robot

A rigid joint has both sides on the coordinate of its body; an elastic one has a coordinate of its
own for its drive side. The gear matrix acts on drive sides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.robot.drive_groups import Transmission
from armtwin.robot.robot import Robot
from armtwin.robot.rows import Row
from armtwin.simulation.model import Model


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Which coordinate is what.

    Attributes:
        bodies: Number of joints of the bodies, the first coordinates.
        count: Number N of all coordinates.
        link: Coordinate of the link side of each joint of the robot, (n,).
        drive: Coordinate of its drive side, (n,); the same one where the gear is rigid.
        elastic: Joint and transmission of each coordinate beyond the bodies', in their order.
    """

    bodies: int
    count: int
    link: NDArray[np.int64]
    drive: NDArray[np.int64]
    elastic: tuple[tuple[int, Transmission], ...]

    @property
    def drive_rows(self) -> Floats:
        """Drive sides of the joints as rows of the coordinates, E, (n, N)."""
        return np.eye(self.count)[self.drive]

    def weights(self, row: Row) -> Floats:
        """A row of the joints as a row of the coordinates, (N,)."""
        weights = np.zeros(self.count)
        weights[self.drive if row.side == "motor" else self.link] = row.weights
        return weights

    def twist(self, k: int) -> Floats:
        """Row of the k-th elastic transmission's twist: drive side less link side, (N,)."""
        joint = self.elastic[k][0]
        weights = np.zeros(self.count)
        weights[self.drive[joint]] = 1.0
        weights[self.link[joint]] = -1.0
        return weights

    def both_sides(self, q: Floats) -> Floats:
        """Coordinates (..., N) of joints whose two sides are at the same place, (..., n)."""
        u = np.zeros((*q.shape[:-1], self.count))
        u[..., self.link] = q
        u[..., self.drive] = q
        return u

    def on_links(self, torque: Floats) -> Floats:
        """Torques on the coordinates, (..., N), of torques on the links, (..., n)."""
        generalised = np.zeros((*torque.shape[:-1], self.count))
        generalised[..., self.link] = torque
        return generalised

    def joint_torques(self, generalised: Floats) -> Floats:
        """Torques on the joints (..., n), on either side, from those on the coordinates."""
        apart = self.drive != self.link
        return np.asarray(generalised[..., self.link] + apart * generalised[..., self.drive])


def coordinates(robot: Robot, model: Model) -> Coordinates:
    """The coordinates of a robot under a model."""
    n = robot.n
    elastic = _elastic(robot) if model.joints == "elastic" else ()
    link = np.arange(n)
    drive = link.copy()
    for k, (joint, _) in enumerate(elastic):
        drive[joint] = n + k
    return Coordinates(n, n + len(elastic), link, drive, elastic)


def _elastic(robot: Robot) -> tuple[tuple[int, Transmission], ...]:
    """Joints with a transmission of known stiffness, in the order of the joints."""
    found = {}
    for transmission in robot.description.transmission:
        if transmission.stiffness is not None:
            found[robot.assembly.tree.joint(transmission.joint)] = transmission
    driven = np.abs(robot.assembly.gear).sum(axis=0) > 0
    idle = [robot.joint_names[j] for j in found if not driven[j]]
    if idle:
        raise ArmtwinError(
            f"robot '{robot.name}': the transmission of {idle[0]} has no motor that drives it"
        )
    return tuple(sorted(found.items()))
