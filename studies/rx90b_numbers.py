"""What of rx90b its document does not print: assumed numbers with their priors.

A sample is a point z of standard normal deviations, one for each number, with the joint whose
largest torque normalises friction model c, and the placements of both seams. Numbers are log-normal
about what sister robots and usual servos suggest. What follows from them is derived again: friction
by table 3.1, limits of currents, what each motor feels, what its servo feeds forward.

Ref: [Waiboer 2007, sections 2.1 to 2.4, table 3.1]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import armtwin as at
from armtwin.identification.completion.sizes import felt_inertias, viscous_at_motors
from armtwin.prediction.band.quantities import heavier, larger
from chapter_5_placements import (
    LINE,
    STEP,
    Corner,
    Placement,
    all_corner_placements,
    as_shipped,
    line_placements,
    motion,
)

TABLE_3_1 = {  # asperity and viscous (or limiting) torque over the largest torque of a joint
    "joint_1": (0.0255, 0.0911),
    "joint_2": (0.0448, 0.0853),
    "joint_3": (0.0093, 0.0241),
    "joint_4": (0.0332, 0.0646),
    "wrist_a": (0.0115, 0.0280),
    "wrist_b": (0.0194, 0.0098),
    "wrist_c": (0.0300, 0.0499),
}
JOINT_OF = {"joint_1": 0, "joint_2": 1, "joint_3": 2, "joint_4": 3, "wrist_a": 4, "wrist_b": 5}
NORMALISES_C = (5, 6)  # joints whose largest torque may normalise friction model c
SECANT = 0.5  # speed at which friction is fed forward [rad/s]
CODES = 4096  # of a current


@dataclass(frozen=True)
class Number:
    """A number that the document does not print.

    Attributes:
        name: Its name.
        words: What it is.
        centre: The median of its prior.
        spread: Standard deviation of its logarithm.
        unit: Its unit.
        because: Where the prior is from.
    """

    name: str
    words: str
    centre: float
    spread: float
    unit: str
    because: str

    def value(self, z: float) -> float:
        """The number at z standard deviations."""
        return self.centre * float(np.exp(self.spread * z))


SISTERS = "sister robots TX40 and TX90 differ by so much"
SERVO = "usual for a servo of this kind"
NUMBERS = (
    Number("bandwidth", "bandwidth of joints 1 to 3", 12.0, 0.25, "Hz", SERVO),
    Number("bandwidth_4", "bandwidth of joint 4", 14.0, 0.25, "Hz", SERVO),
    Number("bandwidth_5", "bandwidth of joint 5", 14.0, 0.25, "Hz", SERVO),
    Number("bandwidth_6", "bandwidth of joint 6", 16.0, 0.25, "Hz", SERVO),
    Number("damping", "relative damping", 0.8, 0.25, "", SERVO),
    Number("integrator", "corner of the integrator", 1.5, 0.8, "Hz", "0.3 to 7 Hz: not known"),
    Number("acceleration", "acceleration fed forward", 0.9, 0.1, "", SERVO),
    Number("friction", "friction fed forward, of its secant", 1.0, 0.4, "", SERVO),
    Number("limit", "largest following error", 8.0, 0.4, "deg", "order of what drives allow"),
    Number("torque_1", "largest torque of joint 1", 318.0, 0.25, "N m", SISTERS),
    Number("torque_2", "largest torque of joint 2", 318.0, 0.25, "N m", SISTERS),
    Number("torque_3", "largest torque of joint 3", 214.0, 0.25, "N m", SISTERS),
    Number("torque_4", "largest torque of joint 4", 64.6, 0.25, "N m", SISTERS),
    Number("torque_5", "largest torque of joint 5", 55.1, 0.25, "N m", SISTERS),
    Number("torque_6", "largest torque of joint 6", 23.5, 0.25, "N m", SISTERS),
    Number("arm", "mass of the links", 91.0, 0.1, "kg", "the data sheet's mass of the arm"),
    Number("forearm", "mass of links 3 to 6, of its share", 1.0, 0.12, "", SISTERS),
    Number("head", "distance of the head's centre of mass, of the assumed", 1.0, 0.15, "", "a box"),
    Number("preload", "preload of the spring", 2900.0, 0.3, "N", "not known"),
    Number("stiffness", "stiffness of the spring", 10500.0, 0.3, "N/m", "not known"),
    Number("gears", "stiffness of the gears, of the assumed", 1.0, 0.4, "", "not known"),
    Number("viscosity", "viscosity, of that of table 3.1", 1.0, 0.12, "", "drives within 4 K"),
    Number("bristles", "pre-sliding stiffness over torque", 4e4, 0.6, "1/rad", "sec. 3.8.3"),
)
NAMES = tuple(number.name for number in NUMBERS)


@dataclass(frozen=True, eq=False)
class Sample:
    """A robot and placements of its seams.

    Attributes:
        z: Deviations of the numbers, (d,).
        normalises_c: The joint whose largest torque normalises friction model c.
        line: Number of the straight seam's placement.
        corner: Number of the corner's.
    """

    z: np.ndarray
    normalises_c: int
    line: int
    corner: int

    @property
    def values(self) -> dict[str, float]:
        """The numbers by their names."""
        return {x.name: x.value(z) for x, z in zip(NUMBERS, self.z, strict=True)}

    @property
    def log_prior(self) -> float:
        """Logarithm of the prior's density but for a constant."""
        return -0.5 * float(self.z @ self.z)

    def robot(self) -> at.Robot:
        """The robot, without a tool."""
        return robot_of(self.values, self.normalises_c)


