"""Friction curves of robots whose laws are known: mean torques with noise, a wrist that couples,
and the least deviation that any estimate from such curves can have.
"""

from dataclasses import fields, replace

import numpy as np

import armtwin as at
from armtwin.drives.friction.curves import coefficients
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.prediction.compare_reference import usual_model

# 20 speeds as of document 000: 13 below 0.5 rad/s, evenly in ratio, and 7 from there to 4.5
SPEEDS = np.concatenate([np.geomspace(0.005, 0.5, 14)[:-1], np.linspace(0.5, 4.5, 7)])
NOISE, SERIES = 0.02, 3
CREEP, SLOWEST = 0.03, 0.01  # speeds of model c and of joint 5 in the runs that tell b [rad/s]


def denser_at_the_ends(count, slowest=SPEEDS[0], fastest=SPEEDS[-1]):
    """Speeds that are Chebyshev's in their logarithm: a curve errs most at its ends."""
    x = -np.cos(np.pi * (np.arange(count) + 0.5) / count)
    share = 0.5 * (1 + x / x.max())
    return slowest * (fastest / slowest) ** share


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


def document_runs(speeds=SPEEDS):
    """Speeds of joints 5 and 6, (k, 2): against each other, then along with each other."""
    return np.concatenate([np.outer(speeds, [1, -1]), np.outer(speeds, [1, 1])])


def telling_runs():
    """As many plateaus that identify model b, (40, 2).

    Joint 5 turns against joint 6, but for a creep to either side in turn: model c slides slowly, at
    its least torque, and joint 6 feels b and little else. In the last ten joint 5 creeps alone, so
    that c is told at all speeds.
    """
    fast = denser_at_the_ends(30)
    creep = CREEP * np.resize([1, -1], len(fast))
    near = np.column_stack([creep - fast, fast])
    few = denser_at_the_ends(10)
    alone = np.column_stack([np.full(len(few), -SLOWEST), few + SLOWEST])
    return np.concatenate([near, alone])


def wrist_elements(robot):
    """Laws of models a, b, c and their rows of joints 5 and 6, (3, 2)."""
    placed = [pair for pair in robot.assembly.friction if pair[0].name.startswith("wrist")]
    return [e.law for e, _ in placed], np.array([row.weights[4:6] for _, row in placed])


def wrist(robot, rng, *, speeds=SPEEDS, noise=NOISE, series=SERIES, runs=None):
    """Curves of joints 5 and 6 of the RX90B, by default in the runs of document 000."""
    laws, rows = wrist_elements(robot)
    plateaus = np.tile(document_runs(speeds) if runs is None else runs, (series, 1))
    turning = plateaus @ rows.T
    forces = np.column_stack([torque_of(law, w) for law, w in zip(laws, turning.T, strict=True)])
    # an element that stands holds anything
    held = rng.uniform(-0.7, 0.7, turning.shape)
    torque = np.where(turning == 0, held, forces) @ rows
    torque *= 1 + noise * rng.standard_normal(torque.shape)
    moving = np.zeros((len(plateaus), robot.n))
    moving[:, 4:6] = plateaus
    joints = np.tile([4, 5], len(plateaus))
    return FrictionCurves.of(
        robot.joint_names, joints, np.repeat(moving, 2, axis=0), torque.reshape(-1)
    )


def slopes_of(law, v):
    """Change of a law's torque with the logarithm of each of its numbers, (k, numbers)."""
    found = []
    for name in (field.name for field in fields(law) if field.name != "law"):
        value, step = getattr(law, name), 1e-5
        more = torque_of(replace(law, **{name: value * np.exp(step)}), v)
        less = torque_of(replace(law, **{name: value * np.exp(-step)}), v)
        found.append((more - less) / (2 * step))
    return np.array(found).T


def least_covariance(laws, rows, plateaus, *, noise=NOISE, series=SERIES):
    """Cramer-Rao bound of the logarithms of all numbers, for noise of a share of each torque.

    Of a plateau (speeds of the joints) with torques μ = Σ sᵉ Lᵉ(sᵉ·v) the information is JᵀWJ,
    W = diag(1/(noise μ)²); what an element at rest holds is one more unknown of its plateau, whose
    direction leaves W. A held torque of 0.4 N m stands for any.
    """
    sizes = [len(fields(law)) - 1 for law in laws]
    ends = np.cumsum([0, *sizes])
    total = np.zeros((ends[-1], ends[-1]))
    for speeds in plateaus:
        J, mean, held = np.zeros((len(speeds), ends[-1])), np.zeros(len(speeds)), []
        for e, (law, row) in enumerate(zip(laws, rows, strict=True)):
            w = row @ speeds
            if w == 0:
                held.append(row)
                mean = mean + 0.4 * row
                continue
            mean = mean + row * torque_of(law, [w])[0]
            J[:, ends[e] : ends[e + 1]] = np.outer(row, slopes_of(law, [w])[0])
        W = np.diag(1 / (noise * mean) ** 2)
        for row in held:
            W = W - np.outer(W @ row, W @ row) / (row @ W @ row)
        total += series * J.T @ W @ J
    size = np.sqrt(np.diag(total))
    return np.linalg.inv(total / np.outer(size, size)) / np.outer(size, size)


def curve_slopes(laws, speeds):
    """Relative change of each law's curve with the logarithms of all numbers, a matrix for each."""
    sizes = [len(fields(law)) - 1 for law in laws]
    ends = np.cumsum([0, *sizes])
    found = []
    for e, law in enumerate(laws):
        G = np.zeros((len(speeds), ends[-1]))
        G[:, ends[e] : ends[e + 1]] = slopes_of(law, speeds) / torque_of(law, speeds)[:, None]
        found.append(G)
    return found


SETTLED = 0.3  # seconds after a change of speed, which do not count


def steady(motion, time_, j):
    """Samples of a log in which a joint moves at a constant speed, and the speeds (m, n)."""
    v = np.stack([np.interp(time_, motion.time, x) for x in motion.v.T], axis=1)
    rate = (len(time_) - 1) / np.ptp(time_)
    changes = np.abs(np.gradient(v[:, j])) > 1e-9
    near = np.convolve(changes, np.ones(2 * round(SETTLED * rate) + 1), "same") > 0
    return (np.abs(v[:, j]) > 0) & ~near, v


def recover(robot, found, law):
    """NRMSE of the friction of joints that move alone, by name [%]."""
    runs = {}
    for name, one in found.motions.items():
        runs[name] = at.simulate(robot, one.trajectory, usual_model(robot)).log
    logs = [at.Log.of(run.time, q=run.q, v=run.v, tau=run.tau) for run in runs.values()]
    fit = at.fit_friction(robot, at.curves_of_logs(robot, logs), law=law)
    errors = {}
    for j, name in enumerate(robot.joint_names):
        run = runs[name]
        chosen, v = steady(found.motions[name].trajectory, run.time, j)
        truth = run.tau_friction[chosen, j]
        told = fit.robot.friction_torque(v[chosen], run.q[chosen])[:, j]
        errors[name] = 100 * np.linalg.norm(told - truth) / np.linalg.norm(truth)
    return errors
