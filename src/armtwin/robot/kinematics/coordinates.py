"""The coordinates of a robot's motion: joints of the bodies, then the drive sides that are apart.

    link side = S u,   drive side = E u,   motors = N E u

A rigid joint has both sides on the coordinate of its body; an elastic one has a coordinate of its
own for its drive side. The gear matrix acts on drive sides; a motor whose spring lies before the
matrix has a coordinate of its own too. Links that bend have joints without a drive among those of
the bodies.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armtwin.drives.ripple import Ripple
from armtwin.drives.rows import Spring
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.robot.dynamics.assembly import Row
from armtwin.robot.kinematics.as_built import as_built
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import Transmission


@dataclass(frozen=True, eq=False)
class Compliance:
    """A spring between two coordinates.

    Attributes:
        name: The joint, motor or flexure it belongs to.
        twist: Its twist as a row of the coordinates: driving side less driven side, (N,).
        spring: Its spring.
        driving: Its driving side as a row of the coordinates, (N,).
        ground_damping: Damping of the driving side against the ground [N m s/rad].
    """

    name: str
    twist: Floats
    spring: Spring
    driving: Floats
    ground_damping: float = 0.0


@dataclass(frozen=True, eq=False)
class Rippling:
    """A gear that does not turn evenly.

    Attributes:
        ripple: Its cycles, amplitude and phase.
        motor: The motor's turn as a row of the coordinates, (N,).
        compliance: Number of the spring that takes it up; None where the gear is rigid.
        joints: How far the joints of the built arm are off per unit of it, where it is, (joints,).
    """

    ripple: Ripple
    motor: Floats
    compliance: int | None
    joints: Floats


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Which coordinate is what.

    Attributes:
        built: The arm as it is built; the robot itself where nothing of it differs.
        own: For each joint of the robot its place among those of the built arm, (n,).
        bodies: Number of joints of the built arm that move on their own, the first coordinates.
        count: Number N of all coordinates.
        link: Coordinate of the link side of each joint of the robot, (n,).
        drive: Coordinate of its drive side, (n,); the same one where the gear is rigid.
        motor_rows: Turns of the motors as rows of the coordinates, (motors, N).
        motor: Coordinate of each motor with a spring before the gear matrix, -1 without, (motors,).
        elastic: The springs, gears before flexures.
        rippling: Gears that do not turn evenly.
    """

    built: Robot
    own: NDArray[np.int64]
    bodies: int
    count: int
    link: NDArray[np.int64]
    drive: NDArray[np.int64]
    motor_rows: Floats
    motor: NDArray[np.int64]
    elastic: tuple[Compliance, ...]
    rippling: tuple[Rippling, ...]

    def weights(self, row: Row) -> Floats:
        """A row of the built arm's joints as a row of the coordinates, (N,)."""
        if row.motor is not None and row.side == "motor":
            return self.motor_rows[row.motor].copy()
        weights = np.zeros(self.count)
        weights[: self.bodies] = row.weights
        if row.side == "motor":
            weights[self.link] = 0.0
            weights[self.drive] = row.weights[self.own]
        return weights

    @property
    def held_rows(self) -> Floats:
        """Rows that do not move while motors hold and brakes are on, (held, N).

        They are the turns of the motors, and the joints of the robot that no motor turns.
        """
        braked = ~self.built.assembly.gear[:, self.own].any(axis=0)
        return np.vstack([self.motor_rows, np.eye(self.count)[self.drive[braked]]])

    def both_sides(self, q: Floats) -> Floats:
        """Coordinates (..., N) of joints whose two sides are at the same place, (..., n)."""
        u = np.zeros((*q.shape[:-1], self.count))
        u[..., self.link] = q
        u[..., self.drive] = q
        for k in np.flatnonzero(self.motor >= 0):
            u[..., self.motor[k]] = q @ self.built.assembly.gear[k, self.own]
        return u

    def on_links(self, torque: Floats) -> Floats:
        """Torques on the coordinates, (..., N), of torques on the links, (..., n)."""
        generalised = np.zeros((*torque.shape[:-1], self.count))
        generalised[..., self.link] = torque
        return generalised

    def joint_torques(self, generalised: Floats) -> Floats:
        """Torques on the joints (..., n), on either side, from those on the coordinates."""
        apart = self.drive != self.link
        torques = generalised[..., self.link] + apart * generalised[..., self.drive]
        for k in np.flatnonzero(self.motor >= 0):
            ratios = self.built.assembly.gear[k, self.own]
            torques = torques + generalised[..., self.motor[k], None] * ratios
        return torques

    def motor_side(self, u: Floats) -> Floats:
        """Positions (or speeds) of the joints as the motors have them, (..., n)."""
        seen = u[..., self.drive]
        if not (self.motor >= 0).any():
            return seen
        motors = u @ self.motor_rows.T
        back = np.linalg.inv(self.built.assembly.gear[:, self.own])
        return motors @ back.T

    def of_bodies(self, u: Floats) -> Floats:
        """Joint positions of the built arm, (..., joints), ripple of rigid gears included."""
        q = u[..., : self.bodies]
        for gear in self.rippling:
            if gear.compliance is None:
                angle = u @ gear.motor
                q = q + gear.ripple.at(angle)[..., None] * gear.joints
        return q


