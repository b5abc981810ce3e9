"""The closed loop of this checkout against that of an earlier commit: the same numbers, and how
fast.

    python benchmarks/former.py [COMMIT] [--quick]        by default the last commit

Both packages are loaded into one process and run in turns, so that a noisy machine is as noisy for
both.
"""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from importlib import import_module
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
QUICK = "--quick" in sys.argv
if QUICK:  # kernels of two packages compile for a minute; a few ticks run without
    os.environ["NUMBA_DISABLE_JIT"] = "1"
REPEATS = 15


def package(sources):
    """The armtwin package below a folder, loaded beside any that was loaded before."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "armtwin"]:
        del sys.modules[name]
    sys.path.insert(0, str(sources))
    try:
        loaded = import_module("armtwin")
        for name in loaded.__all__:
            getattr(loaded, name)  # rooms are loaded when first asked for: ask now
        return loaded
    finally:
        sys.path.remove(str(sources))


def checked_out(commit, folder):
    """The sources of a commit in a folder."""
    packed = subprocess.run(
        ["git", "-C", str(ROOT), "archive", commit, "src"], capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return Path(folder) / "src"


def cases(at):
    """Name, robot, motion and model of each run."""
    if QUICK:
        q = np.tile([0.1, 0.6, 1.3, 0.2, 1.0, 0.1], (3, 1))
        still = at.Trajectory.sampled(250, q, 0 * q, 0 * q)
        yield "hold", at.Robot.load("rx90b"), still, at.Model(quantise=False)
        return
    predicted = at.predict(robot=None, job=at.Job.load("rx90b_line"))
    motion = predicted.motion.trajectory
    for friction in ("lugre", "switching", "off"):
        yield (
            f"line, {friction}",
            predicted.robot,
            motion,
            at.Model(friction=friction, quantise=False),
        )
    yield "line, cs7b", predicted.robot, motion, at.Model(servo="cs7b", quantise=False)
    for name in ("rx90b_corner_fixed", "rx90b_corner_follow", "kr300_frame", "lwa4p_bead"):
        predicted = at.predict(robot=None, job=at.Job.load(name))
        yield name, predicted.robot, predicted.motion.trajectory, at.Model(quantise=False)


def timed(at, robot, motion, model):
    """CPU time of one run, and what it logged."""
    start = time.process_time()
    log = at.simulate(robot, motion, model).log
    return time.process_time() - start, log


def compared(runs, repeats):
    """Least CPU time of each of two runs, taken in turns,
    and the largest difference of their logs.
    """
    times, logs = np.full(2, np.inf), [None, None]
    for _ in range(repeats):
        for k, run in enumerate(runs):
            spent, logs[k] = timed(*run)
            times[k] = min(times[k], spent)
    apart = [np.abs(getattr(logs[1], c) - getattr(logs[0], c)).max() for c in ("q", "current")]
    return times, apart


def report(commit):
    """Print both times, their ratio, and how far the logs are apart."""
    with tempfile.TemporaryDirectory() as folder:
        former = package(checked_out(commit, folder))
        before = list(cases(former))  # while its own shipped files are found
        present = package(ROOT / "src")
        pairs = zip(before, cases(present), strict=True)
        print(f"{'run':22} {'former':>9} {'now':>9} {'ratio':>7} {'q [rad]':>9} {'current':>9}")
        for (name, *old), (_, *new) in pairs:
            times, apart = compared(((former, *old), (present, *new)), 1 if QUICK else REPEATS)
            ratio = times[0] / times[1]
            print(
                f"{name:22} {times[0]:9.4f} {times[1]:9.4f} {ratio:7.2f} {apart[0]:9.1e} "
                f"{apart[1]:9.1e}"
            )


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    report(arguments[0] if arguments else "HEAD")
