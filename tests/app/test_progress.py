"""The bar of long work: what is being done and the time left, on a terminal alone."""

import ast
import io
import re
import time
from pathlib import Path

from armtwin.app import commands
from armtwin.app.progress import progress_bar

# commands that convert or compute for less than 2 s
SHORT = {"import_robot", "log", "resonances"}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_says_what_is_being_done_and_how_long_it_will_take(monkeypatch):
    """A step of which half is done in 0.1 s has about as much to go."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress_bar("path") as say:
        for share in (0.0, 0.25, 0.5):
            say("variants", share)
            time.sleep(0.1)
    shown = terminal.getvalue()
    assert "path" in shown
    last = re.sub(r"\x1b\[[0-9]+m", "", shown[shown.rindex("variants") :])
    assert re.search(r"0:00:0[0-5] left", last)


def test_nothing_is_shown_where_no_terminal_is(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    with progress_bar("path") as say:
        assert say is None
    assert stream.getvalue() == ""


def test_every_command_that_computes_has_a_bar():
    """A function of a command's file opens one, itself or by one that it calls there."""
    without = set()
    folder = Path(commands.__file__).parent
    for path in folder.glob("*_command*.py"):
        found = {
            x.name: x for x in ast.parse(path.read_text()).body if isinstance(x, ast.FunctionDef)
        }
        for name, node in found.items():
            is_command = any(
                "Output" in ast.unparse(x.annotation or x) for x in node.args.kwonlyargs
            )
            if is_command and not opens_a_bar(node, found, set()):
                without.add(name)
    assert without == SHORT


def opens_a_bar(node, known, seen):
    """Whether a function opens a bar, or one of the known ones that it calls does."""
    called = {x.id for x in ast.walk(node) if isinstance(x, ast.Name)}
    if "progress_bar" in called:
        return True
    below = (called & known.keys()) - seen
    return any(opens_a_bar(known[name], known, seen | called) for name in below)
