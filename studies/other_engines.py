"""The twin in MuJoCo, job by job: `python studies/other_engines.py [JOB[:rigid|:elastic]]...`.

Prints the table of docs/engines.md: largest path errors of the twin and of the exported file, the
difference, the same with friction as frictionloss, the twin's own estimate, torques, and the time.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import armtwin as at
from armtwin.exchange.check import check_mjcf

CASES = (
    "rx90b_line",
    "rx90b_line:elastic",
    "rx90b_corner_fixed",
    "rx90b_corner_follow",
    "lwa4p_bead",
    "ur10e_bead",
    "kr300_frame:rigid",
    "kr300_frame:elastic",
)
HEAD = "| job | twin µm | MuJoCo µm | rms of the difference µm | as frictionloss µm | estimate µm |"


def main(cases: tuple[str, ...]) -> None:
    """Print a row for each case."""
    print(f"{HEAD} torques | seconds |\n|{'---|' * 8}")
    for case in cases:
        name, _, joints = case.partition(":")
        job = at.Job.load(name)
        if joints:
            model = replace(job.description.model, joints=joints)
            job = at.Job(replace(job.description, model=model), job.origin)
        p = at.predict(job)
        started = time.process_time()
        check = check_mjcf(p.robot, at.check_motion_of(p), "lugre")
        spent = time.process_time() - started
        twin, engine, simpler = (1e6 * loop.peak_m for loop in check.loops)
        rms = 1e6 * check.loops[1].rms_m
        estimate = 1e6 * check.costs[-1].peak_m
        torque = max(max(t.along, t.range) for t in check.torques)
        numbers = f"{twin:.1f} | {engine:.1f} | {rms:.2g} | {simpler:.1f} | {estimate:.1f}"
        print(f"| {case} | {numbers} | {torque:.1g} | {spent:.1f} |", flush=True)


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or CASES)
