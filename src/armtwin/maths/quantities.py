"""The kinds of numbers a file holds: each a float in SI that may be written with a unit."""

import math
from typing import Annotated

from armtwin.maths.units import Unit

Number = Annotated[float, Unit("1")]
Positive = Annotated[float, Unit("1", above=0)]
Share = Annotated[float, Unit("1", at_least=0)]
Length = Annotated[float, Unit("m")]
Area = Annotated[float, Unit("m^2", above=0)]
Volume = Annotated[float, Unit("m^3", above=0)]
Angle = Annotated[float, Unit("rad", plausible=2.01 * math.pi, hint="deg")]
Mass = Annotated[float, Unit("kg")]
FirstMoment = Annotated[float, Unit("kg m")]
Inertia = Annotated[float, Unit("kg m^2")]
RotorInertia = Annotated[float, Unit("kg m^2", at_least=0)]
Acceleration = Annotated[float, Unit("m/s^2")]
Speed = Annotated[float, Unit("rad/s", above=0, plausible=100, hint="deg/s, rpm", also="m/s")]
Force = Annotated[float, Unit("N")]
Stiffness = Annotated[float, Unit("N/m")]
Torque = Annotated[float, Unit("N m", also="N")]
Friction = Annotated[float, Unit("N m", at_least=0, also="N")]
UsualLoad = Annotated[float, Unit("N m", above=0, also="N")]
Viscous = Annotated[float, Unit("N m s/rad", at_least=0, also="N s/m")]
TorsionStiffness = Annotated[float, Unit("N m/rad", above=0, also="N/m")]
Temperature = Annotated[float, Unit("K", above=0)]
Time = Annotated[float, Unit("s", at_least=0)]
Frequency = Annotated[float, Unit("Hz", above=0)]
Current = Annotated[float, Unit("A", at_least=0)]
TorqueConstant = Annotated[float, Unit("N m/A", above=0)]

Point = tuple[Length, Length, Length]
Direction = tuple[Number, Number, Number]
