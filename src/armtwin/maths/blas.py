"""Small matrices on one thread.

The linear algebra under numpy and that under scipy each keep threads of their own, which wait
busily for a while after each call. Between kernels that use all cores these only slow them down:
an identification took twice as long. Another number of threads also gives other last digits.
"""

import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _take_control() -> None:
    """Let this thread change the number of threads.

    threadpoolctl listens only to the thread that asked first, and does not say so.
    """
    for library in _controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


class _Limit:
    """The limit of one thread, for the whole process: the first sets it, the last lifts it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.depth: Counter[int] = Counter()  # by thread
        self.limiter: Any = None

    def enter(self) -> None:
        with self.lock:
            if not self.depth:
                _take_control()
                self.limiter = _controller().limit(limits=1, user_api="blas")
            self.depth[threading.get_ident()] += 1

    def leave(self) -> None:
        with self.lock:
            me = threading.get_ident()
            self.depth[me] -= 1
            if self.depth[me] == 0:
                del self.depth[me]
            self._lift()

    def go_on_in_child(self) -> None:
        """After a fork: only the thread that forked is there, and none that held the lock."""
        self.lock = threading.Lock()
        was_limited = bool(self.depth)
        me = threading.get_ident()
        own = self.depth[me]
        self.depth = Counter({me: own} if own else {})
        if was_limited:
            self._lift()

    def _lift(self) -> None:
        if not self.depth:
            _take_control()
            self.limiter.restore_original_limits()


_LIMIT = _Limit()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LIMIT.go_on_in_child)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within it, or within a function it decorates, linear algebra runs on one thread."""
    import scipy.linalg  # noqa: F401  its library must be loaded to be found

    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()
