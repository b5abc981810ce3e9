"""One joint on a bench, and the seam of chapter 5, for the tests of the closed loop."""

import numpy as np

import armtwin as at
from armtwin.robot.formats.reading import describe


def joint(
    inertia=4.0,
    friction=None,
    servo=None,
    gravity=(0, 0, -9.81),
    com=(0, 0, 0),
    mass=1.0,
    quantum=None,
):
    """A robot of one vertical joint with gear 100, a servo of 12 Hz and, where given, friction."""
    J, rotor, gear = inertia, 3e-4, 100.0
    Jm = J / gear**2 + rotor
    w = 2 * np.pi * 12
    gains = {
        "kp": [Jm * w**2],
        "ki": [Jm * w**2 * 9.0],
        "kv": [1.6 * w * Jm],
        "kvf": [1.6 * w * Jm],
        "kafc": [Jm],
    }
    cascade = {
        "kind": "cascade",
        "setpoint_rate": 250,
        "position_rate": 2000,
        "velocity_rate": 4000,
        **gains,
    }
    tables = {
        "name": "bench",
        "gravity": list(gravity),
        "joint": [{"name": "j", "parent": "base", "child": "arm", "source": "assumed: bench"}],
        "link": [
            {
                "name": "arm",
                "source": "assumed: bench",
                "body": {
                    "mass": mass,
                    "com": list(com),
                    "inertia": {"xx": J, "yy": J, "zz": J, "about": "origin"},
                },
            }
        ],
        "gear": {"ratios": [gear], "source": "assumed: bench"},
        "motor": [
            {
                "name": "m",
                "rotor_inertia": rotor,
                "torque_constant": 0.45,
                "current_limit": 7.0,
                **({"current_quantum": quantum} if quantum else {}),
                "source": "assumed: bench",
            }
        ],
        "servo": {"cascade": {**cascade, "source": "assumed: bench", **(servo or {})}},
    }
    if friction:
        tables["friction"] = [{"name": "f", "on": "j", "source": "assumed: bench", **friction}]
    return at.Robot(describe(tables, "bench"))


def sine(amplitude, frequency, seconds, n=1, rate=250):
    """q = amplitude sin(2π f t) on all joints."""
    t = np.arange(0, seconds + 1e-9, 1 / rate)[:, None]
    w = 2 * np.pi * frequency
    ones = np.ones((1, n))
    return at.Trajectory.sampled(
        rate,
        amplitude * np.sin(w * t) * ones,
        amplitude * w * np.cos(w * t) * ones,
        -amplitude * w * w * np.sin(w * t) * ones,
    )


def from_rest(robot, seconds, scale=0.35):
    """All joints of an arm from rest on squared raised cosines of different periods:
    no step in acceleration.
    """
    t = np.arange(0, seconds + 1e-9, 1 / 250)[:, None]
    w = 2 * np.pi * np.array([0.61, 0.67, 0.73, 0.83, 0.91, 1.01])[: robot.n]
    size = scale * np.array([0.15, 0.12, 0.15, 0.2, 0.2, 0.25])[: robot.n]
    q0 = np.array([0.1, 0.6, 1.3, 0.2, 1.0, 0.1])[: robot.n]
    c, s = np.cos(w * t), np.sin(w * t)
    q, v, a = (1 - c) ** 2, 2 * w * (1 - c) * s, 2 * w * w * (s * s + c - c * c)
    return at.Trajectory.sampled(250, q0 + size * q, size * v, size * a)


def line(robot, speed=0.1, rate=250, ramp=0.25):
    """The straight seam of chapter 5: 975 mm along y at a steady speed, ramped by sines."""
    from scipy.interpolate import CubicSpline

    start, end = np.array([0.45, -0.4125, 0.1]), np.array([0.45, 0.5625, 0.1])
    length = np.linalg.norm(end - start)
    total = length / speed + ramp
    t = np.linspace(0, total, round(total * rate) * 4 + 1)
    rise = np.clip(np.minimum(t, total - t) / ramp, 0, 1)
    rate_along = speed * (1 - np.cos(np.pi * rise)) / 2
    ramped = speed * ramp * (rise / 2 - np.sin(np.pi * rise) / (2 * np.pi))
    steady = speed * np.clip(np.minimum(t, total - t) - ramp, 0, None)
    along = np.where(t < total / 2, ramped + steady, length - ramped - steady)
    q0 = np.radians([-36.744, 47.383, 79.831, -25.033, 91.351, -28.461])
    X = np.tile(robot.forward_kinematics(q0), (len(t), 1, 1))
    X[:, :3, 3] = start + np.outer(along, (end - start) / length)
    q = robot.follow(X, q0)
    twist = np.zeros((len(t), 6, 1))
    twist[:, :3, 0] = np.outer(rate_along, (end - start) / length)
    v = np.linalg.solve(robot.jacobian(q), twist)[..., 0]
    a = CubicSpline(t, v).derivative()(t)
    return at.Trajectory.sampled((len(t) - 1) / 4 / total, q[::4], v[::4], a[::4])
