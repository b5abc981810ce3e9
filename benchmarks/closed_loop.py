"""The closed loop against the same equations in a Python loop over Pinocchio, one core, same run.

    python benchmarks/closed_loop.py [--quick]

The peer takes mass matrix and bias from Pinocchio; its servo and friction are compiled, its step is
numpy. A stronger one has its whole step compiled: only the Python loop and four calls stand between
it and the kernel.
"""

import math
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

os.environ["ARMTWIN_THREADS"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pinocchio

import armtwin as at
from armtwin.drives.friction.presliding import bristle, relaxed
from armtwin.maths.compiled import compiled
from armtwin.mechanics.mass import solve_in_place
from armtwin.simulation import loop
from armtwin.simulation.equations import of_bodies
from armtwin.simulation.model import Model
from armtwin.simulation.perturbation import linear_model
from armtwin.simulation.plant import C0, C1, SCALE
from armtwin.simulation.prepared import prepare
from armtwin.simulation.ticks import position_tick, velocity_tick
from mechanics import pinocchio_model

QUICK = "--quick" in sys.argv
SECONDS = 0.2 if QUICK else 12.0
PEER_SECONDS = 0.05 if QUICK else 1.0
REPEATS = 1 if QUICK else 7


def motion(robot, seconds):
    """All joints on sines of different periods, from rest."""
    t = np.arange(0, seconds + 1e-9, 1 / 250)[:, None]
    w = 2 * np.pi * np.array([0.31, 0.37, 0.43, 0.53, 0.61, 0.71])
    size = np.array([0.3, 0.25, 0.3, 0.4, 0.4, 0.5])
    q0 = np.array([0.1, 0.6, 1.3, 0.2, 1.0, 0.1])
    q, v, a = size * (1 - np.cos(w * t)), size * w * np.sin(w * t), size * w * w * np.cos(w * t)
    return at.Trajectory.sampled(250, q0 + q, v, a)


def timed(robot, model, linear=None):
    """Seconds of CPU time of one run of the kernel."""
    work = prepare(robot, motion(robot, SECONDS), model, linear=linear).arguments
    start = time.process_time()
    ended = loop.run(*work)
    assert ended[0] == loop.FINISHED
    return time.process_time() - start


def whole(robot, method):
    """Seconds of CPU time of a run through at.simulate: preparation, tables and log included."""
    trajectory = motion(robot, SECONDS)
    runs = []
    for _ in range(REPEATS):
        start = time.process_time()
        at.simulate(robot, trajectory, method=method)
        runs.append(time.process_time() - start)
    return min(runs)


@compiled
def servo_tick(
    motors, c, sensors, outputs, ref, servo, memory, q, v, tick, position, speed, current, tau
):
    """Sensors, servo and motors in a tick."""
    within = tick % c.setpoint_ticks
    for m in range(motors.shape[0]):
        position[m], speed[m] = 0.0, 0.0
        for j in range(q.shape[0]):
            position[m] += motors[m, j] * q[j]
            speed[m] += motors[m, j] * v[j]
    if within % c.position_ticks == 0:
        times = (c.tick, c.position_ticks, c.setpoint_ticks, c.given_acceleration)
        position_tick(
            c.gains, c.lateness, times, sensors.scale, sensors.zero, sensors.quantum,
            ref, servo, position, tick // c.setpoint_ticks, within,
        )  # fmt: skip
    velocity_tick(
        c.gains, c.filters, sensors.scale, sensors.speed_quantum, outputs.per_current,
        outputs.limit, outputs.quantum, servo, memory, speed, current,
    )  # fmt: skip
    for j in range(q.shape[0]):
        tau[j] = 0.0
        for m in range(motors.shape[0]):
            tau[j] += motors[m, j] * outputs.torque[m] * current[m]


@compiled
def peer_friction(rows, curves, numbers, v, z, h, M, force, kept):
    """Friction torques and slopes, compiled, for the peer: added to M and force, both triangles."""
    n = v.shape[0]
    for e in range(rows.shape[0]):
        w = 0.0
        for j in range(n):
            w += rows[e, j] * v[j]
        F, D, g, g_slope = bristle(
            curves, e, numbers[e, SCALE], numbers[e, C0], numbers[e, C1], w, z[e], h
        )
        kept[e, 0], kept[e, 1], kept[e, 2] = w, g, g_slope
        for i in range(n):
            force[i] -= F * rows[e, i]
            for j in range(n):
                M[i, j] += 0.5 * h * D * rows[e, i] * rows[e, j]


@compiled
def peer_relax(rows, curves, numbers, middle, z, h, kept):
    """New bristle states, compiled, for the peer."""
    for e in range(rows.shape[0]):
        w = 0.0
        for j in range(middle.shape[0]):
            w += rows[e, j] * middle[j]
        g, slope = kept[e, 1], kept[e, 2]
        z[e] = relaxed(
            curves, e, numbers[e, SCALE], numbers[e, C0], w, z[e], h, kept[e, 0], g, slope
        )


@compiled
def peer_rest(
    upper, rotors, bias, tau, rows, curves, numbers, q, v, before, z, h, q_mid, M, force, kept
):
    """All of a step but Pinocchio's part, compiled, for the strongest peer."""
    length = np.sqrt(0.1625 - 0.04 * np.cos(q_mid[1]))
    bias[1] += (2900 + 10500 * (length - 0.35)) * 0.02 * np.sin(q_mid[1]) / length
    for i in range(q.shape[0]):
        force[i] = tau[i] - bias[i]
        for j in range(i + 1):
            M[i, j] = M[j, i] = upper[j, i] + rotors[i, j]
    peer_friction(rows, curves, numbers, v, z, h, M, force, kept)
    for i in range(q.shape[0]):
        force[i] *= h
    solve_in_place(q, M, force)
    peer_relax(rows, curves, numbers, v + 0.5 * force, z, h, kept)
    loop.keep(q, v, before)
    loop.advance(q, q, v, force, h)


@compiled
def half_a_step_ahead(q, v, before, h, q_mid, v_mid):
    """State for Pinocchio."""
    loop.look_ahead(q, q, v, before, h, q_mid, v_mid)


def peer(robot, seconds, compiled_step):
    """The same scheme in a Python loop over Pinocchio; returns seconds and the end position."""
    model, data = pinocchio_model(robot)
    work = prepare(robot, motion(robot, seconds), Model(quantise=False))
    p, c, inputs, state = work.plant, work.controller, work.inputs, work.state
    q, v, z, servo, memory = state.u, state.v, state.z, state.servo, state.memory
    h, rotors, ref = c.tick, p.rotors.inertia, inputs.ref
    motors, rows = p.rows.weights[p.outputs.row], p.rows.weights[p.friction.row]
    curves, numbers = p.friction.curves, p.friction.numbers
    position, speed, current, tau, before, q_mid, v_mid, force, zero = (
        np.zeros(6) for _ in range(9)
    )
    M, kept = np.zeros((6, 6)), np.zeros((len(rows), 3))
    rnea, crba, solve, lower = (
        pinocchio.rnea,
        pinocchio.crba,
        np.linalg.solve,
        np.tril_indices(6, -1),
    )

    def run(first, last):
        for tick in range(first, last):
            servo_tick(
                motors,
                c,
                p.sensors,
                p.outputs,
                ref,
                servo,
                memory,
                q,
                v,
                tick,
                position,
                speed,
                current,
                tau,
            )
            half_a_step_ahead(q, v, before, h, q_mid, v_mid)
            bias = rnea(model, data, q_mid, v_mid, zero)
            upper = crba(model, data, q_mid)
            if compiled_step:
                peer_rest(
                    upper,
                    rotors,
                    bias,
                    tau,
                    rows,
                    curves,
                    numbers,
                    q,
                    v,
                    before,
                    z,
                    h,
                    q_mid,
                    M,
                    force,
                    kept,
                )
                continue
            length = (0.1625 - 0.04 * math.cos(q_mid[1])) ** 0.5  # the RX90B's spring
            bias[1] += (2900 + 10500 * (length - 0.35)) * 0.02 * math.sin(q_mid[1]) / length
            upper[lower] = upper.T[lower]
            full, net = upper + rotors, tau - bias
            peer_friction(rows, curves, numbers, v, z, h, full, net, kept)
            dv = solve(full, h * net)
            middle = v + 0.5 * dv
            peer_relax(rows, curves, numbers, middle, z, h, kept)
            q[:] += h * middle
            before[:] = v
            v[:] += dv

    run(0, 5)  # compile
    start = time.process_time()
    run(5, inputs.ticks)
    return (time.process_time() - start) * inputs.ticks / (inputs.ticks - 5), q


@compiled
def bodies_alone(arm, rotors, q, v, M, bias, count):
    """Mass matrix and bias, many times over."""
    parent, slides, turn, offset, axis, inertia, gravity = arm
    n = q.shape[0]
    R, P, Ic, L, none = (
        np.empty((n, 3, 3)),
        np.empty((n, 3)),
        np.empty((n, 10)),
        np.zeros((n, n)),
        np.zeros(n),
    )
    w, al, ac, f, t = P.copy(), P.copy(), P.copy(), P.copy(), P.copy()
    for _ in range(count):
        of_bodies(
            (0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0), parent, slides, turn, offset, axis,
            inertia, gravity, rotors, R, P, w, al, ac, f, t, Ic, L, none, q, v, M, bias,
        )  # fmt: skip
        q[0] += 1e-12


@compiled
def servo_alone(
    motors, c, sensors, outputs, ref, servo, memory, q, v, position, speed, current, tau, count
):
    """Servo ticks, many times over."""
    for tick in range(count):
        servo_tick(
            motors,
            c,
            sensors,
            outputs,
            ref,
            servo,
            memory,
            q,
            v,
            tick % 16,
            position,
            speed,
            current,
            tau,
        )


def where_the_time_goes(robot, tick, off):
    """Print the parts of a tick [microseconds];
    friction is the difference of runs with and without it.
    """
    work = prepare(robot, motion(robot, 0.1), Model())
    arm, p, c, inputs, state = (
        robot.assembly.arm,
        work.plant,
        work.controller,
        work.inputs,
        work.state,
    )
    q, v, motors = state.u, state.v, p.rows.weights[p.outputs.row]
    position, speed, current, tau = (np.zeros(6) for _ in range(4))
    count = 200 if QUICK else 40_000
    parts = []
    for work in (
        lambda: bodies_alone(arm, p.rotors.inertia, q, v, np.empty((6, 6)), np.empty(6), count),
        lambda: servo_alone(
            motors,
            c,
            p.sensors,
            p.outputs,
            inputs.ref,
            state.servo,
            state.memory,
            q,
            v,
            position,
            speed,
            current,
            tau,
            count,
        ),
    ):
        work()
        runs = []
        for _ in range(REPEATS):
            start = time.process_time()
            work()
            runs.append(time.process_time() - start)
        parts.append(1e6 * min(runs) / count)
    rest = off - sum(parts)
    print(
        f"a tick of {tick:.2f} us: bodies {parts[0]:.2f}, friction {tick - off:.2f}, "
        f"servo {parts[1]:.2f}, "
        f"solve, energy, log {rest:.2f}"
    )


def first_calls():
    """Seconds of a first simulate in a fresh process, without and with kernels in the cache."""
    script = (
        "import numpy as np, time, armtwin as at\nstart = time.process_time()\n"
        "q = np.tile([0.1, 0.6, 1.3, 0.2, 1.0, 0.1], (26, 1))\n"
        "at.simulate(at.Robot.load('rx90b'), at.Trajectory.sampled(250, q, 0 * q, 0 * q))\n"
        "print(time.process_time() - start)"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "ARMTWIN_CACHE_DIR": folder}
        for what in ("cold, compiling", "from the cache"):
            done = subprocess.run(
                [sys.executable, "-c", script],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            print(f"first simulate in a process, {what}: {float(done.stdout):.1f} s")


def report():
    """Print speeds and ratios."""
    robot = at.Robot.load("rx90b").with_tool("laser_head")
    timed(robot, Model())
    ours = min(timed(robot, Model()) for _ in range(REPEATS))
    off = min(timed(robot, Model(friction="off")) for _ in range(REPEATS))
    line = linear_model(robot, motion(robot, SECONDS), 300)
    linear = min(timed(robot, Model(), line) for _ in range(REPEATS))
    elastic = min(timed(robot, Model(joints="elastic")) for _ in range(REPEATS))
    for method in ("nonlinear", "perturbation"):
        at.simulate(robot, motion(robot, 0.1), method=method)  # compiles, or reads the kernels
    nonlinear, perturbation = whole(robot, "nonlinear"), whole(robot, "perturbation")
    theirs, end = peer(robot, PEER_SECONDS, compiled_step=False)
    strongest, _ = peer(robot, PEER_SECONDS, compiled_step=True)
    work = prepare(robot, motion(robot, PEER_SECONDS), Model(quantise=False))
    work.run()
    apart = float(np.abs(work.state.u - end).max())
    with ThreadPoolExecutor(2) as pool:
        start = time.perf_counter()
        list(pool.map(lambda _: timed(robot, Model()), range(2 * REPEATS)))
        pair = (time.perf_counter() - start) / (2 * REPEATS)
    print(f"RX90B with laser head, {SECONDS} s of motion, 4 kHz servo, LuGre friction, one core")
    print(f"{'closed loop':44}{SECONDS / ours:8.0f} x real time")
    print(
        f"{'  through at.simulate, tables and log included':44}{SECONDS / nonlinear:8.0f} x real "
        "time"
    )
    print(f"{'  without friction':44}{SECONDS / off:8.0f} x real time")
    print(
        f"{'  six elastic joints':44}{SECONDS / elastic:8.0f} x real time, {elastic / ours:.2f} "
        "times the cost"
    )
    print(f"{'  perturbation method, 300 points':44}{SECONDS / linear:8.0f} x real time")
    print(
        f"{'  through at.simulate, linearisation included':44}{SECONDS / perturbation:8.0f} x real "
        f"time; ratio to the nonlinear run {perturbation / nonlinear:.2f}"
    )
    print(f"{'  two runs on two threads, per run':44}{SECONDS / pair:8.0f} x real time")
    print(f"{'Python loop over Pinocchio':44}{PEER_SECONDS / theirs:8.1f} x real time")
    print(f"{'  with its whole step compiled too':44}{PEER_SECONDS / strongest:8.1f} x real time")
    ratio, least = (
        SECONDS / ours / (PEER_SECONDS / theirs),
        SECONDS / ours / (PEER_SECONDS / strongest),
    )
    print(f"ratio closed loop / Python loop: {ratio:.1f}; to the compiled step: {least:.1f}")
    print(
        f"end positions of closed loop and Python loop: {apart:.1e} rad apart (it takes no "
        "substeps)"
    )
    where_the_time_goes(robot, *(1e6 * x / (SECONDS * 4000) for x in (ours, off)))
    if not QUICK:
        first_calls()


if __name__ == "__main__":
    report()
