"""Whether advice that is called best is sure: `python studies/advice.py [JOB[:SPEED[:MM]]]...`.

A number of millimetres is another tolerance, lateral and vertical.

Of each job: how likely it holds as it is, all options, what is called best, how likely that holds
by its own draws and by 256 of a seed that the search never saw, and what it cost; then the table of
docs/advice.md.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import armtwin as at

CASES = (
    "rx90b_line",
    "rx90b_line:60 mm/s",
    "rx90b_line:300 mm/s",
    "rx90b_corner_follow",
    "rx90b_corner_fixed",
    "kr300_frame",
    "lwa4p_bead",
    "rx90b_line::0.2",
    "rx90b_line:300 mm/s:0.2",
    "rx90b_corner_follow::0.14",
    "rx90b_corner_fixed::0.25",
    "rx90b_line::0.25",
    "kr300_frame::0.45",
)
FRESH_SEED, FRESH_DRAWS = 77, 256


HEAD = "| job | P as it is | options: P, or the nominal error over tolerance | speed |"
RULE = "|---|---|---|---|"


def advised(cases: Sequence[str]) -> Iterator[str]:
    """A few lines for each job, and the table of all."""
    rows = []
    for case in cases:
        run = at.predict(job_of(case))
        band = at.assess(run)
        begun = time.process_time()
        advice = at.advise(run, band)
        cost = time.process_time() - begun
        yield f"{case}: {band.outcome}, P = {band.probability:.2f}, spread {band.spread:.2f}"
        yield f"  {advice.simulations} runs, {advice.draws} draws, {cost:.0f} s"
        yield from _proved(advice)
        rows.append(row(case, advice))
    yield from (HEAD, RULE, *rows)


def row(case: str, advice: at.Advice) -> str:
    """What became of the options of a job, the smallest change first."""
    options = []
    for option in advice.options:
        odds = f"{100 * option.ratio:.0f} %" if math.isfinite(option.ratio) else "cannot be run"
        if option.probability is not None:
            odds = f"P = {option.probability:.2f}"
        options.append(f"{option.name} {odds}{' (best)' if option == advice.best else ''}")
    probability = "-" if advice.band is None else f"{advice.band.probability:.2f}"
    lever = "a lever" if advice.speeds.is_lever else "no lever"
    name, speed, allowed, *_ = [*case.split(":"), "", ""]
    what = ", ".join(filter(None, (name, speed, allowed and f"±{allowed} mm")))
    if not advice.needed:
        return f"| {what} | {probability} | needs none | - |"
    return f"| {what} | {probability} | {', '.join(options)} | {lever} |"


def job_of(case: str) -> at.Job:
    """A shipped job, at another speed and with another tolerance where they are given."""
    name, speed, allowed, *_ = [*case.split(":"), "", ""]
    job = at.Job.load(name)
    if speed:
        job = job.with_speed(speed)
    if not allowed:
        return job
    both = 1e-3 * float(allowed)
    tolerance = replace(job.description.tolerance, lateral=both, vertical=both)
    return at.Job(replace(job.description, tolerance=tolerance), job.origin)


def _proved(advice: at.Advice) -> Iterator[str]:
    """What is best, by its own draws and by fresh ones; else what came nearest."""
    if not advice.needed:
        yield "  nothing needs to change"
    elif advice.best is None:
        nearest = advice.slower or advice.nearest
        likely = "" if nearest is None else f", nearest {nearest.text}: {nearest.probability:.3f}"
        yield f"  nothing is best{likely}"
        for x in advice.measuring:
            yield f"  {x.way}: {x.allows or 'nothing even then'}"
        for step in advice.measured_first:
            yield f"  corrected, {step.ways[-1]}: {step.probability:.3f}"
    else:
        again = advice.best.corrected or at.predict(advice.best.job)
        fresh = at.assess(again, draws=FRESH_DRAWS, seed=FRESH_SEED).probability
        yield f"  best: {advice.best.text}"
        yield f"  P by its own draws {advice.best.probability:.3f}, by fresh ones {fresh:.3f}"


if __name__ == "__main__":
    for line in advised(sys.argv[1:] or CASES):
        print(line, flush=True)
