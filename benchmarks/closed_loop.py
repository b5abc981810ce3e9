"""The closed loop as `simulate` runs it against others, CPU time of one core, in turns.

    python benchmarks/closed_loop.py [--quick] [--former COMMIT]

- the loop of an earlier commit, where one is named, loaded into the same process;
- four runs in the lanes of one kernel against the same four one after the other;
- the same equations in a Python loop over Pinocchio. That peer takes mass matrix and bias from
  Pinocchio; its servo and friction are compiled, its step is numpy. A stronger one has its whole
  step compiled: only the Python loop and four calls stand between it and the kernel.

All take turns, so that a noisy machine is as noisy for each: the least of each is compared, and the
median of the ratios of each turn is given beside it.
"""

import math
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

os.environ["ARMTWIN_THREADS"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pinocchio

import armtwin as at
from armtwin.drives.friction.presliding import advance_bristle, bristle
from armtwin.maths.compiled import compiled
from armtwin.maths.lanes import LANES
from armtwin.maths.machine_code import stretch_kernel
from armtwin.mechanics.mass import solve_in_place
from armtwin.prediction.predict import plan_motion
from armtwin.robot.formats.reading import describe
from armtwin.simulation.kernels import BEFORE, kernel_of, trace_stages
from armtwin.simulation.lanes import Lanes, run_lanes
from armtwin.simulation.loop import FINISHED
from armtwin.simulation.model import Model
from armtwin.simulation.options import RunOptions
from armtwin.simulation.plant import C0, C1, SCALE
from armtwin.simulation.prepared import prepare
from armtwin.simulation.servo_loops import position_tick, velocity_tick
from mechanics import pinocchio_model

QUICK = "--quick" in sys.argv
SECONDS = 0.2 if QUICK else 12.0
PEER_SECONDS = 0.05 if QUICK else 1.0
REPEATS = 1 if QUICK else 9
JOINTS = (1,) if QUICK else (1, 2, 3, 4, 6, 8, 10, 12)


def motion(package, seconds):
    """All joints on sines of different periods, from rest."""
    t = np.arange(0, seconds + 1e-9, 1 / 250)[:, None]
    w = 2 * np.pi * np.array([0.31, 0.37, 0.43, 0.53, 0.61, 0.71])
    size = np.array([0.3, 0.25, 0.3, 0.4, 0.4, 0.5])
    q0 = np.array([0.1, 0.6, 1.3, 0.2, 1.0, 0.1])
    q, v, a = size * (1 - np.cos(w * t)), size * w * np.sin(w * t), size * w * w * np.cos(w * t)
    return package.Trajectory.sampled(250, q0 + q, v, a)


def cases(package):
    """Robot, motion and model of each run that is compared, by name."""
    robot = package.Robot.load("rx90b").with_tool("laser_head")
    runs = {"benchmark motion": (robot, motion(package, SECONDS))}
    if not QUICK:
        predicted = package.predict(robot=None, job=package.Job.load("rx90b_line"))
        runs["default job"] = (predicted.robot, predicted.motion.trajectory)
    found = {}
    for name, (moved, trajectory) in runs.items():
        for joints in ("rigid", "elastic"):
            model = package.Model(joints=joints, quantise=False)
            found[f"{name}, {joints}"] = (moved, trajectory, model)
    return found


def former_cases(commit, folder):
    """The runs of an earlier commit, each done once, and what prepares them."""
    former = import_module("former")  # in its quick mode it turns the compiler off for all
    present = loaded_modules()
    package = former.package(former.checked_out(commit, folder))
    preparing = import_module("armtwin.simulation.prepared").prepare
    found = cases(package)
    for case in found.values():
        preparing(*case).run()
    for name in loaded_modules():
        del sys.modules[name]
    sys.modules.update(present)
    return found, preparing


def loaded_modules():
    """Modules of the package that is loaded."""
    names = [name for name in sys.modules if name.partition(".")[0] == "armtwin"]
    return {name: sys.modules[name] for name in names}


def in_turns(competitors, repeats=REPEATS):
    """Seconds of CPU time of each competitor in each turn.

    A competitor is a function that makes its work ready and returns it; only the work is timed.
    """
    spent = {name: [] for name in competitors}
    for _ in range(repeats):
        for name, ready in competitors.items():
            work = ready()
            start = time.process_time()
            work()
            spent[name].append(time.process_time() - start)
    return {name: np.array(seconds) for name, seconds in spent.items()}


def traced_run(*case, **options):
    """Makes a run of the loop that `simulate` uses ready."""
    return lambda: prepare(*case, RunOptions(**options)).run


def ratio(spent, other, one="traced"):
    """How much faster one is than another: by the least times, and the median of all turns."""
    least = spent[other].min() / spent[one].min()
    return f"{least:.2f} (median of turns {np.median(spent[other] / spent[one]):.2f})"


def show_loops(commit):
    """Print what a tick costs and, where a commit is given, its loop against this one."""
    with tempfile.TemporaryDirectory() as folder:
        before, preparing = former_cases(commit, folder) if commit else ({}, None)
        for name, case in cases(at).items():
            competitors = {"traced": traced_run(*case)}
            if commit:
                old = before[name]
                competitors["former"] = lambda old=old: preparing(*old).run
            in_turns(competitors, 1)
            spent = in_turns(competitors)
            ticks = prepare(*case).inputs.ticks
            print(f"{name}: {1e9 * spent['traced'].min() / ticks:.0f} ns a tick")
            if commit:
                print(f"    former / traced  {ratio(spent, 'former')}")


def show_lanes(robot):
    """Print what a run costs in the lanes of one kernel, and alone."""
    job = at.Job.load("rx90b_line" if QUICK else "kr300_frame")
    other = job.robot()
    for name, case in {
        "RX90B, benchmark motion": (robot, motion(at, SECONDS), Model()),
        f"{job.name}": (other, plan_motion(other, job).trajectory, job.description.model),
    }.items():
        fields = prepare(*case).fields
        kernels = {"alone": kernel_of(fields), "lanes": kernel_of(fields, LANES)}
        competitors = {kind: several(kernel, case) for kind, kernel in kernels.items()}
        in_turns(competitors, 1)
        spent = in_turns(competitors)
        ticks = LANES * prepare(*case).inputs.ticks
        alone, lanes = (1e9 * spent[kind].min() / ticks for kind in kernels)
        print(f"{name}: {alone:.0f} ns a tick and run alone, {lanes:.0f} ns in {LANES} lanes")
        print(f"    alone / lanes {ratio(spent, 'alone', 'lanes')}")


def several(kernel, case):
    """Makes LANES runs ready that a kernel does, as many at once as it can."""

    def ready():
        runs = [prepare(*case) for _ in range(LANES)]
        groups = [runs[k : k + kernel.lanes] for k in range(0, LANES, kernel.lanes)]

        def work():
            for group in groups:
                run_lanes(kernel, group)

        return work

    return ready


def chain(n):
    """A robot of n joints in a row, turned against each other, with friction and a cascade."""
    names = ["base", *(f"link_{i + 1}" for i in range(n))]
    length, mass, gear, rotor, w = 0.3, 3.0, 100.0, 3e-4, 2 * np.pi * 10
    tables = {"name": f"chain of {n}", "gravity": [0, 0, -9.81], "joint": [], "link": []}
    tables |= {"motor": [], "friction": []}
    source = {"source": "assumed: benchmark"}
    for i in range(n):
        turn = math.pi / 2 if i % 2 else -math.pi / 2
        position = [length if i else 0.0, 0.0, 0.0]
        origin = {"position": position, "orientation": {"rpy": [turn, 0.0, 0.0]}}
        joint = {"name": f"joint_{i + 1}", "parent": names[i], "child": names[i + 1]}
        tables["joint"].append(joint | source | {"origin": origin})
        about = {"xx": 0.01, "yy": 0.05, "zz": 0.05}
        body = {"mass": mass, "com": [length / 2, 0, 0], "inertia": about}
        tables["link"].append({"name": names[i + 1], "body": body} | source)
        motor = {"rotor_inertia": rotor, "torque_constant": 0.45, "current_limit": 100.0}
        tables["motor"].append({"name": f"motor_{i + 1}"} | motor | source)
        law = {"law": "coulomb_viscous", "level": 3.0, "viscous": 5.0}
        bristles = {"presliding": {"stiffness": 1e5, "damping": 10.0}}
        tables["friction"].append(
            {"name": f"f_{i + 1}", "on": joint["name"]} | law | bristles | source
        )
    tables["gear"] = {"ratios": [gear] * n} | source
    reach = length * np.arange(n, 0, -1)
    seen = mass * reach**3 / length / 3 / gear**2 + rotor
    gains = {"kp": seen * w**2, "ki": seen * w**2 * 8, "kv": 1.6 * w * seen}
    gains |= {"kvf": gains["kv"], "kafc": seen}
    rates = {"setpoint_rate": 250, "position_rate": 2000, "velocity_rate": 4000}
    cascade = {"kind": "cascade"} | rates | {k: list(map(float, x)) for k, x in gains.items()}
    tables["servo"] = {"cascade": cascade | source}
    return at.Robot(describe(tables, "benchmark"))


def show_joints():
    """Print what a tick costs over the number of joints."""
    costs = []
    for n in JOINTS:
        t = np.arange(0, min(SECONDS, 3.0) + 1e-9, 1 / 250)[:, None]
        w = 2 * np.pi * np.linspace(0.5, 0.8, n)
        q, v, a = 1 - np.cos(w * t), w * np.sin(w * t), w * w * np.cos(w * t)
        case = (chain(n), at.Trajectory.sampled(250, 0.05 * q, 0.05 * v, 0.05 * a), Model())
        work = prepare(*case)
        assert work.run()[0] == FINISHED
        spent = in_turns({"traced": traced_run(*case)})["traced"]
        costs.append(1e9 * spent.min() / work.inputs.ticks)
    listed = ", ".join(f"{n}: {cost:.0f}" for n, cost in zip(JOINTS, costs, strict=True))
    print(f"ns a tick over the number of joints of a chain: {listed}")


def whole(robot, method):
    """Makes a run through at.simulate ready: preparation, tables and log included."""
    trajectory = motion(at, SECONDS)
    return lambda: lambda: at.simulate(robot, trajectory, options=at.RunOptions(method=method))


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
        position_tick(c, sensors, ref, servo, position, tick // c.setpoint_ticks, within)
    velocity_tick(c, sensors, outputs, servo, memory, speed, current)
    for j in range(q.shape[0]):
        tau[j] = 0.0
        for m in range(motors.shape[0]):
            tau[j] += motors[m, j] * outputs.torque[m] * current[m]


@compiled
def peer_friction(rows, curves, numbers, v, z, h, M, force):
    """Friction torques and slopes, compiled, for the peer: added to M and force, both triangles."""
    n = v.shape[0]
    for e in range(rows.shape[0]):
        w = 0.0
        for j in range(n):
            w += rows[e, j] * v[j]
        F, D = bristle(
            curves, e, numbers[e, SCALE], 1.0, numbers[e, C0], numbers[e, C1], w, z[e], h
        )
        for i in range(n):
            force[i] -= F * rows[e, i]
            for j in range(n):
                M[i, j] += 0.5 * h * D * rows[e, i] * rows[e, j]


@compiled
def peer_relax(rows, curves, numbers, middle, z, h):
    """New bristle states, compiled, for the peer."""
    for e in range(rows.shape[0]):
        w = 0.0
        for j in range(middle.shape[0]):
            w += rows[e, j] * middle[j]
        z[e] = advance_bristle(curves, e, numbers[e, SCALE], 1.0, numbers[e, C0], w, z[e], h)


@compiled
def peer_rest(upper, rotors, bias, tau, rows, curves, numbers, q, v, before, z, h, q_mid, M, force):
    """All of a step but Pinocchio's part, compiled, for the strongest peer."""
    length = np.sqrt(0.1625 - 0.04 * np.cos(q_mid[1]))
    bias[1] += (2900 + 10500 * (length - 0.35)) * 0.02 * np.sin(q_mid[1]) / length
    for i in range(q.shape[0]):
        force[i] = tau[i] - bias[i]
        for j in range(i + 1):
            M[i, j] = M[j, i] = upper[j, i] + rotors[i, j]
    peer_friction(rows, curves, numbers, v, z, h, M, force)
    for i in range(q.shape[0]):
        force[i] *= h
    solve_in_place(q, M, force)
    peer_relax(rows, curves, numbers, v + 0.5 * force, z, h)
    for j in range(q.shape[0]):
        before[j] = v[j]
        q[j] += h * (v[j] + 0.5 * force[j])
        v[j] += force[j]


@compiled
def half_a_step_ahead(q, v, before, h, q_mid, v_mid):
    """State for Pinocchio."""
    for j in range(q.shape[0]):
        q_mid[j] = q[j] + 0.5 * h * v[j]
        v_mid[j] = 1.5 * v[j] - 0.5 * before[j]


def peer(robot, seconds, compiled_step):
    """The same scheme in a Python loop over Pinocchio; returns seconds and the end position."""
    model, data = pinocchio_model(robot)
    work = prepare(robot, motion(at, seconds), Model(quantise=False))
    p, c, inputs, state = work.plant, work.controller, work.inputs, work.state
    q, v, z, servo, memory = state.u, state.v, state.z, state.servo, state.memory
    h, rotors, ref = c.tick, p.rotors.inertia, inputs.ref
    motors, rows = p.rows.weights[p.outputs.row], p.rows.weights[p.friction.row]
    curves, numbers = p.friction.curves, p.friction.numbers
    position, speed, current, tau, before, q_mid, v_mid, force, zero = (
        np.zeros(6) for _ in range(9)
    )
    M = np.zeros((6, 6))
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
                )
                continue
            length = (0.1625 - 0.04 * math.cos(q_mid[1])) ** 0.5  # the RX90B's spring
            bias[1] += (2900 + 10500 * (length - 0.35)) * 0.02 * math.sin(q_mid[1]) / length
            upper[lower] = upper.T[lower]
            full, net = upper + rotors, tau - bias
            peer_friction(rows, curves, numbers, v, z, h, full, net)
            dv = solve(full, h * net)
            middle = v + 0.5 * dv
            peer_relax(rows, curves, numbers, middle, z, h)
            q[:] += h * middle
            before[:] = v
            v[:] += dv

    run(0, 5)  # compile
    start = time.process_time()
    run(5, inputs.ticks)
    return (time.process_time() - start) * inputs.ticks / (inputs.ticks - 5), q


def show_stages(robot):
    """Print what the stages of a tick cost, each alone over and over in the middle of a run."""
    work = prepare(robot, motion(at, SECONDS), Model())
    lanes = Lanes(kernel_of(work.fields), [work])
    lanes.run_ticks(0, work.inputs.ticks // 2)
    memories = lanes.memories
    stages, memory = trace_stages(work.fields)
    count = 10 if QUICK else 1500
    print("stages of a tick, each alone [ns]:")
    for name in stages:
        if name == BEFORE:
            continue
        do = stretch_kernel(lambda stretches=stages[name]: (stretches, memory))
        repeat = compiled(repeated(do), f"-{name}", straight=True)
        saved = memories[0].copy()
        repeat(memories, 1)
        runs = []
        for _ in range(5 * REPEATS):
            memories[0][:] = saved
            start = time.process_time()
            repeat(memories, count)
            runs.append(time.process_time() - start)
        memories[0][:] = saved
        print(f"    {name:20}{1e9 * min(runs) / count:7.1f}")


def repeated(do):
    """A kernel that does a stage many times."""

    def repeat(memories, count):
        for _ in range(count):
            do(memories)

    return repeat


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


def show_peers(robot):
    """Print the loop against Python loops over Pinocchio."""
    rigid = Model(quantise=False)
    case = (robot, motion(at, PEER_SECONDS), rigid)
    ours, theirs, strongest = [], [], []
    end = None
    for _ in range(min(REPEATS, 3)):
        ours.append(in_turns({"traced": traced_run(*case)}, 3)["traced"].min())
        seconds, end = peer(robot, PEER_SECONDS, compiled_step=False)
        theirs.append(seconds)
        strongest.append(peer(robot, PEER_SECONDS, compiled_step=True)[0])
    work = prepare(*case)
    work.run()
    apart = float(np.abs(work.state.u - end).max())
    line("Python loop over Pinocchio", PEER_SECONDS / min(theirs))
    line("  with its whole step compiled too", PEER_SECONDS / min(strongest))
    print(
        f"closed loop / Python loop: {min(theirs) / min(ours):.1f}; "
        f"to the compiled step: {min(strongest) / min(ours):.1f}"
    )
    print(f"end positions of both: {apart:.1e} rad apart (the peer takes no substeps)")


def line(what, speed, more=""):
    """Print a speed."""
    print(f"{what:46}{speed:8.0f} x real time{more}")


def show_speeds(robot):
    """Print speeds of the loop and of whole runs."""
    trajectory = motion(at, SECONDS)
    kernels = {
        "closed loop": traced_run(robot, trajectory, Model()),
        "  without friction": traced_run(robot, trajectory, Model(friction="off")),
        "  six elastic joints": traced_run(robot, trajectory, Model(joints="elastic")),
        "  perturbation method": traced_run(robot, trajectory, Model(), method="perturbation"),
    }
    in_turns(kernels, 1)
    spent = in_turns(kernels)
    for name, seconds in spent.items():
        cost = seconds.min() / spent["closed loop"].min()
        line(name, SECONDS / seconds.min(), f", {cost:.2f} times the cost")
    methods = {name: whole(robot, name) for name in ("nonlinear", "perturbation")}
    in_turns(methods, 1)
    spent = in_turns(methods)
    for name, seconds in spent.items():
        line(f"  {name}, preparation and log included", SECONDS / seconds.min())
    print(f"perturbation / nonlinear: {ratio(spent, 'perturbation', 'nonlinear')}")


def show_threads(robot):
    """Print what two runs on two threads cost; this one is wall time."""
    ready = traced_run(robot, motion(at, SECONDS), Model())
    with ThreadPoolExecutor(2) as pool:
        start = time.perf_counter()
        list(pool.map(lambda _: ready()(), range(2 * REPEATS)))
        pair = (time.perf_counter() - start) / (2 * REPEATS)
    line("  two runs on two threads, per run, wall time", SECONDS / pair)


def report():
    """Print speeds and ratios."""
    commit = None
    if "--former" in sys.argv and not QUICK:
        commit = sys.argv[sys.argv.index("--former") + 1]
    robot = at.Robot.load("rx90b").with_tool("laser_head")
    print(f"RX90B with laser head, {SECONDS} s of motion, 4 kHz servo, LuGre friction, one core")
    show_speeds(robot)
    show_threads(robot)
    show_peers(robot)
    show_stages(robot)
    show_lanes(robot)
    show_joints()
    if not QUICK:
        first_calls()
    # last: with two packages loaded, calls from Python into kernels, as the peers', take far longer
    show_loops(commit)


if __name__ == "__main__":
    report()
