"""The page of the studio in a browser: every control, a drag, files, keys, a phone, a cut line."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

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
PROGRAMS = Path(__file__).parents[2] / "docs" / "programs"
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

DROPPED = """([name, text]) => {
  const held = new DataTransfer();
  held.items.add(new File([text], name));
  return held;
}"""


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
        self.said, self.asked, self.answers, self.frames = [], [], [], {}
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("websocket", self._listen)
        self.open()

    def _listen(self, socket):
        socket.on("framereceived", self._take)

    def _take(self, frame):
        self.answers.append(str(frame)[:12])
        message = json.loads(frame)
        if "front" in message:
            self.frames.setdefault(message["id"], message["data"])

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

    def drawn(self):
        """What the first answer to the state that is shown draws: before causes and interval."""
        data = self.frames[int(self.asked_and_shown()[1])]
        return data["series"], data["scene"]["seam"], data["scene"]["tip"]

    def picture(self):
        """The stage and the charts beside the answer, and its words and numbers."""
        return self.text("[data-front]") + self.page.evaluate(
            "[...document.querySelectorAll('[data-front] canvas')].map((x) => x.toDataURL()).join()"
        )

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
    assert all(url.startswith(served.address) for url in page.asked)  # of all tests together
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


def open_job(tab, name):
    tab.page.click("[data-open=opening]")
    tab.page.select_option("[data-shipped]", name)
    tab.until(lambda: tab.text("[data-subtitle]").startswith(f"{name}:"), 120)
    tab.settle()


def move_control(tab, key):
    """Move a control to each other value: what is drawn of them, and whether the pictures differ.

    A slider goes by a tenth of its way, a choice to all that it offers.
    """
    before, picture = tab.drawn(), tab.picture()
    found = []
    own = tab.knob(key, "select")
    if tab.knob(key).count():
        low, high = (float(tab.knob(key).get_attribute(x)) for x in ("min", "max"))
        moves = [lambda: tab.slide(key, tab.value(key) + 0.1 * (high - low))]
    elif own.count():
        values = own.locator("option").evaluate_all("all => all.map((x) => x.value)")
        others = [value for value in values if value != own.input_value()]
        moves = [lambda value=value: own.select_option(value) for value in others]
    else:
        moves = [lambda: tab.knob(key, "input").click()]
    for move in moves:
        move()
        tab.settle()
        found.append(tab.drawn() != before and tab.picture() != picture)
    tab.page.locator(f"[data-key='{key}'] .back").click()
    tab.settle()
    return found


OF_ALL = {"speed", "tolerance.lateral", "tolerance.vertical", "workpiece.position.1", "method"}
OF_LINE = {"model.servo", "servo.bandwidth", "friction.level", "model.temperature", "workpiece.yaw"}
OF_LINE |= {f"model.{key}" for key in ("friction", "joints", "quantise", "deviations", "ripple")}


def test_every_control_changes_what_is_drawn(tab):
    """Each value of each choice, too: the numbers that are sent, and the robot with its seam."""
    keys = tab.page.eval_on_selector_all("[data-key]", "all => all.map((x) => x.dataset.key)")
    without = {key: found for key in keys if not all(found := move_control(tab, key))}
    assert without == {}
    assert set(keys) >= OF_ALL | OF_LINE
    assert tab.said == []


@pytest.mark.parametrize(
    ("name", "keys"),
    [("rx90b_corner_follow", ["segment.*.blend"]), ("kr300_frame", ["payload", "model.links"])],
)
def test_controls_that_only_some_jobs_have_change_what_is_drawn(tab, name, keys):
    open_job(tab, name)
    for key in keys:
        assert all(move_control(tab, key)), key


def test_a_program_is_opened_corrected_and_written_again(tab, tmp_path):
    """Through the page alone; what is written is the program with other points."""
    for ending in ("src", "dat"):
        (tmp_path / f"two_seams.{ending}").write_bytes(
            (PROGRAMS / f"two_seams.{ending}").read_bytes()
        )
    tab.page.click("[data-open=opening]")
    tab.page.fill("[data-path]", str(tmp_path / "two_seams.src"))
    tab.page.fill("[data-tolerance]", "0.4 mm")
    tab.page.click("[data-open-path]")
    tab.until(lambda: "two_seams" in tab.text("[data-subtitle]"), 120)
    tab.settle()
    assert all(move_control(tab, "segment.*.zone"))
    tab.page.click("[data-ask=correction]")
    tab.until(lambda: tab.text("[data-part=correction]") == "correction: up to date", 180)
    tab.page.click("[data-open=saving]")
    tab.page.select_option("[data-kind]", "corrected")
    path = tmp_path / "better.src"
    tab.page.fill("[data-save-path]", str(path))
    tab.page.click("[data-save]")
    tab.until(lambda: "points of it corrected" in tab.text("[data-saved]"), 180)
    tab.page.keyboard.press("Escape")
    assert path.read_text() != (tmp_path / "two_seams.src").read_text()
    shutil.copy(tmp_path / "two_seams.dat", tmp_path / "better.dat")
    robot = at.Robot.load("rx90b").with_tool("laser_head")
    paths = []
    for name, count in (("two_seams.src", 4000), ("better.src", 200)):
        seam = at.Job.from_program(tmp_path / name, robot, tolerance="0.4 mm").seam
        paths.append(seam.path.at(np.linspace(0, seam.length, count)).p)
    apart = np.linalg.norm(paths[1][:, None] - paths[0], axis=2).min(axis=1)
    assert apart.max() < 1e-3  # of the same seams, by what the robot deviates
    assert tab.said == []


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
    dropped = tab.page.evaluate_handle(DROPPED, ["run.csv", path.read_text()])
    tab.page.dispatch_event("body", "drop", {"dataTransfer": dropped})
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
    tab.page.select_option("[data-kind]", "job")
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
    page.said, page.asked, page.answers, page.frames = [], [], [], {}
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
