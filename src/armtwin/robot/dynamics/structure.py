"""A robot as a structure of finite elements: hinges, beams, struts and bodies.

Every joint sits on a point, every link has a triad at its joint. What a link carries away from its
joint, the next joint, a strut's pin, the flange, is on a beam: rigid, or bending where the robot
file has a beam for it. The reference state is q = 0; ten parameters of a link are turned into base
axes there. A prismatic joint is a rigid beam whose elongation is its coordinate. A loop is closed
by a rod between two pins, or by a hinge; joints that follow through it are calculated.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from armtwin.drives.balancers import GasForce, SpringForce, Strut
from armtwin.elements import parts as el
from armtwin.elements.equations import Reactions, inverse_dynamics, place
from armtwin.elements.placed import Placed
from armtwin.elements.rank import release_redundant
from armtwin.elements.structure import Structure
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Indices, NamedArrays, Names
from armtwin.maths.rotations import about, from_quaternion, pose, skew
from armtwin.mechanics.inertia import transform_to_parent
from armtwin.robot.dynamics.assembly import Assembly
from armtwin.robot.schema.drive_groups import Pins
from armtwin.robot.schema.groups import Joint, LinkBeam, Loop

SLIDE = 10.0  # m: length of the beam that models a slide, so that it never gets to zero
SAME = 1e-9  # m: points nearer than this are one
MOST_STEPS = 100  # of an inverse kinematics
LONGEST_STEP = 0.5  # rad or m: what the loops follow in one go
REACHED = 1e-9  # m and rad
SixModes = tuple[el.Mode, el.Mode, el.Mode, el.Mode, el.Mode, el.Mode]
DRIVEN: tuple[el.Mode, el.Mode, el.Mode] = ("free", "held", "held")
PASSIVE: tuple[el.Mode, el.Mode, el.Mode] = ("calculated", "held", "held")
BENDING: SixModes = ("held", "free", "free", "free", "free", "free")
STRETCHING: SixModes = ("free", "free", "free", "free", "free", "free")
SLIDING: SixModes = ("free", "held", "held", "held", "held", "held")


@dataclass(frozen=True)
class RobotStructure:
    """A robot as a structure.

    Attributes:
        structure: Its elements.
        joints: Place of each joint among the degrees of freedom, (joints,).
        frames: Point, triad and rotation at q = 0 of named frames.
    """

    structure: Structure
    joints: Indices
    frames: dict[str, tuple[str, str, Floats]]

    def coordinates(self, q: ArrayLike) -> Floats:
        """Degrees of freedom at joint positions q, links straight, (..., n)."""
        value = np.asarray(q, dtype=np.float64)
        full = np.zeros((*value.shape[:-1], self.structure.n))
        full[..., list(self.joints)] = value
        return full

    def torques(self, tau: Floats) -> Floats:
        """The rows of the joints, (..., joints)."""
        return tau[..., list(self.joints)]

    def matrices(self, M: Floats) -> Floats:
        """Rows and columns of the joints, (joints, joints)."""
        return M[np.ix_(self.joints, self.joints)]

    @property
    def joint_names(self) -> Names:
        """Names of the degrees of freedom that are joints."""
        names = self.structure.coordinate_names
        return tuple(names[i] for i in self.joints)

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Reactions:
        """Torques and stresses of motions with straight links, (m, joints)."""
        motion = [self.coordinates(np.atleast_2d(y)) for y in (q, v, a)]
        found = inverse_dynamics(self.structure, *motion)
        return Reactions(self.torques(found.tau), found.stress, found.x)

    def pose(self, x: Floats, frame: str) -> Floats:
        """Pose of a named frame at coordinates x, (4, 4)."""
        point, triad, R = self.frames[frame]
        places = self.structure.places
        at, on = places[point], places[triad]
        return pose(from_quaternion(*x[on : on + 4]) @ R, x[at : at + 3])

    def level(self, position: ArrayLike, yaw: float, frame: str = "tool") -> Floats:
        """Pose of a frame that keeps its attitude of q = 0 but for a turn about z, (4, 4).

        Args:
            position: Where its origin is, base frame, (3,) [m].
            yaw: Turn about the base's z against q = 0 [rad].
            frame: "tool" or "flange".
        """
        turn = about(np.array([0.0, 0.0, 1.0]), yaw)
        return pose(turn @ self.frames[frame][2], np.asarray(position, dtype=np.float64))

    def motion(self, placed: Placed, frame: str = "tool") -> Floats:
        """Linear and angular velocity of a frame per rate of q, base axes, (6, n).

        ω = 2 E dl/dt,   E = [-k | l0 1 + [k]×]
        """
        point, triad, _ = self.frames[frame]
        places = self.structure.places
        at, on = places[point], places[triad]
        w, k = placed.x[on], placed.x[on + 1 : on + 4]
        E = np.column_stack([-k, w * np.eye(3) + skew(k)])
        return np.concatenate([placed.DF[at : at + 3], 2 * E @ placed.DF[on : on + 4]])

    def jacobian(self, placed: Placed, frame: str = "tool") -> Floats:
        """Linear and angular velocity of a frame per rate of each joint, base axes, (6, joints)."""
        return self.motion(placed, frame)[:, list(self.joints)]

    def inverse_kinematics(self, X: ArrayLike, q: ArrayLike, frame: str = "tool") -> Floats:
        """Joint positions at which a frame has a pose, by Gauss's and Newton's method, (joints,).

        Args:
            X: The pose, (4, 4); a robot of fewer than six joints reaches those that it can.
            q: Joint positions to start from, (joints,).
            frame: "tool" or "flange".
        """
        target, found = np.asarray(X, dtype=np.float64), np.array(q, dtype=np.float64)
        placed = place(self.structure, self.coordinates(found))
        for _ in range(MOST_STEPS):
            off = pose_error(target, self.pose(placed.x, frame))
            step = np.linalg.lstsq(self.jacobian(placed, frame), off, rcond=None)[0]
            largest = float(np.abs(step).max())
            found += step * min(1.0, LONGEST_STEP / max(largest, LONGEST_STEP))
            placed = place(self.structure, self.coordinates(found), placed.x)
            if largest < 1e-12:
                break
        off = pose_error(target, self.pose(placed.x, frame))
        if np.abs(off).max() > REACHED:
            far, turned = np.linalg.norm(off[:3]), np.linalg.norm(off[3:])
            raise ArmtwinError(
                f"the {frame} cannot have this pose: {1e3 * far:.3g} mm and "
                f"{np.degrees(turned):.3g} deg remain"
            )
        return found

    def forward_kinematics(self, q: ArrayLike, frame: str = "tool") -> Floats:
        """Pose of a named frame at joint positions q with straight links, (4, 4)."""
        return self.pose(place(self.structure, self.coordinates(q)).x, frame)


def pose_error(target: Floats, found: Floats) -> Floats:
    """What a pose lacks of another, shift and turn about base axes, (6,)."""
    R = target[:3, :3] @ found[:3, :3].T
    # a small turn: its axis times its angle is the odd part of the matrix
    twice = R - R.T
    turn = 0.5 * np.array([twice[2, 1], twice[0, 2], twice[1, 0]])
    shift = target[:3, 3] - found[:3, 3]
    return np.concatenate([shift, turn])


def _triple(x: ArrayLike) -> el.Triple:
    a, b, c = np.asarray(x, dtype=np.float64).tolist()
    return a, b, c


class _Builder:
    """Builds the structure of one robot, link by link from the base."""

    def __init__(self, assembly: Assembly, bending: bool) -> None:
        self.assembly = assembly
        self.bending = bending
        self.tree = assembly.tree
        self.poses = assembly.tree.poses()
        self.points: list[el.Point] = []
        self.triads = [el.Triad(self.tree.root, held=True)]
        self.trusses: list[el.Element] = []
        self.hinges: list[el.Element] = []
        self.beams: list[el.Element] = []
        self.bodies: list[el.RigidBody] = []
        # points and end triads of every link
        self.at: dict[str, list[tuple[Floats, str, str]]] = {self.tree.root: []}
        self.rods: NamedArrays = {}

    def _point_name(self, name: str) -> str:
        """Name of the point of a joint, pin or frame; triads have those of the links."""
        links = [self.tree.root, *(joint.child for joint in self.tree.joints)]
        return f"{name}.point" if name in links else name

    def node(self, link: str, target: Floats, name: str) -> tuple[str, str]:
        """Point and triad that a link has at a position of the reference state.

        Those that are there are used; else a beam is laid from the nearest node of the link on the
        way, rigid or as the robot file says.
        """
        nodes = self.at[link]
        for position, point, triad in nodes:
            if np.linalg.norm(position - target) < SAME:
                return point, triad
        if link == self.tree.root:
            point = self._point_name(name)
            self.points.append(el.Point(point, _triple(target), ("held",) * 3))
            nodes.append((target, point, link))
            return point, link
        start = self._nearest_on_the_way(link, target)
        return self._beam(link, start, target, name)

    def _nearest_on_the_way(self, link: str, target: Floats) -> tuple[Floats, str, str]:
        """The farthest node of a link that lies between its joint and a position."""
        nodes = self.at[link]
        origin = nodes[0][0]
        way = target - origin
        best = nodes[0]
        for node in nodes[1:]:
            part = node[0] - origin
            along = part @ way / (way @ way)
            beside = np.linalg.norm(part - along * way)
            if beside < SAME and 0 < along < 1 and part @ way > (best[0] - origin) @ way:
                best = node
        return best

    def _beam(
        self, link: str, start: tuple[Floats, str, str], target: Floats, name: str
    ) -> tuple[str, str]:
        """Lay a beam from a node of a link to a position, in as many elements as asked for."""
        spec = self._spec(link, name)
        first, point, triad = start
        count = 1 if spec is None else spec.elements
        for i in range(1, count + 1):
            here = first + (target - first) * i / count
            last = i == count
            next_point = self._point_name(name) if last else f"{link}.{name}.{i}"
            next_triad = f"{link}.{name}" if last else f"{link}.{name}.{i}.triad"
            self.points.append(el.Point(next_point, _triple(here)))
            self.triads.append(el.Triad(next_triad))
            title = f"{link}.{name}" if count == 1 else f"{link}.{name}.{i}"
            ends, sides = (point, next_point), (triad, next_triad)
            self.beams.append(self._make_beam(title, ends, sides, link, spec, target - first))
            self.at[link].append((here, next_point, next_triad))
            point, triad = next_point, next_triad
        return point, triad

    def _make_beam(
        self,
        title: str,
        points: tuple[str, str],
        triads: tuple[str, str],
        link: str,
        spec: LinkBeam | None,
        way: Floats,
    ) -> el.Beam:
        if spec is None:
            return el.Beam(title, points, triads)
        length = float(np.linalg.norm(way))
        self.rods[link] = _rod(spec.mass, way)
        stiffness = spec.EA, spec.GJ, spec.EIy, spec.EIz
        section = el.CrossSection(*stiffness, mass=spec.mass / length, relaxation=spec.relaxation)
        side = None
        if spec.y is not None:
            side = _triple(self.poses[link][:3, :3] @ np.array(spec.y))
        modes = STRETCHING if spec.stretches else BENDING
        return el.Beam(title, points, triads, section, modes, side, form="better")

    def _spec(self, link: str, name: str) -> LinkBeam | None:
        """The beam that the robot file has for a part of a link."""
        if not self.bending:
            return None
        for part in self.assembly.description.link:
            if part.name == link:
                for beam in part.beam:
                    if beam.to == name:
                        return beam
        return None

    def joint(self, i: int, joint: Joint) -> None:
        """Add a joint, its link and the link's body."""
        X = self.poses[joint.child]
        axis = X[:3, :3] @ self.assembly.arm.axis[i]
        if joint.type == "prismatic":
            self._slide(joint, X, axis)
        else:
            point, side = self.node(joint.parent, X[:3, 3], joint.name)
            self.triads.append(el.Triad(joint.child))
            modes = PASSIVE if joint.name in self.assembly.passive else DRIVEN
            self.hinges.append(el.Hinge(joint.name, side, joint.child, _triple(axis), modes))
            self.at[joint.child] = [(X[:3, 3], point, joint.child)]

    def _slide(self, joint: Joint, X: Floats, axis: Floats) -> None:
        """A rigid beam from far behind to the joint, whose elongation is the coordinate."""
        behind = X[:3, 3] - SLIDE * axis
        point, side = self.node(joint.parent, behind, f"{joint.name}.behind")
        end = self._point_name(joint.name)
        self.points.append(el.Point(end, _triple(X[:3, 3])))
        self.triads.append(el.Triad(joint.child))
        slide = el.Beam(joint.name, (point, end), (side, joint.child), None, SLIDING)
        self.beams.append(slide)
        self.at[joint.child] = [(X[:3, 3], end, joint.child)]

    def body(self, i: int, joint: Joint) -> None:
        """Add the body of a link, less what bends with its beams."""
        turn = pose(self.poses[joint.child][:3, :3], np.zeros(3))
        ten = transform_to_parent(turn, self.assembly.arm.inertia[i])
        if joint.child in self.rods:
            ten = ten - self.rods[joint.child]
        _, point, triad = self.at[joint.child][0]
        self.bodies.append(el.RigidBody(point, triad, tuple(ten.tolist())))

    def pins(self, name: str, strut: Strut) -> list[tuple[str, Floats]]:
        """Links and positions at q = 0 of a balancer's two pins.

        Where the file has none but only L² = squares - product cos(x + angle), both are laid at
        the radius √(product/2), with the rest of the squares along the axis.
        """
        balancer = next(b for b in self.assembly.description.balancer if b.name == name)
        if balancer.pins is None:
            return self._assume_pins(strut)
        return self.placed_pins(balancer.pins)

    def lay_pins(self, link: str, pins: dict[str, list[tuple[str, Floats]]]) -> None:
        """Give a link its nodes at pins, so that beams to what lies beyond start there."""
        for name, ends in pins.items():
            for end, (owner, target) in zip("ab", ends, strict=True):
                if owner == link:
                    self.node(link, target, f"{name}.{end}")

    def strut(self, name: str, strut: Strut, pins: list[tuple[str, Floats]]) -> None:
        """Add a balancer as a slider truss between its pins."""
        nodes = []
        for end, (link, target) in zip("ab", pins, strict=True):
            nodes.append(self.node(link, target, f"{name}.{end}")[0])
        length = float(np.linalg.norm(pins[1][1] - pins[0][1]))
        law, zero = _law(strut, length)
        self.trusses.append(el.Truss(name, nodes[0], nodes[1], "calculated", law, zero))

    def placed_pins(self, pins: Loop | Pins) -> list[tuple[str, Floats]]:
        """Links and positions at q = 0 of the pins of a loop or of a balancer."""
        found = []
        for link, pin in ((pins.link_a, pins.a), (pins.link_b, pins.b)):
            at = self.poses[link] @ [*pin, 1.0]
            found.append((link, at[:3]))
        return found

    def close(self, loop: Loop, pins: list[tuple[str, Floats]]) -> None:
        """Close a loop by a rod between its pins, or by a hinge at the place of both."""
        point, triad = self.node(*pins[0], f"{loop.name}.a")
        if loop.axis is None:
            other, _ = self.node(*pins[1], f"{loop.name}.b")
            self.trusses.append(el.Truss(loop.name, point, other))
            return
        _, start, side = self.at[loop.link_b][0]
        end = f"{loop.link_b}.{loop.name}"
        self.triads.append(el.Triad(end))
        self.beams.append(el.Beam(end, (start, point), (side, end)))
        axis = self.poses[loop.link_a][:3, :3] @ np.array(loop.axis)
        self.hinges.append(el.Hinge(loop.name, triad, end, _triple(axis), PASSIVE))

    def _assume_pins(self, strut: Strut) -> list[tuple[str, Floats]]:
        joint = self.tree.joints[strut.joint]
        X = self.poses[joint.child]
        axis = X[:3, :3] @ self.assembly.arm.axis[strut.joint]
        linkage = strut.linkage
        radius = np.sqrt(linkage.product / 2)
        across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        first = radius * across / np.linalg.norm(across)
        lift = np.sqrt(linkage.squares - linkage.product) * axis
        second = about(axis, linkage.angle) @ first + lift
        origin = X[:3, 3]
        return [(joint.parent, origin + first), (joint.child, origin + second)]


