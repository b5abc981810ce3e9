"""Logs of a test set-up as tests of its actuator: one cylinder under a proportional servo.

    i = gain · sensor_gain (x_ref - x(t - t_m))      what the controller asks of the valve

The log's own current is that at the valve, which is late; the controller's follows from set-point
and position, whose sensor's delay is known.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.actuator.response_fit import NoiseTest
from armtwin.identification.actuator.valve import RampTest
from armtwin.identification.resampling import step_of
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.robot.kinematics.strokes import drive_forces
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import Hydraulic
from armtwin.robot.schema.servo import Proportional


@dataclass(frozen=True, eq=False)
class ActuatorBench:
    """A robot that is one cylinder under a proportional servo.

    Attributes:
        robot: The robot.
        cylinder: Its cylinder.
        servo: Its servo.
        friction: Name of the friction on the piston.
        viscous: Viscous friction of the piston [N s/m].
    """

    robot: Robot
    cylinder: Hydraulic
    servo: Proportional
    friction: str
    viscous: float

    @property
    def parameters(self) -> dict[str, tuple[str, str, float]]:
        """Key in the robot file, unit and value of each parameter."""
        oil, valve = self.cylinder.circuit.oil, self.cylinder.circuit.valve
        path = f"hydraulic.{self.cylinder.name}"
        return {
            "compliance": (f"{path}.compliance", "m/N", oil.compliance),
            "leakage": (f"{path}.leakage", "m/(N s)", oil.leakage),
            "viscous": (f"friction.{self.friction}.viscous", "N s/m", self.viscous),
            "valve_frequency": (f"{path}.valve.frequency", "rad/s", valve.frequency),
            "valve_damping": (f"{path}.valve.damping", "1", valve.damping),
            "delay": (f"{path}.valve.delay", "s", valve.delay),
        }

    @property
    def mass(self) -> float:
        """What the piston moves [kg]."""
        return float(self.robot.mass_matrix(np.zeros(1))[0, 0])

    def current(self, log: Log) -> Floats:
        """What the controller asks of the valve, (m,) [A]."""
        from scipy.interpolate import CubicSpline

        wanted, place = log.q_ref[:, 0], log.q[:, 0]
        delay = self.servo.delay.sensor[0]
        earlier = np.maximum(log.time - delay, log.time[0])
        seen = CubicSpline(log.time, place)(earlier)
        asked = self.servo.gain[0] * self.servo.sensor_gain[0] * (wanted - seen)
        limit = self.cylinder.circuit.valve.current_limit
        return np.clip(asked, -limit, limit)

    def noise_test(self, log: Log, mass: float) -> NoiseTest:
        """A log of noise with a weight [kg] as a test."""
        return NoiseTest(mass, log.time, self.current(log), _speed(log, differentiate))

    def ramp_test(self, log: Log) -> RampTest:
        """A log of triangles with the robot's own weight as a test."""
        speed = _speed(log, np.gradient)  # of whose means noise of high frequencies is no part
        q = log.q[:, :1]
        weight = drive_forces(self.robot, q, self.robot.gravity(q))[:, 0]
        force = weight + self.viscous * speed
        current = log.current[:, 0] if "current" in log else self.current(log)
        return RampTest(log.time, log.q_ref[:, 0], current, speed, force)


def actuator_bench(robot: Robot) -> ActuatorBench:
    """A robot as the test set-up of an actuator."""
    d = robot.description
    servos = [servo for servo in d.servo.values() if isinstance(servo, Proportional)]
    if len(d.hydraulic) != 1 or robot.n != 1 or not servos:
        raise ArmtwinError(
            f"robot '{robot.name}' must be a test set-up, one cylinder under a proportional servo, "
            f"got {robot.n} joints and {len(d.hydraulic)} cylinders"
        )
    (cylinder,) = d.hydraulic
    for element in d.active_friction():
        if element.on == cylinder.name and hasattr(element.law, "viscous"):
            return ActuatorBench(robot, cylinder, servos[0], element.name, element.law.viscous)
    raise ArmtwinError(f"robot '{robot.name}' has no viscous friction on '{cylinder.name}'")


def _speed(log: Log, derive: Callable[[Floats, float], Floats]) -> Floats:
    """Speed of the piston, as logged or derived from its positions, (m,) [m/s]."""
    if "v" in log:
        return log.v[:, 0]
    return derive(log.q[:, 0], step_of(log.time))


def differentiate(values: Floats, step: float) -> Floats:
    """Rate of a record at even times by iω of its spectrum, (m,).

    A difference over two samples would have sin(ω step) / (ω step) of the rate: 12 % too little at
    350 Hz of a record at 2.5 kHz. The record is continued by its mirror image, without a step.
    """
    mirrored = np.concatenate([values, values[::-1]])
    omega = 2 * np.pi * np.fft.rfftfreq(len(mirrored), step)
    omega[-1] = 0.0  # what alternates from sample to sample has no rate
    return np.fft.irfft(1j * omega * np.fft.rfft(mirrored), len(mirrored))[: len(values)]
