"""The single hydraulic actuator of document 003 with a weight on it,
as a robot and as plain equations.
"""

import numpy as np
from numba import njit

import armtwin as at
from armtwin.robot.reading import describe

VALVE = {
    "frequency": 1443.0,
    "damping": 0.38,
    "delay": 1.629e-3,
    "current_limit": 0.29,
    "flow": [
        [-0.3, -0.62],
        [-0.23, -0.61],
        [-0.0179, -0.009],
        [-0.0111, 0.0],
        [-0.0085, 0.0],
        [0.0017, 0.009],
        [0.194, 0.71],
        [0.3, 0.72],
    ],
}
COMPLIANCE, LEAKAGE, VISCOUS = 1e-6, 7.46e-5, 501.0
GAIN, SENSOR_GAIN, SENSOR_DELAY = -0.231, -186.0, 6.58e-4


def actuator(mass, rate=50_000):
    """A weight that one cylinder lifts, under its proportional control in volts."""
    source = "document: Machielsen 1983, table 7.1.1-1"
    slide = {"name": "x", "type": "prismatic", "axis": [0, 0, 1], "parent": "base"}
    body = {"mass": mass, "inertia": dict.fromkeys(("xx", "yy", "zz"), mass)}
    oil = {"valve": VALVE, "compliance": COMPLIANCE, "leakage": LEAKAGE}
    law = {"law": "coulomb_viscous", "level": 0.0, "viscous": VISCOUS}
    tables = {
        "name": "bench",
        "joint": [{**slide, "child": "weight", "source": source}],
        "link": [{"name": "weight", "body": body, "source": source}],
        "hydraulic": [{"name": "cylinder", "on": "x", **oil, "source": source}],
        "friction": [{"name": "piston", "on": "cylinder", **law, "source": source}],
        "servo": {
            "proportional": {
                "kind": "proportional",
                "rate": rate,
                "gain": [GAIN],
                "sensor_gain": [SENSOR_GAIN],
                "delay": {"sensor": [SENSOR_DELAY]},
                "source": source,
            }
        },
    }
    return at.Robot(describe(tables, "bench"))


def step_response(mass, volts, seconds=0.06, rate=50_000):
    """Times and sensor readings relative to the start [V] of a step of the set-point,
    by `simulate`.
    """
    robot = actuator(mass, rate)
    count = round(seconds * rate) + 1
    x = np.full((count, 1), volts / SENSOR_GAIN)
    x[0] = 0.0
    motion = at.Trajectory.sampled(rate, x, 0 * x, 0 * x)
    run = at.simulate(
        robot, motion, at.Model(friction="arctan", servo="proportional", quantise=False)
    )
    assert not run.log.events
    late = run.log.time - SENSOR_DELAY
    return run.log.time, SENSOR_GAIN * np.interp(late, run.log.time, run.log.q[:, 0], left=0.0)


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
    """The same by plain equations and explicit Runge-Kutta steps."""
    count = round(seconds / h)
    numbers = (VALVE["frequency"], VALVE["damping"], VALVE["delay"], VALVE["current_limit"])
    y = _plain(mass, volts, h, count, np.array(VALVE["flow"]), *numbers, np.zeros(count))
    return np.arange(count) * h, y


def first_peak(time, y, volts):
    """Time of the first local maximum of the response in the direction of the step,
    by a parabola [s].
    """
    y = y * np.sign(volts)
    k = next(
        k
        for k in range(1, len(y) - 1)
        if y[k] > y[k - 1] and y[k] >= y[k + 1] and y[k] > 0.3 * abs(volts)
    )
    bend = y[k - 1] - 2 * y[k] + y[k + 1]
    return time[k] + 0.5 * (y[k - 1] - y[k + 1]) / bend * (time[1] - time[0])
