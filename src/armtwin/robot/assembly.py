"""A checked description put together: packed bodies, rows and struts, ready for kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armtwin.drives.balancers import Strut
from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.maths.batch import Floats
from armtwin.mechanics.arm import Arm, joint_motion
from armtwin.mechanics.rotors import Rotors
from armtwin.robot.bodies import link_parameters
from armtwin.robot.description import Description
from armtwin.robot.drive_groups import FrictionElement, Hydraulic, Motor
from armtwin.robot.parameters import Layout, layout
from armtwin.robot.rows import Row, hydraulic_row, ordered_gear_matrix, row, strut
from armtwin.robot.tree import Tree, grow


@dataclass(frozen=True)
class Coupling:
    """Joints that follow others: all joints are G q + c of the free coordinates q.

    By virtual work, torques, mass and other matrices of the free coordinates are Gᵀ τ and Gᵀ M G.
    """

    G: Floats
    c: Floats

    def torques(self, tau: Floats) -> Floats:
        """Torques on the free coordinates, (m, n), from torques on all joints."""
        return tau @ self.G

    def matrices(self, M: Floats) -> Floats:
        """Matrices of the free coordinates, (m, n, n)."""
        return self.G.T @ M @ self.G


@dataclass(frozen=True)
class Assembly:
    """What the kernels need, made once from a description."""

    description: Description

    @cached_property
    def tree(self) -> Tree:
        """Joints in the order of the coordinates."""
        return grow(self.description)

    @cached_property
    def free(self) -> tuple[int, ...]:
        """Indices of the joints that have a coordinate of their own."""
        return tuple(i for i, joint in enumerate(self.tree.joints) if joint.mimic is None)

    @cached_property
    def coupling(self) -> Coupling | None:
        """How all joints follow the free ones; None where all are free."""
        joints = self.tree.joints
        if len(self.free) == len(joints):
            return None
        G, c = np.zeros((len(joints), len(self.free))), np.zeros(len(joints))
        for i, joint in enumerate(joints):
            follows = joint.mimic
            leader = i if follows is None else self.tree.joint(follows.joint)
            G[i, self.free.index(leader)] = 1.0 if follows is None else follows.multiplier
            c[i] = 0.0 if follows is None else follows.offset
        return Coupling(G, c)

    @cached_property
    def gear(self) -> Floats:
        """Gear matrix N, (motors, n)."""
        return ordered_gear_matrix(self.description, self.tree)

    @cached_property
    def rotor_inertias(self) -> Floats:
        """Rotor inertias, (motors,) [kg m²]."""
        return np.array([m.rotor_inertia for m in self.description.motor])

    @cached_property
    def layout(self) -> Layout:
        """Where each group of parameters lies in the vector."""
        return layout(self.description)

    @cached_property
    def struts(self) -> tuple[Strut, ...]:
        """Balancers, in the order of the file."""
        return tuple(strut(b, self.tree) for b in self.description.balancer)

    @cached_property
    def friction(self) -> tuple[tuple[FrictionElement, Row], ...]:
        """Friction elements in use, each with its row."""
        active = self.description.active_friction()
        return tuple((e, row(self.description, self.tree, e.on, e.side)) for e in active)

    @cached_property
    def drives(self) -> tuple[tuple[Motor | Hydraulic, Row], ...]:
        """What a controller drives, each with its row: the motors, then the hydraulic drives."""
        motors = [
            (m, Row(n_row, "motor"))
            for m, n_row in zip(self.description.motor, self.gear, strict=True)
        ]
        return (*motors, *((h, hydraulic_row(h, self.tree)) for h in self.description.hydraulic))

    @cached_property
    def motor_rows(self) -> Floats:
        """Motor turns per turn of the coordinates that move freely, (motors, n)."""
        return self.gear if self.coupling is None else self.gear @ self.coupling.G

    @cached_property
    def motor_inverse(self) -> Floats:
        """Coordinates per motor turn, (n, motors): q = motor_inverse q_m, τ_m = motor_inverseᵀ τ."""
        motors, n = self.motor_rows.shape
        if motors != n or np.linalg.matrix_rank(self.motor_rows) < n:
            raise ArmtwinError(
                f"robot '{self.description.name}': its {motors} motors do not determine its {n} joints; "
                "as many motors as joints are needed"
            )
        return np.asarray(np.linalg.inv(self.motor_rows))

    @cached_property
    def spin_on(self) -> Floats:
        """For each motor its row among the rotors with gyroscopic coupling, -1 where it has none."""
        places, count = [], 0
        for motor, n_row in zip(self.description.motor, self.gear, strict=True):
            carried = self._spin(motor, n_row)[0] >= 0
            places.append(count if carried else -1)
            count += carried
        return np.array(places, dtype=np.int64)

    def _spin(self, motor: Motor, n_row: Floats) -> tuple[int, Floats]:
        """Body that carries a rotor and the rotor's axis in its frame; -1 where no coupling arises."""
        gear = self.description.gear
        if gear is None or not gear.gyroscopic:
            return -1, np.zeros(3)
        if motor.spin is not None:
            axis = np.array(motor.spin.axis)
            return self.tree.body(motor.spin.link), axis / np.linalg.norm(axis)
        own = int(np.argmax(np.abs(n_row)))
        joint = self.tree.joints[own]
        if joint.type == "prismatic":
            return -1, np.zeros(3)
        axis = joint.origin.matrix()[:3, :3] @ np.array(joint.axis)
        return self.tree.parents[own], axis / np.linalg.norm(axis)

    @cached_property
    def arm(self) -> Arm:
        """The bodies, packed."""
        joints = self.tree.joints
        n = len(joints)
        turn, offset = np.zeros((n, 3, 3, 3)), np.zeros((n, 2, 3))
        axis = np.array([j.axis for j in joints], dtype=np.float64)
        axis /= np.linalg.norm(axis, axis=1)[:, None]
        slides = np.array([j.type == "prismatic" for j in joints], dtype=np.int64)
        for i, joint in enumerate(joints):
            X = joint.origin.matrix()
            turn[i], offset[i] = joint_motion(X[:3, :3], X[:3, 3], axis[i], bool(slides[i]))
        return Arm(
            parent=np.array(self.tree.parents, dtype=np.int64),
            slides=slides,
            turn=turn,
            offset=offset,
            axis=axis,
            inertia=np.array([link_parameters(self.description, j.child) for j in joints]),
            gravity=np.array(self.description.gravity),
        )

    @cached_property
    def rotors(self) -> Rotors:
        """The rotors along the joints, gears rigid."""
        return self.rotors_along(np.eye(len(self.tree.joints)))

    def rotors_along(self, drive: Floats) -> Rotors:
        """The rotors along any coordinates u, from the joints' drive sides as rows of u, (joints, N)."""
        rows = self.gear @ drive
        spins = [self._spin(m, r) for m, r in zip(self.description.motor, self.gear, strict=True)]
        spinning = [i for i, (body, _) in enumerate(spins) if body >= 0]
        k = len(spinning)
        return Rotors(
            inertia=(rows.T * self.rotor_inertias) @ rows,
            body=np.array([spins[i][0] for i in spinning], dtype=np.int64),
            axis=np.array([spins[i][1] for i in spinning]).reshape(k, 3),
            row=np.array([rows[i] * self.rotor_inertias[i] for i in spinning]).reshape(
                k, drive.shape[1]
            ),
        )

    @cached_property
    def frames(self) -> dict[str, tuple[int, Floats]]:
        """Body and pose on it of every named frame."""
        d = self.description
        frames = {"base": (-1, np.eye(4)), self.tree.root: (-1, np.eye(4))}
        frames |= {joint.child: (i, np.eye(4)) for i, joint in enumerate(self.tree.joints)}
        frames |= {f.name: (self.tree.body(f.link), f.origin.matrix()) for f in d.frame}
        if d.flange is not None:
            flange = self.tree.body(d.flange.link), d.flange.origin.matrix()
        else:
            flange = len(self.tree.joints) - 1, np.eye(4)
        tcp = d.tool[d.mounted.tool].tcp.matrix() if d.mounted.tool else np.eye(4)
        return frames | {"flange": flange, "tool": (flange[0], flange[1] @ tcp)}

    def frame(self, name: str) -> tuple[int, Floats]:
        """Body and pose on it of one frame; an unknown name is an error that suggests one."""
        if name not in self.frames:
            raise ArmtwinError(
                f"robot '{self.description.name}': frame '{name}' is not known. {did_you_mean(name, self.frames)}"
            )
        return self.frames[name]
