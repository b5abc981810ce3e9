"""Sweeps that are killed, that are long, and that place a seam: `python studies/sweeps.py WHAT`.

`kills [COUNT]`: the whole sweep, or one of its workers, killed (SIGKILL) at random times; then it
goes on. The table must be that of an undisturbed sweep, and no run computed twice but those that
were under way.

`many [COUNT]`: 10 000 short runs in one sweep: memory, size of the file and time per run as it goes
on.

`placement`: the line of the RX90B on 20 x 20 places, and its best cell predicted alone.

`million`: what a million runs cost on a thousand cores, from costs that are measured here.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np

import armtwin as at
from armtwin.report.result import write_report
from armtwin.sweeps import running
from armtwin.sweeps.cluster import EACH_S
from armtwin.sweeps.estimate import estimate
from armtwin.sweeps.rows import COLUMNS, COST, ResultRow
from armtwin.sweeps.work import SweepRun

SAME = ", ".join(name for name in COLUMNS if name != COST)
LINE_TOLERANCE = 2e-4  # with which the line holds on a part of the cell [m]


def short_job() -> at.Job:
    """40 mm of the RX90B's line at 200 mm/s: 0.3 s."""
    d = at.Job.load("rx90b_line").description
    seam = replace(d.segment[0], lin=(0.0, 0.02, 0.0))
    return at.Job(
        replace(
            d,
            name="short",
            speed=0.2,
            start=(0.0, -0.02, 0.0),
            segment=(seam,),
            posture=None,
            time_law=replace(d.time_law, ramp=0.05),
            process=replace(d.process, after_ramp=0.02, before_ramp=0.0),
            standstill=replace(d.standstill, before=0.05, after=0.0),
        )
    )


def short_runs(count: int) -> at.Sweep:
    """So many short runs: places and speeds."""
    columns = max(1, count // 100)
    axes = {
        "workpiece.position.1": [f"{400 + 100 * k / columns:.4f} mm" for k in range(columns)],
        "workpiece.position.2": [f"{10 * k} mm" for k in range(min(10, count))],
        "speed": [f"{150 + 10 * k} mm/s" for k in range(10 if count >= 100 else 1)],
    }
    return at.Sweep.over(short_job(), axes, name="short")


def table_of(file: Path) -> list[tuple[object, ...]]:
    """All of a table of results but what its runs cost."""
    with sqlite3.connect(file) as connection:
        asked = f"SELECT key, job, robot, inputs, {SAME} FROM run ORDER BY key"
        return connection.execute(asked).fetchall()


def rows_in(file: Path) -> int:
    """Rows that another process has written."""
    try:
        with sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM run").fetchone()[0])
    except sqlite3.Error:
        return 0


CHILD = """
import sys
sys.path.insert(0, {studies!r})
if __name__ == "__main__":
    import armtwin as at
    from sweeps import short_runs
    found = at.sweep(short_runs({count}), {file!r}, **{options!r})
    print("computed", found.course.computed, flush=True)
"""


def started(file: Path, count: int, options: dict[str, object]) -> subprocess.Popen[str]:
    """A sweep in a process of its own, the leader of a group."""
    studies = str(Path(__file__).parent)
    script = file.with_suffix(".py")
    text = CHILD.format(studies=studies, count=count, file=str(file), options=options)
    script.write_text(text, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, str(script)], text=True, stdout=subprocess.PIPE, start_new_session=True
    )


def children_of(parent: int) -> list[int]:
    """Processes that were started by another."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                words = (entry / "cmdline").read_text()
            except OSError:
                continue
            if int(fields[1]) == parent and "spawn_main" in words:
                found.append(int(entry.name))
    return found


def costs_in(file: Path) -> dict[bytes, float]:
    """What each row cost: a run that is computed again costs something else."""
    if not file.exists():
        return {}
    connection = sqlite3.connect(file)
    found = dict(connection.execute("SELECT key, cpu_s FROM run"))
    connection.close()
    return found


def kills(count: int = 300, times: int = 10) -> Iterator[str]:
    """Kill a sweep or one of its workers at random times, and compare the table in the end."""
    options: dict[str, object] = {"workers": 2}
    rng = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.sqlite"
        started(whole, count, options).wait()
        undisturbed = table_of(whole)
        assert len(undisturbed) == count
        file = Path(folder) / "killed.sqlite"
        kept: dict[bytes, float] = {}
        for number in range(times):
            run = started(file, count, options)
            words = disturbed(run, file, len(kept), number % 2 == 1, rng)
            now = costs_in(file)
            same = all(now.get(key) == cost for key, cost in kept.items())
            yield f"{number + 1}: {words}: {len(kept)} rows before, {len(now)} after, kept: {same}"
            assert same
            kept = now
        out = started(file, count, options).communicate()[0]
        computed = int(out.split()[1])
        yield f"then {count - len(kept)} runs were left, {computed} were computed"
        now = costs_in(file)
        assert all(now[key] == cost for key, cost in kept.items())
        same = table_of(file) == undisturbed
        yield f"table of {count} runs after {times} kills equal to the undisturbed one: {same}"
        assert same
        assert computed == count - len(kept)


def disturbed(
    run: subprocess.Popen[str], file: Path, rows: int, worker: bool, rng: random.Random
) -> str:
    """Kill one of a sweep's workers, then let it go on for a while; in the end the sweep."""
    while run.poll() is None and rows_in(file) <= rows:
        time.sleep(0.02)  # workers start; it is the run itself that is to be met
    time.sleep(rng.uniform(0.0, 0.5))
    words = "killed the sweep"
    some = children_of(run.pid)
    if worker and some:
        before = rows_in(file)
        os.kill(rng.choice(some), signal.SIGKILL)
        while run.poll() is None and rows_in(file) <= before + 10:
            time.sleep(0.02)
        words = f"killed a worker at {before} rows, it went on to {rows_in(file)}, then the sweep"
    if run.poll() is None:
        os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    return words


