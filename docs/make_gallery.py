"""Take the pictures of README.md from reports: `python docs/make_gallery.py`; needs chromium.

Six reports are made from what is shipped, opened in a browser of 1366 x 768 pixels and photographed
as they open; the banner is the first of them while its seam plays.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import armtwin as at

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PICTURES = Path(__file__).parent / "pictures"
SCREEN = {"width": 1366, "height": 768}
FLAGS = ["--no-sandbox", "--enable-unsafe-swiftshader", "--use-angle=swiftshader"]
SMALL, BANNER = (683, 384), (720, 405)  # pixels
FRAMES, PAUSE = 24, 160  # of the banner, and the time each is shown [ms]
COLOURS = 64


class Reported(Protocol):
    """What writes a report of itself."""

    def report(self, path: str | Path) -> None:
        """Write it."""


def answer(name: str) -> at.Answer:
    """A shipped job with verdict, causes and, where it does not hold, its correction."""
    found = at.correct(name)
    causes = at.explain(found.prediction)
    held = found.band is not None and found.band.outcome == "holds"
    correction = None if held else found
    return at.Answer(found.prediction, causes, band=found.band, correction=correction)


def results() -> Iterator[tuple[str, Reported]]:
    """What is photographed, by the name of its picture."""
    yield "seam_out", answer("rx90b_probed")
    yield "seam_in", answer("rx90b_cladding")
    yield "elastic", answer("kr300_frame")
    yield "correction", at.correct("rx90b_probed")
    yield "modes", at.analyse(at.Robot.load("kr300"), "modes")
    places = {
        "workpiece.position.1": [0.375, 0.4, 0.425, 0.45, 0.475],
        "workpiece.position.2": [-0.05, 0.0, 0.05],
    }
    yield "placements", at.sweep(at.Sweep.over(at.Job.load("rx90b_line"), places))


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser; without one the script ends, and pictures stay as they are."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        sys.exit("no chromium on this machine: the pictures stay as they are")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def photograph(browser: Browser, report: Path, path: Path, film: bool = False) -> None:
    """Save the first screen of a report as a small picture, and beside it one that plays."""
    page = browser.new_page(viewport=SCREEN)
    page.goto(report.resolve().as_uri())
    page.wait_for_timeout(1500)
    shrink(page.screenshot(), path)
    if film:
        save_film(page, path.with_name("banner.gif"))
    page.close()


def shrink(screen: bytes, path: Path, size: tuple[int, int] = SMALL) -> None:
    """Save a screen in fewer pixels and colours."""
    from PIL import Image

    with Image.open(io.BytesIO(screen)) as image:
        small = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        small.quantize(128, Image.Quantize.MAXCOVERAGE).save(path)


def save_film(page: Page, path: Path) -> None:
    """Save the seam while it plays as an animated picture."""
    from PIL import Image

    slider = page.locator("[data-player] input")
    last = int(slider.get_attribute("max") or 0)
    frames = []
    for k in range(FRAMES):
        slider.fill(str(round(k * last / (FRAMES - 1))))
        page.wait_for_timeout(60)
        with Image.open(io.BytesIO(page.screenshot())) as image:
            small = image.convert("RGB").resize(BANNER, Image.Resampling.LANCZOS)
        frames.append(small.quantize(COLOURS, dither=Image.Dither.NONE))
    first, *others = frames
    first.save(path, save_all=True, append_images=others, duration=PAUSE, loop=0, optimize=True)


def main() -> None:
    """Take all pictures."""
    with open_browser() as browser, tempfile.TemporaryDirectory() as folder:
        for name, result in results():
            path = Path(folder) / f"{name}.html"
            result.report(path)
            photograph(browser, path, PICTURES / f"{name}.png", film=name == "seam_out")


if __name__ == "__main__":
    main()
