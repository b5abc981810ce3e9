"""How often intervals of a payload cover the truth, and how well a known one identifies the drives.

    python studies/payload.py [DRAWS]

The virtual RX90B with the laser head of 4.12 kg, ten harmonics in 8 s, four periods, 250 Hz, in its
own closed loop with quantised encoders and currents; every tenth draw is of another motion, each of
other noise. The payload is found by the difference of two runs, the torque constants from the same
runs with the mass as known.

The bound is that of Cramer and Rao for the difference of two runs with white noise on the torques
of the joints, from the regressor on the motion that was asked for: no filter, no loop.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.identification.virtual import (
    NOISE,
    excitation,
    least_deviations,
    measured,
    on_the_bench,
)

import armtwin as at
from armtwin.robot.dynamics.bodies import parameters_of

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
    values, covered, gains, gain_covered, widths, least = [], [], [], [], [], []
    for draw in range(draws):
        if draw % max(1, draws // MOTIONS) == 0:
            motion = excitation(head, 100 + draw)
            least.append(least_deviations(bare, motion, parameters_of(body)))
            silent = [measured(robot, motion, 0, noise=0.0) for robot in (bare, head)]
        logs = [noisy(bare, log, chance) for log in silent]
        found = at.identify_payload(bare, *logs)
        values.append([row.value for row in found.table])
        covered.append([row.low < x < row.high for row, x in zip(found.table, truth, strict=True)])
        currents = [as_currents(bare, log, constants) for log in logs]
        gain = at.identify_drive_gains(blind, *currents, MASS, torque="current").gain
        gains.append(gain.constants / constants - 1)
        widths.append(gain.std / gain.constants)
        gain_covered.append((gain.low < constants) & (constants < gain.high))
    values, covered = np.array(values), np.array(covered)
    error = values[:, 0] / MASS - 1
    print(f"{draws} draws of {MOTIONS} motions")
    print(
        f"mass: mean error {100 * error.mean():.2f} %, largest {100 * np.abs(error).max():.2f} %, "
        f"interval of 95 % covers in {100 * covered[:, 0].mean():.0f} %"
    )
    for name, share in zip([row.name for row in found.table], covered.mean(axis=0), strict=True):
        print(f"  {name:12} covered in {100 * share:.0f} %")
    gains, widths = np.array(gains), np.array(widths)
    mass_bound = np.sqrt(np.mean([mass**2 for mass, _ in least]))
    gain_bound = np.sqrt(np.mean([gain**2 for _, gain in least], axis=0))
    print(f"  scatter of the mass {100 * error.std():.3f} %, bound {100 * mass_bound:.3f} %")
    print("torque constants, motor by motor:")
    print("  mean error %   ", np.round(100 * gains.mean(axis=0), 2))
    print("  largest error %", np.round(100 * np.abs(gains).max(axis=0), 2))
    print("  scatter %      ", np.round(100 * gains.std(axis=0), 2))
    print("  bound %        ", np.round(100 * gain_bound, 2))
    print("  bound of motor 1 by motion %", np.round([100 * gain[0] for _, gain in least], 2))
    for limit in (0.01, 0.0075):
        narrow = widths < limit
        largest = 100 * np.abs(gains[narrow]).max()
        within = 100 * np.mean(np.abs(gains[narrow]) < 0.02)
        words = f"{100 * narrow.mean():.0f} % of the constants, {within:.1f} % of them within 2 %"
        print(f"  identified to {100 * limit:g} %: {words}, largest error {largest:.2f} %")
    print("  covered %      ", np.round(100 * np.mean(gain_covered, axis=0)))


if __name__ == "__main__":
    main()