def resident() -> float:
    """Memory of this process [MB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def many(count: int = 10_000) -> Iterator[str]:
    """Memory, size and time per run as a sweep goes on."""
    asked = short_runs(count)
    marks: list[tuple[int, float, int, float]] = []
    step = max(1, len(asked) // 10)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "many.sqlite"

        def watch(now: object) -> None:
            done = now.done  # type: ignore[attr-defined]
            if done >= step * (len(marks) + 1):
                marks.append((done, resident(), file.stat().st_size, time.process_time()))

        begun = time.process_time()
        found = at.sweep(asked, file, progress=watch)
        size = file.stat().st_size
    yield "runs | memory MB | file kB | CPU ms a run since the line before"
    last = (0, 0.0, 0, begun)
    for mark in marks:
        each = 1e3 * (mark[3] - last[3]) / (mark[0] - last[0])
        yield f"{mark[0]} | {mark[1]:.1f} | {mark[2] / 1e3:.0f} | {each:.2f}"
        last = mark
    grown = marks[-1][1] / marks[0][1] - 1
    yield f"memory after the first {marks[0][0]} runs: {100 * grown:+.1f} %; {found}"
    yield f"{size / len(asked):.0f} bytes a run"
    runs = np.array([mark[0] for mark in marks], dtype=float)
    sizes = np.array([mark[2] for mark in marks], dtype=float)
    fit = np.polyval(np.polyfit(runs, sizes, 1), runs)
    yield f"size off a straight line by at most {100 * np.abs(sizes / fit - 1).max():.1f} %"


def line_places(count: int = 20) -> at.Sweep:
    """The line of the RX90B on a grid of places, with a tolerance that a part of them keeps."""
    d = at.Job.load("rx90b_line").description
    tolerance = replace(d.tolerance, lateral=LINE_TOLERANCE, vertical=LINE_TOLERANCE)
    job = at.Job(replace(d, tolerance=tolerance, posture=None))
    x = np.linspace(250, 650, count)
    y = np.linspace(-250, 250, count)
    axes = {
        "workpiece.position.1": [f"{value:.6g} mm" for value in x],
        "workpiece.position.2": [f"{value:.6g} mm" for value in y],
    }
    return at.Sweep.over(job, axes, name="placement", title="Places for the line of the RX90B")


def placement() -> Iterator[str]:
    """The map of the line, and its best cell predicted alone."""
    found = at.sweep(line_places())
    yield repr(found)
    (best,) = found.best(1)
    alone = at.predict(found.job(best))
    row = found.rows[best]
    yield f"best cell {found.sweep.inputs(best)}: {row.ratio!r} of the tolerance in the sweep"
    yield f"predicted alone: {alone.verdict.worst_ratio!r}"
    assert alone.verdict.worst_ratio == row.ratio
    page = Path("armtwin_out/placement.html")
    page.parent.mkdir(exist_ok=True)
    write_report(found, page)
    yield f"wrote {page}"


class Idle:
    """An executor that has every answer at once: what is left is the cost of the sweep itself."""

    width, words, task_s, least_s = 1000, "nobody", 2.0, 0.0

    def submit(self, work: object, piece: list[SweepRun]) -> Future[list[ResultRow]]:
        """Rows that look like those of runs."""
        future: Future[list[ResultRow]] = Future()
        row = ResultRow("holds", 0.5, *[1e-4] * 5, duration_s=0.3, cpu_s=0.05)
        future.set_result([row] * len(piece))
        return future


def cost_of_the_client(count: int = 20_000) -> float:
    """CPU seconds that a run costs where it is handed out and kept."""
    asked = short_runs(count)
    len(asked.bases)
    with (
        mock.patch.object(running, "on_threads", return_value=nullcontext(Idle())),
        tempfile.TemporaryDirectory() as folder,
    ):
        start = time.process_time()
        at.sweep(asked, Path(folder) / "idle.sqlite")
        return (time.process_time() - start) / len(asked)


def million() -> Iterator[str]:
    """What a million runs cost on a thousand cores."""
    runs, cores = 1_000_000, 1000
    piece_s = 2 * EACH_S * cores  # as a cluster of so many workers has them
    client = cost_of_the_client()
    yield f"the client: {1e6 * client:.0f} us a run, {1 / client:.0f} runs a second"
    for name, asked in (("the line at 100 mm/s", line_places()), ("0.3 s", short_runs(100))):
        found = estimate(asked, None)
        each = found.each_s
        tasks = runs / min(float(running.LARGEST_TASK), piece_s / each)
        took = runs * each / cores
        yield (
            f"{name}: {1e3 * each:.0f} ms a run, {runs * each / 3600:.0f} core hours, {took:.0f} s "
            f"on {cores} cores; {tasks:.0f} pieces, {tasks / took:.0f} a second of the scheduler's "
            f"{1 / EACH_S:.0f}; {cores / each:.0f} runs a second of the client's {1 / client:.0f}; "
            f"{found.row_bytes:.0f} bytes a run, {runs * found.row_bytes / 1e6:.0f} MB"
        )


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "kills"
    given = [int(word) for word in sys.argv[2:]]
    studies = {"kills": kills, "many": many, "placement": placement, "million": million}
    for line in studies[chosen](*given):
        print(line, flush=True)
