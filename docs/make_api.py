"""Write docs/api.md from the docstrings of the public names: `python docs/make_api.py`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import armtwin

PAGE = Path(__file__).with_name("api.md")
HEAD = """# API

Made from the docstrings by `python docs/make_api.py`; `import armtwin as at` gives every name.
Quantities are SI: metres, radians, seconds, newton metres; array shapes stand in brackets.

![What a fit goes through, from log to robot file](pictures/fit.svg)
"""
SECTIONS = ("Args", "Attributes")
ENTRY = re.compile(r"(\w+): (.*)")


class Docstring:
    """A docstring in its parts.

    Attributes:
        text: Everything that is neither a section nor a reference.
        entries: What is said of each argument or attribute, by name.
    """

    def __init__(self, value: Any) -> None:
        self.entries: dict[str, str] = {}
        kept: list[str] = []
        section = name = ""
        for line in (inspect.getdoc(value) or "").splitlines():
            if line and not line.startswith(" "):
                section = line.rstrip(":") if line.rstrip(":") in (*SECTIONS, "Ref") else ""
                section = "Ref" if line.startswith("Ref:") else section
            if not section:
                kept.append(line)
                continue
            entry = ENTRY.fullmatch(line.strip()) if line.startswith("    ") else None
            if entry and not line.startswith("     "):
                name = entry[1]
                self.entries[name] = entry[2]
            elif name and line.strip() and line.startswith("     "):
                self.entries[name] += f" {line.strip()}"
        self.text = "\n".join(kept).strip()

    @property
    def first(self) -> str:
        """The first line."""
        return self.text.partition("\n")[0]


def packages() -> dict[str, Any]:
    """Packages that are public as a whole, as they are called."""
    found = {}
    for name in armtwin.__all__:
        if inspect.ismodule(getattr(armtwin, name)):
            found[f"at.{name}"] = getattr(armtwin, name)
    return found


def public_values() -> dict[str, Any]:
    """Every public function and class, as it is called."""
    found = {}
    for lead, module in {"at": armtwin, **packages()}.items():
        for name in dir(module):
            value = getattr(module, name)
            if inspect.isfunction(value) or inspect.isclass(value):
                found[f"{lead}.{name}"] = value
    return found


def page() -> str:
    """The whole page."""
    values = public_values()
    parts = [HEAD]
    for lead, module in {"at": armtwin, **packages()}.items():
        own = {name: value for name, value in values.items() if name.rpartition(".")[0] == lead}
        where = "" if module is armtwin else f" of {lead}"
        parts.append(f"## Functions{where}")
        for name, value in own.items():
            if inspect.isfunction(value):
                parts += [f"### {name}", *function_parts(value.__name__, value)]
        parts.append(f"## Nouns{where}")
        for name, value in own.items():
            if inspect.isclass(value):
                parts += [f"### {name}", *class_parts(value.__name__, value)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def function_parts(name: str, function: Callable[..., Any]) -> Iterator[str]:
    """Signature, text and arguments of a function."""
    doc = Docstring(function)
    yield f"```python\n{name}{signature(function)}\n```"
    yield doc.text
    if doc.entries:
        yield table(("argument", "meaning"), doc.entries.items())


def class_parts(name: str, kind: type) -> Iterator[str]:
    """Text, attributes, properties and methods of a class."""
    doc = Docstring(kind)
    yield doc.text
    if doc.entries:
        yield table(("attribute", "meaning"), doc.entries.items())
    held = properties(kind)
    if held:
        yield table(("property", "meaning"), held.items())
    for method, function in methods(kind).items():
        lead = name if isinstance(vars(kind)[method], staticmethod) else name.lower()
        yield from function_parts(f"{lead}.{method}", function)


def properties(kind: type) -> dict[str, str]:
    """First line of each public property of a class."""
    found = {}
    for name, member in vars(kind).items():
        if not name.startswith("_") and isinstance(member, property | cached_property):
            found[name] = Docstring(member).first
    return found


def methods(kind: type) -> dict[str, Callable[..., Any]]:
    """The public methods of a class."""
    found = {}
    for name, member in vars(kind).items():
        if not name.startswith("_") and isinstance(member, staticmethod | type(page)):
            found[name] = getattr(kind, name)
    return found


def list_undocumented(value: Any) -> list[str]:
    """Arguments of a public function, or fields of a public class, that no line explains."""
    explained = Docstring(value).entries
    if inspect.isfunction(value):
        wanted = list(inspect.signature(value).parameters)
    elif is_dataclass(value):
        wanted = [field.name for field in fields(value)]
    else:
        wanted = []
    return [name for name in wanted if name not in explained]


class _Annotation:
    """An annotation as the source has it, without quotes; a block of a report without module."""

    def __init__(self, text: str) -> None:
        self.text = re.sub(r"\bshow\.(?=[A-Z])", "", text)

    def __repr__(self) -> str:
        return self.text


def signature(function: Callable[..., Any]) -> str:
    """Arguments of a function with their types and defaults, one a line where they are many."""
    found = inspect.signature(function)
    parameters = []
    for parameter in found.parameters.values():
        if parameter.annotation is not inspect.Parameter.empty:
            parameter = parameter.replace(annotation=_Annotation(parameter.annotation))
        if parameter.name != "self":
            parameters.append(parameter)
    result = _Annotation(found.return_annotation)
    text = str(found.replace(parameters=parameters, return_annotation=result))
    if len(text) <= 90:
        return text
    inside, _, after = text.rpartition(") -> ")
    pieces = re.split(r", (?=\*?\*?\w+(?:: |$|,|\))|\*,|\*$)", inside.removeprefix("("))
    return "(\n    " + ",\n    ".join(pieces) + f",\n) -> {after}"


def table(heads: tuple[str, str], rows: Any) -> str:
    """A table of names and what is said of them."""
    lines = [f"| {heads[0]} | {heads[1]} |", "|---|---|"]
    for name, text in rows:
        escaped = text.replace("|", "\\|")
        lines.append(f"| `{name}` | {escaped} |")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
