"""Every reader of files, fed with mutations of valid ones: what leaves it is a value or our own
error, soon, and without filling the memory.

ARMTWIN_FUZZ_SECONDS gives it more CPU time than the suite does, ARMTWIN_FUZZ_SEED other mutations;
`pytest -rP` shows how many there were.
"""

import os
import resource
import sys
import time
import warnings
import zlib

import numpy as np
import pytest

from armtwin.errors import ArmtwinError, did_you_mean
from tests.fuzzed_files import FILES
from tests.fuzzing import check_message

SECONDS = float(os.environ.get("ARMTWIN_FUZZ_SECONDS", "40"))
SEED = int(os.environ.get("ARMTWIN_FUZZ_SEED", "11"))
LONGEST = 5.0  # CPU seconds that a reader may take for one input
LEAST = 4  # inputs of a reader that has a process of its own for each
WAIT = 2.0  # longest time over CPU time: some readers wait for the disk
LARGEST = 400.0  # MB by which one input may raise the memory; the largest accepted arrays take less


def cpu_seconds():
    """Of this process and of those that it has started and waited for."""
    return sum(os.times()[:4])


def peak_memory():
    """MB."""
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def check(read, path, case):
    """One input: a value or our own error, soon, without a warning."""
    begin, held = cpu_seconds(), peak_memory()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            read(path)
        except ArmtwinError as error:
            check_message(str(error))
        except Exception as error:
            raise AssertionError(f"{case}: {type(error).__name__} left the reader") from error
    spent, grown = cpu_seconds() - begin, peak_memory() - held
    assert spent < LONGEST, f"{case}: took {spent:.1f} s"
    assert grown < LARGEST, f"{case}: took {grown:.0f} MB"
    caught = [
        w for w in caught if w.category is not ResourceWarning
    ]  # readers of bags leave files to the collector
    assert not caught, f"{case}: {caught[0].message} ({caught[0].filename}:{caught[0].lineno})"


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("name", FILES)
def test_nothing_but_our_own_error_leaves_a_reader(name, tmp_path):
    kind = FILES[name]
    if kind.needs:
        pytest.importorskip(kind.needs)
    data = kind.valid(tmp_path, name)
    folder = tmp_path / "fuzzed"
    folder.mkdir()
    path = folder / name
    path.write_bytes(data)
    kind.read(path)  # what is mutated is valid, and its kernels are compiled
    each, count = SECONDS / len(FILES), 0
    end, late = cpu_seconds() + each, time.monotonic() + WAIT * each
    while (cpu_seconds() < end and time.monotonic() < late) or count < LEAST:
        rng = np.random.default_rng([SEED, zlib.crc32(name.encode()), count])
        path.write_bytes(kind.mutate(rng, data))
        check(kind.read, path, f"{name}, mutation {count} of seed {SEED}")
        count += 1
    print(f"{name}: {count} inputs")  # pytest -rP


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("driven.toml", b"seed = 3", b"seed = -1"),
        ("registration.toml", b'orientation = { rpy = [0, 0, "90 deg"] }', b"orientation = {}"),
        ("program.toml", b'lin = ["50 mm", "-60 mm"', b'lin = ["50 mm", "1e-300 mm"'),
    ],
)
def test_what_long_runs_found_is_a_value_or_our_own_error(name, old, new, tmp_path):
    kind = FILES[name]
    data = kind.valid(tmp_path, name)
    assert old in data
    folder = tmp_path / "fuzzed"
    folder.mkdir()
    path = folder / name
    path.write_bytes(data.replace(old, new))
    check(kind.read, path, name)


def test_known_words_may_be_numbers():
    assert did_you_mean("a word", [0.05]) == "Known: 0.05."
