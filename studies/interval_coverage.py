"""How often 95 % intervals of identified numbers cover the truth, experiment by experiment.

    python studies/interval_coverage.py [DRAWS] [NAME ...]

Every experiment is simulated once and drawn again with other noise; its generators share no code
with the estimators. Of 200 draws, a share of 95 % errs by 1.5 %.
"""

import sys
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.identification.covering import EXPERIMENTS, draw_scores


def main():
    """Print a line for each experiment, and one for each of its numbers."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for name in sys.argv[2:] or EXPERIMENTS:
        begin = time.process_time()
        with threadpool_limits(limits=1):
            names, scores = draw_scores(name, draws)
        known = np.isfinite(scores)
        covered = (scores <= 1).sum(axis=0) / known.sum(axis=0)
        size = np.sqrt(np.nanmean(scores**2, axis=0))
        took = time.process_time() - begin
        whole = 100 * (scores[known] <= 1).mean()
        print(f"{name}: {whole:.1f} % of {known.sum()} intervals cover, {took:.0f} s of CPU time")
        for number, share, rms in zip(names, covered, size, strict=True):
            print(f"  {number:24} {100 * share:5.1f} %   rms of error over half width {rms:.2f}")


if __name__ == "__main__":
    main()
