"""Writing of model folders: other parameters in the place of those that a folder has.

The folder that is written is of the same kind as the one it comes from, but for Marian's binary
format, in which a training keeps no model: it becomes .npz.
"""

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from workflow_scripts.core.files.atomic import atomic_path, copy_file
from workflow_scripts.core.files.model_folder import HUGGING_FACE, SOCKEYE, ModelFiles
from workflow_scripts.nmt.loaders import hugging_face, marian
from workflow_scripts.nmt.loaders.marian_items import OPTIONS

_NPZ = "model.npz"
_SAFETENSORS = "model.safetensors"


def save_model(
    folder: Path, files: ModelFiles, tensors: Mapping[str, Tensor], output: Path
) -> list[str]:
    """Write a model folder with the text files of `folder` and these parameters.

    The shortlist is left out, as it belongs to what the model translated, and so are the notes on
    languages and licence.

    Args:
        folder: the model that the parameters were made from.
        files: of that folder.
        tensors: as `loaders.opened_model` names them.
        output: exists.

    Returns:
        The names of the files.
    """
    text = {files.source_spm, files.target_spm, *files.vocabularies, *files.configs} - {None}
    names = sorted(name for name in text if name is not None)
    for name in names:
        copy_file(folder / name, output / name)
    plain = {name: tensor.detach().cpu() for name, tensor in tensors.items()}
    if files.kind == SOCKEYE:
        weights, content = files.weights, _checkpoint(plain)
    elif files.kind == HUGGING_FACE:
        weights, content = _SAFETENSORS, _safetensors(folder, files, plain)
    else:
        weights, content = _NPZ, _npz(plain, marian.options_text(folder, files))
    with atomic_path(output / weights) as temporary:
        temporary.write_bytes(content)
    return [weights, *names]


def _checkpoint(tensors: dict[str, Tensor]) -> bytes:
    # Not straight into a file: its name would stand in it.
    buffer = io.BytesIO()
    torch.save(tensors, buffer)
    return buffer.getvalue()


def _safetensors(folder: Path, files: ModelFiles, tensors: dict[str, Tensor]) -> bytes:
    named = hugging_face.as_in_files(folder, files, tensors)
    # Each with memory of its own, as the format wants it.
    apart = {name: tensor.contiguous().clone() for name, tensor in named.items()}
    return safetensors.torch.save(apart, {"format": "pt"})


def _npz(tensors: dict[str, Tensor], options: str) -> bytes:
    buffer = io.BytesIO()
    text = np.frombuffer(options.encode() + b"\0", np.int8)
    arrays = {name: tensor.contiguous().numpy() for name, tensor in tensors.items()}
    np.savez(buffer, **arrays, **{OPTIONS: text})
    return buffer.getvalue()
