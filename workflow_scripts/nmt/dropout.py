"""Dropout, for training: a network whose layers lose some of their numbers at random.

As in Vaswani et al. (2017), 5.4: of the embeddings, and of what a block computes before it is added
to its input; also between the two products of a feed-forward block.
"""

from dataclasses import dataclass, replace

import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from workflow_scripts.nmt.attention import CrossAttention, SelfAttention
from workflow_scripts.nmt.blocks import FeedForward, PrefixBlock
from workflow_scripts.nmt.linear import Linear
from workflow_scripts.nmt.network import Embedding, Network


@dataclass
class _Linear(Linear):
    share: float = 0.0

    def activated(self, x: Tensor, activation: str) -> Tensor:
        return F.dropout(super().activated(x, activation), self.share)

    def added(self, x: Tensor, to: Tensor) -> Tensor:
        return to + F.dropout(self(x), self.share)


@dataclass
class _Embedding(Embedding):
    share: float = 0.0

    def whole(self, tokens: Tensor) -> Tensor:
        return F.dropout(super().whole(tokens), self.share)


def with_dropout(network: Network, share: float) -> Network:
    """Return a network that drops `share` of the numbers whenever it computes.

    It draws from torch's generator of the device. A recurrent block (SSRU) has none of its own.
    """
    if not share:
        return network

    def linear(layer: Linear) -> Linear:
        return _Linear(layer.weight, layer.bias, share)

    def embedding(table: Embedding) -> Embedding:
        return _Embedding(**vars(table), share=share)

    def attention(block: PrefixBlock) -> PrefixBlock:
        if isinstance(block, SelfAttention):
            return replace(block, out=linear(block.out))
        return block

    def cross(block: CrossAttention) -> CrossAttention:
        return replace(block, out=linear(block.out))

    def feed_forward(block: FeedForward) -> FeedForward:
        return replace(block, inward=linear(block.inward), out=linear(block.out))

    return replace(
        network,
        source=embedding(network.source),
        target=embedding(network.target),
        encoder=[
            replace(
                layer,
                attention=replace(layer.attention, out=linear(layer.attention.out)),
                feed_forward=feed_forward(layer.feed_forward),
            )
            for layer in network.encoder
        ],
        decoder=[
            replace(
                layer,
                prefix=attention(layer.prefix),
                cross=cross(layer.cross),
                feed_forward=feed_forward(layer.feed_forward),
            )
            for layer in network.decoder
        ],
    )
