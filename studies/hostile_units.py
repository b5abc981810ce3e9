"""External FMUs that wish no good: archives that lie, code that hangs, forks, writes and lies.

    python studies/hostile_units.py

Every one of them (tests/exchange/hostile.py) is run alone as a partner of a robot: what is said of
it, how much longer than its limit it took, which processes and folders it has left behind. The
last line counts those that were neither refused by their sentence nor run, were ended later than a
second after their limit or left something: 0 is the claim of docs/fmu.md.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.exchange import hostile  # noqa: E402

import armtwin as at  # noqa: E402
from armtwin.exchange import external_fmu  # noqa: E402
from armtwin.files.opening import Kind  # noqa: E402

LATE = 1.0  # time beyond its limit within which a unit must be ended [s]


def main() -> None:
    """Run all units one after another."""
    external_fmu.STARTING = hostile.START
    robot = at.Robot.load("rx90b")
    robot.forward_kinematics([0.0] * robot.n)
    failed = count = 0
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        folder, temporary = Path(name), Path(name, "temporary")
        temporary.mkdir()
        tempfile.tempdir = str(temporary)
        os.environ["ELSEWHERE"], os.environ[hostile.MARK] = str(folder / "elsewhere"), name
        for unit, path, wanted in units_in(folder):
            external_fmu.UNIT = Kind("a unit", hostile.BOMB_SIZE if unit == "bomb" else 512 << 20)
            found = hostile.run_unit(path, robot)
            left = list_left(folder)
            is_right = bool(re.search(wanted, found.sentence)) and found.late < LATE and not left
            count, failed = count + 1, failed + (not is_right)
            mark = "" if is_right else "WRONG "
            sentence = found.sentence.replace(f"{path}: ", "")
            print(f"{mark}{unit}: {sentence:.100} ({max(found.late, 0.0):.2f} s late) {left or ''}")
    print(f"{count} units, {failed} of them neither refused nor run rightly, late or left behind")


def list_left(folder: Path) -> list[str]:
    """Processes of a unit, and files of it that are still there after some time."""
    left = [str(x) for x in hostile.processes_marked(str(folder)) if not is_ours(x)]
    written = (folder / "temporary").iterdir
    hostile.wait_until(lambda: not list(written()), hostile.REMOVAL)
    left += [x.name for x in written()]
    left += [x.name for x in folder.glob("elsewhere")]
    return left


def is_ours(process: int) -> bool:
    """Whether it is this program, or removes what a unit wrote."""
    name = Path(f"/proc/{process}/comm").read_text()
    return process == os.getpid() or name.strip() == "rm"


def units_in(folder: Path) -> list[tuple[str, Path, str]]:
    """All units with their files and what is said of them."""
    units = []
    for k, (name, (write, wanted)) in enumerate({**hostile.ARCHIVES, **hostile.UNITS}.items()):
        path = folder / f"archive_{k}.fmu"
        write(path)
        units.append((name, path, wanted))
    code = hostile.library(folder)
    for wish, wanted in hostile.WISHES.items():
        units.append((wish, hostile.wishing(folder, code, wish), wanted))
    return units


if __name__ == "__main__":
    main()
