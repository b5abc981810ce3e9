"""The page of the studio in a browser: every control, a drag, files, keys, a phone, a cut line."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.files.meshes import LinkMesh, Meshes
from tests.app.studio import studio

pytest.importorskip("starlette")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on this machine: the studio is not looked at"
)
JOBS = ("rx90b_probed", "rx90b_corner_follow", "lwa4p_bead", "kr300_frame", "ur10e_bead")
READY = "[data-scene][data-ready=yes]"
# places of the seam on the screen, from the top
SEAM_ON_SCREEN = """() => {
  const stage = armtwin.stage();
  const box = stage.canvas.getBoundingClientRect();
  for (let y = 3; y < box.height; y += 3)
    for (let x = 3; x < box.width; x += 3) {
      const place = { clientX: box.left + x, clientY: box.top + y };
      if (stage.hit(place)) return [place.clientX, place.clientY];
    }
}"""

# counts of corners of all that is drawn
COUNTED = """
const drawn = (window.drawn = new Set());
const draw = WebGL2RenderingContext.prototype.drawArrays;
WebGL2RenderingContext.prototype.drawArrays = function (mode, first, count) {
  drawn.add(count);
  return draw.call(this, mode, first, count);
};"""


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--enable-unsafe-swiftshader", "--use-angle=swiftshader"]
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with studio("rx90b_line", folder=tmp_path_factory.mktemp("studio")) as found:
        yield found


class Page:
    """A tab in a browser, and what it complained about or asked for."""

    def __init__(self, browser, served, size=(1366, 900), **options):
        viewport = {"width": size[0], "height": size[1]}
        self.served = served
        self.context = browser.new_context(viewport=viewport, **options)
        self.page = self.context.new_page()
        self.said, self.asked, self.answers, self.cut = [], [], [], None
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("websocket", self._listen)
        self.open()

    def _listen(self, socket):
        socket.on("framereceived", lambda frame: self.answers.append(str(frame)[:12]))

    def open(self):
        self.page.goto(self.served.address)
        self.page.wait_for_selector(READY, timeout=180_000)
        self.settle()

    def asked_and_shown(self):
        return self.page.evaluate(
            "[document.documentElement.dataset.asked, document.documentElement.dataset.shown]"
        )

    def settle(self, seconds=60):
        """Wait until the newest state is shown."""
        self.until(lambda: len(set(self.asked_and_shown())) == 1, seconds)

    def until(self, condition, seconds=20):
        for _ in range(20 * seconds):
            if condition():
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"{seconds} seconds went by and nothing happened: {self.text('[data-line]')}")

    def picture(self):
        return self.page.evaluate("document.querySelector('canvas').toDataURL()")

    def text(self, place):
        return self.page.locator(place).first.inner_text()

    def knob(self, key, kind="input[type=range]"):
        return self.page.locator(f"[data-key='{key}'] {kind}")

    def value(self, key):
        return float(self.knob(key, "input[type=number]").input_value())

    def slide(self, key, value):
        self.knob(key).fill(str(value))
        self.settle()

    def close(self):
        self.context.close()


@pytest.fixture(scope="module")
def once(browser, served):
    page = Page(browser, served)
    yield page
    page.close()


@pytest.fixture
def tab(once):
    """The tab that all tests share, with the job it began with, as its file has it."""
    if "rx90b_line" not in once.text("[data-subtitle]"):
        once.page.click("[data-open=opening]")
        once.page.select_option("[data-shipped]", "rx90b_line")
        once.until(lambda: "rx90b_line" in once.text("[data-subtitle]"))
    once.page.click("[data-reset]")
    once.settle()
    once.said.clear()
    return once


def test_the_page_opens_without_an_error_or_a_request_elsewhere(once, served):
    assert once.said == []
    assert all(url.startswith(served.address) for url in once.asked)


@pytest.mark.parametrize("name", JOBS)
def test_each_shipped_job_is_opened_and_shown(tab, name):
    tab.page.click("[data-open=opening]")
    tab.page.select_option("[data-shipped]", name)
    tab.until(lambda: tab.text("[data-subtitle]").startswith(f"{name}:"), 120)
    assert "TOLERANCE" in tab.text(".verdict")
    assert tab.said == []


def test_a_slider_moved_recolours_the_seam_and_redraws_the_chart(tab):
    before, error = tab.picture(), tab.text(".verdict")
    tab.slide("tolerance.lateral", 0.3)
    wide, held = tab.picture(), tab.text(".verdict")
    tab.slide("speed", 250)
    assert "EXCEEDS" in error
    assert "WITHIN" in held
    assert len({before, wide, tab.picture()}) == 3
    assert tab.text("[data-subtitle]").count("250 mm/s") == 1


def test_every_control_changes_what_is_shown(tab):
    """Sliders by a tenth of their way, choices and switches to another value."""
    keys = tab.page.eval_on_selector_all("[data-key]", "all => all.map(x => x.dataset.key)")
    without = []
    for key in keys:
        before = tab.text("[data-front]") + tab.text("[data-subtitle]"), tab.picture()
        if tab.knob(key).count():
            low, high = (float(tab.knob(key).get_attribute(x)) for x in ("min", "max"))
            tab.slide(key, tab.value(key) + 0.1 * (high - low))
        elif key == "model.quantise":
            tab.knob(key, "input").click()
        else:
            continue
        tab.settle()
        after = tab.text("[data-front]") + tab.text("[data-subtitle]"), tab.picture()
        if before == after:
            without.append(key)
        tab.page.locator(f"[data-key='{key}'] .back").click()
        tab.settle()
    assert without == []
    assert len(keys) > 12


def test_the_workpiece_is_dragged_and_never_more_than_one_run_waits(tab):
    """Forty moves at 30 Hz: as many states are asked for, far fewer are sent and run."""
    start = tab.value("workpiece.position.1"), tab.value("workpiece.position.2")
    first = int(tab.asked_and_shown()[0])
    x, y = tab.page.evaluate(SEAM_ON_SCREEN)
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.answers.clear()
    for k in range(40):
        tab.page.mouse.move(x - 0.2 * k, y + 0.1 * k)
        tab.page.wait_for_timeout(33)
    tab.page.mouse.up()
    tab.settle()
    moved = tab.value("workpiece.position.1"), tab.value("workpiece.position.2")
    states = int(tab.asked_and_shown()[0]) - first
    assert np.hypot(*np.subtract(moved, start)) > 2
    assert states >= 30
    assert len(tab.answers) < states
    assert tab.said == []


def test_causes_and_interval_follow_at_rest_and_say_how_fresh_they_are(tab):
    tab.slide("speed", 110)
    assert tab.text("[data-part=causes]") == "causes: at rest"
    tab.until(lambda: tab.text("[data-part=causes]") == "causes: up to date")
    assert "Why" in tab.text("[data-front]")
    tab.until(lambda: "64 variants" in tab.text("[data-part=interval]"), 120)
    assert "90 % interval" in tab.text(".verdict")


def test_a_section_is_filled_when_it_is_opened_and_follows(tab):
    fold = tab.page.locator("[data-fold='Joints']")
    fold.locator("summary").first.click()
    tab.until(lambda: fold.locator("[data-plot] canvas").count() > 0)
    before = fold.locator("table").first.inner_text()
    tab.slide("speed", 200)
    assert fold.locator("table").first.inner_text() != before
    fold.locator("summary").first.click()
    tab.settle()


def test_a_log_dropped_on_the_page_lies_over_the_prediction(tab, tmp_path):
    """The log is that of a robot with other friction, so that its lines differ."""
    job = at.Job.load("rx90b_line")
    path = tmp_path / "run.csv"
    at.predict(job.with_servo("cascade")).log.write(path)
    tab.page.set_input_files("[data-files]", path)
    tab.until(lambda: tab.page.locator("[data-log]").is_visible())
    tab.settle()
    assert "run.csv" in tab.text("[data-log]")
    assert "logged run" in tab.text(".verdict")
    assert "lateral, measured" in tab.text(".u-legend")
    tab.page.click("[data-drop-log]")
    tab.settle()
    assert "measured" not in tab.text(".u-legend")


def test_a_file_that_is_none_of_ours_is_a_sentence(tab, tmp_path):
    path = tmp_path / "letter.toml"
    path.write_text("dear = 'reader'\n")
    tab.page.set_input_files("[data-files]", path)
    tab.until(lambda: "no job, program, robot or log" in tab.text("[data-line]"))


def test_a_saved_job_is_the_state_that_was_shown(tab, tmp_path):
    tab.slide("speed", 150)
    tab.page.click("[data-open=saving]")
    path = tmp_path / "mine.toml"
    tab.page.fill("[data-save-path]", str(path))
    tab.page.click("[data-save]")
    tab.until(lambda: tab.text("[data-saved]") == f"wrote {path}")
    tab.page.keyboard.press("Escape")
    assert at.Job.load(path).description.speed == pytest.approx(0.15)


def test_a_page_that_is_loaded_again_shows_the_same_state(tab):
    tab.slide("speed", 170)
    verdict = tab.text(".verdict")
    tab.open()
    assert tab.value("speed") == 170
    assert tab.text(".verdict")[:60] == verdict[:60]


def test_a_second_tab_has_a_state_of_its_own(browser, served, tab):
    other = Page(browser, served)
    other.slide("speed", 60)
    assert tab.value("speed") == 100
    assert "60 mm/s" in other.text("[data-subtitle]")
    assert "100 mm/s" in tab.text("[data-subtitle]")
    other.close()


def test_a_cut_connection_is_made_again_with_its_state(browser, served):
    """Every message of the first connection beyond the fourth is lost, and it is closed."""
    page = Page.__new__(Page)
    kept = []

    def cut_first(route):
        server = route.connect_to_server()
        kept.append(route)
        route.on_message(server.send)
        server.on_message(route.send)

    page.context = browser.new_context(viewport={"width": 1200, "height": 800})
    page.page, page.served = page.context.new_page(), served
    page.said, page.asked, page.answers = [], [], []
    page.page.route_web_socket(re.compile("live"), cut_first)
    page.open()
    page.slide("speed", 130)
    kept[0].close()
    page.until(lambda: len(kept) == 2)
    page.settle()
    page.slide("speed", 140)
    assert "140 mm/s" in page.text("[data-subtitle]")
    page.close()


def test_controls_and_the_workpiece_are_moved_by_keys(tab):
    tab.knob("workpiece.position.3").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        tab.page.keyboard.press(key)
    tab.settle()
    assert tab.value("workpiece.position.3") == -49
    assert tab.page.evaluate("document.activeElement.closest('[data-key]').dataset.key") == (
        "workpiece.position.3"
    )


def test_a_phone_shows_all_of_it_in_its_width(browser, served):
    page = Page(browser, served, size=(400, 800), color_scheme="dark")
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 400
    page.slide("speed", 150)
    assert "150 mm/s" in page.text("[data-subtitle]")
    assert page.said == []
    page.close()


def test_meshes_of_a_robot_are_drawn_with_the_seam_in_front(browser, tmp_path):
    """An open cube of 11 triangles on the forearm: 33 corners are drawn; the seam is hit still."""
    robot = at.Robot.load("rx90b")
    corners = 0.1 * (np.indices((2, 2, 2)).reshape(3, -1).T - 0.5)
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([(q[0], q[k], q[k + 1]) for q in sides for k in (1, 2)][1:])
    cube = LinkMesh.of(robot.assembly.tree.joints[2].child, corners, faces)
    dressed = replace(robot.description, name="dressed", meshes=Meshes((cube,), ""))
    robot.with_description(dressed).save(tmp_path / "dressed.toml")
    at.Job.load("rx90b_line").with_robot("dressed.toml").save(tmp_path / "job.toml")
    with studio("job.toml", folder=tmp_path) as served:
        page = Page(browser, served)
        page.page.add_init_script(COUNTED)
        page.open()
        assert 33 in page.page.evaluate("[...window.drawn]")
        assert page.page.evaluate(SEAM_ON_SCREEN)
        assert page.said == []
        page.close()
