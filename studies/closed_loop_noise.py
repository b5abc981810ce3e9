"""What the noise of a closed loop does to an estimate, and what averaging does to the noise.

    python studies/closed_loop_noise.py [MOTIONS]

The virtual RX90B, ten motions by default, 16 s at 250 Hz, at three tenths of an excitation's swing.
Its logs hold positions in the steps of the motors' encoders and torques as the servo gave them, so
that the steps are in both. Plain least squares takes the measured motion; the other estimate takes
that of the robot's own simulated loop, begun with rotors 30 % too light. Bias is the mean error
over the motions, scatter what single motions vary by. Then 1 to 64 runs of one motion are averaged.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.identification.test_closed_loop import PLAIN, by_encoders, slow
from tests.identification.virtual import NOISE, excitation, on_the_bench

import armtwin as at
from armtwin.identification.rigid_body.fit.free_parameters import analyse_identifiability
from armtwin.logs.averaging import average_runs

CASES = ((65536, 40.0), (4096, 40.0), (1024, 10.0), (1024, 40.0), (1024, 100.0))
SHOWN = ("Jm1", "Jyy2", "Jm3", "Jyy3", "Jm4", "Jm5", "Jm6")


def biases(bench, motions):
    """Print bias and scatter of both estimates for encoders and filters."""
    rotor = np.array([p.group == "rotor" for p in bench.parameter_table])
    prior = bench.with_parameters(bench.parameters * np.where(rotor, 0.7, 1.0))
    C, names = analyse_identifiability(bench).combination, analyse_identifiability(bench).base
    chosen = [next(k for k, name in enumerate(names) if name.startswith(x)) for x in SHOWN]
    truth = (C @ bench.parameters)[chosen]
    print(f"{'errors in %':34}" + "".join(f"{name:>9}" for name in SHOWN))
    for counts, cutoff in CASES:
        motors = [replace(motor, encoder_counts=counts) for motor in bench.description.motor]
        coarse = at.Robot(replace(bench.description, motor=tuple(motors)), bench.origin)
        errors = {"plain": [], "loop": []}
        for seed in range(1, motions + 1):
            log = by_encoders(bench, counts, at.simulate(coarse, slow(bench, seed)).log)
            choices = {"cutoff": cutoff, "recipe": PLAIN}
            robots = {
                "plain": at.identify(prior, [log], **choices).robot,
                "loop": at.identify_in_loop(prior, [log], **choices).robot,
            }
            for name, robot in robots.items():
                errors[name].append((C @ robot.parameters)[chosen] / truth - 1)
        for name, values in errors.items():
            for what, numbers in (("bias", np.mean(values, 0)), ("scatter", np.std(values, 0))):
                words = f"{counts:6d} steps, {cutoff:5.0f} Hz, {name:5} {what}"
                print(f"{words:34}" + "".join(f"{100 * x:9.1f}" for x in numbers))


def averages(bench):
    """Print what is left of the torque's error after averaging."""
    motion = excitation(bench, 1, periods=1)
    stepped = at.simulate(bench, motion).log
    smooth = at.simulate(bench, motion, at.Model(quantise=False)).log
    sigma = 0.05 * NOISE * bench.limits.torque
    steps = np.sqrt(((stepped.tau - smooth.tau) ** 2).mean(axis=0))
    chance = np.random.default_rng(8)
    print("\nrms error of the torque [N m], joint by joint")
    for count in (1, 8, 64):
        runs = []
        for _ in range(count):
            tau = stepped.tau + sigma * chance.normal(size=stepped.tau.shape)
            runs.append(at.Log.of(stepped.time, q=stepped.q, tau=tau))
        mean = average_runs(runs).tau if count > 1 else runs[0].tau
        left = np.sqrt(((mean - smooth.tau) ** 2).mean(axis=0))
        print(f"mean of {count:2d} runs  " + "".join(f"{x:9.4f}" for x in left))
    print("noise alone      " + "".join(f"{x:9.4f}" for x in sigma))
    print("quantisation     " + "".join(f"{x:9.4f}" for x in steps))


def main():
    """Both tables."""
    motions = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    bench = on_the_bench()
    biases(bench, motions)
    averages(bench)


if __name__ == "__main__":
    main()
