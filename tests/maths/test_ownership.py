"""Kernels are run as they are found: only where nobody else could have put them there."""

import os
import stat
import subprocess
import sys
import tempfile

import pytest

from armtwin.maths import compiled
from armtwin.maths.ownership import make_private, read_own_file, why_unsafe

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no owners")
SOMEBODY = 54_321  # number of a user that is neither this one nor root


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def give_away(path, monkeypatch):
    """Make a file another's: by root, or by being somebody else ourselves."""
    if os.geteuid() == 0:
        os.chown(path, SOMEBODY, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: SOMEBODY)


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A folder asked for as the cache, and another for temporary files."""
    asked, temporary = tmp_path / "parent" / "cache", tmp_path / "temporary"
    asked.mkdir(parents=True)
    temporary.mkdir()
    monkeypatch.setenv("ARMTWIN_CACHE_DIR", str(asked))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return asked, temporary


def test_what_is_made_is_for_its_owner_alone_whatever_the_usual_mode_is(tmp_path):
    before = os.umask(0)
    try:
        assert make_private(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert (mode(tmp_path / "a"), mode(tmp_path / "a" / "b")) == (0o700, 0o700)
    (tmp_path / "a" / "b").chmod(0o755)
    assert not make_private(tmp_path / "a" / "b")
    assert mode(tmp_path / "a" / "b") == 0o700


def test_a_folder_of_ours_is_used_as_it_is(places):
    folder, remark = compiled._open_folder()
    assert remark == ""
    assert folder.parent == places[0] / "kernels"
    assert mode(folder) == 0o700


@pytest.mark.parametrize("which", [".", "..", "kernels"])
def test_a_folder_that_others_may_write_to_is_refused_and_a_private_one_used(places, which):
    asked, temporary = places
    opened = (asked / which).resolve()
    opened.mkdir(exist_ok=True)
    opened.chmod(0o777)
    folder, remark = compiled._open_folder()
    assert folder.parents[1] == temporary / f"armtwin-{os.geteuid()}"
    assert mode(folder) == 0o700
    assert f"but others may write to {opened} (mode 777)" in remark
    assert f"`chmod go-w {opened}`, or choose another with ARMTWIN_CACHE_DIR" in remark
    assert not list(asked.glob("kernels/*"))


def test_a_folder_of_another_user_is_refused(tmp_path, monkeypatch):
    (tmp_path / "theirs").mkdir()
    give_away(tmp_path / "theirs", monkeypatch)
    why, _ = why_unsafe(tmp_path / "theirs" / "kernels")
    assert "belongs to another user (number" in why


def test_a_folder_where_others_may_add_and_not_rename_is_a_parent(places):
    """As /tmp: its sticky bit leaves to each what is theirs."""
    places[0].parent.chmod(0o1777)
    assert compiled._open_folder()[1] == ""


def test_without_any_safe_folder_kernels_are_compiled_each_time(places):
    for place in places:
        place.parent.chmod(0o777)
        place.chmod(0o777)
    folder, remark = compiled._open_folder()
    assert folder is None
    assert remark


def test_a_kernel_that_another_user_has_left_is_not_loaded(tmp_path, monkeypatch):
    """A folder may have been open before it was closed."""
    (tmp_path / "kernel").write_bytes(b"machine code")
    assert read_own_file(tmp_path / "kernel") == b"machine code"
    give_away(tmp_path / "kernel", monkeypatch)
    assert read_own_file(tmp_path / "kernel") is None


def test_a_pipe_in_place_of_a_kernel_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "kernel")
    assert read_own_file(tmp_path / "kernel") is None


def test_the_command_says_so_once(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    marks = {"ARMTWIN_CACHE_DIR": str(tmp_path / "open"), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "armtwin", "jobs"]
    done = subprocess.run(
        command, env={**os.environ, **marks}, capture_output=True, text=True, check=True
    )
    [line] = done.stderr.splitlines()
    assert line.startswith(f"armtwin: {tmp_path / 'open'}: a cache of kernels must be closed to")
