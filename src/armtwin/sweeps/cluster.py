"""Where a sweep runs on many machines: a scheduler of dask distributed, or workers of its own here.

Dask keeps the workers, repeats what a lost one was doing, and sends the jobs to each once. A piece
of work is long enough that its scheduler has time for a thousand workers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from armtwin.errors import ArmtwinError
from armtwin.files.opening import CERTIFICATE, check_plain_file
from armtwin.maths.batch import on_one_thread
from armtwin.maths.heap import keep_freed_memory
from armtwin.maths.units import whole_number
from armtwin.sweeps.bases import Parcel
from armtwin.sweeps.executors import MOST_WORKERS

if TYPE_CHECKING:
    from distributed import Client

R = TypeVar("R")
LOCAL, TLS = "local:", "tls://"
OWN_HOST = "127.0.0.1"  # where our own cluster and its dashboard listen: no other machine's
EACH_S = 0.003  # CPU of client and scheduler for a piece of work (benchmarks/sweeps.py)
USUAL_S = 1.0  # of a piece of work
PATIENCE = 10.0  # time [s] within which a scheduler must answer
FIRST_WORKER = 60.0  # and a first worker be there


@dataclass(frozen=True)
class Cluster:
    """A scheduler of dask distributed, and the files by which both ends know each other (TLS).

    Attributes:
        address: As "tcp://10.0.0.1:8786", "tls://10.0.0.1:8786" with the files, or "local:4".
        tls_ca: Certificate of the authority that signed those of scheduler and workers (PEM).
        tls_certificate: Certificate of this machine.
        tls_key: Its key.
    """

    address: str
    tls_ca: str | Path | None = None
    tls_certificate: str | Path | None = None
    tls_key: str | Path | None = None

    def __post_init__(self) -> None:
        given = [path for path in self._files if path is not None]
        if given and len(given) < len(self._files):
            raise ArmtwinError(
                f"cluster {self.address}: TLS needs the certificate of the authority, that of this "
                f"machine and its key, got {len(given)} of 3 files"
            )
        if given and not self.address.startswith(TLS):
            raise ArmtwinError(
                f"cluster {self.address}: files of TLS need an address that begins with {TLS}"
            )
        for path in given:
            check_plain_file(Path(path), CERTIFICATE)

    @property
    def _files(self) -> tuple[str | Path | None, ...]:
        return self.tls_ca, self.tls_certificate, self.tls_key

    @property
    def is_local(self) -> bool:
        """Whether its workers are our own."""
        return self.address.startswith(LOCAL)

    @property
    def words(self) -> str:
        """What it is, in words."""
        if self.is_local:
            return f"{_count(self.address)} workers of dask on this machine"
        return f"the cluster at {self.address}"

    def security(self, distributed: ModuleType) -> Any:
        """What dask takes for the files; without them what its own configuration says."""
        if self.tls_ca is None:
            return None
        ca, certificate, key = map(str, self._files)
        return distributed.Security(
            require_encryption=True, tls_ca_file=ca, tls_client_cert=certificate, tls_client_key=key
        )


def _as_cluster(given: str | Cluster) -> Cluster:
    return given if isinstance(given, Cluster) else Cluster(given)


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
        return self.pool.submit(_on_worker, work, self.sent, *arguments)


@contextmanager
def on_cluster(parcel: Parcel, given: str | Cluster) -> Iterator[OnCluster]:
    """Workers of a scheduler, or N of our own on this machine ("local:N").

    Args:
        parcel: What they need.
        given: The scheduler, or its address.
    """
    cluster = _as_cluster(given)
    distributed = _import_distributed()
    lost = (distributed.KilledWorker, CancelledError, distributed.comm.CommClosedError)
    try:
        with _connect(distributed, cluster) as client:
            check_workers(client, parcel.version)
            yield OnCluster(client, parcel, cluster.words)
    except lost as error:
        raise ArmtwinError(
            f"{cluster.words} lost its scheduler, or too many workers with the same runs "
            f"({type(error).__name__}); what was done is kept: run it again"
        ) from None


def check_cluster(given: str | Cluster, version: str) -> None:
    """Refuse a cluster that cannot be used, before anything is written.

    Args:
        given: As of `on_cluster`.
        version: Version of armtwin, with its stamp, that its workers must have.
    """
    distributed = _import_distributed()
    cluster = _as_cluster(given)
    if cluster.is_local:
        _count(cluster.address)
        return
    with _connect(distributed, cluster) as client:
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
def _connect(distributed: ModuleType, cluster: Cluster) -> Iterator[Any]:
    """A client of a cluster, our own or another."""
    address = cluster.address
    if cluster.is_local:
        options = {"n_workers": _count(address), "threads_per_worker": 1, "host": OWN_HOST}
        with (
            distributed.LocalCluster(**options, dashboard_address=f"{OWN_HOST}:0") as own,
            distributed.Client(own) as client,
        ):
            yield client
        return
    try:
        security = cluster.security(distributed)
        client = distributed.Client(address, timeout=PATIENCE, security=security)
    except (OSError, ValueError, TypeError, RuntimeError, TimeoutError) as error:
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


def check_workers(client: Client, version: str) -> None:
    """Refuse a cluster that has no worker, or one with another version of armtwin."""
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER)
    except TimeoutError:
        raise ArmtwinError("the cluster has no worker; start one with `dask worker`") from None

    def tell_version() -> str:
        """A function of its own words: a worker may have another armtwin, or none."""
        from importlib.metadata import version

        try:
            from armtwin.files.versions import stamped_version
        except ImportError:
            return version("armtwin")
        return stamped_version()

    refuse_other_versions(client.run(tell_version, on_error="return"), version)


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
