"""How many weights a model has, counted in its file."""

from pathlib import Path

import safetensors.torch
from torch import Tensor

from workflow_scripts.core.files.model_folder import MARIAN_BINARY, MARIAN_NPZ, model_files
from workflow_scripts.nmt.loaders.marian_items import read_binary, read_npz
from workflow_scripts.nmt.loaders.parameters import read_checkpoint

# In the names of tables of positions, which are not trained.
_POSITIONS = ("pos_embedding", "embed_positions")


def count_parameters(folder: Path) -> int:
    """Return the number of trained weights of a model; tied ones count once.

    Raises:
        InputError: the file can't be read.
    """
    trained = {
        tensor.data_ptr(): tensor.numel()
        for name, tensor in _tensors(folder).items()
        if not any(positions in name for positions in _POSITIONS)
    }
    return sum(trained.values())


def _tensors(folder: Path) -> dict[str, Tensor]:
    files = model_files(folder)
    path = folder / files.weights
    if files.kind == MARIAN_BINARY:
        return read_binary(path).tensors
    if files.kind == MARIAN_NPZ:
        return read_npz(path).tensors
    if path.suffix == ".safetensors":
        return safetensors.torch.load_file(path)
    return read_checkpoint(path)
