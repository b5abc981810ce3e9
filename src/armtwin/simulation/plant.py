"""The plant as packed arrays: an arm and what acts on rows of its coordinates.

Motors, friction elements and balancers see the speed or angle of a row s · v and act back along it. Nothing
here knows a robot or a law: rows and tables say it all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from armtwin.drives.friction.curves import INTERVALS, ROOT, at_viscosity, breakaway, tabulate
from armtwin.drives.friction.presliding import bristle_damping
from armtwin.drives.temperature import viscosity_factor
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.maths.quantities import Temperature
from armtwin.robot.drive_groups import FrictionElement
from armtwin.robot.fields import Flag
from armtwin.robot.robot import Robot

FrictionModel = Literal["lugre", "switching", "arctan", "off"]
FRICTION_KINDS: dict[str, int] = {"off": 0, "lugre": 1, "arctan": 2, "switching": 3}
STEEPNESS = 1e6  # of the arctangent [s/rad]: full friction beyond about 1e-4 rad/s
STRUT_INTERVALS = 2048
SCALE, C0, C1, OFFSET, HELD, HELD_BACK = range(6)


@dataclass(frozen=True)
class Model:
    """What of the robot is simulated, and how.

    Attributes:
        friction: "lugre" (bristles), "switching", "arctan" or "off".
        servo: Name of a servo of the robot file.
        quantise: Whether currents and encoder positions come in steps.
        joints: "rigid"; gears are rigid.
        temperature: Temperature of all joints [K], where the robot file gives its effect; None is the reference.
    """

    friction: FrictionModel = "lugre"
    servo: str = "cascade"
    quantise: Flag = True
    joints: Literal["rigid"] = "rigid"
    temperature: Temperature | None = None

    def __post_init__(self) -> None:
        if self.friction not in FRICTION_KINDS:
            raise ArmtwinError(f"model friction must be one of {', '.join(FRICTION_KINDS)}, got '{self.friction}'")
        if self.joints != "rigid":
            raise ArmtwinError(f"model joints must be 'rigid', got '{self.joints}'")
        if self.temperature is not None and not 150 < self.temperature < 600:
            raise ArmtwinError(f"model temperature must be in kelvin, 150 to 600, got {self.temperature}")


class Plant(NamedTuple):
    """Rows and tables of the drives.

    Attributes:
        motors: Rows of the motors, N, (motors, n).
        friction: Rows of the friction elements, (e, n).
        curves: Tables of dry and viscous friction, positive and negative side, (e, 2, INTERVALS, 8).
        numbers: Table scale, bristle stiffness, damping, offset, torque held at rest forward and backward, (e, 6).
        kind: One of FRICTION_KINDS.
        strut_joint: Joint of each balancer, (b,).
        strut_table: Cubics of its torque over one turn, (b, STRUT_INTERVALS, 4).
    """

    motors: Any
    friction: Any
    curves: Any
    numbers: Any
    kind: int
    strut_joint: Any
    strut_table: Any


def plant(robot: Robot, model: Model) -> Plant:
    """Pack the drives of a robot for a simulation."""
    assembly = robot.assembly
    if assembly.coupling is not None:
        raise ArmtwinError(f"robot '{robot.name}': joints that follow others cannot be simulated in closed loop")
    elements = assembly.friction if model.friction != "off" else ()
    rows = np.array([row for _, row in elements]).reshape(-1, robot.n)
    reach = _largest_speeds(robot)
    curves = np.empty((len(elements), 2, INTERVALS, 8))
    numbers = np.empty((len(elements), 6))
    for e, (element, row) in enumerate(elements):
        largest = float(np.abs(row) @ reach)
        curves[e], numbers[e] = _packed(element, largest, model)
    struts = assembly.struts
    return Plant(
        motors=assembly.gear,
        friction=rows,
        curves=curves,
        numbers=numbers,
        kind=FRICTION_KINDS[model.friction],
        strut_joint=np.array([s.joint for s in struts], dtype=np.int64),
        strut_table=np.array([_strut_table(s, robot.n) for s in struts]).reshape(-1, STRUT_INTERVALS, 4),
    )


def _largest_speeds(robot: Robot) -> Floats:
    """Speeds up to which friction is tabulated: twice the joint limits, or 20 rad/s."""
    return np.where(np.isfinite(robot.limits.velocity), 2 * robot.limits.velocity, 20.0)


def _packed(element: FrictionElement, largest: float, model: Model) -> tuple[Floats, Floats]:
    """Tables and numbers of one friction element."""
    factor = viscosity_factor(element.thermal, model.temperature)
    laws = [at_viscosity(law, factor) for law in (element.law, element.negative or element.law)]
    pre = element.presliding
    c0 = c1 = 0.0
    if model.friction == "lugre":
        if pre is None:
            raise ArmtwinError(
                f"friction '{element.name}' needs presliding (a bristle stiffness) for the lugre model; "
                "add it to the robot file, or choose friction = 'switching' or 'arctan'"
            )
        c0 = pre.stiffness
        if pre.damping is not None:
            c1 = pre.damping
        elif pre.relative_damping is not None and pre.inertia is not None:
            c1 = bristle_damping(c0, pre.relative_damping, pre.inertia)
    curves = np.stack([tabulate(law, largest) for law in laws])
    scale = INTERVALS / largest ** (1 / ROOT)
    held = [breakaway(law) for law in laws]
    return curves, np.array([scale, c0, c1, element.offset or 0.0, *held])


def _strut_table(strut: Any, n: int) -> Floats:
    """Cubics of a balancer's torque over the angle -π .. π, (STRUT_INTERVALS, 4); it repeats every turn."""
    x = np.linspace(-np.pi, np.pi, STRUT_INTERVALS + 1)
    q = np.zeros((len(x), n), dtype=np.complex128)
    q[:, strut.joint] = x + 1e-100j
    torque = strut.torque(q)
    y, d = torque.real, torque.imag / 1e-100 * (x[1] - x[0])
    y0, y1, d0, d1 = y[:-1], y[1:], d[:-1], d[1:]
    return np.stack([y0, d0, 3 * (y1 - y0) - 2 * d0 - d1, 2 * (y0 - y1) + d0 + d1], axis=1)
