"""How often identification adds friction terms that a robot does not have, and omits those it has.

    python studies/friction_terms.py [ROBOTS]

Virtual TX40s, 50 by default, each with friction of its own and with the laws of the file: dry and
viscous. They move between poses and rest, or move on by harmonics. The torque has white noise, and
as much slow noise, for what no model has. Robots with pre-sliding friction have a radius of
1e-3 rad in half of their dry friction, those with a shape a root of the speed beside it, those with
loads 8 % of the torque that each gear passes on.
"""

import sys
import time

import numpy as np

import armtwin as at
from armtwin.identification.rigid_body.data.clean_log import Motion
from armtwin.identification.rigid_body.data.preparation import prepare_identification
from armtwin.identification.rigid_body.data.reversals import mean_friction
from armtwin.identification.rigid_body.friction.terms import (
    LOAD,
    PRESLIDING,
    SHAPE,
    find_hosts,
    with_terms,
)

ROBOTS = 50
RATE, LENGTH = 250.0, 24.0  # [Hz], [s]
MOVE, REST = 1.0, 0.5  # seconds of each move and of the rest after it
NOISE = 0.2  # deviation of white noise, and of slow noise [N m]
SLOW = 1.0  # cut-off of slow noise [Hz]
SPREAD = 0.2  # of friction among the robots
RADIUS, EXPONENT = 1e-3, 0.5
SHARE, USUAL = 0.08, 10.0  # of a load, which is usually so large [N m]
MIDDLE = np.array([0.0, 0.3, 1.0, 0.0, 0.6, 0.0])


def between_poses(chance):
    """Moves between poses with rests: times, positions, speeds, accelerations."""
    t = np.arange(0, LENGTH, 1 / RATE)
    count = int(LENGTH / (MOVE + REST))
    poses = MIDDLE + chance.uniform(-0.8, 0.8, (count + 1, 6))
    k = np.minimum((t / (MOVE + REST)).astype(int), count - 1)
    x = np.clip((t - (MOVE + REST) * k) / MOVE, 0, 1)[:, None]
    step = np.diff(poses, axis=0)[k]
    q = poses[k] + step * x**3 * (10 - 15 * x + 6 * x**2)
    v = step * 30 * x**2 * (1 - x) ** 2 / MOVE
    a = step * 60 * x * (1 - x) * (1 - 2 * x) / MOVE**2
    return t, q, v, a


def harmonics(chance):
    """Five harmonics of an eighth hertz, never at rest: the same."""
    t = np.arange(0, LENGTH, 1 / RATE)
    w = 2 * np.pi / 8 * np.arange(1, 6)
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    a, b = 0.4 * chance.normal(size=(2, 5, 6)) / np.arange(1, 6)[:, None]
    v = c @ (a * w[:, None]) - s @ (b * w[:, None])
    acc = -s @ (a * w[:, None] ** 2) - c @ (b * w[:, None] ** 2)
    return t, MIDDLE + s @ a + c @ b, v, acc


def made(robot, kind, chance):
    """A robot with friction of its own, and of a kind: none, memory, shape or load."""
    friction = [p.group == "friction" for p in robot.parameter_table]
    factor = np.exp(SPREAD * chance.normal(size=len(friction)))
    own = robot.with_parameters(np.where(friction, factor, 1.0) * robot.parameters)
    if kind == "none":
        return own
    terms = []
    for host in find_hosts(own, at.Recipe(), np.ones(own.n)):
        if kind == "memory":
            terms.append(host.memory(RADIUS))
        elif kind == "shape":
            terms.append(host.root(EXPONENT))
        elif host.geared:
            terms.append(host.load(USUAL, None))
    wide = with_terms(own, tuple(terms))
    values = dict(zip(wide.parameter_names, wide.parameters, strict=True))
    for term in terms:
        if kind == "load":
            values[term.name] = SHARE
            continue
        level = f"{term.element.name.rpartition('_')[0]}.level"
        values[term.name] = 0.5 * values[level]
        values[level] *= 0.5
    return wide.with_parameters(np.array(list(values.values())))


def logged(robot, motion, chance):
    """The log of a motion."""
    t, q, v, a = motion
    friction = mean_friction(robot, Motion(q, v, a), np.zeros(6))
    noise = NOISE * chance.normal(size=q.shape)
    slow = np.zeros_like(q)
    kept = np.exp(-2 * np.pi * SLOW / RATE)
    for k in range(1, len(q)):
        slow[k] = kept * slow[k - 1] + np.sqrt(1 - kept**2) * NOISE * chance.normal(size=6)
    return at.Log.of(t, q=q, tau=robot.inverse_dynamics(q, v, a) + friction + noise + slow)


def taken(robot, kind, move, seed):
    """Whether memory, shape and loads are added to a robot of a kind."""
    chance = np.random.default_rng(seed)
    log = logged(made(robot, kind, chance), move(chance), chance)
    ready = prepare_identification(
        robot, [log], torque=None, cutoff=20.0, recipe=at.Recipe(trust=True)
    )
    names = [term.element.name for term in ready.friction.terms]
    return [any(name.endswith(ending) for name in names) for ending in (PRESLIDING, SHAPE, LOAD)]


def main(robots):
    """Print how often each is taken."""
    robot = at.Robot.load("tx40")
    print("| the robot has | it moves | memory taken | shape taken | loads taken | CPU s |")
    print("|---|---|---|---|---|---|")
    for kind in ("none", "memory", "shape", "load"):
        for words, move in (("and rests", between_poses), ("on and on", harmonics)):
            start = time.process_time()
            found = np.array([taken(robot, kind, move, seed) for seed in range(robots)])
            spent = time.process_time() - start
            counts = " | ".join(f"{count} of {robots}" for count in found.sum(axis=0))
            print(f"| {kind} | {words} | {counts} | {spent:.0f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROBOTS)
