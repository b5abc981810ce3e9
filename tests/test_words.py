"""Messages, help texts and reports use the field's words: retired ones do not come back."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import armtwin

ROOT = Path(armtwin.__file__).parent
RETIRED = {
    "identified, identifiable": r"\btold\b|\btells?\b|\btelling\b",
    "regularised towards the prior, sampled": r"\bdrawn\b|\bdraws? to\b",
    "error, residual": r"\bmiss(es|ed)\b",
    "90 % interval": r"nine of ten|of ten such|\b[1-9] in 10\b|better half|worse half",
    "gravity direction, base tilt": r"\b[Ff]ree fall\b|\bleans?\b|\bleaning\b",
    "pre-sliding hysteresis": r"\bremembers?\b|\bbristles\b",
    "physical consistency": r"\bdear\b|\baffordable\b",
    "deflects, back and forth": r"\bgives? way\b|to and fro|made up for beforehand",
    "with 95 % confidence": r"\bsurely\b|may ask for",
    "assumes, depends on, is used as": r"\brests? on\b|\bhangs? on\b|\bstands for\b",
    "is within, exceeds the tolerance": r"(keep|leave)s? (the|its) tolerance",
    "third-party code": r"machine code of others",
}


def docstrings(tree):
    """Constants that are docstrings of a module and what is in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value


@cache
def sentences():
    """Texts of several words that a user may read, with their places: help texts are docstrings."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        hidden = set() if "app" in path.parts else set(docstrings(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and node not in hidden:
                text = node.value
                if isinstance(text, str) and " " in text.strip():
                    place = f"{path.relative_to(ROOT)}:{node.lineno}"
                    found.append((place, " ".join(text.split())))
    return found


@pytest.mark.parametrize("instead", RETIRED)
def test_no_sentence_for_users_has_a_retired_word(instead):
    pattern = re.compile(RETIRED[instead])
    found = [f"{place}: {text}" for place, text in sentences() if pattern.search(text)]
    assert not found, f"write: {instead}"


def test_sentences_are_found_and_docstrings_of_kernels_are_none():
    texts = dict(sentences())
    assert len(texts) > 2000
    assert any("Replace existing files" in text for text in texts.values())
