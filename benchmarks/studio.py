"""What a moved slider of the studio costs: CPU time per update of each shipped job beside that of a
prediction in the same run, a tolerance, the first interval, memory, and the time to the pixels.

    python benchmarks/studio.py [--quick]

An update is all that the server does of it: settings, run, sections, JSON. Slider to pixels is seen
by a browser (Chromium with a software renderer) from the input event to the next drawn frame.
"""

import gc
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import armtwin as at
from armtwin.app.studio.opening import SentFiles
from armtwin.app.studio.workbench import Workbench, read_request
from armtwin.prediction.band.band import assess

QUICK = "--quick" in sys.argv
JOBS = ("rx90b_line",) if QUICK else tuple(at.jobs())
REPEATS = 2 if QUICK else 7
UPDATES = 20 if QUICK else 10_000  # over which memory is watched
MOVES = 30  # of a slider in the browser
FROM_INPUT_TO_PIXELS = """async ([key, value]) => {
  const slider = document.querySelector(`[data-key='${key}'] input[type=range]`);
  const root = document.documentElement;
  const start = performance.now();
  slider.value = value;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  while (root.dataset.shown !== root.dataset.asked) {
    await new Promise((done) => requestAnimationFrame(done));
  }
  await new Promise((done) => requestAnimationFrame(done));
  return performance.now() - start;
}"""


class Tab:
    """A tab without a connection: updates as its server makes them."""

    def __init__(self, name):
        self.bench, self.name, self.asked = Workbench(SentFiles()), name, 0

    def update(self, **settings):
        """Settings as the page sends them; the size of what is sent back."""
        self.asked += 1
        request = {"id": self.asked, "source": {"name": self.name}, "settings": settings}
        return len(json.dumps(self.bench.run(read_request(request), lambda what, share: None)))

    def close(self):
        """Leave nothing behind."""
        self.bench.files.remove()


def least_cpu(work, repeats=REPEATS):
    """Least CPU time of several repeats [ms]."""
    found = []
    for k in range(repeats):
        start = time.process_time()
        work(k)
        found.append(time.process_time() - start)
    return 1e3 * min(found)


def compare_updates(name):
    """CPU time of updates of a job."""
    job = at.Job.load(name)
    speed = 1e3 * job.description.speed
    tab = Tab(name)
    size = tab.update()
    at.predict(job)
    predicted = least_cpu(lambda k: at.predict(job.with_speed(1e-3 * speed * (0.98 - 0.01 * k))))
    moved = least_cpu(lambda k: tab.update(speed=speed * (0.99 - 0.01 * k)))
    tab.update()
    allowed = 1e3 * job.description.tolerance.lateral
    judged = least_cpu(lambda k: tab.update(**{"tolerance.lateral": allowed * (1.01 + 0.01 * k)}))
    lasts = job.seam.duration
    print(
        f"{name}: {lasts:.1f} s of motion, update {moved:.1f} ms CPU, tolerance {judged:.1f} ms, "
        f"{size / 1e3:.0f} kB; ratio to a prediction ({predicted:.1f} ms) {moved / predicted:.2f}",
        flush=True,
    )
    tab.close()


def measure_interval():
    """Time of the first interval, on as many threads as there are."""
    p = at.predict(at.Job.load("rx90b_line"))
    assess(p, draws=16)
    found = []
    for _ in range(1 if QUICK else 5):
        start, cpu = time.perf_counter(), time.process_time()
        assess(p, draws=16)
        found.append((time.perf_counter() - start, time.process_time() - cpu))
    wall, cpu = map(min, zip(*found, strict=True))
    print(f"interval of 16 variants: {wall:.2f} s, {cpu:.2f} s CPU", flush=True)


def watch_memory():
    """Memory before and after many updates, each of which plans, runs and shows the job again.

    Of a line of 50 mm, so that ten thousand take minutes: what an update keeps does not depend on
    how long its run lasts, but for its size.
    """
    with tempfile.TemporaryDirectory() as folder:
        short = Path(folder) / "short.toml"
        speed = {"speed": "100 mm/s", "tolerance": "0.1 mm"}
        job = at.Job.line("rx90b", (0.45, 0.0, 0.2), (0.5, 0.0, 0.2), **speed)
        short.write_text(job.to_toml(), encoding="utf-8")
        tab = Tab(str(short))

        def updates(count):
            for k in range(count):
                tab.update(**{"speed": 80.0 + 0.05 * (k % 800), "friction.level": 90.0 + k % 20})
            gc.collect()

        updates(UPDATES // 10)
        seen = [resident()]
        start = time.process_time()
        for _ in range(4):
            updates(UPDATES // 4)
            seen.append(resident())
        each = 1e3 * (time.process_time() - start) / UPDATES
        after = ", ".join(f"{size:.0f}" for size in seen[1:])
        print(
            f"memory: {seen[0]:.0f} MB before, {after} MB after each quarter of {UPDATES} updates "
            f"of {each:.1f} ms CPU",
            flush=True,
        )
        tab.close()


def resident():
    """Memory in use [MB]; where the system does not say, its peak."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def cpu_below(parent):
    """CPU time of a process and of all that it started, where the system says it [s]."""
    total, ticks = 0.0, os.sysconf("SC_CLK_TCK")
    known = {parent}
    for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda x: int(x.name)):
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[1]) in known or int(folder.name) == parent:
            known.add(int(folder.name))
            total += (int(words[11]) + int(words[12])) / ticks
    return total


def measure_pixels(chromium):
    """Time from a moved slider to the drawn frame, and CPU time of server and browser by then.

    On a free core it can hardly be less than the sum of their shares that do not overlap.
    """
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "armtwin", "studio", "rx90b_line", "--no-browser"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        address = re.search(r"http://\S+", server.stdout.readline()).group()
        flags = ["--no-sandbox", "--enable-unsafe-swiftshader", "--use-angle=swiftshader"]
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=chromium, args=flags)
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            page.goto(address)
            page.wait_for_selector("[data-scene][data-ready=yes]", timeout=180_000)
            for key, first, step in (("speed", 90, 1), ("tolerance.lateral", 0.1, 0.002)):
                found = []
                before = cpu_below(server.pid), cpu_below(os.getpid())
                for k in range(MOVES):
                    found.append(page.evaluate(FROM_INPUT_TO_PIXELS, [key, first + step * k]))
                    page.wait_for_timeout(20)
                after = cpu_below(server.pid), cpu_below(os.getpid())
                served, whole = (1e3 * (b - a) / MOVES for a, b in zip(before, after, strict=True))
                middle, best = statistics.median(found), min(found)
                print(
                    f"slider {key} to pixels: {middle:.0f} ms median, {best:.0f} ms best; CPU "
                    f"{served:.0f} ms of the server, {whole - served:.0f} ms of the browser",
                    flush=True,
                )
            browser.close()
    finally:
        server.terminate()
        server.communicate()


if __name__ == "__main__":
    for job_name in JOBS:
        compare_updates(job_name)
    measure_interval()
    found_browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if found_browser and not QUICK:
        measure_pixels(found_browser)
    watch_memory()
