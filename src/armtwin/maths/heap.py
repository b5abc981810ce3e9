"""Keep memory that was given back, for the arrays that come next."""

import ctypes
import sys
from functools import cache

MB = 1 << 20  # bytes
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # numbers of the options in malloc.h
KEPT = 64 * MB  # free memory at the end of a heap that stays there
LARGEST = 32 * MB  # arrays that come from a heap; glibc takes no larger number


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
