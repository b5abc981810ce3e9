"""A long run: does anything grow, and is anything left? `python studies/soak.py [--short]`.

Predictions and identifications in one process: its memory, open files and threads. Then sweeps as
commands, killed (SIGKILL, SIGTERM) at random times and begun again until they are done: each table
must be that of an undisturbed sweep, and no process and no file may be left. Sizes by options:
`--predictions`, `--identifications`, `--sweeps`. Exit code 1: memory grows, or something is left.
Linux only.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import armtwin as at
from sweeps import resident, short_job, table_of

WHOLE = {"predictions": 5000, "identifications": 500, "sweeps": 200}
SHORT = {"predictions": 200, "identifications": 12, "sweeps": 6}
MARKS = 40  # at most, at which memory is measured
WARM = 0.25  # share of a phase in which caches fill
GROWTH = 6.0  # MB: allocators leave holes; what is lost in each of many runs comes to more
MARK = "ARMTWIN_SOAK"  # variable of the environment by which processes are found
GRACE = 10.0  # time in which workers of a killed sweep must end [s]
LONGEST_END = 300.0  # time in which a stopped sweep must have ended [s]
MOST_KILLS = 2  # of one sweep, then it may end
WITH_WORKERS = 8  # every so many sweeps run on processes: their start costs most
SAMPLES, RATE, PERIOD, HARMONICS = 500, 62.5, 4.0, 5  # of the log that is identified
MIDDLE, SIZE = np.array([0.0, 0.3, 1.0, 0.0, 0.6, 0.0]), 0.35
NOISE = 0.5  # of its torques [N m]
SWEEP = """format = 1
name = "soak"
jobs = ["job.toml"]
[[axis]]
key = "workpiece.position.1"
span = ["400 mm", "450 mm"]
count = 4
[[axis]]
key = "speed"
span = ["150 mm/s", "240 mm/s"]
count = 5
"""


@dataclass(frozen=True)
class State:
    """What this process holds after so many runs."""

    runs: int
    memory: float
    files: int
    threads: int


def state(runs: int) -> State:
    """What this process holds now."""
    gc.collect()
    files = len(os.listdir("/proc/self/fd"))
    return State(runs, resident(), files, len(os.listdir("/proc/self/task")))


def processes() -> list[int]:
    """Other processes that carry our mark and are no zombies."""
    found = []
    word = f"{MARK}={os.environ[MARK]}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if word in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def watched(what: str, run: Callable[[int], None], count: int) -> Iterator[str]:
    """Run something so often; raises Left where memory, files or threads grow."""
    yield f"{what} | memory MB | open files | threads | CPU ms a run"
    states = []
    begun, last = time.process_time(), 0
    for number in range(1, count + 1):
        run(number)
        if number * MARKS // count > (number - 1) * MARKS // count:
            now = state(number)
            each = 1e3 * (time.process_time() - begun) / (number - last)
            yield f"{number} | {now.memory:.1f} | {now.files} | {now.threads} | {each:.1f}"
            begun, last = time.process_time(), number
            states.append(now)
    warm = [now for now in states if now.runs >= WARM * count]
    yield judge(what, warm)


class Left(Exception):
    """Something grew, or was left."""


def judge(what: str, states: list[State]) -> str:
    """The slope of memory; raises Left where it, or anything else, grows."""
    runs = np.array([now.runs for now in states], dtype=float)
    memory = np.array([now.memory for now in states])
    slope = np.polyfit(runs, memory, 1)[0]
    grown = slope * (runs[-1] - runs[0])
    words = f"{what}: memory {1e3 * slope:+.2f} kB a run, {grown:+.2f} MB in {np.ptp(runs):.0f}"
    first, end = states[0], states[-1]
    if grown > GROWTH:
        raise Left(f"{words}: it grows by more than {GROWTH:g} MB")
    if end.files > first.files or end.threads > first.threads:
        raise Left(f"{what}: {end.files} files, {end.threads} threads, before {first}")
    return words


def predictor() -> Callable[[int], None]:
    """Predicts a short job, each time at another speed: nothing is found in a cache."""
    job = short_job()

    def run(number: int) -> None:
        speed = 0.15 + 0.1 * (number * 0.6180339887 % 1.0)
        at.predict(at.Job(replace(job.description, speed=speed)))

    return run


def identifier() -> Callable[[int], None]:
    """Identifies a TX40 from 8 s of harmonics, each time with other noise."""
    robot = at.Robot.load("tx40")
    chance = np.random.default_rng(0)
    t = np.arange(SAMPLES) / RATE
    w = 2 * np.pi / PERIOD * np.arange(1, HARMONICS + 1)
    a, b = SIZE * chance.normal(size=(2, HARMONICS, 6)) / np.arange(1, HARMONICS + 1)[:, None]
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    w = w[:, None]
    q, v = MIDDLE + s @ a + c @ b, c @ (a * w) - s @ (b * w)
    torque = robot.inverse_dynamics(q, v, -s @ (a * w**2) - c @ (b * w**2))
    torque += 0.9 * robot.friction_torque(v)

    def run(number: int) -> None:
        noise = np.random.default_rng(number).normal(size=q.shape)
        at.identify(robot, at.Log.of(t, q=q, tau=torque + NOISE * noise))

    return run


def started(folder: Path, options: list[str]) -> subprocess.Popen[bytes]:
    """The command of a sweep."""
    command = [sys.executable, "-m", "armtwin", "sweep", "soak.toml", "--out", "out", *options]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def prepare(folder: Path) -> Path:
    """The folder of a sweep that was not run yet."""
    folder.mkdir()
    short_job().save(folder / "job.toml")
    (folder / "soak.toml").write_text(SWEEP, encoding="utf-8")
    return folder


def killed_sweep(folder: Path, options: list[str], longest: float, rng: random.Random) -> int:
    """Kill a sweep at random times, then let it end; returns how often it was killed."""
    kills = 0
    for _ in range(rng.randint(1, MOST_KILLS)):
        run = started(folder, options)
        try:
            run.wait(rng.uniform(0.2, 1.0) * longest)
        except subprocess.TimeoutExpired:
            run.send_signal(rng.choice([signal.SIGKILL, signal.SIGTERM]))
            kills += 1
        try:
            run.wait(LONGEST_END)
        except subprocess.TimeoutExpired:
            run.kill()
            raise Left(f"a sweep did not end within {LONGEST_END:g} s of its signal") from None
    code = started(folder, options).wait()
    if code not in (0, 1):
        raise Left(f"a sweep that goes on ended with exit code {code}")
    return kills


def check_left(folder: Path, temporary: Path, whole: set[str]) -> None:
    """Raise Left where a process or a file is left, once workers had time to end."""
    end = time.monotonic() + GRACE
    while processes() and time.monotonic() < end:
        time.sleep(0.05)
    if processes():
        raise Left(f"processes {processes()} are left")
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    if names != whole:
        raise Left(f"files differ from those of an undisturbed sweep: {sorted(names ^ whole)}")
    if any(temporary.iterdir()):
        raise Left(f"temporary files are left: {sorted(path.name for path in temporary.iterdir())}")


def sweeps(count: int, place: Path, temporary: Path) -> Iterator[str]:
    """Sweeps on threads and on processes, killed and resumed."""
    rng = random.Random(7)
    longest = {}
    for workers in (True, False):
        first = prepare(place / f"undisturbed_{workers}")
        begun = time.monotonic()
        started(first, ["--workers", "2"] if workers else []).wait()
        longest[workers] = time.monotonic() - begun
    table = table_of(first / "out" / "results.sqlite")
    whole = {path.relative_to(first).as_posix() for path in first.rglob("*")}
    yield f"an undisturbed sweep: {len(table)} runs, {longest[False]:.1f} s; files {sorted(whole)}"
    kills = 0
    before = state(0)
    for number in range(1, count + 1):
        folder = prepare(place / f"sweep_{number}")
        workers = number % WITH_WORKERS == 1
        options = ["--workers", "2"] if workers else []
        kills += killed_sweep(folder, options, longest[workers], rng)
        check_left(folder, temporary, whole)
        if table_of(folder / "out" / "results.sqlite") != table:
            raise Left(f"the table of sweep {number} is not that of an undisturbed one")
        if number * 10 // count > (number - 1) * 10 // count:
            yield f"{number} sweeps, {kills} kills: tables equal, nothing left"
    now = state(count)
    if now.files > before.files or now.threads > before.threads:
        raise Left(f"sweeps: {now}, before {before}")


def soak(sizes: dict[str, int]) -> Iterator[str]:
    """Everything, one after another."""
    with tempfile.TemporaryDirectory(prefix="armtwin-soak-") as name:
        place, temporary = Path(name), Path(name) / "temporary"
        temporary.mkdir()
        os.environ |= {MARK: str(os.getpid()), "TMPDIR": str(temporary)}
        tempfile.tempdir = None
        yield from watched("predictions", predictor(), sizes["predictions"])
        yield from watched("identifications", identifier(), sizes["identifications"])
        if processes() or any(temporary.iterdir()):
            raise Left("predictions and identifications left processes or temporary files")
        yield from sweeps(sizes["sweeps"], place, temporary)


def main() -> int:
    """Run it, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="of a minute or two")
    for name in WHOLE:
        parser.add_argument(f"--{name}", type=int, metavar="COUNT")
    given = parser.parse_args()
    sizes = dict(SHORT if given.short else WHOLE)
    for name in WHOLE:
        if getattr(given, name) is not None:
            sizes[name] = getattr(given, name)
    try:
        for line in soak(sizes):
            print(line, flush=True)
    except Left as left:
        print(f"does not hold: {left}", flush=True)
        return 1
    print("memory is flat, nothing is left", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
