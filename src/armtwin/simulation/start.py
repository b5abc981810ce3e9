"""Where a run starts: every drive in equilibrium on the first set-point."""

from typing import NamedTuple

import numpy as np

from armtwin.control.controller import HELD, KTFC, KTFV, TORQUE, Controller, initial
from armtwin.maths.batch import Floats, TwoArrays
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import Hydraulic
from armtwin.simulation.loop import State
from armtwin.simulation.plant import Plant


class Start(NamedTuple):
    """Where a run starts: speeds and places of the coordinates, forces of the drives there."""

    v: Floats
    u: Floats
    force: Floats


def find_equilibrium(robot: Robot, start: Start, c: Controller, parts: Plant, ref: Floats) -> State:
    """The state of a robot in equilibrium on its first set-point, `ref`."""
    v, u, force = start
    m = len(force)
    is_valve = np.zeros(m, dtype=bool)
    for k, (drive, _) in enumerate(robot.assembly.drives):
        is_valve[k] = isinstance(drive, Hydraulic)
    oil = force[parts.cylinders.drive]
    opening = _openings(robot, oil)
    current = force / parts.outputs.per_current
    current[parts.cylinders.drive] = opening
    wanted, wanted_speed, wanted_acceleration = ref[:3]
    modelled = ref[TORQUE]
    held, offset = split_holding_torque(c, np.where(is_valve, 0.0, force), modelled)
    servo, memory = initial(c, held, wanted_speed, wanted_acceleration)
    # in equilibrium the set-point of a valve is off by its opening
    servo[:, HELD] = offset
    servo[parts.cylinders.drive, HELD] = opening
    position = np.where(is_valve, wanted, parts.rows.weights[parts.sensors.row] @ u)
    commands = _past(parts.outputs.delay, m, 1)
    if commands is not None:
        commands[:, :, 0] = current
    return State(
        u=u,
        v=v,
        z=np.zeros(len(parts.friction.row)),
        oil=oil.copy(),
        valves=np.stack([opening, np.zeros_like(opening)], axis=1),
        servo=servo,
        memory=memory,
        readings=_past_readings(parts.sensors.delay, c.tick, position, wanted_speed),
        commands=commands,
        energy=np.zeros(5),
        saturated=np.zeros((m, 2)),
        since=np.full(m, -1.0),
        carried=parts.loads.ratio * force[parts.loads.drive],
    )


def split_holding_torque(c: Controller, force: Floats, modelled: Floats) -> TwoArrays:
    """Torques that integrators hold, and what is added to the commands, (drives,) each.

    What is fed forward to the current is not the integrator's to hold, and a loop has settled about
    the torque that is fed forward into it.

    Args:
        c: The servo.
        force: Torques of the drives in equilibrium.
        modelled: Torques that are fed forward.
    """
    return force - c.gains[:, KTFC] * modelled, -c.gains[:, KTFV] * modelled


def _openings(robot: Robot, oil: Floats) -> Floats:
    """Spool positions that compensate the leakage of cylinders with forces `oil`."""
    opening = np.empty(len(oil))
    for c, hydraulic in enumerate(robot.description.hydraulic):
        opening[c] = hydraulic.circuit.oil.opening(oil[c])
    return opening


def _past_readings(delay: Floats, tick: float, position: Floats, speed: Floats) -> Floats | None:
    """What late sensors show at first: drives that have long moved evenly."""
    past = _past(delay, len(position), 2)
    if past is not None:
        age = tick * (len(past) - np.arange(len(past)))
        past[:, :, 0] = position - np.outer(age, speed)
        past[:, :, 1] = speed
    return past


def _past(delay: Floats, drives: int, kinds: int) -> Floats | None:
    """A ring of past values, (ticks, drives, kinds), for the longest delay [ticks], if any."""
    longest = float(delay.max(initial=0.0))
    if longest == 0:
        return None
    return np.zeros((int(np.ceil(longest)) + 2, drives, kinds))