@cache
def lines() -> list[Placement]:
    """Placements of the straight seam that agree with the sentences on joint motion.

    Those whose flange would be below the plane of the robot's foot are left out.
    """
    return [place for place in line_placements(STEP) if is_above_foot(place)]


def is_above_foot(place: Placement) -> bool:
    """Whether the flange stays above the plane of the robot's foot on the straight seam."""
    q = motion(LINE, place).q
    heights = assumed().forward_kinematics(q, "flange")[:, 2, 3]
    return bool(heights.min() >= 0)


@cache
def corners() -> list[Corner]:
    """Placements of the corner that agree with the sentences on joint motion."""
    return all_corner_placements()


@cache
def assumed() -> at.Robot:
    """The robot whose structure and ratios are taken over."""
    return at.Robot.load("rx90b")


@cache
def middle_posture() -> np.ndarray:
    """Joint positions in the middle of the straight seam as it is shipped, (6,) [rad]."""
    found = motion(LINE, as_shipped(LINE))
    return found.q[len(found.q) // 2]


# a robot from numbers


def robot_of(v: dict[str, float], normalises_c: int) -> at.Robot:
    """The robot of some numbers."""
    d = assumed().description
    torques = np.array([v[f"torque_{k}"] for k in range(1, 7)])
    d = replace(
        d,
        link=links_of(d, v),
        tool=tools_of(d, v),
        joint=joints_of(d, torques),
        motor=motors_of(d, torques),
        balancer=tuple(with_spring(x, v) for x in d.balancer),
        friction=tuple(friction_of(f, torques, v, normalises_c) for f in d.friction),
        transmission=tuple(replace(x, stiffness=v["gears"] * x.stiffness) for x in d.transmission),
    )
    return with_servo(assumed().with_numbers(d), v)


def links_of(d: Any, v: dict[str, float]) -> tuple[Any, ...]:
    """Links of another mass, of which the forearm has another share."""
    masses = np.array([link.body.mass for link in d.link])
    shares = np.array([1.0, 1.0, *[v["forearm"]] * 4])
    factors = v["arm"] * shares / (masses * shares).sum()
    found = []
    for link, factor in zip(d.link, factors, strict=True):
        found.append(replace(link, body=heavier(link.body, float(factor))))
    return tuple(found)


def tools_of(d: Any, v: dict[str, float]) -> dict[str, Any]:
    """The laser head with its mass elsewhere."""
    head = d.tool["laser_head"]
    return {**d.tool, "laser_head": replace(head, body=larger(head.body, v["head"]))}


def joints_of(d: Any, torques: np.ndarray) -> tuple[Any, ...]:
    """Joints of other largest torques."""
    found = []
    for joint, torque in zip(d.joint, torques, strict=True):
        found.append(replace(joint, limits=replace(joint.limits, torque=float(torque))))
    return tuple(found)


def motors_of(d: Any, torques: np.ndarray) -> tuple[Any, ...]:
    """Motors whose currents give the largest torques."""
    ratios = np.diag(np.array(d.gear.matrix))
    found = []
    for motor, torque, ratio in zip(d.motor, torques, ratios, strict=True):
        limit = float(torque / (ratio * motor.torque_constant))
        found.append(replace(motor, current_limit=limit, current_quantum=2 * limit / CODES))
    return tuple(found)


def with_spring(balancer: Any, v: dict[str, float]) -> Any:
    """The balancer with another spring."""
    force = replace(balancer.force, preload=v["preload"], stiffness=v["stiffness"])
    return replace(balancer, force=force)


def friction_of(f: Any, torques: np.ndarray, v: dict[str, float], normalises_c: int) -> Any:
    """A friction element by table 3.1."""
    joint = JOINT_OF.get(f.name, normalises_c - 1)
    asperity, viscous = TABLE_3_1[f.name]
    key = "viscous" if hasattr(f.law, "viscous") else "limit"
    largest = float(torques[joint])
    rubbing = {"asperity": asperity * largest, key: viscous * v["viscosity"] * largest}
    stiffness = v["bristles"] * largest
    stiffer = stiffness / f.presliding.stiffness
    damping = f.presliding.damping * stiffer**0.5  # relative damping as before
    presliding = replace(f.presliding, stiffness=stiffness, damping=damping)
    return replace(f, law=replace(f.law, **rubbing), presliding=presliding)


def with_servo(robot: at.Robot, v: dict[str, float]) -> at.Robot:
    """The robot with its servo, for what its motors feel in the middle of the straight seam."""
    d = robot.description
    cascade = d.servo["cascade"]
    loaded = robot.with_tool("laser_head")
    felt = felt_inertias(loaded, middle_posture()[None])
    secants = viscous_at_motors(robot, SECANT)
    arm, wrist = v["bandwidth"], ("bandwidth_4", "bandwidth_5", "bandwidth_6")
    bandwidth = (arm, arm, arm, *(v[name] for name in wrist))
    rule = replace(
        cascade.rule,
        bandwidth=bandwidth,
        inertia=tuple(felt.tolist()),
        damping=(v["damping"],),
        integrator=tuple(v["integrator"] / f for f in bandwidth),
        acceleration_feedforward=(v["acceleration"],),
        friction_feedforward=tuple((v["friction"] * secants).tolist()),
    )
    limit = float(np.radians(v["limit"]))
    cascade = replace(cascade, rule=rule, following_error_limit=limit)
    return robot.with_numbers(replace(d, servo={**d.servo, "cascade": cascade}))
