"""Learning from logged runs on virtual machines that are off by the verdict's own spread.

    python studies/learning.py [JOB] [MACHINES]

Makes the numbers of docs/correction.md, "Learning from logged runs": largest error of the run as
programmed and of the three after it, each learned from the logs of those before.
"""

import sys

import numpy as np

import armtwin as at
from armtwin.prediction.band.draws import normal_draws
from armtwin.prediction.band.quantities import quantities_of
from armtwin.prediction.band.quantity import Variant, sample_variant
from armtwin.prediction.correct import size_of
from armtwin.prediction.path_error import path_error_of
from armtwin.prediction.predict import run_command

RUNS = 4
NOISE = 2e-6  # of logged positions, an encoder's [rad]


def learn_on_machines(name: str, machines: int) -> np.ndarray:
    """Largest error of each run of each machine, (machines, runs) [m]."""
    p = at.predict(at.Job.load(name))
    quantities = quantities_of(p)
    random = np.random.default_rng(5)
    found = []
    for z in normal_draws(machines, len(quantities), 5):
        variant = sample_variant(Variant(p.robot.description), quantities, z)
        machine = at.Robot(variant.description, "machine").with_origin(p.robot.origin)
        found.append(_run_and_learn(p, machine, random))
    return np.array(found)


def _run_and_learn(p: at.Prediction, machine: at.Robot, random: np.random.Generator) -> list[float]:
    motion, logs, peaks = p.motion.trajectory, [], []
    for k in range(RUNS):
        run = run_command(p, machine, motion)
        error = path_error_of(p.job.seam, run.trace_time, run.built, run.bodies)
        size = size_of(p.job, error)
        peaks.append(max(size.lateral, size.vertical))
        q = run.log.q + random.normal(0.0, NOISE, run.log.q.shape)
        logs.append(at.Log(run.log.time, {**run.log.channels, "q": q}))
        if k + 1 < RUNS:
            motion = at.learn_from_runs(p.job, logs).best.motion
    return peaks


if __name__ == "__main__":
    job = sys.argv[1] if len(sys.argv) > 1 else "rx90b_corner_fixed"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    table = learn_on_machines(job, count)
    for peaks in table:
        print(*(f"{1e6 * x:7.1f}" for x in peaks), f"{peaks[-1] / peaks[0]:.2f} of the first")
    share = table[:, -1] / table[:, 0]
    print(f"{job}: median {np.median(share):.2f}, worst {share.max():.2f} of the first run")
