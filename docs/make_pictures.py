"""Draw the pictures of docs/architecture.md from the sources: `python docs/make_pictures.py`.

Packages and their order are read from the import contracts in pyproject.toml, imports are counted
in the sources, stages of a tick and of a fit say of themselves what their code says.
"""

from __future__ import annotations

import ast
import collections
import re
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

DOCS = Path(__file__).parent
ROOT = DOCS.parent
SOURCES = ROOT / "src" / "armtwin"

# where the order of a tick stands: a module, and the function that calls its stages as do_NAME
TICK = "simulation/tick", "tick"
# what a fit goes through: a name, and the module whose first line says what it is
FIT = (
    ("Log", "logs/log"),
    ("Clean log", "logs/cleaning"),
    ("Regression: columns and target", "mechanics/regressor"),
    ("One estimator", "identification/fitting/estimate"),
    ("Estimate", "identification/rigid_body/evaluation/estimate"),
    ("Robot file", "robot/files"),
)

WIDTH = 800
STYLE = """
  text { font: 14px system-ui, sans-serif; fill: #1f2328 }
  .small { font-size: 12px; fill: #59636e }
  .name { font-weight: 600 }
  .back { fill: #ffffff }
  .box { fill: #eef3f9; stroke: #8aa4c0 }
  .frame { fill: #f6f8fa; stroke: #c3ccd6 }
  .may { fill: #eef3f9 }
  .band { fill: #f6f8fa }
  .line { stroke: #59636e; stroke-width: 1.5; fill: none }
  .tip { fill: #59636e }
  .share { fill: #2f6fb4 }
  .on { fill: #ffffff; font-size: 12px }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .small { fill: #9aa7b4 }
    .back { fill: #0d1117 }
    .box { fill: #1c2a3a; stroke: #4a6785 }
    .frame { fill: #151b23; stroke: #3d4751 }
    .may { fill: #1a2431 }
    .band { fill: #151b23 }
    .line { stroke: #9aa7b4 }
    .tip { fill: #9aa7b4 }
    .on { fill: #ffffff }
  }
"""


# what the sources say


