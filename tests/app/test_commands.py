"""The command line: fits 80 columns, one clear sentence and exit 2 on bad input, nothing lost."""

import math
import re
import subprocess
import sys

import pytest

import armtwin as at
from tests.app.test_job_commands import call
from tests.conftest import SHIPPED
from tests.incomplete import incomplete


def armtwin(*words, cwd=None):
    """The command in a process of its own, as a shell starts it."""
    return subprocess.run(
        [sys.executable, "-m", "armtwin", *map(str, words)],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )


@pytest.mark.parametrize(
    "words", [["robots"], ["jobs"], *(["check", name] for name in SHIPPED)], ids=" ".join
)
def test_pages_fit_80_columns(words, tmp_path):
    done = call(tmp_path, *words)
    assert done.code == 0, done.err
    assert max(map(len, done.out.splitlines())) <= 80


def test_a_robot_page_is_a_useful_summary():
    out = armtwin("robots", "rx90b").stdout
    assert "rx90b: Staubli RX90B" in out
    assert "82: 60 link, 6 rotor, 2 balancer, 14 friction" in out
    assert re.search(r"\d+ document, \d+ public, \d+ derived, \d+ assumed", out)


def test_check_tells_what_is_assumed_and_missing(tmp_path):
    incomplete(at.Robot.load("tx40")).save(tmp_path / "bare.toml")
    out = call(tmp_path, "check", "bare.toml").out
    assert "servo.cascade: a servo controller is missing" in out
    assert "assumed: an engineering assumption" in out
    assert "65 mm from wrist centre to flange" in out


def test_export_then_import_closes_the_ring(tmp_path):
    assert call(tmp_path, "export", "urdf", "rx90b", "--tool", "laser_head").code == 0
    done = call(tmp_path, "import", "rx90b.urdf", "--out", "back.toml")
    assert done.code == 0, done.err
    assert "moving mass         95.12 kg" in done.out
    assert "Missing for a prediction:" in done.out
    assert call(tmp_path, "check", "back.toml").code == 0


