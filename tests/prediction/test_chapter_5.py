"""The statements of chapter 5 of the laser welding thesis, as docs/chapter_5.md has them."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def study():
    spec = importlib.util.spec_from_file_location("chapter_5", ROOT / "studies" / "chapter_5.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_the_docs_says_what_holds():
    """Statement, figures to 2 % and verdict of each row are those the code gives now."""
    chapter = study()
    page = (ROOT / "docs" / "chapter_5.md").read_text(encoding="utf-8")
    written = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in page.splitlines()
        if line.startswith("| 5")
    ]
    found = chapter.statements()
    assert [row[1] for row in written] == [s.text for s in found]
    assert [row[3] for row in written] == [chapter.verdict(s) for s in found]
    for row, statement in zip(written, found, strict=True):
        ours, theirs = (re.findall(r"\d+\.?\d*", text) for text in (statement.figure, row[2]))
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert abs(float(a) - float(b)) <= max(0.02 * float(b), 1.0), statement


def test_the_statements_that_physics_must_give_hold():
    """Those that do not depend on assumed gains or masses: which joints reverse, where errors peak, both methods."""
    chapter = study()
    sure = [s for part in (chapter.reversal_statements, chapter.speed_statements) for s in part()]
    held = {s.text: s.holds for s in sure}
    assert held["only joints 2, 3 and 5 reverse, at about 5.25 s"] == 1
    assert held["the path error peaks at the reversal and in the ramps"] == 1
    assert held["joint 6 peaks at the reversal of joint 5 without reversing itself"] == 1
    assert held["the error grows with speed"] > 0
