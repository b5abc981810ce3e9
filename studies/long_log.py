"""A log of 600 000 samples from file to report: CPU time and memory of `armtwin identify`.

    python studies/long_log.py [OPTION ...]

A virtual TX40, harmonics of 17 s at 1 kHz, encoder counts, torque noise of 0.5 N m. Options go to
the command, as --cutoff "80 Hz", at which no samples are averaged.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import armtwin as at

SAMPLES, RATE, PERIOD, HARMONICS = 600_000, 1000.0, 17.0, 8
MIDDLE, SIZE = np.array([0.0, 0.3, 1.0, 0.0, 0.6, 0.0]), 0.35
COUNT = 2e-6  # of an encoder [rad]
NOISE = 0.5  # [N m]


def write_log(path):
    """The log of a robot with a tenth less friction than its file."""
    robot = at.Robot.load("tx40")
    chance = np.random.default_rng(0)
    t = np.arange(SAMPLES) / RATE
    w = 2 * np.pi / PERIOD * np.arange(1, HARMONICS + 1)
    a, b = SIZE * chance.normal(size=(2, HARMONICS, 6)) / np.arange(1, HARMONICS + 1)[:, None]
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    w = w[:, None]
    q, v = MIDDLE + s @ a + c @ b, c @ (a * w) - s @ (b * w)
    torque = robot.inverse_dynamics(q, v, -s @ (a * w**2) - c @ (b * w**2))
    torque += 0.9 * robot.friction_torque(v) + NOISE * chance.normal(size=q.shape)
    at.Log.of(t, q=COUNT * np.round(q / COUNT), tau=torque).write(path)


def main(options):
    """Write the log, identify, print."""
    with tempfile.TemporaryDirectory() as folder:
        log, out = Path(folder) / "long.csv", Path(folder) / "out.toml"
        write_log(log)
        command = [sys.executable, "-m", "armtwin", "identify", "tx40", log, "--out", out, *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:.1f} s CPU, {used.ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
