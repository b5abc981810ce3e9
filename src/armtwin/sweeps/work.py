"""The one function that every executor runs: runs of a sweep, a row for each."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from armtwin.errors import ArmtwinError
from armtwin.files.versions import stamped_version
from armtwin.jobs.job import Job
from armtwin.prediction.band.band import assess_run
from armtwin.prediction.predict import predict
from armtwin.sweeps.bases import Parcel, Unpacked, unpack
from armtwin.sweeps.rows import FAILED, REFUSED, ResultRow, row_of
from armtwin.sweeps.settings import Changes, change_job

KEPT = 4  # parcels that a worker keeps


@dataclass(frozen=True)
class SweepRun:
    """A run of a sweep.

    Attributes:
        number: Its number in the sweep, from 1.
        key: What it is known by: a digest of all that it depends on.
        base: Number of its job in the parcel, from 0.
        changes: What it changes of that job.
    """

    number: int
    key: bytes
    base: int
    changes: Changes


_known: dict[str, Unpacked] = {}
_lock = Lock()


def keep(parcel: Parcel) -> str:
    """Unpack a parcel here; the digest that it is then known by."""
    with _lock:
        if parcel.digest not in _known:
            refuse_other_version(parcel)
            _known[parcel.digest] = unpack(parcel)
            for oldest in list(_known)[:-KEPT]:
                del _known[oldest]
    return parcel.digest


def forget() -> None:
    """Remove the files of all parcels that are kept here."""
    with _lock:
        for here in _known.values():
            if here.folder is not None:
                here.folder.cleanup()
        _known.clear()


def refuse_other_version(parcel: Parcel) -> None:
    """Refuse a parcel of another version of armtwin, whose runs would differ."""
    own = stamped_version()
    if parcel.version != own:
        raise ArmtwinError(
            f"a worker has armtwin {own}, the sweep is run by {parcel.version}: install "
            "the same version on all machines"
        )


def run_some(sent: Parcel | str, runs: Sequence[SweepRun]) -> list[ResultRow]:
    """Run the given runs, one after another.

    Args:
        sent: The parcel of the sweep, or the digest of one that was kept here.
        runs: The runs.
    """
    here = _known[sent if isinstance(sent, str) else keep(sent)]
    return [_row(here, run) for run in runs]


class _Cost:
    """CPU time of runs; what several runs of one process use together is shared between them."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.under_way = 0

    @contextmanager
    def measured(self) -> Iterator[Callable[[], float]]:
        """Gives the cost so far of what runs within it [s]."""
        with self.lock:
            self.under_way += 1
            first = self.under_way
        start = time.process_time()
        try:
            yield lambda: 2 * (time.process_time() - start) / (first + self.under_way)
        finally:
            with self.lock:
                self.under_way -= 1


_cost = _Cost()


def _row(here: Unpacked, run: SweepRun) -> ResultRow:
    """A run, or why it could not be run."""
    with _cost.measured() as cost:
        try:
            job = change_job(here.jobs[run.base], run.changes)
            return _predict_row(here.parcel, job, cost)
        except ArmtwinError as error:
            return ResultRow(REFUSED, sentence=here.told(error), cpu_s=cost())
        except Exception as error:  # one run must not end ten thousand: it is a row that says so
            kind = type(error).__name__
            sentence = f"an unexpected error of armtwin ({kind}): {here.told(error)}"
            return ResultRow(FAILED, sentence=sentence, cpu_s=cost())


def _predict_row(parcel: Parcel, job: Job, cost: Callable[[], float]) -> ResultRow:
    prediction = predict(job, method=parcel.method)  # type: ignore[arg-type]
    band = assess_run(prediction) if parcel.band else None
    return row_of(prediction, band, cost())
