"""Memory that is kept: arrays that are made again take no new pages."""

import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
import numpy as np
from armtwin.maths.heap import keep_freed_memory

def taken():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        some = [np.ones(300_000) for _ in range(4)]
        del some
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

taken()
loose = taken()
kept = keep_freed_memory()
taken()
print(int(kept), loose, taken())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts pages as Linux does")
def test_arrays_that_are_made_again_take_no_new_pages():
    """9.6 MB are 2300 pages of 4 kB, fifty times; kept, they are taken once."""
    done = subprocess.run(
        [sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True
    )
    kept, loose, again = map(int, done.stdout.split())
    if not kept:
        pytest.skip("a C library that is not glibc")
    assert again < 2300 < loose


def test_other_systems_are_left_as_they_are(monkeypatch):
    from armtwin.maths import heap

    monkeypatch.setattr(heap.sys, "platform", "win32")
    monkeypatch.setattr(heap.ctypes, "CDLL", None)  # would fail if it were called
    assert heap.keep_freed_memory.__wrapped__() is False
