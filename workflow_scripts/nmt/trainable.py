"""A model whose parameters can be trained on, and its loss.

The parameters are those of the model's own file; its loader makes the network of them anew for
each update, by operations that gradients go through.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.nmt.dropout import with_dropout
from workflow_scripts.nmt.loaders import opened_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.scoring import Pair

# Rows of the output layer at a time: their logits stay in the cache.
_ROWS = 128


class Loss(NamedTuple):
    """Of a batch: `smoothed`, the sum to be minimised; `nll`, the sum in nats; `tokens`."""

    smoothed: Tensor
    nll: float
    tokens: int


class Trainable:
    """The parameters of a model folder, on one device, in fp32.

    `tensors`: by their names in the file; one that has several names is one tensor. `trained`:
    those that change.
    """

    def __init__(self, folder: Path, device: torch.device):
        opened = opened_model(folder, model_files(folder))
        if not all(tensor.is_floating_point() for tensor in opened.raw.tensors.values()):
            raise InputError(f"{folder}: a model with weights of 8 bits can't be trained on")
        self.device = device
        self._opened = opened
        leaves: dict[int, Tensor] = {}
        self.tensors: dict[str, Tensor] = {}
        for name, tensor in opened.raw.tensors.items():
            if id(tensor) not in leaves:
                leaf = tensor.to(device, torch.float32, copy=True)
                leaves[id(tensor)] = leaf.requires_grad_(name not in opened.raw.fixed)
            self.tensors[name] = leaves[id(tensor)]
        self.trained = [leaf for leaf in leaves.values() if leaf.requires_grad]

    def model(self, dropout: float = 0.0) -> Model:
        """Return the model that the parameters make now; gradients of it reach them.

        `dropout`: the share of numbers that its layers drop at random.
        """
        network = with_dropout(self._opened.raw.build(self.tensors), dropout)
        return Model(network, self._opened.source_vocab, self._opened.target_vocab)

    def copy(self) -> list[Tensor]:
        """Return copies of the trained parameters."""
        return [leaf.detach().clone() for leaf in self.trained]

    def restore(self, values: Sequence[Tensor]) -> None:
        """Set the trained parameters to what `copy` returned."""
        with torch.no_grad():
            for leaf, value in zip(self.trained, values, strict=True):
                leaf.copy_(value)


def forced_loss(model: Model, pairs: Sequence[Pair], smoothing: float = 0.0) -> Loss:
    """Return the cross-entropy of the targets given their sources, </s> included.

    Args:
        model: of `Trainable.model`, not packed.
        pairs: piece ids without </s>, none of them empty or longer than the model reads.
        smoothing: the share of each label's probability that all pieces get in equal parts.
    """
    targets = [target for _, target in pairs]
    memory = model.remember(*model.encode([source for source, _ in pairs]))
    hidden, labels = model.decode(targets, memory), model.labels(targets)
    weight, bias = model.network.output.weight, model.network.output.bias
    assert bias is not None
    normaliser: Tensor = _Normalisers.apply(hidden, weight, bias)
    chosen = (hidden * F.embedding(labels, weight)).sum() + bias[labels].sum()
    loss = nll = normaliser - chosen
    if smoothing:
        # Rows that stand for no piece have the bias minus infinity.
        real = bias.isfinite()
        mean = hidden.sum(0) @ weight[real].mean(0) + len(labels) * bias[real].mean()
        loss = (1 - smoothing) * nll + smoothing * (normaliser - mean)
    return Loss(loss, float(nll.detach()), len(labels))


class _Normalisers(torch.autograd.Function):
    """The sum over rows of log sum exp (h W^T + b).

    Gradients are computed with it, block of rows by block, so that no logits are kept: with a large
    vocabulary keeping them takes longer than the products.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Return the sum for `hidden` [N, D], `weight` [V, D], `bias` [V]."""
        total = hidden.new_zeros((), dtype=torch.float64)
        to_hidden, to_weight, to_bias = map(torch.zeros_like, (hidden, weight, bias))
        for rows, to_rows in zip(hidden.split(_ROWS), to_hidden.split(_ROWS), strict=True):
            logits = F.linear(rows, weight, bias)
            normalisers = logits.logsumexp(1)
            total += normalisers.double().sum()
            shares = logits.sub_(normalisers[:, None]).exp_()
            torch.mm(shares, weight, out=to_rows)
            to_weight.addmm_(shares.T, rows)
            to_bias += shares.sum(0)
        ctx.save_for_backward(to_hidden, to_weight, to_bias)
        return total.to(hidden.dtype)

    @staticmethod
    def backward(ctx: Any, *scales: Tensor) -> tuple[Tensor, ...]:
        """Return the gradients, computed before, times that of the sum."""
        return tuple(scales[0] * gradient for gradient in ctx.saved_tensors)
