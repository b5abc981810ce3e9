"""What the band of a verdict costs beside the nominal prediction of the same job, in one process.

    python benchmarks/band.py [--quick]

A nominal prediction is plan, loop, path error and verdict; a draw is all of it for another robot
at another place. CPU time, short runs in turns.
"""

import sys
import time
from collections.abc import Callable
from functools import partial

import armtwin as at
from armtwin.prediction.band.draws import normal_draws
from armtwin.prediction.band.quantities import quantities_of
from armtwin.prediction.band.quantity import Variant, sample_variant

QUICK = "--quick" in sys.argv
JOBS = ("rx90b_line",) if QUICK else ("rx90b_line", "rx90b_corner_follow", "kr300_frame")
DRAWS = 8 if QUICK else 64
TURNS = 1 if QUICK else 3


def used(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def robots(p: at.Prediction) -> None:
    """Make the robots of all draws."""
    quantities = quantities_of(p)
    for z in normal_draws(DRAWS, len(quantities), 0):
        at.Robot(sample_variant(Variant(p.robot.description), quantities, z).description)


def show(name: str) -> None:
    """Print what the draws of a job cost."""
    job = at.Job.load(name)
    p = at.predict(job)
    at.assess(p, draws=DRAWS)  # compiles, or reads the kernels
    nominal, whole, made = [], [], []
    for _ in range(TURNS):
        nominal += [used(partial(at.predict, job)) for _ in range(3)]
        whole.append(used(partial(at.assess, p, draws=DRAWS)))
        made.append(used(partial(robots, p)))
    one = min(nominal)
    print(
        f"{name}: {DRAWS} draws {min(whole):.2f} s CPU, a nominal prediction {one:.3f} s; "
        f"ratio {min(whole) / one:.1f}, of which making robots {min(made) / one:.1f}"
    )


for shipped in JOBS:
    show(shipped)
