"""A report as one HTML file that needs nothing else.

Viewer, style and data inside, no request allowed.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib import resources
from string import Template

from armtwin.maths.batch import Sentences
from armtwin.notebook.markup import element, join_markup, words
from armtwin.notebook.sampling import encode_series
from armtwin.notebook.sections import (
    Block,
    Data,
    Facts,
    Picture,
    Plot,
    Report,
    Scene,
    Section,
    Table,
    Text,
)


@cache
def read_asset(name: str) -> str:
    """The text of a file that comes with this package."""
    return (resources.files("armtwin.report") / name).read_text(encoding="utf-8")


def fill_page(name: str, parts: Mapping[str, str]) -> str:
    """A shipped page with markup in the places that it names."""
    return Template(read_asset(name)).substitute(parts)


def report_markup(report: Report, plots: Sequence[Plot]) -> str:
    """Verdict and sections of a report; a plot goes by its place in the list of all."""
    verdict = join_markup(element("p", f"verdict {x.tone}", words(x.text)) for x in report.verdict)
    note = read_asset("no_scripts.html")
    numbers: dict[int, int] = {}  # by identity: two plots may be equal
    for number, plot in enumerate(plots):
        numbers.setdefault(id(plot), number)
    return verdict + note + join_markup(_section(x, numbers) for x in report.sections)


def _section(section: Section, numbers: Mapping[int, int]) -> str:
    """A section; one that has nothing to show is left out."""
    blocks = join_markup(_block(block, numbers) for block in section.blocks)
    if not blocks:
        return ""
    title = element("h2", inside=words(section.title)) if section.title else ""
    return f"<section>\n{title}{blocks}</section>\n"


def _block(block: Block, numbers: Mapping[int, int]) -> str:
    match block:
        case Text():
            return _text(block)
        case Facts():
            return _facts(block)
        case Table():
            return _table(block)
        case Plot():
            return _plot(block, numbers[id(block)])
        case Picture():
            caption = element("figcaption", inside=words(block.caption))
            return element("figure", "picture", caption + element("div", "scroll", block.svg))
        case Scene():
            return _scene(block)
        case Data():
            return ""
        case _:
            return block.html()


def _scene(block: Scene) -> str:
    """The stage; a path without a tolerance has no error to draw and no colours to explain."""
    good, fair, bad = map(words, block.legend)
    legend = {"good": good, "fair": fair, "bad": bad}
    unjudged = "" if block.judged else " hidden"
    caption = words(block.caption)
    return fill_page("scene.html", {"caption": caption, "unjudged": unjudged, **legend})


def _text(block: Text) -> str:
    tone = f"verdict {block.tone}" if block.tone in ("good", "bad") else block.tone
    return element("p", tone, words(block.text)) + "\n"


def _facts(block: Facts) -> str:
    found = []
    for name, text in block.shown:
        found.append(element("dt", inside=words(name)) + element("dd", inside=words(text)))
    return element("dl", inside=join_markup(found)) + "\n"


def _table(block: Table) -> str:
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


def _cells(block: Table, k: int, row: list[str]) -> Sentences:
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


def _plot(block: Plot, number: int) -> str:
    shown = f"{block.y_label} over {block.x_label}"
    caption = element("figcaption", inside=words(block.caption))
    label = f"{shown}. {block.caption}"
    place = element("div", data_plot=number, role="group", aria_label=label)
    missing = f"A plot of {shown}, values in {block.unit}, is shown here where scripts run."
    note = element("noscript", inside=element("p", "soft", words(missing)))
    return element("figure", "plot", caption + place + note) + "\n"


def to_html(report: Report) -> str:
    """The page of a report."""
    blocks = [block for section in report.sections for block in section.blocks]
    plots = [block for block in blocks if isinstance(block, Plot)]
    scene = next((block for block in blocks if isinstance(block, Scene)), None)
    data = {
        "count": max((len(x) for x in report.series.values()), default=0),
        "start": 0 if scene is None else scene.start,
        "series": {name: encode_series(values) for name, values in report.series.items()},
        "plots": [
            {k: v for k, v in asdict(plot).items() if k not in ("kind", "caption")}
            for plot in plots
        ],
        "scene": None if scene is None else scene.model,
    }
    script, style = read_asset("bundle/viewer.js"), read_asset("bundle/style.css")
    policy = (
        f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}; "
        "img-src data:; base-uri 'none'"
    )
    parts = {
        "policy": words(policy),
        "title": words(report.title),
        "subtitle": words(report.subtitle),
        "body": report_markup(report, plots),
        "data": _json(data),
        "script": script,
        "style": style,
    }
    return fill_page("page.html", parts)


def _source(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def _json(value: object) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
