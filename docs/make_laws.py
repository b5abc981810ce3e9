"""Write the keys of every friction law into docs/robot_file.md: `python docs/make_laws.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, get_args

from make_api import Docstring

from armtwin.drives.friction.laws import Law

PAGE = Path(__file__).with_name("robot_file.md")
SECTIONS = re.compile(r'### friction, law = ".*?(?=### (?!friction, law = "))', re.DOTALL)


def page() -> str:
    """The page, with a section for each law."""
    text = PAGE.read_text(encoding="utf-8")
    sections = "\n\n".join("\n".join(section(kind)) for kind in get_args(Law))
    return SECTIONS.sub(lambda _: f"{sections}\n\n", text, count=1)


def section(kind: Any) -> Iterator[str]:
    """What a law computes, and a line for each of its keys."""
    doc = Docstring(kind)
    yield f'### friction, law = "{kind.law}"'
    for paragraph in doc.text.split("\n\n"):
        yield ""
        yield " ".join(paragraph.split())
    yield ""
    for field in fields(kind):
        required = " (required)" if field.default is MISSING else ""
        about = doc.entries.get(field.name, f'"{kind.law}"')
        yield f"- `{field.name}`{required}: {about}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
