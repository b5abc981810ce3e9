"""Predict and identify in forked, spawned and threaded workers;
run as a program it prints a digest of each.
"""

import hashlib
import json
import multiprocessing
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np

import armtwin as at
from tests.identification.test_identify import excitation
from tests.jobs.examples import JOB


def digest(*arrays):
    whole = hashlib.sha256()
    for array in arrays:
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()


def work(folder):
    """Digests of a prediction and of an identification."""
    run = at.predict(at.Job.load(Path(folder) / "job.toml"))
    robot = at.Robot.load("tx40")
    logs = []
    for seed in (1, 2):
        t, q, v, a = excitation(robot, 4.0, rate=100.0, seed=seed)
        tau = robot.inverse_dynamics(q, v, a) + 0.8 * robot.friction_torque(v)
        logs.append(at.Log.of(t, q=q, tau=tau))
    found = at.identify(robot, logs, cutoff=10.0)
    stds = [row.std for row in found.table]
    return digest(*run.log.channels.values()), digest(found.robot.parameters, stds)


def main(kinds):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "job.toml").write_text(JOB)
        told = {"parent": [work(folder)]}
        for kind in kinds:
            if kind == "thread":
                pool = ThreadPoolExecutor(2)
            else:
                pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(kind))
            with pool:
                told[kind] = list(pool.map(work, [folder] * (3 if kind == "thread" else 1)))
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1:])
