"""A report as one HTML file that needs nothing else.

Viewer, style and data inside, no request allowed.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import asdict
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.report.sections import Plot, Report, Scene


@cache
def _bundled(name: str) -> str:
    return (resources.files("armtwin.report") / "bundle" / name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    text = (resources.files("armtwin.report") / "page.html").read_text(encoding="utf-8")
    rules = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return rules.from_string(text)


def to_html(report: Report) -> str:
    """The page of a report."""
    from markupsafe import Markup

    blocks = [block for section in report.sections for block in section.blocks]
    plots = [block for block in blocks if isinstance(block, Plot)]
    scene = next((block for block in blocks if isinstance(block, Scene)), None)
    data = {
        "count": max((len(x) for x in report.series.values()), default=0),
        "start": report.start,
        "series": {name: packed(values) for name, values in report.series.items()},
        "plots": [
            {k: v for k, v in asdict(plot).items() if k not in ("kind", "caption")}
            for plot in plots
        ],
        "scene": None if scene is None else scene.model,
    }
    script, style = _bundled("viewer.js"), _bundled("style.css")
    policy = (
        f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}; "
        "img-src data:; base-uri 'none'"
    )
    return str(
        _template().render(
            report=report,
            number=lambda plot: next(k for k, x in enumerate(plots) if x is plot),
            policy=policy,
            script=Markup(script),
            style=Markup(style),
            data=Markup(_json(data)),
        )
    )


def packed(values: Floats) -> str:
    """A series as base64 of 32-bit floats, the smallest that keeps what a plot can show."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def _source(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def _json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
