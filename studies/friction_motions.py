"""Motions for friction curves: are limits kept, does the twin run them, is its friction found?

    python studies/friction_motions.py [ROBOT ...]

The twin runs every motion; friction laws are fitted to the curves of its own logs and compared with
the friction that it had in the plateaus (NRMSE), joint by joint. Numbers of docs/chapter_3.md.
"""

import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))

import armtwin as at
from armtwin.app.excite_command import _run_twin
from armtwin.prediction.compare_reference import usual_model

SETTLED = 0.3  # seconds after a change of speed, which do not count


def steady(motion, time_, j):
    """Samples of a log in which a joint moves at a constant speed, and the speeds (m, n)."""
    v = np.stack([np.interp(time_, motion.time, x) for x in motion.v.T], axis=1)
    rate = (len(time_) - 1) / np.ptp(time_)
    changes = np.abs(np.gradient(v[:, j])) > 1e-9
    near = np.convolve(changes, np.ones(2 * round(SETTLED * rate) + 1), "same") > 0
    return (np.abs(v[:, j]) > 0) & ~near, v


def recover(robot, found, law):
    """NRMSE of the friction of joints that move alone, by name [%]."""
    runs = {}
    for name, one in found.motions.items():
        runs[name] = at.simulate(robot, one.trajectory, usual_model(robot)).log
    logs = [at.Log.of(run.time, q=run.q, v=run.v, tau=run.tau) for run in runs.values()]
    fit = at.fit_friction(robot, at.curves_of_logs(robot, logs), law=law)
    errors = {}
    for j, name in enumerate(robot.joint_names):
        run = runs[name]
        chosen, v = steady(found.motions[name].trajectory, run.time, j)
        truth = run.tau_friction[chosen, j]
        told = fit.robot.friction_torque(v[chosen], run.q[chosen])[:, j]
        errors[name] = 100 * np.linalg.norm(told - truth) / np.linalg.norm(truth)
    return errors


def main():
    """Print the motions and the errors of each robot."""
    for name in sys.argv[1:] or ("rx90b", "kr300", "lwa4p", "ur10e"):
        begin = time.process_time()
        robot = at.Robot.load(name)
        found = at.excite_friction(robot, run_twin=partial(_run_twin, robot))
        law = None if name == "ur10e" else "file"  # its file has terms that were identified
        errors = recover(robot, found, law)
        use = max(one.use.largest for one in found.motions.values())
        run = sum(one.twin is not None and one.twin.runs for one in found.motions.values())
        print(f"{name}: {found.sections().verdict[0].text} The twin runs {run}; ", end="")
        print(f"at most {100 * use:.0f} % of a limit, ten times denser.")
        print("  friction NRMSE %: ", end="")
        print(", ".join(f"{key} {error:.2f}" for key, error in errors.items()), end="; ")
        print(f"{time.process_time() - begin:.0f} s of CPU time")


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
