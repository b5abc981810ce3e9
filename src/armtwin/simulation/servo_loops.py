"""The servo's part of a tick: loops of all drives are computed."""

from armtwin.control.controller import (
    ERROR_LIMIT,
    SATURATED,
    Controller,
    position_loop,
    reference,
    velocity_loop,
)
from armtwin.drives.sensors import Outputs, Sensors, quantise
from armtwin.maths.batch import Floats
from armtwin.maths.choice import both, choose, either
from armtwin.maths.compiled import inlined
from armtwin.maths.traced_fields import Series


@inlined
def position_tick(
    c: Controller,
    sensors: Sensors,
    ref: Series,
    servo: Floats,
    position: Floats,
    k: int,
    within: int,
) -> int:
    """Position loops of all drives; returns the drive whose following error is too large, or -1.

    Set-point k was reached `within` ticks ago.
    """
    period, late = c.setpoint_ticks * c.tick, -1
    for m in range(position.shape[0]):
        scale, zero = sensors.scale[m], sensors.zero[m]
        want = reference(
            ref, k, within, m, c.setpoint_ticks, period, c.lateness[m], c.given_acceleration
        )
        wanted = (scale * (want[0] - zero), scale * want[1], scale * want[2], want[3], want[4])
        reading = quantise(scale * (position[m] - zero), sensors.quantum[m])
        e = position_loop(c.gains, servo, m, reading, wanted, c.position_ticks * c.tick)
        late = choose(both(abs(e) > c.gains[m, ERROR_LIMIT], late < 0), m, late)
    return late


@inlined
def velocity_tick(
    c: Controller,
    sensors: Sensors,
    outputs: Outputs,
    servo: Floats,
    memory: Floats,
    speed: Floats,
    current: Floats,
) -> bool:
    """Velocity loops of all drives: commanded currents; returns whether one is at its limit."""
    limited = False
    for m in range(speed.shape[0]):
        reading = quantise(sensors.scale[m] * speed[m], sensors.speed_quantum[m])
        current[m] = velocity_loop(
            c.gains,
            c.filters,
            servo,
            memory,
            m,
            reading,
            outputs.per_current[m],
            outputs.limit[m],
            outputs.quantum[m],
        )
        limited = either(limited, servo[m, SATURATED] != 0.0)
    return limited
