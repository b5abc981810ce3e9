"""What a proportional controller of cylinders would add if it knew the load: gains and offsets.

    gain = gain_0 ω / ω_0           ω the natural frequency of the drive with what it has to move
    offset = (i(F) - i(F_0)) / gain     i the valve current that holds a force at rest

The loop of an integrator and a resonance is as stable as gain / ω is small: with gains tuned for
one load a heavier one oscillates, and with the same gain / ω it does not.

Ref: [Machielsen 1983, sections 8.2.2, 8.2.4 and 9], proposed there and not tried
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armtwin.analysis.inertia import find_hydraulic_modes
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.robot.kinematics.strokes import drive_forces
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import Hydraulic
from armtwin.robot.schema.servo import Proportional


def with_mass_compensation(robot: Robot, tuned: Robot, q: Floats) -> Robot:
    """The robot with its proportional gains scaled to what its drives move at a posture (n,).

    Args:
        robot: The robot as it is loaded.
        tuned: The robot that its gains were tuned for.
        q: The posture.
    """
    share = find_hydraulic_modes(robot, q).alone / find_hydraulic_modes(tuned, q).alone
    servos = {}
    for name, servo in robot.description.servo.items():
        if isinstance(servo, Proportional):
            gain = tuple(float(x) for x in share * np.array(servo.gain))
            servo = replace(servo, gain=gain)
        servos[name] = servo
    return Robot(replace(robot.description, servo=servos), robot.origin)


def gravity_offsets(robot: Robot, tuned: Robot, servo: str, q: Floats) -> Floats:
    """Set-point offsets that keep drives in place under another weight, (drives,) [V].

    Args:
        robot: The robot as it is loaded.
        tuned: The robot that its offsets were set for.
        servo: Name of its proportional servo.
        q: The posture, (n,).
    """
    law = robot.description.servo[servo]
    if not isinstance(law, Proportional):
        raise ArmtwinError(f"servo '{servo}' must be of kind 'proportional', got '{law.kind}'")
    change = holding_currents(robot, q) - holding_currents(tuned, q)
    return change / np.array(law.gain)


def holding_currents(robot: Robot, q: Floats) -> Floats:
    """Valve currents at which hydraulic drives hold a posture (n,) against gravity, (drives,) [A].

    In the lap of a valve, where no oil flows, its middle.
    """
    force = drive_forces(robot, q[None], robot.gravity(q)[None])[0]
    currents = []
    for (drive, _), F in zip(robot.assembly.drives, force, strict=True):
        assert isinstance(drive, Hydraulic)  # proportional servos drive valves
        currents.append(drive.circuit.oil.opening(float(F)))
    return np.array(currents)
