"""A model folder: what is in it, read and written.

This file travels in the folder of a trained model (see sentence_module.py), so it imports only what
travels with it.

    embedding.json       encoders, the tokens of each, sizes
    model.safetensors    the weights
    whitespacetokenizer_config.json, trigrams.json, pieces.model    vocabularies, as needed
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from safetensors.torch import load_file, save_file
from torch import Tensor

from .encoders import Network
from .tokens import KINDS, Tokeniser

CONFIG = "embedding.json"
WEIGHTS = "model.safetensors"
# The table of a WORD model as the library's own WordEmbeddings names it, and as we do.
_STOCK_TABLE, _TABLE = "emb_layer.weight", "tables.0"


class Parts(NamedTuple):
    """A model: its configuration, its tokenisers by kind, its network.

    The configuration has `encoders` (names), `tokens` (the kind of each encoder's), `dimension`,
    `hidden` and `combine`, as `Network` takes them.
    """

    config: dict[str, Any]
    tokenisers: dict[str, Tokeniser]
    network: Network

    @property
    def stock(self) -> bool:
        """Whether modules of sentence-transformers itself do the same: WORD on words."""
        return self.config["encoders"] == ["word"] and self.config["tokens"] == ["words"]


def empty_network(config: dict[str, Any], tokenisers: dict[str, Tokeniser]) -> Network:
    """Return a network of the right shape, without weights."""
    return Network(
        config["encoders"],
        [len(tokenisers[kind]) for kind in config["tokens"]],
        config["dimension"],
        config["hidden"],
        config["combine"],
    )


def read(folder: Path, weights: str = WEIGHTS) -> Parts:
    """Read a model folder; `weights` is the name of the file that has them."""
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    tokenisers = {kind: KINDS[kind].load(folder) for kind in dict.fromkeys(config["tokens"])}
    parts = Parts(config, tokenisers, empty_network(config, tokenisers))
    state = load_file(folder / weights)
    if parts.stock:
        state[_TABLE] = state.pop(_STOCK_TABLE)
    parts.network.load_state_dict(state)
    parts.network.eval().requires_grad_(False)
    return parts


def write(folder: Path, parts: Parts) -> None:
    """Write what `read` reads."""
    (folder / CONFIG).write_text(json.dumps(parts.config, indent=2, sort_keys=True) + "\n", "utf-8")
    for tokeniser in parts.tokenisers.values():
        tokeniser.save(folder)
    write_weights(folder / WEIGHTS, parts)


def write_weights(path: Path, parts: Parts) -> None:
    """Write the weights alone."""
    state: dict[str, Tensor] = {
        name: value.detach().cpu().contiguous()
        for name, value in parts.network.state_dict().items()
    }
    if parts.stock:
        state[_STOCK_TABLE] = state.pop(_TABLE)
    save_file(state, path)
