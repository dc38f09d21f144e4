"""What a model of transformers answers to items, read in batches of like length."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from workflow_scripts.encoding.encoder_tokens import Tokens

Items = NDArray[np.int64]
# Gets items and the number of the epoch; returns what the model is called with, on the CPU.
Inputs = Callable[[Items, int], dict[str, Tensor]]


def in_batches(items: Items, lengths: NDArray[Any], size: int) -> list[Items]:
    """Return items in batches, in which they stand by length; those of one length keep their order.

    Args:
        items: which ones.
        lengths: of all items, in tokens.
        size: of a batch; the last one may be smaller.
    """
    ordered = items[np.argsort(lengths[items], kind="stable")]
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def computed_in(precision: str, device: torch.device) -> torch.autocast:
    """Return the context in which products of matrices have this precision."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16")


def outputs(
    model: nn.Module,
    inputs: Inputs,
    lengths: NDArray[Any],
    settings: dict[str, Any],
    device: str | torch.device = "cpu",
) -> Iterator[tuple[Items, Any]]:
    """Yield items of like length, and what a model answers to them; all items once.

    Args:
        model: of transformers, in evaluation mode.
        inputs: what the model is called with for some items, in epoch 0.
        lengths: of all items, in tokens, shape (items,).
        settings: `batch` and `precision`.
        device: for torch.
    """
    where = torch.device(device)
    every = np.arange(len(lengths))
    for batch in in_batches(every, np.asarray(lengths), settings["batch"]):
        tensors = {name: value.to(where) for name, value in inputs(batch, 0).items()}
        with torch.inference_mode(), computed_in(settings["precision"], where):
            answer = model(**tensors)
        yield batch, answer


def probabilities(
    model: Any, tokens: Tokens, settings: dict[str, Any], device: str
) -> NDArray[np.float64]:
    """Return the probability of each pair that it is one of paraphrases, shape (pairs,).

    Args:
        model: tuned to identify paraphrases, in evaluation mode.
        tokens: of the pairs.
        settings: `batch` and `precision`.
        device: for torch.
    """
    values = np.empty(len(tokens.lengths))
    for items, answer in outputs(
        model, lambda items, _: tokens.batch(items), tokens.lengths, settings, device
    ):
        values[items] = functional.softmax(answer.logits.double(), dim=1)[:, 1].cpu().numpy()
    return values
