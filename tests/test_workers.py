"""The same numbers in every kind of worker: forked, spawned, in threads."""

import json
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from armtwin.maths.blas import one_blas_thread

ROOT = Path(__file__).parents[1]
KINDS = ("fork", "spawn", "thread")


@pytest.fixture(scope="module")
def digests():
    """Digests of prediction and identification in a parent and its workers, on two threads."""
    kinds = [x for x in KINDS if x == "thread" or x in multiprocessing.get_all_start_methods()]
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-m", "tests.workers", *kinds],
        cwd=ROOT,
        env={**os.environ, "ARMTWIN_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", ["predict", "identify"])
def test_a_worker_returns_and_gives_the_bits_of_its_parent(verb, kind, digests):
    if kind not in digests:
        pytest.skip(f"no {kind} on this platform")
    number = ("predict", "identify").index(verb)
    assert {pair[number] for pair in digests[kind]} == {digests["parent"][0][number]}


def blas_threads():
    import scipy.linalg  # noqa: F401

    return [x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas"]


@threadpool_limits.wrap(limits=2, user_api="blas")
def test_one_thread_that_leaves_does_not_lift_the_limit_of_another():
    before = blas_threads()
    assert set(before) == {2}
    entered, leave = threading.Event(), threading.Event()

    def other():
        with one_blas_thread():
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=other)
    thread.start()
    entered.wait(30)
    with one_blas_thread():
        leave.set()
        thread.join()
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_forked_within_the_limit_of_another_thread_is_not_limited():
    script = """
import os, threading, scipy.linalg
from threadpoolctl import threadpool_info
from armtwin.maths.blas import one_blas_thread
threads = lambda: [x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas"]
before, entered, leave = threads(), threading.Event(), threading.Event()
def other():
    with one_blas_thread():
        entered.set()
        leave.wait(30)
thread = threading.Thread(target=other)
thread.start()
entered.wait(30)
child = os.fork()
if child == 0:
    free = threads() == before
    with one_blas_thread():
        one = set(threads()) == {1}
    os._exit(0 if free and one and threads() == before else 1)
status = os.waitpid(child, 0)[1]
leave.set()
thread.join()
raise SystemExit(status != 0)
"""
    words = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    assert subprocess.run(words, check=False, timeout=100).returncode == 0
