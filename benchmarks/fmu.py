"""Units in C against the loops of numba, CPU time of one core, in turns.

    python benchmarks/fmu.py [--quick]

- robots in closed loop, set-point by set-point, driven from C: the RX90B with rigid joints on its
  line, the KR 300 with elastic ones on its frame;
- a transmission on a bench: 20 s under a torque that turns over.

The unit is compiled as it is exported, for any processor of the platform: fused multiply-adds are
used where the processor has them. Beside it stand the same source without them (-DUNFUSED: what an
older processor runs) and compiled for this processor (-march=native), where the compiler can. The
bench's time is that of all of `simulate_bench`, energy account and log included.

The KR 300 ends about 1e-7 rad from numba: its backlash rattles, and a set-point that differs by one
rounding moves the simulation itself by 1e-6 rad.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

os.environ["ARMTWIN_THREADS"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import armtwin as at
from armtwin.exchange.export import OPTIONS, c_compiler
from armtwin.exchange.robot_unit import robot_unit
from armtwin.exchange.transmission_unit import joint_bench, transmission_unit
from armtwin.exchange.unit import source_files
from armtwin.prediction.predict import plan_motion
from armtwin.simulation.prepared import prepare

QUICK = "--quick" in sys.argv
REPEATS = 1 if QUICK else 15
SETPOINTS = 100 if QUICK else None
SECONDS = 0.5 if QUICK else 20.0
KINDS = {"C, exported": (), "C, unfused": ("-DUNFUSED",), "C, native": ("-march=native",)}
JOBS = ("rx90b_line", "kr300_frame")
if QUICK:
    del KINDS["C, native"]
DRIVER = """
#include "fmi2.c"

