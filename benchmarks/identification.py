"""From log files to identified parameters, against the script that people write: same files, same
rows, same run.

    python benchmarks/identification.py [--quick]

RX90B, 8 runs of 4 periods of 8 s at 250 Hz. The peer reads with np.loadtxt, filters and
differentiates the positions, fills its rows in a Python loop over Pinocchio's regressor, adds
rotor, spring and friction columns (ours, not timed), filters every column as its torque with SciPy,
and solves with np.linalg.lstsq, once, without prior, contracts or anything left out. Two sizes:
every sample a row, and thinned to six rows a period of the cut-off as is our default. Each with the
peer's question, the file's friction laws and mounting as they are, and with the default one, which
looks for friction terms and for the direction of gravity as well. CPU time, one thread of BLAS.
"""

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio
from scipy.signal import butter, sosfiltfilt

import armtwin as at
from armtwin.identification.rigid_body import identify
from armtwin.identification.rigid_body.data import preparation
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.cleaning import Cleaning, clean
from armtwin.maths.blas import one_blas_thread
from armtwin.robot.robot import Robot
from mechanics import pinocchio_model

QUICK = "--quick" in sys.argv
RUNS, PERIODS = (2, 1) if QUICK else (8, 4)
REPEATS = 1 if QUICK else 5
RATE, PERIOD, CUTOFF = 250.0, 8.0, 10.0


def excitation(robot, seed):
    """Ten harmonics within half of the speed limits: times, positions, speeds, accelerations."""
    chance = np.random.default_rng(seed)
    t = np.arange(0, PERIODS * PERIOD, 1 / RATE)
    w = 2 * np.pi / PERIOD * np.arange(1, 11)
    a, b = chance.normal(size=(2, 10, robot.n)) / np.arange(1, 11)[:, None]
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    v = c @ (a * w[:, None]) - s @ (b * w[:, None])
    size = 0.5 * robot.limits.velocity / np.abs(v).max(axis=0)
    q0 = np.array([0.0, 0.3, 1.2, 0.0, 0.6, 0.0])
    acc = -s @ (a * w[:, None] ** 2) - c @ (b * w[:, None] ** 2)
    return t, q0 + size * (s @ a + c @ b), size * v, size * acc


def write_logs(robot, folder):
    """The logs of all runs, with noise on torque and position."""
    paths = []
    for run in range(RUNS):
        t, q, v, a = excitation(robot, run)
        chance = np.random.default_rng(100 + run)
        tau = robot.inverse_dynamics(q, v, a) + robot.friction_torque(v)
        tau += 0.0065 * robot.limits.torque * chance.normal(size=tau.shape)
        paths.append(folder / f"run{run}.csv")
        at.Log.of(t, q=q + 1e-6 * chance.normal(size=q.shape), tau=tau).write(paths[-1])
    return paths


def ours(robot, paths, recipe):
    """Our way, whole."""
    return at.identify(robot, [at.Log.read(path) for path in paths], cutoff=CUTOFF, recipe=recipe)


def stages(robot, paths, recipe):
    """Seconds of our stages."""
    spent, last = {}, time.process_time()

    def lap(name):
        nonlocal last
        now = time.process_time()
        spent[name], last = now - last, now

    logs = [at.Log.read(path) for path in paths]
    lap("read files")
    ready = preparation.prepare_identification(
        robot, logs, torque=None, cutoff=CUTOFF, recipe=recipe
    )
    lap("clean, differentiate, suspicions, friction terms")
    parts = ready.experiment.parts()
    lap("regressor, filter, factors")
    identify.solve_identification(ready, parts)
    lap("weight, fit, contracts, decomposition")
    return spent


