"""Sentences and pairs of sentences as a tokenizer of Hugging Face's form sees them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from workflow_scripts.core.errors import InputError

# Sentences that are tokenised at once.
_CHUNK = 4096
_IDS, _TYPES = "input_ids", "token_type_ids"


class Tokens:
    """The token ids of items, each a sentence or a pair of sentences.

    Attributes:
        lengths: tokens of each item, with those that the tokenizer adds, shape (items,).
    """

    def __init__(
        self, columns: dict[str, NDArray[Any]], lengths: NDArray[np.int64], padding: dict[str, int]
    ):
        """Keep the tokens.

        Args:
            columns: `input_ids`, and `token_type_ids` where the model has them, shape (tokens,).
            lengths: of the items.
            padding: the value of each column where a sentence is filled up.
        """
        self.columns, self.lengths, self._padding = columns, lengths, padding
        self._starts = np.cumsum(lengths) - lengths

    def batch(self, items: NDArray[np.int64]) -> dict[str, Tensor]:
        """Return what a model is called with: each of shape (items, longest), filled up behind."""
        lengths = self.lengths[items]
        inside = np.arange(int(lengths.max())) < lengths[:, None]
        places = np.repeat(self._starts[items] - (np.cumsum(lengths) - lengths), lengths)
        places += np.arange(len(places))
        filled = {"attention_mask": torch.from_numpy(inside.astype(np.int64))}
        for name, values in self.columns.items():
            padded = np.full(inside.shape, self._padding[name], np.int64)
            padded[inside] = values[places]
            filled[name] = torch.from_numpy(padded)
        return filled


def tokenised(
    tokenizer: Any,
    first: Sequence[str],
    second: Sequence[str] | None,
    most: int,
) -> Tokens:
    """Return sentences, or pairs by the tokenizer's template for pairs, as tokens.

    Args:
        tokenizer: of transformers.
        first: the sentences.
        second: those that stand beside them; None: there are none.
        most: tokens of an item; of a longer pair the longer sentence is cut.

    Raises:
        InputError: the tokenizer has no token to fill up with.
    """
    if tokenizer.pad_token_id is None:
        raise InputError(
            f"{tokenizer.name_or_path}: its tokenizer has no padding token; name an encoder"
        )
    padding = {_IDS: tokenizer.pad_token_id, _TYPES: tokenizer.pad_token_type_id}
    names = [name for name in padding if name in {_IDS, *tokenizer.model_input_names}]
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
    lengths: list[int] = []
    for start in range(0, len(first), _CHUNK):
        part = slice(start, start + _CHUNK)
        tokens = tokenizer(
            list(first[part]),
            None if second is None else list(second[part]),
            truncation=True if second is None else "longest_first",
            max_length=most,
            return_token_type_ids=_TYPES in names,
            return_attention_mask=False,
        )
        lengths += map(len, tokens[_IDS])
        for name in names:
            parts[name].append(np.concatenate([np.array(ids, np.int32) for ids in tokens[name]]))
    empty = np.empty(0, np.int32)
    columns = {name: np.concatenate([empty, *arrays]) for name, arrays in parts.items()}
    return Tokens(columns, np.array(lengths, np.int64), padding)
