"""Peak memory and CPU time of `armtwin predict` over the length of the motion.

    python studies/memory.py [SECONDS ...] [--job NAME]

The shipped straight seam (or another shipped job), slow enough to last so long; by default 20, 60,
200 and 600 s. Each prediction is a process of its own: the nominal run alone, then with its
interval. What a prediction of no length needs is that of the modules and kernels; `beyond` is what
the motion adds to the shortest one's peak, for each second.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import armtwin as at

LENGTHS = (20.0, 60.0, 200.0, 600.0)  # s


def measure(seconds, *options, job="rx90b_line"):
    """Peak memory [MB] and CPU time [s] of a prediction that moves for a time [s]."""
    found = at.Job.load(job)
    speed = found.description.speed * found.seam.profile.duration / seconds
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = [sys.executable, "-m", "armtwin", "predict", job, "--speed", f"{speed} m/s"]
        child = subprocess.Popen(
            [*command, "--out", out, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        said = child.stderr.read().decode()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 1):
            raise SystemExit(f"{seconds:g} s: exit code {child.returncode}\n{said}")
        written = sum(x.stat().st_size for x in out.rglob("*") if x.is_file())
    return used.ru_maxrss / 1024, used.ru_utime + used.ru_stime, written / 2**20


def main(lengths, job):
    """Measure and print."""
    print("motion [s]  nominal [MB]  interval [MB]  ratio  CPU [s]         files [MB]", flush=True)
    for seconds in lengths:
        alone, alone_cpu, written = measure(seconds, "--nominal", job=job)
        band, band_cpu, _ = measure(seconds, job=job)
        print(
            f"{seconds:10g}  {alone:12.0f}  {band:13.0f}  {band / alone:5.2f}  "
            f"{alone_cpu:6.1f} {band_cpu:7.1f}  {written:10.1f}",
            flush=True,
        )


if __name__ == "__main__":
    given = argparse.ArgumentParser()
    given.add_argument("lengths", nargs="*", type=float, default=LENGTHS)
    given.add_argument("--job", default="rx90b_line")
    options = given.parse_args()
    main(options.lengths, options.job)
