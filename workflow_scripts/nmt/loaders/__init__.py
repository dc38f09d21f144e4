"""Reading of model folders: each kind of folder has a loader, and all loaders lead to a `Model`.

A loader is a module with `KIND`, the name of the kind; `FILES`, the files that a folder of this
kind has; and `load(folder)`, which returns a network and the vocabularies of its two sides.
"""

from pathlib import Path
from types import ModuleType

import torch

from workflow_scripts.core.device import choose_device
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.loaders import sockeye3
from workflow_scripts.nmt.memory import bound_compiled_products, keep_freed_memory
from workflow_scripts.nmt.model import Model

LOADERS = (sockeye3,)
PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}


def load_model(folder: str | Path, device: str = "auto", precision: str = "fp32") -> Model:
    """Load a model folder.

    Args:
        folder: of one of the kinds that LOADERS read.
        device: `auto`, `cpu` or `cuda`.
        precision: `fp32` or `bf16`.

    Raises:
        InputError: a file is missing or broken, or the model has parts that are not supported.
    """
    folder = Path(folder)
    if precision not in PRECISIONS:
        raise InputError(f"precision {precision!r}: use one of {', '.join(PRECISIONS)}")
    network, source_vocab, target_vocab = find_loader(folder).load(folder)
    chosen = choose_device(device)
    if chosen.type == "cpu":
        keep_freed_memory()
        bound_compiled_products()
    return Model(network.to(chosen, PRECISIONS[precision]), source_vocab, target_vocab)


def find_loader(folder: Path) -> ModuleType:
    """Return the loader of a model folder: the folder has one of the loader's files.

    Raises:
        InputError: no loader reads it.
    """
    for loader in LOADERS:
        if any((folder / name).exists() for name in loader.FILES):
            return loader
    kinds = "; ".join(f"{loader.KIND} has {', '.join(loader.FILES)}" for loader in LOADERS)
    state = "is no model folder that can be read" if folder.is_dir() else "is no folder"
    raise InputError(f"{folder} {state}: {kinds}")
