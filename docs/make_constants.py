"""Write docs/constants.md, the numeric constants of the sources: `python docs/make_constants.py`.

A constant is a name in capitals that a module gives a number, an expression of numbers, or a tuple
of them. Its reason is the comment behind it or above it, its unit what stands there in brackets.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parent
PAGE = DOCS / "constants.md"
SOURCES = DOCS.parent / "src" / "armtwin"
NAME = re.compile(r"_?[A-Z][A-Z0-9_]*")
UNIT = re.compile(r"\[((?![^\]]*\d{4})[^\]]+)\]")  # no reference, which has a year
LONGEST_VALUE = 40  # characters; what is longer is cut
HEAD = """# Numeric constants

Made from the sources by `python docs/make_constants.py`: every name in capitals that a module gives
a number. The reason is the comment behind or above it. Numbers of rows and columns, counted
from 0 (`range`), are left out.

![The stages of a tick, whose constants are listed here too](pictures/tick.svg)

{count} constants in {modules} modules; {silent} have no comment, their names have to say it.
"""


class Constant(NamedTuple):
    """A numeric constant.

    Attributes:
        module: Its module, as `maths/bits`.
        name: Its name.
        value: Its value as the source has it.
        unit: Its unit, or nothing.
        reason: Why it has that value.
    """

    module: str
    name: str
    value: str
    unit: str
    reason: str


def page() -> str:
    """The whole page."""
    constants = list(find_constants())
    modules = {constant.module for constant in constants}
    silent = sum(not constant.reason for constant in constants)
    parts = [HEAD.format(count=len(constants), modules=len(modules), silent=silent).rstrip()]
    packages = sorted({constant.module.partition("/")[0] for constant in constants})
    for package in packages:
        chosen = [one for one in constants if one.module.partition("/")[0] == package]
        parts += [f"## {package}", table(chosen)]
    return "\n\n".join(parts) + "\n"


def table(constants: list[Constant]) -> str:
    """A table of constants; a module is named in its first row."""
    lines = ["| module | name | value | unit | reason |", "|---|---|---|---|---|"]
    before = ""
    for one in constants:
        module = "" if one.module == before else one.module.partition("/")[2] or one.module
        cells = (module, f"`{one.name}`", f"`{one.value}`", one.unit, one.reason)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        before = one.module
    return "\n".join(lines)


def find_constants() -> Iterator[Constant]:
    """Every constant, module by module in the order of the source."""
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        module = path.relative_to(SOURCES).with_suffix("").as_posix()
        behind, above = read_comments(text)
        known = {"np.pi", "math.pi", "pi"}
        shared, last = "", -1
        for node in ast.parse(text).body:
            follows = node.lineno == last + 1
            shared = above.get(node.lineno - 1, shared if follows else "")
            last = node.end_lineno or node.lineno
            reason = behind.get(last, "") or shared
            for name, value in numbers_of(node, known):
                known.add(name)
                yield describe(module, name, value, reason)


def describe(module: str, name: str, value: str, reason: str) -> Constant:
    """A constant with its unit taken out of its reason."""
    found = UNIT.search(reason)
    unit = found[1] if found else ""
    words = UNIT.sub("", reason, count=1) if found else reason
    words = re.sub(r"\s+([,;:.])", r"\1", " ".join(words.split())).strip(" ,;")
    if len(value) > LONGEST_VALUE:
        value = f"{value[: LONGEST_VALUE - 3]}..."
    return Constant(module, name, value, unit, words or (f"in {unit}" if unit else ""))


def read_comments(text: str) -> tuple[dict[int, str], dict[int, str]]:
    """Comments by the line where they end: those behind code, and those above it, joined."""
    behind: dict[int, str] = {}
    above: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, words = token.start[0], token.string.lstrip("# ")
        if token.line.strip().startswith("#"):
            before = above.get(line - 1, "")
            above[line] = f"{before} {words}".strip()
        else:
            behind[line] = words
    return behind, above


def numbers_of(node: ast.stmt, known: set[str]) -> Iterator[tuple[str, str]]:
    """Names in capitals that a statement gives a number, each with its value."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        target, value = node.target, node.value
    else:
        return
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=True))
    for name, number in pairs:
        if isinstance(name, ast.Name) and NAME.fullmatch(name.id) and is_number(number, known):
            yield name.id, ast.unparse(number)


def is_number(node: ast.expr, known: set[str]) -> bool:
    """Whether an expression is a number, or a tuple of them, made of numbers and constants."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand, known)
    if isinstance(node, ast.BinOp):
        return is_number(node.left, known) and is_number(node.right, known)
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(is_number(part, known) for part in node.elts)
    return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in known


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
