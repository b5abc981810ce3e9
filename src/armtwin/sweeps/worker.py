"""Start and end of a worker process; nothing else is imported before it starts."""

import atexit
import gc
import os
import pickle
import signal
from multiprocessing import parent_process
from threading import Thread


def begin(packed: bytes) -> None:
    """Import all that runs need, without garbage collection, and unpack the jobs.

    A worker leaves stopping to its parent, and ends where that is killed.

    Args:
        packed: A parcel, pickled: unpickling imports what it is made of.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    gc.disable()
    from armtwin.maths.batch import on_one_thread
    from armtwin.maths.heap import keep_freed_memory
    from armtwin.sweeps.work import keep

    on_one_thread()
    keep_freed_memory()
    keep(pickle.loads(packed))
    gc.freeze()
    gc.enable()
    atexit.register(_end)


def _end() -> None:
    """Remove files of jobs and exit: to tear down all modules would take a fifth of a second."""
    from armtwin.sweeps.work import forget

    forget()
    os._exit(0)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
