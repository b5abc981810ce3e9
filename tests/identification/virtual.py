"""A virtual robot on the test bench: excited by harmonics in its own closed loop, logged with
noise.
"""

import numpy as np

import armtwin as at
from armtwin.identification.payload.difference import SIZES, flange_columns
from armtwin.identification.rigid_body.data.clean_log import Motion
from armtwin.robot.schema.overrides import apply_overrides

PERIOD, RATE, HARMONICS, PERIODS = 8.0, 250.0, 10, 4
NOISE = 0.0065  # of the largest torque
RAMP = 2.0  # seconds in which the motion begins and ends


def on_the_bench(tool=None):
    """The RX90B whose controller lets motors lag further than on the seam, as a fast excitation
    needs.
    """
    shipped = at.Robot.load("rx90b").description
    return at.Robot(
        apply_overrides(shipped, {"servo.cascade.following_error_limit": "60 deg"}, "bench")
    ).with_tool(tool)


def excitation(robot, seed, periods=PERIODS):
    """A random motion of ten harmonics, as large as 70 % of the limits of position, speed and
    torque allow.
    """
    chance = np.random.default_rng(seed)
    t = np.arange(round(periods * PERIOD * RATE)) / RATE
    w = 2 * np.pi / PERIOD * np.arange(1, HARMONICS + 1)
    a, b = chance.normal(size=(2, HARMONICS, robot.n)) / np.arange(1, HARMONICS + 1)[:, None]
    angle = np.outer(t, w)
    q, v, acc = (
        np.sin(angle) @ a + np.cos(angle) @ b,
        np.cos(angle) @ (a * w[:, None]) - np.sin(angle) @ (b * w[:, None]),
        -np.sin(angle) @ (a * w[:, None] ** 2) - np.cos(angle) @ (b * w[:, None] ** 2),
    )
    low, high = robot.position_limits
    room = 0.7 * np.minimum(
        (high - low) / 2 / np.abs(q).max(axis=0), robot.limits.velocity / np.abs(v).max(axis=0)
    )
    middle = (low + high) / 2
    while True:  # less of all where a torque would be too large
        torque = robot.inverse_dynamics(
            middle + room * q, room * v, room * acc
        ) + robot.friction_torque(room * v)
        over = np.abs(torque).max(axis=0) > 0.7 * robot.limits.torque
        if not over.any():
            break
        room = np.where(over, 0.95, 1.0) * room
    # begin and end at rest: a smooth step s of the amplitude, q = q0 + s x
    x = np.clip(np.minimum(t, t[-1] - t) / RAMP, 0, 1)
    side = np.where(t < t[-1] / 2, 1.0, -1.0) / RAMP
    s = x**3 * (10 - 15 * x + 6 * x**2)
    ds = 30 * x**2 * (1 - x) ** 2 * side
    dds = 60 * x * (1 - x) * (1 - 2 * x) / RAMP**2
    s, ds, dds = (y[:, None] for y in (s, ds, dds))
    q, v, acc = q * room, v * room, acc * room
    return at.Trajectory.sampled(
        RATE, middle + s * q, s * v + ds * q, s * acc + 2 * ds * v + dds * q
    )


def measured(robot, motion, seed, noise=NOISE, model=None):
    """The log of a robot that follows a motion in closed loop, with noise on its torque."""
    log = at.simulate(robot, motion, model).log
    chance = np.random.default_rng(seed)
    tau = log.tau + noise * robot.limits.torque * chance.normal(size=log.tau.shape)
    return at.Log.of(log.time, q=log.q, q_ref=log.q_ref, tau=tau)


def least_deviations(bare, motion, parameters):
    """Least relative deviations of a payload's mass, and of torque constants with it known.

    By Cramer and Rao for the difference of two runs of a motion, white noise on the joints.
    """
    Y = flange_columns(bare, Motion(motion.q, motion.v, motion.a))
    noise = NOISE * bare.limits.torque
    scaled = Y * SIZES / (np.sqrt(2) * noise[:, None])
    rows = scaled.reshape(-1, 10)
    mass = np.sqrt(np.linalg.inv(rows.T @ rows)[0, 0]) / parameters[0]
    at_motors = bare.assembly.motor_inverse
    Z = np.einsum("mnk,ne->mek", Y, at_motors)
    torque = Z @ parameters
    motors = torque.shape[1]
    slopes = np.zeros((*torque.shape, motors + 9))
    for e in range(motors):
        slopes[:, e, e] = -torque[:, e]
    slopes[:, :, motors:] = Z[:, :, 1:] * SIZES[1:]
    weight = np.linalg.inv(2 * (at_motors.T * noise**2) @ at_motors)
    information = np.einsum("mei,ef,mfj->ij", slopes, weight, slopes)
    return mass, np.sqrt(np.diag(np.linalg.inv(information)))[:motors]
