"""What of a robot is simulated, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.fields import Flag, Read
from armtwin.maths.batch import Floats, Values
from armtwin.maths.units import Unit
from armtwin.robot.schema.provenance import Wants
from armtwin.simulation.plant import ARCTANGENT, BRISTLES, NO_FRICTION, SWITCHING

FrictionModel = Literal["lugre", "switching", "arctan", "off"]
JointModel = Literal["rigid", "elastic"]
ValveModel = Literal["spool", "delay"]
FRICTION_KINDS: dict[str, int] = {
    "off": NO_FRICTION,
    "lugre": BRISTLES,
    "arctan": ARCTANGENT,
    "switching": SWITCHING,
}
COLDEST, HOTTEST = 150.0, 600.0  # of a joint [K]


def _temperatures(value: Any) -> float | Values:
    """One temperature of all joints, or a list of one for each."""
    kelvin = Unit("K", above=0)
    if isinstance(value, list | tuple):
        return tuple(kelvin.read(one) for one in value)
    return kelvin.read(value)


Temperatures = Annotated[float | tuple[float, ...], Read(_temperatures)]


@dataclass(frozen=True)
class Model:
    """What of the robot is simulated, and how.

    Attributes:
        friction: "lugre" (pre-sliding and sliding), "switching", "arctan" or "off".
        servo: Name of a servo of the robot file.
        quantise: Whether currents and encoder positions come in steps.
        joints: "rigid" gears, or "elastic" ones where the robot file gives their stiffness.
        links: "rigid" links, or "elastic" ones that bend at the flexures of the robot file.
        deviations: Whether link lengths and joint zeros of the arm deviate from what the controller
            knows, as the robot file says.
        ripple: Whether gears turn unevenly, as the robot file says.
        valves: A "spool" of second order, or a "delay" in its place (order 15 in place of 25
            for five circuits).
        temperature: Temperature of all joints, or of each [K]; the robot file must give its effect.
            None is the reference.
    """

    friction: FrictionModel = "lugre"
    servo: str = "cascade"
    quantise: Flag = True
    joints: JointModel = "rigid"
    valves: ValveModel = "spool"
    temperature: Temperatures | None = None
    links: JointModel = "rigid"
    deviations: Flag = False
    ripple: Flag = False

    @property
    def wants(self) -> Wants:
        """What it wants of a robot file."""
        return Wants(
            self.servo,
            self.friction,
            self.joints,
            self.links,
            self.deviations,
            self.ripple,
            temperature=self.temperature is not None,
        )

    def joint_temperatures(self, joints: int) -> Floats | None:
        """Temperature of each joint, (joints,) [K]; None where none is given."""
        if self.temperature is None:
            return None
        given = np.atleast_1d(np.asarray(self.temperature, dtype=np.float64))
        if len(given) not in (1, joints):
            raise ArmtwinError(
                f"model temperature must be one, or one for each of {joints} joints, got "
                f"{len(given)}"
            )
        return np.broadcast_to(given, joints)

    @property
    def words(self) -> str:
        """What of the arm is simulated, in words."""
        also = []
        if self.links == "elastic":
            also.append("elastic links")
        if self.deviations:
            also.append("deviations of the arm")
        if self.ripple:
            also.append("ripple of gears")
        return ", ".join([f"{self.joints} joints", *also])

    def __post_init__(self) -> None:
        if isinstance(self.temperature, list):
            object.__setattr__(self, "temperature", tuple(self.temperature))
        given = () if self.temperature is None else np.atleast_1d(self.temperature)
        for one in given:
            if not COLDEST < one < HOTTEST:
                raise ArmtwinError(
                    f"model temperature must be in kelvin, {COLDEST:g} to {HOTTEST:g}, got {one:g}"
                )
