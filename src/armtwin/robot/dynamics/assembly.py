"""A checked description put together: packed bodies, rows of its drives, ready for kernels."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from armtwin.drives.balancers import Strut
from armtwin.drives.linkage import Triangle
from armtwin.errors import ArmtwinError, check_known
from armtwin.maths.batch import Floats, Indices, NamedNumbers, Names
from armtwin.maths.rotations import inverse
from armtwin.mechanics.arm import Arm, joint_motion
from armtwin.mechanics.rotors import Rotors
from armtwin.robot.dynamics.bodies import link_parameters
from armtwin.robot.parameters import Layout, layout
from armtwin.robot.schema.description import Description, Tree, build_tree
from armtwin.robot.schema.drive_groups import Balancer, FrictionElement, Hydraulic, Motor
from armtwin.robot.schema.groups import Joint
from armtwin.robot.schema.servo import Side

T = TypeVar("T")


def gear_matrix(description: Description) -> Floats:
    """N, (motors, joints), in the order of the file's motors and joints."""
    gear = description.gear
    if gear is None:
        return np.zeros((0, len(description.joint)))
    if gear.ratios is not None:
        return np.diag(gear.ratios)
    return np.array(gear.matrix, dtype=np.float64)


def order_gear_matrix(description: Description, tree: Tree) -> Floats:
    """N with its columns in the order of the coordinates q."""
    place = {joint.name: i for i, joint in enumerate(description.joint)}
    order = [place[joint.name] for joint in tree.joints]
    return np.ascontiguousarray(gear_matrix(description)[:, order])


@dataclass(frozen=True, eq=False)
class Row:
    """What a drive or a friction element sees of the joints, and along which it acts back.

        x = s · q,  or the length of a linkage at the angle s · q

    Attributes:
        weights: s, (n,).
        side: Side of the gear on which it lies, "motor" or "link"; of a rigid gear both are one.
        linkage: Length as a function of the angle, where there is a lever.
        motor: Number of the motor whose turn it is; None where it is no motor's.
    """

    weights: Floats
    side: Side = "link"
    linkage: Triangle | None = None
    motor: int | None = None

    def lever(self, q: Floats | None) -> Floats | float:
        """dx / d(s · q) at joint positions (m, n), (m,); 1 without a linkage."""
        if self.linkage is None:
            return 1.0
        if q is None:
            raise ArmtwinError(
                "friction of a cylinder depends on its lever: give joint positions q too"
            )
        return self.linkage.rate(q @ self.weights)


def row(
    description: Description, tree: Tree, on: str | NamedNumbers, side: Side | None = None
) -> Row:
    """The row that `on` names: a joint, a motor, a hydraulic drive or weights of joints."""
    for i, motor in enumerate(description.motor):
        if motor.name == on:
            return Row(order_gear_matrix(description, tree)[i].copy(), "motor", motor=i)
    for cylinder in description.hydraulic:
        if cylinder.name == on:
            return hydraulic_row(cylinder, tree)
    return Row(_weights(tree, on), side or "link")


def hydraulic_row(drive: Hydraulic, tree: Tree) -> Row:
    """Stroke of a cylinder, or angle of a vane motor."""
    return Row(_weights(tree, drive.on), "link", drive.linkage)


def _weights(tree: Tree, on: str | NamedNumbers) -> Floats:
    s = np.zeros(len(tree.joints))
    weights = {on: 1.0} if isinstance(on, str) else on
    for name, weight in weights.items():
        s[tree.joint(name)] = weight
    return s


def separating_joint(balancer: Balancer, joints: tuple[Joint, ...]) -> Joint | None:
    """The revolute joint that a balancer acts across, None if there is none."""
    pins = balancer.pins
    for joint in joints:
        if joint.type != "revolute":
            continue
        if pins is None and joint.name == balancer.joint:
            return joint
        if pins is not None and {joint.parent, joint.child} == {pins.link_a, pins.link_b}:
            return joint
    return None


def triangle_across(joint: Joint, on_parent: Floats, on_child: Floats) -> Triangle:
    """Length of a strut between a point of the joint's parent and a point of its child.

    L² = |p|² + |b|² - 2 p·Rot(a, q) b = S - P cos(q + φ), both points in the joint's frame.
    """
    p = (inverse(joint.origin.matrix()) @ [*on_parent, 1.0])[:3]
    a = np.array(joint.axis) / np.linalg.norm(joint.axis)
    along = (p @ a) * (on_child @ a)
    c = p @ on_child - along
    s = p @ np.cross(a, on_child)
    return Triangle(
        squares=float(p @ p + on_child @ on_child - 2 * along),
        product=float(2 * np.hypot(c, s)),
        angle=float(np.arctan2(-s, c)),
    )