def coordinates(
    robot: Robot,
    *,
    joints: bool = False,
    links: bool = False,
    deviations: bool = False,
    ripple: bool = False,
) -> Coordinates:
    """The coordinates of a robot.

    Args:
        robot: What the controller knows.
        joints: Whether gears with a stiffness are elastic.
        links: Whether links bend at their flexures.
        deviations: Whether link lengths and joint zeros are those of the arm.
        ripple: Whether gears turn unevenly where the file says so.
    """
    built = as_built(robot, deviations=deviations, flexures=links)
    tree = built.assembly.tree
    own = np.array([tree.joint(name) for name in robot.joint_names], dtype=np.int64)
    link = np.array([built.joint_names.index(name) for name in robot.joint_names], dtype=np.int64)
    on_joints, on_motors = _transmissions(built) if joints else ({}, {})
    n = built.n
    drive, motor, count = _sides(built, n, on_joints, on_motors)
    rows = np.eye(count)
    gear = built.assembly.gear[:, built.assembly.free]
    motor_rows = gear @ rows[drive]
    for k in on_motors:
        motor_rows[k] = rows[motor[k]]
    elastic = []
    for j, transmission in on_joints.items():
        twist = rows[drive[j]] - rows[j]
        elastic.append(_gear(transmission.joint, transmission, twist, rows[drive[j]]))
    for k, transmission in on_motors.items():
        twist = motor_rows[k] - gear[k] @ rows[drive]
        elastic.append(_gear(transmission.motor, transmission, twist, motor_rows[k]))
    gears = len(elastic)
    if links:
        for flexure in robot.description.flexure:
            row = rows[tree.joint(flexure.name)]
            spring = Spring(flexure.stiffness, flexure.damping or 0.0)
            elastic.append(Compliance(flexure.name, row, spring, row))
    uneven: tuple[Rippling, ...] = ()
    if ripple:
        uneven = _rippling(built, n, motor_rows, tuple(elastic[:gears]))
    return Coordinates(
        built=built,
        own=own,
        bodies=n,
        count=count,
        link=link,
        drive=drive[link],
        motor_rows=motor_rows,
        motor=motor,
        elastic=tuple(elastic),
        rippling=uneven,
    )


def _sides(
    built: Robot, n: int, on_joints: dict[int, Transmission], on_motors: dict[int, Transmission]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Coordinates of drive sides and motors, and how many coordinates there are."""
    drive = np.arange(n)
    motor = np.full(len(built.description.motor), -1)
    count = n
    for j in on_joints:
        drive[j] = count
        count += 1
    for k in on_motors:
        motor[k] = count
        count += 1
    return drive, motor, count


def _gear(name: str, transmission: Transmission, twist: Floats, driving: Floats) -> Compliance:
    ground = transmission.ground_damping or 0.0
    return Compliance(name, twist, transmission.spring, driving, ground)


def _transmissions(built: Robot) -> tuple[dict[int, Transmission], dict[int, Transmission]]:
    """Transmissions of known stiffness, by joint and by motor, in their order."""
    on_joints, on_motors = {}, {}
    motors = [motor.name for motor in built.description.motor]
    names = built.joint_names
    turned = np.abs(built.assembly.gear[:, built.assembly.free]).sum(axis=0)
    for transmission in built.description.transmission:
        if transmission.stiffness is None:
            continue
        if transmission.motor:
            on_motors[motors.index(transmission.motor)] = transmission
            continue
        if transmission.joint not in names or (
            motors and not turned[names.index(transmission.joint)]
        ):
            raise ArmtwinError(
                f"robot '{built.name}': the transmission of {transmission.joint} has no motor that "
                "drives it"
            )
        on_joints[names.index(transmission.joint)] = transmission
    return dict(sorted(on_joints.items())), dict(sorted(on_motors.items()))


def _rippling(
    built: Robot, n: int, motor_rows: Floats, elastic: tuple[Compliance, ...]
) -> tuple[Rippling, ...]:
    """Gears that do not turn evenly, each with the motor whose turns it counts."""
    gear = built.assembly.gear
    motors = [motor.name for motor in built.description.motor]
    springs = {compliance.name: e for e, compliance in enumerate(elastic)}
    found = []
    for transmission in built.description.transmission:
        if transmission.motor:
            k = motors.index(transmission.motor)
            joints = np.asarray(np.linalg.pinv(gear)[:, k], dtype=np.float64)
        else:
            j = built.assembly.tree.joint(transmission.joint)
            k = int(np.argmax(np.abs(gear[:, j])))
            joints = np.eye(n)[j]
        spring = springs.get(transmission.motor or transmission.joint)
        for ripple in transmission.ripple:
            found.append(Rippling(ripple, motor_rows[k], spring, joints))
    return tuple(found)
