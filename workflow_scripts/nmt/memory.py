"""Memory of the process, on a CPU."""

import ctypes
from contextlib import suppress

# Parameters of glibc's `mallopt`.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# Bytes; larger blocks, such as caches of keys and values on large machines, are mapped apart.
_LARGEST_KEPT = 2**30
_NEVER = 2**31 - 1


def keep_freed_memory() -> None:
    """Let the C library keep what is freed for the next tensors, instead of returning it.

    The system zeroes every page that it hands out: for tensors of some megabytes, made anew in
    every step, that can take longer than the arithmetic on them (measured: scoring gains 8 %,
    sampling in bf16 23 %). Without glibc nothing happens.
    """
    with suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _LARGEST_KEPT)
        mallopt(_TRIM_THRESHOLD, _NEVER)