def peer(robot, paths, step):
    """The script that people write."""
    spent, last = {}, time.process_time()

    def lap(name):
        nonlocal last
        now = time.process_time()
        spent[name] = spent.get(name, 0.0) + now - last
        last = now

    tables = [np.loadtxt(path, delimiter=",", skiprows=1) for path in paths]
    lap("np.loadtxt")
    how, sections = Cleaning(RATE, CUTOFF, 1, False), butter(3, CUTOFF / (RATE / 2), output="sos")
    logs = [clean(at.Log.of(x[:, 0], q=x[:, 1:7], tau=x[:, 7:]), how) for x in tables]
    lap("filter, differentiate")
    model, data = pinocchio_model(robot)
    p, blocks, right = len(robot.parameters), [], []
    for log in logs:
        W = np.zeros((len(log.time), 6, p))
        rest = robot.regressor(log.q, log.v, log.a)[:, :, 60:]
        last = time.process_time()  # the columns that Pinocchio lacks are free
        W[:, :, 60:] = rest
        for k in range(len(log.time)):
            W[k, :, :60] = pinocchio.computeJointTorqueRegressor(
                model, data, log.q[k], log.v[k], log.a[k]
            )
        lap("Pinocchio in a loop")
        W = sosfiltfilt(sections, W.reshape(len(W), -1), axis=0).reshape(W.shape)[25:-25:step]
        lap("filter of every column")
        scale = robot.limits.torque
        blocks.append((W / scale[:, None]).reshape(-1, p))
        right.append((log.tau[25:-25:step] / scale).ravel())
    np.linalg.lstsq(np.concatenate(blocks), np.concatenate(right), rcond=None)
    lap("np.linalg.lstsq")
    return spent


def main():
    """Print stages and ratios of both sizes."""
    robot = Robot.load("rx90b")
    with tempfile.TemporaryDirectory() as name:
        paths = write_logs(robot, Path(name))
        samples = RUNS * round(PERIODS * PERIOD * RATE)
        unknown = len(robot.parameters)
        print(f"RX90B, {RUNS} runs, {samples} samples, {unknown} parameters, cut-off {CUTOFF:g} Hz")
        given = Recipe(friction="file", tilt="file")
        for words, step, rate in (("every sample a row", 1, RATE), ("thinned", 4, None)):
            recipes = {
                "laws and mounting of the file": replace(given, rate=rate),
                "default": Recipe(rate=rate),
            }
            work = {"peer": lambda step=step: peer(robot, paths, step)}
            for name, recipe in recipes.items():
                work[name] = lambda recipe=recipe: stages(robot, paths, recipe)
                work[f"{name}, whole"] = lambda recipe=recipe: timed(robot, paths, recipe)
            show(words, recipes, best_of(work))


def best_of(work):
    """The run with the least sum of seconds of each kind of work.

    They take turns, as a machine may be slow for a while, each warmed up by a run before.
    """
    runs = {name: [] for name in work}
    for _ in range(REPEATS):
        for name, do in work.items():
            do()
            runs[name].append(do())
    return {name: min(of, key=lambda spent: sum(spent.values())) for name, of in runs.items()}


def show(words, recipes, best):
    """Print stages and ratios of one size."""
    other = best["peer"]
    all_of_it = sum(other.values())
    less = all_of_it - other["filter of every column"]
    for key, value in other.items():
        print(f"  peer  {key:52}{1e3 * value:8.0f} ms")
    for name in recipes:
        print(f"{words}, {name}:")
        for key, value in best[name].items():
            print(f"  ours  {key:52}{1e3 * value:8.0f} ms")
        ours_took = best[f"{name}, whole"]["all"]
        ratio, ratio_less = all_of_it / ours_took, less / ours_took
        print(f"  ours {ours_took:.2f} s, peer {all_of_it:.2f} s, ratio {ratio:.1f}")
        print(f"  peer without the filter of its columns {less:.2f} s, ratio {ratio_less:.1f}")


def timed(robot, paths, recipe):
    """Seconds of our way, whole."""
    start = time.process_time()
    ours(robot, paths, recipe)
    return {"all": time.process_time() - start}


if __name__ == "__main__":
    with one_blas_thread():
        main()