/* Instantiate, initialise on the first row, take a step to each other one; the last outputs. */
EXPORT int drive(const Reference *in, size_t n, const double *rows, size_t count, double period,
                 const Reference *out, size_t m, double *found)
{
    Callbacks calls = {0};
    void *unit = fmi2Instantiate("one", CO_SIMULATION, GUID, "", &calls, 0, 0);
    int status = fmi2SetupExperiment(unit, 0, 0.0, 0.0, 0, 0.0);
    status |= fmi2EnterInitializationMode(unit) | fmi2SetReal(unit, in, n, rows);
    status |= fmi2ExitInitializationMode(unit);
    for (size_t k = 1; k < count; ++k) {
        status |= fmi2SetReal(unit, in, n, rows + k * n);
        status |= fmi2DoStep(unit, (double)(k - 1) * period, period, 1);
    }
    status |= fmi2GetReal(unit, out, m, found);
    fmi2FreeInstance(unit);
    return status;
}
"""


def driven(folder, unit, options):
    """The unit with its driver, compiled with options; None where the compiler cannot."""
    for name, text in source_files(unit, 2, "x").items():
        (folder / name).write_text(text)
    (folder / "driver.c").write_text(DRIVER)
    library = folder / f"{unit.identifier}{len(list(folder.iterdir()))}.so"
    command = [*c_compiler(), *OPTIONS, *options, "-shared", "driver.c"]
    done = subprocess.run([*command, "-o", str(library), "-lm"], cwd=folder, check=False)
    return ctypes.CDLL(str(library)).drive if done.returncode == 0 else None


def caller(drive, unit, inputs, rows, period, outputs):
    """A function that runs the unit once and returns its last outputs."""
    reference = unit.reference
    first = (ctypes.c_uint * len(inputs))(*(reference[x] for x in inputs))
    second = (ctypes.c_uint * len(outputs))(*(reference[x] for x in outputs))
    table = np.ascontiguousarray(rows)
    found = np.zeros(len(outputs))
    sizes = [ctypes.c_size_t(x) for x in (len(inputs), len(rows), len(outputs))]
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (table, found)]

    def run():
        status = drive(
            first, sizes[0], pointers[0], sizes[1], ctypes.c_double(period), second, sizes[2],
            pointers[1],
        )  # fmt: skip
        assert status == 0
        return found

    return run


def cpu(run):
    """CPU time of a call [s]."""
    before = time.process_time()
    run()
    return time.process_time() - before


def told(what, times, seconds):
    """One line for each contender: times real time, ratio to numba."""
    least = {name: min(values) for name, values in times.items()}
    for name, value in least.items():
        ratio = least["numba"] / value
        median = np.median(np.array(times["numba"]) / np.array(times[name]))
        print(
            f"{what}: {name:>11} {1e3 * value:8.2f} ms CPU, {seconds / value:7.0f} x real time, "
            f"ratio to numba {ratio:.2f} (median of turns {median:.2f})"
        )


def of_robot(folder, job_name):
    """The robot of a job on its path, as the job models it but for the quantisers."""
    job = at.Job.load(job_name)
    robot = job.robot()
    model = replace(job.description.model, quantise=False)
    motion = plan_motion(robot, job).trajectory
    some = slice(0, SETPOINTS)
    motion = at.Trajectory(motion.rate, motion.q[some], motion.v[some], motion.a[some])
    unit = robot_unit(robot, robot.name, model, posture=motion.q[0])
    names = [f"{x}{j}" for x in ("q_ref", "v_ref", "a_ref") for j in range(1, 7)]
    rows = np.hstack([motion.q, motion.v, motion.a])
    outputs = [f"q_link{j}" for j in range(1, 7)]
    runs = {}
    for name, options in KINDS.items():
        drive = driven(folder, unit, options)
        if drive is not None:
            runs[name] = caller(drive, unit, names, rows, 1 / motion.rate, outputs)
    times = {"numba": [], **{name: [] for name in runs}}
    prepare(robot, motion, model).run()
    for _ in range(REPEATS):
        prepared = prepare(robot, motion, model)
        times["numba"].append(cpu(prepared.run))
        for name, run in runs.items():
            times[name].append(cpu(run))
    for name, run in runs.items():
        apart = np.abs(run() - prepared.record.u[-1, :6]).max()
        print(f"{job_name}: {name} ends {apart:.1e} rad from numba")
    told(job_name, times, motion.duration)


def of_transmission(folder):
    """Joint 1 of the KR 300, clamped."""
    bench = joint_bench(at.Robot.load("kr300"), "joint_1")
    unit = transmission_unit(bench, "joint_1")
    time_ = np.linspace(0.0, SECONDS, round(100 * SECONDS) + 1)
    torque = 15.0 * np.sin(2 * np.pi * time_ / 5.0)
    rate = np.append(np.diff(torque) / np.diff(time_), 0.0)
    # what is set before a step is its begin; the first row initialises
    rows = np.column_stack([torque, rate])
    rows = np.vstack([rows[:1], rows[:-1]])
    runs = {}
    for name, options in KINDS.items():
        drive = driven(folder, unit, options)
        if drive is not None:
            inputs = ["torque", "torque_rate"]
            runs[name] = caller(drive, unit, inputs, rows, time_[1], ["motor_angle"])
    wanted = at.simulate_bench(bench, time_, torque).log.q_m[-1, 0]
    times = {"numba": [], **{name: [] for name in runs}}
    for _ in range(REPEATS):
        times["numba"].append(cpu(lambda: at.simulate_bench(bench, time_, torque)))
        for name, run in runs.items():
            times[name].append(cpu(run))
    for name, run in runs.items():
        print(f"bench: {name} ends {abs(run()[0] - wanted):.1e} rad from numba")
    told("bench", times, SECONDS)


def main():
    """Print all ratios."""
    if c_compiler() is None:
        print("no C compiler is found: no ratio")
        return
    with tempfile.TemporaryDirectory() as name:
        for job_name in JOBS:
            of_robot(Path(name), job_name)
        of_transmission(Path(name))


if __name__ == "__main__":
    main()