def read_layers() -> list[list[str]]:
    """Packages by layer, the uppermost first, as the import contracts have them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers":
            return [layer.split(" | ") for layer in contract["layers"]]
    raise ValueError("pyproject.toml: no contract of layers")


def count_imports() -> collections.Counter[tuple[str, str]]:
    """Import statements from a package to another, also those inside of functions.

    The list of public names in the top package is no import: it is read by editors only.
    """
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    for path in SOURCES.rglob("*.py"):
        package = package_of(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("armtwin."):
                other = (node.module or "").split(".")[1]
                if package not in (other, "__init__"):
                    counts[package, other] += 1
    return counts


def package_of(path: Path) -> str:
    """The package, or single module, that a file belongs to."""
    return path.relative_to(SOURCES).with_suffix("").parts[0]


def count_modules() -> collections.Counter[str]:
    """Modules of each package."""
    return collections.Counter(package_of(path) for path in SOURCES.rglob("*.py"))


class Stage(NamedTuple):
    """A stage of a tick.

    Attributes:
        name: Its name.
        about: The first line of its function, or the comment behind its call.
        condition: On what it is run, as the source has it; "" for always.
        loops: The loops that it is in, from the outermost, as the source has them.
    """

    name: str
    about: str
    condition: str
    loops: tuple[str, ...]


def read_stages(module: str, function: str) -> list[Stage]:
    """The stages that a function calls, in their order; functions that it calls are walked into."""
    text = (SOURCES / f"{module}.py").read_text(encoding="utf-8")
    lines = text.splitlines()
    functions = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = node

    def walk(body: list[ast.stmt], condition: str, loops: tuple[str, ...]) -> Iterator[Stage]:
        for line in body:
            if isinstance(line, ast.If):
                yield from walk(line.body, say_condition(line.test), loops)
            elif isinstance(line, ast.For):
                yield from walk(line.body, "", (*loops, say_range(line.iter)))
            elif isinstance(line, ast.Expr) and isinstance(line.value, ast.Call):
                called = ast.unparse(line.value.func)
                name = called.removeprefix("do_")
                if called != name:
                    comment = lines[line.lineno - 1].partition("# ")[2]
                    about = comment or first_words(functions.get(name))
                    yield Stage(name, about[:1].upper() + about[1:], condition, loops)
                elif called in functions:
                    yield from walk(functions[called].body, condition, loops)

    stages = list(walk(functions[function].body, "", ()))
    if not stages:
        raise ValueError(f"{module}: {function} calls no stages")
    return stages


def say_condition(test: ast.expr) -> str:
    """A condition by the field or argument that it asks for."""
    field = re.search(r"slots\.(\w+)", ast.unparse(test))
    return f"if {field[1] if field else ast.unparse(test)}"


def say_range(iterated: ast.expr) -> str:
    """How often a loop runs, by the field or constant that it counts to."""
    words = ast.unparse(iterated)
    field = re.search(r"slots\.(\w+)", words)
    if field:
        return f"for each of the {field[1]}"
    return re.sub(r"range\((\w+)\)", r"up to \1 times", words)


def first_words(function: ast.FunctionDef | None) -> str:
    """The first line of the docstring of a function."""
    text = "" if function is None else ast.get_docstring(function) or ""
    return text.partition("\n")[0].rstrip(".")


def first_line(module: str) -> str:
    """The first line of the docstring of a module."""
    path = SOURCES / f"{module}.py"
    if not path.exists():
        path = SOURCES / module / "__init__.py"
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0]


# the pictures


def draw_packages() -> str:
    """Packages in the order of their layers, and who imports from whom."""
    layers, counts, modules = read_layers(), count_imports(), count_modules()
    names = [name for layer in layers for name in layer]
    level = {name: k for k, layer in enumerate(layers) for name in layer}
    left, top, cell = 190, 118, (WIDTH - 190 - 32) / len(names)
    row = 25
    shapes = []
    for i, name in enumerate(names):
        y = top + row * i
        if level[name] % 2 == 0:
            shapes.append(rectangle(0, y, WIDTH, row, "band"))
    for i, name in enumerate(names):
        y = top + row * i
        shapes.append(text(12, y + 17, name, "name"))
        shapes.append(text(left - 8, y + 17, f"{modules[name]}", "small", "end"))
        x = left + cell * (i + 0.5)
        shapes.append(
            f'<text transform="translate({x + 4:.1f} {top - 8}) rotate(-60)">{escape(name)}</text>'
        )
        for j, other in enumerate(names):
            if level[other] > level[name]:
                shapes.append(
                    rectangle(left + cell * j + 1, y + 2, cell - 2, row - 4, "may", round_by=3)
                )
            if counts[name, other]:
                shapes += mark(left + cell * j, y, cell, row, counts[name, other])
    shapes.append(text(12, top - 10, "package", "small"))
    shapes.append(text(left - 8, top - 10, "modules", "small", "end"))
    height = top + row * len(names) + 40
    note = "A number: import statements from the package of the row to that of the column. "
    shapes.append(text(12, height - 16, f"{note}Shaded: allowed. Bands: layers.", "small"))
    return picture(height, shapes)


def mark(x: float, y: float, width: float, height: float, count: int) -> list[str]:
    """A cell with the number of imports."""
    return [
        rectangle(x + 1, y + 2, width - 2, height - 4, "share", round_by=3),
        text(x + width / 2, y + height - 8, str(count), "on", "middle"),
    ]


def draw_tick() -> str:
    """The stages of a tick of the closed loop, from top to bottom; a loop in the tick is framed."""
    stages = read_stages(*TICK)
    row, gap, x, right, inset = 44, 10, 66, WIDTH - 12, 18
    frames, shapes = [], []
    y: float = 14
    open_loops: list[tuple[str, float]] = []
    for k, stage in enumerate(stages):
        following = stages[k + 1].loops if k + 1 < len(stages) else ()
        for loop in stage.loops[len(open_loops) :]:
            open_loops.append((loop, y))
            y += 24
        edge = inset * len(stage.loops)
        shapes.append(rectangle(x + edge, y, right - x - 2 * edge, row, "box", round_by=5))
        shapes.append(text(x + edge + 12, y + 18, stage.name, "name"))
        shapes.append(text(right - edge - 10, y + 18, stage.condition, "small", "end"))
        shapes.append(text(x + edge + 12, y + 36, stage.about))
        y += row
        while len(open_loops) > len(following):
            loop, start = open_loops.pop()
            edge = inset * len(open_loops) + inset / 2
            y += 10
            frames.insert(
                0, rectangle(x + edge, start, right - x - 2 * edge, y - start, "frame", 8)
            )
            shapes.append(text(x + edge + 10, start + 17, loop, "small"))
        y += gap
    end, first, last = y - gap, 14 + row / 2, y - gap - row / 2
    back = f"M {x} {last} H {x - 28} V {first} H {x - 6}"
    loop_back = [f'<path d="{back}" class="line"/>', tip(x, first, "right")]
    loop_back.append(upward_text(x - 38, end / 2, "next tick of the velocity loop"))
    return picture(end + 14, [*frames, *shapes, *loop_back])


def draw_fit() -> str:
    """What a fit goes through, from a log to a robot file."""
    row, gap, x, width = 58, 22, 12, 710
    shapes = []
    y: float = 14
    for k, (name, module) in enumerate(FIT):
        shapes.append(rectangle(x, y, width, row, "box", round_by=5))
        shapes.append(text(x + 12, y + 22, name, "name"))
        shapes.append(text(x + width - 12, y + 22, module, "small", "end"))
        about = textwrap.shorten(first_line(module), 96, placeholder=" ...")
        shapes.append(text(x + 12, y + 44, re.sub(r"`", "", about)))
        if k + 1 < len(FIT):
            shapes.append(arrow(x + 70, y + row, y + row + gap))
        y += row + gap
    end = y - gap
    side = x + width
    back = f"M {side} {end - row / 2} H {side + 34} V {14 + row / 2} H {side + 6}"
    shapes += [f'<path d="{back}" class="line"/>', tip(side, 14 + row / 2, "left")]
    shapes.append(upward_text(side + 54, end / 2, "simulated, fitted again: the same robot"))
    return picture(end + 14, shapes)


# shapes


def rectangle(
    x: float, y: float, width: float, height: float, kind: str, round_by: float = 0
) -> str:
    """A rectangle."""
    corner = f' rx="{round_by}"' if round_by else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"{corner} '
        f'class="{kind}"/>'
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "") -> str:
    """A line of text."""
    styled = f' class="{kind}"' if kind else ""
    placed = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{styled}{placed}>{escape(words)}</text>'


def upward_text(x: float, y: float, words: str) -> str:
    """A line of small text that is read upwards."""
    place = f'transform="translate({x:.1f} {y:.1f}) rotate(-90)"'
    return f'<text {place} text-anchor="middle" class="small">{escape(words)}</text>'


def arrow(x: float, start: float, end: float) -> str:
    """An arrow down."""
    line = f'<path d="M {x} {start} V {end - 6}" class="line"/>'
    return line + f'<path d="M {x - 5} {end - 7} h 10 l -5 7 z" class="tip"/>'


def tip(x: float, y: float, towards: str) -> str:
    """The tip of an arrow to the right or to the left."""
    back = -7 if towards == "right" else 7
    return f'<path d="M {x + back} {y - 5} v 10 l {-back} -5 z" class="tip"/>'


def picture(height: float, shapes: list[str]) -> str:
    """A drawing on a background of its own, readable on light and dark pages."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}">'
    )
    inside = [f"<style>{STYLE}</style>", rectangle(0, 0, WIDTH, height, "back"), *shapes]
    return "\n".join([head, *inside, "</svg>"]) + "\n"


def pictures() -> Iterator[tuple[Path, str]]:
    """Every picture with its file."""
    folder = DOCS / "pictures"
    yield folder / "packages.svg", draw_packages()
    yield folder / "tick.svg", draw_tick()
    yield folder / "fit.svg", draw_fit()


if __name__ == "__main__":
    for file, drawing in pictures():
        file.write_text(drawing, encoding="utf-8")
