"""The single hydraulic actuator of document 003 with a weight on it:
the shipped robot, and plain equations.
"""

from itertools import pairwise

import numpy as np

import armtwin as at

BENCH = at.Robot.load("epaas_bench")
(DRIVE,) = BENCH.description.hydraulic
VALVE = DRIVE.circuit.valve
COMPLIANCE, LEAKAGE = DRIVE.circuit.compliance, DRIVE.circuit.leakage
VISCOUS = BENCH.description.friction[0].law.viscous
SERVO = BENCH.description.servo["proportional"]
(GAIN,), (SENSOR_GAIN,), (SENSOR_DELAY,) = SERVO.gain, SERVO.sensor_gain, SERVO.delay.sensor


FLOW = [(float(current), float(speed)) for current, speed in VALVE.flow]


def _speed(opening):
    """No-load speed at an opening, linear between the points of the flow and held outside."""
    for (i0, v0), (i1, v1) in pairwise(FLOW):
        if opening < i1:
            return v0 + (v1 - v0) * max(opening - i0, 0.0) / (i1 - i0)
    return FLOW[-1][1]


def _rates(mass, current, v, F, opening, rate):
    """Rates of place, speed, force, opening and its rate."""
    w = VALVE.frequency
    return (
        v,
        (F - VISCOUS * v) / mass - 9.81,
        (_speed(opening) - v - LEAKAGE * F) / COMPLIANCE,
        rate,
        w**2 * (current - opening) - 2 * VALVE.damping * w * rate,
    )


def _late(past, place):
    """Value of a record at a place between its samples; before it the first."""
    if place <= 0:
        return past[0]
    low = int(place)
    return past[low] + (place - low) * (past[low + 1] - past[low])


def plain_response(mass, volts, seconds=0.06, h=5e-6):
    """The response by plain equations and explicit Runge-Kutta 4, a scalar at a time;
    delays by linear interpolation in the past.
    """
    count = round(seconds / h)
    F = mass * 9.81
    start = float(np.interp(LEAKAGE * F, *np.array(FLOW).T[::-1]))
    y = (0.0, 0.0, F, start, 0.0)
    places, currents, out = [0.0] * (count + 1), [start] * (count + 1), np.zeros(count)
    for k in range(count):
        places[k] = y[0]
        seen = SENSOR_GAIN * _late(places, k - SENSOR_DELAY / h)
        out[k] = seen
        command = GAIN * ((volts if k > 0 else 0.0) - seen) + start
        currents[k] = min(max(command, -VALVE.current_limit), VALVE.current_limit)
        total, slope = [0.0] * 5, (0.0,) * 5
        for part, share in ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6)):
            z = [a + part * h * b for a, b in zip(y, slope, strict=True)]
            current = _late(currents, k + part - VALVE.delay / h)
            slope = _rates(mass, current, *z[1:])
            total = [a + share * b for a, b in zip(total, slope, strict=True)]
        y = tuple(a + h * b for a, b in zip(y, total, strict=True))
    return np.arange(count) * h, out
