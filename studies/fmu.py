"""Units of robots against `simulate`, and 1 100 instances of units under leak checkers.

    python studies/fmu.py [INSTANCES]

Robots of the library, with every family of parts, follow a motion of all joints: how far the joints
of the unit are from those simulated. Without quantisers that is rounding, but for hydraulics that
stick and slide by turns; with them it is at most what a step of a current moves, 1e-5 rad.

Instances are made, run and freed in a plain C host under Valgrind and the compiler's LeakSanitizer,
each where it is found. That they would see a leak is shown by a host that does not free its
instances.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import fmpy
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
HOST = ROOT / "tests" / "exchange" / "host.c"

from tests.exchange.conftest import BENT  # noqa: E402
from tests.exchange.test_robot_unit import followed, motion_of  # noqa: E402
from tests.exchange.units import opened  # noqa: E402

import armtwin as at  # noqa: E402
from armtwin.exchange.export import c_compiler  # noqa: E402
from armtwin.exchange.robot_unit import middle  # noqa: E402

INSTANCES = 1100
LEAKED = 9  # exit code of a checker that found something
VALGRIND = ("valgrind", "--quiet", "--leak-check=full", f"--error-exitcode={LEAKED}")
SANITISED = ("-fsanitize=address", "-fno-omit-frame-pointer")


SMOOTH = at.Model(quantise=False)
BUILT = replace(SMOOTH, joints="elastic", links="elastic")
OIL = replace(SMOOTH, servo="proportional", friction="arctan")
CASES = [
    ("rx90b", SMOOTH),
    ("rx90b", at.Model()),
    ("rx90b", replace(SMOOTH, servo="cs7b")),
    ("rx90b", replace(SMOOTH, friction="switching")),
    ("rx90b", at.Model(friction="switching")),
    ("rx90b", replace(SMOOTH, joints="elastic")),
    ("tx40", SMOOTH),
    ("lwa4p", SMOOTH),
    ("kr300", replace(SMOOTH, joints="elastic")),
    ("kr300", BUILT),
    ("kr300", replace(BUILT, friction="switching")),
    ("epaas", OIL),
    ("epaas", replace(OIL, valves="delay")),
    ("epaas", replace(OIL, friction="switching")),
    ("epaas_bench", replace(OIL, friction="switching")),
]


def compare_with_simulation(folder: Path) -> None:
    """Print how far units are from `simulate`."""
    for k, (name, model) in enumerate(CASES):
        robot = at.Robot.load(name)
        start = BENT if name == "kr300" else middle(robot)
        motion = motion_of(robot, model, start, 0.5)
        path = folder / f"case_{k}.fmu"
        at.export_fmu(robot, path, at.WholeRobot(model, start))
        with opened(path, folder) as unit:
            q, _, _ = followed(unit, motion)
        log = at.simulate(robot, motion, model).log
        apart, moved = np.abs(q - log.q).max(), np.ptp(log.q, axis=0).max()
        steps = "in steps" if model.quantise else "without steps"
        words = f"{model.words}, {model.friction} friction, servo {model.servo}, {steps}"
        print(f"{name}, {words}: {apart:.1e} rad apart of {moved:.2g} moved")


def units(folder: Path) -> list[tuple[str, Path, tuple[str, str, str]]]:
    """A transmission and a robot in both versions, with the input, rate and output to use."""
    robot = at.Robot.load("kr300")
    found = []
    for version in (2, 3):
        joint = folder / f"joint_{version}.fmu"
        at.export_fmu(robot, joint, at.OneJoint(1), fmi=version)
        found.append((f"joint, FMI {version}", joint, ("torque", "torque_rate", "motor_angle")))
        whole = folder / f"robot_{version}.fmu"
        at.export_fmu(robot, whole, at.WholeRobot(at.Model(joints="elastic")), fmi=version)
        found.append((f"robot, FMI {version}", whole, ("load1", "load2", "q1")))
    return found


def built(folder: Path, name: str, *options: str) -> Path | None:
    """The host with options, or None where the compiler does not know them."""
    compiler = c_compiler()
    assert compiler is not None
    target = folder / name
    command = [*compiler, "-std=gnu99", "-g", "-O1", *options, str(HOST), "-o", str(target), "-ldl"]
    done = subprocess.run(command, capture_output=True, check=False)
    return target if done.returncode == 0 else None


def checked(
    host: Path, path: Path, names: tuple[str, str, str], instances: int, around: tuple[str, ...]
) -> tuple[int, str, float]:
    """Exit code, what the checker says, and CPU time of a run."""
    described = fmpy.read_model_description(str(path))
    version = int(described.fmiVersion[0])
    token = described.guid if version == 2 else described.instantiationToken
    reference = {x.name: str(x.valueReference) for x in described.modelVariables}
    with zipfile.ZipFile(path) as archive:
        (member,) = [x for x in archive.namelist() if x.startswith("binaries/")]
        library = path.with_suffix(".so")
        library.write_bytes(archive.read(member))
    rows = "\n".join(f"{0.004 * k} {2.0 * np.sin(k)} 0.0" for k in range(4))
    words = [str(library), token, str(version), str(instances)]
    command = [*around, str(host), *words, *(reference[name] for name in names)]
    before = time.perf_counter()
    done = subprocess.run(command, input=rows, capture_output=True, text=True, check=False)
    said = re.findall(r"(?:definitely lost: .*|SUMMARY: .*)", done.stderr)
    return done.returncode, said[0] if said else "", time.perf_counter() - before


def main() -> int:
    """Print a row for each unit and checker; exit code 1 where something leaks."""
    instances = int(sys.argv[1]) if len(sys.argv) > 1 else INSTANCES
    if c_compiler() is None:
        print("no C compiler is found: nothing can be run")
        return 2
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compare_with_simulation(folder)
        plain, leaking = built(folder, "host"), built(folder, "leaking", "-DLEAKS")
        sanitised = built(folder, "sanitised", *SANITISED)
        also_leaking = built(folder, "also_leaking", *SANITISED, "-DLEAKS")
        checkers = []
        if shutil.which("valgrind"):
            checkers.append(("valgrind", plain, leaking, VALGRIND))
        if sanitised is not None:
            checkers.append(("LeakSanitizer", sanitised, also_leaking, ()))
        if not checkers:
            print("neither valgrind nor LeakSanitizer is found")
            return 2
        for what, path, names in units(folder):
            for checker, host, bad_host, around in checkers:
                code, said, seconds = checked(host, path, names, instances, around)
                bad_code, bad_said, _ = checked(bad_host, path, names, 3, around)
                seen = "sees" if bad_code != 0 else "DOES NOT SEE"
                failed |= code != 0 or bad_code == 0
                print(
                    f"{what}, {checker}: {instances} instances, exit code {code} "
                    f"{said or '(no leak)'}, {seconds:.1f} s; it {seen} three that are not freed "
                    f"({bad_said or f'exit code {bad_code}'})"
                )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
