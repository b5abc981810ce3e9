"""The single hydraulic actuator of document 003 with a weight on it:
the shipped robot, and plain equations.
"""

import numpy as np
from numba import njit

import armtwin as at

BENCH = at.Robot.load("epaas_bench")
(DRIVE,) = BENCH.description.hydraulic
VALVE = DRIVE.circuit.valve
COMPLIANCE, LEAKAGE = DRIVE.circuit.compliance, DRIVE.circuit.leakage
VISCOUS = BENCH.description.friction[0].law.viscous
SERVO = BENCH.description.servo["proportional"]
(GAIN,), (SENSOR_GAIN,), (SENSOR_DELAY,) = SERVO.gain, SERVO.sensor_gain, SERVO.delay.sensor


@njit
def _plain(mass, volts, h, count, flow, frequency, damping, delay, limit, out):
    """Explicit Runge-Kutta 4 of valve, oil and weight;
    delays by linear interpolation in the past.
    """
    x, v, F, xv, dxv = 0.0, 0.0, mass * 9.81, 0.0, 0.0
    opening = np.interp(LEAKAGE * F, flow[:, 1], flow[:, 0])
    xv = opening
    past_x, past_i = np.zeros(count + 1), np.full(count + 1, opening)
    for k in range(count):
        past_x[k] = x
        late = k - SENSOR_DELAY / h
        low = int(np.floor(late))
        seen = 0.0
        if late > 0:
            seen = past_x[low] + (late - low) * (past_x[low + 1] - past_x[low])
        out[k] = SENSOR_GAIN * seen
        command = GAIN * ((volts if k > 0 else 0.0) - SENSOR_GAIN * seen) + opening
        past_i[k] = min(max(command, -limit), limit)
        y = np.array([x, v, F, xv, dxv])
        total, slope = np.zeros(5), np.zeros(5)
        for stage in range(4):
            part = 0.0 if stage == 0 else (0.5 if stage < 3 else 1.0)
            z = y + part * h * slope
            late = k + part - delay / h
            low = int(np.floor(late))
            i = opening
            if late > 0:
                i = past_i[low] + (late - low) * (past_i[low + 1] - past_i[low])
            Q = np.interp(z[3], flow[:, 0], flow[:, 1])
            slope[0] = z[1]
            slope[1] = (z[2] - VISCOUS * z[1]) / mass - 9.81
            slope[2] = (Q - z[1] - LEAKAGE * z[2]) / COMPLIANCE
            slope[3] = z[4]
            slope[4] = frequency**2 * (i - z[3]) - 2 * damping * frequency * z[4]
            total += slope / (6.0 if stage in (0, 3) else 3.0)
        y = y + h * total
        x, v, F, xv, dxv = y
    return out


def plain_response(mass, volts, seconds=0.06, h=5e-6):
    """The response by plain equations and explicit Runge-Kutta steps."""
    count = round(seconds / h)
    numbers = (VALVE.frequency, VALVE.damping, VALVE.delay, VALVE.current_limit)
    y = _plain(mass, volts, h, count, np.array(VALVE.flow), *numbers, np.zeros(count))
    return np.arange(count) * h, y
