"""Proof on a CPU that an accelerator would not be waited for.

Tensors on torch's device `meta` have shapes but no data. So whatever reads a number from them, or
makes a tensor whose shape depends on their numbers, fails.
"""

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def without_data(thing: Any, copies: dict[int, Any] | None = None) -> Any:
    """Copy one of our objects, or a graph of them, with all its tensors on `meta`.

    `copies`: of objects that were met before, by their identity.
    """
    copies = {} if copies is None else copies
    if isinstance(thing, Tensor):
        return (thing.to_dense() if thing.is_mkldnn else thing).to("meta")
    if isinstance(thing, torch.device):
        return torch.device("meta")
    if isinstance(thing, list):
        return [without_data(item, copies) for item in thing]
    if isinstance(thing, dict):
        return {name: without_data(item, copies) for name, item in thing.items()}
    if id(thing) in copies:
        return copies[id(thing)]
    if type(thing).__module__.startswith(("workflow_scripts.", "tests.")):
        copies[id(thing)] = copy = object.__new__(type(thing))
        copy.__dict__.update(without_data(vars(thing), copies))
        return copy
    return thing


class Recorder(TorchDispatchMode):
    """Notes every operation of torch with the shapes of its tensors and its other arguments.

    `devices`: where the tensors are that operations read.
    """

    def __init__(self):
        super().__init__()
        self.operations: list[tuple] = []
        self.devices: set[str] = set()

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        leaves = tree_leaves((args, kwargs))
        self.operations.append(
            (operation, [leaf.shape if isinstance(leaf, Tensor) else leaf for leaf in leaves])
        )
        self.devices |= {leaf.device.type for leaf in leaves if isinstance(leaf, Tensor)}
        # Counting a mask is the one thing that `meta` lets pass.
        if operation.overloadpacket._qualified_op_name.startswith("aten::index_put"):
            assert not any(index.dtype == torch.bool for index in args[1] if index is not None)
        return operation(*args, **(kwargs or {}))
