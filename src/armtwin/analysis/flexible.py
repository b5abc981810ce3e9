"""The linear equations of an elastic robot at rest: masses, springs, dampers, motors.

    M u'' + D u' + K u = motors' torques along the rows R,   K = K_gravity + Σ k s sᵀ

Ref: [Soder-Hoorn 2015, section 3.3]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.drives.springs import Spring
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.robot.dynamics import equations as dynamics
from armtwin.robot.dynamics.sag import Outside, freedom_of, holding_torques, solve_sag
from armtwin.robot.kinematics.coordinates import Coordinates, coordinates
from armtwin.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class Flexible:
    """An elastic robot at rest, its motors on one posture.

    Attributes:
        places: What the coordinates mean.
        u: Where it rests, (N,).
        torque: What each spring bears, (springs,) [N m].
        M: Mass matrix, (N, N).
        D: Damping matrix.
        K: Stiffness matrix, gravity and balancers included.
        stiffness: Slope of each spring at what it bears, (springs,) [N m/rad].
        freedom: Basis of the motions with the motors held, (N, springs).
    """

    places: Coordinates
    u: Floats
    torque: Floats
    M: Floats
    D: Floats
    K: Floats
    stiffness: Floats
    freedom: Floats

    @property
    def twists(self) -> Floats:
        """Rows of the springs' twists, (springs, N)."""
        return np.array([compliance.twist for compliance in self.places.elastic])

    @property
    def tool(self) -> Floats:
        """Jacobian of the tool with respect to the coordinates, linear then angular, (6, N)."""
        J = np.zeros((6, self.places.count))
        bodies = self.places.bodies
        J[:, :bodies] = self.places.built.jacobian(self.u[:bodies])
        return J


def elastic_coordinates(robot: Robot, *, links: bool = False) -> Coordinates:
    """Coordinates of a robot with elastic gears, and with links that bend where asked for."""
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
    if not places.elastic:
        bends = "; its links bend where asked for" if robot.description.flexure else ""
        raise ArmtwinError(
            f"robot '{robot.name}' has nothing elastic: its file gives no transmission.stiffness"
            f"{bends}; identify it (armtwin transmission, armtwin clamp), or give a "
            "[[transmission]] with a stiffness for each joint"
        )
    return places


def flexible(places: Coordinates, q: Floats, outside: Outside | None = None) -> Flexible:
    """An elastic robot at rest with its motors on joint positions q, (n,)."""
    acting = Outside() if outside is None else outside
    u = solve_sag(places, q, acting)
    assembly = places.built.assembly
    rotors = assembly.rotors_along(places.motor_rows)
    rest = np.zeros((1, places.count))
    M, _, K = dynamics.linearise(assembly, np.ascontiguousarray(u)[None], rest, rest, rotors)
    twists = np.array([compliance.twist for compliance in places.elastic])
    freedom = freedom_of(places)
    load = np.zeros(places.count)
    load[: places.bodies] = -holding_torques(places, u, acting)
    torque = np.asarray(np.linalg.solve((twists @ freedom).T, freedom.T @ load), dtype=np.float64)
    slopes, damping = np.zeros((2, len(twists)))
    for e, compliance in enumerate(places.elastic):
        slopes[e] = _slope(compliance.spring, float(torque[e]))
        damping[e] = compliance.spring.damping
    D = (twists.T * damping) @ twists
    for compliance in places.elastic:
        D += compliance.ground_damping * np.outer(compliance.driving, compliance.driving)
    stiff = K[0] + (twists.T * slopes) @ twists
    return Flexible(places, u, torque, M[0], D, stiff, slopes, freedom)


def _slope(spring: Spring, torque: float) -> float:
    """Stiffness of a spring about the torque it bears; a flank is in contact."""
    if spring.low_stiffness is not None and abs(torque) < spring.low_torque:
        return spring.low_stiffness
    return spring.stiffness
