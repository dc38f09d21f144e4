"""Memory of the process, on a CPU."""

import ctypes
import os
from contextlib import suppress

# Parameters of glibc's `mallopt`.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# In bytes. Larger blocks, such as keys and values on large machines, are not kept.
_LARGEST_KEPT = 2**30
_NEVER = 2**31 - 1
# Products that oneDNN has compiled and that torch keeps, 0.6 MB each; by default 1,024.
COMPILED_PRODUCTS = 256


def keep_freed_memory() -> None:
    """Let the C library keep what is freed for the next tensors, instead of returning it.

    The system fills every new page with zeros. Every step makes new tensors of some megabytes, and
    the zeros can take longer than the arithmetic (measured: scoring gains 8 %, sampling in bf16
    23 %). Without glibc nothing happens.
    """
    with suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _LARGEST_KEPT)
        mallopt(_TRIM_THRESHOLD, _NEVER)


def return_freed_memory() -> None:
    """Return to the system what is freed, which `keep_freed_memory` keeps until then.

    A process that works in batches, and lives long, does so between them: what each leaves in holes
    of the heap would add up. Without glibc nothing happens.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def bound_compiled_products(most: int = COMPILED_PRODUCTS) -> None:
    """Let torch keep at most so many products that oneDNN has compiled.

    Call it before the first product: later it has no effect. If the environment has these variables
    already, they stay.
    """
    for cache in ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
        os.environ.setdefault(cache, str(most))
