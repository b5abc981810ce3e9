"""Whether optimising an excitation pays: designed motions against the best of many random ones.

    python studies/excitation.py [RANDOM]

The RX90B, 1000 random motions by default, all within the same limits and made as wide as these let
them. Of the random ones the best by each measure is taken, so that each is another motion. The
measures are those of all set-points of a period at 250 Hz, with a noise of 1 % of the largest
torques; those of 25 Hz are printed beside them, as [Waiboer 2007, section 4.4.1] used 200 samples.
Each designed motion is checked on a grid ten times denser than its set-points. At last a designed
and a random motion are run in closed loop, and what was foretold is held against what came true.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.identification.virtual import measured, on_the_bench

import armtwin as at
from armtwin.identification.excitation.bounds import Bounds
from armtwin.identification.fitting.decomposition import RELATIVE_ERROR
from armtwin.identification.fitting.regularisation import fit_regularised
from armtwin.identification.rigid_body.data.preparation import prepare_identification
from armtwin.identification.rigid_body.fit.free_parameters import analyse_identifiability
from armtwin.motion.cell import Cell

DESIGNS = (
    {"criterion": "log_det"},
    {"criterion": "sigma_min"},
    {"criterion": "condition"},
    {"criterion": "condition", "scaling": "columns"},
    {"criterion": "weighted"},
)
THESIS = 200  # samples
NOISES = 4  # of each run in closed loop


def told(found, rows):
    """Parameter combinations identified to within 10 % by a number of samples."""
    sigma = found.singular_values("parameters") * np.sqrt(rows / found.rows)
    return int((sigma > found.plan.noise / RELATIVE_ERROR).sum())


def show(name, seconds, found):
    """A line of the table."""
    print(
        f"{name:28} {seconds:7.1f} {100 * found.deviation:9.1f} {1e3 * found.sigma_min:9.3f} "
        f"{found.condition('parameters'):10.0f} {found.condition('columns'):7.1f} "
        f"{found.log_det:8.1f} {found.told:5d} {told(found, THESIS):5d}"
    )


def main():
    """Print the table and what follows from it."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    robot = at.Robot.load("rx90b")
    at.excite(robot, at.ExcitationPlan(starts=2))  # compiles
    print(
        f"{'motion':28} {'CPU s':>7} {'mean %':>9} {'1e3 smin':>9} {'condition':>10} "
        f"{'by col.':>7} {'log det':>8} {'ident':>5} {'25Hz':>5}"
    )
    plan = at.ExcitationPlan(search="random", starts=count, seed=1)
    start = time.process_time()
    best = at.excite(robot, plan)
    spent = time.process_time() - start
    show(f"best of {count} by log det", spent, best)
    scale = plan.noise / np.sqrt(best.rows)
    deviation = min(each.deviation for each in best.tried) * scale
    sigma = max(each.sigma_min for each in best.tried) * np.sqrt(best.rows)
    most = max(each.told(best) for each in best.tried)
    print(
        f"{'  best by each measure':28} {'':7} {100 * deviation:9.1f} {1e3 * sigma:9.3f} "
        f"{'':10} {'':7} {'':8} {most:5d}"
    )
    for choices in DESIGNS:
        start = time.process_time()
        found = at.excite(robot, at.ExcitationPlan(**choices))
        spent = time.process_time() - start
        show(" ".join(choices.values()), spent, found)
        bounds = Bounds.of(robot, found.plan, Cell())
        period = found.plan.period
        dense = found.series.at(np.linspace(0, period, round(10 * period * found.rate) + 1))
        use = bounds.use(dense, bounds.needed(dense))
        gain = 100 * (1 - found.deviation / deviation)
        print(
            f"{'':28} mean deviation {gain:.0f} % lower than the best random; ten times denser: "
            f"largest use {use.largest:.4f}, nearest {use.nearest:.4f} m"
        )


def in_closed_loop():
    """Print errors of fits without a prior to simulated runs, beside what was foretold."""
    bench = on_the_bench()
    C = analyse_identifiability(bench).combination
    for search in ("optimised", "random"):
        found = at.excite(bench, at.ExcitationPlan(search=search, periods=2))
        errors = []
        for seed in range(NOISES):
            log = measured(bench, found.trajectory, seed, noise=found.plan.noise)
            recipe = at.Recipe(friction="file", tilt="file", trust=True)
            ready = prepare_identification(bench, [log], torque=None, cutoff=20.0, recipe=recipe)
            task = ready.experiment
            phi = fit_regularised(task.parts(), task.free, task.friction, 1e-10).parameters
            errors.append(C @ (phi - bench.parameters) / found.scales.sizes)
        came = np.sqrt(np.mean(np.square(errors), axis=0)).mean()
        print(f"{search} in closed loop: mean error {came:.2f}, foretold {found.deviation:.2f}")


if __name__ == "__main__":
    main()
    in_closed_loop()
