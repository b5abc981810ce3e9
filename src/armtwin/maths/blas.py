"""Small matrices on one thread.

The linear algebra under numpy and that under scipy each keep threads of their own, which wait busily for a while after
each call. Between kernels that use all cores these only stand in the way: an identification took twice as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within it, or within a function it decorates, linear algebra runs on one thread."""
    import scipy.linalg  # noqa: F401  its library must be loaded to be found

    with _controller().limit(limits=1, user_api="blas"):
        yield
