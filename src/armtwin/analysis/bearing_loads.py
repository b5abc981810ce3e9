"""Moments on bearings and forces in links along a motion, links rigid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armtwin.analysis.states import States
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot

if TYPE_CHECKING:
    from armtwin.elements.structure import Structure


@dataclass(frozen=True, eq=False)
class BearingLoads:
    """What bearings, links and rods carry along a motion.

    What more than one part could carry is not determined, NaN.

    Attributes:
        robot: Name of the robot.
        time: Times, (m,) [s].
        drives: Names of the joints that are driven.
        torque: What drives each of them, without friction, (m, drives) [N m or N].
        joints: Names of the revolute joints.
        moments: Moment across each joint's axis, (m, joints) [N m].
        links: Names of the beams between the nodes of the links.
        axial: Tension in each, (m, links) [N].
        bending: Larger of its bending moments at both ends, (m, links) [N m].
        torsion: Torque about its axis, (m, links) [N m].
        rods: Names of struts and of rods that close loops.
        pull: Tension in each, (m, rods) [N].
    """

    robot: str
    time: Floats
    drives: tuple[str, ...]
    torque: Floats
    joints: tuple[str, ...]
    moments: Floats
    links: tuple[str, ...]
    axial: Floats
    bending: Floats
    torsion: Floats
    rods: tuple[str, ...]
    pull: Floats


def bearing_loads(robot: Robot, states: States) -> BearingLoads:
    """Moments on every bearing and forces in every link and rod at states of a robot."""
    if any(joint.mimic is not None for joint in robot.description.joint):
        raise ArmtwinError(f"robot '{robot.name}': joints that follow others have no bearings yet")
    # kernels of elements are for those who ask
    from armtwin.robot.structure import structure_of

    built = structure_of(robot.assembly, bending=False)
    found = built.inverse_dynamics(states.q, states.v, states.a)
    rows = _Rows(built.structure, found.stress)
    hinges, beams, trusses = built.structure.hinges, built.structure.beams, built.structure.trusses
    return BearingLoads(
        robot=robot.name,
        time=states.time,
        drives=robot.joint_names,
        torque=found.tau,
        joints=tuple(hinge.name for hinge in hinges),
        moments=rows.across([hinge.name for hinge in hinges], "bend_y", "bend_z"),
        links=tuple(beam.name for beam in beams),
        axial=rows.along([beam.name for beam in beams], "elongation"),
        bending=rows.bending(),
        torsion=rows.lengths * rows.along([beam.name for beam in beams], "torsion"),
        rods=tuple(truss.name for truss in trusses),
        pull=rows.along([truss.name for truss in trusses], "elongation"),
    )


@dataclass(frozen=True)
class _Rows:
    """Stresses of a structure by the names of its elements, (m, rows)."""

    structure: Structure
    stress: Floats

    @property
    def lengths(self) -> Floats:
        """Lengths of the beams, (beams,) [m]."""
        from armtwin.elements.packing import distance

        return np.array([distance(self.structure, *b.points) for b in self.structure.beams])

    def along(self, names: list[str], mode: str) -> Floats:
        """Stresses of one mode of some elements, (m, elements)."""
        rows = [self.structure.row(f"{name}.{mode}") for name in names]
        return self.stress[:, rows]

    def across(self, names: list[str], first: str, second: str) -> Floats:
        """Size of a moment with two components, (m, elements)."""
        return np.hypot(self.along(names, first), self.along(names, second))

    def bending(self) -> Floats:
        """Larger of the bending moments at both ends of each beam, (m, beams)."""
        names = [beam.name for beam in self.structure.beams]
        at_p = self.across(names, "bend_pz", "bend_py")
        at_q = self.across(names, "bend_qz", "bend_qy")
        return self.lengths * np.maximum(at_p, at_q)
