"""Friction curves of robots whose laws are known: mean torques with noise, a wrist that couples."""

import numpy as np

from armtwin.drives.friction.curves import coefficients
from armtwin.identification.friction_curves.curves import FrictionCurves

# 20 speeds as of document 000: 13 below 0.5 rad/s, evenly in ratio, and 7 from there to 4.5
SPEEDS = np.concatenate([np.geomspace(0.005, 0.5, 14)[:-1], np.linspace(0.5, 4.5, 7)])
NOISE, SERIES = 0.02, 3


def torque_of(law, v):
    """Friction torque of a law at speeds."""
    return law.columns(np.asarray(v, dtype=float)) @ np.array(list(coefficients(law).values()))


def single_joint(robot, joint, rng, *, law=None, speeds=SPEEDS, noise=NOISE, series=SERIES):
    """Curves of one joint, forward, of several series."""
    j = robot.joint_names.index(joint)
    if law is None:
        (law,) = [e.law for e in robot.description.active_friction() if e.name == joint]
    v = np.tile(speeds, series)
    tau = torque_of(law, v) * (1 + noise * rng.standard_normal(len(v)))
    return FrictionCurves.of(robot.joint_names, [j] * len(v), v, tau)


def wrist(robot, rng, *, speeds=SPEEDS, noise=NOISE, series=SERIES):
    """Curves of joints 5 and 6 of the RX90B: against each other and along with each other."""
    rows, torques, joints = [], [], []
    for _ in range(series):
        for sign in (-1.0, 1.0):
            for v in speeds:
                moving = np.array([0, 0, 0, 0, v, sign * v])
                held = rng.uniform(-0.7, 0.7)  # of model c, which stands where they turn against
                for j in (4, 5):
                    tau = 0.0
                    for element, row in robot.assembly.friction:
                        w = float(row.weights @ moving)
                        force = torque_of(element.law, [w])[0] if w else held
                        tau += row.weights[j] * force
                    rows.append(moving)
                    torques.append(tau * (1 + noise * rng.standard_normal()))
                    joints.append(j)
    return FrictionCurves.of(robot.joint_names, joints, np.array(rows), np.array(torques))
