"""Files of tensors: safetensors and those that torch writes, whole or in parts with an index."""

import pickle
import zipfile
from collections.abc import Sequence
from pathlib import Path

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.loaders.hugging_face_config import read_object

_MIXED = "the files are not all of one model, copy them again"


def read_tensors(path: Path, parts: Sequence[str] = ()) -> dict[str, Tensor]:
    """Return the tensors of a file, or of the parts of an index.

    They are mapped: the system reads a page of the file when it is needed, and may forget it again.

    Raises:
        InputError: a file can't be read, or the parts are not those of the index.
    """
    if parts:
        return _in_parts(path, parts)
    return _safetensors(path) if path.suffix == ".safetensors" else read_checkpoint(path, True)


def read_checkpoint(path: Path, mapped: bool = False) -> dict[str, Tensor]:
    """Return the tensors of a file that torch has written; nothing else can be in it.

    Args:
        path: of the file.
        mapped: whether the file stays as it is while the tensors are used; see `read_tensors`.

    Raises:
        InputError: it is missing or can't be read as such a file.
    """
    try:
        # Before 2020 torch wrote another format, which it can't map.
        mapped = mapped and zipfile.is_zipfile(path)
        tensors = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; has the training finished?") from error
    except pickle.UnpicklingError as error:
        # Torch's message says how to run what is in the file.
        raise InputError(
            f"{path}: cannot read the parameters: it is damaged, or holds more than tensors, and "
            "none of that is run; take a safetensors file of the model"
        ) from error
    # What torch stumbles over depends on where a file is damaged.
    except Exception as error:
        raise InputError(f"{path}: cannot read the parameters: {error}") from error
    if not isinstance(tensors, dict) or not all(isinstance(t, Tensor) for t in tensors.values()):
        raise InputError(f"{path}: cannot read the parameters: it holds no table of tensors")
    return tensors


def _safetensors(path: Path) -> dict[str, Tensor]:
    try:
        return safetensors.torch.load_file(path)
    except (OSError, safetensors.SafetensorError, ValueError) as error:
        raise InputError(f"{path}: cannot read the parameters: {error}") from error


def _in_parts(index: Path, parts: Sequence[str]) -> dict[str, Tensor]:
    """Return the tensors of all parts; `weight_map` of the index has the part of each name."""
    places = read_object(index).get("weight_map")
    if not isinstance(places, dict):
        raise InputError(f"{index}: no weight_map, an object that has the part of each tensor")
    tensors: dict[str, Tensor] = {}
    held: dict[str, str] = {}
    for part in parts:
        found = read_tensors(index.with_name(part))
        if twice := sorted(found.keys() & held.keys()):
            raise InputError(
                f"{index.with_name(part)}: {twice[0]} is in {held[twice[0]]}, too; {_MIXED}"
            )
        tensors |= found
        held |= dict.fromkeys(found, part)
    for name, place in places.items():
        if held.get(name) != place:
            raise InputError(f"{index}: weight_map has {name} in {place}, which lacks it; {_MIXED}")
    return tensors
