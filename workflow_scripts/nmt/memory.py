"""Memory of the process, on a CPU."""

import ctypes
import os
from contextlib import suppress

# Parameters of glibc's `mallopt`.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# Bytes; larger blocks, such as caches of keys and values on large machines, are mapped apart.
_LARGEST_KEPT = 2**30
_NEVER = 2**31 - 1
# Products that oneDNN has compiled and that torch keeps, 0.6 MB each; by default 1,024.
COMPILED_PRODUCTS = 256


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


def bound_compiled_products() -> None:
    """Let torch keep no more than COMPILED_PRODUCTS products that oneDNN has compiled.

    A process that has computed one already keeps its bound, and so does one whose environment has
    these variables.
    """
    for cache in ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
        os.environ.setdefault(cache, str(COMPILED_PRODUCTS))
