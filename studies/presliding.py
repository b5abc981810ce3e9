"""A virtual RX90B whose bristles are softened, in its closed loop: whether their radius is found.

    python studies/presliding.py [RADIUS ...]

Radii in rad, 1e-3 and 1e-4 by default, undamped, or with "damped" behind them with the damping of
the file relative to critical; "shipped", "none" for the shipped bristles of some 1e-6 rad and for
friction without any. Harmonics of 8 s, 250 Hz, four periods, quantised, torque
noise of 0.65 % of the largest. Default settings, from the file with the shipped bristles. Judged is
another motion where a joint is slower than 1 % of its highest speed: the residual of the torque
without noise, over the noise.
"""

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import armtwin as at
from armtwin.identification.rigid_body.evaluation.diagnostics import describe_friction
from armtwin.identification.rigid_body.friction.terms import list_presliding_distances
from armtwin.robot.schema.drive_groups import Presliding

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.identification.virtual import NOISE, excitation, measured, on_the_bench

CASES = ("1e-3", "1e-4", "1e-3 damped", "1e-4 damped", "shipped", "none")
RELATIVE = 0.1  # damping of the file, relative to critical


def softened(robot, radius, damped):
    """The robot with bristles of a radius [rad], undamped or damped as its file says."""
    elements = []
    for element in robot.description.friction:
        shipped = element.presliding
        soft = Presliding(radius=radius)
        if damped:
            inertia = (shipped.damping / (2 * RELATIVE)) ** 2 / shipped.stiffness
            soft = replace(soft, relative_damping=RELATIVE, inertia=inertia)
        elements.append(replace(element, presliding=soft))
    return at.Robot(replace(robot.description, friction=tuple(elements)), robot.origin)


def virtual(bench, case):
    """The robot of a case, and how it is simulated."""
    if case == "none":
        return bench, at.Model(friction="switching")
    if case == "shipped":
        return bench, None
    radius, _, damped = case.partition(" ")
    return softened(bench, float(radius), bool(damped)), None


def main(names):
    """Print a row for each case."""
    bench = on_the_bench()
    noise = NOISE * bench.limits.torque
    for case in names:
        truth, model = virtual(bench, case)
        log = measured(truth, excitation(bench, 1), 1, model=model)
        start = time.process_time()
        found = at.identify(bench, [log])
        spent = time.process_time() - start
        other = measured(truth, excitation(bench, 7), 7, noise=0.0, model=model)
        judged, slow = found.validate(other), found.standing(other)
        squares = np.where(slow, (judged.tau_hat - judged.tau) ** 2, 0.0)
        residual = np.sqrt(squares.sum(axis=0) / slow.sum(axis=0)) / noise
        radii = " ".join(
            f"{radius:.2g}" for _, radius in list_presliding_distances(found.model.terms)
        )
        print(
            f"{case}: radii {radii or 'none'}; residual / noise {residual.round(2)}; {spent:.0f} s"
        )
        print("   ", describe_friction(found)[0], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or CASES)
