"""studies/soak.py notices what grows and what is left."""

import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "studies"))
import soak

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_memory_that_each_run_keeps_is_noticed():
    """200 kB a run, each byte written: 30 MB in 150 runs after the warm-up.

    Pages of their own: what earlier tests have freed does not serve them.
    """
    kept = []

    def run(number):
        kept.append(mmap.mmap(-1, 200_000))
        kept[-1].write(os.urandom(200_000))

    with pytest.raises(soak.Left, match=r"memory \+2\d\d\.\d\d kB a run.*it grows"):
        list(soak.watched("runs", run, 200))


def test_files_that_each_run_keeps_open_are_noticed(tmp_path):
    kept = []

    def run(number):
        kept.append((tmp_path / str(number)).open("w"))

    with pytest.raises(soak.Left, match=r"files, .* threads, before"):
        list(soak.watched("runs", run, 40))
    for file in kept:
        file.close()


def test_runs_that_keep_nothing_are_flat():
    def run(number):
        bytes(200_000)

    *_, words = soak.watched("runs", run, 40)
    assert words.startswith("runs: memory")


def test_processes_and_files_that_a_sweep_leaves_are_noticed(tmp_path, monkeypatch):
    monkeypatch.setenv(soak.MARK, "test")
    monkeypatch.setattr(soak, "GRACE", 0.2)
    folder, temporary = tmp_path / "sweep", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    soak.check_left(folder, temporary, set())
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with pytest.raises(soak.Left, match=str(child.pid)):
        soak.check_left(folder, temporary, set())
    child.communicate()
    (temporary / "armtwin-x").touch()
    with pytest.raises(soak.Left, match="armtwin-x"):
        soak.check_left(folder, temporary, set())
    with pytest.raises(soak.Left, match=r"results\.sqlite"):
        soak.check_left(folder, temporary, {"results.sqlite"})
