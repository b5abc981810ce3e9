"""Exit codes: a verdict keeps its code whoever reads it, and nothing else looks like one."""

import os
import subprocess
import sys

import pytest

import armtwin as at
from tests.app.test_job_commands import call, save, tree
from tests.jobs.examples import changed

SCRIPT = """
import sys
import armtwin
from armtwin.app.commands import main
armtwin.explain = lambda *args, **kwargs: ()
armtwin.assess = lambda *args, **kwargs: None
sys.argv = ["armtwin", *sys.argv[1:]]
main()
"""
OUT_OF_TOLERANCE = changed('lateral = "0.1 mm"', 'lateral = "0.001 mm"')
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")


def armtwin(folder, *words, stdout):
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *words],
        cwd=folder,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


def closed_pipe():
    """The end of a pipe that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    return write


@pytest.mark.parametrize(
    ("words", "text", "code"),
    [
        (["predict", "job.toml"], OUT_OF_TOLERANCE, 1),
        (["predict", "job.toml", "--json"], None, 0),
        (["check", "rx90b"], None, 0),
        (["--help"], None, 0),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_a_reader_that_leaves_does_not_change_the_code(words, text, code, tmp_path):
    save(tmp_path) if text is None else save(tmp_path, text)
    pipe = closed_pipe()
    done = armtwin(tmp_path, *words, stdout=pipe)
    os.close(pipe)
    assert (done.returncode, done.stderr) == (code, "")
    assert "predict" not in words or "armtwin_out/job/report.html" in tree(tmp_path)


@needs_full
@pytest.mark.parametrize("words", [["predict", "job.toml", "--json"], ["robots"]], ids=" ".join)
def test_output_on_a_full_disk_is_exit_2_with_one_sentence(words, tmp_path):
    with open("/dev/full", "w") as full:
        done = armtwin(save(tmp_path), *words, stdout=full)
    assert done.returncode == 2
    assert done.stderr == "armtwin: the output cannot be written (No space left on device)\n"


def test_an_unexpected_error_is_exit_3_with_one_sentence_and_a_traceback_in_a_file(
    tmp_path, monkeypatch
):
    def broken(*args, **kwargs):
        raise KeyError("the inside of armtwin")

    monkeypatch.setattr("armtwin.prediction.predict.simulate", broken)
    (tmp_path / "temp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    done = call(save(tmp_path), "predict", "job.toml")
    assert (done.code, done.out) == (3, "")
    [file] = (tmp_path / "temp").glob("armtwin-error-*.txt")
    sentence = (
        "armtwin: an unexpected error of armtwin (KeyError), not of your input; its traceback is in"
    )
    assert done.err == f"{sentence} {file}\n"
    written = file.read_text()
    assert "Traceback (most recent call last)" in written
    assert "the inside of armtwin" in written
    assert "predict job.toml" in written


def test_an_unexpected_error_is_told_also_where_no_traceback_can_be_written(tmp_path, monkeypatch):
    def broken(*args, **kwargs):
        raise MemoryError

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(at, "robots", broken)
    monkeypatch.setattr("tempfile.mkstemp", full)
    done = call(tmp_path, "robots")
    assert done.code == 3
    assert (
        "(MemoryError), not of your input; its traceback could not be written (No space left"
        in done.err
    )


LOST = """
import signal
from armtwin.app.commands import _stopping_in_order

class Held:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)

with _stopping_in_order():
    Held()
    print("went on")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_a_signal_that_a_destructor_would_lose_ends_the_command_all_the_same():
    """One in a destructor of llvmlite left its lock held, and a sweep waited for ever."""
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (143, "")
