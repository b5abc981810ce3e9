"""A report as one HTML file that needs nothing else.

Viewer, style and data inside, no request allowed.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import asdict
from typing import Any

from armtwin.notebook.markup import words
from armtwin.notebook.sampling import packed
from armtwin.notebook.sections import Plot, Report, Scene
from armtwin.report.blocks import filled, report_markup, shipped


def to_html(report: Report) -> str:
    """The page of a report."""
    blocks = [block for section in report.sections for block in section.blocks]
    plots = [block for block in blocks if isinstance(block, Plot)]
    scene = next((block for block in blocks if isinstance(block, Scene)), None)
    data = {
        "count": max((len(x) for x in report.series.values()), default=0),
        "start": 0 if scene is None else scene.start,
        "series": {name: packed(values) for name, values in report.series.items()},
        "plots": [
            {k: v for k, v in asdict(plot).items() if k not in ("kind", "caption")}
            for plot in plots
        ],
        "scene": None if scene is None else scene.model,
    }
    script, style = shipped("bundle/viewer.js"), shipped("bundle/style.css")
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
    return filled("page.html", parts)


def _source(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def _json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