def strut(balancer: Balancer, tree: Tree) -> Strut:
    """A balancer of a checked description, reduced to a joint, a triangle and a force law."""
    joint = separating_joint(balancer, tree.joints)
    assert joint is not None
    linkage = balancer.linkage
    pins = balancer.pins
    if pins is not None:
        ends = {pins.link_a: np.array(pins.a), pins.link_b: np.array(pins.b)}
        linkage = triangle_across(joint, ends[joint.parent], ends[joint.child])
    assert linkage is not None
    return Strut(tree.joint(joint.name), linkage, balancer.force)


def turning_motor(row: Floats, motors: Floats, name: str) -> tuple[int, float]:
    """The motor whose turn a row is a multiple of, and its turns for one of the row.

    Args:
        row: A row of the coordinates, (N,).
        motors: Rows of the motors, (motors, N).
        name: The friction element whose row it is.
    """
    for k, motor in enumerate(motors):
        ratio = float(row @ motor) / float(row @ row)
        if ratio and np.allclose(motor, ratio * row, rtol=1e-9, atol=1e-9 * abs(ratio)):
            return k, ratio
    raise ArmtwinError(
        f"friction of {name}: load needs a row that one motor turns, so that the torque it "
        "carries is that motor's; name the motor as `on`, or the joints as they turn it"
    )


@dataclass(frozen=True)
class JointCoupling:
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


class _Spin(NamedTuple):
    """Body that carries a rotor, and the rotor's axis in its frame; -1 is the base."""

    body: int
    axis: Floats


