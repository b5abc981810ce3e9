"""Where the time of a prediction goes, for a job of 12 s and one of ten minutes; peers for its
parts in the same run.

    python benchmarks/predict.py [--quick]

Peers: the inverse kinematics against Newton's method on Pinocchio's Jacobian from pose to pose; the
path error against a nearest-neighbour tree (scipy's cKDTree) over the seam sampled every 20 µm.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

os.environ["ARMTWIN_THREADS"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pinocchio
from scipy.spatial import cKDTree

import armtwin as at
from armtwin.jobs.forces import Acting
from armtwin.jobs.groups import Segment, ToolOrientation
from armtwin.prediction.path_error import path_error
from armtwin.prediction.predict import check_limits, plan_motion
from armtwin.prediction.verdict import verdict_on
from armtwin.report.result_file import to_result
from armtwin.robot.schema.groups import Orientation, Pose
from mechanics import pinocchio_model

QUICK = "--quick" in sys.argv
LAYERS = 1 if QUICK else 10
LANES = 3 if QUICK else 14
REPEATS = 1 if QUICK else 5
PEER_POSES = 50 if QUICK else 1000


def cladding() -> at.Job:
    """Lanes of 400 mm, 20 mm apart, back and forth, layer upon layer: ten minutes at 100 mm/s."""
    job = at.Job.load("rx90b_line")
    xs = [0.02 * k for k in range(LANES)]
    order = [x for layer in range(LAYERS) for x in (xs if layer % 2 == 0 else xs[::-1])]
    order = [x for k, x in enumerate(order) if k == 0 or x != order[k - 1]]
    corners, up = [], False
    for x in order:
        corners += [(x, 0.4 * up, 0.0), (x, 0.4 * (not up), 0.0)]
        up = not up
    segments = [Segment(name=f"{k}", lin=p, blend=0.007) for k, p in enumerate(corners[1:], 1)]
    segments[-1] = replace(segments[-1], blend=None)
    d = replace(
        job.description,
        start=corners[0],
        segment=tuple(segments),
        posture=None,
        workpiece=Pose(position=(0.45, -0.2, 0.1)),
        orientation=ToolOrientation(Orientation(rpy=(np.pi, 0.0, np.pi))),
    )
    return at.Job(d)


def split(job: at.Job, folder: Path) -> tuple[dict[str, float], at.Prediction]:
    """Seconds of each stage of a prediction."""
    robot = job.robot()
    stages, clock = {}, time.perf_counter()

    def lap(name: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        stages[name], clock = now - clock, now

    seam = at.Job(job.description, job.origin).seam
    seam.frames(seam.command(seam.times(250)).s)
    lap("path")
    motion = plan_motion(robot, job)
    lap("inverse kinematics")
    found = check_limits(robot, job, motion)
    lap("limits")
    run = at.simulate(robot, motion.trajectory, job.description.model)
    lap("simulation")
    error = path_error(job.seam, run.trace_time, robot.forward_kinematics(run.link_side))
    verdict = verdict_on(job, error, run.log.events)
    lap("path error, verdict")
    outside = Acting()
    prediction = at.Prediction(
        job, robot, None, "nonlinear", motion, outside, found, run, error, verdict
    )
    (folder / "result.json").write_text(json.dumps(to_result(at.Answer(prediction).sections())))
    run.log.write(folder / "log.csv")
    lap("writing")
    return stages, prediction


def used(*command: str) -> float:
    """Least CPU seconds of a Python process, as a shell starts it."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    runs = []
    for _ in range(REPEATS + 1):  # the first writes what Python keeps of the sources
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *command], env=environment, capture_output=True, check=False
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        runs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(runs[1:])


def show_command(folder: str) -> None:
    """Print what the command takes from the shell to its report, kernels in the cache."""
    words = ("-m", "armtwin", "predict", "rx90b_line", "--nominal")
    words = (*words, "--out", f"{folder}/out", "--force")
    total, numba = used(*words), used("-c", "import numba")
    rooms, command = used("-c", "import armtwin"), used("-m", "armtwin", "--version")
    print(
        f"armtwin predict rx90b_line --nominal, warm: {total:.2f} s CPU; ratio to importing numba "
        f"{total / numba:.1f}"
    )
    print(
        f"  numba {numba:.2f}, robots {rooms - numba:.2f}, command line {command - rooms:.2f}, "
        f"the job {total - command:.2f} s"
    )


