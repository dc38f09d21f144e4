"""A device beside the CPU that is none: what would fail on a GPU fails here.

Its tensors are the CPU's, but say that they are on `cuda`. Tensors of both places in one operation
are refused, as a GPU refuses them, and so is `numpy()` without `cpu()`. Code takes the ways that it
has for accelerators. What a GPU lacks, or rounds otherwise, does not show.
"""

from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

CUDA, CPU = torch.device("cuda"), torch.device("cpu")
# These take tensors of the other place.
_TAKES_OTHERS = ("copy_", "__getitem__", "__setitem__", "index_put_")


class _Far(Tensor):
    """A tensor on the device."""


def _far(thing: Any) -> Any:
    return tree_map(lambda x: x.as_subclass(_Far) if isinstance(x, Tensor) else x, thing)


def _near(thing: Any) -> Any:
    return tree_map(lambda x: x.as_subclass(Tensor) if isinstance(x, _Far) else x, thing)


def _place(argument: Any) -> torch.device | None:
    """Return the place that an argument of `to` names."""
    if isinstance(argument, Tensor):
        return CUDA if isinstance(argument, _Far) else CPU
    return torch.device(argument) if isinstance(argument, (str, torch.device)) else None


class Pretended(TorchFunctionMode):
    """While it is entered, there is such a device."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = function.__name__
        first = bool(args) and isinstance(args[0], _Far)
        with torch._C.DisableTorchFunctionSubclass():
            if name == "__get__":
                attribute = function.__self__.__name__
                if attribute == "device":
                    return CUDA if first else CPU
                return first if attribute == "is_cuda" else self._on(first, function, args, kwargs)
            if name in ("numpy", "__array__") and first:
                raise TypeError("can't convert a tensor on cuda to NumPy")
            if name == "cpu":
                return _near(args[0]).clone() if first else args[0]
            place = _place(kwargs.pop("device", None))
            if name == "to":
                rest = [arg for arg in args[1:] if _place(arg) is None]
                named = [found for arg in args[1:] if (found := _place(arg))]
                far = (place or next(iter(named), CUDA if first else CPU)) == CUDA
                if not rest and not kwargs:
                    return _far(args[0]) if far else _near(args[0])
                return self._on(far, function, [args[0], *rest], kwargs)
            tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
            far = any(isinstance(x, _Far) for x in tensors)
            near = any(x.dim() and not isinstance(x, _Far) for x in tensors)
            if far and near and not (first and name in _TAKES_OTHERS):
                raise RuntimeError(f"{name}: tensors on cuda and on the CPU")
            result = self._on(far if place is None else place == CUDA, function, args, kwargs)
            # What changes a tensor in place returns it.
            return args[0] if first and name.endswith("_") and name[-2:] != "__" else result

    def _on(self, far, function, args, kwargs):
        result = function(*_near(args), **_near(kwargs))
        return _far(result) if far else result
