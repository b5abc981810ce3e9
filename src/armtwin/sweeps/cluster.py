"""Where a sweep runs on many machines: a scheduler of dask distributed, or workers of its own here.

Dask keeps the workers, repeats what a lost one was doing, and sends the jobs to each once. A piece
of work is long enough that its scheduler has time for a thousand workers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import on_one_thread
from armtwin.maths.heap import keep_freed_memory
from armtwin.maths.units import whole_number
from armtwin.sweeps.bases import Parcel
from armtwin.sweeps.executors import MOST_WORKERS

if TYPE_CHECKING:
    from distributed import Client

R = TypeVar("R")
LOCAL = "local:"
EACH_S = 0.003  # CPU of client and scheduler for a piece of work (benchmarks/sweeps.py)
USUAL_S = 1.0  # of a piece of work
PATIENCE = 10.0  # time [s] within which a scheduler must answer
FIRST_WORKER = 60.0  # and a first worker be there


class OnCluster:
    """Workers of a dask cluster."""

    def __init__(self, client: Client, parcel: Parcel, words: str) -> None:
        self.client, self.words = client, words
        self.width = max(1, sum(client.nthreads().values()))
        self.least_s = 2 * EACH_S * self.width  # half of what the scheduler can do
        self.task_s = max(USUAL_S, self.least_s)
        # the result of a task: each worker that needs it gets it once, and it outlives all of them
        self.sent = client.submit(_same, parcel, pure=False)
        self.pool = client.get_executor(pure=False)

    def submit(self, work: Callable[..., R], *arguments: Any) -> Future[R]:
        """Begin a piece of work."""
        found: Future[R] = self.pool.submit(_on_worker, work, self.sent, *arguments)
        return found


@contextmanager
def on_cluster(parcel: Parcel, address: str) -> Iterator[OnCluster]:
    """Workers of the scheduler at an address, or N of our own on this machine ("local:N").

    Args:
        parcel: What they need.
        address: As "tcp://10.0.0.1:8786" or "local:4".
    """
    distributed = _import_distributed()
    lost = (distributed.KilledWorker, CancelledError, distributed.comm.CommClosedError)
    try:
        with _connect(distributed, address) as client:
            check_workers(client, parcel.version)
            yield OnCluster(client, parcel, _words(address))
    except lost as error:
        raise ArmtwinError(
            f"{_words(address)} lost its scheduler, or too many workers with the same runs "
            f"({type(error).__name__}); what was done is kept: run it again"
        ) from None


def check_cluster(address: str, version: str) -> None:
    """Refuse a cluster that cannot be used, before anything is written.

    Args:
        address: As of `on_cluster`.
        version: Version of armtwin that its workers must have.
    """
    distributed = _import_distributed()
    if address.startswith(LOCAL):
        _count(address)
        return
    with _connect(distributed, address) as client:
        check_workers(client, version)


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ArmtwinError(
            "a cluster needs dask distributed, which is not installed: pip install armtwin[cluster]"
        ) from None
    logging.getLogger("distributed").setLevel(logging.ERROR)
    return distributed


@contextmanager
def _connect(distributed: ModuleType, address: str) -> Iterator[Any]:
    """A client of a cluster, our own or another."""
    if address.startswith(LOCAL):
        options = {"n_workers": _count(address), "threads_per_worker": 1}
        with (
            distributed.LocalCluster(**options, dashboard_address=":0") as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise ArmtwinError(
            f"no scheduler of dask answers at {address} within {PATIENCE:g} s ({error!s:.120}); "
            "start one with `dask scheduler` and workers with `dask worker ADDRESS`"
        ) from None
    with client:
        yield client


def _count(address: str) -> int:
    """Workers of our own that are asked for."""
    count = whole_number(address.removeprefix(LOCAL))
    if count is None or not 1 <= count <= MOST_WORKERS:
        raise ArmtwinError(f"--cluster local:N needs N from 1 to {MOST_WORKERS}, got {address}")
    return count


def _words(address: str) -> str:
    if address.startswith(LOCAL):
        return f"{_count(address)} workers of dask on this machine"
    return f"the cluster at {address}"


def check_workers(client: Client, version: str) -> None:
    """Refuse a cluster that has no worker, or one with another version of armtwin."""
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER)
    except TimeoutError:
        raise ArmtwinError("the cluster has no worker; start one with `dask worker`") from None
    # a function of its own words: a worker may have another armtwin, or none
    found = client.run(
        lambda: __import__("importlib.metadata").metadata.version("armtwin"), on_error="return"
    )
    refuse_other_versions(found, version)


def _on_worker(work: Callable[..., R], *arguments: Any) -> R:
    """A piece of work on one thread: a worker has a piece for each of its own."""
    on_one_thread()
    keep_freed_memory()
    return work(*arguments)


def _same(parcel: Parcel) -> Parcel:
    return parcel


def refuse_other_versions(found: Mapping[str, Any], own: str) -> None:
    """Refuse workers that have another version of armtwin, or none."""
    other = {}
    for worker, version in found.items():
        if version != own:
            other[worker] = "none" if isinstance(version, Exception) else version
    if other:
        worker, version = next(iter(other.items()))
        raise ArmtwinError(
            f"worker {worker} has armtwin {version}, this is {own} ({len(other)} of {len(found)} "
            "workers differ): install the same version on all machines"
        )
