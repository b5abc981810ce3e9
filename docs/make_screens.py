"""Take the screens of every kind of report: `python docs/make_screens.py [FOLDER [KIND...]]`.

Each is made from what is shipped, or from runs of a virtual machine. With a folder they are
photographed as they open at 1366 x 768 pixels, in light and in dark, on a phone of 400 pixels, and
on paper, to be looked at. Without one, small pictures are renewed that pages of docs/ name: the
first screens of those in PICTURED, a terminal, and the studio. Needs chromium.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from make_gallery import (
    PICTURES,
    SCREEN,
    Reported,
    answer,
    open_browser,
    photograph as save_picture,
    shrink,
)

import armtwin as at
from armtwin.jobs.recreation import recreate

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PHONE = {"width": 400, "height": 800}
PAPER = {"width": 794, "height": 1123}  # A4 at 96 pixels per inch
MIDDLE = (0.0, 0.3, 1.0, 0.0, 0.6, 0.0)  # rad
MOTIONS = ((1, 2, 2, 3, 3, 4), (2, 1, 3, 2, 4, 3))  # cycles of each joint in six seconds
# of what hangs on the flange: kg, kg m, kg m², in the frame of the last joint
LOAD = (4.0, 0.0, 0.0, 0.4, 0.06, 0.06, 0.02, 0.0, 0.0, 0.0)


def move(order: tuple[int, ...]) -> at.Trajectory:
    """Six seconds of sines of all joints."""
    w = 2 * np.pi / 6 * np.array(order)
    t = np.arange(0, 6, 1 / 250)[:, None]
    q = np.array(MIDDLE) + 0.4 * np.sin(w * t) + 0.1 * np.cos(2 * w * t)
    v = 0.4 * w * np.cos(w * t) - 0.2 * w * np.sin(2 * w * t)
    a = -0.4 * w**2 * (np.sin(w * t) + np.cos(2 * w * t))
    return at.Trajectory.sampled(250, q, v, a)


@cache
def logs() -> tuple[at.Log, ...]:
    """Two runs of a machine whose friction is a quarter above that of its file."""
    file = at.Robot.load("tx40")
    friction = ["friction" in name for name in file.parameter_names]
    machine = file.with_parameters(np.where(friction, 1.25, 1.0) * file.parameters)
    return tuple(at.simulate(machine, move(order)).log for order in MOTIONS)


@cache
def identified() -> at.Estimate:
    """The robot of the first run."""
    return at.identify(at.Robot.load("tx40"), [logs()[0]])


def identify() -> Reported:
    """The same, judged on the run that the fit never saw."""
    return at.judge(at.Robot.load("tx40"), identified(), logs()[1])


@cache
def servo() -> at.ServoIdentification:
    """Its servo, judged on the same run."""
    run, unseen = logs()
    return at.identify_servo(identified().robot, run, unseen)


def compare() -> at.ReferenceComparison:
    """The twin on the reference of the unseen run."""
    return at.compare(servo().robot, logs()[1])


def sweep() -> at.SweepResult:
    """Fifteen placements of a workpiece."""
    x, y = [0.375, 0.4, 0.425, 0.45, 0.475], [-0.05, 0.0, 0.05]
    axes = {"workpiece.position.1": x, "workpiece.position.2": y}
    return at.sweep(at.Sweep.over(at.Job.load("rx90b_line"), axes))


def clamp() -> Reported:
    """The clamped gear of a bench."""
    bench = at.run_experiment(at.Experiment.load("kr300_clamping"))
    return recreate(at.clamp(bench.log, gear_ratio=256.857))


def payload() -> at.PayloadIdentification:
    """What hangs on the flange, from the difference of two runs."""
    robot = at.Robot.load("tx40")
    ten = np.zeros(len(robot.parameters))
    ten[10 * (robot.n - 1) :][:10] = LOAD
    loaded = robot.with_parameters(robot.parameters + ten)
    runs = [at.simulate(x, move(MOTIONS[0])).log for x in (robot, loaded)]
    return at.identify_payload(robot, *runs)


def calibrate() -> at.Calibration:
    """Zeros and lengths of an arm, from 40 positions of its tool by an instrument of 50 µm."""
    robot = at.Robot.load("rx90b").with_tool("laser_head")
    chance = np.random.default_rng(40)
    q = chance.uniform(*robot.position_limits, (40, robot.n))
    zeros = 1e-3 * chance.normal(size=robot.n)
    seen = robot.forward_kinematics(q + zeros)[:, :3, 3] + 5e-5 * chance.normal(size=(40, 3))
    return at.calibrate(robot, at.ToolPositions.of(robot, q, seen))


def program() -> at.Answer:
    """The shipped job that was made from a robot program."""
    p = at.predict(at.Job.load("rx90b_program"))
    return at.Answer(p, at.explain(p), band=at.assess(p))


def correct() -> at.Correction:
    """Set-points that bring a seam into tolerance."""
    return at.correct("rx90b_probed")


KINDS: dict[str, Callable[[], Reported]] = {
    "predict": lambda: answer("rx90b_probed"),
    "identify": identify,
    "servo": servo,
    "sweep": sweep,
    "correct": correct,
    "compare": compare,
    "clamp": clamp,
    "payload": payload,
    "calibrate": calibrate,
    "program": program,
}
PICTURED = ("servo", "compare", "payload", "calibrate", "program")
TERMINAL = """<body style="margin: 0; background: #14181d; color: #e4e9ef">
<pre style="font: 14px/1.3 'DejaVu Sans Mono', monospace; padding: 12px 16px">{}</pre>"""


def photograph(browser: Browser, report: Path) -> None:
    """Save the first screen in light and in dark, and the whole page on a phone and on paper."""

    def save(name: str, size: dict[str, int], whole: bool = False, **media: str) -> None:
        page = browser.new_page(viewport=size)
        page.emulate_media(**media)
        page.goto(report.resolve().as_uri())
        page.wait_for_timeout(1500)
        page.screenshot(path=report.with_name(f"{report.stem}_{name}.png"), full_page=whole)
        page.close()

    save("screen", SCREEN)
    save("dark", SCREEN, color_scheme="dark")
    save("whole", SCREEN, whole=True)
    save("phone", PHONE, whole=True)
    save("paper", PAPER, whole=True, media="print")


def picture_terminal(browser: Browser) -> None:
    """Save what a terminal of 80 x 24 shows of a prediction."""
    from rich.console import Console
    from rich.terminal_theme import MONOKAI

    from armtwin.report.terminal import closing_line, to_screen

    report = answer("rx90b_cladding").sections()
    console = Console(width=80, record=True, file=io.StringIO(), force_terminal=True)
    console.print(to_screen(report))
    console.print(closing_line(report) or "")
    lines = console.export_html(theme=MONOKAI, inline_styles=True, code_format="{code}")
    page = browser.new_page(viewport={"width": 720, "height": 460})
    page.set_content(TERMINAL.format(f"$ armtwin predict rx90b_cladding\n{lines}"))
    shrink(page.screenshot(), PICTURES / "terminal.png", (720, 460))
    page.close()


def picture_studio(browser: Browser) -> None:
    """Save the studio as it opens."""
    words = [sys.executable, "-m", "armtwin", "studio", "rx90b_line", "--no-browser", "--json"]
    studio = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert studio.stdout is not None
    page = browser.new_page(viewport=SCREEN)
    page.goto(json.loads(studio.stdout.readline())["address"])
    page.wait_for_timeout(15_000)  # until causes and interval have followed
    shrink(page.screenshot(), PICTURES / "studio.png")
    page.close()
    studio.terminate()
    studio.wait()


def picture_pages() -> None:
    """Renew the small pictures that pages name."""
    with open_browser() as browser, tempfile.TemporaryDirectory() as folder:
        for kind in PICTURED:
            path = Path(folder) / f"{kind}.html"
            KINDS[kind]().report(path)
            save_picture(browser, path, PICTURES / f"{kind}.png")
        picture_terminal(browser)
        picture_studio(browser)


def main() -> None:
    """Take the screens of the kinds that are named, or of all; without a folder, pictures."""
    if len(sys.argv) == 1:
        picture_pages()
        return
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with open_browser() as browser:
        for kind in sys.argv[2:] or KINDS:
            path = folder / f"{kind}.html"
            KINDS[kind]().report(path)
            photograph(browser, path)


if __name__ == "__main__":
    main()
