"""The limits that an excitation keeps: of the joints, of the drives, and of the cell around them.

Each limit is a use, 1 at the limit: |q - middle| / half range, |v| / largest, |a| / largest,
|torque| / largest at the joints and motors. The cell is a distance that must stay above the
clearance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.excitation.plan import ExcitationPlan, middle_and_half
from armtwin.maths.batch import Floats, NamedArrays, NamedNumbers
from armtwin.motion.cell import Cell, nearness
from armtwin.motion.fourier import Shapes
from armtwin.robot.defaults.joint_sizes import joint_sizes
from armtwin.robot.robot import Robot

KINDS = ("position", "velocity", "acceleration", "torque", "drive")


class Use(NamedTuple):
    """How much of each limit a motion uses, and how near it comes to the cell.

    Attributes:
        shares: For each kind of limit the largest use of each joint or motor, 1 at the limit; 0
            where there is none.
        distance: Least distance to each thing of the cell by name [m].
    """

    shares: NamedArrays
    distance: NamedNumbers

    @property
    def largest(self) -> float:
        """The largest use of any limit."""
        return max((float(share.max(initial=0.0)) for share in self.shares.values()), default=0.0)

    @property
    def nearest(self) -> float:
        """Least distance to anything of the cell [m]; inf in an empty one."""
        return min(self.distance.values(), default=np.inf)

    def worst(self, robot: Robot, clearance: float) -> str:
        """The limit exceeded most, in words."""
        if self.nearest < clearance:
            name = min(self.distance, key=lambda key: self.distance[key])
            return f"the distance to {name}"
        kind = max(self.shares, key=lambda key: float(self.shares[key].max(initial=0.0)))
        k = int(np.argmax(self.shares[kind]))
        names = robot.joint_names
        if kind == "drive":
            names = tuple(motor.name for motor in robot.description.motor)
        return f"the {kind} of {names[k]}"


@dataclass(frozen=True, eq=False)
class Bounds:
    """Limits of an excitation.

    Attributes:
        robot: The robot.
        cell: Obstacles around it.
        clearance: How far it stays away from that [m].
        middle: Middle of the position limits, (n,).
        half: Half their range, (n,).
        speed: Largest speeds, (n,).
        acceleration: Largest accelerations, (n,); inf where there is no limit.
        torque: Largest joint torques, (n,); inf where there is no limit.
        drive: Largest motor torques, (motors,); inf where there is no limit.
        scale: Torques by which the rows of joints are scaled, (n,) [N m or N].
    """

    robot: Robot
    cell: Cell
    clearance: float
    middle: Floats
    half: Floats
    speed: Floats
    acceleration: Floats
    torque: Floats
    drive: Floats
    scale: Floats

    @staticmethod
    def of(robot: Robot, plan: ExcitationPlan, cell: Cell) -> Bounds:
        """The limits of a robot as far as a plan uses them."""
        limits = robot.limits
        middle, half = middle_and_half(robot.position_limits)
        sizes = joint_sizes(robot)
        unknown = ~np.isfinite(limits.velocity) & ~np.isfinite(limits.torque)
        if unknown.any():
            joint = robot.joint_names[int(np.argmax(unknown))]
            raise ArmtwinError(
                f"robot '{robot.name}': {joint} has neither a speed nor a torque limit: no motion "
                "is known to be safe; give limits.velocity in its file"
            )
        if not (half > 0).all():
            joint = robot.joint_names[int(np.argmin(half))]
            raise ArmtwinError(
                f"robot '{robot.name}': no motion within the limits: the position limits of "
                f"{joint} are equal"
            )
        return Bounds(
            robot=robot,
            cell=cell,
            clearance=plan.clearance,
            middle=middle,
            half=half,
            speed=plan.speed * limits.velocity,
            acceleration=plan.acceleration * limits.acceleration,
            torque=plan.torque * limits.torque,
            drive=plan.torque * limits.motor_torque,
            scale=sizes.torque,
        )

    def of_joints(self, motion: Shapes) -> NamedArrays:
        """Largest use of the limits of positions, speeds and accelerations, (n,) each."""
        return {
            "position": np.abs((motion.q - self.middle) / self.half).max(axis=0),
            "velocity": np.abs(motion.v / self.speed).max(axis=0),
            "acceleration": np.abs(motion.a / self.acceleration).max(axis=0),
        }

    def of_torques(self, torque: Floats) -> NamedArrays:
        """Largest use of the limits of joint torques (m, n) and of the motors' behind them."""
        found = {"torque": np.abs(torque / self.torque).max(axis=0)}
        if self.drives_all:
            motor = torque @ self.robot.assembly.motor_inverse
            found["drive"] = np.abs(motor / self.drive).max(axis=0)
        return found

    @property
    def drives_all(self) -> bool:
        """Whether each joint torque is that of motors, one for each joint, with limits."""
        motors, n = self.robot.assembly.motor_rows.shape
        return motors == n and bool(np.isfinite(self.drive).any())

    def needed(self, motion: Shapes) -> Floats:
        """Joint torques that a motion needs, friction included, (m, n)."""
        torque = self.robot.inverse_dynamics(*motion)
        return np.asarray(torque + self.robot.friction_torque(motion.v, motion.q, motion.a))

    def use(self, motion: Shapes, torque: Floats) -> Use:
        """How much of every limit a motion with its torques (m, n) uses."""
        shares = {**self.of_joints(motion), **self.of_torques(torque)}
        return Use(shares, self.distances(motion.q))

    def distances(self, q: Floats) -> NamedNumbers:
        """How near positions (m, n) come to each thing of the cell [m]."""
        found = {}
        for near in nearness(self.robot, self.cell, q):
            found[near.obstacle.name] = float(near.distance.min())
        return found

    def kept(self, use: Use) -> bool:
        """Whether a motion is within all limits."""
        return use.largest <= 1.0 and use.nearest >= self.clearance
