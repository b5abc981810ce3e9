"""Motions for friction curves: are limits kept, does the twin run them, is its friction found?

    python studies/friction_motions.py [ROBOT ...]

The twin runs every motion; friction laws are fitted to the curves of its own logs and compared with
the friction that it had in the plateaus (NRMSE), joint by joint. The slowest plateaus have 2 % of
the highest speed, below which nothing is shown.
"""

import sys
import time
from functools import partial
from pathlib import Path

from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.identification.virtual_friction import recover

import armtwin as at
from armtwin.app.excite_command import simulate_twin


def main():
    """Print the motions and the errors of each robot."""
    for name in sys.argv[1:] or ("rx90b", "kr300", "lwa4p", "ur10e"):
        begin = time.process_time()
        robot = at.Robot.load(name)
        found = at.excite_friction(robot, run_twin=partial(simulate_twin, robot))
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
