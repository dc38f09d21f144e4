"""From a model folder of Sockeye 2 (MXNet) to one of Sockeye 3; also on the command line.

The two versions have the same weights under other names. Only the files are read: neither MXNet
nor Sockeye 2 is needed.
"""

import shutil
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import sockeye
import torch
from sockeye.data_io import DataConfig, DataStatistics
from sockeye.encoder import EmbeddingConfig
from sockeye.model import ModelConfig
from sockeye.transformer import TransformerConfig

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import publish_folder, write_text
from workflow_scripts.nmt.loaders.sockeye3 import read_tree
from workflow_scripts.stages.train import ndarrays
from workflow_scripts.stages.train.sockeye2 import VERSION

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Suffixes of the parameters' names, of Sockeye 2 and of Sockeye 3.
_RENAMED = {
    ".layer_norm.gamma": ".layer_norm.weight",
    ".layer_norm.beta": ".layer_norm.bias",
    ".embed_weight": ".embedding.weight",
}
_TABLES = ("embedding_source.embedding.weight", "embedding_target.embedding.weight")
_OUTPUT = "output_layer.weight"
# Sockeye 2 writes a shared matrix once, under the last of its names. Per type of tying: the one
# that is there, and those that share it.
_SHARED: dict[str, dict[str, tuple[str, ...]]] = {
    "none": {},
    "trg_softmax": {_OUTPUT: _TABLES[1:]},
    "src_trg": {_TABLES[1]: _TABLES[:1]},
    "src_trg_softmax": {_OUTPUT: _TABLES},
}
_COPIED = ("vocab.src.0.json", "vocab.trg.0.json", "args.yaml", "metrics")
_Kind = TypeVar("_Kind", bound="DataclassInstance")


def parameters(arrays: dict[str, ndarrays.Array], tying: str) -> dict[str, torch.Tensor]:
    """Return the parameters of Sockeye 3, given those of Sockeye 2 and its `weight_tying_type`."""
    tensors = {}
    for name, array in arrays.items():
        for old, new in _RENAMED.items():
            if name.endswith(old):
                name = name.removesuffix(old) + new
        tensors[name] = torch.tensor(array)
    for name, others in _SHARED[tying].items():
        tensors |= dict.fromkeys(others, tensors[name])
    return tensors


def config(tree: dict[str, Any]) -> ModelConfig:
    """Return the config of Sockeye 3, given that of Sockeye 2 as plain mappings.

    What only one of them has is left out, or has Sockeye 3's default.
    """
    data = tree["config_data"]
    statistics = _made(DataStatistics, data["data_statistics"])
    blocks = {"config_data": _made(DataConfig, data | {"data_statistics": statistics})}
    for side in ("source", "target"):
        key = f"config_embed_{side}"
        blocks[key] = _made(EmbeddingConfig, tree[key])
    for key in ("config_encoder", "config_decoder"):
        blocks[key] = _made(TransformerConfig, tree[key])
    return _made(ModelConfig, tree | blocks)


def _made(kind: type[_Kind], values: dict[str, Any]) -> _Kind:
    known = {field.name for field in fields(kind) if field.init}
    return kind(**{key: value for key, value in values.items() if key in known})


def convert(folder: Path, target: Path) -> None:
    """Write the model of Sockeye 2 in `folder` as a Sockeye 3 model folder, replacing `target`.

    Raises:
        InputError: a file is missing or broken, or the model has layers that Sockeye 3 has not.
    """
    names = ("config", "params.best", "version", *_COPIED)
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise InputError(f"{folder} is no model folder of Sockeye 2: {', '.join(missing)} missing")
    version = (folder / "version").read_text(encoding="utf-8", errors="replace").strip()
    if not version.startswith(f"{VERSION}."):
        raise InputError(f"{folder} is a model of Sockeye {version}; {VERSION} can be converted")
    try:
        settings = config(read_tree(folder / "config"))
        tensors = parameters(ndarrays.read(folder / "params.best"), settings.weight_tying_type)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"{folder}: no model that can be converted: {error}") from error
    unfinished = target.with_name(f"{target.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    settings.save(str(unfinished / "config"))
    torch.save(tensors, unfinished / "params.best")
    write_text(unfinished / "version", sockeye.__version__)
    for name in _COPIED:
        shutil.copyfile(folder / name, unfinished / name)
    shutil.rmtree(target, ignore_errors=True)
    publish_folder(unfinished, target)


def main(argv: list[str] | None = None) -> None:
    """Convert a model folder of Sockeye 2 on MXNet to one of Sockeye 3."""
    parser = CommandParser(description=main.__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a folder of Sockeye 2")
    parser.add_argument("--output", type=Path, required=True, help="must not exist")
    options = parser.parse_args(argv)
    if options.output.exists():
        raise InputError(f"{options.output} is there already")
    convert(options.model, options.output)


if __name__ == "__main__":
    run(main)
