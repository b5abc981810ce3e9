"""The bar of long work: what is being done and the time left, on a terminal alone."""

import io
import re
import time

from armtwin.app.progress import progress_bar


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
