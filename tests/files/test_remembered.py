"""What was made of a file is kept until the file changes, and no longer."""

import os
import time

import pytest

from armtwin.files.file_cache import SETTLED, FileCache


@pytest.fixture
def file(tmp_path):
    """A file that nobody has touched for an hour."""
    path = tmp_path / "file.toml"
    path.write_text("one")
    age(path, 3600)
    return path


def age(path, seconds):
    when = time.time() - seconds
    os.utime(path, (when, when))


def test_a_file_that_stays_as_it_is_is_read_once(file):
    memory = FileCache(4)
    first = memory.value(file, lambda: [file.read_text()])
    assert memory.value(file, lambda: [file.read_text()]) is first


def test_a_changed_file_is_read_again(file):
    memory = FileCache(4)
    memory.value(file, file.read_text)
    file.write_text("two")
    age(file, 1800)
    assert memory.value(file, file.read_text) == "two"


def test_another_file_in_its_place_with_the_same_size_and_time_is_read(file):
    memory = FileCache(4)
    memory.value(file, file.read_text)
    before = file.stat()
    other = file.with_suffix(".new")
    other.write_text("two")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(other, file)
    assert memory.value(file, file.read_text) == "two"


def test_a_file_written_just_now_is_read_each_time(file):
    """A clock of the disk that ticks every two seconds would not show the next change."""
    memory = FileCache(4)
    age(file, SETTLED / 2)
    memory.value(file, file.read_text)
    before = file.stat()
    file.write_text("two")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert memory.value(file, file.read_text) == "two"


def test_other_options_give_another_value(file):
    memory = FileCache(4)
    assert memory.value(file, lambda: "strict", False) == "strict"
    assert memory.value(file, lambda: "lenient", True) == "lenient"


def test_the_oldest_is_forgotten_first(tmp_path):
    memory = FileCache(2)
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_text(path.name)
        age(path, 3600)
        memory.value(path, path.read_text)
    assert memory.value(paths[0], lambda: "read again") == "read again"
    assert memory.value(paths[2], lambda: "read again") == "c"


def test_an_error_is_not_remembered(file):
    def refuse():
        raise ValueError("not a robot")

    memory = FileCache(4)
    with pytest.raises(ValueError, match="not a robot"):
        memory.value(file, refuse)
    assert memory.value(file, file.read_text) == "one"
