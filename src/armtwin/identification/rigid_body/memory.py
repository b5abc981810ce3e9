"""Friction that remembers from where its contact came: the bend of each element along a motion."""

from __future__ import annotations

import numpy as np

from armtwin.drives.friction.stop import stop_operator
from armtwin.maths.batch import Floats
from armtwin.robot.drive_groups import FrictionElement
from armtwin.robot.friction_columns import Elements
from armtwin.robot.robot import Robot
from armtwin.robot.rows import Row

# radius below which a logged position does not tell a contact that bends from one that slides
LEAST_RADIUS = 1e-5  # [rad]


def remembers(element: FrictionElement) -> bool:
    """Whether an element's contact bends so far that a log shows it.

    Only where the file gives a radius: that of a stiffness changes with the level that is fitted.
    """
    pre = element.presliding
    if pre is None or pre.radius is None or element.negative is not None:
        return False
    return pre.radius >= LEAST_RADIUS


def bends(robot: Robot, elements: Elements, q: Floats) -> Floats | None:
    """Share of its dry friction that each element bears along positions (m, n), (m, elements).

    It is nan for elements without memory; None where none has any. A motion begins with no bend.
    """
    every = list(elements)
    if not any(remembers(element) for element, _ in every):
        return None
    coupling = robot.assembly.coupling
    joints = of_all_joints(robot, q)
    if coupling is not None:
        joints = joints + coupling.c
    found = np.full((len(q), len(every)), np.nan)
    for e, (element, row) in enumerate(every):
        if remembers(element):
            found[:, e] = bend(along(row, joints), element.radius)
    return found


def bend(x: Floats, radius: float) -> Floats:
    """Bend of a contact, -1 to 1, (m,), along its positions x (m,)."""
    share = np.empty(len(x))
    stop_operator(np.ascontiguousarray(x), radius, share)
    return share


def along(row: Row, joints: Floats) -> Floats:
    """Position on a row, (m,), at those of all joints, (m, n)."""
    angle = joints @ row.weights
    return angle if row.linkage is None else np.asarray(row.linkage.length(angle))


def of_all_joints(robot: Robot, x: Floats) -> Floats:
    """Changes, or speeds, of all joints from those of the coordinates."""
    coupling = robot.assembly.coupling
    return x if coupling is None else x @ coupling.G.T
