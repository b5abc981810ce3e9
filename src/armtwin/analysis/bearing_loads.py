"""Moments on bearings and forces in links along a motion, links rigid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot


@dataclass(frozen=True)
class BearingLoads:
    """What bearings and links carry along a motion.

    Attributes:
        robot: Name of the robot.
        time: Times, (m,) [s].
        joints: Names of the revolute joints.
        moments: Moment across each joint's axis, (m, joints) [N m].
        links: Names of the beams between the nodes of the links.
        axial: Tension in each, (m, links) [N].
        bending: Larger of its bending moments at both ends, (m, links) [N m].
        torsion: Torque about its axis, (m, links) [N m].
    """

    robot: str
    time: Floats
    joints: tuple[str, ...]
    moments: Floats
    links: tuple[str, ...]
    axial: Floats
    bending: Floats
    torsion: Floats


def bearing_loads(robot: Robot, time: Floats, q: Floats, v: Floats, a: Floats) -> BearingLoads:
    """Moments on every bearing and forces in every link of a motion, (m, n)."""
    if robot.assembly.coupling is not None:
        raise ArmtwinError(f"robot '{robot.name}': joints that follow others have no bearings yet")
    # kernels of elements are for those who ask
    from armtwin.elements.packing import distance
    from armtwin.robot.structure import structure_of

    built = structure_of(robot.assembly, bending=False)
    structure = built.structure
    stress = built.inverse_dynamics(q, v, a).stress
    moments = []
    for hinge in structure.hinges:
        moments.append(_across(structure.row_names, stress, hinge.name, ("bend_y", "bend_z"), 1.0))
    axial, bending, torsion = [], [], []
    for beam in structure.beams:
        rows, length = structure.row_names, distance(structure, *beam.points)
        axial.append(stress[:, structure.row(f"{beam.name}.elongation")])
        torsion.append(length * stress[:, structure.row(f"{beam.name}.torsion")])
        first = _across(rows, stress, beam.name, ("bend_pz", "bend_py"), length)
        last = _across(rows, stress, beam.name, ("bend_qz", "bend_qy"), length)
        bending.append(np.maximum(first, last))
    return BearingLoads(
        robot=robot.name,
        time=time,
        joints=tuple(hinge.name for hinge in structure.hinges),
        moments=np.array(moments).T,
        links=tuple(beam.name for beam in structure.beams),
        axial=np.array(axial).T,
        bending=np.array(bending).T,
        torsion=np.array(torsion).T,
    )


def _across(
    rows: Sequence[str], stress: Floats, element: str, names: tuple[str, str], lever: float
) -> Floats:
    """Size of a moment with two components, (m,)."""
    y, z = (stress[:, rows.index(f"{element}.{name}")] for name in names)
    return lever * np.hypot(y, z)
