"""A module run on a device with little memory.

python small_device.py BYTES -m MODULE ...    runs the module as `python -m MODULE ...` would

Every tensor that torch allocates counts, as long as it lives; an allocation that would exceed BYTES
(0: no limit) raises `torch.OutOfMemoryError`, as a GPU's allocator does. At the end the peak and
the number of failures are printed on stderr.
"""

import runpy
import sys
import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

REPORT = "small device: at most {peak} bytes at a time, ran out {failures} times"


class SmallDevice(TorchDispatchMode):
    """Counts the bytes of living tensors."""

    def __init__(self, limit: int):
        super().__init__()
        self._limit = limit
        self._living: dict[int, weakref.ref] = {}
        self._used = self.peak = self.failures = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            # A weight packed for oneDNN has no storage; it stays, so it does not vary.
            if isinstance(tensor, torch.Tensor) and not tensor.is_mkldnn:
                self._count(tensor.untyped_storage())
        return result

    def _count(self, storage: torch.UntypedStorage) -> None:
        address, size = storage._cdata, storage.nbytes()
        if address in self._living:
            return
        if self._limit and self._used + size > self._limit:
            self.failures += 1
            raise torch.OutOfMemoryError(f"small device: {size} bytes more than {self._limit}")

        def free(_: weakref.ref) -> None:
            del self._living[address]
            self._used -= size

        self._living[address] = weakref.ref(storage, free)
        self._used += size
        self.peak = max(self.peak, self._used)


def main() -> None:
    """Run a module on the small device."""
    limit, _, module, *arguments = sys.argv[1:]
    sys.argv = [module, *arguments]
    device = SmallDevice(int(limit))
    try:
        with device:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        report = REPORT.format(peak=device.peak, failures=device.failures)
        print(report, file=sys.stderr)


if __name__ == "__main__":
    main()