@dataclass(frozen=True)
class Assembly:
    """What the kernels need, made once from a description."""

    description: Description

    @cached_property
    def _kept(self) -> dict[str, Any]:
        return {}

    def keep(self, name: str, make: Callable[[], T]) -> T:
        """What is made of it once, by its name."""
        found: T | None = self._kept.get(name)
        if found is None:
            found = self._kept[name] = make()
        return found

    @cached_property
    def tree(self) -> Tree:
        """Joints in the order of the coordinates."""
        return build_tree(self.description)

    @cached_property
    def free(self) -> Indices:
        """Indices of the joints that have a coordinate of their own."""
        found = []
        for i, joint in enumerate(self.tree.joints):
            if joint.mimic is None and joint.name not in self.passive:
                found.append(i)
        return tuple(found)

    @cached_property
    def free_joints(self) -> tuple[Joint, ...]:
        """The joints that have a coordinate of their own, in its order."""
        return tuple(self.tree.joints[i] for i in self.free)

    def slides(self, row: Row) -> bool:
        """Whether a row is a length [m, N] and not an angle [rad, N m]."""
        joints = self.tree.joints
        moved = [joints[j].type == "prismatic" for j in np.flatnonzero(row.weights)]
        return row.linkage is not None or (row.side != "motor" and all(moved))

    @cached_property
    def passive(self) -> Names:
        """Joints that follow others through closed loops."""
        names: list[str] = []
        for loop in self.description.loop:
            names += loop.passive
        return tuple(names)

    @cached_property
    def coupling(self) -> JointCoupling | None:
        """How all joints follow the free ones; None where all are free."""
        if self.passive:
            raise ArmtwinError(
                f"robot '{self.description.name}' has closed loops ([[loop]]), which only "
                "`armtwin analyse ROBOT loads`, sag, compliance and modes can answer for yet"
            )
        joints = self.tree.joints
        if len(self.free) == len(joints):
            return None
        G = np.zeros((len(joints), len(self.free)))
        c = np.zeros(len(joints))
        for column, i in enumerate(self.free):
            G[i, column] = 1.0
        for i, joint in enumerate(joints):
            if joint.mimic is not None:
                leader = self.tree.joint(joint.mimic.joint)
                G[i, self.free.index(leader)] = joint.mimic.multiplier
                c[i] = joint.mimic.offset
        return JointCoupling(G, c)

    @cached_property
    def gear(self) -> Floats:
        """Gear matrix N, (motors, n)."""
        return order_gear_matrix(self.description, self.tree)

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
        elements = []
        for element in self.description.active_friction():
            acting = row(self.description, self.tree, element.on, element.side)
            elements.append((element, acting))
        return tuple(elements)

    @cached_property
    def drives(self) -> tuple[tuple[Motor | Hydraulic, Row], ...]:
        """What a controller drives, each with its row: the motors, then the hydraulic drives."""
        drives: list[tuple[Motor | Hydraulic, Row]] = []
        for k, (motor, ratios) in enumerate(zip(self.description.motor, self.gear, strict=True)):
            drives.append((motor, Row(ratios, "motor", motor=k)))
        for cylinder in self.description.hydraulic:
            drives.append((cylinder, hydraulic_row(cylinder, self.tree)))
        return tuple(drives)

    @property
    def gear_ratios(self) -> Floats:
        """Gear ratio of each joint without its sign, 1 where there is none, (n,)."""
        size = np.abs(self.motor_rows)
        ratio = size.max(axis=0) if size.size else np.ones(size.shape[1])
        return np.where(ratio > 0, ratio, 1.0)

    @cached_property
    def motor_rows(self) -> Floats:
        """Motor turns per turn of the coordinates that move freely, (motors, n)."""
        return self.gear if self.coupling is None else self.gear @ self.coupling.G

    @cached_property
    def motor_inverse(self) -> Floats:
        """Coordinates per motor turn, (n, motors).

        q = motor_inverse q_m,   τ_m = motor_inverseᵀ τ
        """
        motors, n = self.motor_rows.shape
        if motors != n or np.linalg.matrix_rank(self.motor_rows) < n:
            robot = f"robot '{self.description.name}'"
            counts = f"its {motors} motors do not determine its {n} joints"
            raise ArmtwinError(f"{robot}: {counts}; as many motors as joints are needed")
        return np.asarray(np.linalg.inv(self.motor_rows))

    @cached_property
    def _spins(self) -> list[_Spin | None]:
        """Where each motor's rotor spins; None where no coupling with the links arises."""
        gear = self.description.gear
        if gear is None or not gear.gyroscopic:
            return [None] * len(self.description.motor)
        spins = []
        for motor, ratios in zip(self.description.motor, self.gear, strict=True):
            spin = self._spin(motor, ratios)
            spins.append(spin if spin.body >= 0 else None)
        return spins

    def _spin(self, motor: Motor, ratios: Floats) -> _Spin:
        """Where a rotor spins: by default on the link that carries its joint."""
        if motor.spin is not None:
            axis = np.array(motor.spin.axis)
            return _Spin(self.tree.body(motor.spin.link), axis / np.linalg.norm(axis))
        own = int(np.argmax(np.abs(ratios)))
        joint = self.tree.joints[own]
        if joint.type == "prismatic":
            return _Spin(-1, np.zeros(3))
        axis = joint.origin.matrix()[:3, :3] @ np.array(joint.axis)
        return _Spin(self.tree.parents[own], axis / np.linalg.norm(axis))

    @cached_property
    def spin_on(self) -> Floats:
        """For each motor its place among the rotors with gyroscopic coupling, -1 without one."""
        places = []
        count = 0
        for spin in self._spins:
            places.append(-1 if spin is None else count)
            count += spin is not None
        return np.array(places, dtype=np.int64)

    @cached_property
    def arm(self) -> Arm:
        """The bodies, packed."""
        joints = self.tree.joints
        n = len(joints)
        turn = np.zeros((n, 3, 3, 3))
        offset = np.zeros((n, 2, 3))
        axis = np.array([joint.axis for joint in joints], dtype=np.float64)
        axis /= np.linalg.norm(axis, axis=1)[:, None]
        slides = np.array([joint.type == "prismatic" for joint in joints], dtype=np.int64)
        bodies = [link_parameters(self.description, joint.child) for joint in joints]
        for i, joint in enumerate(joints):
            X = joint.origin.matrix()
            turn[i], offset[i] = joint_motion(X[:3, :3], X[:3, 3], axis[i], bool(slides[i]))
        return Arm(
            parent=np.array(self.tree.parents, dtype=np.int64),
            slides=slides,
            turn=turn,
            offset=offset,
            axis=axis,
            inertia=np.array(bodies),
            gravity=np.array(self.description.gravity),
        )

    @cached_property
    def rotors(self) -> Rotors:
        """The rotors along the joints, gears rigid."""
        return self.rotors_along(self.gear)

    def rotors_along(self, rows: Floats) -> Rotors:
        """The rotors along any coordinates u.

        Args:
            rows: Turn of each motor as a row of u, (motors, coordinates).
        """
        inertias = self.rotor_inertias
        bodies, axes, momenta = [], [], []
        for i, spin in enumerate(self._spins):
            if spin is not None:
                bodies.append(spin.body)
                axes.append(spin.axis)
                momenta.append(rows[i] * inertias[i])
        return Rotors(
            inertia=(rows.T * inertias) @ rows,
            body=np.array(bodies, dtype=np.int64),
            axis=np.array(axes).reshape(-1, 3),
            row=np.array(momenta).reshape(len(bodies), rows.shape[1]),
        )

    @cached_property
    def frames(self) -> dict[str, tuple[int, Floats]]:
        """Body and pose on it of every named frame."""
        tree = self.tree
        description = self.description
        frames = {"base": (-1, np.eye(4)), tree.root: (-1, np.eye(4))}
        for i, joint in enumerate(tree.joints):
            frames[joint.child] = i, np.eye(4)
        for frame in description.frame:
            frames[frame.name] = tree.body(frame.link), frame.origin.matrix()
        body, X = len(tree.joints) - 1, np.eye(4)
        if description.flange is not None:
            body = tree.body(description.flange.link)
            X = description.flange.origin.matrix()
        frames["flange"] = body, X
        tool = description.mounted.tool
        tcp = description.tool[tool].tcp.matrix() if tool else np.eye(4)
        frames["tool"] = body, X @ tcp
        return frames

    def frame(self, name: str) -> tuple[int, Floats]:
        """Body and pose on it of one frame; an unknown name is an error that suggests one."""
        check_known(f"robot '{self.description.name}': frame", name, self.frames)
        return self.frames[name]
