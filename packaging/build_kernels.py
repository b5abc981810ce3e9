"""Compiles the kernels of all shipped robots for most processors, to be part of a wheel.

python packaging/build_kernels.py     # into src/armtwin/kernels, which the wheel takes along
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "src" / "armtwin" / "kernels"

# What users begin with: each line is run by a process of its own, two at a time.
COMMANDS = (
    "demo",
    "predict rx90b_line --advise",
    "predict lwa4p_bead",
    "predict kr300_frame",
    "predict ur10e_bead",
    "analyse rx90b torques",
    "analyse kr300 modes",
    "excite rx90b",
    "correct rx90b_line",
)
CALLS = """
import numpy as np
import armtwin as at

for name in at.robots().table["name"]:
    robot = at.Robot.load(name)
    q, v, a = np.full((3, 2, robot.n), 0.3)
    robot.forward_kinematics(q)
    robot.jacobian(q)
    robot.regressor(q, v, a)
    robot.mass_matrix(q)
    robot.bias(q, v)
    robot.linearise(q, v, a)
    robot.energy(q, v)
    robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a))
"""


def environment(cache: Path) -> dict[str, str]:
    """What makes numba compile for the processors of shipped kernels."""
    from armtwin.maths.compiled import SHIPPED_CPU

    name, features = SHIPPED_CPU
    return {
        **os.environ,
        "ARMTWIN_CACHE_DIR": str(cache),
        "NUMBA_CPU_NAME": name,
        "NUMBA_CPU_FEATURES": features,
    }


def build(commands: tuple[str, ...], calls: str, kernels: Path) -> None:
    """Run commands and calls with an empty cache, and keep what they compiled.

    Args:
        commands: Words of the command line each.
        calls: A script, run first.
        kernels: Folder of the package for kernels.
    """
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        cache = here / "cache"
        cache.mkdir(mode=0o700)
        variables = environment(cache)
        words = [[sys.executable, "-c", calls]]
        words += [[sys.executable, "-m", "armtwin", *line.split(), "--json"] for line in commands]
        for line in words:
            done = subprocess.run(line, cwd=here, env=variables, capture_output=True, text=True)
            if done.returncode > 1:
                sys.exit(f"{' '.join(line[-3:])}: {done.stderr}")
        (made,) = (cache / "kernels").iterdir()
        shutil.rmtree(kernels, ignore_errors=True)
        shutil.copytree(made, kernels / made.name)
    files = [path for path in kernels.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    print(json.dumps({"files": len(files), "megabytes": round(size / 1e6, 1)}))


if __name__ == "__main__":
    build(COMMANDS, CALLS, KERNELS)
