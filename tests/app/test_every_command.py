"""Every command of the command line: its help, its JSON, its errors."""

import json
import re

import pytest
from typer.main import get_command

import armtwin as at
from armtwin.app.commands import app
from tests.app.test_job_commands import call


def walk(command, words=()):
    """Every command with the words that call it; groups are walked into."""
    inside = getattr(command, "commands", None)
    if inside is None:
        yield words, command
        return
    for name, one in inside.items():
        yield from walk(one, (*words, name))


COMMANDS = dict(walk(get_command(app)))
every_command = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)


def options(command):
    return {name for parameter in command.params for name in parameter.opts}


def texts(command):
    """All that is written to be read as help of a command."""
    return [command.help, *(parameter.help for parameter in command.params)]


def in_one_line(text):
    return "".join(text.split())  # where a line may be broken within a word, at a hyphen


@every_command
def test_help_says_every_word_and_no_type_of_a_flag(tmp_path, words):
    """Words in brackets, which a markup would take for its own."""
    shown = call(tmp_path, *words, "--help")
    assert shown.code == 0
    assert "<bool>" not in shown.out
    for text in filter(None, texts(COMMANDS[words])):
        assert in_one_line(text) in in_one_line(shown.out)


def test_help_has_words_in_brackets_to_lose():
    """Else the test above would show nothing."""
    found = [text for command in COMMANDS.values() for text in texts(command) if text]
    assert any("[cell]" in text for text in found)
    assert any(re.search(r"\[,std,temperature\]", text) for text in found)


@every_command
def test_every_command_takes_json(words):
    assert "--json" in options(COMMANDS[words])


@every_command
def test_an_error_with_json_is_one_object_and_a_sentence(tmp_path, words):
    """An option that no command has; stderr says the same as without --json."""
    done = call(tmp_path, *words, "--json", "--no-such-option")
    told = json.loads(done.out)
    assert (done.code, told["exit"], set(told)) == (2, 2, {"error", "exit"})
    assert "--no-such-option" in told["error"]
    plain = call(tmp_path, *words, "--no-such-option")
    assert plain.out == ""
    assert plain.err == done.err
    assert told["error"] in done.err


ERRORS = {
    ("demo",): None,
    ("predict",): ("nothing",),
    ("compare",): ("nothing", "log.csv"),
    ("studio",): ("nothing",),
    ("job",): ("--from-log", "log.csv", "--robot", "nothing", "--tolerance", "0.1 mm"),
    ("jobs",): ("nothing",),
    ("robots",): ("nothing",),
    ("experiments",): ("nothing",),
    ("check",): ("nothing",),
    ("import",): ("nothing.urdf",),
    ("identify",): ("nothing", "log.csv"),
    ("complete",): ("nothing",),
    ("servo",): ("nothing", "log.csv"),
    ("analyse",): ("nothing", "torques"),
    ("correct",): ("nothing",),
    ("excite",): ("nothing",),
    ("payload",): ("nothing", "--with", "log.csv"),
    ("simulate",): ("nothing",),
    ("clamp",): ("nothing.csv",),
    ("transmission",): ("nothing", "log.csv"),
    ("calibrate",): ("rx90b", "nothing.csv"),
    ("frequency",): ("nothing.csv",),
    ("sensitivity",): ("nothing", "friction"),
    ("sweep",): ("nothing.toml", "--dry-run"),
    ("warmup",): ("nothing.csv",),
    ("log",): ("nothing.csv", "--to", "npz"),
    ("export", "urdf"): ("nothing",),
    ("export", "mjcf"): ("nothing",),
    ("export", "c"): ("nothing",),
    ("export", "fmu"): ("nothing",),
    ("actuator", "resonances"): ("nothing.csv",),
    ("actuator", "noise"): ("nothing", "log.csv", "--weights", "1 kg"),
    ("actuator", "valve"): ("nothing", "log.csv"),
    ("actuator", "flow"): ("nothing", "log.csv"),
    ("friction", "curves"): ("nothing", "log.csv"),
    ("friction", "shapes"): ("nothing", "log.csv"),
    ("friction", "load"): ("nothing", "log.csv", "--elements", "a", "--tools", "none"),
    ("friction", "presliding"): ("nothing", "log.csv"),
}


@every_command
def test_bad_input_with_json_is_one_object_and_writes_nothing(tmp_path, words):
    """A file that is not there, which only the command itself can find out."""
    rest = ERRORS[words]
    if rest is None:
        pytest.skip("it reads no input")
    done = call(tmp_path, *words, *rest, "--json")
    told = json.loads(done.out)
    assert (done.code, told["exit"], set(told)) == (2, 2, {"error", "exit"})
    assert "nothing" in told["error"] or "log.csv" in told["error"]
    assert done.err == f"armtwin: {told['error']}\n"
    assert list(tmp_path.iterdir()) == []


SHOWN = {
    ("robots",): "robots",
    ("robots", "tx40"): "joints",
    ("jobs",): "jobs",
    ("jobs", "rx90b_line"): "segments",
    ("experiments",): "experiments",
    ("experiments", "epaas_l4"): "setpoints",
    ("check", "tx40"): "sources",
    ("check", "rx90b_line"): "segments",
    ("check", "epaas_l4"): "setpoints",
    ("check", "log.csv"): "channels",
    ("log", "log.csv", "--to", "npz"): "remarks",
    ("import", "arm.urdf"): "joints",
    ("export", "urdf", "tx40"): "remarks",
    ("export", "fmu", "kr300", "--joint", "1", "--sources-only"): "remarks",
    ("demo",): "verdict",
    ("sweep", "sweep.toml", "--dry-run"): "estimate",
}
SWEEP = """
format = 1
jobs = ["rx90b_line"]
[[axis]]
key = "speed"
values = ["100 mm/s", "200 mm/s"]
"""


@pytest.mark.parametrize("words", SHOWN, ids=" ".join)
def test_what_is_shown_is_one_object_with_json(tmp_path, words):
    (tmp_path / "log.csv").write_text("time,q1\n0,0\n0.1,1\n0.2,2\n")
    (tmp_path / "sweep.toml").write_text(SWEEP)
    assert call(tmp_path, "export", "urdf", "rx90b", "--out", "arm.urdf").code == 0
    done = call(tmp_path, *words, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["format"] >= 1
    assert found[SHOWN[words]]
    for name in found["files"]:
        assert list(tmp_path.rglob(name)), name


def test_limits_are_si_where_the_terminal_shows_degrees(tmp_path):
    first = json.loads(call(tmp_path, "robots", "tx40", "--json").out)["joints"][0]
    assert first["upper"] == pytest.approx(3.14)
    assert re.search(r"joint_1\s+-179.9\s+179.9\s+287", call(tmp_path, "robots", "tx40").out)


def test_an_error_of_ours_is_one_object_with_json(tmp_path, monkeypatch):
    def broken():
        raise RuntimeError("a slip")

    monkeypatch.setattr(at, "robots", broken)
    done = call(tmp_path, "robots", "--json")
    assert done.code == 3
    assert json.loads(done.out)["exit"] == 3


def test_shell_completion_can_be_installed():
    assert {"--install-completion", "--show-completion"} <= options(get_command(app))
