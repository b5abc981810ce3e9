"""Write docs/options.md, every command with its options: `python docs/make_options.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

from armtwin.app.commands import app

PAGE = Path(__file__).with_name("options.md")
HEAD = """# Commands and their options

Made from the command line itself by `python docs/make_options.py`; `armtwin COMMAND --help`
prints the same. [commands](commands.md) has exit codes and where results are written.

![What a command prints on 80 x 24](pictures/terminal.png)
"""
TABLE = "| | what | default |\n|---|---|---|"


def page() -> str:
    """The page."""
    root: Any = typer.main.get_command(app)
    lines = [HEAD]
    for name in sorted(root.commands):
        lines += describe(f"armtwin {name}", root.commands[name], "##")
    return "\n".join(lines)


def describe(name: str, command: Any, level: str) -> Iterator[str]:
    """A command, and the commands below it."""
    yield f"{level} {name}\n"
    yield f"{' '.join((command.help or '').split())}\n"
    if hasattr(command, "commands"):
        for word in command.commands:
            yield from describe(f"{name} {word}", command.commands[word], f"{level}#")
        return
    yield TABLE
    for parameter in command.params:
        yield f"| `{call(parameter)}` | {escape(parameter.help or '')} | {default(parameter)} |"
    yield ""


def call(parameter: Any) -> str:
    """How an argument or an option is written."""
    if parameter.param_type_name == "argument":
        return escape(parameter.metavar or parameter.name.upper())
    if parameter.is_flag:
        return str(parameter.opts[0])
    kind = parameter.type_descriptor.annotation
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    value = "\\|".join(map(str, choices)) if choices else escape(parameter.metavar or "VALUE")
    return f"{parameter.opts[0]} {value}"


def default(parameter: Any) -> str:
    """What holds where it is not given; "" for nothing."""
    value = parameter.default
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return f"`{value}`" if plain else ""


def escape(text: str) -> str:
    """A text as a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
