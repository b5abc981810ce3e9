"""How often intervals of a payload cover the truth, and how well a known one tells the drives.

    python studies/payload.py [DRAWS]

The virtual RX90B with the laser head of 4.12 kg, ten harmonics in 8 s, four periods, 250 Hz, in its
own closed loop with quantised encoders and currents; every tenth draw is of another motion, each of
other noise. The payload is found by the difference of two runs, the torque constants from the same
runs with the mass as known.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.identification.virtual import NOISE, excitation, measured, on_the_bench

import armtwin as at

MASS = 4.12
MOTIONS = 10


def noisy(robot, log, chance):
    """A log with noise on its torque."""
    noise = NOISE * robot.limits.torque * chance.normal(size=log.tau.shape)
    return at.Log.of(log.time, q=log.q, tau=log.tau + noise)


def as_currents(robot, log, constants):
    """A log with currents in place of torques."""
    torque = log.tau @ robot.assembly.motor_inverse
    return at.Log.of(log.time, q=log.q, current=torque / constants)


def main():
    """Print errors and coverage."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    bare, head = on_the_bench(), on_the_bench("laser_head")
    body = head.description.tool["laser_head"].body
    six = body.inertia
    truth = np.array([MASS, *body.com, six.xx, six.yy, six.zz, six.xy, six.xz, six.yz])
    constants = np.array([motor.torque_constant for motor in bare.description.motor])
    motors = [replace(m, torque_constant=None, current_limit=None) for m in bare.description.motor]
    blind = at.Robot(replace(bare.description, motor=tuple(motors)), bare.origin)
    chance = np.random.default_rng(20)
    values, covered, gains, gain_covered = [], [], [], []
    for draw in range(draws):
        if draw % max(1, draws // MOTIONS) == 0:
            motion = excitation(head, 100 + draw)
            silent = [measured(robot, motion, 0, noise=0.0) for robot in (bare, head)]
        logs = [noisy(bare, log, chance) for log in silent]
        found = at.identify_payload(bare, *logs)
        values.append([row.value for row in found.table])
        covered.append([row.low < x < row.high for row, x in zip(found.table, truth, strict=True)])
        currents = [as_currents(bare, log, constants) for log in logs]
        gain = at.identify_payload(blind, *currents, known=MASS, torque="current").gain
        gains.append(gain.constants / constants - 1)
        gain_covered.append(np.abs(gain.constants - constants) < 2.26 * gain.std)
    values, covered = np.array(values), np.array(covered)
    error = values[:, 0] / MASS - 1
    print(f"{draws} draws of {MOTIONS} motions")
    print(
        f"mass: mean error {100 * error.mean():.2f} %, largest {100 * np.abs(error).max():.2f} %, "
        f"interval of 95 % covers in {100 * covered[:, 0].mean():.0f} %"
    )
    for name, share in zip([row.name for row in found.table], covered.mean(axis=0), strict=True):
        print(f"  {name:12} covered in {100 * share:.0f} %")
    gains = np.array(gains)
    print("torque constants, motor by motor:")
    print("  mean error %   ", np.round(100 * gains.mean(axis=0), 2))
    print("  largest error %", np.round(100 * np.abs(gains).max(axis=0), 2))
    print("  covered %      ", np.round(100 * np.mean(gain_covered, axis=0)))


if __name__ == "__main__":
    main()
