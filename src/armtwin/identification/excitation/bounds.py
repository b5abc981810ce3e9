"""The limits that an excitation keeps: of the joints, of the drives, and of the cell around them.

Each limit is a use, 1 at the limit: |q - middle| / half range, |v| / largest, |a| / largest,
|torque| / largest at the joints and motors. The cell is a distance that must stay above the
clearance.

Options of an excitation: its series, its criterion, and how far limits may be used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.rigid_body.recipe import Contract, check_contracts
from armtwin.maths.batch import Floats, NamedArrays, NamedNumbers, Pair, TwoArrays
from armtwin.motion.cell import Cell, nearness
from armtwin.motion.fourier import Shapes
from armtwin.robot.defaults.joint_sizes import joint_sizes
from armtwin.robot.robot import Robot

Criterion = Literal["log_det", "sigma_min", "condition", "weighted"]
Scaling = Literal["parameters", "columns"]
Search = Literal["optimised", "random"]

WHOLE = 1e-6  # samples by which a period may differ from a whole number of them
LARGEST_PERIOD = 600.0  # [s]
MOST_HARMONICS = 60
MOST_SAMPLES = 1_000_000  # of a trajectory


@dataclass(frozen=True)
class ExcitationPlan:
    """The choices of an excitation.

    Attributes:
        criterion: What is optimised: the largest "log_det", the largest "sigma_min", the least
            "condition" number, or the least "weighted" sum
            weights[0] condition + weights[1] / sigma_min.
        scaling: What singular values and condition number are of: columns times the parameters'
            prior values ("parameters") or over their own norms ("columns").
        weights: Of the condition number and of 1 / sigma_min in "weighted". What they weigh is a
            matter of units: sigma_min is that of one sample of the scaled columns, rows over each
            joint's largest torque and parameters over their prior values; another scale of
            sigma_min is another weight.
        search: "optimised" by gradient from the best random start, or the best "random".
        starts: Random motions that are tried; the best is taken, or started from.
        period: Length of a period [s].
        harmonics: Harmonics of a period.
        periods: Periods that the robot runs.
        rate: Set-points in a second; by default those of the robot's servo, else 250 [Hz].
        speed: Share of the joints' highest speeds that may be used.
        acceleration: Share of the largest accelerations that may be used.
        torque: Share of the largest torques that may be used.
        clearance: Distance that the robot's lines keep from the cell and the floor [m].
        noise: Standard deviation of the torque, as a share of each joint's largest.
        seed: Of the random starts.

    Ref: [Waiboer 2007, section 4.4.1], [Memar-Esfahani 2015, eq. 17]
    """

    criterion: Criterion = "log_det"
    scaling: Scaling = "parameters"
    weights: Pair = (1.0, 1.0)
    search: Search = "optimised"
    starts: int = 40
    period: float = 8.0
    harmonics: int = 10
    periods: int = 1
    rate: float | None = None
    speed: float = 1.0
    acceleration: float = 1.0
    torque: float = 1.0
    clearance: float = 0.1
    noise: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        check_contracts("excitation", self, self._contracts())

    def _contracts(self) -> Iterator[Contract]:
        for key in ("starts", "harmonics", "periods"):
            value = getattr(self, key)
            is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
            yield key, is_count, "a whole number from 1 on"
        yield "harmonics", self.harmonics <= MOST_HARMONICS, f"at most {MOST_HARMONICS}"
        for key in ("speed", "acceleration", "torque"):
            is_share = 0 < getattr(self, key) <= 1
            yield key, is_share, "a share of the limit above 0 and at most 1"
        short = f"above 0 and at most {LARGEST_PERIOD:g} s"
        yield "period", 0 < self.period <= LARGEST_PERIOD, short
        yield "clearance", 0 <= self.clearance < np.inf, "at least 0 m"
        yield "noise", 0 < self.noise < np.inf, "above 0"
        two = len(self.weights) == 2 and min(self.weights) >= 0 and sum(self.weights) > 0
        yield "weights", two, "two numbers of at least 0, not both 0"
        yield "rate", self.rate is None or 0 < self.rate < np.inf, "above 0 Hz"

    def check_rate(self, rate: float) -> float:
        """Refuse a rate unless a period is a whole number of set-points, 4 or more a harmonic."""
        samples = self.period * rate
        if abs(samples - round(samples)) > WHOLE:
            near = round(samples) / rate
            raise ArmtwinError(
                f"excitation: a period must be a whole number of set-points at {rate:g} Hz, got "
                f"{self.period:g} s; {near:.10g} s is one"
            )
        if samples < 4 * self.harmonics:
            raise ArmtwinError(
                f"excitation: {self.harmonics} harmonics need at least {4 * self.harmonics} "
                f"set-points in a period, got {round(samples)}; lengthen the period or raise the "
                "rate"
            )
        if samples * self.periods > MOST_SAMPLES:
            raise ArmtwinError(
                f"excitation: a trajectory has at most {MOST_SAMPLES} set-points, got "
                f"{round(samples * self.periods)}"
            )
        return rate


def middle_and_half(limits: Floats) -> TwoArrays:
    """Middle and half range of position limits (2, n); a turn where there is no limit."""
    low, high = limits
    low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * np.pi, -np.pi))
    high = np.where(np.isfinite(high), high, low + 2 * np.pi)
    return (low + high) / 2, (high - low) / 2


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
        k = np.argmax(self.shares[kind])
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
            joint = robot.joint_names[np.argmax(unknown)]
            raise ArmtwinError(
                f"robot '{robot.name}': {joint} has neither a speed nor a torque limit: no motion "
                "is known to be safe; give limits.velocity in its file"
            )
        if not (half > 0).all():
            joint = robot.joint_names[np.argmin(half)]
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
