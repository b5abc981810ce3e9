"""Value and slope of an excitation's criterion against finite differences over Pinocchio.

    python benchmarks/excitation.py [--quick]

The RX90B's bodies, ten harmonics of 8 s, 200 samples, the determinant of the independent columns.
Ours runs the traced regressor forwards and backwards; the peer takes one step of each coefficient
with Pinocchio's regressor, as its users do. One core, CPU time, both in this run; the slopes are
compared. Then the search itself, and the share of it that each evaluation takes.
"""

import os
import sys
import time
from dataclasses import replace

os.environ["ARMTWIN_THREADS"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pinocchio

import armtwin as at
from armtwin.identification.excitation.information import Scales, columns_of, log_det_of
from armtwin.identification.rigid_body.fit.free_parameters import analyse_identifiability
from armtwin.motion.fourier import Harmonics, Shapes
from mechanics import pinocchio_model

QUICK = "--quick" in sys.argv
REPEATS = 2 if QUICK else 30
SAMPLES = 200
STEP = 1e-6
# where Pinocchio has our ten numbers of a body: its inertias are xx, xy, yy, xz, yz, zz
ORDER = [0, 1, 2, 3, 4, 6, 9, 5, 7, 8]


def bodies_of(robot):
    """The robot without drives, whose columns Pinocchio has too."""
    description = robot.description
    return at.Robot(
        replace(description, friction=(), motor=(), gear=None, balancer=(), servo={}),
        robot.origin,
    )


def best(work, repeats):
    """Shortest CPU time of several runs [s]."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main():
    """Print times, their ratio and how far the slopes are apart."""
    robot = bodies_of(at.Robot.load("rx90b"))
    torque = robot.limits.torque
    scales = Scales.of(robot, torque)
    columns = columns_of(robot, robot.limits.velocity)
    harmonics = Harmonics(8.0, 10)
    shapes = harmonics.shapes(harmonics.grid(SAMPLES))
    chance = np.random.default_rng(1)
    free = chance.normal(scale=0.3, size=(shapes.q.shape[1], robot.n))

    def ours():
        motion = Shapes(*(shape @ free for shape in shapes))
        Y = columns.values(motion)
        found = log_det_of(scales.normal(Y))
        by = columns.slopes(motion, scales.by_columns(Y, found.slope))
        slope = shapes.q.T @ by.q + shapes.v.T @ by.v + shapes.a.T @ by.a
        return found.value, slope

    model, data = pinocchio_model(robot)
    kept = list(analyse_identifiability(robot).kept)
    places = np.concatenate([10 * i + np.array(ORDER) for i in range(robot.n)])

    def value(coefficients):
        q, v, a = (shape @ coefficients for shape in shapes)
        Y = np.empty((SAMPLES, robot.n, 10 * robot.n))
        for i in range(SAMPLES):
            Y[i] = pinocchio.computeJointTorqueRegressor(model, data, q[i], v[i], a[i])
        return log_det_of(scales.normal(Y[:, :, places[kept]])).value

    def peer():
        middle = value(free)
        slope = np.empty_like(free)
        for place in np.ndindex(free.shape):
            moved = free.copy()
            moved[place] += STEP
            slope[place] = (value(moved) - middle) / STEP
        return middle, slope

    (f, g), (f_peer, g_peer) = ours(), peer()
    apart = np.abs(g - g_peer).max() / np.abs(g_peer).max()
    mine = best(ours, REPEATS)
    theirs = best(peer, 1 if QUICK else 3)
    count = free.size
    print(f"{count} coefficients, {SAMPLES} samples, {len(kept)} columns")
    print(f"value {f:.9g}, by Pinocchio {f_peer:.9g}; slopes {apart:.1e} apart")
    print(f"ours      {1e3 * mine:9.3f} ms for value and slope")
    print(f"Pinocchio {1e3 * theirs:9.3f} ms for value and differences")
    print(f"ratio     {theirs / mine:9.0f}")
    whole = at.Robot.load("rx90b")
    at.excite(whole, at.ExcitationPlan(starts=2))  # compiles
    start = time.process_time()
    found = at.excite(whole, at.ExcitationPlan(starts=2 if QUICK else 40))
    print(f"search    {time.process_time() - start:9.2f} s for {found!r}")


if __name__ == "__main__":
    main()
