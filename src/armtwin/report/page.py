"""A report as one HTML file that needs nothing else.

Viewer, style and data inside, no request allowed.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import resources
from string import Template

from armtwin.maths.batch import Record, Sentences
from armtwin.notebook import sections as show
from armtwin.notebook.markup import element, join_markup, prose, words
from armtwin.notebook.sampling import encode_series

FIRST = ("answer", "numbers", "picture")  # roles of the first screen
SHORT = 10  # rows of a table beside its picture


@cache
def read_asset(name: str) -> str:
    """The text of a file that comes with this package."""
    return (resources.files("armtwin.report") / name).read_text(encoding="utf-8")


def fill_page(name: str, parts: Mapping[str, str]) -> str:
    """A shipped page with markup in the places that it names."""
    return Template(read_asset(name)).substitute(parts)


@dataclass(frozen=True)
class Fold:
    """A section below the first screen: its title and its markup; None of one that is not read."""

    title: str
    markup: str | None


@dataclass(frozen=True)
class PageParts:
    """A report in the parts of a page.

    Attributes:
        front: The first screen.
        folds: What is folded below.
        data: What the viewer draws.
    """

    front: str
    folds: Sequence[Fold]
    data: Record


def page_parts(report: show.Report, chosen: Collection[str] | None = None) -> PageParts:
    """The first screen of a report, its sections, and the data of its plots and its scene.

    Args:
        report: The report.
        chosen: Titles of the sections to read beside the first screen; by default all.
    """
    sections = report.sections
    read = [x for x in sections if chosen is None or x.role in FIRST or x.title in chosen]
    known = replace(report, sections=tuple(read))
    blocks = [block for section in read for block in section.blocks]
    plots = [block for block in blocks if isinstance(block, show.Plot)]
    scene = next((block for block in blocks if isinstance(block, show.Scene)), None)
    numbers: dict[int, int] = {}  # of the plots, by identity: two plots may be equal
    for number, plot in enumerate(plots):
        numbers.setdefault(id(plot), number)
    front, shown = _front(known, numbers)
    folds = []
    for section in sections:
        if section not in read:
            if section.title and section.content != ():
                folds.append(Fold(section.title, None))
            continue
        inside = _blocks([x for x in section.blocks if id(x) not in shown], numbers)
        if inside:
            folds.append(Fold(section.title or "Details", inside))
    return PageParts(front, folds, _data(report, plots, scene))


def _data(report: show.Report, plots: Sequence[show.Plot], scene: show.Scene | None) -> Record:
    """What the viewer draws."""
    used = set() if scene is None else set(scene.series)
    for plot in plots:
        used.update((plot.x, *(line.series for line in plot.lines)))
    series = {name: values for name, values in report.series.items() if name in used}
    return {
        "count": max((len(x) for x in series.values()), default=0),
        "start": 0 if scene is None else scene.start,
        "series": {name: encode_series(values) for name, values in series.items()},
        "plots": [{k: v for k, v in asdict(plot).items() if k != "caption"} for plot in plots],
        "scene": None if scene is None else scene.model,
    }


def _front(report: show.Report, numbers: Mapping[int, int]) -> tuple[str, set[int]]:
    """The first screen, and the identities of the blocks that it shows."""
    picture = report.of_role("picture") or _first_pictures(report)
    heading, behind = "", report.of_role("numbers")
    if not behind:
        heading, behind = _first_numbers(report)
    notes = _blocks(report.verdict[1:], numbers)
    parts = {
        "answer": join_markup(_headline(text) for text in report.verdict[:1])
        + _blocks(report.of_role("answer"), numbers),
        "more": heading + _blocks(behind, numbers) + element("div", "notes", notes),
        "picture": _blocks(picture, numbers),
        "assumed": _assumed(report),
        "no_scripts": read_asset("no_scripts.html"),
    }
    shown = {id(block) for block in (*picture, *behind, *report.of_role("answer"))}
    return fill_page("front.html", parts), shown


def _body(parts: PageParts) -> str:
    """The first screen, then the sections folded under a list of contents."""
    folds, contents = [], []
    for number, fold in enumerate(parts.folds):
        title = words(fold.title)
        contents.append(element("a", inside=title, href=f"#s{number}"))
        summary = element("summary", inside=element("h2", inside=title))
        inside = summary + (fold.markup or "")
        folds.append(element("details", "fold", inside, id=f"s{number}") + "\n")
    listing = element("nav", "", join_markup(contents), aria_label="Contents") if contents else ""
    return parts.front + listing + join_markup(folds)


def _headline(text: show.Text) -> str:
    """A verdict: the words that stand out, and the sentence behind them."""
    lead = element("strong", inside=words(text.lead)) if text.lead else ""
    rest = element("span", inside=prose(text.text.removeprefix(text.lead).strip()))
    return element("p", f"verdict {text.tone or 'plain'}", lead + rest)


def _first_pictures(report: show.Report) -> Sequence[show.Block]:
    """What stands beside the answer where no section is made for it.

    The robot and the first picture; without a robot two plots, where there are so many.
    """
    found = [
        x
        for x in report.blocks
        if not isinstance(x, show.Text | show.Facts | show.Table | show.Data)
    ]
    scenes = [x for x in found if isinstance(x, show.Scene)]
    flat = [x for x in found if not isinstance(x, show.Scene)]
    pair = not scenes and all(isinstance(x, show.Plot) for x in flat[:2])
    return (*scenes[:1], *flat[: 2 if pair else 1])


def _first_numbers(report: show.Report) -> tuple[str, tuple[show.Block, ...]]:
    """What stands below the answer where no section is made for it: facts, or a short table.

    With the title of the section that it is taken from.
    """
    for section in report.sections:
        if section.role:
            continue
        heading = element("h2", inside=words(section.title)) if section.title else ""
        for block in section.blocks:
            if isinstance(block, show.Facts) and block.shown:
                return heading, (block,)
            if (
                isinstance(block, show.Table)
                and 0 < len(block.records) <= SHORT
                and not block.folded
            ):
                return heading, (block.in_brief,)
    return "", ()


def _assumed(report: show.Report) -> str:
    """What the answer assumes, in sentences, as paper shows it."""
    texts = (x for x in report.of_role("assumed") if isinstance(x, show.Text) and x.tone != "soft")
    sentences = join_markup(_text(text) for text in texts)
    return element("h2", inside="What this assumes") + sentences if sentences else ""


def _blocks(blocks: Iterable[show.Block], numbers: Mapping[int, int]) -> str:
    return join_markup(_block(block, numbers) for block in blocks)


def _block(block: show.Block, numbers: Mapping[int, int]) -> str:
    match block:
        case show.Text():
            return _text(block)
        case show.Facts():
            return _facts(block)
        case show.Table():
            return _table(block)
        case show.Plot():
            return _plot(block, numbers[id(block)])
        case show.Picture():
            caption = element("figcaption", inside=words(block.caption))
            return element("figure", "picture", caption + element("div", "scroll", block.svg))
        case show.Scene():
            return _scene(block)
        case show.Data():
            return ""
        case _:
            return block.html()


def _scene(block: show.Scene) -> str:
    """The stage; a path without a tolerance has no error to draw and no colours to explain."""
    good, fair, bad = map(words, block.legend)
    legend = {"good": good, "fair": fair, "bad": bad}
    unjudged = "" if block.judged else " hidden"
    caption = words(block.caption)
    return fill_page("scene.html", {"caption": caption, "unjudged": unjudged, **legend})


def _text(block: show.Text) -> str:
    tone = f"note {block.tone}" if block.tone not in ("", "soft") else block.tone
    return element("p", tone, prose(block.text)) + "\n"


def _facts(block: show.Facts) -> str:
    found = []
    for name, text in block.shown:
        found.append(element("dt", inside=words(name)) + element("dd", inside=prose(text)))
    return element("dl", inside=join_markup(found)) + "\n"


def _table(block: show.Table) -> str:
    if not block.records:
        return ""
    head = join_markup(element("th", scope="col", inside=words(cell)) for cell in block.head)
    rows = join_markup(
        f"<tr>{join_markup(_cells(block, k, row))}</tr>\n" for k, row in enumerate(block.rows)
    )
    inside = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n"
    table = element("div", "scroll", element("table", "words" if block.words else "", inside))
    if not block.folded:
        return table + "\n"
    return f"<details><summary>{words(block.folded)}</summary>\n{table}\n</details>\n"


def _cells(block: show.Table, k: int, row: list[str]) -> Sentences:
    """The cells of row k; the first may point to a sample, and be out of tolerance."""
    sample = block.samples[k] if block.samples else None
    for i, cell in enumerate(row):
        inside = words(cell)
        tone = "bad" if i == 0 and k in block.bad else ""
        link = block.columns[i].link
        address = "" if link is None else link(block.records[k])
        if address:
            inside = element("a", inside=inside, href=address)
        if i == 0 and sample is not None:
            inside = element("button", inside=inside, data_sample=sample)
        if block.words:
            yield element("td", tone, inside, data_label=block.head[i])
        else:
            yield element("td", tone, inside)


def _plot(block: show.Plot, number: int) -> str:
    shown = f"{block.y_label} over {block.x_label}"
    caption = element("figcaption", inside=words(block.caption))
    label = f"{shown}. {block.caption}"
    place = element("div", data_plot=number, role="group", aria_label=label)
    missing = f"A plot of {shown}, values in {block.unit}, is shown here where scripts run."
    note = element("noscript", inside=element("p", "soft", words(missing)))
    return element("figure", "plot", caption + place + note) + "\n"


def to_html(report: show.Report, sheet: bool = False) -> str:
    """The page of a report.

    Args:
        report: The report.
        sheet: Whether it is the one page to print and sign, without what is folded.
    """
    page = page_parts(report)
    script, style = read_asset("bundle/viewer.js"), read_asset("bundle/style.css")
    policy = (
        f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}; "
        "img-src data:; base-uri 'none'"
    )
    parts = {
        "policy": words(policy),
        "kind": "armtwin sheet" if sheet else "armtwin",
        "title": words(report.title),
        "subtitle": words(report.subtitle),
        "body": _body(page),
        "data": to_json(page.data),
        "script": script,
        "style": style,
    }
    return fill_page("page.html", parts)


def _source(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def to_json(value: object) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
