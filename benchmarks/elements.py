"""CPU time of inverse dynamics: finite elements against Newton-Euler, in one run.

python benchmarks/elements.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import armtwin as at
from armtwin.elements import dynamics
from armtwin.elements.placed import tables_of
from armtwin.elements.transfer import empty_state
from armtwin.mechanics import newton_euler
from armtwin.robot.dynamics.structure import structure_of

SAMPLES = 16_000
RATE = 4000.0  # Hz
REPEATS = 5


def motion(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Smooth motion of all joints, as a controller samples it."""
    t = np.arange(SAMPLES)[:, None] / RATE
    w = 1.0 + 0.3 * np.arange(n)
    size = 0.5
    return size * np.sin(w * t), size * w * np.cos(w * t), -size * w * w * np.sin(w * t)


def least(work: Callable[[], None]) -> float:
    """Smallest CPU time of some repeats [s]."""
    work()
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Time both roads on the RX90B, single thread, and say how far they differ."""
    robot = at.Robot.load("rx90b")
    built = structure_of(robot.assembly)
    structure = built.structure
    q, v, a = motion(robot.n)
    tau, other = np.empty_like(q), np.empty_like(q)
    stress = np.empty((SAMPLES, len(structure.row_names)))
    taken = np.zeros(SAMPLES, dtype=np.int64)
    nx = len(structure.reference)
    tables = tables_of(structure)
    state = empty_state(tables, nx)
    past = np.zeros((5, nx))

    def by_elements() -> None:
        x = structure.reference.copy()
        motions = (q, v, a)
        dynamics.inverse_dynamics(tables, *motions, x, state, past, tau, stress, taken)

    def by_newton_euler() -> None:
        assembly = robot.assembly
        newton_euler.inverse_dynamics(assembly.arm, assembly.rotors, q, v, a, other, 0, SAMPLES)

    slow, fast = least(by_elements), least(by_newton_euler)
    for strut in robot.assembly.struts:
        other[:, strut.joint] += strut.torque(q)
    off = np.abs(tau - other).max() / (1 + np.abs(other).max())
    print(f"finite elements  {slow / SAMPLES * 1e6:8.2f} µs a state, {taken.mean():.2f} iterations")
    print(f"Newton-Euler     {fast / SAMPLES * 1e6:8.2f} µs a state")
    print(f"ratio            {slow / fast:8.1f}")
    print(f"torques differ by {off:.1e} (relative)")


if __name__ == "__main__":
    main()
