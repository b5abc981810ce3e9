"""Files that have no end, are no files or unpack to more than they may:
refused at once, by a sentence.
"""

import gzip
import os
import signal
import sys
import time

import pytest

import armtwin as at
from armtwin.files import opening
from armtwin.files.opening import MB, Kind, read_bytes, unpack_gzip
from armtwin.jobs.from_points import read_points

READERS = {
    ".toml": at.Robot.load,
    ".urdf": at.Robot.load,
    ".job.toml": at.Job.load,
    ".csv": at.Log.read,
    ".csv.gz": at.Log.read,
    ".npz": at.Log.read,
    ".mcap": at.Log.read,
    ".points.csv": lambda path: read_points(path, None),
}
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


@pytest.fixture
def alarm():
    """Ends a test that waits for ever."""

    def late(*_):
        raise TimeoutError("a reader waits for ever")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(10)
    yield
    signal.alarm(0)


@needs_pipes
@pytest.mark.parametrize("suffix", READERS)
def test_a_pipe_is_refused_and_not_waited_for(suffix, tmp_path, alarm):
    path = tmp_path / f"pipe{suffix}"
    os.mkfifo(path)
    with pytest.raises(at.ArmtwinError, match="must be a plain file, but is a pipe"):
        READERS[suffix](path)


@needs_pipes
@pytest.mark.parametrize("suffix", READERS)
def test_a_device_without_end_is_refused(suffix, tmp_path, alarm):
    path = tmp_path / f"zero{suffix}"
    path.symlink_to("/dev/zero")
    with pytest.raises(at.ArmtwinError, match="must be a plain file, but is a device"):
        READERS[suffix](path)


@pytest.mark.parametrize("suffix", [suffix for suffix in READERS if suffix != ".mcap"])
def test_a_folder_is_no_file(suffix, tmp_path):
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(at.ArmtwinError, match="must be a plain file, but is a folder"):
        READERS[suffix](tmp_path / f"folder{suffix}")


@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".points.csv", ".csv"])
def test_a_file_of_gigabytes_is_refused_before_it_is_read(suffix, tmp_path):
    path = tmp_path / f"large{suffix}"
    with path.open("wb") as file:
        file.truncate(5 * 1024 * MB)
    with pytest.raises(at.FileError, match=r"must be at most \d+ MB"):
        READERS[suffix](path)


def test_a_gzip_bomb_is_unpacked_no_further_than_a_log_may_be_long(tmp_path, monkeypatch):
    monkeypatch.setattr("armtwin.logs.csv_reading.LOG", Kind("a log", 4 * MB))
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"time,q1\n")
        for _ in range(50):
            file.write(b"0" * MB)
    with pytest.raises(at.FileError, match="a log must be at most 4 MB"):
        at.Log.read(path)


def test_a_file_may_hold_as_much_as_its_kind_and_no_more(tmp_path):
    kind = Kind("a note", 100)
    (tmp_path / "note").write_bytes(b"x" * 100)
    assert read_bytes(tmp_path / "note", kind) == b"x" * 100
    (tmp_path / "note.gz").write_bytes(gzip.compress(b"x" * 100))
    assert unpack_gzip(tmp_path / "note.gz", kind) == b"x" * 100
    (tmp_path / "note").write_bytes(b"x" * 101)
    (tmp_path / "note.gz").write_bytes(gzip.compress(b"x" * 101))
    for read, name in ((read_bytes, "note"), (unpack_gzip, "note.gz")):
        with pytest.raises(at.FileError, match="a note must be at most"):
            read(tmp_path / name, kind)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_file_of_the_system_that_says_it_is_empty_is_bounded_all_the_same():
    with pytest.raises(at.FileError, match="a note must be at most"):
        read_bytes(opening.Path("/proc/self/maps"), Kind("a note", 100))


@pytest.mark.parametrize(
    "name", ["", ".", "a\0b.csv", "x" * 400 + ".csv", "x" * 400 + ".npz", "a\0b.mcap"], ids=range(6)
)
def test_a_name_that_no_file_can_have_is_refused_as_a_log(name):
    with pytest.raises(at.ArmtwinError):
        at.Log.read(name)


@pytest.mark.parametrize(
    "name", ["a\0b.toml", "x" * 400 + ".toml", "x" * 400 + ".urdf"], ids=range(3)
)
def test_a_name_that_no_file_can_have_is_refused_as_a_robot_and_as_a_job(name, tmp_path):
    with pytest.raises(at.ArmtwinError):
        at.Robot.load(name)
    with pytest.raises(at.ArmtwinError):
        at.Job.load(name)


def test_a_small_file_that_unpacks_to_a_gigabyte_is_refused_soon(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    piece = gzip.compress(b"\n" * (16 * MB), 9)
    path.write_bytes(piece * 64)  # parts of a gzip file follow each other
    begin = time.process_time()
    with pytest.raises(at.FileError, match="unpacks to more than 200 times its size"):
        at.Log.read(path)
    assert time.process_time() - begin < 2
