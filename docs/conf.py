"""The documentation as a site: `make docs`, or `python -m sphinx -W docs docs/_site`.

The pages are written to be read in the repository too. What only the site needs is added here as
they are read: the tree of contents is made of the lists in index.md, and the pages beside docs/
take the places of those in docs/site/.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
OUTSIDE = {"CONTRIBUTING.md": "site/contributing.md", "CHANGELOG.md": "site/changelog.md"}
LISTED = re.compile(r"^- \[.+?\]\((\S+)\.(?:md|ipynb)\)", re.MULTILINE)

project = "armtwin"
author = "the authors of armtwin"
source = (ROOT / "src" / "armtwin" / "__init__.py").read_text(encoding="utf-8")
release = re.findall(r'__version__ = "(.+)"', source)[0]
language = "en"
extensions = ["myst_parser"]
myst_heading_anchors = 4
exclude_patterns = ["_site"]
html_theme = "furo"
html_title = f"armtwin {release}"
html_copy_source = False
html_show_sphinx = False


def replace_links(text: str, depth: int) -> str:
    """Links to pages beside docs/ as links to their pages of the site.

    Args:
        text: A page.
        depth: Folders between docs/ and it.
    """
    for name, page in OUTSIDE.items():
        text = text.replace(f"](../{'../' * depth}{name})", f"]({'../' * depth}{page})")
    return text.replace(f"](../{'../' * depth}README.md)", f"]({'../' * depth}index.md)")


def read_outside(page: str) -> str:
    """A page from beside docs/, with links as from docs/site/; "" for any other."""
    for name, place in OUTSIDE.items():
        if place == f"{page}.md":
            text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](../")
            return text.replace("](CHANGELOG.md)", "](changelog.md)")
    return ""


def make_tree(index: str) -> str:
    """The tree of contents of the site: a part for each heading of the index."""
    parts = []
    for section in index.split("\n## ")[1:]:
        heading, _, body = section.partition("\n")
        pages = "\n".join(LISTED.findall(body))
        parts.append(f"```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{pages}\n```\n")
    return "\n".join(parts)


def prepare(app: Sphinx, page: str, text: list[str]) -> None:
    """Add to a page what only the site needs."""
    text[0] = read_outside(page) or replace_links(text[0], page.count("/"))
    if page == "index":
        text[0] += f"\n{make_tree(text[0])}"


def setup(app: Sphinx) -> None:
    """Let pages be prepared as they are read."""
    app.connect("source-read", prepare)
