"""The report in a browser, network off: no error, no request; zoom, keys, phone and paper."""

import re
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import armtwin as at
from armtwin.jobs.groups import Segment, ToolOrientation
from armtwin.jobs.recreation import recreate
from armtwin.report.page import to_html
from armtwin.robot.schema.groups import Orientation, Pose
from tests.identification.clamped import curve
from tests.identification.test_identify import logged
from tests.identification.test_servo import motion
from tests.sweeps.examples import short_job

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on this machine: the report is not looked at"
)
HOSTILE = "<script>document.title='broken'</script>"


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--enable-unsafe-swiftshader", "--use-angle=swiftshader"]
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    job = at.Job.load("rx90b_corner_follow")
    p = at.predict(at.Job(replace(job.description, title=HOSTILE), job.origin))
    at.write_report(at.Answer(p, at.explain(p)), path)
    return path


class Opened:
    """A page of a browser without network, and what it complained about or asked for."""

    def __init__(
        self, browser, path, ready="[data-scene][data-ready=yes]", size=(1100, 800), **options
    ):
        viewport = {"width": size[0], "height": size[1]}
        self.context = browser.new_context(offline=True, viewport=viewport, **options)
        self.page, self.said, self.asked = self.context.new_page(), [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector(ready, timeout=60_000)
        self.page.wait_for_timeout(300)
        self.height = self.page.evaluate("document.documentElement.scrollHeight")

    def unfold(self):
        """Open all that is folded; returns the page."""
        self.page.evaluate("document.querySelectorAll('details').forEach(x => (x.open = true))")
        self.page.wait_for_timeout(200)
        return self

    def picture(self):
        return self.page.evaluate("document.querySelector('canvas').toDataURL()")

    def until(self, condition):
        """Wait for what the page does on its own time; its policy lets no script of ours poll."""
        for _ in range(100):
            if condition():
                return
            self.page.wait_for_timeout(50)
        pytest.fail("five seconds went by and nothing happened")

    def narrow(self):
        """A phone: the page is as wide as its screen once its plots have followed."""
        self.page.set_viewport_size({"width": 400, "height": 800})
        self.until(lambda: self.page.evaluate("document.documentElement.scrollWidth") <= 400)

    def told(self):
        return self.page.inner_text("[data-player] output")


@pytest.fixture(scope="module")
def once(browser, report):
    page = Opened(browser, report).unfold()
    yield page
    page.context.close()


@pytest.fixture
def opened(once):
    """The page all tests share, back at its top and its first view on a screen."""
    once.page.emulate_media(media="screen")
    once.page.keyboard.press("Escape")
    once.page.click("[data-view=whole]")
    once.page.evaluate("scrollTo(0, 0)")
    return once


def test_the_report_opens_without_an_error_or_a_request(opened, report):
    assert opened.said == []
    assert opened.asked == [report.as_uri()]
    assert opened.page.evaluate("document.documentElement.dataset.plots") == "7"


SCREEN = (1366, 768)


def test_the_first_screen_holds_verdict_place_cause_remedy_robot_and_error(browser, report):
    """Nothing is scrolled: all end above 768 px; the page as opened has at most three screens."""
    opened = Opened(browser, report, size=SCREEN)
    wanted = ["Where", "Why", "What to change"]
    places = [opened.page.locator("dt", has_text=re.compile(f"^{x}$")).first for x in wanted]
    places += [opened.page.locator(x) for x in (".verdict", ".scene canvas")]
    places += [opened.page.locator(".front [data-plot] .u-over")]
    for place in places:
        box = place.bounding_box()
        assert box["y"] + box["height"] <= SCREEN[1]
    sentences = opened.page.locator(".answer dd").all_inner_texts()
    assert len(sentences) == len(wanted)
    assert re.search(r"At \d+ mm of 535 mm: \d+ µm", sentences[0])
    assert re.search(r"[Jj]oint \d", sentences[1])
    assert opened.height <= 3 * SCREEN[1]
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= SCREEN[0]
    opened.context.close()


OTHERS = {  # by the kind of report: how many pictures, plots or charts are beside its answer
    "identify": ".plot",
    "servo": ".plot",
    "sweep": "canvas",
    "correct": ".chart",
    "compare": ".chart",
    "clamp": ".chart",
    "payload": ".chart",
}


def moved_log(name, seed=1):
    robot = at.Robot.load(name)
    t, q_ref = motion(robot, seed, 4.0)
    v = np.gradient(q_ref, t, axis=0)
    return robot, at.Log.of(t, q=q_ref - 2e-3 * v, q_ref=q_ref)


def result(kind):
    """A small result of a kind."""
    if kind == "identify":
        robot = at.Robot.load("tx40")
        log, other = (logged(robot, robot, 4.0, seed)[0] for seed in (1, 2))
        return at.judge(robot, at.identify(robot, [log], cutoff=10.0), other)
    if kind == "servo":
        robot, log = moved_log("kr300")
        return at.identify_servo(robot, log, moved_log("kr300", 2)[1])
    if kind == "sweep":
        places = {"workpiece.position.1": [0.4, 0.45], "workpiece.position.2": [0.0, 0.05]}
        return at.sweep(at.Sweep.over(short_job(), places))
    if kind == "correct":
        return at.correct(short_job(), nominal=True, rounds=2)
    if kind == "compare":
        return at.compare(*moved_log("tx40"))
    if kind == "clamp":
        return recreate(at.clamp(curve(cycles=3, rate=20), gear_ratio=250.0))
    bare = at.Robot.load("tx40")
    ten = np.zeros(len(bare.parameters))
    ten[50:60] = (4.0, 0.0, 0.0, 0.4, 0.06, 0.06, 0.02, 0.0, 0.0, 0.0)
    loaded = bare.with_parameters(bare.parameters + ten)
    return at.identify_payload(bare, *(logged(bare, x, 8.0, 1, 0)[0] for x in (bare, loaded)))


@pytest.mark.parametrize("kind", OTHERS)
def test_the_first_screen_of_every_kind_holds_its_answer_and_a_picture(browser, tmp_path, kind):
    """As opened at most three screens; each link of the contents opens its section."""
    path = tmp_path / "report.html"
    at.write_report(result(kind), path)
    opened = Opened(browser, path, "main", size=SCREEN)
    page = opened.page
    verdict = page.locator(".verdict").bounding_box()
    assert verdict["y"] + verdict["height"] <= SCREEN[1] / 2
    assert re.search(r"\d", page.inner_text(".verdict"))
    picture = page.locator(f".beside {OTHERS[kind]}").first.bounding_box()
    assert picture["x"] >= verdict["x"] + verdict["width"]
    assert picture["y"] + picture["height"] <= SCREEN[1]
    assert opened.height <= 3 * SCREEN[1]
    assert page.evaluate("document.documentElement.scrollWidth") <= SCREEN[0]
    cut = "[...document.querySelectorAll('.front .scroll')].map(x => x.scrollWidth - x.clientWidth)"
    assert max(page.evaluate(cut), default=0) <= 0
    for link in page.locator("nav a").all():
        link.click()
        section = page.locator(f"{link.get_attribute('href')} > :not(summary)").first
        opened.until(section.is_visible)
    assert poor_contrast(page) == []
    assert nameless(page) == []
    assert opened.said == []
    assert opened.asked == [path.as_uri()]
    opened.context.close()


CONTRAST = """() => {
  const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const linear = x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) =>
    0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const colour = parse(getComputedStyle(element).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), poor = [];
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, text = texts.currentNode.textContent.trim();
    if (!text || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const ink = parse(element instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) poor.push(`${text}: ${contrast.toFixed(2)}`);
  }
  return poor;
}"""
NAMELESS = """() => {
  const named = element => element.alt || element.getAttribute("aria-label") ||
    element.closest("[role=group][aria-label], [aria-hidden=true], label");
  const drawn = "canvas, img, [role=img], input, select";
  return [...document.querySelectorAll(drawn)].filter(x => !named(x)).map(x => x.outerHTML);
}"""


def poor_contrast(page):
    """Words whose colour differs from what is behind them by less than 4.5 [WCAG 2.1, 1.4.3]."""
    return page.evaluate(CONTRAST)


def nameless(page):
    """Pictures and controls without a text in their place."""
    return page.evaluate(NAMELESS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(opened, scheme):
    """All that is folded is open; the measure itself finds grey on white."""
    opened.page.emulate_media(color_scheme=scheme)
    assert poor_contrast(opened.page) == []
    opened.page.evaluate("document.querySelector('h1').style.color = 'var(--grid)'")
    found = poor_contrast(opened.page)
    opened.page.evaluate("document.querySelector('h1').style.color = ''")
    opened.page.emulate_media(color_scheme="light")
    assert len(found) == 1


def test_pictures_and_controls_have_a_text_in_their_place(opened):
    assert nameless(opened.page) == []


def test_the_tab_key_reaches_all_that_can_be_used(browser, report):
    """Links, buttons, folds, controls, plots and the robot, each once round the page."""
    opened = Opened(browser, report, size=SCREEN)
    mark = """() => {
      const used = "a[href], button, select, input, summary, [tabindex='0']";
      const seen = [...document.querySelectorAll(used)].filter(x => x.checkVisibility());
      seen.forEach((element, k) => element.setAttribute("data-stop", k));
      return seen.length;
    }"""
    stops = opened.page.evaluate(mark)
    assert stops > 20
    reached = set()
    for _ in range(stops + 5):
        opened.page.keyboard.press("Tab")
        reached.add(opened.page.evaluate("document.activeElement.dataset.stop"))
    assert {str(k) for k in range(stops)} <= reached
    opened.context.close()


def test_the_order_is_the_same_on_a_phone_and_on_paper(browser, report):
    """Verdict, answer, robot, error along the seam, numbers; on paper a line to sign after them."""
    parts = [".verdict", ".answer dl", ".stage", ".front [data-plot]", ".more > dl"]
    opened = Opened(browser, report)
    opened.narrow()
    assert_order(opened.page, parts)
    opened.page.set_viewport_size({"width": 794, "height": 1123})
    opened.page.emulate_media(media="print")
    assert_order(opened.page, [*parts, ".sign", ".fold"])
    opened.context.close()


def assert_order(page, parts):
    boxes = [page.locator(part).first.bounding_box() for part in parts]
    for above, below in pairwise(boxes):
        assert above["y"] + above["height"] <= below["y"] + 1


def test_the_sheet_is_one_page_of_paper(browser, tmp_path):
    """Verdict, picture, numbers, what was assumed, signature; the report has more pages."""
    p = at.predict(at.Job.load("rx90b_corner_follow"))
    answer = at.Answer(p, at.explain(p))
    pages = {}
    for name, sheet in (("sheet", True), ("report", False)):
        path = tmp_path / f"{name}.html"
        path.write_text(to_html(answer.sections(), sheet=sheet), encoding="utf-8")
        opened = Opened(browser, path)
        pages[name] = len(re.findall(rb"/Type\s*/Page\b", opened.page.pdf(format="A4")))
        for part in (".verdict", ".answer dl", ".scene", ".more > dl", ".sign"):
            assert sheet is False or opened.page.locator(part).first.is_visible()
        assert opened.page.locator(".fold").first.is_visible() != sheet
        opened.context.close()
    assert pages["sheet"] == 1 < pages["report"]


def test_a_link_of_the_contents_opens_its_section(browser, report):
    opened = Opened(browser, report, size=SCREEN)
    heading = opened.page.locator("summary", has_text="Joints")
    table = opened.page.locator("details", has=heading).locator("table").first
    assert not table.is_visible()
    opened.page.locator("nav a", has_text="Joints").focus()
    opened.page.keyboard.press("Enter")
    opened.until(table.is_visible)
    opened.until(lambda: -1 <= heading.bounding_box()["y"] < SCREEN[1] / 2)
    assert opened.said == []
    opened.context.close()


def test_the_3d_view_names_the_line_of_the_program_that_leads_the_tool(browser, tmp_path):
    program = Path(__file__).parents[2] / "docs" / "programs" / "two_seams.src"
    robot = at.Robot.load("rx90b").with_tool("laser_head")
    p = at.predict(at.Job.from_program(program, robot, tolerance="0.4 mm"))
    path = tmp_path / "program.html"
    at.write_report(at.Answer(p), path)
    page = Opened(browser, path)
    slider = page.page.locator("[data-player] input")
    ends = {x.line: x.stop for x in _stretches_with_lines(p.job)}
    samples = int(slider.get_attribute("max"))
    told = set()
    for k in range(0, samples, samples // 60):
        slider.fill(str(k))
        found = re.fullmatch(r"[\d.]+ s, ([\d.]+) mm, line (\d+)", page.told())
        assert float(found[1]) <= 1e3 * ends[int(found[2])] + 0.1
        told.add(int(found[2]))
    assert told == {13, 15, 16, 18, 20, 21, 22}
    assert page.said == []
    page.context.close()


def _stretches_with_lines(job):
    """Stretches of a job's path, each with the line of its segment."""
    for stretch in job.seam.path.stretches:
        line = job.description.segment[stretch.move].line
        yield SimpleNamespace(line=line, stop=stretch.stop)


def test_a_hydraulic_robot_and_its_cylinders_are_played_slowly(browser, tmp_path):
    """120 ms in 6 s; nothing is said of a tolerance, which a step response has none of."""
    path = tmp_path / "step.html"
    at.write_report(at.step_response(at.Robot.load("epaas"), {"L4": -0.22}), path)
    page = Opened(browser, path)
    before = page.picture()
    page.page.locator("[data-player] input").fill("150")
    assert page.picture() != before
    assert re.fullmatch(r"30\.\d ms, \d\.\d mm", page.told())
    page.page.click("[data-player] button")
    page.page.wait_for_timeout(1000)
    played = float(page.told().partition(" ms")[0])
    assert 35 < played < 90  # 20 ms a second, and what the machine lets pass
    assert not page.page.is_visible("text=out of tolerance")
    assert page.said == []
    page.context.close()


def test_the_slider_moves_the_robot(opened):
    before = opened.picture()
    opened.page.locator("[data-player] input").fill("100")
    assert opened.picture() != before
    assert opened.told() != ""


def test_hovering_the_error_plot_moves_the_marker_and_the_other_plots(opened):
    before, time = opened.picture(), opened.told()
    plot = opened.page.locator("[data-plot='0'] .u-over")
    box = plot.bounding_box()
    plot.hover(position={"x": 0.2 * box["width"], "y": 0.5 * box["height"]})
    opened.page.wait_for_timeout(200)
    assert opened.told() != time
    assert opened.picture() != before
    place = float(re.search(r"([\d.]+) mm", opened.told())[1])
    assert place == pytest.approx(0.2 * 535, abs=8)  # the axis of the plot is the seam
    other = opened.page.inner_text("[data-plot='1'] .u-legend")
    assert f"{place:.1f}" in other


def test_keys_turn_the_view_step_the_plots_and_play(opened):
    before = opened.picture()
    opened.page.focus("canvas")
    opened.page.keyboard.press("ArrowRight")
    assert opened.picture() != before
    time = opened.told()
    opened.page.focus("[data-plot='0']")
    opened.page.keyboard.press("PageDown")
    assert opened.told() != time
    time = opened.told()
    opened.page.focus("[data-player] button")
    opened.page.keyboard.press("Enter")
    opened.page.wait_for_timeout(600)
    assert opened.told() != time
    opened.page.keyboard.press("Enter")  # pause


def test_the_wheel_over_the_robot_scrolls_the_page_and_zooms_with_ctrl(opened):
    def over_the_robot():
        box = opened.page.locator(".scene canvas").bounding_box()
        opened.page.mouse.move(box["x"] + 200, box["y"] + 50)
        return opened.page.evaluate("scrollY")

    opened.page.locator(".scene canvas").scroll_into_view_if_needed()
    start = over_the_robot()
    before = opened.picture()
    opened.page.mouse.wheel(0, 150)
    opened.until(lambda: opened.page.evaluate("scrollY") > start + 100)
    assert opened.picture() == before
    opened.page.evaluate(f"scrollTo(0, {start})")
    over_the_robot()
    opened.page.keyboard.down("Control")
    opened.page.mouse.wheel(0, 150)
    opened.page.keyboard.up("Control")
    opened.until(lambda: opened.picture() != before)
    assert opened.page.evaluate("scrollY") == start


def test_named_views_and_the_exaggerated_error_change_the_picture(opened):
    seen = {opened.picture()}
    for name in ("front", "side", "top", "seam"):
        opened.page.click(f"[data-view={name}]")
        seen.add(opened.picture())
    opened.page.select_option("[data-error]", "1000")
    seen.add(opened.picture())
    assert len(seen) == 6


def zoomed(opened):
    """Drag over the middle of the first plot; what both error plots then show of the seam, mm."""
    over = opened.page.locator("[data-plot='0'] .u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    y = box["y"] + 0.5 * box["height"]
    opened.page.mouse.move(box["x"] + 0.4 * box["width"], y)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + 0.6 * box["width"], y, steps=3)
    opened.page.mouse.up()
    opened.page.wait_for_timeout(200)


def readings(opened, plot):
    """Places along the seam, mm, under the left and the right edge of a plot."""
    over = opened.page.locator(f"[data-plot='{plot}'] .u-over")
    over.scroll_into_view_if_needed()
    box, found = over.bounding_box(), []
    for share in (0.01, 0.99):
        x, y = box["x"] + share * box["width"], box["y"] + 0.5 * box["height"]
        opened.page.mouse.move(x, y)
        opened.page.wait_for_timeout(50)
        found.append(float(re.search(r"([\d.]+) mm", opened.told())[1]))
    return found


def test_a_zoom_moves_the_sister_plots_and_a_key_undoes_it(opened):
    """Over a seam of 535 mm the middle fifth is 214 to 321 mm; Esc shows all again in both."""
    zoomed(opened)
    for plot in (0, 1):
        assert readings(opened, plot) == pytest.approx([214, 321], abs=8)
    assert opened.page.locator("[data-plot='1'] .whole").is_visible()
    opened.page.keyboard.press("Escape")
    opened.page.wait_for_timeout(200)
    for plot in (0, 1):
        assert readings(opened, plot) == pytest.approx([5, 530], abs=8)
    assert not opened.page.locator("[data-plot='1'] .whole").is_visible()


def test_a_phone_of_400_pixels_shows_all_without_scrolling_sideways(browser, report):
    opened = Opened(browser, report).unfold()
    opened.narrow()
    # letters are not broken one a line: no cell of words is narrower than eight letters
    script = "[...document.querySelectorAll('table.words td')].map(e => e.clientWidth)"
    assert min(w for w in opened.page.evaluate(script) if w) > 100
    opened.context.close()


def test_without_scripts_the_page_says_so_and_keeps_its_tables(browser, report):
    context = browser.new_context(offline=True, java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    page.locator("summary", has_text="Where and why").click()
    text = page.locator("main").inner_text()
    context.close()
    assert "No scripts run here" in text
    assert "A plot of vertical error over along the seam [mm], values in µm, is shown here" in text
    assert "friction reversal" in text
    assert "Play" not in text


def test_a_cause_of_the_table_shows_its_place(opened):
    time = opened.told()
    opened.page.locator("[data-sample]").last.click()
    assert opened.told() != time


def test_paper_keeps_the_picture(opened, tmp_path):
    """In print the picture replaces the canvas, and the file holds an image of it."""
    size = opened.page.evaluate("document.querySelector('.scene img').src.length")
    assert size > 10_000
    opened.page.emulate_media(media="print")
    assert opened.page.locator(".scene img").is_visible()
    assert not opened.page.locator(".scene canvas").is_visible()
    pdf = opened.page.pdf()
    assert b"/Subtype /Image" in pdf or b"/Subtype/Image" in pdf


def test_the_report_of_an_identification_opens_and_its_plots_follow_each_other(browser, tmp_path):
    robot = at.Robot.load("tx40")
    log = logged(robot, robot, 8.0, 1)[0]
    path = tmp_path / "identified.html"
    at.write_report(at.identify(robot, [log], cutoff=10.0), path)
    opened = Opened(browser, path, "[data-plots='6']").unfold()
    assert opened.said == []
    assert opened.asked == [path.as_uri()]
    opened.page.focus("[data-plot='0']")
    before = opened.page.inner_text("[data-plot='3'] .u-legend")
    opened.page.keyboard.press("PageDown")
    assert opened.page.inner_text("[data-plot='3'] .u-legend") != before
    singular = opened.page.locator(".chart .pane[aria-label^='Singular']")
    assert singular.bounding_box()["width"] > 600
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 1100
    opened.narrow()
    pane = singular.bounding_box()
    assert pane["x"] > 50  # room for the labels of the y axis
    assert 250 < pane["width"] < 400 - pane["x"]
    opened.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_paint_their_own_paper(browser, report, scheme):
    opened = Opened(browser, report, color_scheme=scheme)
    paper = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    opened.context.close()
    assert (max(map(int, re.findall(r"\d+", paper))) < 60) == (scheme == "dark")


def test_a_hostile_title_is_shown_as_text(opened):
    assert opened.page.inner_text("h1") == HOSTILE
    assert opened.page.title() == HOSTILE


def test_a_job_of_ten_minutes_opens(browser, tmp_path):
    """Eighty metres back and forth at 150 mm/s: decimated, its peaks kept, below two megabytes."""
    job = at.Job.load("rx90b_line")
    points, up, x, way = [(0.0, 0.0, 0.0)], False, 0, 1
    while len(points) < 2 * 200:
        up = not up
        points.append((0.02 * x, 0.4 * up, 0.0))
        x += way
        points.append((0.02 * x, 0.4 * up, 0.0))
        way = -way if x in (0, 12) else way
    segments = [Segment(name=f"{k}", lin=p, blend=0.007) for k, p in enumerate(points[1:], 1)]
    segments[-1] = replace(segments[-1], blend=None)
    d = replace(
        job.description,
        start=points[0],
        segment=tuple(segments),
        posture=None,
        speed=0.14,
        workpiece=Pose(position=(0.45, -0.2, 0.1)),
        orientation=ToolOrientation(Orientation(rpy=(np.pi, 0.0, np.pi))),
    )
    p = at.predict(at.Job(d))
    assert p.job.seam.duration > 550
    path = tmp_path / "long.html"
    at.write_report(at.Answer(p), path)
    assert path.stat().st_size < 2_000_000
    opened = Opened(browser, path)
    assert opened.said == []
    opened.context.close()


def test_the_page_of_a_sweep_has_its_map_and_its_tiles(browser, tmp_path):
    """The view with tiles is another picture than that of the same robot without them."""
    places = {"workpiece.position.1": [0.4, 0.45], "workpiece.position.2": [0.0, 0.05]}
    found = at.sweep(at.Sweep.over(short_job(), places))
    path, without = tmp_path / "sweep.html", tmp_path / "without.html"
    at.write_report(found, path)
    without.write_text(re.sub('"map":{[^}]*}', '"map":null', path.read_text()))
    pages = [Opened(browser, each) for each in (path, without)]
    for opened in pages:
        assert opened.said == []
        assert [url for url in opened.asked if not url.startswith(("file:", "data:"))] == []
        assert opened.page.locator(".pane .cell").count() == 4
        for place in (".verdict", ".more .chart", ".beside canvas"):  # the first screen has them
            assert opened.page.locator(place).bounding_box()["y"] < 400
        opened.page.click("[data-view=seam]")
    assert pages[0].picture() != pages[1].picture()
    pages[0].narrow()
    for opened in pages:
        opened.context.close()
