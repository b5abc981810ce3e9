"""Runs the cases of same_results_cases.py, each in a process of its own, into one folder."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import armtwin
from same_results_cases import CASES
from same_results_inputs import INPUTS, write_inputs

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
ENDINGS = {"{folder}": "{name}", "{robot}": "{name}/robot.toml", "{urdf}": "{name}/robot.urdf"}


def run_cases(folder: Path, only: Sequence[str]) -> int:
    """Run all cases, or some with what they read; exit code 1 where one ends in an error of ours.

    Every case runs in the folder, so that its texts hold the same paths wherever the folder is.
    """
    unknown = [name for name in only if name not in CASES]
    if unknown:
        print(f"no such case: {', '.join(unknown)}. Known: {', '.join(CASES)}")
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    _copy_data(folder)
    write_inputs(folder / INPUTS)
    broken, total = [], 0.0
    for name in _with_sources(only) if only else CASES:
        absent = [file for file in _data_files(CASES[name]) if not (folder / file).exists()]
        if absent:
            print(f"{name}: skipped, {absent[0]} is not on this machine", flush=True)
            continue
        code, seconds = run_case(folder, name)
        total += seconds
        broken += [name] if code > 2 else []
        print(f"{name}: exit {code}, {seconds:.1f} s of CPU time", flush=True)
    print(f"{total:.0f} s of CPU time in all; ended in an error of ours: {broken or 'none'}")
    return 1 if broken else 0


def run_case(folder: Path, name: str) -> tuple[int, float]:
    """Exit code and CPU time [s] of one case; its folder is made anew."""
    shutil.rmtree(folder / name, ignore_errors=True)
    words = [sys.executable, "-m", "armtwin", *shlex.split(_line(name))]
    if "{folder}" not in CASES[name]:
        (folder / name).mkdir()
    before = os.times()
    done = subprocess.run(
        words, cwd=folder, env=_environment(), capture_output=True, text=True, encoding="utf-8"
    )
    after = os.times()
    (folder / name).mkdir(exist_ok=True)
    outcome = {"exit": done.returncode, "stderr": done.stderr}
    text = json.dumps(outcome, indent=1, ensure_ascii=False)
    (folder / name / "outcome.json").write_text(text, encoding="utf-8")
    (folder / name / "stdout.txt").write_text(done.stdout, encoding="utf-8")
    user = after.children_user - before.children_user
    return done.returncode, user + after.children_system - before.children_system


def _line(name: str) -> str:
    line = CASES[name]
    for mark, place in ENDINGS.items():
        line = line.replace(mark, f"--out {place.format(name=name)}")
    return line


def _environment() -> dict[str, str]:
    """One thread of linear algebra and a fixed width, with the armtwin that this Python imports."""
    sources = str(Path(armtwin.__file__).resolve().parents[1])
    paths = os.pathsep.join(filter(None, [sources, os.environ.get("PYTHONPATH")]))
    fixed = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return os.environ | fixed | {"COLUMNS": "80", "PYTHONUTF8": "1", "PYTHONPATH": paths}


def _copy_data(folder: Path) -> None:
    if SHARED.is_dir():
        shutil.copytree(SHARED, folder / "data", dirs_exist_ok=True)
    else:
        print(f"{SHARED} is not there: cases of measured data are skipped")


def _data_files(line: str) -> list[str]:
    return [word for word in shlex.split(line) if word.startswith("data/")]


def _with_sources(names: Sequence[str]) -> list[str]:
    """The cases asked for and those whose files they read, in the order of the table."""
    wanted, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += [word for word in re.findall(r"(\w+)/", CASES[name]) if word in CASES]
    return [name for name in CASES if name in wanted]
