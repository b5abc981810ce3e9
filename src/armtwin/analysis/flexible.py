"""The linear equations of an elastic robot at rest: masses, springs, dampers, motors.

    M u'' + D u' + K u = motors' torques along the rows R,   K = K_links + Σ k s sᵀ

u are the coordinates of bodies and drive sides, then those of beams, then the oil that has leaked.
Links are rigid bodies, or finite elements where they bend or close loops; both give M and K_links.
Springs of gears, flexures and oil are rows of u. A drive on oil is a spring of stiffness
1/compliance in series with a damper of 1/leakage,

    compliance F' = -x' - leakage F,   F = -(x - p) / compliance,   p' / leakage = -F

Ref: [Soder-Hoorn 2015, section 3.3], [Machielsen 1983, chapter 5]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import null_space

from armtwin.drives.friction.curves import coefficients
from armtwin.drives.rows import Spring
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Names
from armtwin.robot.dynamics import equations as dynamics
from armtwin.robot.dynamics.bending import BendingArm
from armtwin.robot.dynamics.sag import Outside, freedom_of, holding_torques, solve_sag
from armtwin.robot.kinematics.coordinates import Compliance, Coordinates, coordinates
from armtwin.robot.kinematics.strokes import check_drives, drive_forces, levers
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import Hydraulic


@dataclass(frozen=True, eq=False)
class ElasticCoordinates:
    """What of a robot is elastic.

    Attributes:
        robot: The robot.
        places: Coordinates of bodies and drive sides, with the springs of gears and flexures.
        bends: Whether its links are finite elements.
    """

    robot: Robot
    places: Coordinates
    bends: bool

    @property
    def bending(self) -> Names:
        """Links that bend."""
        return tuple(link.name for link in self.robot.description.link if link.beam)

    @property
    def sags(self) -> bool:
        """Whether a steady weight bends anything: oil alone does not, pistons are held."""
        return bool(self.places.elastic or self.bending)


class Links(NamedTuple):
    """Links at rest, of rigid bodies or of elements.

    Attributes:
        M: Mass matrix with the rotors, (N, N).
        D: Damping matrix.
        K: Stiffness matrix, gravity and balancers included.
        torque: What holds the joints, (joints,) [N m].
        straight: Pose of the tool with nothing deflected, (4, 4).
        pose: Its pose at rest, (4, 4).
        tool: Its linear and angular motion with the coordinates, (6, N).
        positions: Positions of all joints of the tree, (tree,).
        joints: Their motion with the coordinates, (tree, N).
        stiffness: That of each bending link, (links, N, N) [N/m].
    """

    M: Floats
    D: Floats
    K: Floats
    torque: Floats
    straight: Floats
    pose: Floats
    tool: Floats
    positions: Floats
    joints: Floats
    stiffness: Floats

    def widen(self, size: int) -> Links:
        """The links among more coordinates."""
        square = self.M, self.D, self.K, self.stiffness
        M, D, K, stiffness = (_widen(x, size, axes=2) for x in square)
        tool, joints = _widen(self.tool, size), _widen(self.joints, size)
        return self._replace(M=M, D=D, K=K, stiffness=stiffness, tool=tool, joints=joints)


@dataclass(frozen=True, eq=False)
class Flexible:
    """An elastic robot at rest, its motors on one posture.

    Attributes:
        places: What the coordinates of bodies and drive sides mean.
        u: Where they rest, (places,).
        springs: Names of gears, flexures and cylinders, then of bending links.
        twists: Rows of the springs' twists, (springs, N).
        torque: What each spring bears, (springs,) [N m].
        stiffness: Slope of each spring at what it bears, (springs,) [N m/rad].
        links: The links at rest, over all N coordinates.
        D: Damping matrix, (N, N).
        K: Stiffness matrix, gravity, balancers and springs included, (N, N).
        freedom: Basis of the motions with the drives held, (N, free).
        leaking: Basis of the motions of oil that leaks, (N, cylinders).
    """

    places: Coordinates
    u: Floats
    springs: Names
    twists: Floats
    torque: Floats
    stiffness: Floats
    links: Links
    D: Floats
    K: Floats
    freedom: Floats
    leaking: Floats

    @property
    def M(self) -> Floats:
        """Mass matrix, (N, N)."""
        return self.links.M

    @property
    def tool(self) -> Floats:
        """Jacobian of the tool with respect to the coordinates, linear then angular, (6, N)."""
        return self.links.tool

    @property
    def motor_rows(self) -> Floats:
        """Turns of the motors as rows of the coordinates, (motors, N)."""
        return _widen(self.places.motor_rows, len(self.K))

    @property
    def held_stiffness(self) -> Floats:
        """Stiffness with the drives held, (free, free)."""
        return self.freedom.T @ self.K @ self.freedom

    @property
    def deflections(self) -> Floats:
        """Twists of gears and flexures at rest, (gears,) [rad]."""
        own = self.twists[: len(self.places.elastic), : self.places.count]
        return own @ self.u

    @property
    def least_stiffness(self) -> float:
        """Smallest stiffness with the drives held; below 0 the equilibrium is unstable."""
        return float(np.linalg.eigvalsh(self.held_stiffness)[0])

    def energies(self, shape: Floats) -> Floats:
        """Twice the energy of each spring and bending link in a motion, complex or real."""
        of_springs = self.stiffness * np.abs(self.twists @ shape) ** 2
        of_links = np.einsum("i,lij,j->l", shape.conj(), self.links.stiffness, shape).real
        return np.concatenate([of_springs, of_links])


def find_cautions(least: Sequence[float]) -> Names:
    """A sentence where the equilibrium is unstable, from the least stiffness at each posture."""
    unstable = sum(value < 0 for value in least)
    if not unstable:
        return ()
    where = "" if len(least) == 1 else f" at {unstable} of {len(least)} postures"
    return (
        f"The equilibrium is unstable{where}: weight overcomes the springs, the smallest stiffness "
        f"is {min(least):.3g} N m/rad. The robot does not stay where this result puts it.",
    )


def elastic_coordinates(robot: Robot, *, links: bool = False) -> ElasticCoordinates:
    """Coordinates of a robot with elastic gears, beams and oil, and flexures where asked for."""
    followers = [joint.name for joint in robot.description.joint if joint.mimic is not None]
    if followers:
        raise ArmtwinError(
            f"robot '{robot.name}': joints that follow others are not analysed as elastic ones, as "
            f"{followers[0]}"
        )
    if links and not robot.description.flexure:
        raise ArmtwinError(
            f"robot '{robot.name}' has no links that bend: its file gives no flexure"
        )
    places = coordinates(robot, joints=True, links=links)
    beams = any(link.beam for link in robot.description.link)
    if robot.description.hydraulic:
        check_drives(robot)
    elif not places.elastic and not beams:
        bends = "; its links bend where asked for" if robot.description.flexure else ""
        raise ArmtwinError(
            f"robot '{robot.name}' has nothing elastic: its file gives no transmission.stiffness"
            f"{bends}; identify it (armtwin transmission, armtwin clamp), or give a "
            "[[transmission]] with a stiffness for each joint, or a [[link.beam]]"
        )
    return ElasticCoordinates(robot, places, beams or bool(robot.description.loop))


def flexible(elastic: ElasticCoordinates, q: Floats, outside: Outside | None = None) -> Flexible:
    """An elastic robot at rest with its motors on joint positions q, (n,)."""
    places = elastic.places
    acting = Outside() if outside is None else outside
    if elastic.bends:
        arm = BendingArm(places, acting)
        u = solve_sag(places, q, acting, hold=arm.holding_torques)
        links = _bent_links(places, q, u, arm)
    else:
        u = solve_sag(places, q, acting)
        links = _rigid_links(places, q, u, acting)
    oil = _oil(elastic, q, links.torque, len(links.K))
    size = len(links.K) + len(oil.springs)
    links = links.widen(size)
    springs = [*places.elastic, *oil.springs]
    torque = np.concatenate([_borne_by_gears(places, links.torque), oil.force])
    twists, driving = np.zeros((2, len(springs), size))
    for e, spring in enumerate(springs):
        twists[e] = _widen(spring.twist, size)
        driving[e] = _widen(spring.driving, size)
    slopes = np.array([_slope(x.spring, T) for x, T in zip(springs, torque.tolist(), strict=True)])
    D = (twists.T * [spring.spring.damping for spring in springs]) @ twists
    D += (driving.T * [spring.ground_damping for spring in springs]) @ driving
    leaked = np.eye(size)[size - len(oil.springs) :]
    held = np.vstack([_widen(places.motor_rows, size), leaked]) if oil.springs else places.held_rows
    return Flexible(
        places=places,
        u=u,
        springs=(*(spring.name for spring in springs), *elastic.bending),
        twists=twists,
        torque=torque,
        stiffness=slopes,
        links=links,
        D=D + links.D + _widen(oil.D, size, axes=2),
        K=links.K + _widen(oil.K, size, axes=2) + (twists.T * slopes) @ twists,
        freedom=null_space(_widen(held, size)),
        leaking=leaked[[spring.ground_damping > 0 for spring in oil.springs]].T,
    )


def _rigid_links(places: Coordinates, q: Floats, u: Floats, outside: Outside) -> Links:
    """Links of rigid bodies."""
    built, bodies = places.built, places.bodies
    rotors = built.assembly.rotors_along(places.motor_rows)
    rest = np.zeros((1, places.count))
    M, _, K = dynamics.linearise(built.assembly, np.ascontiguousarray(u)[None], rest, rest, rotors)
    at_rest = u[:bodies]
    straight, pose = built.forward_kinematics(np.stack([places.both_sides(q)[:bodies], at_rest]))
    return Links(
        M=M[0],
        D=np.zeros_like(M[0]),
        K=K[0],
        torque=holding_torques(places, u, outside),
        straight=straight,
        pose=pose,
        tool=_widen(built.jacobian(at_rest), places.count),
        positions=at_rest,
        joints=np.eye(bodies, places.count),
        stiffness=np.zeros((0, *K[0].shape)),
    )


def _bent_links(places: Coordinates, q: Floats, u: Floats, arm: BendingArm) -> Links:
    """Links of finite elements, bent by what they bear."""
    bent = arm.bend(u[: places.bodies])
    linear, placed, T = bent.linear, bent.placed, arm.places_among(places.count)
    rotors = places.built.assembly.rotors_along(places.motor_rows).inertia
    return Links(
        M=T.T @ linear.M @ T + _widen(rotors, T.shape[1], axes=2),
        D=T.T @ linear.C @ T,
        K=T.T @ linear.stiffness @ T,
        torque=arm.torques(bent),
        straight=arm.structure.forward_kinematics(places.both_sides(q)[: places.bodies]),
        pose=arm.structure.pose(placed.x, "tool"),
        tool=arm.structure.motion(placed) @ T,
        positions=placed.e[arm.joint_rows],
        joints=placed.DE[arm.joint_rows] @ T,
        stiffness=T.T @ arm.link_stiffness(placed) @ T,
    )


def _borne_by_gears(places: Coordinates, torque: Floats) -> Floats:
    """What springs of gears and flexures bear of the torques that hold the joints, (gears,)."""
    twists = np.array([gear.twist for gear in places.elastic]).reshape(-1, places.count)
    freedom = freedom_of(places)
    load = np.zeros(places.count)
    load[: places.bodies] = -torque
    return np.asarray(np.linalg.solve((twists @ freedom).T, freedom.T @ load))


def _slope(spring: Spring, torque: float) -> float:
    """Stiffness of a spring about the torque it bears; a flank is in contact."""
    if spring.low_stiffness is not None and abs(torque) < spring.low_torque:
        return spring.low_stiffness
    return spring.stiffness


class _Oil(NamedTuple):
    """Hydraulic drives under the forces that they bear.

    Attributes:
        springs: Their oil, between what has leaked and the stroke.
        force: What each bears, (cylinders,) [N or N m].
        D: Damping by friction of pistons, over the coordinates of the links.
        K: Stiffness by levers that change, likewise.
    """

    springs: list[Compliance]
    force: Floats
    D: Floats
    K: Floats


def _oil(elastic: ElasticCoordinates, q: Floats, torque: Floats, first: int) -> _Oil:
    """Hydraulic drives that hold joints at q by torques; what leaks are coordinates from `first`.

    δ(ℓ' s F) = F ℓ'' s (s · δq) + ℓ' s δF
    """
    robot, link = elastic.robot, elastic.places.link
    none = np.zeros((first, first))
    if not robot.description.hydraulic:
        return _Oil([], np.zeros(0), none, none)
    seen = levers(robot, q[None])
    force = drive_forces(robot, q[None], torque[None, link])[0]
    placed = np.eye(first)[link]  # coordinates of the links' joints among all, (n, first)
    drives = [drive for drive, _ in robot.assembly.drives]
    own = [k for k, drive in enumerate(drives) if isinstance(drive, Hydraulic)]
    springs, D = [], none
    for e, drive in enumerate(robot.description.hydraulic):
        stroke = seen.rows[0, own[e]] @ placed
        driving = np.eye(first + len(own))[first + e]
        oil = drive.circuit.oil
        ground = 1 / oil.leakage if oil.leakage > 0 else 0.0
        twist = driving - _widen(stroke, len(driving))
        springs.append(Compliance(drive.name, twist, Spring(1 / oil.compliance), driving, ground))
        D = D + viscous_friction(robot, drive) * np.outer(stroke, stroke)
    weights = seen.weights @ placed
    K = -(weights.T * (force * seen.bend[0])) @ weights
    return _Oil(springs, force[own], D, K)


def viscous_friction(robot: Robot, drive: Hydraulic) -> float:
    """Viscous friction on a hydraulic drive, all elements together [N s/m or N m s/rad]."""
    total = 0.0
    for element, _ in robot.assembly.friction:
        if element.on == drive.name:
            total += coefficients(element.law).get("viscous", 0.0)
    return total


def _widen(x: Floats, size: int, axes: int = 1) -> Floats:
    """Rows over the first coordinates as rows of all; matrices along both of their axes."""
    added = size - x.shape[-1]
    return np.pad(x, [(0, 0)] * (x.ndim - axes) + [(0, added)] * axes)
