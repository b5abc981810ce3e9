"""From the shell to the report: the default job, warm, and where its time goes.

    python benchmarks/report.py [--quick]

The whole is measured as a user sees it, a new process of `armtwin predict`; its parts in this
process, after a first run has read the compiled kernels from their cache.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import armtwin as at
from armtwin.report.page import to_html
from armtwin.report.result_file import to_result

QUICK = "--quick" in sys.argv
RUNS = 1 if QUICK else 5


def shell(folder: str, *words: str) -> float:
    """Seconds of a command in a new process."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "armtwin", *words], cwd=folder, capture_output=True, check=False
    )
    return time.perf_counter() - start


def parts(folder: Path) -> dict[str, float]:
    """Seconds of each part of a prediction with its report."""
    stages, clock = {}, time.perf_counter()

    def lap(name: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        stages[name], clock = now - clock, now

    job = at.Job.load("rx90b_line")
    robot = job.robot()
    lap("job and robot files")
    prediction = at.predict(job, robot)
    lap("prediction")
    causes = at.explain(prediction)
    lap("causes")
    answer = at.Answer(prediction, causes)
    report = answer.sections()
    (folder / "report.html").write_text(to_html(report), encoding="utf-8")
    lap("report")
    to_result(report)
    prediction.log.write(folder / "log.csv")
    lap("result.json, log.csv")
    return stages


with tempfile.TemporaryDirectory() as folder:
    if not QUICK:  # a first run of both, whose time does not count
        shell(folder, "predict", "rx90b_line")
        parts(Path(folder))
    whole = min(shell(folder, "predict", "rx90b_line") for _ in range(RUNS))
    start = min(shell(folder, "--version") for _ in range(RUNS))
    best = min((parts(Path(folder)) for _ in range(RUNS)), key=lambda x: sum(x.values()))
    print(f"armtwin predict rx90b_line, shell to report: {whole:.2f} s on {os.cpu_count()} cores")
    print(f"  {'interpreter, imports':24}{1e3 * start:8.0f} ms")
    for name, value in best.items():
        print(f"  {name:24}{1e3 * value:8.0f} ms")
    rest = whole - start - sum(best.values())
    print(f"  {'reading kernels':24}{1e3 * rest:8.0f} ms")
    print(f"ratio of the whole to the prediction alone: {whole / best['prediction']:.0f}")
    print(f"report.html {(Path(folder) / 'report.html').stat().st_size / 1e6:.2f} MB")
