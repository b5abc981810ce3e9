"""Batches of the mechanics kernels against a Python loop over Pinocchio, one core, same run.

    python benchmarks/mechanics.py [--quick]

Prints microseconds per sample, CPU time, and ratios; the ratios are what may be compared between
machines.
"""

import os
import subprocess
import sys
import time
from dataclasses import replace

os.environ["ARMTWIN_THREADS"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pinocchio

import armtwin as at

QUICK = "--quick" in sys.argv
SAMPLES, REPEATS = (200, 2) if QUICK else (10_000, 9)
EDGES = [SAMPLES // 100, SAMPLES // 10, SAMPLES - 1, SAMPLES]  # rows of a batch


def best(work):
    """Shortest CPU time of several runs [s]."""
    work()
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def pinocchio_model(robot):
    """The robot's bodies in Pinocchio."""
    model = pinocchio.Model()
    tens = robot.parameters[: 10 * robot.n].reshape(-1, 10)
    for i, (joint, t) in enumerate(zip(robot.assembly.tree.joints, tens, strict=True)):
        X, axis = joint.origin.matrix(), np.array(joint.axis) / np.linalg.norm(joint.axis)
        place = pinocchio.SE3(X[:3, :3], X[:3, 3])
        letter = (
            "xyz"[int(np.argmax(np.abs(axis)))] if np.abs(axis).max() == axis.max() == 1 else ""
        )
        aligned = {
            "x": pinocchio.JointModelRX,
            "y": pinocchio.JointModelRY,
            "z": pinocchio.JointModelRZ,
        }
        kind = aligned[letter]() if letter else pinocchio.JointModelRevoluteUnaligned(axis)
        model.addJoint(i, kind, place, joint.name)
        m, c = t[0], t[1:4] / t[0]
        J = np.array([[t[4], t[7], t[8]], [t[7], t[5], t[9]], [t[8], t[9], t[6]]])
        body = pinocchio.Inertia(m, c, J - m * ((c @ c) * np.eye(3) - np.outer(c, c)))
        model.appendBodyToJoint(i + 1, body, pinocchio.SE3.Identity())
    return model, model.createData()


def peers(model, data, q, v, a, tau):
    """Python loops over Pinocchio that fill an array, as its users write them, by name."""

    def loop(call, shape, *arguments, given=None):
        """A call for each sample; its result is a row of an array."""

        def work():
            out = np.empty((SAMPLES, *shape)) if given is None else given
            for i in range(SAMPLES):
                out[i] = call(model, data, *(x[i] for x in arguments))

        return work

    def place(model, data, q):
        pinocchio.forwardKinematics(model, data, q)
        return data.oMi[6].homogeneous

    def jacobian(model, data, q):
        pinocchio.computeJointJacobians(model, data, q)
        return pinocchio.getJointJacobian(model, data, 6, pinocchio.LOCAL_WORLD_ALIGNED)

    columns = pinocchio.computeJointTorqueRegressor
    return {
        "forward kinematics": loop(place, (4, 4), q),
        "jacobian": loop(jacobian, (6, 6), q),
        "inverse dynamics": loop(pinocchio.rnea, (6,), q, v, a),
        "mass matrix": loop(pinocchio.crba, (6, 6), q),
        "forward dynamics": loop(pinocchio.aba, (6,), q, v, tau),
        "regressor": loop(columns, (6, 60), q, v, a),
        "regressor, out=": loop(columns, (6, 60), q, v, a, given=np.zeros((SAMPLES, 6, 60))),
        "linearisation": loop(pinocchio.computeRNEADerivatives, (3, 6, 6), q, v, a),
    }


def ours(robot, q, v, a, tau):
    """The same questions to our robot, by name."""
    Y = robot.regressor(q, v, a)
    return {
        "forward kinematics": lambda: robot.forward_kinematics(q),
        "jacobian": lambda: robot.jacobian(q),
        "inverse dynamics": lambda: robot.inverse_dynamics(q, v, a),
        "mass matrix": lambda: robot.mass_matrix(q),
        "forward dynamics": lambda: robot.forward_dynamics(q, v, tau),
        "regressor": lambda: robot.regressor(q, v, a),
        "regressor, out=": lambda: robot.regressor(q, v, a, out=Y),
        "linearisation": lambda: robot.linearise(q, v, a),
    }


def of_one(robot, state):
    """CPU time of a thousand inverse dynamics of one state [s]."""

    def work():
        for _ in range(1000):
            robot.inverse_dynamics(*state)

    return best(work)


def report():
    """Print the table for the RX90B with its head, as bodies only and as a whole robot."""
    robot = at.Robot.load("rx90b").with_tool("laser_head")
    none = {"motor": (), "gear": None, "balancer": (), "friction": (), "servo": {}}
    bodies = at.Robot(replace(robot.description, **none))
    q, v, a = np.random.default_rng(0).normal(size=(3, SAMPLES, 6))
    tau = bodies.inverse_dynamics(q, v, a)
    theirs = peers(*pinocchio_model(robot), q, v, a, tau)
    of_bodies, of_whole = (ours(r, q, v, a, tau) for r in (bodies, robot))
    print(f"RX90B with laser head, batch of {SAMPLES}, one core, microseconds per sample")
    print("whole robot: with rotors, spring and (regressor: 82 columns for 60) friction")
    print(
        f"{'':18}{'bodies':>8}{'whole robot':>13}{'Pinocchio loop':>16}"
        f"{'ratio bodies':>14}{'ratio whole':>13}"
    )
    for name, loop in theirs.items():
        works = (of_bodies[name], of_whole[name], loop)
        body, whole, peer = (best(work) / SAMPLES * 1e6 for work in works)
        times = f"{body:8.2f}{whole:13.2f}{peer:16.2f}"
        print(f"{name:18}{times}{peer / body:14.1f}{peer / whole:13.1f}")
    one = q[0], v[0], a[0]
    print(f"inverse dynamics of one state: {1e3 * of_one(robot, one):.1f} us", end="; ")
    rows = []
    for m in EDGES:
        each = best(lambda m=m: robot.inverse_dynamics(q[:m], v[:m], a[:m])) / m
        rows.append(f"{1e6 * each:.3f} of {m}")
    print(f"a row {', '.join(rows)} us")
    X = robot.forward_kinematics(q[:200])
    single = best(lambda: [robot.inverse_kinematics(x) for x in X]) / len(X) * 1e6
    path = robot.forward_kinematics(
        np.linspace([0, 0.5, 1, 0, 1, 0], [0.5, 0.8, 0.7, 0.5, 0.7, 0.5], 2000)
    )
    follow = best(lambda: robot.follow(path, [0, 0.5, 1, 0, 1, 0])) / len(path) * 1e6
    print(
        f"inverse kinematics: {single:.0f} us for one pose with all solutions, {follow:.1f} "
        "us a pose along a path"
    )


def import_times():
    """Time of `import armtwin` against what it stands on, each in fresh interpreters."""
    times = {}
    for script in ("import numpy, numba", "import armtwin"):
        runs = []
        for _ in range(2 if QUICK else 7):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", script], check=True)
            runs.append(time.perf_counter() - start)
        times[script] = min(runs)
    ratio = times["import armtwin"] / times["import numpy, numba"]
    print(f"import armtwin: {times['import armtwin']:.2f} s, {ratio:.2f} x import numpy, numba")


if __name__ == "__main__":
    report()
    import_times()
