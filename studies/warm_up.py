"""How well a log of repeated cycles identifies the time constant of a warm-up.

    python studies/warm_up.py [DRAWS]

Joints that ship thermal numbers follow a sine of 8 s over and over and heat themselves; the torque
has noise of 2 % and of 10 % of the largest friction, sample by sample at 20 Hz. The truth is the
heat balance linearised at the temperature the joint comes to. Beside it the time constant of a
plain exponential through all cycles.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.identification.test_warm_up import PERIOD, heating_rate, virtual_log

import armtwin as at
from armtwin.identification.warm_up.identify_warm_up import _fit_exponential

JOINTS = (("lwa4p", "joint_4", 0.55), ("rx90b", "joint_1", 1.0))
LENGTHS, NOISES = (2.0, 5.0), (0.02, 0.1)  # in time constants; of the largest friction
LONG = 4000  # cycles after which a joint is warm


def errors_of(robot, joint, amplitude, truth, cycles, noise, draws):
    """Relative errors, of plain exponentials too, and whether intervals hold the truth."""
    found, plain, held = [], [], []
    for seed in range(draws):
        chance = np.random.default_rng(seed)
        log, _, _ = virtual_log(robot, joint, amplitude, cycles, chance, noise=noise)
        result = at.identify_warm_up(log, period=PERIOD)
        (row,) = result.table
        if row.refused:
            continue
        found.append(row.time_constant / truth - 1)
        held.append(row.time_constant_low < truth < row.time_constant_high)
        middle = result.state.time - PERIOD / 2
        plain.append(_fit_exponential(middle, result.friction[:, 0]).constant / truth - 1)
    return np.array(found), np.array(plain), np.array(held)


def end_of(robot, element, joint, amplitude):
    """Time constant by the heat balance where the joint ends [s]."""
    silent = virtual_log(robot, joint, amplitude, LONG, np.random.default_rng(0), noise=0.0)
    return 1 / heating_rate(element, amplitude, silent[2].temperature[-1])


def main():
    """Print errors and coverage."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for name, joint, amplitude in JOINTS:
        robot = at.Robot.load(name)
        (element,) = [e for e in robot.description.active_friction() if e.name == joint]
        truth = end_of(robot, element, joint, amplitude)
        print(f"{name} {joint}: {truth:.0f} s, {draws} draws")
        for length in LENGTHS:
            cycles = int(length * truth / PERIOD)
            for noise in NOISES:
                found, plain, held = errors_of(robot, joint, amplitude, truth, cycles, noise, draws)
                print(
                    f"  {length:g} time constants, {100 * noise:g} % noise: mean error "
                    f"{100 * found.mean():+.1f} %, spread {100 * found.std():.1f} %, largest "
                    f"{100 * np.abs(found).max():.1f} %; held in {100 * held.mean():.0f} %; "
                    f"identified in {len(found)}; plain exponential {100 * plain.mean():+.1f} %"
                )


if __name__ == "__main__":
    main()
