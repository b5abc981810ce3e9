"""Memory that arrays no longer need: kept for those that come next, or given back."""

import ctypes
import sys
from functools import cache

MB = 1 << 20  # bytes
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # numbers of the options in malloc.h
KEPT = 64 * MB  # free memory at the end of a heap that stays there
LARGEST = 32 * MB  # arrays that come from a heap; glibc takes no larger number


def return_freed_memory() -> None:
    """Have glibc give back to the system what is free in the heaps of all threads."""
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", int)
        trim(0)


@cache
def keep_freed_memory() -> bool:
    """Have the C library keep freed memory of this process; whether it does.

    Predictions and identifications make arrays of a few megabytes and give them back. By default
    glibc then returns their pages to the system, which clears them anew for the next ones: a tenth
    of the CPU time, and one lock for all threads of the process. Here at most KEPT stays at the end
    of each thread's heap. C libraries other than glibc keep what they keep, and nothing is changed.
    """
    if not sys.platform.startswith("linux"):
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version") or not hasattr(library, "mallopt"):
        return False
    # the first alone would have every array above 128 kB mapped afresh
    larger = library.mallopt(MMAP_THRESHOLD, LARGEST)
    longer = library.mallopt(TRIM_THRESHOLD, KEPT)
    return bool(larger and longer)