def peer_inverse(p: at.Prediction) -> float:
    """Seconds a pose takes by Newton's method on Pinocchio, from the pose before."""
    model, _ = pinocchio_model(p.robot)
    body, X_BT = p.robot.assembly.frame("tool")
    place = pinocchio.SE3(X_BT[:3, :3], X_BT[:3, 3])
    frame = model.addFrame(
        pinocchio.Frame("tool", body + 1, 0, place, pinocchio.FrameType.OP_FRAME)
    )
    data = model.createData()
    q = p.motion.trajectory.q
    X = p.robot.forward_kinematics(q[:: max(1, len(q) // PEER_POSES)])
    joint = q[0].copy()
    start = time.perf_counter()
    for pose in X:
        goal = pinocchio.SE3(pose[:3, :3], pose[:3, 3])
        for _ in range(50):
            pinocchio.framesForwardKinematics(model, data, joint)
            error = pinocchio.log6(data.oMf[frame].actInv(goal)).vector
            if np.abs(error).max() < 1e-10:
                break
            J = pinocchio.computeFrameJacobian(
                model, data, joint, frame, pinocchio.ReferenceFrame.LOCAL
            )
            joint += np.linalg.solve(J, error)
    return (time.perf_counter() - start) / len(X)


def peer_error(p: at.Prediction) -> float:
    """Seconds a sample takes by the nearest of seam points 20 µm apart."""
    start = time.perf_counter()
    s = np.arange(0, p.job.seam.length, 2e-5)
    jet, E, _ = p.job.seam.frames(s)
    point = p.robot.forward_kinematics(p.run.link_side)[:, :3, 3]
    _, near = cKDTree(jet.p).query(point)
    e = point - jet.p[near]
    np.einsum("mi,mij->mj", e, E[near])
    return (time.perf_counter() - start) / len(point)


def show(name: str, stages: dict[str, float], p: at.Prediction) -> None:
    """Print the split of a prediction."""
    total, seconds = sum(stages.values()), p.job.seam.duration
    print(f"{name}: {seconds:.0f} s of motion in {total:.2f} s, {seconds / total:.0f} x real time")
    for stage, value in stages.items():
        print(f"  {stage:22}{1e3 * value:9.1f} ms  {100 * value / total:4.0f} %")


with tempfile.TemporaryDirectory() as folder:
    at.predict(at.Job.load("rx90b_line"))  # compiles, or reads the kernels
    stages, line = split(at.Job.load("rx90b_line"), Path(folder))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    show("rx90b_line", stages, line)
    show_command(folder)
    long_stages, clad = split(cladding(), Path(folder))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    show("cladding", long_stages, clad)
    times = clad.job.seam.duration / line.job.seam.duration
    grown = sum(long_stages.values()) / sum(stages.values())
    print(
        f"{times:.0f} x the motion takes {grown:.0f} x the time; ratio {grown / times:.2f} "
        "(1: linear)"
    )
    for stage in stages:
        print(f"  ratio of {stage}: {long_stages[stage] / stages[stage] / times:.2f}")
    print(
        f"peak memory {before / 1024:.0f} MB after the short job, {after / 1024:.0f} MB after the "
        "long one"
    )
    own = stages["inverse kinematics"] / len(line.motion.trajectory.q)
    ratio = peer_inverse(line) / own
    print(
        f"inverse kinematics with speeds: {1e6 * own:.1f} us a set-point; ratio to Newton on "
        f"Pinocchio {ratio:.0f}"
    )
    own = stages["path error, verdict"] / len(line.run.link_side)
    print(
        f"path error: {1e6 * own:.2f} us a sample; ratio to a nearest-neighbour tree "
        f"{peer_error(line) / own:.1f}"
    )
