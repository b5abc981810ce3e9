"""Calibrations of virtual arms: do 95 % intervals cover, and how far is the tool elsewhere?

    python studies/calibration.py [DRAWS]

Each draw is an arm that differs from its file by 0.5 mm and 1 mrad, measured at 30 postures with
0.05 mm of noise. The bound is what the noise alone leaves of the position at unseen postures: the
numbers' covariance with the true noise. Numbers of docs/calibration.md.
"""

import sys
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.identification.covering import even_score
from tests.identification.virtual_calibration import CASES, NOISE, calibrate


def draw(name, seed):
    """Scores of the numbers, error at unseen postures, its bound, and the calibration."""
    found, truth, elsewhere = calibrate(name, np.random.default_rng([seed, 37]))
    scores = {}
    numbers = zip(found.kept, found.estimate.half_width, found.estimate.values, strict=True)
    for place, half, value in numbers:
        scores[found.geometry.names[place]] = even_score(truth[place], value, half)
    geometry = found.geometry
    error = geometry.points(found.numbers, elsewhere) - geometry.points(truth, elsewhere)
    rows = found.after.size - len(found.kept)
    sigma = np.sqrt((found.after**2).sum() / rows)
    bound = found.position_std(elsewhere) * NOISE / sigma
    return scores, float((error**2).sum(axis=1).mean()), float((bound**2).mean()), found


def main():
    """Print a table for each robot."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for name in CASES:
        begin = time.process_time()
        rows = [draw(name, seed) for seed in range(draws)]
        names = list(rows[0][0])
        scores = np.array([[row[0].get(key, np.nan) for key in names] for row in rows])
        known = np.isfinite(scores)
        error, bound = (np.sqrt(np.mean([row[k] for row in rows])) for k in (1, 2))
        found = rows[0][3]
        print(f"\n{name}: {draws} draws, {time.process_time() - begin:.0f} s of CPU time")
        print(f"  {100 * (scores[known] <= 1).mean():.1f} % of {known.sum()} intervals cover")
        print(f"  unseen postures: {1e6 * error:.1f} um rms, bound {1e6 * bound:.1f}, ", end="")
        print(f"ratio {error / bound:.2f}; ratios of single draws up to ", end="")
        print(f"{max(np.sqrt(row[1] / row[2]) for row in rows):.2f}")
        for k, key in enumerate(names):
            std = found.table[k].std
            share = 100 * (scores[known[:, k], k] <= 1).mean()
            print(f"  {key:16} {share:5.1f} %   std {std:.2g} {found.table[k].unit}")
        for sentence in found.held:
            print(f"  {sentence}")


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
