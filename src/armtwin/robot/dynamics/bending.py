"""Links that bend, or close loops, under what they bear: joints are held, the elements answer.

τ(q, b) on the joints, where b, the deformations of the beams, have τ_b(q, b) = 0
"""

from dataclasses import replace

import numpy as np

from armtwin.elements.equations import Equilibrium, equilibrium
from armtwin.elements.parts import Moment, PointForce
from armtwin.elements.placed import Placed, stiffness_of, tables_of
from armtwin.maths.batch import Floats
from armtwin.robot.dynamics.sag import Outside
from armtwin.robot.dynamics.structure import structure_of
from armtwin.robot.kinematics.coordinates import Coordinates


class BendingArm:
    """The built arm as finite elements, under what acts on its tool and its joints.

    Attributes:
        structure: Its elements.
        bending: Degrees of freedom of the elements that are no joints.
        joint_rows: Deformation that is the position of each joint of the tree.
    """

    def __init__(self, places: Coordinates, outside: Outside) -> None:
        built = places.built
        bare = structure_of(built.assembly)
        # rotors turn with the drive sides, which are no coordinates of the elements
        parts = bare.structure.with_parts(
            loads=_tool_loads(bare.frames["tool"], outside), coordinate_inertia=None
        )
        self.structure = replace(bare, structure=parts)
        self.bending = [i for i in range(parts.n) if i not in bare.joints]
        self.joint_rows = []
        for joint in built.assembly.tree.joints:
            mode = "elongation" if joint.type == "prismatic" else "twist"
            self.joint_rows.append(parts.row(f"{joint.name}.{mode}"))
        self._beams = []
        for link in built.description.link:
            if link.beam:
                self._beams.append(tuple(f"{link.name}.{beam.to}." for beam in link.beam))
        self._deformed = np.zeros(len(self.bending))
        self._pushed = np.zeros(places.bodies)
        if outside.torque is not None:
            self._pushed = places.on_links(outside.torque[0])[: places.bodies]

    def bend(self, q: Floats) -> Equilibrium:
        """The elements at rest with the joints held at q, (joints,)."""
        start = self.structure.coordinates(q)
        start[self.bending] = self._deformed
        found = equilibrium(self.structure.structure, start, still=self.structure.joint_names)
        self._deformed = found.q[self.bending]
        return found

    def torques(self, bent: Equilibrium) -> Floats:
        """What holds the joints, (joints,) [N m]."""
        return self.structure.torques(bent.linear.tau) - self._pushed

    def holding_torques(self, places: Coordinates, u: Floats, outside: Outside) -> Floats:
        """Torques that hold the joints at coordinates u, links bent, (joints,)."""
        return self.torques(self.bend(u[: places.bodies]))

    def places_among(self, count: int) -> Floats:
        """The degrees of freedom among coordinates: joints first, deformations after `count`."""
        joints = list(self.structure.joints)
        places = np.zeros((self.structure.structure.n, count + len(self.bending)))
        places[joints, range(len(joints))] = 1.0
        places[self.bending, range(count, places.shape[1])] = 1.0
        return places

    def link_stiffness(self, placed: Placed) -> Floats:
        """Stiffness of each link with beams along the degrees of freedom, (links, n, n)."""
        structure = placed.structure
        S, _ = stiffness_of(tables_of(structure).laws, placed.e)
        found = []
        for beams in self._beams:
            own = np.array([name.startswith(beams) for name in structure.row_names])
            found.append(placed.DE[own].T @ S[np.ix_(own, own)] @ placed.DE[own])
        return np.array(found).reshape(-1, structure.n, structure.n)


def _tool_loads(
    frame: tuple[str, str, Floats], outside: Outside
) -> tuple[PointForce | Moment, ...]:
    """What acts on the tool as loads on its nodes."""
    if outside.wrench is None:
        return ()
    point, triad, _ = frame
    fx, fy, fz, mx, my, mz = outside.wrench[0].tolist()
    return PointForce(point, (fx, fy, fz)), Moment(triad, (mx, my, mz), "base")