def test_an_existing_file_is_not_replaced_without_force(tmp_path):
    (tmp_path / "rx90b.urdf").write_text("precious")
    done = armtwin("export", "urdf", "rx90b", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "rx90b.urdf: exists already; use --force" in done.stderr
    assert (tmp_path / "rx90b.urdf").read_text() == "precious"
    assert call(tmp_path, "export", "urdf", "rx90b", "--force").code == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["robots", "rx9"],
            "robot 'rx9' is neither shipped nor a .toml or .urdf file. Did you mean 'rx90b'?",
        ),
        (["check", "nothing.toml"], "nothing.toml: cannot be read (No such file or directory)"),
        (["import", "nothing.urdf"], "nothing.urdf: cannot be read"),
        (
            ["export", "urdf", "rx90b", "--tool", "torch"],
            "tool 'torch' is not known. Known: laser_head.",
        ),
        (["export", "urdf", "rx90b", "--out", "no/such/folder/x.urdf"], "cannot be written"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(words, sentence, tmp_path):
    done = call(tmp_path, *words)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("armtwin: ")
    assert sentence in done.err
    assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_robot_whose_name_is_markup_is_shown_as_text(tmp_path):
    robot = (
        'format = 2\nname = "[red]<script>"\n[[joint]]\nname = "[/]"\nparent = "base"\nchild = '
        '"[bold]x"\n'
        'source = "assumed: [link=x]"\n[[link]]\nname = "[bold]x"\nsource = "assumed: y"\n'
        "body = { mass = 1, com = [0, 0, 0], inertia = { xx = 1, yy = 1, zz = 1 } }\n"
    )
    (tmp_path / "r.toml").write_text(robot)
    done = call(tmp_path, "check", "r.toml")
    assert done.code == 0, done.err
    for text in ("[red]<script>", "[/]", "[bold]x", "[link=x]"):
        assert text in done.out


def test_a_name_does_not_lead_out_of_the_folder(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    assert call(inner, "export", "urdf", "rx90b").code == 0
    text = (
        (inner / "rx90b.urdf")
        .read_text()
        .replace('<robot name="rx90b">', '<robot name="../escaped">')
    )
    (inner / "bad.urdf").write_text(text)
    done = call(inner, "import", "bad.urdf", "--out", "d[red].toml")
    assert done.code == 0, done.err
    assert (inner / "d[red].toml").exists()
    assert call(inner, "import", "bad.urdf").code == 0
    assert (inner / "escaped.toml").exists()
    assert not (tmp_path / "escaped.toml").exists()


def test_old_kernels_are_forgotten_and_nothing_else(tmp_path):
    import os

    for i in range(9):
        (tmp_path / f"mine{i}").mkdir()
        (tmp_path / "kernels" / f"{i:012x}").mkdir(parents=True)
    environment = {**os.environ, "ARMTWIN_CACHE_DIR": str(tmp_path)}
    script = "import armtwin; armtwin.Robot"
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert len([p for p in tmp_path.iterdir() if p.name.startswith("mine")]) == 9
    assert len(list((tmp_path / "kernels").iterdir())) == 6


def test_a_console_that_cannot_show_a_letter_still_shows_the_page():
    import os

    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(
        [sys.executable, "-m", "armtwin", "robots", "epaas"],
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0


def test_check_shows_a_log(tmp_path):
    (tmp_path / "run.csv").write_text("time,q1,q2\n0,1,2\n0.004,1,3\n0.008,2,2\n")
    done = call(tmp_path, "check", "run.csv")
    assert done.code == 0, done.err
    assert "a log of 3 samples, 0.008 s" in done.out
    assert "about 250 Hz" in done.out
    (tmp_path / "bad.csv").write_text("time,q1\n0,1\n0,2\n")
    done = call(tmp_path, "check", "bad.csv")
    assert done.code == 2
    assert "line 3: time must increase" in done.err


def test_check_calls_a_file_that_it_cannot_read_a_log_and_no_robot(tmp_path):
    (tmp_path / "notes.txt").write_text("hello world")
    done = call(tmp_path, "check", "notes.txt")
    assert done.code == 2
    assert "notes.txt: is a log that cannot be read" in done.err


def test_a_log_is_cut_and_handed_on(tmp_path):
    (tmp_path / "run.txt").write_text("timestamp actual_q_0\n0 1\n0.5 2\n1 3\n")
    done = call(tmp_path, "log", "run.txt", "--to", "csv", "--until", "0.5 s")
    assert done.code == 0, done.err
    assert (tmp_path / "run.csv").read_text() == "time,q1\n0.0,1.0\n0.5,2.0\n"


def test_check_tells_of_a_log_in_milliseconds(tmp_path):
    rows = [f"{4 * k},{math.sin(0.02 * k)},0" for k in range(500)]
    (tmp_path / "run.csv").write_text("\n".join(["time,q1,q2", *rows]))
    done = call(tmp_path, "check", "run.csv")
    assert done.code == 0, done.err
    assert "Time looks like milliseconds: in seconds the log has 0.25 samples a second" in done.out


def test_what_a_log_tells_does_not_steer_the_terminal(tmp_path):
    event = r'# event [0.004, "kind", "joint", "\u001b[31mred\u202e"]'
    (tmp_path / "run.csv").write_text(f"time,q1\n0,1\n0.004,2\n{event}\n")
    done = call(tmp_path, "check", "run.csv")
    assert r"\x1b[31mred\u202e" in done.out
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


@pytest.mark.parametrize(
    "option",
    [["--cutoff", "1e300"], ["--cutoff", "²"], ["--periods", "9" * 5000], ["--periods", "²"]],
)
def test_a_quantity_of_the_command_line_that_nothing_has_is_bad_input(option, tmp_path):
    done = call(tmp_path, "identify", "rx90b", "none.csv", *option)
    assert done.code == 2
    assert done.err.startswith(f"armtwin: {option[0]} must be")
    assert "Traceback" not in done.err
