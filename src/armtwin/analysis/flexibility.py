"""How far a robot gives way at one posture: sag, compliance and vibrations, brakes on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot


@dataclass(frozen=True)
class Flexibility:
    """Sag, compliance and lowest vibrations of a robot at one posture.

    Attributes:
        robot: Name of the robot.
        q: The posture, (n,).
        elastic: Joints that give way against the stiffness of their transmissions.
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
    elastic: tuple[str, ...]
    bending: tuple[str, ...]
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


def flexibility(
    robot: Robot,
    q: ArrayLike,
    *,
    locked: bool = False,
    count: int = 6,
    force: ArrayLike | None = None,
) -> Flexibility:
    """How far a robot gives way at one posture.

    Args:
        robot: The robot, with what is mounted on it.
        q: The posture, (n,).
        locked: Whether joints do not give way, so that links alone do.
        count: Number of modes.
        force: Force on the tool, base axes, (3,) [N].
    """
    # kernels of elements are for those who ask
    from armtwin.analysis.flexible_links import compliance, modes, resting, sag

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
