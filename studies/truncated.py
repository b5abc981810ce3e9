"""The estimator of document 000, chapter 4: truncated singular values by the 10 % rule.

    python studies/truncated.py [RUNS]

Each run is an RX90B whose links, rotors, spring and friction differ from its file by 10 %, excited
in its own loop by a random motion of ten harmonics. As in the document one period of 8 s counts,
with 200 samples, a noise of 0.65 % of the largest torque, and the null space from the file. Errors
are those of another motion, against its torque without noise. Numbers of docs/documents.md.
"""

import sys
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.identification.virtual import PERIOD, RATE, excitation, measured, on_the_bench

import armtwin as at

SAMPLES = 200  # of a period, as in section 4.4
SPREAD = 0.1  # of links, rotors, spring and friction
LINKS = 60  # parameters of the links


def vary(robot, chance):
    """A robot whose bodies and drives differ from the file's: mass and inertia of a link as one."""
    phi = robot.parameters.copy()
    for k in range(robot.n):
        phi[robot.layout.link(k)] *= 1 + SPREAD * chance.normal()
    phi[LINKS:] *= 1 + SPREAD * chance.normal(size=len(phi) - LINKS)
    return robot.with_parameters(phi)


def identify(robot, truth, seed):
    """The truncated estimate from one period, without the ramps of the motion."""
    log = measured(truth, excitation(robot, seed, periods=3), seed)
    step = round(PERIOD * RATE / SAMPLES)
    one = slice(round(PERIOD * RATE), round(2 * PERIOD * RATE), step)
    period = at.Log.of(log.time[one], q=log.q[one], tau=log.tau[one])
    recipe = at.Recipe(
        estimator="truncated", friction="file", tilt="file", period=PERIOD, trust=True
    )
    return at.identify(robot, [period], recipe=recipe)


def main():
    """Print a line for each run, and what the document gives beside the medians."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    robot = on_the_bench()
    errors, kept, flagged = [], [], 0
    begin = time.process_time()
    for seed in range(runs):
        truth = vary(robot, np.random.default_rng([seed, 4]))
        found = identify(robot, truth, seed)
        other = excitation(robot, 1000 + seed, periods=1)
        motion = other.q, other.v, other.a
        exact = truth.inverse_dynamics(*motion) + truth.friction_torque(other.v)
        model = found.robot
        told = model.inverse_dynamics(*motion) + model.friction_torque(other.v)
        error = 100 * np.sqrt(((told - exact) ** 2).mean(axis=0)) / robot.limits.torque
        errors.append(error)
        kept.append(found.decomposition.kept)
        is_flagged = bool(model.description.torques_only)
        flagged += is_flagged
        print(f"{seed:3} {kept[-1]:3} directions, {np.median(error):.3f} % of T_max, ", end="")
        print("torques only" if is_flagged else "a robot")
    errors = np.array(errors)
    print(f"\n{len(errors)} of {runs} runs return an estimate, {flagged} of them torques only")
    print(f"directions {min(kept)} to {max(kept)}, median {np.median(kept):.0f}; document 22")
    print(f"unseen torque error: median {np.median(errors):.3f} % of T_max, by joint ", end="")
    print(" ".join(f"{x:.2f}" for x in np.median(errors, axis=0)), end="; ")
    print(f"largest of a run {np.median(errors, axis=1).max():.3f} %")
    print(f"{time.process_time() - begin:.0f} s of CPU time")


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
