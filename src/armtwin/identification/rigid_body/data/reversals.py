"""Friction about a reversal, where the sign of a logged speed is uncertain.

Friction has no sign at rest, a logged speed has noise, and a sample of the grid is the mean of N
neighbours of the log. Its columns are therefore the mean over the speeds that the joint may have
had,

    v ± (width + √(1 - 1 / N²) |Δv| / 2)        Δv from one sample of the grid to the next

The second part has the variance of N speeds with even steps. Far from a reversal nothing changes.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from armtwin.identification.fitting.comparison import find_vertex
from armtwin.identification.rigid_body.data.clean_log import CleanLog, Motion
from armtwin.identification.rigid_body.friction import presliding
from armtwin.maths.batch import Flags, Floats
from armtwin.robot.dynamics.friction_columns import ContactStates
from armtwin.robot.dynamics.load_friction import beyond_gears, has_loads, load_dependent_friction
from armtwin.robot.robot import Robot

CHUNK = 2000  # samples whose regressor is held at a time
WIDTHS = 2.0 ** np.arange(-1, 8)  # tried, in deviations of the speed's noise
REVERSALS = 1500  # samples about reversals on which widths are compared


def in_chunks(samples: int) -> Iterator[slice]:
    """Slices of samples, as even as may be, none longer than the first."""
    count = max(1, -(-samples // CHUNK))
    size = max(1, -(-samples // count))
    for first in range(0, samples, size):
        yield slice(first, min(first + size, samples))


def doubtful_contacts(
    motion: Motion, doubt: Floats, deflections: Floats | None = None
) -> ContactStates:
    """States of the contacts along a motion.

    Args:
        motion: The motion.
        doubt: Half widths of the speeds over which friction is averaged, (m, n) [rad/s].
        deflections: Relative deflections of the friction elements, None without pre-sliding
            hysteresis, (m, elements).
    """
    later = np.where(motion.a < 0, -1.0, 1.0)  # joints that pass a reversal together
    return ContactStates(deflections, later * doubt)


def doubt_of_speed(v: Floats, width: Floats, averaged: int) -> Floats:
    """Half widths of the speeds that samples average over, (m, n) [rad/s].

    Args:
        v: Speeds of all samples of a motion, (m, n) [rad/s].
        width: Speeds within which noise hides their sign, (n,) [rad/s].
        averaged: Number of samples of the log whose mean each of them is.
    """
    if averaged == 1:
        return np.broadcast_to(width, v.shape)
    passed = np.sqrt(1 - 1 / averaged**2) * np.abs(np.gradient(v, axis=0))
    return width + 0.5 * passed


def near_reversal(robot: Robot, v: Floats, doubt: Floats) -> Flags:
    """Samples (m,) at which any friction element is so slow that its sign is uncertain.

    A lever scales a speed and its uncertainty alike, so that it need not be known.
    """
    near = np.zeros(len(v), dtype=bool)
    for _, row in robot.assembly.friction:
        speed = presliding.of_all_joints(robot, v) @ row.weights
        width = np.abs(presliding.of_all_joints(robot, doubt)) @ np.abs(row.weights)
        near |= np.abs(speed) < 2 * width
    return near


def mean_friction(robot: Robot, motion: Motion, width: Floats) -> Floats:
    """Friction torque (m, n) with hysteresis, averaged near reversals as in the regression."""
    values = robot.parameters[robot.layout.friction]
    shares = presliding.compute_deflections(robot, robot.assembly.friction, motion.q, motion.v)
    doubt = doubt_of_speed(motion.v, width, averaged=1)
    torque = np.empty_like(motion.q)
    for some in in_chunks(len(torque)):
        here = motion.at(some)
        deflections = None if shares is None else shares[some]
        contacts = doubtful_contacts(here, doubt[some], deflections)
        torque[some] = robot.friction_regressor(here.v, here.q, contacts) @ values
    if has_loads(robot.assembly):
        torque += _more_by_loads(robot, motion, doubt, shares)
    return torque


def _more_by_loads(
    robot: Robot, motion: Motion, doubt: Floats, deflections: Floats | None
) -> Floats:
    """Friction that loads add, (m, n), signed by the contacts' deflections or the mean speeds."""
    parts = robot.assembly
    if parts.coupling is not None:
        return robot.load_dependent_friction(*motion)
    sides = np.empty((len(motion.v), len(parts.friction)))
    for e, (_, row) in enumerate(parts.friction):
        sides[:, e] = presliding.mean_sign(motion.v @ row.weights, doubt @ np.abs(row.weights))
    if deflections is not None:
        sides = np.where(np.isnan(deflections), sides, deflections)
    rigid = robot.inverse_dynamics(*motion)
    on_links = beyond_gears(parts, rigid, motion.v, motion.a)
    return load_dependent_friction(parts, on_links, motion.v, sides)


def choose_width(
    robot: Robot, logs: Sequence[CleanLog], phi: Floats, gains: Floats | None, noise: Floats
) -> Floats | None:
    """For each joint the speed uncertainty that explains the logged torque best, (n,) [rad/s].

    Args:
        robot: The robot.
        logs: Its clean logs.
        phi: Parameters of a first fit, (p,).
        gains: Factors of the logged torques, None where they are known, (n,).
        noise: Standard deviation of the speeds, (n,) [rad/s].

    Returns:
        The widths, None where no sample is near a reversal.
    """
    motion, spans, torque = _near_samples(robot, logs, noise)
    if not len(torque):
        return None
    if gains is not None:
        torque = torque * gains
    of_friction = robot.layout.friction
    without = phi.copy()
    without[of_friction] = 0.0
    rest = torque - robot.regressor(*motion) @ without
    errors = []
    for deviations in WIDTHS:
        contacts = doubtful_contacts(motion, spans + deviations * noise)
        columns = robot.friction_regressor(motion.v, motion.q, contacts)
        gap = rest - columns @ phi[of_friction]
        errors.append((gap**2).sum(axis=0))
    tried = WIDTHS.tolist()
    widths = [find_vertex(tried, of_joint) for of_joint in np.array(errors).T]
    return np.array(widths) * noise


def _near_samples(
    robot: Robot, logs: Sequence[CleanLog], noise: Floats
) -> tuple[Motion, Floats, Floats]:
    """Samples near reversals, not too many: motion, speeds they span, and unfiltered torque."""
    motions, spans, torques = [], [], []
    widest = WIDTHS[-1] * noise
    for log in logs:
        span = doubt_of_speed(log.clean.v, np.zeros_like(noise), log.how.averaged)
        near = np.flatnonzero(near_reversal(robot, log.clean.v, span + widest))
        step = max(1, len(near) * len(logs) // REVERSALS)
        some = near[::step]
        motions.append(log.motion.at(some))
        spans.append(span[some])
        torques.append(log.raw.tau[some])
    return Motion.join(motions), np.concatenate(spans), np.concatenate(torques)