def _rod(mass: float, way: Floats) -> Floats:
    """Ten parameters of a thin rod from the origin along a way."""
    J = mass / 3 * ((way @ way) * np.eye(3) - np.outer(way, way))
    six = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    return np.array([mass, *(mass / 2 * way), *six])


def _law(strut: Strut, length: float) -> tuple[el.ElementSpring | el.Gas, float]:
    """Stress of a strut over its elongation, and the length at which that is zero."""
    force = strut.force
    if isinstance(force, SpringForce):
        return el.ElementSpring(force.preload, force.stiffness), force.length
    assert isinstance(force, GasForce)
    shortest = float(np.sqrt(strut.linkage.squares - strut.linkage.product))
    strength = force.scale * force.pressure_volume
    return el.Gas(strength, force.volume / force.area + shortest - length), length


def structure_of(assembly: Assembly, bending: bool = True) -> RobotStructure:
    """The structure of a robot; joints that follow others are free here.

    Args:
        assembly: The robot.
        bending: Whether the beams of its links bend; else all links are rigid.
    """
    description = assembly.description
    if description.gear is not None and description.gear.gyroscopic:
        raise ArmtwinError(
            f"robot '{description.name}': rotors with gyroscopic coupling cannot be part of a "
            "structure; set gyroscopic = false in its gear"
        )
    builder = _Builder(assembly, bending)
    joints = assembly.tree.joints
    struts = dict(zip([b.name for b in description.balancer], assembly.struts, strict=True))
    pins = {name: builder.pins(name, strut) for name, strut in struts.items()}
    rods = {loop.name: builder.placed_pins(loop) for loop in description.loop if loop.axis is None}
    pins |= rods
    builder.lay_pins(assembly.tree.root, pins)
    for i, joint in enumerate(joints):
        builder.joint(i, joint)
        builder.lay_pins(joint.child, pins)
    for name, strut in struts.items():
        builder.strut(name, strut, pins[name])
    for loop in description.loop:
        builder.close(loop, builder.placed_pins(loop))
    frames = {}
    for frame in ("flange", "tool"):
        body, X = assembly.frame(frame)
        link = joints[body].child
        pose_now = builder.poses[link] @ X
        point, triad = builder.node(link, pose_now[:3, 3], frame)
        frames[frame] = point, triad, pose_now[:3, :3]
    for i, joint in enumerate(joints):
        builder.body(i, joint)
    return _assemble(assembly, builder, frames)


def _assemble(
    assembly: Assembly, builder: _Builder, frames: dict[str, tuple[str, str, Floats]]
) -> RobotStructure:
    """All parts together, with the rotors along the joints' rows."""
    gravity = _triple(assembly.arm.gravity)
    elements = (*builder.trusses, *builder.hinges, *builder.beams)
    nodes = tuple(builder.points), tuple(builder.triads)
    parts = el.Parts(*nodes, elements, tuple(builder.bodies), (), gravity)
    # a plane loop of hinges is held three times too often for a spatial count
    bare = release_redundant(Structure(parts)) if assembly.passive else Structure(parts)
    places, driven = [], []
    for i, joint in enumerate(assembly.tree.joints):
        if joint.name not in assembly.passive:
            mode = "elongation" if joint.type == "prismatic" else "twist"
            places.append(bare.coordinate_names.index(f"{joint.name}.{mode}"))
            driven.append(i)
    rotors = np.zeros((bare.n, bare.n))
    rotors[np.ix_(places, places)] = assembly.rotors.inertia[np.ix_(driven, driven)]
    inertia = tuple(tuple(row) for row in rotors.tolist())
    return RobotStructure(bare.with_parts(coordinate_inertia=inertia), tuple(places), frames)
